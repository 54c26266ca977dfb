"""What every protocol offers.

A protocol is a folder whose module has these names: no base class to inherit, nothing to register by import. mypy
checks that each fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..records import Answer, Case, Example, Measure, Outcome, Result

if TYPE_CHECKING:
    from ..models.ask import Questions
    from ..training.stage import Recipe


def changes(what: Literal["cases", "answers", "scoring"], default: Any) -> Any:
    """A setting, with which step it bears on: those that only change scoring are not part of the answers' hash."""
    return field(default=default, metadata={"changes": what})


class Built(Protocol):
    """Cases, with what asking needs to know about them."""

    @property
    def cases(self) -> Sequence[Case]:
        """What will be asked and scored."""
        ...

    @property
    def whole(self) -> Sequence[Case]:
        """What they were chosen from."""
        ...

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the answers, where the cases name them."""
        ...


class ProtocolModule(Protocol):
    """One of the five ways to audit a model."""

    @property
    def Settings(self) -> type[Any]:  # noqa: N802 (a class)
        """What a plan's table may say; each field says whether it changes cases, answers or only scoring."""
        ...

    @property
    def answers_version(self) -> int:
        """Raised when building or asking changes meaning, so that old answers are not taken for new ones."""
        ...

    @property
    def asks_labels(self) -> bool:
        """Whether models are asked for labels (or answers in words), as files of predictions hold them."""
        ...

    def parts(self, settings: Any) -> list[Any]:
        """The settings of the separate jobs that one table of a plan means."""
        ...

    def title(self, settings: Any) -> str:
        """What its cases are in a word or two, for their name and the job's."""
        ...

    def is_random(self, settings: Any) -> bool:
        """Whether the seed can change the answers: only then do a plan's seeds multiply its jobs."""
        ...

    def identity(self, settings: Any) -> Mapping[str, Any]:
        """Everything in the settings that can change cases or answers, resolved: files by their content."""
        ...

    def build(self, settings: Any) -> Any:
        """The cases, the same for every model that will be asked."""
        ...

    def save(self, built: Any, path: Path) -> None:
        """Write what was built."""
        ...

    def load(self, path: Path) -> Any:
        """Read what was built."""
        ...

    def recipe(self, settings: Any, model: str) -> "Recipe | None":
        """The training that comes before asking; None to ask the model as it is."""
        ...

    def ask(
        self, settings: Any, model: Any, built: Any, examples: Sequence[Example], ids: Sequence[str]
    ) -> list[Answer]:
        """What the model says of one batch of distinct examples: the only step that touches it."""
        ...

    def gather(self, settings: Any, built: Any, rows: Sequence[Answer], questions: "Questions") -> Any:
        """Kept answers as `score` takes them."""
        ...

    def score(
        self, settings: Any, cases: Sequence[Case], answers: Any
    ) -> tuple[list[Outcome], list[Measure]]:
        """Outcomes and measures of one job; pure."""
        ...

    def compare(self, settings: Any, results: Sequence[Result]) -> list[Measure]:
        """What only shows across jobs; pure. `results` are those of the plan's jobs that are done so far."""
        ...

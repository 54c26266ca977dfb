"""What every protocol offers.

A protocol is a folder whose module has these names: no base class to inherit, nothing to register by import. mypy
checks that each fits.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..records import Answers, Case, Measure, Outcome


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

    def parts(self, settings: Any) -> list[Any]:
        """The settings of the separate jobs that one table of a plan means."""
        ...

    def title(self, settings: Any) -> str:
        """What the job is about in a word or two, for its name."""
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

    def score(
        self, settings: Any, cases: Sequence[Case], answers: Answers
    ) -> tuple[list[Outcome], list[Measure]]:
        """Outcomes and measures; pure."""
        ...

"""What every protocol offers.

A protocol is a folder whose module has these names: no base class to inherit, nothing to register by import. mypy
checks that each fits.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from ..records import Answers, Case, Measure, Outcome


class ProtocolModule(Protocol):
    """One of the five ways to audit a model."""

    Settings: type[Any]
    answers_version: int
    """Raised when building or asking changes meaning, so that old answers are not taken for new ones."""

    def parts(self, settings: Any) -> list[Any]:
        """The settings of the separate jobs that one table of a plan means."""
        ...

    def build(self, settings: Any) -> "Built":
        """The cases, the same for every model that will be asked."""
        ...

    def ask(self, model: Any, built: "Built") -> Answers:
        """What the model says: the only step that touches it."""
        ...

    def score(
        self, settings: Any, cases: Sequence[Case], answers: Answers
    ) -> tuple[list[Outcome], list[Measure]]:
        """Outcomes and measures; pure."""
        ...


class Built(Protocol):
    """Cases, with what asking needs to know about them."""

    cases: Sequence[Case]
    """What will be asked and scored."""
    whole: Sequence[Case]
    """What they were chosen from."""
    labels: tuple[str, ...] | None
    """The names of the answers, where the cases name them."""

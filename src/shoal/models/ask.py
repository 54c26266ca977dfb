"""What can be asked of a model.

Today: stored answers, laid beside their cases. Models that compute their answers come through the same door.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ..errors import ModelError
from ..records import Answers, Case


@runtime_checkable
class HasAnswered(Protocol):
    """A model whose answers are stored by case."""

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """The answers to every example of the cases, in order."""
        ...


def ask_cases(
    model: object, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
) -> Answers:
    """The answers of any model to every example of the cases, in order."""
    if isinstance(model, HasAnswered):
        return model.answer_cases(cases, whole, labels)
    raise ModelError(f"{model!r} cannot be asked for labels", fix="predictions:FILE")

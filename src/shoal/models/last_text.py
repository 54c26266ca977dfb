"""A classifier that sees the last text of an example only: `hf:DIR?reads=last`.

What a model that was trained on hypotheses alone makes of pairs: the baseline for what a premise is good for. Nothing
but labels can be asked of it.
"""

from collections.abc import Sequence
from typing import Any

from ..core.records import Answers, Example
from .hf import HFModel


class LastText:
    """A model behind a blind for every text but the last."""

    def __init__(self, model: HFModel) -> None:
        self.model = model

    def __repr__(self) -> str:
        return repr(self.model)

    def fingerprint(self) -> dict[str, Any]:
        """Of the model, and that it reads the last text."""
        return {**self.model.fingerprint(), "reads": "last"}

    @property
    def longest(self) -> int:
        """How many tokens it takes."""
        return self.model.longest

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """How many tokens each has of what is read."""
        return self.model.lengths(_last(examples))

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """The labels of the last texts."""
        return self.model.classify(_last(examples), labels)


def _last(examples: Sequence[Example]) -> list[Example]:
    return [example[-1:] for example in examples]

"""Models whose behaviour on variants is known, and suggestions that are: what tests of MERGE need."""

from collections.abc import Callable, Sequence

import numpy as np

from shoal.core.records import Answers, Example
from shoal.models.interface import Blank, Fillers

LABELS = ("contradiction", "entailment", "neutral")
TEXTS = ("A man plays a guitar .", "A man plays an instrument .")
BERT, ROBERTA = "BERT", "RoBERTa"
TOY = {
    BERT: {"woman": .30, "boy": .25, "girl": .22, "manly": .21, ".": .5, "he": .4, "person": .20, "lady": .26},
    ROBERTA: {"woman": .30, "boy": .25, "musician": .21, "men": .24, "dog": .10, "Man": .3, "person": .20, "lady": .15},
}  # fmt: skip
"""The toy funnel of docs/method/merge.md 4.11: who suggests what for *man*, whose probability is .20."""


class Planted:
    """A model that answers by a function of the texts."""

    def __init__(self, answer: Callable[[Example], str], name: str = "planted") -> None:
        self.answer, self.name = answer, name

    def __repr__(self) -> str:
        return self.name

    def fingerprint(self) -> dict[str, str]:
        return {"planted": self.name}

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        names = tuple(labels or LABELS)
        return Answers(names, np.array([names.index(self.answer(example)) for example in examples], np.int64))


def truth(example: Example) -> str:
    """The label of a pair of the package's own sentences, told by how they are made."""
    premise, hypothesis = (text.rstrip(".").lower().split() for text in example)
    if {"not", "nobody", "only"} & set(hypothesis):
        return "contradiction"
    added = {
        *("friend", "lunch", "again", "bet", "time", "money"),
        *("quarrel", "day", "camera", "hurry", "prize", "rains"),
    }
    if (added & set(hypothesis)) - set(premise):
        return "neutral"
    return "entailment"


class Suggests:
    """A suggester that says the same of every blank."""

    def __init__(self, chances: dict[str, float], of_word: float = 0.1) -> None:
        self.chances, self.of_word = chances, of_word

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        best = sorted(self.chances.items(), key=lambda item: -item[1])[:k]
        words, chances = zip(*best, strict=True)
        return [Fillers(words, chances, self.of_word) for _ in blanks]

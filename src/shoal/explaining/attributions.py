"""Settings of an explanation, its result (an attribution), and words: the same for every model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from ..core.errors import PlanError, nearest

Values = NDArray[np.float64]
SPECIAL = -1
"""Text index of tokens outside all texts, such as [CLS]."""
LARGEST_GAP = 0.05
"""A larger completeness gap is a warning."""
SMALLEST_DIFFERENCE = 0.01
"""A completeness gap is relative to the difference of outputs, or to this if the difference is smaller."""


@dataclass(frozen=True, slots=True)
class ExplainConfig:
    """Settings of an explanation: everything that can change the attribution of a text."""

    samples: int | None = None
    """Copies of each text, or steps of the integral; None for the method's default."""
    specials: bool = False
    """Whether special tokens such as [CLS] receive an attribution too."""
    label: str = ""
    """The label whose probability is explained; empty for the predicted one."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """Labels that count as another one, whose probabilities are summed."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Units:
    """The units of an example that can be absent: words, and possibly special tokens."""

    words: tuple[str, ...]
    texts: tuple[int, ...]
    """The text that each unit belongs to; -1 for a special token."""

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Attribution:
    """How much each unit of an example contributes to the probability of one label."""

    units: Units
    values: Values  # (units,)
    label: str
    """The label whose probability is explained."""
    output: float
    """Its probability."""
    baseline: float
    """Its probability with every unit absent."""
    probabilities: Mapping[str, float]
    """The probabilities of all labels."""
    sums: bool = True
    """Whether the values should add up to output minus baseline; LIME's need not."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Samples, what replaced an absent word, whether the values are exact."""

    def of_text(self, number: int) -> Values:
        """Return the values of the words of one text."""
        values: Values = self.values[np.array(self.units.texts, np.int64) == number]
        return values

    def words_of(self, number: int) -> list[str]:
        """Return the words of one text."""
        return [word for word, text in zip(self.units.words, self.units.texts, strict=True) if text == number]


def completeness_gap(attribution: Attribution) -> float | None:
    """Return how far the values are from adding up to the difference of outputs, relative to it; None for LIME."""
    if not attribution.sums:
        return None
    difference = attribution.output - attribution.baseline
    missing = abs(float(attribution.values.sum()) - difference)
    return missing / max(abs(difference), SMALLEST_DIFFERENCE)


PLAIN = ("label", "output", "baseline", "probabilities", "sums", "facts")


def as_data(attribution: Attribution) -> dict[str, Any]:
    """Return an attribution as plain data."""
    units, values = attribution.units, attribution.values.tolist()
    plain = {name: getattr(attribution, name) for name in PLAIN}
    return {"words": list(units.words), "texts": list(units.texts), "values": values, **plain}


def from_data(data: Mapping[str, Any]) -> Attribution:
    """Return the attribution that `as_data` wrote."""
    units = Units(tuple(data["words"]), tuple(data["texts"]))
    return Attribution(units, np.array(data["values"], np.float64), *(data[name] for name in PLAIN))


def explained_columns(
    labels: Sequence[str], probabilities: Values, config: ExplainConfig
) -> tuple[str, list[int]]:
    """Return the label that is explained, and the columns whose probabilities are summed for it.

    The predicted label is the most probable one before labels are merged.
    """
    names = [config.merged.get(label, label) for label in labels]
    chosen = config.merged.get(config.label, config.label) or names[int(probabilities.argmax())]
    if chosen not in names:
        raise PlanError(
            f"unknown label {config.label!r}",
            why=f"the model's labels are {', '.join(labels)}",
            fix=nearest(config.label, labels) or "one of those",
        )
    return chosen, [column for column, name in enumerate(names) if name == chosen]


# Words


CHUNK = re.compile(r"[぀-ヿ㐀-䶿一-鿿]|[^\s぀-ヿ㐀-䶿一-鿿]+")
"""A run without blanks; Chinese and Japanese characters one by one."""


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word; punctuation around a word is separate.

    >>> [text[start:end] for text in ["Isn't it (so) good?"] for start, end in word_spans(text)]
    ["Isn't", 'it', '(', 'so', ')', 'good', '?']
    """
    spans = []
    for chunk in CHUNK.finditer(text):
        start, end = chunk.span()
        first = next((place for place in range(start, end) if not is_mark(text[place])), end)
        last = next((place + 1 for place in range(end - 1, first, -1) if not is_mark(text[place])), first + 1)
        if first == end:
            spans.append((start, end))
            continue
        spans += [part for part in ((start, first), (first, last), (last, end)) if part[0] < part[1]]
    return spans


def is_mark(letter: str) -> bool:
    """Return whether a character is punctuation or a symbol.

    >>> is_mark("?"), is_mark("a")
    (True, False)
    """
    return category(letter)[0] in "PS"


def plain_word(word: str) -> str:
    """Return a word in lower case without punctuation around it; empty for punctuation alone.

    >>> plain_word("Dogs."), plain_word("...")
    ('dogs', '')
    """
    letters = [place for place, letter in enumerate(word) if not is_mark(letter)]
    return word[letters[0] : letters[-1] + 1].lower() if letters else ""

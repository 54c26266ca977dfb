"""What is handed around: how to explain, and how much each word counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
SCALES = ("raw", "sum", "largest")
"""As they are; so that their sizes add up to 1; so that the largest size is 1."""
SMALLEST_DIFFERENCE = 0.01
"""A completeness gap is a share of the difference of outputs, but of no less than this."""


@dataclass(frozen=True, slots=True)
class How:
    """How to explain: everything that makes two attributions of one model and one text differ."""

    samples: int | None = None
    """Copies of each text, or steps of the integral; None for what the method's module says."""
    absent: Literal["", "mask", "drop"] = ""
    """What is in the place of an absent word: the model's mask token, or nothing; empty for the mask if it has one."""
    specials: bool = False
    """Whether tokens that no text has, such as [CLS], can be absent and are given a share too."""
    label: str = ""
    """Whose probability is explained; empty for the label that is predicted."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """Labels that count as one, by the name that they go by: their probabilities are summed."""
    unconstrained: bool = False
    """Shapley: plain least squares, as the study's co-author has it; these are not Shapley values."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Units:
    """What of an example can be absent: its words, and perhaps special tokens."""

    words: tuple[str, ...]
    texts: tuple[int, ...]
    """Which text of the example each is of; -1 for a special token."""

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Attribution:
    """How much each word of an example counted for the probability of one label."""

    units: Units
    values: Values  # (units,)
    label: str
    """Whose probability is explained."""
    output: float
    """That probability."""
    baseline: float
    """The same with every unit absent."""
    probabilities: Mapping[str, float]
    """All of the model's answer."""
    sums: bool = True
    """Whether the values should add up to output less baseline: LIME's need not."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Method, samples, what stood for an absent word, whether the values are exact."""

    def of_text(self, number: int) -> Values:
        """The values of the words of one text."""
        values: Values = self.values[np.array(self.units.texts, np.int64) == number]
        return values

    def words_of(self, number: int) -> list[str]:
        """The words of one text."""
        return [word for word, text in zip(self.units.words, self.units.texts, strict=True) if text == number]


def completeness_gap(attribution: Attribution) -> float | None:
    """How far the values are from adding up to the difference of outputs, as a share of it; None for LIME."""
    if not attribution.sums:
        return None
    difference = attribution.output - attribution.baseline
    missing = abs(float(attribution.values.sum()) - difference)
    return missing / max(abs(difference), SMALLEST_DIFFERENCE)


def scaled(values: Values, scale: str) -> Values:
    """Values on a scale that compares texts; all zeros stay so.

    >>> scaled(np.array([1.0, -3.0]), "sum").tolist(), scaled(np.array([1.0, -4.0]), "largest").tolist()
    ([0.25, -0.75], [0.25, -1.0])
    """
    size = {"raw": 1.0, "sum": np.abs(values).sum(), "largest": np.abs(values).max(initial=0.0)}[scale]
    return values / size if size else values


def as_data(attribution: Attribution) -> dict[str, Any]:
    """An attribution as it is kept."""
    return {
        "words": list(attribution.units.words),
        "texts": list(attribution.units.texts),
        "values": attribution.values.tolist(),
        "label": attribution.label,
        "output": attribution.output,
        "baseline": attribution.baseline,
        "probabilities": dict(attribution.probabilities),
        "sums": attribution.sums,
        "facts": dict(attribution.facts),
    }


def from_data(data: Mapping[str, Any]) -> Attribution:
    """The attribution that `as_data` wrote."""
    units = Units(tuple(data["words"]), tuple(data["texts"]))
    values = np.array(data["values"], np.float64)
    rest = ("label", "output", "baseline", "probabilities", "sums", "facts")
    return Attribution(units, values, *(data[name] for name in rest))


def explained_columns(labels: Sequence[str], probabilities: Values, how: How) -> tuple[str, list[int]]:
    """The label that is explained, and the columns whose probabilities are summed for it.

    The prediction is the likeliest label; only then do labels count as one.
    """
    names = [how.merged.get(label, label) for label in labels]
    chosen = how.merged.get(how.label, how.label) or names[int(probabilities.argmax())]
    return chosen, [column for column, name in enumerate(names) if name == chosen]

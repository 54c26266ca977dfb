"""A predictions file as columns, before it meets the cases."""

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError
from ...core.files import Alike

Prediction = int | str | None
ROUNDED = 0.1
"""How far from 1 a sum can be and still be called rounded, where the user says that it is."""


class Key(NamedTuple):
    """Which example a row answers."""

    group: str | None  # what stands before the case's own id, where the file has it apart
    identity: str
    example: int

    def __str__(self) -> str:
        name = self.identity if self.group is None else f"{self.group}/{self.identity}"
        return f"{name} example {self.example}" if self.example else name


class Keys(Sequence[Key]):
    """Keys as columns, each made when it is looked at: half as large as a list of them."""

    def __init__(self) -> None:
        self._groups: list[str | None] = []
        self._identities: list[str] = []
        self._examples: list[int] = []

    def append(self, key: Key) -> None:
        """The next row's."""
        self._groups.append(key.group)
        self._identities.append(key.identity)
        self._examples.append(key.example)

    def __len__(self) -> int:
        return len(self._identities)

    def __getitem__(self, row: Any) -> Any:
        return Key(self._groups[row], self._identities[row], self._examples[row])

    def __iter__(self) -> Iterator[Key]:
        return map(Key, self._groups, self._identities, self._examples)


@dataclass(slots=True)
class Columns:
    """What a file says, row by row."""

    path: Path
    tolerance: float
    """How far probabilities may be from summing to 1."""
    unit: str = "line"
    """What the numbers in `lines` count."""
    numbered: bool = False
    """Whether it is a convention of the format that a number counts the suite's labels."""
    ordered: bool = False
    """Whether it is one that probabilities without names come in the order of the suite's labels."""
    number_names: tuple[str, ...] = ()
    """What the file itself calls the labels behind its numbers."""
    column_names: tuple[str, ...] = ()
    """What the file calls its columns of probabilities."""
    keys: Keys = field(default_factory=Keys)  # empty where the order says which example is meant
    lines: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]
    predictions: list[Prediction] = field(default_factory=list)  # None: left to the probabilities
    numbers: array = field(default_factory=lambda: array("d"))  # type: ignore[type-arg]  # confidences, end to end
    widths: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]  # how many for each row
    errors: dict[int, str] = field(default_factory=dict)
    texts: dict[str, list[Any]] = field(default_factory=dict)
    """The columns that hold the text, row by row."""
    alike: Alike = field(default_factory=Alike)
    """Groups and answers come again and again."""

    def add(
        self, line: int, prediction: Prediction, numbers: Sequence[float], key: Key | None = None
    ) -> None:
        """One example's answer; without a prediction it is the most probable label."""
        try:
            self.numbers.extend(numbers)
        except OverflowError:
            raise not_a_probability(max(numbers, key=abs)) from None
        self.lines.append(line)
        self.predictions.append(self.alike.text(prediction) if isinstance(prediction, str) else prediction)
        self.widths.append(len(numbers))
        if key is not None:
            self.keys.append(key)

    def add_error(self, line: int, message: str, key: Key) -> None:
        """An example that the model did not answer."""
        self.errors[len(self.lines)] = message
        self.add(line, None, (), key)

    def where(self, row: int) -> str:
        """File and line of a row, for messages."""
        return f"{self.path}, {self.unit} {self.lines[row]}"

    def check(self, *, normalise: bool = False) -> None:
        """Stop at the first row whose probabilities are none; divide rounded ones by their sum, if told to."""
        numbers, widths = np.array(self.numbers), np.array(self.widths)
        starts = np.cumsum(widths) - widths
        outside = np.flatnonzero(~((numbers >= -1e-9) & (numbers <= 1 + 1e-9)))
        if len(outside):
            row = int(np.searchsorted(starts, outside[0], side="right")) - 1
            raise DataError(
                f"{self.where(row)}: a confidence is outside 0 to 1",
                why=_numbers_shown(numbers[starts[row] : starts[row] + widths[row]]),
                fix="probabilities from 0 to 1: logits through a softmax first, percentages divided by 100",
            )
        owners = np.repeat(np.arange(len(widths)), widths)
        sums = np.bincount(owners, weights=numbers, minlength=len(widths))
        limit = ROUNDED if normalise else self.tolerance
        wrong = np.flatnonzero((widths > 1) & (np.abs(sums - 1) > limit))
        if len(wrong):
            row = int(wrong[0])
            rounded = abs(sums[row] - 1) <= ROUNDED
            raise DataError(
                f"{self.where(row)}: probabilities sum to {sums[row]:.6g}, not to 1",
                why=_numbers_shown(numbers[starts[row] : starts[row] + widths[row]]),
                fix="?normalise=yes, if they are merely rounded" if rounded else "one probability per label",
            )
        if normalise:
            self.numbers = array("d", numbers / np.where(widths > 1, sums, 1.0)[owners])


def _numbers_shown(numbers: NDArray[np.float64]) -> str:
    return "found: " + ", ".join(f"{number:.6g}" for number in numbers[:8])


def shown(value: object) -> str:
    """A value of the user's for a message, cut short.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    word = repr(value)
    return word if len(word) <= 60 else word[:57] + "…"


def number_from(value: Any, *, decimal_comma: bool = False) -> float:
    """A probability, as a number or in digits."""
    digits = value.replace(",", ".") if decimal_comma and isinstance(value, str) else value
    try:
        number = math.nan if isinstance(value, bool) else float(digits)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise not_a_probability(value)
    return number


def not_a_probability(value: object) -> DataError:
    """The error for what stands where a probability should."""
    return DataError(f"{shown(value)} is not a probability", fix="a number from 0 to 1, with a decimal point")

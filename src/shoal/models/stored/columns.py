"""A predictions file as columns, before it is matched with the cases."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import DataError
from ...core.files import Alike

Prediction = int | str | None
TOLERANCE = 1e-3
"""Tolerance for sums of probabilities and for the margin of the predicted label: files are rounded."""
OUTSIDE = 1e-9


class Key(NamedTuple):
    """The example that a row answers."""

    group: str | None  # the part before the case's own id, if the file has it in a column
    identity: str
    example: int

    def __str__(self) -> str:
        name = self.identity if self.group is None else f"{self.group}/{self.identity}"
        shown = name if len(name) <= 80 else name[:77] + "…"
        return f"{shown} example {self.example}" if self.example else shown


@dataclass(slots=True)
class Columns:
    """The content of a file, row by row."""

    path: Path
    unit: str = "line"
    """What the numbers in `lines` count."""
    numbered: bool = False
    """Whether numbers count the suite's labels by convention of the format."""
    ordered: bool = False
    """Whether unnamed probabilities are in the order of the suite's labels by convention of the format."""
    number_names: tuple[str, ...] = ()
    """The file's own names of its numbers."""
    column_names: tuple[str, ...] = ()
    """The file's names of its columns of probabilities."""
    keys: list[Key] = field(default_factory=list)  # empty if the order of the rows identifies the examples
    lines: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]
    predictions: list[Prediction] = field(default_factory=list)  # None: the most probable label
    numbers: array = field(default_factory=lambda: array("d"))  # type: ignore[type-arg]  # of all rows, end to end
    widths: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]  # how many for each row
    errors: dict[int, str] = field(default_factory=dict)
    texts: dict[str, list[Any]] = field(default_factory=dict)
    """The columns that hold the text, row by row."""
    alike: Alike = field(default_factory=Alike)
    """Stores repeated groups and answers once."""

    def add(
        self, line: int, prediction: Prediction, numbers: Sequence[float], key: Key | None = None
    ) -> None:
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
        """Add an example without an answer."""
        self.errors[len(self.lines)] = message
        self.add(line, None, (), key)

    def where(self, row: int) -> str:
        return f"{self.path}, {self.unit} {self.lines[row]}"

    def check(self) -> None:
        """Raise for the first row whose numbers are not probabilities."""
        numbers, widths = np.array(self.numbers), np.array(self.widths)
        owners = np.repeat(np.arange(len(widths)), widths)
        outside = owners[~((numbers >= -OUTSIDE) & (numbers <= 1 + OUTSIDE))]
        sums = np.bincount(owners, weights=numbers, minlength=len(widths))
        uneven = np.flatnonzero((widths > 1) & (np.abs(sums - 1) > TOLERANCE))
        wrong = outside if len(outside) else uneven
        if len(wrong):
            problem = "a confidence is outside 0 to 1" if len(outside) else "probabilities do not sum to 1"
            raise DataError(
                f"{self.where(int(wrong[0]))}: {problem}",
                why=f"found: {', '.join(f'{number:.6g}' for number in numbers[owners == wrong[0]][:8])}",
                fix="one probability per label; apply a softmax to logits, divide percentages by 100",
            )


def shown(value: object) -> str:
    """Return a value for a message, cut at 60 characters."""
    word = repr(value)
    return word if len(word) <= 60 else word[:57] + "…"


def number_from(value: Any) -> float:
    """Return a probability from a number or its digits."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise not_a_probability(value)
    return number


def not_a_probability(value: object) -> DataError:
    """Return the error for a value that should be a probability."""
    return DataError(f"{shown(value)} is not a probability", fix="a number from 0 to 1, with a decimal point")

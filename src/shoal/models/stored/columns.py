"""A request to read a predictions file, and its content as columns, before they are matched with the cases."""

import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ...core.errors import DataError, ModelError, some
from ...core.files import Alike
from ...core.records import Case
from ..labels import LabelNames, parse_labels, spelled, split_names

Prediction = int | str | None


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
    """The unit of the numbers in `lines`."""
    numbered: bool = False
    """Whether numbers count the suite's labels by convention of the format."""
    ordered: bool = False
    """Whether unnamed probabilities are in the order of the suite's labels by convention of the format."""
    generated: bool = False
    """Whether the answers are replies in the model's own words, of which some may name no label."""
    number_names: tuple[str, ...] = ()
    """The file's own names of its numbers."""
    column_names: tuple[str, ...] = ()
    """The file's names of its columns of probabilities."""
    groups: list[str | None] = field(default_factory=list)
    identities: list[str] = field(default_factory=list)  # empty if the order of rows identifies the examples
    examples: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]
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
        self,
        line: int,
        prediction: Prediction,
        numbers: Sequence[float],
        key: Key | None = None,
        error: str = "",
    ) -> None:
        """Add an example; with an error, it has no answer."""
        if error:
            self.errors[len(self.lines)] = error
        try:
            self.numbers.extend(numbers)
        except OverflowError:
            raise not_a_probability(max(numbers, key=abs)) from None
        if not all(map(math.isfinite, numbers)):
            raise not_a_probability(numbers)
        self.lines.append(line)
        self.predictions.append(self.alike.text(prediction) if isinstance(prediction, str) else prediction)
        self.widths.append(len(numbers))
        if key is not None:
            self.groups.append(key.group)
            self.identities.append(key.identity)
            self.examples.append(min(key.example, sys.maxsize))

    def key(self, row: int) -> Key:
        return Key(self.groups[row], self.identities[row], self.examples[row])

    def where(self, row: int) -> str:
        return f"{self.path}, {self.unit} {self.lines[row]}"


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


# The request

OPTIONS = ("format", "id", "label", "labels", "probabilities", "rows")
NO_PROBABILITIES = "no"
MOST_NUMBERS = 10_000
"""Numeric labels are below this; a larger number is a name that consists of digits."""


@dataclass(frozen=True, slots=True)
class Options:
    """The checked options of a spec."""

    format: str = ""
    id: str = ""
    """The column of the case id."""
    label: str = ""
    """The column of the answer."""
    labels: LabelNames = LabelNames()
    probabilities: tuple[str, ...] | None = None
    """The columns of probabilities: one per label, or one that holds them all. Empty: read none."""
    rows: str = ""
    """The path of the list of rows inside a JSON file."""


def read_options(options: Mapping[str, str], who: str) -> Options:
    """Return the options of a spec; raise for empty ones."""
    empty = [name for name, value in options.items() if not value.strip()]
    if empty:
        raise ModelError(f"{who}: option {empty[0]!r} has no value", fix=f"?{empty[0]}=…, or remove it")
    words = {name: options.get(name, "") for name in ("format", "id", "label", "rows")}
    labels = parse_labels(options["labels"], who) if "labels" in options else LabelNames()
    probabilities = None
    if "probabilities" in options:
        names = options["probabilities"]
        probabilities = () if names == NO_PROBABILITIES else tuple(filter(None, split_names(names)))
    return Options(**words, labels=labels, probabilities=probabilities)


@dataclass(frozen=True, slots=True)
class SuiteLabels:
    """The labels of a suite: names, bare numbers, or unknown."""

    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    """The numeric labels of its cases, ascending; there may be others."""
    in_order: bool = True
    """Whether the suite defines the order of its names."""

    @property
    def known(self) -> tuple[str, ...]:
        return self.names or tuple(map(str, self.numbers))

    def __str__(self) -> str:
        return some(self.known, 12)


def suite_labels(
    names: Sequence[str] | None, cases: Iterable[Case], given: LabelNames | None = None
) -> SuiteLabels:
    """Return the labels of a suite: from its header, its cases, or `?labels=`.

    >>> suite_labels(None, [Case("a/1", (("good",),), (2,)), Case("a/2", (("bad",),), ("not_0",))])
    SuiteLabels(names=(), numbers=(0, 2), in_order=True)
    """
    if names:
        in_order = all(case.meta.get("labels in order", True) for case in islice(cases, 1))
        return SuiteLabels(tuple(names), in_order=in_order)
    words = {str(label).removeprefix("not_") for case in cases for label in case.labels or ()}
    if not words and given is not None:
        return SuiteLabels(given.order or tuple(dict.fromkeys(given.names.values())))
    if all(word.isdecimal() and len(word) < len(str(MOST_NUMBERS)) for word in words):
        return SuiteLabels(numbers=tuple(sorted(set(map(int, words)))))
    return SuiteLabels(tuple(sorted(words)), in_order=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read, with its options and its suite."""

    path: Path
    options: Options = field(default_factory=Options)
    labels: SuiteLabels = field(default_factory=SuiteLabels)
    whole: Sequence[Case] = ()
    """The suite that the file belongs to."""
    may_lack_ids: bool = False
    """Whether a file without a column of ids has one row per case, in order."""

    def label_names(self) -> list[str]:
        """Return the names by which a column of probabilities is recognised."""
        given = self.options.labels
        names = [*given.names, *given.order, *self.labels.known]
        return list({spelled(name): name for name in reversed(names)}.values())

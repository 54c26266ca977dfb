"""A request to read a predictions file: its options, and the labels of the suite."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ...core.errors import ModelError, some
from ...core.records import Case
from ..labels import LabelNames, parse_labels, spelled, split_names

OPTIONS = ("format", "id", "label", "labels", "probabilities")
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


def read_options(options: Mapping[str, str], who: str) -> Options:
    """Return the options of a spec; raise for empty ones."""
    empty = [name for name, value in options.items() if not value.strip()]
    if empty:
        raise ModelError(f"{who}: option {empty[0]!r} has no value", fix=f"?{empty[0]}=…, or remove it")
    words = {name: options.get(name, "") for name in ("format", "id", "label")}
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

    def label_names(self) -> list[str]:
        """Return the names by which a column of probabilities is recognised."""
        given = self.options.labels
        names = [*given.names, *given.order, *self.labels.known]
        return list({spelled(name): name for name in reversed(names)}.values())

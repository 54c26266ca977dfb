"""What a predictions file is asked for: the options behind its name, and the labels of the suite."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ...core.errors import ModelError, some
from ...core.records import Case
from ..labels import LabelNames, parse_labels, spelled, split_names

OPTIONS = (
    "format",
    "id",
    "label",
    "labels",
    "probabilities",
    "normalise",
    "contradictions",
    "header",
    "rows",
    "sheet",
)
YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
NO_PROBABILITIES = "no"
MOST_NUMBERS = 10_000
"""Labels that are bare numbers, at the most: a larger one is a name that happens to consist of digits."""


@dataclass(frozen=True, slots=True)
class Options:
    """What stands behind the `?`, checked."""

    format: str = ""
    id: str = ""
    """The column, or path in nested JSON, that names the case."""
    label: str = ""
    """The column, or path, that holds the answer."""
    labels: LabelNames = LabelNames()
    probabilities: tuple[str, ...] | None = None
    """The columns, or paths, of probabilities: one per label, or one that holds them all. Empty: none is read."""
    normalise: bool = False
    """Probabilities that sum to 1 but for rounding are divided by their sum."""
    keep_contradictions: bool = False
    """A label is believed even where another one has a larger probability."""
    header: bool = False
    """The first line of a text format is no answer."""
    rows: str = ""
    """Where in a JSON file the list of rows is."""
    sheet: str = ""
    given: tuple[str, ...] = ()
    """Which options were named at all."""


def read_options(options: Mapping[str, str], who: str) -> Options:
    """The options of a spec; a value that there is not is an error."""
    empty = [name for name, value in options.items() if not value.strip()]
    if empty:
        raise ModelError(f"{who}: option {empty[0]!r} has no value", fix=f"?{empty[0]}=…, or leave it out")
    probabilities = options.get("probabilities")
    return Options(
        format=options.get("format", ""),
        id=options.get("id", ""),
        label=options.get("label", ""),
        labels=parse_labels(options["labels"], who) if "labels" in options else LabelNames(),
        probabilities=None if probabilities is None else _columns(probabilities),
        normalise=_choice(options, "normalise", YES_OR_NO, who),
        keep_contradictions=_choice(options, "contradictions", {"keep": True, "refuse": False}, who),
        header=_choice(options, "header", YES_OR_NO, who),
        rows=options.get("rows", ""),
        sheet=options.get("sheet", ""),
        given=tuple(options),
    )


def _columns(names: str) -> tuple[str, ...]:
    return () if names == NO_PROBABILITIES else tuple(filter(None, split_names(names)))


def _choice(options: Mapping[str, str], name: str, known: Mapping[str, bool], who: str) -> bool:
    word = options.get(name)
    if word is not None and word not in known:
        raise ModelError(
            f"{who}: {name}={word!r}", why=f"known: {', '.join(known)}", fix=f"?{name}={next(iter(known))}"
        )
    return False if word is None else known[word]


@dataclass(frozen=True, slots=True)
class SuiteLabels:
    """How a suite calls its labels: by names, by bare numbers, or not at all."""

    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    """Those that its cases have, where they have no names: ascending, perhaps not all there are."""
    in_order: bool = True
    """Whether the suite says which of its names is the first."""

    @property
    def known(self) -> tuple[str, ...]:
        """The labels in words, for messages and to tell columns by."""
        return self.names or tuple(map(str, self.numbers))

    def __str__(self) -> str:
        return some(self.known, 12)


def suite_labels(
    names: Sequence[str] | None, cases: Iterable[Case], given: LabelNames | None = None
) -> SuiteLabels:
    """The labels of a suite: as its header names them, as its cases have them, or as the user says.

    >>> suite_labels(None, [Case("a/1", (("good",),), (2,)), Case("a/2", (("bad",),), ("not_0",))])
    SuiteLabels(names=(), numbers=(0, 2), in_order=True)
    """
    if names:
        in_order = all(case.meta.get("labels in order", True) for case in islice(cases, 1))
        return SuiteLabels(tuple(names), in_order=in_order)
    labels = {label for case in cases for label in case.labels or ()}
    words = {str(label).removeprefix("not_") for label in labels}
    if not words and given is not None:
        return SuiteLabels(given.order or tuple(dict.fromkeys(given.names.values())))
    if all(word.isdecimal() and len(word) < len(str(MOST_NUMBERS)) for word in words):
        return SuiteLabels(numbers=tuple(sorted(set(map(int, words)))))
    return SuiteLabels(tuple(sorted(words)), in_order=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read, and what for."""

    path: Path
    options: Options = field(default_factory=Options)
    labels: SuiteLabels = field(default_factory=SuiteLabels)
    whole: Sequence[Case] = ()
    """The suite that the file belongs to."""

    def names(self) -> list[str]:
        """What a column of probabilities may be called for us to know which label it is."""
        given = self.options.labels
        names = [*given.names, *given.order, *self.labels.known]
        return list({spelled(name): name for name in reversed(names)}.values())

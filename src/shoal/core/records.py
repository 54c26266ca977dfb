"""Records passed from step to step: cases, answers, outcomes, measures, results.

    build ──► Case        inputs shown together, and the expected answer
    ask   ──► Answers     the model's answers, one row per example
    score ──► Outcome     pass, fail, not applicable or error, one per case
              Measure     one number with its n, groups, interval and basis
              Finding     a sentence, with the measures that support it
    all   ──► Result      input of comparisons and reports

They hold data; the few methods here select and do not compute.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .errors import DataError
from .selection import choose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


T = TypeVar("T")
Example = tuple[str, ...]
"""("text",), ("premise", "hypothesis") or ("context", "question")."""

Label = int | str
NAN = float("nan")
TestType = Literal["MFT", "INV", "DIR"]
PARTLY = "partly graded"
"""The fact of a measure that counts samples with a score in some epochs only."""


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs shown to the model together, and the expected answer.

    `examples[0]` is the original where the others are perturbations of it. `cluster` names the unit that was
    drawn independently (a template, a seed problem); intervals resample it.
    """

    id: str
    examples: tuple[Example, ...]
    labels: tuple[Label, ...] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


class Large(Mapping[str, Any]):
    """A mapping that holds large values as compressed JSON until they are read.

    What a case knows of each of its hundred examples is most of its memory, and hardly ever looked at.
    """

    __slots__ = ("_values",)
    MOST = 4096
    """Characters of JSON; larger values are compressed."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {name: self._held(value) for name, value in values.items()}

    def _held(self, value: Any) -> Any:
        text = json.dumps(value).encode()
        return zlib.compress(text, 1) if len(text) > self.MOST else value

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        return json.loads(zlib.decompress(value)) if isinstance(value, bytes) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Lazy(Sequence[T]):
    """A sequence that is read at the first access; only its length is known before."""

    def __init__(self, length: int, read: Callable[[], Sequence[T]]) -> None:
        self._length, self._read = length, read

    @cached_property
    def rows(self) -> Sequence[T]:
        """The sequence itself."""
        rows = self._read()
        if len(rows) != self._length:
            raise DataError(
                f"{len(rows):,} cases, but {self._length:,} were scored",
                fix="shoal run PLAN, which builds and scores them again",
            )
        return rows

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one distinct example: a line of `answers.jsonl`."""

    example_id: str
    kind: Literal["probabilities", "label", "span", "tokens", "vector", "attribution"]
    data: Any
    error: str = ""
    mark: str = ""
    """The moment of training at which the model was queried; empty if it was queried once."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to every example of a list of cases, as columns.

    `predictions` are indices into `labels`. `probabilities` has a row per example, NaN if the model gave none.
    `confidences` replaces it for models that give one number for their prediction.
    """

    labels: tuple[str, ...]
    predictions: "NDArray[np.int64]"  # (examples,)
    probabilities: "NDArray[np.float64] | None" = None  # (examples, labels)
    confidences: "NDArray[np.float64] | None" = None  # (examples,)
    texts: Sequence[str] = ()  # (examples,) answers to reading comprehension, where there are no labels
    errors: Mapping[int, str] = field(default_factory=dict)  # by row
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the answers as a whole, such as the number of truncated examples."""
    label_map: Mapping[str, str] = field(default_factory=dict)
    """The model's label names, to the suite's."""
    band: bool = False
    """Whether a binary model answers a three-label suite, so that a band of probabilities counts as neutral."""
    details: Sequence[Mapping[str, Any]] = ()  # (examples,)
    """Further data of each answer, such as its text and probability mass."""
    unparsed: frozenset[int] = frozenset()
    """Rows without a label although the model answered something."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one case. `passed` is None if the test does not apply or the model gave no answer."""

    case_id: str
    passed: bool | None
    value: float | None = None
    """Above 0 for a pass, otherwise 0 or below; lower is worse."""
    error: str = ""


PASSED: Mapping[str, bool | None] = {"1": True, "0": False, "-": None, "e": None}
"""Verdicts as letters: pass, fail, not applicable, error."""
LETTERS: Mapping[bool | None, str] = {True: "1", False: "0", None: "-"}


class Outcomes(Sequence[Outcome]):
    """Outcomes as columns; a million cases take nine megabytes."""

    def __init__(
        self, cases: Sequence[Case], verdicts: str, values: Sequence[float], errors: Mapping[int, str]
    ) -> None:
        self.cases = cases
        self.verdicts = verdicts  # a letter per case
        self.values = values  # NaN for none
        self.errors = errors  # by position

    def __len__(self) -> int:
        return len(self.verdicts)

    @overload
    def __getitem__(self, place: int) -> Outcome: ...
    @overload
    def __getitem__(self, place: slice) -> list[Outcome]: ...
    def __getitem__(self, place: int | slice) -> Outcome | list[Outcome]:
        if isinstance(place, slice):
            return [self[position] for position in range(len(self))[place]]
        value, letter = self.values[place], self.verdicts[place]
        error = self.errors.get(range(len(self))[place], "error") if letter == "e" else ""
        return Outcome(self.cases[place].id, PASSED[letter], None if value != value else value, error)


def verdicts_of(outcomes: Sequence[Outcome]) -> str:
    """Return a letter for each outcome, as in `PASSED`."""
    if isinstance(outcomes, Outcomes):
        return outcomes.verdicts
    return "".join("e" if outcome.error else LETTERS[outcome.passed] for outcome in outcomes)


def values_of(outcomes: Sequence[Outcome]) -> Sequence[float]:
    """Return the value of each outcome; NaN for none."""
    if isinstance(outcomes, Outcomes):
        return outcomes.values
    return [NAN if outcome.value is None else outcome.value for outcome in outcomes]


@dataclass(frozen=True, slots=True)
class Basis:
    """Which cases a measure is a mean of; comparisons use it to pair and test measures."""

    mean_over: str = ""
    """"cases"; or a group such as "functionality", whose values are averaged; empty if cases do not determine it."""
    weights: Mapping[str, float] | None = None
    """A weight for each value of that group; None for equal weights."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Restricts the cases further than the measure's groups do."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Groups whose cases are left out."""
    column: str = ""
    """The column of the result that is averaged; empty for passes."""
    runs: bool = False
    """Only several runs show how far it varies."""
    templates: int | None = None
    """The number of templates of its cases, where cases come from templates."""
    constant: float = 0.0
    """Added to the mean."""
    interval_over_templates: tuple[float, float] | None = None
    """The interval for new templates; None if they are too few."""
    jobs: tuple[str, ...] = ()
    """The ids of the jobs whose cases these are; empty for the result's own."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number, with the number of cases behind it."""

    name: str
    value: float | None
    n: int
    groups: Mapping[str, str] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    interval_method: str = ""
    na: int = 0
    errors: int = 0
    note: str = ""
    """For readers; only layout and wording use it."""
    basis: Basis = field(default=Basis(), kw_only=True)
    of: str = field(default="", kw_only=True)
    """The measure that a difference, spread or p value is about."""
    reason: str = field(default="", kw_only=True)
    """Why `value` is null."""
    verdict: str = field(default="", kw_only=True)
    headline: bool = field(default=False, kw_only=True)
    """Whether it is the protocol's main number."""
    facts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def with_note(self, text: str) -> "Measure":
        """Return the measure with a text added to its note."""
        return replace(self, note="; ".join(filter(None, [self.note, text])))

    def __hash__(self) -> int:
        return hash((self.name, self.value, self.n, tuple(self.groups.items())))


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about a result, with the measures that support it."""

    kind: str
    """Its kind: degenerate, saturated, undecided, verdict, conclusion …"""
    text: str
    measures: tuple[Measure, ...] = ()
    weight: float = 0.0
    """Importance; the largest come first."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Its subject."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    disqualifies: bool = False
    """Whether it invalidates the result: the model is dead or has not learnt its task."""


class ShownInNotebook:
    """An object that a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # By name, because core must not import the renderer, and only Python users need it.
        return str(import_module("shoal.render.notebook").html_of(self))


class Measures(tuple[Measure, ...], ShownInNotebook):
    """A table of measures with filters."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> Any:
        rows = super().__getitem__(place)
        return Measures(rows) if isinstance(place, slice) else rows

    def __repr__(self) -> str:
        return str(import_module("shoal.render.notebook").measures_text(self))

    def to_pandas(self) -> Any:
        """Return a pandas table with a row per measure and a column per group.

        >>> import shoal
        >>> result = shoal.audit("behaviour", "predictions:example", suite="sentiment")
        >>> table = result.measures.by("capability").to_pandas()
        >>> list(table.columns)
        ['measure', 'capability', 'value', 'low', 'high', 'n', 'na', 'errors', 'reason']
        """
        from .display import frame, measure_rows

        return frame(measure_rows(self))

    def where(self, name: str | None = None, **groups: str) -> "Measures":
        """Return the rows with this name and these groups; `test_type` means "test type"."""
        wanted = {key.replace("_", " "): value for key, value in groups.items()}
        return Measures(
            row
            for row in self
            if name in (None, row.name) and all(row.groups.get(k) == v for k, v in wanted.items())
        )

    def by(self, group: str, name: str | None = None) -> "Measures":
        """Return one measure by one group: `by("capability")` has a row per capability.

        Among the rows with this group, take those with the fewest other groups, and of these the first measure
        unless `name` is given.
        """
        rows = [row for row in self if group in row.groups and name in (None, row.name)]
        fewest = min((len(row.groups) for row in rows), default=0)
        rows = [row for row in rows if len(row.groups) == fewest]
        return Measures(row for row in rows if row.name == rows[0].name)


@dataclass(frozen=True, slots=True)
class Result(ShownInNotebook):
    """The result of one job: the job, every case with its outcome, and the measures."""

    job: Mapping[str, Any]
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    measures: Measures
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Further values by case, in the order of the cases."""
    findings: Sequence[Finding] = ()
    settings: Any = None
    """The protocol's settings; None if unknown."""

    def __repr__(self) -> str:
        from .display import result_text

        return result_text(self)

    def to_pandas(self) -> Any:
        """Return a pandas table with a row per case, failures first: groups, outcome, texts, the model's answers.

        >>> import shoal
        >>> table = shoal.audit("behaviour", "predictions:example", suite="sentiment").to_pandas()
        >>> int((table["outcome"] == "fail").sum())
        1045
        """
        from .display import result_frame

        return result_frame(self)

    def failing(self, *names: str) -> list[Case]:
        """Return the failing cases, worst first, optionally of one functionality, cell or other group.

        A name may hold `*`, and its group may stand before it: `functionality=neg*` (see `selecting`).
        """
        return self.failing_among(choose(self.cases, names) if names else range(len(self.cases)))

    def failing_among(self, positions: Iterable[int]) -> list[Case]:
        """Return the failing cases among these positions, worst first."""
        verdicts, values = verdicts_of(self.outcomes), values_of(self.outcomes)
        failed = [
            (0.0 if values[position] != values[position] else values[position], position)
            for position in positions
            if verdicts[position] == "0"
        ]
        return [self.cases[position] for _, position in sorted(failed)]


OVER_TEMPLATES = "over templates"
"""The interval method for new templates."""


def for_new_templates(result: Result) -> Result:
    """Return the result with intervals for new templates in place of those for new cases."""
    measures = [
        replace(row, interval=row.basis.interval_over_templates, interval_method=OVER_TEMPLATES)
        if row.basis.templates is not None
        else row
        for row in result.measures
    ]
    return replace(result, measures=Measures(measures))


def _pair(ends: Sequence[float] | None) -> tuple[float, float] | None:
    return None if ends is None else (ends[0], ends[1])


def as_json(measure: Measure) -> dict[str, Any]:
    """Return a measure as in the public `--json` output."""
    row = asdict(measure)
    row["groups"] = dict(measure.groups)
    row["interval"] = list(measure.interval) if measure.interval else None
    row["facts"] = dict(measure.facts)
    return row


def from_json(row: Mapping[str, Any]) -> Measure:
    basis = row.get("basis", {})
    typed = {
        "interval_over_templates": _pair(basis.get("interval_over_templates")),
        "jobs": tuple(basis.get("jobs", ())),
    }
    return Measure(**{**row, "interval": _pair(row["interval"]), "basis": Basis(**{**basis, **typed})})


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as in the public `--json` output."""
    return {**asdict(replace(finding, measures=())), "measures": [as_json(row) for row in finding.measures]}


def finding_from_json(row: Mapping[str, Any]) -> Finding:
    return Finding(**{**row, "measures": tuple(map(from_json, row["measures"]))})

"""What is handed from step to step: cases, answers, outcomes, measures, results.

    build ──► Case        inputs shown together, and what is expected
    ask   ──► Answers     what the model said, one row per example
    score ──► Outcome     pass, fail, not applicable or error, one per case
              Measure     one number with its n, groups and interval
    all   ──► Result      what comparing and reporting read

They hold data, not behaviour; the few methods here select, they do not compute.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Example = tuple[str, ...]
"""("text",), ("premise", "hypothesis") or ("context", "question")."""

Label = int | str
TestType = Literal["MFT", "INV", "DIR"]


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs shown to the model together, and what is expected of it.

    `examples[0]` is the original where the others are perturbations of it. `cluster` names the unit that was
    drawn independently (a template, a seed problem); intervals resample it.
    """

    id: str
    examples: tuple[Example, ...]
    labels: tuple[Label, ...] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said about one distinct example, as it is stored: a line of `answers.jsonl`."""

    example_id: str
    kind: Literal["probabilities", "label", "span", "tokens", "vector", "attribution"]
    data: Any
    error: str = ""
    mark: str = ""
    """At which moment of its training the model said so; empty for a model that is asked once."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to every example of a list of cases, case by case, as columns.

    `predictions` are indices into `labels`. `probabilities` has a row per example, NaN where none were given;
    `confidences` stands in for it where a model gives one number for its prediction only.
    """

    labels: tuple[str, ...]
    predictions: "NDArray[np.int64]"  # (examples,)
    probabilities: "NDArray[np.float64] | None" = None  # (examples, labels)
    confidences: "NDArray[np.float64] | None" = None  # (examples,)
    texts: Sequence[str] = ()  # (examples,) answers to reading comprehension, where there are no labels
    errors: Mapping[int, str] = field(default_factory=dict)  # by row
    note: str = ""
    """What a reader of the results should know about how these came to be."""
    label_map: Mapping[str, str] = field(default_factory=dict)
    """The model's own names for its labels, to the suite's."""
    band: bool = False
    """Whether the model has the two ends of three labels, so that what lies between is read as the middle one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one case went. `passed` is None where the test does not apply, or where the model gave no answer."""

    case_id: str
    passed: bool | None
    value: float | None = None
    """Above 0 for a pass; at most 0 for a fail, and the further below the worse."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number, with how many cases it rests on and which."""

    name: str
    value: float | None
    n: int
    groups: Mapping[str, str] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    interval_method: str = ""
    na: int = 0
    errors: int = 0
    note: str = ""


class Measures(Sequence[Measure]):
    """A long table of measures that can be narrowed down."""

    def __init__(self, rows: Iterable[Measure]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Measure: ...
    @overload
    def __getitem__(self, index: slice) -> "Measures": ...
    def __getitem__(self, index: int | slice) -> "Measure | Measures":
        return Measures(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __eq__(self, other: object) -> bool:
        return self.rows == other.rows if isinstance(other, Measures) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return "\n".join(
            f"{row.name:<22} {'–' if row.value is None else f'{row.value:.4f}':>7}  n={row.n:<6} {dict(row.groups)}"
            for row in self
        )

    def where(self, name: str | None = None, **groups: str) -> "Measures":
        """The rows of this name whose groups hold these values; `test_type` stands for "test type"."""
        wanted = {key.replace("_", " "): value for key, value in groups.items()}
        return Measures(
            row
            for row in self
            if name in (None, row.name) and all(row.groups.get(k) == v for k, v in wanted.items())
        )

    def by(self, group: str) -> "Measures":
        """Pass rates by one group: `by("capability")` gives a row per capability."""
        whole = group == "functionality"  # a functionality's row says its capability and test type too
        return Measures(
            row
            for row in self
            if row.name == "pass rate" and (group in row.groups if whole else set(row.groups) == {group})
        )


@dataclass(frozen=True, slots=True)
class Result:
    """One job done: what was asked, every case with its outcome, and the measures."""

    job: Mapping[str, Any]
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    measures: Measures

    def failing(self, functionality: str | None = None) -> list[Case]:
        """The cases that failed, worst first."""
        failed = [
            (outcome.value or 0.0, position)
            for position, outcome in enumerate(self.outcomes)
            if outcome.passed is False
            and functionality in (None, self.cases[position].groups.get("functionality"))
        ]
        return [self.cases[position] for _, position in sorted(failed)]


def as_json(measure: Measure) -> dict[str, Any]:
    """A measure as the public `--json` object shows it."""
    row = asdict(measure)
    row["groups"] = dict(measure.groups)
    row["interval"] = list(measure.interval) if measure.interval else None
    return row

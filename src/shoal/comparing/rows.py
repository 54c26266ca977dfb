"""One thing compared, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.claims import ALPHA, FLAGGED, TOO_FEW_TEMPLATES, too_few_templates
from ..core.measures import quantity
from ..stats.intervals import Interval

Adjust = Literal["holm", "bonferroni", "bh", "none"]
Over = Literal["cases", "templates"]
CASES, RUNS, TEMPLATES = "cases", "runs", "templates"

ADJUSTMENTS: dict[str, str] = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "none": "no adjustment",
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How two sides are compared."""

    adjust: Adjust = "holm"
    """How p is adjusted within a level: holm, bonferroni, bh or none."""
    over: Over = "cases"
    """The population: new cases of the same templates, or new templates."""
    margin: float | None = None
    """How much worse B may be and still be called not inferior; None: no such test."""
    paired_seeds: bool = False
    """Seed k of A and seed k of B started from the same checkpoint: their differences are tested."""
    shuffles: int = 10_000
    """Random sign flips behind the tests of means."""
    seed: int = 0
    """Of every random draw here."""
    power: bool = True
    """Compute the minimum detectable drop; most of the time of a small comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing compared."""

    measure: str
    """What it is: pass rate, suite score, accuracy."""
    level: str
    """What it is one of: functionality, capability, cell; empty for the whole."""
    name: str
    """Which of them; of the whole, the measure's own name."""
    groups: Mapping[str, str]
    n: int
    """Cases that apply to both; the difference rests on these."""
    rates: tuple[float | None, float | None]
    """Of A and of B, on those cases; means of functionalities where there are several."""
    difference: float | None
    interval: Interval | None
    interval_method: str
    p: float | None
    test: str
    """What p is the p of."""
    mde: float | None
    """The smallest drop, spread evenly over cases, that the test detects in 8 of 10 draws; None: it detects none."""
    gained: int
    """Cases that only B passes."""
    lost: int
    """Cases that only A passes."""
    applicability: tuple[float | None, float | None]
    na: int
    """Cases that do not apply to one of them, or to both."""
    errors: tuple[int, int]
    """Cases that A, or B, gave no answer to; left out of the difference, never out of sight."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    adjusted: float | None = None
    inferior_p: float | None = None
    """One-sided p of "B is worse by the margin or more"; None where that is not asked or has no meaning."""
    inferior_adjusted: float | None = None

    @property
    def not_inferior(self) -> bool:
        """Whether B is shown to be worse by less than the margin."""
        return self.inferior_adjusted is not None and self.inferior_adjusted <= ALPHA / 2

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most 5 %."""
        return self.adjusted is not None and self.adjusted <= ALPHA

    @property
    def is_better(self) -> bool:
        """Whether B is better; for measures without a better direction, whether it is higher."""
        return ((self.difference or 0) > 0) != (quantity(self.measure).direction == "lower")

    @property
    def is_suspect(self) -> bool:
        """Whether the interval excludes zero although the row is not significant after correction."""
        return (
            not self.significant
            and self.interval is not None
            and self.p is not None
            and not self.interval[0] <= 0 <= self.interval[1]
        )

    @property
    def applicability_differs(self) -> bool:
        """Whether one model is asked much more of this than the other."""
        a, b = self.applicability
        return a is not None and b is not None and abs(a - b) > FLAGGED + 1e-9


def note_of(row: Row) -> str:
    """Return what a reader of a row should know, in words."""
    facts = row.facts
    if "none in common" in facts:
        return str(facts["none in common"])
    notes = [f"few cases ({facts['few cases']})"] if "few cases" in facts else []
    if "seeds of A" in facts:
        notes.append(f"runs: {facts['seeds of A']} of A, {facts['seeds of B']} of B")
    if "these runs" in facts:
        notes.append("tested by case: variance between runs cannot be estimated")
    if TOO_FEW_TEMPLATES in facts:
        notes.append(too_few_templates(facts[TOO_FEW_TEMPLATES]))
    if "left out" in facts:
        notes.append(f"no common applicable case in {', '.join(facts['left out'])}")
    if facts.get("over") == RUNS and row.interval is None:
        notes.append("cannot be paired by case: compare two or more runs a side")
    if row.applicability_differs:
        notes.append("applies to {:.0%} of the cases for A and to {:.0%} for B".format(*row.applicability))
    return "; ".join(notes)

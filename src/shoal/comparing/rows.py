"""Rows of a comparison, and the choices behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..core.claims import ALPHA, ENOUGH_TEMPLATES, FLAGGED
from ..core.measures import quantity
from ..stats.intervals import Interval

if TYPE_CHECKING:
    from .inference import Estimate

Over = Literal["cases", "templates"]


@dataclass(frozen=True, slots=True)
class Choices:
    """How two sides are compared."""

    over: Over = "cases"
    """The population: new cases of the same templates, or new templates."""
    shuffles: int = 10_000
    """Random sign flips behind the tests of means."""
    seed: int = 0
    """Seed of every random draw."""
    power: bool = True
    """Compute the minimum detectable drop; most of the time of a small comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """The difference of one measure between A and B."""

    measure: str
    """Its name: pass rate, suite score, accuracy."""
    level: str
    """The kind of group: functionality, capability, cell; empty for the whole."""
    name: str
    """The group; for the whole, the measure's name."""
    groups: Mapping[str, str]
    n: int
    """Cases that apply to both; the difference rests on these."""
    rates: tuple[float | None, float | None]
    """Rates of A and B on those cases; means over functionalities if there are several."""
    difference: float | None
    interval: Interval | None
    interval_method: str
    p: float | None
    test: str
    """The test behind p."""
    estimate: "Estimate" = field(repr=False, compare=False)
    """The source of the difference."""
    mde: float | None = None
    """The smallest drop, spread evenly over cases, that the test detects in 8 of 10 draws; None: it detects none."""
    gained: int = 0
    """Cases that only B passes."""
    lost: int = 0
    """Cases that only A passes."""
    applicability: tuple[float | None, float | None] = (None, None)
    na: int = 0
    """Cases that do not apply to one of them, or to both."""
    errors: tuple[int, int] = (0, 0)
    """Cases that A, and B, gave no answer to; the difference excludes them."""
    reason: str = ""
    """Why the difference is undefined."""
    is_headline: bool = False
    """Whether it is the number that the protocol is about."""
    is_paired: bool = True
    """Whether cases can be paired; otherwise only several runs show how far it varies."""
    runs: tuple[int, int] = (1, 1)
    absent: tuple[str, ...] = ()
    """Groups of the mean without a common applicable case."""
    templates: int | None = None
    """The number of templates, if these are the unit."""
    effective_templates: float = 0.0
    """Kish's effective number of templates."""
    adjusted: float | None = None

    @property
    def by_run(self) -> bool:
        """Whether the run is the unit of the test; otherwise the case is."""
        return self.estimate.runs is not None

    @property
    def has_few_templates(self) -> bool:
        """Whether templates are the unit and there are too few of them for a test."""
        return self.templates is not None and self.templates < ENOUGH_TEMPLATES and not self.by_run

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most 5 %."""
        return self.adjusted is not None and self.adjusted <= ALPHA

    @property
    def is_better(self) -> bool:
        """Whether B is better; for measures without a better direction, whether it is higher."""
        return ((self.difference or 0) > 0) != (quantity(self.measure).direction == "lower")

    @property
    def has_direction(self) -> bool:
        """Whether one direction of the measure is better."""
        return quantity(self.measure).direction in ("higher", "lower")

    @property
    def change(self) -> Literal["good", "bad", ""]:
        """Whether B is better or worse by the test; empty without a clear change or a better direction."""
        if not self.significant or not self.difference or not self.has_direction:
            return ""
        return "good" if self.is_better else "bad"

    @property
    def mark(self) -> str:
        """▲ or ▼ for a tested change."""
        return {"good": "▲", "bad": "▼", "": ""}[self.change]

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
        """Whether the tests apply to many more cases of one model than of the other."""
        a, b = self.applicability
        return a is not None and b is not None and abs(a - b) > FLAGGED + 1e-9

"""The rows of a comparison: the interval and test of a difference, the smallest drop that the test detects, and p of
many rows at once.

`docs/comparing.md` says which interval and test belong to which kind of difference.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import NDArray

from ..core.claims import ALPHA, ENOUGH_TEMPLATES, FLAGGED
from ..core.measures import quantity
from ..stats.intervals import (
    Interval,
    in_agreement,
    macro_difference_interval,
    sum_t,
    within,
)
from ..stats.multiplicity import holm, holm_level
from ..stats.paired import sign_flip_test, sign_test
from ..stats.power import Cases, smallest_even_drop, smallest_mean_difference
from ..stats.resampling import ClusterTable, difference, paired_table, sharing
from ..stats.seeds import SeedError, error_of_difference, moderated_errors
from .cases import Sides

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WELCH = "Welch's t over runs"
MODERATED = "moderated t over runs"

Over = Literal["cases", "templates"]


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of a comparison."""

    over: Over = "cases"
    """The population: new cases of the same templates, or new templates."""
    shuffles: int = 10_000
    """Random sign flips behind the tests of means."""
    seed: int = 0
    """Seed of every random draw."""
    power: bool = True
    """Compute the minimum detectable drop; most of the time of a small comparison."""


class Part:
    """The cases of one group, on both sides."""

    def __init__(self, sides: Sides, name: str, members: Integers) -> None:
        self.name, self.members = name, members
        self.clusters = None if sides.clusters is None else sides.clusters[members]
        self.table: ClusterTable = paired_table(
            sides.means[1][members], sides.means[0][members], self.clusters
        )
        self.n = int(self.table.totals[-1])

    @property
    def is_clustered(self) -> bool:
        """Whether some clusters have several cases."""
        return bool(self.table.rows[:, -1].max() > 1)

    @property
    def is_counted(self) -> bool:
        """Whether each cluster is one case with outcomes 0 or 1."""
        return not self.is_clustered and bool(np.isin(self.table.rows, (0.0, 1.0)).all())

    @property
    def flips(self) -> Floats:
        """Passes of B minus passes of A, per cluster."""
        return np.repeat(self.table.rows[:, 0] - self.table.rows[:, 1], self.table.counts)

    @property
    def sizes(self) -> Floats:
        """Cases per cluster."""
        return np.repeat(self.table.rows[:, -1], self.table.counts)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference with its interval, its test, and the inputs of its power."""

    difference: float | None = None
    interval: Interval | None = None
    method: str = ""
    p: float | None = None
    test: str = ""
    """The test behind p."""
    flips: tuple[Floats, Floats] | None = field(default=None, repr=False, compare=False)
    """What each cluster adds to the difference, and the most it could add; for tests by sign flips."""
    over_runs: SeedError | None = field(default=None, repr=False, compare=False)
    """The error over runs, when that is what the test uses."""
    fractional: Floats | None = field(default=None, repr=False, compare=False)
    """The differences of single cases whose scores are not all 0 or 1, divided by the range of the scores."""
    width: float = field(default=1.0, repr=False, compare=False)
    """That range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Estimate):
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
        return self.over_runs is not None

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
        low, high = self.interval or (0.0, 0.0)
        return not self.significant and self.p is not None and not low <= 0 <= high

    @property
    def applicability_differs(self) -> bool:
        """Whether the tests apply to many more cases of one model than of the other."""
        a, b = self.applicability
        return a is not None and b is not None and abs(a - b) > FLAGGED + 1e-9


def inference(
    known: Sequence[Part],
    weights: Sequence[float],
    sides: Sides,
    choices: Choices,
    pooled: SeedError | None = None,
) -> Estimate:
    """Return the difference of a mean over these groups, or of their weighted sum.

    `pooled` is the error over runs where other rows of the level help to estimate it.
    """
    if not known:
        return Estimate()
    if sides.several:
        return _over_runs(known, weights, sides, choices, pooled)
    return _over_cases(known, weights, sides, choices)


def _over_cases(known: Sequence[Part], weights: Sequence[float], sides: Sides, choices: Choices) -> Estimate:
    if weights:
        return _of_sum(known, weights, sides, choices)
    # fsum: the same number, up to its sign, whatever the order of groups and of the two models.
    observed = math.fsum(difference(part.table) for part in known) / len(known) + 0.0
    shared = _shared(known, sides)
    low, high = sides.span
    width = 1.0 if low >= 0 and high <= 1 else high - low or 1.0  # differences are within -1 and 1
    scale = np.array([width, width, 1.0])
    tables = [ClusterTable(part.table.rows / scale, part.table.counts) for part in known]
    low, high = macro_difference_interval(tables, shared=shared)
    interval = low * width, high * width
    flips = _flips(known, sides, shared)
    p, test = _test(known, choices, flips[0], shared)
    has_fractions = len(known) == 1 and not (known[0].is_clustered or known[0].is_counted)
    return Estimate(
        observed,
        None if math.isnan(interval[0]) else in_agreement(interval, p),
        "paired t, two clusters added" if len(known) == 1 else "paired t",
        p,
        test,
        flips,
        fractional=known[0].flips / width if has_fractions else None,
        width=width,
    )


def _over_runs(
    known: Sequence[Part],
    weights: Sequence[float],
    sides: Sides,
    choices: Choices,
    pooled: SeedError | None,
) -> Estimate:
    """Return the difference with the run as the unit: a moderated t or Welch's t.

    A single run has no variance to estimate, and runs that all agree have none either. The test is then the one by
    case, on the mean outcomes of these runs.
    """
    each = [np.array([np.nanmean(side[part.members], axis=0) for part in known]) for side in sides.common]
    a, b = (np.array(weights) @ rates if weights else rates.mean(axis=0) for rates in each)
    one_against_many = min(len(a), len(b)) == 1
    runs = pooled or (SeedError() if one_against_many else error_of_difference(b, a))
    if not runs.error > 1e-12:
        estimate = _over_cases(known, weights, sides, choices)
        return replace(estimate, method=f"{estimate.method}, these runs")
    observed = math.fsum(b) / len(b) - math.fsum(a) / len(a)
    bounds = _range_of_sum(weights or (1.0,), sides)
    interval = within((observed - runs.reach(0.95), observed + runs.reach(0.95)), *bounds)
    method, test = (MODERATED, MODERATED) if pooled else ("t over runs", WELCH)
    return Estimate(observed, interval, method, runs.p(observed), test, over_runs=runs)


def pooled_errors(parts: Sequence[Part], sides: Sides) -> list[SeedError]:
    """Return the error over runs of each row of a level, pooled over its rows; empty where that is not possible."""
    if min(sides.runs) < 2 or not parts:
        return []
    rates = [np.array([np.nanmean(side[part.members], axis=0) for part in parts]) for side in sides.common]
    return moderated_errors(rates[0], rates[1], [part.n for part in parts])


def _shared(known: Sequence[Part], sides: Sides) -> float:
    """Return by how much the variance of a mean over these groups grows because they share clusters."""
    clusters = [part.clusters for part in known if part.clusters is not None]
    if len(known) == 1 or not clusters:
        return 1.0
    return sharing(clusters, [sides.changes[part.members] for part in known])


def _of_sum(known: Sequence[Part], weights: Sequence[float], sides: Sides, choices: Choices) -> Estimate:
    """Return a weighted sum over groups that share their clusters: t over what each cluster adds to it."""
    defined = [part.members[~np.isnan(sides.changes[part.members])] for part in known]
    clusters = defined if sides.clusters is None else [sides.clusters[members] for members in defined]
    cases = sum_t([sides.changes[members] for members in defined], clusters, weights)
    flips = _added(known, weights, sides.changes, sides.clusters)
    p = sign_flip_test(flips[0], np.random.default_rng(choices.seed), choices.shuffles)
    bounds = _range_of_sum(weights, sides)
    interval = within(in_agreement(cases.interval(), p), *bounds)
    test = f"sign flips of {len(flips[0]):,} clusters"
    return Estimate(cases.middle, interval, "t over clusters", p, test, flips)


def _range_of_sum(weights: Sequence[float], sides: Sides) -> Interval:
    """Return the largest difference that a weighted sum of shares can have; no bound for other values."""
    low, high = sides.span
    if low < 0 or high > 1:
        return -math.inf, math.inf
    most = math.fsum(map(abs, weights))
    return -most, most


def _added(
    known: Sequence[Part], weights: Sequence[float], changes: Floats, clusters: Integers | None
) -> tuple[Floats, Floats]:
    """Return what each cluster adds to the sum, and the most it could add."""
    count = len(changes) if clusters is None else int(clusters.max()) + 1
    added, most = np.zeros(count), np.zeros(count)
    for weight, part in zip(weights, known, strict=True):
        defined = part.members[~np.isnan(changes[part.members])]
        owners = defined if clusters is None else clusters[defined]
        np.add.at(added, owners, weight * changes[defined] / part.n)
        np.add.at(most, owners, abs(weight) / part.n)
    return added[most > 0], most[most > 0]


def _flips(known: Sequence[Part], sides: Sides, shared: float) -> tuple[Floats, Floats]:
    """Return what each cluster adds to the mean over groups, by its weight in the mean, and the most it could add."""
    if shared > 1:  # a cluster that several groups share flips in all of them at once
        return _added(known, [1 / len(known)] * len(known), sides.changes, sides.clusters)
    weights = [1 / (part.n * len(known)) for part in known]
    return (
        np.concatenate([part.flips * weight for part, weight in zip(known, weights, strict=True)]),
        np.concatenate([part.sizes * weight for part, weight in zip(known, weights, strict=True)]),
    )


def _test(known: Sequence[Part], choices: Choices, flips: Floats, shared: float) -> tuple[float, str]:
    """Return p and the name of a paired test: the exact sign test of single cases, else sign flips."""
    rng, name = np.random.default_rng(choices.seed), "sign flips"
    if len(known) == 1:
        (part,) = known
        if part.is_counted:
            return sign_test(int((flips > 0).sum()), int((flips < 0).sum())), "exact sign test"
        name += f" of {len(flips):,} {'clusters' if part.is_clustered else 'cases'}"
        flips = part.flips
    elif shared > 1:
        name += f" of {len(flips):,} clusters"
    return sign_flip_test(flips, rng, choices.shuffles), name


def detectable_drop(estimate: Estimate, alpha: float) -> float | None:
    """Return the smallest drop, spread evenly over cases, that the test detects in 8 of 10 draws; None if none is."""
    if estimate.over_runs is not None:
        error, reach = estimate.over_runs.error, estimate.over_runs.reach(1 - alpha)
        degrees = scipy.special.stdtridf(1 - alpha / 2, reach / error) if error > 0 else 0.0
        return smallest_mean_difference(error, float(degrees), alpha)
    if estimate.fractional is not None:
        values = estimate.fractional
        if np.ptp(values) == 0:  # no variance to estimate: two more differences, of 1 and of -1
            values = np.append(values, [1.0, -1.0])
        error = float(values.std(ddof=1) / math.sqrt(len(values)))
        shift = smallest_mean_difference(error, len(estimate.fractional) - 1, alpha)
        return None if shift is None else shift * estimate.width
    if estimate.flips is None:
        return None
    weights = estimate.flips[1][estimate.flips[1] > 0]  # a cluster without a common case weighs nothing
    found = smallest_even_drop(Cases.weighted(weights), churn(estimate), alpha)
    return None if found is None else found * math.fsum(weights)


def churn(estimate: Estimate) -> float:
    """Return the share of cases that change in both directions alike, and so hide a drop; one case is added.

    If the test does not reject, every change counts. If it does, the difference itself does not: only the changes
    against it count, and as many with it.
    """
    moved, weights = estimate.flips or (np.zeros(1), np.ones(1))
    if estimate.p is not None and estimate.p <= ALPHA:
        against = moved[moved * np.sign(estimate.difference or 0.0) < 0]
        moved = np.concatenate([against, against])
    share = math.fsum(moved**2) / math.fsum(weights**2)
    return min(1.0, share + 1 / np.count_nonzero(weights))


# Many rows at once


def with_adjusted_p(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with p adjusted by Holm within their level, such as functionality or capability."""
    adjusted = list(rows)
    for level in {row.level for row in rows}:
        places = [place for place, row in enumerate(rows) if row.level == level and row.p is not None]
        for place, p in zip(places, holm([rows[place].p or 0.0 for place in places]).tolist(), strict=True):
            adjusted[place] = replace(rows[place], adjusted=p)
    return adjusted


def tests_in(rows: Sequence[Row], level: str) -> int:
    """Return how many rows of a level were tested."""
    return sum(row.p is not None for row in rows if row.level == level)


def level_of(rows: Sequence[Row], level: str) -> float:
    """Return the significance level at which rows of this level without ▲ or ▼ were tested."""
    return holm_level([row.p for row in rows if row.p is not None and row.level == level])

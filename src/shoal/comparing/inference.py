"""A difference on paired cases: its interval, its test, and what could not have been seen.

The table in `pairs` says which interval and test stand where.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measures import FEW_CASES
from ..stats.intervals import (
    Interval,
    Student,
    in_agreement,
    macro_difference_interval,
    paired_t,
)
from ..stats.paired import sign_flip_test, sign_test
from ..stats.power import smallest_flip_difference, smallest_recipe_difference
from ..stats.resampling import ClusterTable, difference, paired_table, sharing
from ..stats.seeds import (
    SeedError,
    composed,
    composed_p,
    error_of_difference,
    error_of_mean,
    recipe_difference,
)
from ..stats.sums import sum_t
from .rows import Choices
from .sides import Sides

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


ONE_INTERVAL = "paired t, two clusters added"


MEAN_INTERVAL = "paired t"


SUM_INTERVAL = "t over clusters"


AND_SEEDS = " and over seeds"


OVER_SEEDS = "t over seeds and cases"


class Part:
    """The cases of one group of both sides."""

    def __init__(self, sides: Sides, name: str, members: Integers) -> None:
        self.name, self.members = name, members
        self.clusters = None if sides.clusters is None else sides.clusters[members]
        self.table: ClusterTable = paired_table(
            sides.means[1][members], sides.means[0][members], self.clusters
        )
        self.n = int(self.table.totals[-1])

    @property
    def is_clustered(self) -> bool:
        """Whether some of its cases stand or fall together."""
        return bool(self.table.rows[:, -1].max() > 1)

    @property
    def is_counted(self) -> bool:
        """Whether each cluster is a case that A or B passes, or both, or neither."""
        return not self.is_clustered and bool(np.isin(self.table.rows, (0.0, 1.0)).all())

    @property
    def flips(self) -> Floats:
        """Passes of B minus passes of A, a number per cluster: what may change sign if the two are alike."""
        return np.repeat(self.table.rows[:, 0] - self.table.rows[:, 1], self.table.counts)

    @property
    def sizes(self) -> Floats:
        """Cases of each cluster."""
        return np.repeat(self.table.rows[:, -1], self.table.counts)

    @property
    def rates(self) -> tuple[float, float]:
        """Of A and of B, on the common cases."""
        b, a, n = self.table.totals
        return float(a / n), float(b / n)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference, and what its interval and test are made of."""

    difference: float | None = None
    interval: Interval | None = None
    method: str = ""
    p: float | None = None
    test: str = ""
    cases: Student | None = None
    """How well it is known over cases."""
    seeds: SeedError | None = None
    """And over seeds, where there are several."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    flips: tuple[Floats, Floats] | None = None
    """What each cluster adds to it, and would add at most, where the test flips their signs."""
    tables: Sequence[ClusterTable] = ()
    """Both sides on each group of cases, for a mean of one checkpoint a side."""
    bounds: Interval = (-math.inf, math.inf)
    """What the difference cannot leave."""
    shared: float = 1.0
    """How many times more it varies because groups share clusters."""

    def at(self, level: float) -> Interval | None:
        """The interval at a level; None where there is none."""
        if self.tables:
            return _defined(macro_difference_interval(self.tables, level, self.shared))
        if self.difference is None or self.p is None:
            return None
        value = self.difference
        cases = self.cases.interval if self.cases else lambda _: (value, value)
        low, high = composed(value, cases, self.seeds or SeedError(), level)
        return max(self.bounds[0], low), min(self.bounds[1], high)


def inference(known: Sequence[Part], weights: Sequence[float], sides: Sides, choices: Choices) -> Estimate:
    """The difference of a mean over these groups, or of their weighted sum."""
    if not known:
        return Estimate()
    if weights:
        return _of_sum(known, weights, sides, choices)
    # fsum: the same number, up to its sign, whatever the order of groups and of the two models.
    observed = math.fsum(difference(part.table) for part in known) / len(known) + 0.0
    if sides.several:
        return _over_seeds(known, observed, sides, choices)
    shared = _shared(known, sides)
    interval, method = _interval(known, shared)
    flips = _flips(known, sides, shared)
    p, test = _test(known, choices, flips[0], shared)
    interval = None if interval is None else in_agreement(interval, p)
    facts = {"few cases": known[0].n} if len(known) == 1 and known[0].n < FEW_CASES else {}
    tables = [part.table for part in known]
    cases = paired_t(tables, shared)
    return Estimate(observed, interval, method, p, test, cases, None, facts, flips, tables, shared=shared)


def p_of(
    parts: Sequence[tuple[str, Integers]], weights: Sequence[float], sides: Sides, choices: Choices
) -> float | None:
    """The p of one row, by the test that a comparison makes of it; None where it makes none."""
    known = [part for name, members in parts if (part := Part(sides, name, members)).n]
    return inference(known, list(weights), sides, choices).p


def _shared(known: Sequence[Part], sides: Sides) -> float:
    """How many times more a mean over these groups varies because they share clusters."""
    clusters = [part.clusters for part in known if part.clusters is not None]
    if len(known) == 1 or not clusters:
        return 1.0
    return sharing(clusters, [sides.changes[part.members] for part in known])


def _of_sum(known: Sequence[Part], weights: Sequence[float], sides: Sides, choices: Choices) -> Estimate:
    """A weighted sum over groups that share their clusters: what each cluster adds to it, and a t over clusters.

    Over seeds, what each seed says varies too: the squares of the two add up.
    """
    cases = _cases_of_sum(known, weights, sides)
    observed = cases.middle
    if sides.several:
        seeds = _seed_error(known, weights, sides, choices)
        if seeds is None:
            return Estimate(
                observed, cases.interval(), "these runs", facts=_seeds(sides, one_against_many=True)
            )
        interval = composed(observed, cases.interval, seeds)
        p = composed_p(observed, cases.interval, seeds)
        return Estimate(
            observed, interval, SUM_INTERVAL + AND_SEEDS, p, OVER_SEEDS, cases, seeds, _seeds(sides)
        )
    flips = _added(known, weights, sides.changes, sides.clusters)
    p = sign_flip_test(flips[0], np.random.default_rng(choices.seed), choices.shuffles)
    interval = in_agreement(cases.interval(), p)
    test = f"sign flips of {len(flips[0]):,} clusters"
    return Estimate(observed, interval, SUM_INTERVAL, p, test, cases, flips=flips)


def _cases_of_sum(known: Sequence[Part], weights: Sequence[float], sides: Sides) -> Student:
    """The difference, and what its t interval over clusters is made of."""
    defined = [part.members[~np.isnan(sides.changes[part.members])] for part in known]
    clusters = defined if sides.clusters is None else [sides.clusters[members] for members in defined]
    return sum_t([sides.changes[members] for members in defined], clusters, weights)


def _seeds(sides: Sides, *, one_against_many: bool = False) -> dict[str, Any]:
    facts: dict[str, Any] = {"seeds of A": sides.runs[0], "seeds of B": sides.runs[1]}
    return facts | ({"one against many": True} if one_against_many else {})


def _added(
    known: Sequence[Part], weights: Sequence[float], changes: Floats, clusters: Integers | None
) -> tuple[Floats, Floats]:
    """What each cluster adds to the sum, and would add at most."""
    count = len(changes) if clusters is None else int(clusters.max()) + 1
    added, most = np.zeros(count), np.zeros(count)
    for weight, part in zip(weights, known, strict=True):
        defined = part.members[~np.isnan(changes[part.members])]
        owners = defined if clusters is None else clusters[defined]
        np.add.at(added, owners, weight * changes[defined] / part.n)
        np.add.at(most, owners, abs(weight) / part.n)
    return added[most > 0], most[most > 0]


def _seed_error(
    known: Sequence[Part], weights: Sequence[float], sides: Sides, choices: Choices
) -> SeedError | None:
    """How well the sum is known over seeds: paired, or Welch's; None for one run against several."""
    values = []
    for side in sides.common:
        rates = [np.nanmean(side[part.members], axis=0) for part in known]
        values.append(np.array(weights) @ np.array(rates))
    if choices.paired_seeds:
        return error_of_mean(values[1] - values[0])
    return error_of_difference(values[1], values[0]) if min(map(len, values)) > 1 else None


def _interval(known: Sequence[Part], shared: float) -> tuple[Interval | None, str]:
    """A t interval, clusters of cases its units, with two clusters added so that it never collapses to a point."""
    return _defined(macro_difference_interval([part.table for part in known], shared=shared)), (
        ONE_INTERVAL if len(known) == 1 else MEAN_INTERVAL
    )


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


def _flips(known: Sequence[Part], sides: Sides, shared: float) -> tuple[Floats, Floats]:
    """What each cluster adds to the mean over groups, and would add at most; each by its weight in the mean."""
    if shared > 1:  # a cluster that stands in several groups flips in all of them
        return _added(known, [1 / len(known)] * len(known), sides.changes, sides.clusters)
    weights = [1 / (part.n * len(known)) for part in known]
    return (
        np.concatenate([part.flips * weight for part, weight in zip(known, weights, strict=True)]),
        np.concatenate([part.sizes * weight for part, weight in zip(known, weights, strict=True)]),
    )


def _test(known: Sequence[Part], choices: Choices, flips: Floats, shared: float) -> tuple[float, str]:
    """A paired test: by case where cases are independent, by cluster where they are not."""
    rng = np.random.default_rng(choices.seed)
    if len(known) == 1:
        (part,) = known
        if part.is_counted:
            gained, lost = int((flips > 0).sum()), int((flips < 0).sum())
            return sign_test(gained, lost), "sign test"
        what = "clusters" if part.is_clustered else "cases"
        return sign_flip_test(part.flips, rng, choices.shuffles), f"sign flips of {len(flips):,} {what}"
    which = f" of {len(flips):,} clusters" if shared > 1 else ""
    return sign_flip_test(flips, rng, choices.shuffles), f"sign flips{which}"


def smallest(estimate: Estimate, alpha: float) -> float | None:
    """The minimum detectable effect at the level of the table; None where none would be found so often."""
    if estimate.flips is not None and estimate.cases is not None:
        return smallest_flip_difference(*estimate.flips, estimate.cases, alpha)
    if estimate.cases is None or estimate.seeds is None or not estimate.cases.error > 0:
        return None
    return smallest_recipe_difference(estimate.cases, estimate.seeds, alpha)


def _over_seeds(known: Sequence[Part], observed: float, sides: Sides, choices: Choices) -> Estimate:
    """Student's or Welch's t over seeds beside the interval over cases: for this training recipe."""
    a, b = ([side[part.members] for part in known] for side in sides.common)
    clusters = None if sides.clusters is None else [c for part in known if (c := part.clusters) is not None]
    recipe = recipe_difference(b, a, clusters, paired_seeds=choices.paired_seeds)
    if recipe.interval is None or recipe.p is None:
        facts = _seeds(sides, one_against_many=True)
        return Estimate(observed, recipe.these_runs, "these runs", facts=facts)
    cases = paired_t([part.table for part in known], _shared(known, sides))
    method = MEAN_INTERVAL + AND_SEEDS
    return Estimate(
        observed,
        recipe.interval,
        method,
        recipe.p,
        OVER_SEEDS,
        cases,
        recipe.seeds,
        _seeds(sides),
        bounds=(-1.0, 1.0),
    )

"""Power: the smallest effects that a test detects in 8 of 10 draws, None if no effect is detected so often.

    a drop spread evenly over cases     even_drop_power, smallest_even_drop         exact if weights are equal
    one functionality, any discordance  sign_test_power, smallest_difference        exact
    a t test; Welch's t over runs       smallest_mean_difference, welch_power

The level is that of the table (`multiplicity.holm_level`). The last three average power over what the estimate of the
spread leaves open: true variance = estimated variance · ν / χ²_ν, and for the sign test Jeffreys' posterior with one
more differing case.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .intervals import normal_quantile, t_quantile

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
PRECISION = 1e-6
SHARES = (np.arange(8) + 0.5) / 8
"""Levels at which the share of differing cases is evaluated; power is nearly linear between them."""
DRAWS = 1000
POINTS = 2000
"""Quasi-random pairs of a true spread and a new estimate of it."""


def sign_test_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """Return the power of the exact sign test for a difference of two models on n cases, summed over all counts.

    `discordance` is the share of cases on which one is right and the other wrong.
    """
    return float(_sign_test_powers(n, np.array([discordance]), difference, alpha)[0])


def _sign_test_powers(n: int, discordances: Floats, difference: float, alpha: float) -> Floats:
    """Return the same for several shares of cases, none smaller than the difference."""
    spread = 6 * np.sqrt(n * discordances * (1 - discordances)) + 6  # all counts but some 1e-9
    fewest, most = (n * discordances - spread).min(), (n * discordances + spread).max()
    tossed = np.arange(max(0, math.floor(fewest)), min(n, math.ceil(most)) + 1)
    rejected = _rejected(tossed, alpha)
    tossed, rejected = tossed[rejected >= 0], rejected[rejected >= 0]
    differing = np.maximum(discordances, 1e-300)[:, None]
    ways = special.gammaln(n + 1) - special.gammaln(tossed + 1) - special.gammaln(n - tossed + 1)
    chances = np.exp(ways + special.xlogy(tossed, differing) + special.xlog1py(n - tossed, -differing))
    share = (1 + difference / differing) / 2
    both_sides = special.bdtr(rejected, tossed, share) + special.bdtr(rejected, tossed, 1 - share)
    powers: Floats = (chances * both_sides).sum(axis=1)
    return powers


def smallest_difference(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest difference of two models on the same n cases that the exact sign test finds with `power`.

    `discordance` is the share of n cases on which they differed. If even the whole discordance would be missed, it
    grows with the difference. None if n cases cannot show any: five give p = .0625.
    """
    seen = n * discordance
    shares = special.betaincinv(seen + 1.5, n - seen + 0.5, SHARES)

    def power_of(difference: float) -> float:
        return float(_sign_test_powers(n, np.maximum(shares, difference), difference, alpha).mean())

    return _smallest(power_of, power)


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases as a power estimate sees them: how many there are of each weight in the mean."""

    weights: Floats
    counts: Integers

    @classmethod
    def weighted(cls, weights: Floats) -> "Cases":
        """Count cases by weight; weights that differ by less than 10 % count as equal."""
        bins, counts = np.unique(np.round(10 * np.log(weights)), return_counts=True)
        return cls(np.exp((bins - bins.max()) / 10), counts)

    def times(self, factor: float) -> "Cases":
        return Cases(self.weights, np.ceil(factor * self.counts - 1e-9).astype(np.int64))

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def even_drop_power(cases: Cases, churn: float, drop: float, alpha: float = 0.05) -> float:
    """Return the chance that sign flips find a drop that is spread evenly over these cases.

    `churn` is the share of cases that change anyway, half of them each way. Equal weights: the exact sign test. Unequal
    weights: 1,000 draws of the cases that change, the same ones for each drop.
    """
    if len(cases.counts) == 1:
        return sign_test_power(cases.total, max(drop, min(1.0, churn + drop)), drop, alpha)
    rng, shape = np.random.default_rng(0), (DRAWS, len(cases.counts))
    improved = rng.binomial(cases.counts, churn / 2, shape)
    failing = min(1.0, (churn / 2 + drop) / (1 - churn / 2))
    failed = rng.binomial(cases.counts - improved, failing, shape)
    return float((_flip_p(failed, improved, cases.weights) <= alpha).mean())


def smallest_even_drop(cases: Cases, churn: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest drop, spread evenly over these cases, that sign flips find with `power`; None if none."""
    return _smallest(lambda drop: even_drop_power(cases, churn, drop, alpha), power, 1e-4)


def _flip_p(failed: Integers, improved: Integers, weights: Floats) -> Floats:
    """Return p of the sign-flip test for counts of changed cases, a row per draw and a column per weight.

    If all cases change the same way, p is 2 / 2^cases. Else by a saddlepoint (Lugannani & Rice 1980), after a
    continuity correction by the smallest weight.
    """
    changed, observed = failed + improved, np.abs((failed - improved) @ weights)
    step = np.where(changed > 0, weights, np.inf).min(axis=1)
    aim = np.where(observed > step, observed - step, np.nan)
    slope = aim / (changed @ weights**2)
    with np.errstate(all="ignore"):
        for _ in range(12):  # Newton's steps from below: the mean at a slope is concave in the slope
            tilted = np.tanh(slope[:, None] * weights)
            variance = (changed * (1 - tilted**2)) @ weights**2
            slope = slope + (aim - (changed * tilted) @ weights) / variance
        tilt = slope[:, None] * weights
        cumulant = (changed * (np.logaddexp(tilt, -tilt) - math.log(2))).sum(axis=1)
        root = np.sqrt(2 * (slope * aim - cumulant))
        density = np.exp(-(root**2) / 2) / math.sqrt(2 * math.pi)
        tail = special.ndtr(-root) + density * (1 / (slope * np.sqrt(variance)) - 1 / root)
    p = np.where(np.isfinite(tail), np.minimum(1.0, 2 * tail), 1.0)
    one_way = (failed.sum(axis=1) == 0) | (improved.sum(axis=1) == 0)
    both: Floats = np.where(one_way, np.minimum(1.0, 2.0 ** (1.0 - changed.sum(axis=1))), p)
    return both


def smallest_mean_difference(
    error: float, degrees: float, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest mean difference that a two-sided t test finds with `power`; None if none below 1."""
    if not (error > 0 and degrees > 0):
        return None
    before, anew = _evenly(2)
    sd = error / np.sqrt(_ratios(degrees, before))
    reach = t_quantile(1 - alpha, degrees) * sd * np.sqrt(_ratios(degrees, anew))
    return _smallest(partial(_found, reach=reach, sd=sd), power)


def welch_power(runs: int, sd: float, degrees: float, difference: float, alpha: float = 0.05) -> float:
    """Return the power of Welch's t test for this difference of two recipes, with `runs` runs each.

    `sd` is the spread of runs around their recipe's mean, estimated with these degrees of freedom.
    """
    before, *anew = _evenly(3)
    spread = sd / np.sqrt(_ratios(degrees, before))
    first, second = (_ratios(runs - 1, levels) for levels in anew)
    free = (runs - 1) * (first + second) ** 2 / (first**2 + second**2)
    reach = special.stdtrit(free, 1 - alpha / 2) * spread * np.sqrt((first + second) / runs)
    return _found(difference, reach, spread * math.sqrt(2 / runs))


def _found(difference: float, reach: Floats, sd: Floats) -> float:
    """Return how often an estimate lies out of reach of 0, on either side."""
    return float((special.ndtr((difference - reach) / sd) + special.ndtr((-difference - reach) / sd)).mean())


def _ratios(degrees: float, levels: Floats) -> Floats:
    """Return quantiles of an estimated variance over the true one."""
    ratios: Floats = np.asarray(special.chdtri(degrees, levels), np.float64) / degrees
    return ratios


@lru_cache
def _evenly(dimensions: int) -> Floats:
    """Return quasi-random points of a cube, a row per dimension (Roberts 2018)."""
    root = 1.0
    for _ in range(50):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = np.array([root**-power for power in range(1, dimensions + 1)])
    points: Floats = (0.5 + np.outer(steps, np.arange(1.0, POINTS + 1))) % 1
    return points


def _rejected(tossed: NDArray[np.int64], alpha: float) -> NDArray[np.int64]:
    """Return the largest count of the rarer side that the exact test rejects, per number of tosses; -1 for none."""
    near = np.floor((tossed - normal_quantile(1 - alpha) * np.sqrt(tossed) - 1) / 2)
    largest = np.maximum(near, -1).astype(np.int64)
    while (more := 2 * special.bdtr(largest + 1, np.maximum(tossed, 1), 0.5) <= alpha).any():
        largest = largest + more
    while (less := (largest >= 0) & (2 * special.bdtr(np.maximum(largest, 0), tossed, 0.5) > alpha)).any():
        largest = largest - less
    return largest


def _smallest(power_of: Callable[[float], float], power: float, precision: float = PRECISION) -> float | None:
    """Return the smallest difference with this power; None if even the largest has less."""
    below, above = 0.0, 1.0
    if power_of(above) < power:
        return None
    while above - below > precision:
        middle = (below + above) / 2
        below, above = (below, middle) if power_of(middle) >= power else (middle, above)
    return above

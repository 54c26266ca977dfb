"""Power: the smallest effects that a test detects in 8 of 10 draws, at the level that the table uses.

    a drop spread evenly over cases     even_drop_power, smallest_even_drop         exact if weights are equal
    one functionality, any discordance  sign_test_power                             exact
    a t test                            smallest_mean_difference                    averaged over the true spread

None where no effect is detected so often. The last averages power over what an estimate of the spread leaves open: true
variance = estimated variance · ν / χ²_ν.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import NDArray

from ..core.claims import POWER
from .intervals import t_quantile

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
PRECISION = 1e-6
DRAWS = 1000
TOSSES = 256
"""Numbers of tosses whose critical values are computed at once, and remembered: most of the time of a power."""
PLASTIC = 1.324717957244746
PAIRS = (0.5 + np.outer([1 / PLASTIC, 1 / PLASTIC**2], np.arange(1.0, 2001))) % 1
"""Quasi-random pairs of a true spread and a new estimate of it (Roberts 2018)."""


def sign_test_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """Return the power of the exact sign test for a difference of two models on n cases (McNemar 1947).

    `discordance` is the share of cases on which exactly one of the two is right.

    >>> round(sign_test_power(436, 0.08, 0.0378), 2), sign_test_power(5, 1.0, 1.0)
    (0.76, 0.0)
    """
    spread = 6 * math.sqrt(n * discordance * (1 - discordance)) + 6  # all counts but some 1e-9
    fewest, most = n * discordance - spread, n * discordance + spread
    tossed = np.arange(max(0, math.floor(fewest)), min(n, math.ceil(most)) + 1)
    rejected = _rejected(int(tossed[0]), int(tossed[-1]), alpha)
    share = (1 + difference / max(discordance, 1e-300)) / 2
    # NaN where no count is rejected.
    both_sides = scipy.special.bdtr(rejected, tossed, share) + scipy.special.bdtr(rejected, tossed, 1 - share)
    return float(np.nansum(_probability(tossed, n, max(discordance, 1e-300)) * both_sides))


def _rejected(first: int, last: int, alpha: float) -> Floats:
    """Return the largest count of the rarer side that the exact test rejects, for each number of tosses."""
    start, stop = first // TOSSES, last // TOSSES + 1
    blocks = [_rejected_block(block, alpha) for block in range(start, stop)]
    return np.concatenate(blocks)[first - start * TOSSES : last - start * TOSSES + 1]


@lru_cache(maxsize=1024)
def _rejected_block(block: int, alpha: float) -> Floats:
    tossed = np.arange(block * TOSSES, (block + 1) * TOSSES)
    least = np.maximum(0.0, np.nan_to_num(np.ceil(scipy.special.bdtrik(alpha / 2, tossed, 0.5))))
    rejected: Floats = least - (2 * scipy.special.bdtr(least, tossed, 0.5) > alpha)
    return rejected


# By scipy.special, because scipy.stats takes a second to import.


def _probability(count: Integers, n: int, share: float) -> Floats:
    """Return the binomial probability of each count."""
    gammaln = scipy.special.gammaln
    ways = gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1)
    rest = scipy.special.xlog1py(n - count, -share)
    return np.exp(ways + scipy.special.xlogy(count, share) + rest)


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases as a power estimate sees them: how many there are of each weight in the mean."""

    weights: Floats
    counts: Integers

    @classmethod
    def weighted(cls, weights: Floats) -> "Cases":
        """Count cases by weight; weights that differ by less than 10 % count as equal.

        >>> Cases.weighted(np.repeat([1 / 20, 1 / 80], [20, 80])).counts.tolist()
        [80, 20]
        """
        bins, counts = np.unique(np.round(10 * np.log(weights)), return_counts=True)
        return cls(np.exp((bins - bins.max()) / 10), counts)

    def times(self, factor: float) -> "Cases":
        """Return the cases of each weight multiplied by a factor, rounded up."""
        return Cases(self.weights, np.ceil(factor * self.counts - 1e-9).astype(np.int64))


def even_drop_power(cases: Cases, churn: float, drop: float, alpha: float = 0.05) -> float:
    """Return the chance that sign flips find a drop that is spread evenly over these cases.

    Each case newly fails with the same chance. `churn` is the share of cases that change anyway, half of them each way.
    Equal weights: the exact sign test, by enumeration. Unequal weights: the same 1,000 draws of changes for each drop.

    >>> equal, unequal = Cases.weighted(np.ones(81)), Cases.weighted(np.repeat([1.0, 0.1], [10, 71]))
    >>> [round(even_drop_power(cases, churn=0.05, drop=0.15), 2) for cases in (equal, unequal)]
    [0.86, 0.71]
    """
    if len(cases.counts) == 1:
        return sign_test_power(int(cases.counts.sum()), max(drop, min(1.0, churn + drop)), drop, alpha)
    rng, shape = np.random.default_rng(0), (DRAWS, len(cases.counts))
    improved = rng.binomial(cases.counts, churn / 2, shape)
    failing = min(1.0, (churn / 2 + drop) / (1 - churn / 2))
    failed = rng.binomial(cases.counts - improved, failing, shape)
    return float((_flip_p(failed, improved, cases.weights) <= alpha).mean())


def smallest_even_drop(cases: Cases, churn: float, alpha: float = 0.05) -> float | None:
    """Return the smallest drop, spread evenly over these cases, that sign flips find in 8 of 10 draws; None if none.

    >>> few, many = (Cases.weighted(np.ones(n)) for n in (5, 81))
    >>> smallest_even_drop(few, 0.0), round(smallest_even_drop(many, 0.0), 3), round(smallest_even_drop(many, 0.1), 3)
    (None, 0.096, 0.163)
    """
    return _smallest(lambda drop: even_drop_power(cases, churn, drop, alpha), 1e-4)


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
        tail = scipy.special.ndtr(-root) + density * (1 / (slope * np.sqrt(variance)) - 1 / root)
    p = np.where(np.isfinite(tail), np.minimum(1.0, 2 * tail), 1.0)
    one_way = (failed.sum(axis=1) == 0) | (improved.sum(axis=1) == 0)
    return np.where(one_way, np.minimum(1.0, 2.0 ** (1.0 - changed.sum(axis=1))), p)


def smallest_mean_difference(error: float, degrees: float, alpha: float = 0.05) -> float | None:
    """Return the smallest mean difference that a two-sided t test finds in 8 of 10 draws; None if none below 1.

    >>> round(smallest_mean_difference(0.1, 4), 2), round(smallest_mean_difference(0.1, 1000), 2)
    (0.47, 0.28)
    """
    if not (error > 0 and degrees > 0):
        return None
    true, estimated = scipy.special.chdtri(degrees, PAIRS) / degrees
    sd = error / np.sqrt(true)
    reach = t_quantile(1 - alpha, degrees) * sd * np.sqrt(estimated)

    def power_of(difference: float) -> float:
        return float(
            (
                scipy.special.ndtr((difference - reach) / sd) + scipy.special.ndtr((-difference - reach) / sd)
            ).mean()
        )

    return _smallest(power_of)


def _smallest(power_of: Callable[[float], float], precision: float = PRECISION) -> float | None:
    """Return the smallest difference with a power of 80 %; None if even the largest has less."""
    below, above = 0.0, 1.0
    if power_of(above) < POWER:
        return None
    while above - below > precision:
        middle = (below + above) / 2
        below, above = (below, middle) if power_of(middle) >= POWER else (middle, above)
    return above

"""What a comparison could have found: the smallest effects that are mostly found when they are there.

To be printed beside every "not significant": on 436 sentences a difference of three points is mostly missed. At the
level that the table uses (`multiplicity.holm_level`), and None where none would be found that often: where the smallest
p that the test can give is above that level, or two seeds leave open how far runs vary.

    one functionality, independent cases     smallest_difference    exact, by enumeration
    a proportion against one half            smallest_distance      exact
    clusters, means of functionalities       smallest_flip_difference
    a t test                                 smallest_mean_difference
    two recipes over several seeds           smallest_recipe_difference

How often two models differ, or how far runs vary, the comparison itself has estimated. The promise holds over such
comparisons and new tests together: power is averaged over the spreads that the estimate leaves open,

    true variance = estimated variance · ν / χ²_ν        share of cases that differ ~ Beta(k + 1½, n - k + ½)

For a t test this is exact, whatever the spread. For the sign test it is Jeffreys' posterior and one case more that
differs: models that by chance differed seldom promise the most. A `known` spread is taken as it is.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .intervals import Student, normal_quantile, t_quantile
from .seeds import SeedError

Floats = NDArray[np.float64]
PRECISION = 1e-6
SHARES = (np.arange(8) + 0.5) / 8
"""Levels whose quantiles stand for all shares of cases that may differ; power hardly bends between them."""
POINTS = 2000
"""Pairs of a true spread and one estimated anew that stand for all."""


def sign_test_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """The chance that the exact sign test finds this difference of two models on n cases, summed over all counts.

    `discordance` is the share of cases on which one is right and the other wrong; how many of n that are is binomial,
    and so is how many of those favour one model (McNemar 1947).

    >>> round(sign_test_power(436, 0.08, 0.0378), 2), sign_test_power(5, 1.0, 1.0)
    (0.76, 0.0)
    """
    if not abs(difference) <= discordance <= 1:
        raise ValueError(f"a difference is at most the discordance; got {difference}, {discordance}")
    return float(_sign_test_powers(n, np.array([discordance]), difference, alpha)[0])


def _sign_test_powers(n: int, discordances: Floats, difference: float, alpha: float) -> Floats:
    """The same for several shares of cases, none smaller than the difference."""
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


def smallest_difference(
    n: int, discordance: float, alpha: float = 0.05, power: float = 0.8, *, known: bool = False
) -> float | None:
    """The smallest difference of two models on the same n cases that the exact sign test finds with `power`.

    `discordance` is the share of n cases on which they differed; of all cases, if `known`. Two models differ at least
    as often as by how much. So where even the whole discordance would be missed, it is taken to grow with the
    difference, all one way. None where n cases cannot show any: five give p = .0625 at best. After Holm ask at
    `multiplicity.holm_level`.

    >>> round(smallest_difference(436, 0.08), 4), round(smallest_difference(436, 0.08, known=True), 4)
    (0.0398, 0.0393)
    >>> round(smallest_difference(10, 0.1), 3), smallest_difference(5, 0.4)
    (0.673, None)
    """
    _check(alpha, power)
    if not 0 <= discordance <= 1:
        raise ValueError(f"a discordance lies between 0 and 1; got {discordance}")
    seen = n * discordance
    shares = np.array([discordance]) if known else special.betaincinv(seen + 1.5, n - seen + 0.5, SHARES)

    def power_of(difference: float) -> float:
        return float(_sign_test_powers(n, np.maximum(shares, difference), difference, alpha).mean())

    return _smallest(power_of, power)


def smallest_flip_difference(
    moved: Floats, weights: Floats, spread: Student, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest difference of a weighted sum over clusters that sign flips of what each adds find with `power`.

    `moved` is what each cluster adds to the difference, `weights` what it would if all its cases changed one way,
    `spread` the error of the sum. Where many clusters differ, the sum of flips is normal, with the difference itself
    in its variance, δ² Σw²/(Σw)². Where few do, as the sign test of (Σw)²/Σw² equally heavy clusters (Kish 1965), of
    which so many differ, each by so much, that mean and mean square are those seen; how much is drawn towards the
    whole by one cluster more. Cases that count alike are the sign test itself.

    >>> cases, spread = np.full(436, 1 / 436), Student(0.08, 0.013, 435)
    >>> round(smallest_flip_difference(cases * (np.arange(436) < 35), cases, spread), 4)
    0.0399
    """
    moved, weights = moved[weights > 0], weights[weights > 0]
    total = math.fsum(weights)  # whose last digit knows no order
    heavy = math.fsum(weights**2) / total
    whole = np.isclose(np.abs(moved), weights) | (moved == 0)
    counted = bool(np.allclose(weights, weights[0]) and whole.all())
    if not counted and np.count_nonzero(moved) >= 2 + math.log2(2 / alpha) and spread.error > 0:
        error, kish = spread.error / total, heavy / total
        found = _smallest(_flip_power(error, spread.degrees, kish, alpha), power)
        return None if found is None else found * total
    sizes, squares = math.fsum(np.abs(moved)), math.fsum(moved**2 / weights)
    share = min(1.0, sizes**2 / (total * squares)) if squares else 0.0
    smallest = smallest_difference(int(total / heavy + 1e-9), share, alpha, power)
    return None if smallest is None else smallest * total * (squares + heavy) / (sizes + heavy)


def _flip_power(error: float, degrees: float, kish: float, alpha: float) -> Callable[[float], float]:
    """Of many sign flips, by difference: the error is one that was estimated, and a new test estimates its own."""
    before, anew = _evenly(2)
    square = error**2 / _ratios(degrees, before)
    sd, estimated, level = np.sqrt(square), square * _ratios(degrees, anew), normal_quantile(1 - alpha)

    def power_of(difference: float) -> float:
        return _found(difference, level * np.sqrt(estimated + difference**2 * kish), sd)

    return power_of


def smallest_distance(n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest distance of a proportion from ½ that the exact test of n cases finds with `power`; None if none.

    >>> [smallest_distance(n) and round(smallest_distance(n), 3) for n in (5, 60, 1508)]
    [None, 0.192, 0.036]
    """
    # A proportion at ½ + δ is a pair of models that always differ, by 2δ.
    twice = smallest_difference(n, 1.0, alpha, power, known=True)
    return None if twice is None else twice / 2


def smallest_mean_difference(
    error: float, degrees: float, alpha: float = 0.05, power: float = 0.8, *, known: bool = False
) -> float | None:
    """The smallest mean difference that a two-sided t test finds with `power`; None if none below 1.

    For means over functionalities and for clusters, with the error and degrees of freedom of `intervals.paired_t`.

    >>> round(smallest_mean_difference(0.1, 4), 2), round(smallest_mean_difference(0.1, 4, known=True), 2)
    (0.47, 0.38)
    >>> round(smallest_mean_difference(0.1, 1000), 2)
    0.28
    """
    if not (error > 0 and degrees > 0):
        return None
    return smallest_recipe_difference(Student(0.0, error, degrees), SeedError(), alpha, power, known=known)


def smallest_recipe_difference(
    cases: Student, seeds: SeedError, alpha: float = 0.05, power: float = 0.8, *, known: bool = False
) -> float | None:
    """The smallest difference of two recipes that `seeds.recipe_difference` finds with `power`; None if none below 1.

    A new comparison estimates its spreads over cases and over seeds too, chi-square distributed around the true ones.
    """
    _check(alpha, power)
    level = 1 - alpha
    spreads = [(cases.error, cases.degrees), *seeds.parts]
    points = _evenly(2 * len(spreads))
    squares, reaches = [], []
    for (error, degrees), before, anew in zip(spreads, points[::2], points[1::2], strict=True):
        square = error**2 / (1.0 if known else _ratios(degrees, before))
        squares.append(square)
        reaches.append(t_quantile(level, degrees) ** 2 * square * _ratios(degrees, anew))
    of_noise = normal_quantile(level) ** 2 * seeds.noise
    reach = np.sqrt(reaches[0] + np.maximum(0.0, sum(reaches[1:]) - of_noise))
    sd = np.sqrt(squares[0] + np.maximum(0.0, sum(squares[1:]) - seeds.noise))
    if not np.min(sd) > 0:
        return None

    return _smallest(partial(_found, reach=reach, sd=sd), power)


def _found(difference: float, reach: Floats, sd: Floats) -> float:
    """How often an estimate lies out of reach of 0, on either side."""
    return float((special.ndtr((difference - reach) / sd) + special.ndtr((-difference - reach) / sd)).mean())


def _ratios(degrees: float, levels: Floats) -> Floats:
    """Quantiles of an estimated variance over the true one."""
    ratios: Floats = np.asarray(special.chdtri(degrees, levels), np.float64) / degrees
    return ratios


@lru_cache
def _evenly(dimensions: int) -> Floats:
    """Points that fill a cube evenly, a row per dimension: multiples of the powers of one root (Roberts 2018)."""
    root = 1.0
    for _ in range(50):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = np.array([root**-power for power in range(1, dimensions + 1)])
    points: Floats = (0.5 + np.outer(steps, np.arange(1.0, POINTS + 1))) % 1
    return points


def _rejected(tossed: NDArray[np.int64], alpha: float) -> NDArray[np.int64]:
    """For so many tosses each, the largest count of the rarer side that the exact test rejects; -1 where none is."""
    near = np.floor((tossed - normal_quantile(1 - alpha) * np.sqrt(tossed) - 1) / 2)
    largest = np.maximum(near, -1).astype(np.int64)
    while (more := 2 * special.bdtr(largest + 1, np.maximum(tossed, 1), 0.5) <= alpha).any():
        largest = largest + more
    while (less := (largest >= 0) & (2 * special.bdtr(np.maximum(largest, 0), tossed, 0.5) > alpha)).any():
        largest = largest - less
    return largest


def _smallest(power_of: Callable[[float], float], power: float) -> float | None:
    """The smallest difference with this power; None if even the largest has less."""
    below, above = 0.0, 1.0
    if power_of(above) < power:
        return None
    while above - below > PRECISION:
        middle = (below + above) / 2
        below, above = (below, middle) if power_of(middle) >= power else (middle, above)
    return above


def _check(alpha: float, power: float) -> None:
    if not (0 < alpha < 1 and 0.5 <= power < 1):
        raise ValueError(f"alpha lies between 0 and 1, power between .5 and 1; got {alpha} and {power}")

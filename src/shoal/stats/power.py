"""What a comparison could have found: the smallest effects that are mostly found when they are there.

To be printed beside every "not significant": on 436 sentences a difference of three points is mostly missed. At the
level that the table uses (`multiplicity.holm_level`), and None, "cannot be seen with n", where the smallest p that the
test can give is above that level.

    one functionality, independent cases     smallest_difference    exact, by enumeration
    a proportion against one half            smallest_distance      exact
    clusters, means of functionalities       smallest_mean_difference
    two recipes over several seeds           smallest_recipe_difference
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .intervals import Student, normal_quantile, t_quantile
from .seeds import SeedError

PRECISION = 1e-6
GRID = 200
"""Quantiles of a chi-square distribution that stand for all of it."""


def sign_test_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """The chance that the exact sign test finds this difference of two models on n cases, summed over all counts.

    `discordance` is the share of cases on which one is right and the other wrong; how many of n that are is binomial,
    and so is how many of those favour one model (McNemar 1947).

    >>> round(sign_test_power(436, 0.08, 0.0378), 2), sign_test_power(5, 1.0, 1.0)
    (0.76, 0.0)
    """
    if not abs(difference) <= discordance <= 1:
        raise ValueError(f"a difference is at most the discordance; got {difference}, {discordance}")
    if discordance == 0:
        return 0.0
    tossed = np.arange(n + 1)
    chances = np.diff(special.bdtr(tossed, n, discordance), prepend=0.0)
    rejected = _rejected(n, alpha)
    likely = (chances > 1e-12) & (rejected >= 0)
    share = (1 + difference / discordance) / 2
    tossed, rejected = tossed[likely], rejected[likely]
    both_sides = special.bdtr(rejected, tossed, share) + special.bdtr(rejected, tossed, 1 - share)
    return float(chances[likely] @ both_sides)


def smallest_difference(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest difference of two models on the same n cases that the exact sign test finds with `power`.

    Two models differ at least as often as by how much. So where even the whole discordance would be missed, it is
    taken to grow with the difference, all one way. None where n cases cannot show any: five give p = .0625 at best.
    After Holm ask at `multiplicity.holm_level`.

    >>> round(smallest_difference(436, 0.08), 4), round(smallest_difference(10, 0.1), 3), smallest_difference(5, 0.4)
    (0.0393, 0.673, None)
    """
    _check(alpha, power)
    if not 0 <= discordance <= 1:
        raise ValueError(f"a discordance lies between 0 and 1; got {discordance}")

    def is_found(difference: float) -> bool:
        return sign_test_power(n, max(discordance, difference), difference, alpha) >= power

    return _smallest(is_found, 1.0)


def smallest_distance(n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest distance of a proportion from ½ that the exact test of n cases finds with `power`; None if none.

    >>> [smallest_distance(n) and round(smallest_distance(n), 3) for n in (5, 60, 1508)]
    [None, 0.192, 0.036]
    """
    # A proportion at ½ + δ is a pair of models that always differ, by 2δ.
    twice = smallest_difference(n, 1.0, alpha, power)
    return None if twice is None else twice / 2


def smallest_mean_difference(
    error: float, degrees: float, alpha: float = 0.05, power: float = 0.8, most: float = 1.0
) -> float | None:
    """The smallest mean difference that a two-sided t test finds with `power`; None if above `most`.

    From the noncentral t distribution. For means over functionalities and for clusters, with the error and degrees of
    freedom of `intervals.paired_t`.

    >>> round(smallest_mean_difference(0.1, 4), 3), round(smallest_mean_difference(0.1, 1000), 3)
    (0.376, 0.28)
    """
    _check(alpha, power)
    if not (error > 0 and degrees > 0):
        return None
    reach = -float(special.stdtrit(degrees, alpha / 2))

    def is_found(difference: float) -> bool:
        # A tail too small for scipy comes out as NaN.
        missed, other = np.nan_to_num(special.nctdtr(degrees, difference / error, [reach, -reach]))
        return bool(1 - missed + other >= power)

    return _smallest(is_found, most)


def smallest_recipe_difference(
    cases: Student, seeds: SeedError, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest difference of two recipes that `seeds.recipe_difference` finds with `power`; None if none below 1.

    The spread over seeds that a comparison will see is chi-square distributed around the true one; the chance to find
    a difference is averaged over that.
    """
    _check(alpha, power)
    level = 1 - alpha
    z = normal_quantile(level)
    grid = (np.arange(GRID) + 0.5) / GRID
    squares = np.zeros(1)
    for error, degrees in seeds.parts:
        seen = error**2 * special.chdtri(degrees, grid) / degrees
        squares = np.add.outer(squares, t_quantile(level, degrees) ** 2 * seen).ravel()
    reach = np.sqrt(
        (t_quantile(level, cases.degrees) * cases.error) ** 2 + np.maximum(0, squares - z**2 * seeds.noise)
    )
    sd = math.sqrt(cases.error**2 + max(0.0, seeds.error**2 - seeds.noise))

    def is_found(difference: float) -> bool:
        chances = special.ndtr((difference - reach) / sd) + special.ndtr((-difference - reach) / sd)
        return bool(chances.mean() >= power)

    return _smallest(is_found, 1.0) if sd > 0 else None


@lru_cache(maxsize=256)
def _rejected(most: int, alpha: float) -> NDArray[np.int64]:
    """For 0 to so many tosses, the largest count of the rarer side that the exact test rejects; -1 where none is."""
    tossed = np.arange(most + 1)
    cases = np.maximum(tossed, 1)
    largest = np.floor(special.bdtrik(alpha / 2, cases, 0.5)).astype(np.int64)
    return np.where(2 * special.bdtr(largest, cases, 0.5) <= alpha, largest, largest - 1)


def _smallest(is_found: Callable[[float], bool], most: float) -> float | None:
    """The smallest effect up to `most` that is found often enough; None if even the most is not."""
    if not is_found(most):
        return None
    below, above = 0.0, most
    while above - below > PRECISION:
        middle = (below + above) / 2
        below, above = (below, middle) if is_found(middle) else (middle, above)
    return above


def _check(alpha: float, power: float) -> None:
    if not (0 < alpha < 1 and 0.5 <= power < 1):
        raise ValueError(f"alpha lies between 0 and 1, power between .5 and 1; got {alpha} and {power}")

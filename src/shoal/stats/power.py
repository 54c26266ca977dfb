"""What a comparison could have found: minimum detectable effects and the n they need (`docs/method/beyond.md` 7.4).

Print the minimum detectable effect beside every "not significant": on 436 sentences a difference of
three points is mostly not found even when it is there.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import special


def mde_paired(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest difference of two models on the same n cases that a sign test finds with `power`.

    `discordance` is the share of cases on which one is right and the other wrong. None when even a
    difference as large as the discordance would not be found. With an observed discordance of 0, ask
    at its upper Wilson bound.

    >>> round(mde_paired(436, 0.08), 4)
    0.0378
    >>> mde_paired(10, 0.1) is None
    True
    """
    if not 0 <= discordance <= 1:
        raise ValueError(f"a discordance lies between 0 and 1; got {discordance}")
    z_alpha, z_power = _quantiles(alpha, power)
    # n δ² = [z_α √π + z_β √(π - δ²)]², solved for δ.
    under_root = n + z_power**2 - z_alpha**2
    if n < 1 or under_root < 0:
        return None
    root = z_alpha * math.sqrt(n) + z_power * math.sqrt(under_root)
    smallest = math.sqrt(discordance) * root / (n + z_power**2)
    return smallest if 0 < smallest <= discordance else None


def needed_n_paired(difference: float, discordance: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """How many cases a sign test needs to find a difference of two models with `power`.

    >>> needed_n_paired(0.03785, 0.08)
    436
    """
    size = abs(difference)
    if not 0 < size <= discordance <= 1:
        raise ValueError(
            f"a difference is above 0 and at most the discordance; got {difference}, {discordance}"
        )
    z_alpha, z_power = _quantiles(alpha, power)
    root = z_alpha * math.sqrt(discordance) + z_power * math.sqrt(discordance - size**2)
    return _round_up(root**2 / size**2)


def sign_test_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """The chance that the exact sign test finds this difference on n cases.

    `mde_paired` takes the normal approximation. The exact test keeps α for every count and pays with
    power where few cases are discordant: here is what it does there.

    >>> round(sign_test_power(436, 0.08, 0.0378), 2), round(sign_test_power(20_215, 0.06, 0.0048), 2)
    (0.76, 0.79)
    """
    if not abs(difference) <= discordance <= 1:
        raise ValueError(f"a difference is at most the discordance; got {difference}, {discordance}")
    if discordance == 0:
        return 0.0
    share = (1 + difference / discordance) / 2
    tossed = np.arange(n + 1)
    chance = np.diff(special.bdtr(tossed, n, discordance), prepend=0.0)
    likely = tossed[chance > 1e-12]
    found = 0.0
    for number in likely.tolist():
        smaller = np.arange(number // 2 + 1)
        rejected = int((2 * special.bdtr(smaller, number, 0.5) <= alpha).sum()) - 1
        if rejected >= 0:
            both_sides = special.bdtr(rejected, number, share) + special.bdtr(rejected, number, 1 - share)
            found += float(chance[number] * both_sides)
    return found


def mde_sign_test(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """As `mde_paired`, without the approximation: what the exact sign test finds with `power`.

    A few per cent larger; the one to print where cases are few.

    >>> round(mde_sign_test(436, 0.08), 4)
    0.0393
    """
    _quantiles(alpha, power)
    if sign_test_power(n, discordance, discordance, alpha) < power:
        return None
    below, above = 0.0, discordance
    while above - below > 1e-7:
        middle = (below + above) / 2
        if sign_test_power(n, discordance, middle, alpha) < power:
            below = middle
        else:
            above = middle
    return above


def mde_one_proportion(n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest distance from ½ that a test of one proportion finds with `power`; None if none.

    >>> [round(mde_one_proportion(n), 3) for n in (60, 1508)]  # CrowS-Pairs: one category, all of them
    [0.177, 0.036]
    """
    # A proportion at ½ + δ is a pair of models that always differ, by 2δ.
    twice = mde_paired(n, 1.0, alpha, power)
    return None if twice is None else twice / 2


def needed_n_one_proportion(distance: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """How many cases a test against ½ needs to find a proportion at this distance from it.

    >>> needed_n_one_proportion(0.1)
    194
    """
    return needed_n_paired(2 * distance, 1.0, alpha, power)


def plant_effect(hits: ArrayLike, share: float, rng: Generator) -> NDArray[np.float64]:
    """The hits of a better model: each failing case passes with probability `share`; NaN stays.

    >>> plant_effect([1, 0, float("nan"), 0], share=1.0, rng=np.random.default_rng(0)).tolist()
    [1.0, 1.0, nan, 1.0]
    """
    values = np.array(hits, dtype=np.float64)
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1; got {share}")
    values[(values == 0) & (rng.random(values.shape) < share)] = 1.0
    return values


def smallest_detected(
    effects: Sequence[float],
    rejects: Callable[[float, Generator], bool],
    rng: Generator,
    *,
    repetitions: int = 200,
    power: float = 0.8,
) -> float | None:
    """The smallest of these effects that the planned test finds often enough: MDE by simulation.

    For G or pattern accuracy, which have no formula.
    `rejects` plants an effect in a fresh resample of the observed cases and says whether the test
    rejects. Effects are tried from the smallest, each on its own generator. None when none is found
    with `power`.

    >>> always_above = lambda effect, rng: effect >= 0.2
    >>> smallest_detected([0.3, 0.1, 0.2], always_above, np.random.default_rng(0))
    0.2
    """
    ordered = sorted(effects)
    for effect, generator in zip(ordered, rng.spawn(len(ordered)), strict=True):
        found = sum(rejects(effect, generator) for _ in range(repetitions))
        if found >= power * repetitions:
            return effect
    return None


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0.5 <= power < 1):
        raise ValueError(f"alpha lies between 0 and 1, power between .5 and 1; got {alpha} and {power}")
    return float(special.ndtri(1 - alpha / 2)), float(special.ndtri(power))


def _round_up(n: float) -> int:
    return math.ceil(n - 1e-9)

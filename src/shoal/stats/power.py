"""What a comparison could have found: minimum detectable effects (`docs/method/beyond.md` 7.4).

Print the minimum detectable effect beside every "not significant": on 436 sentences a difference of
three points is mostly not found even when it is there.
"""

import math

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


def mde_one_proportion(n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest distance from ½ that a test of one proportion finds with `power`; None if none.

    >>> [round(mde_one_proportion(n), 3) for n in (60, 1508)]  # CrowS-Pairs: one category, all of them
    [0.177, 0.036]
    """
    # A proportion at ½ + δ is a pair of models that always differ, by 2δ.
    twice = mde_paired(n, 1.0, alpha, power)
    return None if twice is None else twice / 2


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0.5 <= power < 1):
        raise ValueError(f"alpha lies between 0 and 1, power between .5 and 1; got {alpha} and {power}")
    return float(special.ndtri(1 - alpha / 2)), float(special.ndtri(power))

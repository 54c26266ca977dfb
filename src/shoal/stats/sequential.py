"""E-values for a comparison that may be looked at after every new label (Waudby-Smith & Ramdas 2024).

An e-value is at most 1 on average if nothing is wrong, so it reaches 1/α with a chance of at most α. `rank` uses them:
labels come one by one, and the user may stop at any time.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

BETS = np.linspace(-0.9, 0.9, 19)
"""Shares of the capital staked on either side."""


def differ_e_value(only_a: float, only_b: float) -> float:
    """Return the e-value of "one model is better", from the examples that only one of the two gets right.

    2^(a + b) B(a + 1, b + 1): a uniform mixture against "every second of them goes to either". Valid for examples drawn
    alike from all, or from those on which the two disagree; drawing them without replacement only makes it smaller.

    >>> round(differ_e_value(10, 2), 3), round(differ_e_value(8, 0), 1)
    (4.774, 28.4)
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"counts are not negative; got {only_a} and {only_b}")
    return _exp((only_a + only_b) * math.log(2) + float(special.betaln(only_a + 1, only_b + 1)))


def differ_mean_e_value(values: ArrayLike, times: ArrayLike) -> float:
    """Return the same for examples that were not drawn alike: each value lies between -1 and 1 and is 0 on average.

    The average over λ from -.9 to .9 of Π (1 + λ x); a value that was drawn several times counts as often.

    >>> round(differ_mean_e_value([1.0] * 8 + [0.5], [1] * 9), 1)
    32.5
    """
    sample, often = np.asarray(values, np.float64), np.asarray(times, np.float64)
    if (np.abs(sample) > 1).any():
        raise ValueError("values lie between -1 and 1")
    growth = (often[:, None] * np.log1p(BETS * sample[:, None])).sum(axis=0)
    largest = float(growth.max())
    return _exp(largest + math.log(float(np.exp(growth - largest).mean())))


def _exp(log_e: float) -> float:
    return math.exp(log_e) if log_e < 709 else math.inf

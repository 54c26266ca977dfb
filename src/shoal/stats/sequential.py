"""Evidence that may be looked at again and again: e-values for a gate that runs on every commit.

An e-value is at most 1 on average where nothing is wrong, so it reaches 1/α with a chance of at most α (Markov); for an
e-process that holds over all looks together (Ville 1939). Two ways a gate looks again:

    the same model, ever more cases      the e-value of all cases so far; stop when it reaches 1/α
    a new model on the same cases        the e-value of this commit; fail when it reaches `look_limit`, t (t + 1) / α

In the second, looks share their cases and their baseline, so e-values must not be multiplied: a lucky baseline would be
counted a hundred times. Look t errs with a chance of at most α / (t (t + 1)), and these add up to α under any
dependence. Each look is judged by itself, so that a commit which repairs what the last one broke passes. A new baseline
begins anew.

All three e-values are mixtures: the average over alternatives of the likelihood, or of the capital of a bettor who
stakes a fixed share (Waudby-Smith & Ramdas 2024). The order of cases changes nothing.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

STAKES = np.linspace(0.05, 0.95, 19)
"""Shares of the capital that can be lost at once."""
BETS = np.linspace(-0.9, 0.9, 19)
"""The same for a bet on either side."""


def worse_e_value(better: int, worse: int) -> float:
    """Evidence that a model is worse than its baseline, from the cases that only one of the two passes.

    ∫ θ^worse (1-θ)^better dθ · 2^(worse + better + 1) over ½ < θ < 1: a uniform mixture against "at most every second
    changed case got worse".

    >>> round(worse_e_value(2, 10), 2), round(worse_e_value(10, 2), 2)
    (9.44, 0.11)
    """
    if min(better, worse) < 0:
        raise ValueError(f"counts are not negative; got {better} and {worse}")
    return _exp(_log_beta(worse + 1, better + 1, 0.5, upper=True) + (better + worse + 1) * math.log(2))


def below_e_value(passes: int, n: int, limit: float) -> float:
    """Evidence that a pass rate is below a limit, from independent cases.

    ∫ θ^k (1-θ)^(n-k) dθ over 0 < θ < limit, against the likelihood at the limit.

    >>> round(below_e_value(10, 20, 0.8), 1), round(below_e_value(18, 20, 0.8), 2)
    (29.3, 0.08)
    """
    if not (0 <= passes <= n and 0 < limit < 1):
        raise ValueError(f"passes of n and a limit between 0 and 1 are needed; got {passes}, {n}, {limit}")
    fails = n - passes
    at_limit = passes * math.log(limit) + fails * math.log1p(-limit)
    return _exp(_log_beta(passes + 1, fails + 1, limit) - math.log(limit) - at_limit)


def mean_below_e_value(values: ArrayLike, limit: float, most: float) -> float:
    """Evidence that a mean is below a limit, of values that are never above `most`; for clusters and differences.

    The average over stakes s of Π (1 + s (limit - x) / (most - limit)), the capital of a bettor who wins with every
    value below the limit and never loses all (Waudby-Smith & Ramdas 2024, "capital process"). For templates give the
    mean of each; for paired differences with a margin, `limit=-margin, most=1`. NaN values are left out. Values need
    not be alike: with independent ones whose means add up to `limit` times their number or more, the product is at most
    1 on average all the same, because 1 - x ≤ exp(-x); so contributions to a mean of groups will do.

    >>> round(mean_below_e_value([-1, -1, 0, -1, -1, 1, -1, -1], limit=0.0, most=1.0), 2)
    4.6
    """
    sample = np.asarray(values, dtype=np.float64)
    sample = sample[~np.isnan(sample)]
    if not limit < most or (sample > most).any():
        raise ValueError(f"values are at most {most}, and the limit is below that; got a limit of {limit}")
    growth = np.log1p(STAKES * ((limit - sample) / (most - limit))[:, None]).sum(axis=0)
    return _exp(float(special.logsumexp(growth)) - math.log(len(STAKES)))


def differ_e_value(only_a: int, only_b: int) -> float:
    """Evidence that one of two models is better, whichever, from the examples that only one of the two gets right.

    2^(a + b) B(a + 1, b + 1): a uniform mixture against "every second of them goes to either". Valid for examples drawn
    alike from all, or from those on which the two disagree; drawing them without replacement only makes it smaller.

    >>> round(differ_e_value(10, 2), 3), round(differ_e_value(8, 0), 1)
    (4.774, 28.4)
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"counts are not negative; got {only_a} and {only_b}")
    return _exp((only_a + only_b) * math.log(2) + float(special.betaln(only_a + 1, only_b + 1)))


def differ_mean_e_value(values: ArrayLike, times: ArrayLike) -> float:
    """The same for examples that were not drawn alike: each value lies between -1 and 1 and is 0 on average.

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


def look_limit(look: int, family: int = 1, alpha: float = 0.05) -> float:
    """The e-value at which this look fails, so that all looks together err in at most α of histories.

    Of a family of things looked at together any may fail: each is asked that much more.

    >>> look_limit(1), look_limit(3, family=2)
    (40.0, 480.0)
    """
    return family * look * (look + 1) / alpha


def _log_beta(a: int, b: int, end: float, *, upper: bool = False) -> float:
    """Logarithm of ∫ θ^(a-1) (1-θ)^(b-1) dθ from 0 to `end`, or from there to 1."""
    share = float(special.betainc(b, a, 1 - end) if upper else special.betainc(a, b, end))
    return float(special.betaln(a, b)) + math.log(share) if share > 0 else -math.inf


def _exp(log_e: float) -> float:
    return math.exp(log_e) if log_e < 709 else math.inf

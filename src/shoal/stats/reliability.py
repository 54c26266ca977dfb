"""Outcomes of items × runs: do runs disagree, and more than items that flip independently (`docs/method/bias.md` 5.7)?

A matrix has a row per item and a column per run. Outcomes are 1, 0 or NaN.
"""

import math

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import ArrayLike, NDArray

from .intervals import UNDEFINED, Interval, normal_quantile, sd_interval

Floats = NDArray[np.float64]

SHEPPARD = 1 / math.sqrt(12)
"""The SD that rounding to whole steps hides, in steps."""
TIED = 1e-12
"""Scores closer than this are equal."""


def disagreement_histogram(outcomes: ArrayLike) -> tuple[NDArray[np.int64], int]:
    """Return how many items have 0, 1, … R//2 runs against the majority, and how many items are undecided."""
    matrix = np.asarray(outcomes, dtype=np.float64)
    runs = matrix.shape[1]
    passes = matrix.sum(axis=1)
    passes = passes[~np.isnan(passes)]
    against = np.minimum(passes, runs - passes).astype(np.int64)
    return np.bincount(against, minlength=runs // 2 + 1), len(matrix) - len(against)


def coin_flip_histogram(runs: int) -> Floats:
    """Return the shares of `disagreement_histogram` under coin flips."""
    passes = np.arange(runs + 1)
    shares = np.zeros(runs // 2 + 1)
    np.add.at(shares, np.minimum(passes, runs - passes), scipy.special.binom(runs, passes) / 2.0**runs)
    return shares


def item_floor(outcomes: ArrayLike) -> float:
    """Return the SD over runs of a pass rate if items flipped independently (`docs/method/bias.md` 5.7).

    sqrt(Σ v_i) / N with v_i = R/(R-1) p_i (1-p_i), averaged over runs that miss different items.

    >>> round(item_floor([[int(run) for run in item] for item in ("11111", "11110", "11000", "10101")]), 4)
    0.2236
    """
    variance, seen = _variance_of_items(np.asarray(outcomes, dtype=np.float64))
    return float(np.sqrt(((variance @ seen) / seen.sum(axis=0) ** 2).mean()))


def _variance_of_items(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the variance v of each item, and which runs have it."""
    seen = ~np.isnan(matrix)
    runs = seen.sum(axis=1)
    several = runs >= 2
    rate = np.nansum(matrix, axis=1)[several] / runs[several]
    variance = np.zeros(len(matrix))
    variance[several] = runs[several] / (runs[several] - 1) * rate * (1 - rate)
    return variance, seen.astype(np.float64)


def ratio_interval(ratio: float, outcomes: ArrayLike) -> Interval:
    """Return an interval for the SD over runs in units of `item_floor`; NaN if runs do not differ.

    It combines the chi-square interval of the SD with the jackknife error of the floor, on the logarithmic scale.
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    if not (ratio > 0 and len(matrix) > 2):
        return UNDEFINED
    variance, seen = _variance_of_items(matrix)
    without_each = (variance @ seen - variance[:, None] * seen) / (seen.sum(axis=0) - seen) ** 2
    floors = np.sqrt(without_each.mean(axis=1))
    logs = np.log(floors[floors > 0])
    error = math.sqrt((len(logs) - 1) * float(logs.var())) if len(logs) > 1 else 0.0
    of_items = normal_quantile(0.95) * error
    below, above = (math.hypot(math.log(end), of_items) for end in sd_interval(1.0, matrix.shape[1]))
    return ratio * math.exp(-below), ratio * math.exp(above)

"""Outcomes of items × runs: do runs disagree, and more than items that flip independently (`docs/method/bias.md` 5.7)?

A matrix has a row per item and a column per run. Outcomes are 1, 0 or NaN.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

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
    np.add.at(shares, np.minimum(passes, runs - passes), special.binom(runs, passes) / 2.0**runs)
    return shares


def item_floor(outcomes: ArrayLike) -> float:
    """Return the SD over runs of a pass rate if items flipped independently (`docs/method/bias.md` 5.7).

    sqrt(Σ v_i) / N with v_i = R/(R-1) p_i (1-p_i), averaged over runs that miss different items.

    >>> round(item_floor([[int(run) for run in item] for item in ("11111", "11110", "11000", "10101")]), 4)
    0.2236
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    seen = ~np.isnan(matrix)
    runs = seen.sum(axis=1)
    several = runs >= 2
    rate = np.nansum(matrix, axis=1)[several] / runs[several]
    variance = np.zeros(len(matrix))
    variance[several] = runs[several] / (runs[several] - 1) * rate * (1 - rate)
    return float(np.sqrt(((variance @ seen) / seen.sum(axis=0) ** 2).mean()))

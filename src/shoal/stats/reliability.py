"""Reliability of an items × runs matrix: would another run give the same answer (`docs/method/beyond.md` 7.6)?

A matrix has a row per item and a column per run. Binary outcomes are 1, 0 or NaN.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .intervals import UNDEFINED, Interval, normal_quantile, sd_interval, t_quantile
from .resampling import distinct_rows

Floats = NDArray[np.float64]
Coefficient = Callable[[Floats], float]
"""A function from items × runs to a number up to 1, such as `fleiss_kappa`."""

SHEPPARD = 1 / math.sqrt(12)
"""The SD that rounding to whole steps hides, in steps."""
TIED = 1e-12
"""Scores closer than this are equal."""


# Agreement of runs


def fleiss_kappa(outcomes: ArrayLike) -> float:
    """Return the agreement of runs beyond chance, without missing outcomes; NaN if all outcomes are equal.

    >>> round(fleiss_kappa([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]), 6)
    0.479167
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    runs = matrix.shape[1]
    counts = (matrix[:, :, None] == np.unique(matrix)).sum(axis=1)
    agreement = float((((counts**2).sum(axis=1) - runs) / (runs * (runs - 1))).mean())
    by_chance = float(((counts.sum(axis=0) / matrix.size) ** 2).sum())
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


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


def mean_squares(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean squares of items, runs and residuals of a complete matrix."""
    matrix = np.asarray(values, dtype=np.float64)
    items, runs = matrix.shape
    grand, by_item, by_run = matrix.mean(), matrix.mean(axis=1), matrix.mean(axis=0)
    residuals = matrix - by_item[:, None] - by_run + grand
    return (
        float(runs * ((by_item - grand) ** 2).sum() / (items - 1)),
        float(items * ((by_run - grand) ** 2).sum() / (runs - 1)),
        float((residuals**2).sum() / ((items - 1) * (runs - 1))),
    )


def icc_agreement(values: ArrayLike) -> float:
    """Return ICC(2,1) of a complete matrix (Shrout & Fleiss 1979): would another run give an item the same value?

    >>> judges = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> round(icc_agreement(judges), 4)
    0.2898
    """
    items, runs = np.shape(values)
    of_items, of_runs, residual = mean_squares(values)
    whole = of_items + (runs - 1) * residual + runs * (of_runs - residual) / items
    return (of_items - residual) / whole if whole > 0 else math.nan


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


# Intervals
#
# A bootstrap of runs would draw a run twice, which agrees with itself, and kappa would be too high. So items and runs
# are left out one at a time (Tukey's jackknife; Efron & Stein 1981), each with its own t, and the squares add up. The
# variance of single outcomes is in both parts, so these intervals are conservative.


def coefficient_interval(values: ArrayLike, coefficient: Coefficient) -> Interval:
    """Return an interval for kappa or an ICC, on Fisher's z scale; NaN for two runs or if nothing differs."""
    matrix = np.asarray(values, dtype=np.float64)
    items, runs = matrix.shape
    # Without one run the others may agree on everything; half an item short of that, the scale is still finite.
    end = 1 - 1 / (2 * items)

    def stretched(part: Floats) -> float:
        return math.atanh(min(max(coefficient(part), -end), end))

    middle = stretched(matrix)
    if runs < 3 or items < 3 or math.isnan(middle):
        return UNDEFINED
    without = [stretched(np.delete(matrix, run, axis=1)) for run in range(runs)]
    of_items, of_runs = _error_over_items(matrix, stretched), _jackknife(without, np.ones(runs))
    reach = math.hypot(t_quantile(0.95, items - 1) * of_items, t_quantile(0.95, runs - 1) * of_runs)
    return (math.tanh(middle - reach), math.tanh(middle + reach)) if reach > 0 else UNDEFINED


def ratio_interval(ratio: float, outcomes: ArrayLike) -> Interval:
    """Return an interval for the SD over runs in units of `item_floor`; NaN if runs do not differ.

    It combines the chi-square interval of the SD with the jackknife error of the floor, on the logarithmic scale.
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    if not (ratio > 0 and len(matrix) > 2):
        return UNDEFINED

    def log_floor(part: Floats) -> float:
        floor = item_floor(part)
        return math.log(floor) if floor > 0 else math.nan

    of_items = normal_quantile(0.95) * _error_over_items(matrix, log_floor)
    below, above = (math.hypot(math.log(end), of_items) for end in sd_interval(1.0, matrix.shape[1]))
    return ratio * math.exp(-below), ratio * math.exp(above)


def _error_over_items(matrix: Floats, statistic: Coefficient) -> float:
    """Return the jackknife error over items; equal items are left out once and weighted by their number."""
    # distinct_rows compares numbers: NaN, which equals nothing, gets one that no outcome has.
    absent = float(np.nanmin(matrix)) - 1
    rows, times = distinct_rows(np.where(np.isnan(matrix), absent, matrix))
    rows = np.where(rows == absent, np.nan, rows)
    without = [
        statistic(np.repeat(rows, times - (np.arange(len(rows)) == number), axis=0))
        for number in range(len(rows))
    ]
    return _jackknife(without, times)


def _jackknife(without: list[float], times: NDArray[np.int64] | Floats) -> float:
    """Return the standard error from leave-one-out values, ignoring undefined ones."""
    values = np.array(without)
    known = ~np.isnan(values)
    values, weights = values[known], times[known]
    n = float(weights.sum())
    if n < 2:
        return 0.0
    return math.sqrt((n - 1) / n * float(weights @ (values - np.average(values, weights=weights)) ** 2))

"""Intervals for coefficients of agreement over runs: for new items and new runs of the same recipe.

A bootstrap of runs would draw a run twice, which agrees with itself, and kappa would be too high. So items and runs
are left out one at a time (Tukey's jackknife; Efron & Stein 1981), each with its own t, and the squares add up:

    reach² = (t · error over items)² + (t · error over runs)²

on Fisher's z scale for coefficients, on the logarithmic scale for ratios. The variance of single outcomes is in both
parts, so these intervals are conservative. They take three runs, and are NaN if nothing differs.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .intervals import UNDEFINED, Interval, normal_quantile, sd_interval, t_quantile
from .reliability import run_spread, runs_needed
from .resampling import distinct_rows

Floats = NDArray[np.float64]
Coefficient = Callable[[Floats], float]
"""A function from items × runs to a number up to 1, such as `krippendorff_alpha`."""


def coefficient_interval(values: ArrayLike, coefficient: Coefficient, level: float = 0.95) -> Interval:
    """Return an interval for kappa, alpha or an intraclass correlation of an items × runs matrix.

    >>> from .reliability import krippendorff_alpha
    >>> items = [[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]] * 5
    >>> [round(end, 2) for end in coefficient_interval(items, krippendorff_alpha)]
    [-0.34, 0.96]
    """
    matrix = np.asarray(values, dtype=np.float64)
    items, runs = matrix.shape

    # Without one run the others may agree on everything; half an item short of that, the scale is still finite.
    end = 1 - 1 / (2 * items)

    def stretched(part: Floats) -> float:
        return math.atanh(min(max(coefficient(part), -end), end))

    middle = stretched(matrix)
    if runs < 3 or items < 3 or math.isnan(middle):
        return UNDEFINED
    of_items, of_runs = _error_over_items(matrix, stretched), _error_over_runs(matrix, stretched)
    reach = math.hypot(t_quantile(level, items - 1) * of_items, t_quantile(level, runs - 1) * of_runs)
    return (math.tanh(middle - reach), math.tanh(middle + reach)) if reach > 0 else UNDEFINED


def runs_needed_interval(reliability: Interval, target: float) -> tuple[int | None, int | None]:
    """Return the fewest and the most runs that make the mean as reliable as `target`, from an interval of an ICC.

    None if the reliability of a single run may be 0.

    >>> runs_needed_interval((0.3, 0.7), 0.9), runs_needed_interval((-0.1, 0.7), 0.9)
    ((4, 21), (4, None))
    """
    low, high = reliability
    fewest, most = (runs_needed(end, target) if end < 1 else 1 for end in (high, low))
    return fewest, most


def ratio_interval(outcomes: ArrayLike, level: float = 0.95) -> Interval:
    """Return an interval for the over-dispersion ratio of `reliability.run_spread`.

    It combines the chi-square interval of the SD over runs with the variance of the floor over items.

    >>> rng = np.random.default_rng(0)
    >>> flips = rng.random((200, 5)) < rng.uniform(0.2, 0.8, (200, 1))
    >>> low, high = ratio_interval(flips)
    >>> low < 1 < high
    True
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    spread = run_spread(matrix)
    runs = matrix.shape[1]
    if not (spread.ratio > 0 and len(matrix) > 2):
        return UNDEFINED
    low, high = (math.log(end) for end in sd_interval(1.0, runs, level))
    of_items = normal_quantile(level) * _error_over_items(
        matrix, lambda part: _log(run_spread(part).floor_sd)
    )
    below, above = math.hypot(low, of_items), math.hypot(high, of_items)
    return spread.ratio * math.exp(-below), spread.ratio * math.exp(above)


def _error_over_runs(matrix: Floats, statistic: Coefficient) -> float:
    runs = matrix.shape[1]
    return _jackknife([statistic(np.delete(matrix, run, axis=1)) for run in range(runs)], np.ones(runs))


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


def _log(number: float) -> float:
    return math.log(number) if number > 0 else math.nan

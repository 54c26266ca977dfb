"""Effects within problems: what goes with being right among the variants of one and the same problem.

A linear model with an effect of its own for every problem, so that a problem is only ever compared with itself; errors
may go together within each of two groupings that cross (Cameron, Gelbach & Miller 2011).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, t_quantile

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALLEST_VARIATION = 1e-9
"""Smallest variation of a factor within problems that counts, other factors partialled out."""


@dataclass(frozen=True, slots=True)
class Effect:
    """By how much the outcome changes with one unit of a factor; NaN where no problem has two values of it.

    The interval is NaN where nothing is left to vary: all right, or all that have the factor wrong.
    """

    value: float
    interval: Interval
    problems: int
    """In which the factor varies."""


def within_effects(
    outcomes: ArrayLike, factors: ArrayLike, problems: ArrayLike, first: ArrayLike, second: ArrayLike
) -> list[Effect]:
    """Return the effect of each factor, the others held fast, with an interval over both groupings.

    `factors` is (rows, factors); `first` and `second` say of each row which of the groups of either grouping it is in.

    >>> right, verb, problem = [1, 0, 1, 1, 0, 0], [[1], [0], [1], [1], [0], [0]], [0, 0, 1, 1, 1, 1]
    >>> (effect,) = within_effects(right, verb, problem, range(6), range(6))
    >>> effect.value, effect.problems
    (1.0, 2)
    """
    owners = np.unique(np.asarray(problems), return_inverse=True)[1]
    y, x = (_demeaned(np.asarray(values, np.float64), owners) for values in (outcomes, factors))
    varied = [len(np.unique(owners[np.abs(column) > SMALLEST_VARIATION])) for column in x.T]
    kept = _independent(x)
    estimates = [Effect(math.nan, (math.nan, math.nan), count) for count in varied]
    if not kept:
        return estimates
    inner = x[:, kept]
    bread = np.linalg.inv(inner.T @ inner)
    values = bread @ (inner.T @ y)
    scores = inner * (y - inner @ values)[:, None]
    groupings = [np.unique(np.asarray(codes), return_inverse=True)[1] for codes in (first, second)]
    both = np.unique(np.column_stack(groupings), axis=0, return_inverse=True)[1].ravel()
    one, other, crossed = (bread @ _spread(scores, codes) @ bread for codes in (*groupings, both))
    variances = np.maximum(np.diag(one + other - crossed), np.maximum(np.diag(one), np.diag(other)))
    for place, value, variance in zip(kept, values.tolist(), variances.tolist(), strict=True):
        moved = np.abs(x[:, place]) > SMALLEST_VARIATION
        degrees = min(len(np.unique(codes[moved])) for codes in groupings) - 1
        if degrees > 0:
            known = variance > SMALLEST_VARIATION**2
            reach = t_quantile(0.95, degrees) * math.sqrt(variance) if known else math.nan
            estimates[place] = Effect(value, (value - reach, value + reach), varied[place])
    return estimates


def _demeaned(values: Floats, owners: Codes) -> Floats:
    """Return the values minus the mean of their problem."""
    columns = values.reshape(len(owners), -1)
    sizes = np.bincount(owners)
    means = np.column_stack([np.bincount(owners, column) / sizes for column in columns.T])
    left: Floats = columns - means[owners]
    return left.reshape(values.shape)


def _independent(x: Floats) -> list[int]:
    """Return the columns that vary beside those before them."""
    kept: list[int] = []
    for place in range(x.shape[1]):
        column, before = x[:, place], x[:, kept]
        rest = column - before @ np.linalg.lstsq(before, column, rcond=None)[0] if kept else column
        if rest @ rest > SMALLEST_VARIATION * max(1.0, float(column @ column)):
            kept.append(place)
    return kept


def _spread(scores: Floats, codes: Codes) -> Floats:
    """Return sums of scores by group, crossed; for one group fewer."""
    groups = int(codes.max()) + 1
    sums = np.column_stack([np.bincount(codes, column, groups) for column in scores.T])
    spread: Floats = (sums.T @ sums) * np.float64(groups / max(1, groups - 1))
    return spread

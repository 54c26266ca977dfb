"""Means and differences over the seeds of a recipe and the cases of a suite: intervals and p values.

Drawing two or three seeds again cannot leave their range, so their part is Student's, and an interval combines
distances whose squares add (Zou & Donner 2008, "MOVER"):

    reach² = (reach over cases)² + (t · error over seeds)²
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, p_where, t_quantile

Floats = NDArray[np.float64]
IntervalAt = Callable[[float], Interval]
"""From a level to the interval over cases, such as `lambda level: wilson(9, 10, level)`."""


@dataclass(frozen=True, slots=True)
class SeedError:
    """The error of a mean over seeds, cases aside; without parts for a single run."""

    parts: tuple[tuple[float, float], ...] = ()
    """Standard errors that add up as their squares do, each with its degrees of freedom."""

    @property
    def error(self) -> float:
        return math.hypot(*(error for error, _ in self.parts))

    def reach(self, level: float) -> float:
        """Return half the width of the t interval at a level."""
        return math.hypot(*(t_quantile(level, degrees) * error for error, degrees in self.parts))

    def p(self, value: float) -> float:
        """Return the two-sided p of a difference for new seeds on the same cases."""
        return 1.0 if value == 0 else p_where(lambda level: self.reach(level) < abs(value))


def error_of_mean(by_seed: ArrayLike) -> SeedError:
    """Return the error of the mean of one recipe's seeds, or of differences of paired seeds (Student 1908)."""
    scores = np.asarray(by_seed, dtype=np.float64)
    if len(scores) < 2:
        return SeedError()
    return SeedError(((float(scores.std(ddof=1)) / math.sqrt(len(scores)), len(scores) - 1),))


def error_of_difference(first: ArrayLike, second: ArrayLike) -> SeedError:
    """Return the error of the difference of two recipes, each with at least two seeds (Welch 1947).

    With unequal numbers Welch's test errs (2 against 10 seeds: false alarms in 10 %), so each recipe brings its own t.
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    sizes = [len(side) for side in sides]
    if min(sizes) < 2:
        raise ValueError(f"a recipe needs two seeds to show its spread; got {sizes[0]} and {sizes[1]}")
    squares = [float(side.var(ddof=1)) / len(side) for side in sides]
    if sizes[0] != sizes[1]:
        parts = tuple((math.sqrt(square), size - 1.0) for square, size in zip(squares, sizes, strict=True))
        return SeedError(parts)
    total, free = sum(squares), sizes[0] - 1
    degrees = free * total**2 / sum(square**2 for square in squares) if total > 0 else 2.0 * free
    return SeedError(((math.sqrt(total), degrees),))


PRIOR_DEGREES = 4.0
"""Degrees of freedom that the mean dispersion of all rows counts for in the dispersion of each."""
FEWEST_ROWS = 3
"""With fewer rows there is nothing to pool."""


def moderated_errors(first: ArrayLike, second: ArrayLike, cases: ArrayLike) -> list[SeedError]:
    """Return the error of each row's difference of pass rates, its variance pooled over rows; empty for few rows.

    `first` and `second` are rows × runs of `cases`, at least two runs each. A row's dispersion (variance over the
    binomial one) is averaged with the mean of all rows (moderated t, Smyth 2004). The prior's weight is fixed:
    estimated from few rows, it errs in up to 11 % if rows differ much in their variance. Run effects that all rows
    share are not pooled: they have the degrees of freedom of the runs only.
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    n = np.asarray(cases, dtype=np.float64)[:, None]
    is_mixed = np.any([((side > 0) & (side < 1)).any(axis=1) for side in sides], axis=0)
    if is_mixed.sum() < FEWEST_ROWS:
        return []
    # Two passes and two fails are added, so that a rate of 0 or 1 has a variance.
    shares = [(n * side.mean(axis=1, keepdims=True) + 2) / (n + 4) for side in sides]
    variances = [share * (1 - share) / n for share in shares]
    residuals = np.hstack(
        [
            (runs - runs.mean(axis=1, keepdims=True)) / np.sqrt(each)
            for runs, each in zip(sides, variances, strict=True)
        ]
    )
    degrees = float(sum(runs.shape[1] - 1 for runs in sides))
    scales = np.sqrt(sum(each[:, 0] / runs.shape[1] for runs, each in zip(sides, variances, strict=True)))
    common = residuals[is_mixed].mean(axis=0)
    rows = int(is_mixed.sum())
    own = ((residuals - common) ** 2).sum(axis=1) / degrees * rows / (rows - 1)
    moderated = (PRIOR_DEGREES * own[is_mixed].mean() + degrees * own) / (PRIOR_DEGREES + degrees)
    shared = math.sqrt(float(common @ common) / degrees)
    return [
        SeedError(((scale * shared, degrees), (scale * math.sqrt(dispersion), degrees + PRIOR_DEGREES)))
        for scale, dispersion in zip(scales.tolist(), moderated.tolist(), strict=True)
    ]


def composed(value: float, cases: IntervalAt, seeds: SeedError, level: float = 0.95) -> Interval:
    """Return the interval for new cases and new seeds."""
    low, high = cases(level)
    added = seeds.reach(level) ** 2
    below, above = (math.sqrt(max(0.0, distance) ** 2 + added) for distance in (value - low, high - value))
    return value - below, value + above

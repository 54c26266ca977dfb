"""Means and differences over the seeds of a recipe: intervals and p values.

Drawing two or three seeds again cannot leave their range, so their part is Student's, and an interval is put together
from distances whose squares add (Zou & Donner 2008, "MOVER"):

    reach² = (reach over cases)² + (t · error over seeds)² - z² · noise

The seeds of one recipe have seeds - 1 degrees of freedom; so have paired differences. Two recipes with seeds of their
own have Welch's (1947) where both have as many. With unequal numbers his test errs (2 against 10 seeds: false alarms in
10 %), and each recipe brings its own t, squares added.

`noise` is the variance that single outcomes add to the seeds' scores and to the cases' alike, σ²_residual / (seeds ×
cases) of the two-way analysis of variance, here counted once. Seeds never make an interval narrower. p is the level at
which the same interval reaches the null, so the two never disagree.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .intervals import Interval, normal_quantile, t_quantile

IntervalAt = Callable[[float], Interval]
"""From a level to the interval over cases, such as `lambda level: wilson(9, 10, level)`."""

SMALLEST_P = 1e-12
"""Smaller ones are given as this."""


@dataclass(frozen=True, slots=True)
class SeedError:
    """How well a mean over seeds is known, cases aside; without parts for a single run, which speaks for itself."""

    parts: tuple[tuple[float, float], ...] = ()
    """Standard errors that add up as their squares do, each with its degrees of freedom."""
    noise: float = 0.0
    """Of the square of the error, what is also in the variance over cases."""

    @property
    def error(self) -> float:
        """The standard error of all parts together."""
        return math.hypot(*(error for error, _ in self.parts))

    def reach(self, level: float) -> float:
        """How far t carries it."""
        return math.hypot(*(t_quantile(level, degrees) * error for error, degrees in self.parts))


def error_of_mean(by_seed: ArrayLike, noise: float = 0.0) -> SeedError:
    """Of the mean of one recipe's seeds, or of differences of paired seeds (Student 1908).

    >>> round(error_of_mean([0.7, 0.8, 0.9]).reach(0.95), 4)
    0.2484
    """
    scores = np.asarray(by_seed, dtype=np.float64)
    if len(scores) < 2:
        return SeedError()
    return SeedError(((float(scores.std(ddof=1)) / math.sqrt(len(scores)), len(scores) - 1),), noise)


def error_of_difference(first: ArrayLike, second: ArrayLike, noise: float = 0.0) -> SeedError:
    """Of the difference of two recipes, each with at least two seeds of its own (Welch 1947).

    >>> error, degrees = error_of_difference([0.7, 0.8, 0.9], [0.4, 0.5, 0.9]).parts[0]
    >>> round(error, 3), round(degrees, 2)
    (0.163, 2.56)
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    sizes = [len(side) for side in sides]
    if min(sizes) < 2:
        raise ValueError(
            f"the spread of a recipe needs at least two of its seeds; got {sizes[0]} and {sizes[1]}"
        )
    squares = [float(side.var(ddof=1)) / len(side) for side in sides]
    if sizes[0] != sizes[1]:
        parts = tuple((math.sqrt(square), size - 1.0) for square, size in zip(squares, sizes, strict=True))
        return SeedError(parts, noise)
    total, free = sum(squares), sizes[0] - 1
    degrees = free * total**2 / sum(square**2 for square in squares) if total > 0 else 2.0 * free
    return SeedError(((math.sqrt(total), degrees),), noise)


def composed(value: float, cases: IntervalAt, seeds: SeedError, level: float = 0.95) -> Interval:
    """The interval for new cases and new seeds.

    >>> from .intervals import wilson
    >>> [round(end, 3) for end in composed(0.8, lambda level: wilson(80, 100, level), error_of_mean([0.7, 0.8, 0.9]))]
    [0.536, 1.057]
    """
    low, high = cases(level)
    added = max(0.0, seeds.reach(level) ** 2 - normal_quantile(level) ** 2 * seeds.noise)
    below, above = (math.sqrt(max(0.0, distance) ** 2 + added) for distance in (value - low, high - value))
    return value - below, value + above


def composed_p(value: float, cases: IntervalAt, seeds: SeedError, null: float = 0.0) -> float:
    """Two-sided p: one minus the level at which the composed interval reaches the null.

    One-sided in the direction of `value`: half of it.

    >>> from .intervals import mean_t_interval
    >>> round(composed_p(3.0, lambda level: mean_t_interval([1, 2, 3, 4, 5], level), SeedError(), null=1.0), 4)
    0.0474
    """
    if value == null:
        return 1.0

    def excludes(level: float) -> bool:
        low, high = composed(value, cases, seeds, level)
        return low > null if value > null else high < null

    return p_where(excludes)


def p_where(excludes: Callable[[float], bool]) -> float:
    """The p value of the test that an interval makes: one minus the highest level at which it excludes the null.

    >>> round(p_where(lambda level: normal_quantile(level) < 1.96), 4)
    0.05
    """
    if excludes(1 - SMALLEST_P):
        return SMALLEST_P
    below, above = math.log(SMALLEST_P), 0.0
    while above - below > 1e-6:
        middle = (below + above) / 2
        below, above = (below, middle) if excludes(1 - math.exp(middle)) else (middle, above)
    return math.exp(above)

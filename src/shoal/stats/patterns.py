"""Patterns: problems with several variants each, solved when enough of the variants are (`docs/method/merge.md` 4.4).

Problem i has n_i variants, of which c_i are right. Accuracies of variants of one problem go together; how much, the
intra-problem correlation says. What pattern accuracy would be without any of it is the independence reference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from .intervals import Interval, t_quantile
from .resampling import ClusterTable, distinct_rows

Floats = NDArray[np.float64]

SLACK = 1e-9
"""θ = .9 of 20 is 18, whatever binary fractions say."""
LEAST_CORRELATION, MOST_CORRELATION = 1e-6, 1 - 1e-6
FEWEST_CLUSTERS = 3
"""Fewer say nothing of how far a correlation varies."""


def needed(threshold: float, n: ArrayLike) -> Floats:
    """How many of n variants must be right.

    >>> needed(0.95, [20, 20]).tolist(), needed(0.67, 3).tolist(), needed(0.66, 3).tolist()
    ([19.0, 19.0], 3.0, 2.0)
    """
    least: Floats = np.ceil(threshold * np.asarray(n, np.float64) - SLACK)
    return least


def is_solved(right: ArrayLike, n: ArrayLike, threshold: float) -> Floats:
    """1 for each problem with enough right variants, else 0; NaN for one without variants.

    >>> is_solved([20, 19, 10], [20, 20, 20], 0.95).tolist()
    [1.0, 1.0, 0.0]
    """
    counts = np.asarray(n, np.float64)
    return np.where(counts > 0, np.asarray(right, np.float64) >= needed(threshold, counts), np.nan)


def sample_accuracy(right: ArrayLike, n: ArrayLike) -> float:
    """The share of all variants that are right; NaN without any.

    >>> round(sample_accuracy([20, 19, 10], [20, 20, 20]), 6)
    0.816667
    """
    total = float(np.sum(n))
    return float(np.sum(right)) / total if total else math.nan


# What pattern accuracy would be


def independence_reference(n: ArrayLike, accuracy: float, threshold: float) -> float:
    """Pattern accuracy if every variant were right with the same probability, independently of the others.

    >>> round(independence_reference([20], 0.8872, 1.0), 4)
    0.0913
    """
    counts = np.asarray(n, np.float64)
    least = needed(threshold, counts)
    return float(np.mean(stats.binom.sf(least - 1, counts, accuracy)))


def correlated_reference(n: ArrayLike, accuracy: float, correlation: float, threshold: float) -> float:
    """The same where the accuracy of a problem is itself drawn, from a beta distribution with this correlation.

    >>> round(correlated_reference([20], 0.8872, 0.3, 1.0), 4)
    0.5134
    """
    if not 0 < accuracy < 1:
        return accuracy
    if correlation <= 0:
        return independence_reference(n, accuracy, threshold)
    if correlation >= 1:
        return accuracy
    size = 1 / correlation - 1
    counts, times = np.unique(np.asarray(n, np.int64), return_counts=True)
    shares = [
        stats.betabinom.sf(needed(threshold, count) - 1, count, accuracy * size, (1 - accuracy) * size)
        for count in counts
    ]
    return float(np.dot(shares, times) / times.sum())


# How much variants of one problem go together


def intra_problem_correlation(right: ArrayLike, n: ArrayLike) -> float:
    """ANOVA's intra-class correlation of variants in problems (`docs/method/beyond.md` 7.15).

    NaN where it cannot be told: all right, all wrong, or no problem with two variants.

    >>> intra_problem_correlation([4, 0, 4, 0], [4, 4, 4, 4])
    1.0
    """
    return float(_correlation(_sums(right, n).sum(axis=0)))


def correlation_interval(
    right: Sequence[ArrayLike], n: Sequence[ArrayLike], clusters: ArrayLike, level: float = 0.95
) -> tuple[float, Interval]:
    """The correlation, a mean over draws, with an interval from leaving out one cluster at a time; NaN if unknown.

    `right` and `n` have an array per draw, over the same problems. Draws in which it cannot be told are left out of the
    mean, and then there is no interval.

    On Fisher's (1925) scale for intra-class correlations, ½ log((1 + (k-1) r) / (1 - r)), and without the jackknife's
    bias. Few problems rarely show the one that goes wrong in all of its variants, so the upper end reaches as far as
    with one more problem that goes the rarer way. On the plain scale ten premises of two problems cover 84 %.
    """
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(index.max()) + 1
    draws = []
    for c, sizes in zip(right, n, strict=True):
        parts = np.zeros((count, 5))
        np.add.at(parts, index, _sums(c, sizes))
        draws.append(parts)
    estimates = [float(_correlation(parts.sum(axis=0))) for parts in draws]
    known = [estimate for estimate in estimates if not math.isnan(estimate)]
    middle = float(np.mean(known)) if known else math.nan
    if len(known) < len(estimates) or count < FEWEST_CLUSTERS:
        return middle, (math.nan, math.nan)
    totals = np.sum(draws, axis=(0, 1))
    size, share = float(totals[1] / totals[0]), float(totals[3] / totals[1])
    low, high = _jackknifed(draws, size, level, unbiased=True)
    if math.isnan(low):
        return middle, (math.nan, math.nan)
    # At one half, both ways are the rarer one: right and wrong must stay mirror images.
    rarer = [way for way, of in ((size, share), (0.0, 1 - share)) if of <= 0.5 + 1e-12]
    further = [
        _jackknifed([np.vstack([parts, _sums([way], [size])]) for parts in draws], size, level)[1]
        for way in rarer
    ]
    return middle, (min(middle, low), max(middle, high, *further))


def _jackknifed(
    draws: Sequence[Floats], size: float, level: float, *, unbiased: bool = False
) -> tuple[float, float]:
    """Ends for a correlation, from what each cluster adds to each draw; `size` is the variants of a problem."""
    count = len(draws[0])
    whole = np.mean([_fisher(_correlation(parts.sum(axis=0)), size) for parts in draws])
    without = np.mean([_fisher(_correlation(parts.sum(axis=0) - parts), size) for parts in draws], axis=0)
    middle = count * whole - (count - 1) * without.mean() if unbiased else whole
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    reach = t_quantile(level, count - 1) * error
    low, high = (
        (ratio - 1) / (ratio + size - 1) for ratio in np.exp([2 * (middle - reach), 2 * (middle + reach)])
    )
    return float(low), float(high)


def _fisher(correlation: Floats, size: float) -> Floats:
    """Of problems with so many variants, where a correlation lies above -1 / (size - 1) and below 1."""
    inside = np.clip(correlation, -1 / (size - 1) + LEAST_CORRELATION, MOST_CORRELATION)
    found: Floats = np.log((1 + (size - 1) * inside) / (1 - inside)) / 2
    return found


def _sums(right: ArrayLike, n: ArrayLike) -> Floats:
    """What each problem adds to the analysis of variance: 1, n, n², right, right²/n; nothing without variants."""
    c, sizes = np.asarray(right, np.float64), np.asarray(n, np.float64)
    known = sizes > 0
    squares = np.divide(c**2, sizes, out=np.zeros_like(sizes), where=known)
    return np.column_stack([known, sizes, sizes**2, np.where(known, c, 0.0), squares])


def _correlation(sums: Floats) -> Floats:
    """The correlation from such sums; of several, where they are rows."""
    problems, total, squared_sizes, right, squares = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (squares - right**2 / total) / (problems - 1)
        within = (right - squares) / (total - problems)
        size = (total - squared_sizes / total) / (problems - 1)
        found: Floats = (between - within) / (between + (size - 1) * within)
    return np.where((right > 0) & (right < total) & (total > problems), found, np.nan)


def beta_binomial(right: ArrayLike, n: ArrayLike) -> tuple[float, float]:
    """Accuracy and correlation of the beta-binomial distribution that fits best; NaN where all or none are right."""
    rows, times = distinct_rows(np.column_stack([np.asarray(right, np.float64), np.asarray(n, np.float64)]))
    rows, times = rows[rows[:, 1] > 0], times[rows[:, 1] > 0]
    c, sizes = rows.T
    if not 0 < c @ times < sizes @ times:
        return math.nan, math.nan

    def unlikeliness(parameters: Floats) -> float:
        mean, correlation = special.expit(parameters)
        size = 1 / np.clip(correlation, LEAST_CORRELATION, MOST_CORRELATION) - 1
        a, b = mean * size, (1 - mean) * size
        return -float(times @ (special.betaln(c + a, sizes - c + b) - special.betaln(a, b)))

    start = special.logit([float(c @ times / (sizes @ times)), 0.3])
    best = optimize.minimize(
        unlikeliness, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}
    )
    accuracy, correlation = special.expit(best.x)
    return float(accuracy), float(np.clip(correlation, LEAST_CORRELATION, MOST_CORRELATION))


# Draws from a pool


def solved_shares(pools: Sequence[tuple[int, int, int]], thresholds: Sequence[float]) -> list[float]:
    """How often a draw from pools solves a problem, at each threshold: (right, in all, drawn) of each pool.

    The exact expectation over all draws without replacement, instead of a mean over some.

    >>> [round(share, 9) for share in solved_shares([(3, 4, 2)], [0.5, 1.0])]
    [1.0, 0.5]
    """
    chances = np.ones(1)
    for right, total, drawn in pools:
        chances = np.convolve(chances, _hypergeometric(right, total, drawn))
    drawn = len(chances) - 1
    at_least = np.cumsum(chances[::-1])[::-1]
    return [min(1.0, float(at_least[int(needed(threshold, drawn))])) for threshold in thresholds]


def _hypergeometric(right: int, total: int, drawn: int) -> Floats:
    """How likely 0, 1, … of the drawn ones are right."""
    hits = np.arange(drawn + 1)
    possible = (hits <= right) & (drawn - hits <= total - right)
    chances = np.zeros(drawn + 1)
    chances[possible] = np.exp(
        _log_choose(right, hits[possible])
        + _log_choose(total - right, drawn - hits[possible])
        - _log_choose(total, np.array([drawn]))
    )
    return chances


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    ways: Floats = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return ways


# Tables for intervals


def variant_table(sums: Sequence[ArrayLike], n: ArrayLike, clusters: ArrayLike) -> ClusterTable:
    """What each cluster of problems adds to a rate of variants, or to two rates: (sums ..., variants)."""
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    columns = [np.asarray(column, np.float64) for column in (*sums, n)]
    order = np.lexsort((*reversed(columns), index))  # sums must not depend on the order of problems
    totals: Floats = np.column_stack([np.bincount(index[order], weights=column[order]) for column in columns])
    return ClusterTable(*distinct_rows(totals + 0.0))


@dataclass(frozen=True, slots=True)
class Split:
    """One of two rates: sums and sizes of its problems, and the clusters that these are of."""

    sums: ArrayLike
    sizes: ArrayLike
    clusters: ArrayLike


def split_difference(first: Split, second: Split, level: float = 0.95) -> tuple[float, Interval]:
    """Rate of the first minus rate of the second, and an interval over clusters that either has; NaN without any.

    They may be of the same problems, of others, or of some in common: what a cluster adds to both is in the error.
    Linearised, after adding to each a cluster that goes right and one that goes wrong, of average size (Agresti &
    Caffo 2000 for clusters): splits that are all right are no proof that there is no difference.

    >>> low, high = split_difference(Split([1] * 20, [1] * 20, range(20)), Split([1] * 20, [1] * 20, range(20)))[1]
    >>> round(low, 3), round(high, 3)
    (-0.13, 0.13)
    """
    names = np.concatenate([np.asarray(split.clusters) for split in (first, second)])
    index = np.unique(names, return_inverse=True)[1]
    parts = np.split(index, [len(np.asarray(first.clusters))])
    rates, middles, errors, degrees = [], [], np.zeros(int(index.max(initial=-1)) + 5), math.inf
    for number, (split, own) in enumerate(zip((first, second), parts, strict=True)):
        sizes = np.bincount(own, np.asarray(split.sizes, np.float64), len(errors))
        sums = np.bincount(own, np.asarray(split.sums, np.float64), len(errors))
        clusters = int((sizes > 0).sum())
        if not clusters:
            return math.nan, (math.nan, math.nan)
        rates.append(float(sums.sum() / sizes.sum()))
        added = len(errors) - 4 + 2 * number
        sizes[added : added + 2] = sums[added] = sizes.sum() / clusters
        middles.append(float(sums.sum() / sizes.sum()))
        errors += (1 - 2 * number) * (sums - middles[-1] * sizes) / sizes.sum()
        degrees = min(degrees, clusters + 1)
    error = math.sqrt(float(errors @ errors) * len(errors) / (len(errors) - 1))
    reach = t_quantile(level, degrees) * error
    middle = middles[0] - middles[1]
    return rates[0] - rates[1], (max(-1.0, middle - reach), min(1.0, middle + reach))


# What an audit of labels says


def audited_accuracy(accuracy: float, error: float, labels: int = 3) -> float:
    """Sample accuracy if a share of the labels is wrong and errors fall evenly on the others; NaN where undefined.

    >>> round(audited_accuracy(0.887, 0.05), 4), round(audited_accuracy(0.86, 0.1, labels=2), 4)
    (0.9319, 0.95)
    """
    other = 1 / (labels - 1)
    return (accuracy - other * error) / (1 - (1 + other) * error) if (1 + other) * error < 1 else math.nan

"""Patterns: problems with several variants, solved when enough variants are right (`docs/method/merge.md` 4.4).

Problem i has n_i variants, of which c_i are right. The intra-problem correlation measures how much the variants of a
problem go together; the independence reference is the pattern accuracy without any correlation.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .intervals import Interval, t_quantile
from .resampling import ClusterTable, distinct_rows, sum_by_cluster

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Tolerance for binary fractions: θ = .9 of 20 is 18."""
LEAST_CORRELATION, MOST_CORRELATION = 1e-6, 1 - 1e-6
FEWEST_CLUSTERS = 3
"""Clusters that an interval of the correlation needs."""


def needed(threshold: float, n: ArrayLike) -> Floats:
    """Return how many of n variants must be right.

    >>> needed(0.95, [20, 20]).tolist(), needed(0.67, 3).tolist(), needed(0.66, 3).tolist()
    ([19.0, 19.0], 3.0, 2.0)
    """
    least: Floats = np.ceil(threshold * np.asarray(n, np.float64) - SLACK)
    return least


def is_solved(right: ArrayLike, n: ArrayLike, threshold: float) -> Floats:
    """Return 1 for each problem with enough right variants, else 0; NaN for one without variants.

    >>> is_solved([20, 19, 10], [20, 20, 20], 0.95).tolist()
    [1.0, 1.0, 0.0]
    """
    counts = np.asarray(n, np.float64)
    return np.where(counts > 0, np.asarray(right, np.float64) >= needed(threshold, counts), np.nan)


def sample_accuracy(right: ArrayLike, n: ArrayLike) -> float:
    """Return the share of right variants; NaN without variants.

    >>> round(sample_accuracy([20, 19, 10], [20, 20, 20]), 6)
    0.816667
    """
    total = float(np.sum(n))
    return float(np.sum(right)) / total if total else math.nan


# Reference


def independence_reference(n: ArrayLike, accuracy: float, threshold: float) -> float:
    """Return pattern accuracy if variants were right independently, with one probability.

    >>> round(independence_reference([20], 0.8872, 1.0), 4)
    0.0913
    """
    counts = np.asarray(n, np.float64)
    least = needed(threshold, counts)
    return float(np.mean(stats.binom.sf(least - 1, counts, accuracy)))


# Correlation within problems


def intra_problem_correlation(right: ArrayLike, n: ArrayLike) -> float:
    """Return ANOVA's intra-class correlation of variants in problems (`docs/method/beyond.md` 7.15).

    NaN if all variants are right, all are wrong, or no problem has two variants.

    >>> intra_problem_correlation([4, 0, 4, 0], [4, 4, 4, 4])
    1.0
    """
    return float(_correlation(_sums(right, n).sum(axis=0)))


def correlation_interval(
    right: Sequence[ArrayLike], n: Sequence[ArrayLike], clusters: ArrayLike
) -> tuple[float, Interval]:
    """Return the mean correlation over draws with a jackknife interval over clusters; NaN if undefined.

    `right` and `n` have an array per draw, over the same problems. If some draw has no correlation, the mean is over
    the others, without an interval.

    The interval is on Fisher's (1925) scale for intra-class correlations, ½ log((1 + (k-1) r) / (1 - r)), with the
    jackknife's bias removed. Small samples rarely contain a problem whose variants all fail, so the upper end is that
    of the sample with one more problem of the rarer kind. On the plain scale ten premises of two problems cover 84 %.
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
    low, high = _jackknifed(draws, size, unbiased=True)
    if math.isnan(low):
        return middle, (math.nan, math.nan)
    # At one half both kinds are the rarer one, so that right and wrong stay symmetric.
    rarer = [way for way, of in ((size, share), (0.0, 1 - share)) if of <= 0.5 + 1e-12]
    further = [
        _jackknifed([np.vstack([parts, _sums([way], [size])]) for parts in draws], size)[1] for way in rarer
    ]
    return middle, (min(middle, low), max(middle, high, *further))


def _jackknifed(draws: Sequence[Floats], size: float, *, unbiased: bool = False) -> tuple[float, float]:
    """Return the interval of a correlation from the sums of each cluster and draw; `size` is variants per problem."""
    count = len(draws[0])
    whole = np.mean([_fisher(_correlation(parts.sum(axis=0)), size) for parts in draws])
    without = np.mean([_fisher(_correlation(parts.sum(axis=0) - parts), size) for parts in draws], axis=0)
    middle = count * whole - (count - 1) * without.mean() if unbiased else whole
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    reach = t_quantile(0.95, count - 1) * error
    low, high = (
        (ratio - 1) / (ratio + size - 1) for ratio in np.exp([2 * (middle - reach), 2 * (middle + reach)])
    )
    return float(low), float(high)


def _fisher(correlation: Floats, size: float) -> Floats:
    """Return a correlation on Fisher's scale, clipped to its range above -1 / (size - 1) and below 1."""
    inside = np.clip(correlation, -1 / (size - 1) + LEAST_CORRELATION, MOST_CORRELATION)
    scaled: Floats = np.log((1 + (size - 1) * inside) / (1 - inside)) / 2
    return scaled


def _sums(right: ArrayLike, n: ArrayLike) -> Floats:
    """Return the terms of each problem in the analysis of variance: 1, n, n², right, right²/n."""
    c, sizes = np.asarray(right, np.float64), np.asarray(n, np.float64)
    known = sizes > 0
    squares = np.divide(c**2, sizes, out=np.zeros_like(sizes), where=known)
    return np.column_stack([known, sizes, sizes**2, np.where(known, c, 0.0), squares])


def _correlation(sums: Floats) -> Floats:
    """Return the correlation from such sums, or one per row."""
    problems, total, squared_sizes, right, squares = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (squares - right**2 / total) / (problems - 1)
        within = (right - squares) / (total - problems)
        size = (total - squared_sizes / total) / (problems - 1)
        correlation: Floats = (between - within) / (between + (size - 1) * within)
    return np.where((right > 0) & (right < total) & (total > problems), correlation, np.nan)


# Rates of variants


def variant_table(right: ArrayLike, n: ArrayLike, clusters: ArrayLike) -> ClusterTable:
    """Return the sums of each cluster of problems for a rate of variants: (right, variants)."""
    columns = [np.asarray(column, np.float64) for column in (right, n)]
    return ClusterTable(*distinct_rows(sum_by_cluster(columns, clusters)))


def drop_interval(originals: Floats, right: Floats, n: Floats, clusters: ArrayLike) -> tuple[float, Interval]:
    """Return the accuracy on originals minus that on their variants, with an interval over clusters.

    The interval is linearised after adding a right and a wrong cluster of average size to each rate (Agresti & Caffo
    2000 for clusters): two rates without errors do not prove equality.

    >>> _, (low, high) = drop_interval(np.ones(20), np.ones(20), np.ones(20), range(20))
    >>> round(low, 3), round(high, 3)
    (-0.13, 0.13)
    """
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(index.max()) + 1
    rates, middles, errors = [], [], np.zeros(count + 4)
    for number, (hits, tries) in enumerate([(originals, np.ones(len(originals))), (right, n)]):
        sums, sizes = (np.bincount(index, values, len(errors)) for values in (hits, tries))
        rates.append(float(sums.sum() / sizes.sum()))
        added = count + 2 * number
        sizes[added : added + 2] = sums[added] = sizes.sum() / count
        middles.append(float(sums.sum() / sizes.sum()))
        errors += (1 - 2 * number) * (sums - middles[-1] * sizes) / sizes.sum()
    error = math.sqrt(float(errors @ errors) * len(errors) / (len(errors) - 1))
    reach = t_quantile(0.95, count + 1) * error
    middle = middles[0] - middles[1]
    return rates[0] - rates[1], (max(-1.0, middle - reach), min(1.0, middle + reach))

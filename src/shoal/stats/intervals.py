"""Intervals for proportions, means and spreads, and from replicates (`docs/method/beyond.md` 7.2 and 7.6).

    one proportion of independent cases          wilson
    one proportion of clustered cases            cluster_wilson
    a macro mean of proportions                  macro_wilson
    a paired difference of two models            paired_difference_interval, macro_difference_interval
    a weighted sum of paired differences         sum_t
    G, or anything else                          percentile_interval, replicate_t_interval
    a mean or SD over a few runs                 mean_t_interval, sd_interval

Only replicates can collapse to a point. Measured coverage: docs/studies/interval-coverage.md.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import ArrayLike, NDArray

from .resampling import (
    ClusterTable,
    degrees_of_freedom,
    difference,
    macro_mean,
    rate,
    sampling_variance,
    sum_by_cluster,
)

Floats = NDArray[np.float64]
Interval = tuple[float, float]

UNDEFINED: Interval = (float("nan"), float("nan"))

SMALLEST_P = 1e-12
"""Smaller ones are given as this."""


def wilson(passes: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's interval for a proportion of n cases, or an effective number of them; NaN for n = 0.

    >>> [round(end, 4) for end in wilson(9, 10)]
    [0.5958, 0.9821]
    """
    z = normal_quantile(level)
    if n == 0:
        return UNDEFINED
    p = passes / n
    middle = p + z**2 / (2 * n)
    reach = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    # At 0 and n an end is exactly 0 or 1; rounding would leave 1e-18 there.
    low = 0.0 if passes == 0 else (middle - reach) / scale
    high = 1.0 if passes == n else (middle + reach) / scale
    return low, high


def wilson_cases(rate: float, interval: Interval, level: float = 0.95) -> float | None:
    """Return the (effective) number of cases whose Wilson interval this is, None for another kind of interval."""
    # Both ends solve (rate - end)² = z² end (1 - end) / n; an end at 0 or 1 solves it for every n.
    inside = [end for end in interval if 0 < end < 1 and end != rate]
    n = [normal_quantile(level) ** 2 * end * (1 - end) / (rate - end) ** 2 for end in inside]
    alike = len(n) == 2 or (len(n) == 1 and rate in (0, 1) and rate in interval)
    return n[0] if alike and math.isclose(n[0], n[-1], rel_tol=1e-6) else None


def cluster_wilson(table: ClusterTable, level: float = 0.95) -> Interval:
    """Return Wilson's interval on the effective number of clustered cases; NaN if none applies."""
    return macro_wilson([table], level)


def macro_wilson(tables: Sequence[ClusterTable], level: float = 0.95, shared: float = 1.0) -> Interval:
    """Return Wilson's interval for a macro mean of rates on its effective number of cases; NaN if a rate is undefined.

    Stratified surveys do the same (Korn & Graubard 1998; Franco et al. 2019). If every functionality passes all or
    nothing, the squared distances to their own ends add up (Zou & Donner 2008). `shared` is `resampling.sharing`.
    """
    n = effective_cases(tables, level, shared)
    if math.isnan(n):
        return UNDEFINED
    middle = macro_mean(tables)
    if len(tables) > 1 and 0 < middle < 1 and all(rate(table) in (0, 1) for table in tables):
        ends = [cluster_wilson(table, level) for table in tables]
        distances = [
            abs(rate(table) - end[side]) for table, end in zip(tables, ends, strict=True) for side in (0, 1)
        ]
        below, above = math.hypot(*sorted(distances[::2])), math.hypot(*sorted(distances[1::2]))
        widened = math.sqrt(shared) / len(tables)
        return max(0.0, middle - below * widened), min(1.0, middle + above * widened)
    return wilson(n if middle == 1 else middle * n, n, level)


def effective_cases(tables: Sequence[ClusterTable], level: float = 0.95, shared: float = 1.0) -> float:
    """Return the effective sample size of the macro mean; NaN if a rate is undefined.

    mean (1 - mean) / variance, lowered to the t quantile because the variance is itself estimated (Korn & Graubard
    1998). If all cases agree, clusters are counted instead.
    """
    if any(table.totals[-1] == 0 for table in tables):
        return float("nan")
    mean = macro_mean(tables)
    clusters = [int(table.counts[table.rows[:, -1] > 0].sum()) for table in tables]
    if len(tables) == 1 and tables[0].rows[:, -1].max() <= 1:
        return float(clusters[0])
    counted = len(tables) ** 2 / math.fsum(1 / number for number in clusters) / shared
    if mean in (0, 1) or clusters == [1]:
        return counted
    # A lone cluster beside others may stand or fall as a whole, and does so at no more than the variance of the mean.
    whole = mean * (1 - mean)
    variances = [
        max(whole, cautious_variance(table, level)) if number == 1 else cautious_variance(table, level)
        for table, number in zip(tables, clusters, strict=True)
    ]
    # fsum: the same number whatever the order of functionalities.
    variance = shared * math.fsum(variances) / len(tables) ** 2
    independent = mean * (1 - mean) / variance if variance > 0 else counted
    taken = math.fsum(each for each, number in zip(variances, clusters, strict=True) if number == 1)
    degrees = _degrees(tables, taken) / shared
    lowered = (normal_quantile(level) / t_quantile(level, degrees)) ** 2 if degrees > 0 else 1.0
    return independent * lowered


def _degrees(tables: Sequence[ClusterTable], taken: float = 0.0) -> float:
    """Return Satterthwaite's degrees of freedom, fewer if few clusters make most of the variance.

    A variance of m clusters has a relative variance of 2 / (m-1) + kurtosis / m, which is 2 / degrees. `taken` is the
    variance assumed for lone clusters, which is not estimated.
    """
    variances, free = [], []
    for table in tables:
        clusters, variance = table.clusters, sampling_variance(table)
        if variance > 0:
            sums, cases = table.rows.T
            squares = (sums - rate(table) * cases) ** 2
            kurtosis = float(clusters * (table.counts @ squares**2) / (table.counts @ squares) ** 2) - 3
            alone = cases.max() <= 1
            known = 2 / (clusters - 1) + (0.0 if alone else max(0.0, kurtosis) / clusters)
            variances.append(variance)
            free.append(2 / known)
    if not variances:
        return degrees_of_freedom(tables)
    known = math.fsum(v**2 / f for v, f in zip(variances, free, strict=True))
    return (taken + math.fsum(variances)) ** 2 / known


def cautious_variance(table: ClusterTable, level: float = 0.95) -> float:
    """Return the variance of a rate over new clusters, no smaller than with one more cluster of the rarer outcome.

    A single failure in twenty templates of twenty cases looks like independent cases, but it cannot show whether
    failures come in whole templates. 0 if all cases agree; Wilson's for one case if there is one cluster.
    """
    n, p = float(table.totals[-1]), rate(table)
    clusters = int(table.counts[table.rows[:, -1] > 0].sum())
    if clusters == 1:
        low, high = wilson(p, 1, level)
        return ((high - low) / 2 / normal_quantile(level)) ** 2
    passes, sizes = table.rows.T
    seen = sampling_variance(table)
    if not seen > 0:
        return 0.0
    # At one half, both ways are the rarer one: pass and fail must stay mirror images.
    rarer = [way for way, share in ((passes, p), (sizes - passes, 1 - p)) if share <= 0.5 + 1e-12]
    return max(seen, *(_design_effect(way, table, n / clusters) * p * (1 - p) / n for way in rarer))


def _design_effect(rarer: Floats, table: ClusterTable, size: float) -> float:
    """Return how many times more a rate varies than of independent cases, with one more cluster of this size."""
    added = math.sqrt((size**2 + table.counts @ rarer**2) / (1 + table.counts[rarer > 0].sum()))
    rows = np.vstack([np.column_stack([rarer, table.rows[:, -1]]), [added, max(size, added)]])
    widened = ClusterTable(rows, np.append(table.counts, 1))
    share = rate(widened)
    return sampling_variance(widened) * float(widened.totals[-1]) / (share * (1 - share))


def paired_difference_interval(table: ClusterTable) -> Interval:
    """Return an interval for the difference of two models on the same clustered cases; NaN without any.

    A t interval after adding two clusters, one that only A passes and one that only B passes: Bonett & Price (2012)
    for clusters. So twenty cases without a difference do not prove equality.
    """
    return macro_difference_interval([table])


def macro_difference_interval(tables: Sequence[ClusterTable], shared: float = 1.0) -> Interval:
    """Return an interval for the mean over functionalities of paired differences; NaN if one has no common case.

    Variances add up (Satterthwaite); the two clusters are added once, to the mean. `shared` is `resampling.sharing`.
    """
    low, high = paired_t(tables, shared).interval()
    return UNDEFINED if math.isnan(low) else (max(-1.0, low), min(1.0, high))


@dataclass(frozen=True, slots=True)
class Student:
    """Middle, standard error and degrees of freedom of a t interval."""

    middle: float
    error: float
    degrees: float

    def interval(self, level: float = 0.95) -> Interval:
        """Return middle ± t · error; NaN if one of them is."""
        reach = t_quantile(level, self.degrees) * self.error
        return self.middle - reach, self.middle + reach


def paired_t(tables: Sequence[ClusterTable], shared: float = 1.0) -> Student:
    """Return middle, error and degrees of freedom of `macro_difference_interval`, for tests and power."""
    differences = [difference(table) for table in tables]
    if any(math.isnan(each) for each in differences):
        return Student(math.nan, math.nan, math.nan)
    if len(tables) == 1:
        widened = _with_two_more(tables[0])
        return Student(difference(widened), math.sqrt(sampling_variance(widened)), widened.clusters - 1)
    # A lone cluster does not show its own variance.
    varied = [table if table.clusters > 1 else _with_two_more(table) for table in tables]
    variance = shared * math.fsum(sampling_variance(table) for table in varied) / len(tables) ** 2
    cases = len(tables) ** 2 / math.fsum(1 / float(table.totals[-1]) for table in tables)
    size = _added_size(tables)
    # The two clusters cancel in the difference, add to its variance and take their part of the cases.
    shrunk = cases / (cases + 2 * size)
    middle = shrunk * math.fsum(differences) / len(tables)
    error = shrunk * math.sqrt(variance + 2 * (size / cases) ** 2)
    return Student(middle, error, degrees_of_freedom(varied) / shared + 2)


def _with_two_more(table: ClusterTable) -> ClusterTable:
    size = _added_size([table])
    extra = np.array([[size, 0.0, size], [0.0, size, size]])
    return ClusterTable(np.vstack([table.rows, extra]), np.append(table.counts, [1, 1]))


def _added_size(tables: Sequence[ClusterTable]) -> float:
    """Return the root mean square of the differences clusters show, and of a whole cluster of average size."""
    cases = math.fsum(float(table.totals[-1]) for table in tables)
    whole = cases / sum(int(table.counts[table.rows[:, -1] > 0].sum()) for table in tables)
    squares = [(table.rows[:, 0] - table.rows[:, 1]) ** 2 for table in tables]
    total = math.fsum(float(table.counts @ each) for table, each in zip(tables, squares, strict=True))
    changed = sum(int(table.counts[each > 0].sum()) for table, each in zip(tables, squares, strict=True))
    return math.sqrt((whole**2 + total) / (1 + changed))


def sum_t(values: Sequence[ArrayLike], clusters: Sequence[ArrayLike], weights: Sequence[float]) -> Student:
    """Return middle, error and degrees of a t interval for Σ weight · mean of paired differences by group.

    Groups may share clusters, as the cells of a text do. Only the clusters vary, not which groups there are. As in
    `paired_difference_interval`, two clusters are added to each set of groups that share clusters.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in values]
    names = [np.asarray(owners) for owners in clusters]
    # fsum: the same number whatever the order of cases.
    means = [math.fsum(group) / len(group) for group in groups]
    middle = math.fsum(weight * mean for weight, mean in zip(weights, means, strict=True)) + 0.0
    apart = [
        weight * (group - mean) / len(group)
        for weight, group, mean in zip(weights, groups, means, strict=True)
    ]
    pulls = sum_by_cluster([np.concatenate(apart)], np.concatenate(names))[:, 0]
    added = [
        math.fsum(abs(weights[number]) / (len(groups[number]) + 2) for number in members)
        for members in _sharing(names)
    ]
    squares = math.fsum([*(pulls**2).tolist(), *(2 * size**2 for size in added)])
    degrees = float(len(pulls) + len(added))
    return Student(middle, math.sqrt(squares * (len(pulls) + 2 * len(added)) / degrees), degrees)


def _sharing(names: Sequence[NDArray[np.int64]]) -> list[list[int]]:
    """Return the groups, by number, in sets whose members share clusters."""
    sets: list[tuple[set[int], list[int]]] = []
    for number, owners in enumerate(names):
        held, members = set(owners.tolist()), [number]
        for other in [each for each in sets if each[0] & held]:
            sets.remove(other)
            held, members = held | other[0], other[1] + members
        sets.append((held, members))
    return [members for _, members in sets]


def mean_t_interval(values: ArrayLike) -> Interval:
    """Return Student's interval for a mean, such as a score over runs; NaN for one value."""
    sample = np.asarray(values, dtype=np.float64)
    n = len(sample)
    if n < 2:
        return UNDEFINED
    reach = t_quantile(0.95, n - 1) * float(sample.std(ddof=1)) / math.sqrt(n)
    middle = float(sample.mean())
    return middle - reach, middle + reach


def within(interval: Interval, low: float, high: float) -> Interval:
    """Return an interval cut at the smallest and largest possible value of its measure; NaN stays NaN."""
    return interval if math.isnan(interval[0]) else (max(low, interval[0]), min(high, interval[1]))


def largest_sd(n: int) -> float:
    """Return the largest standard deviation that n shares can have: half of them 0, half 1."""
    return 0.5 * math.sqrt(n / (n - 1)) if n > 1 else math.nan


def sd_interval(sd: float, n: int) -> Interval:
    """Return the chi-square interval for a standard deviation over n runs; NaN for n < 2."""
    if n < 2:
        return UNDEFINED
    # chdtri takes the upper tail.
    tail = (1 - 0.95) / 2
    low, high = (math.sqrt((n - 1) / scipy.special.chdtri(n - 1, upper)) for upper in (tail, 1 - tail))
    return sd * low, sd * high


def percentile_interval(
    replicates: ArrayLike, level: float = 0.95, *, degrees: float | None = None
) -> Interval:
    """Return the middle `level` of bootstrap replicates; NaN replicates are left out.

    `degrees` asks for the tails that a t distribution has at the usual quantiles: Hesterberg's (2015) expanded
    percentile. Without it 20 clusters cover some 92 % instead of 95.
    """
    z = t_quantile(level, degrees) if degrees is not None else normal_quantile(level)
    defined = _defined(replicates)
    if not len(defined) or math.isnan(z):
        return UNDEFINED
    low, high = np.quantile(defined, scipy.special.ndtr([-z, z]))
    return float(low), float(high)


def replicate_t_interval(estimate: float, replicates: ArrayLike, degrees: float) -> Interval:
    """Return Student's interval from the SD of bootstrap replicates without NaN (Hesterberg 2015, section 4).

    For few units: the replicates of three terms cannot leave the range of the three.
    """
    defined = _defined(replicates)
    reach = t_quantile(0.95, degrees) * float(defined.std()) if len(defined) else float("nan")
    return estimate - reach, estimate + reach


def in_agreement(interval: Interval, p: float, level: float = 0.95) -> Interval:
    """Return the interval of a difference, reaching to 0 where its test does not reject.

    An exact test of few cases is more careful than an interval: five of five give p = .0625.

    >>> in_agreement((0.015, 1.0), 0.0625), in_agreement((0.1, 1.0), 0.03)
    ((0.0, 1.0), (0.1, 1.0))
    """
    low, high = interval
    return interval if p <= 1 - level else (min(0.0, low), max(0.0, high))


def p_where(excludes: Callable[[float], bool]) -> float:
    """Return the p value of the test that an interval makes: one minus the highest level that excludes the null."""
    if excludes(1 - SMALLEST_P):
        return SMALLEST_P
    below, above = math.log(SMALLEST_P), 0.0
    while above - below > 1e-6:
        middle = (below + above) / 2
        below, above = (below, middle) if excludes(1 - math.exp(middle)) else (middle, above)
    return math.exp(above)


def normal_quantile(level: float) -> float:
    """Return z for a two-sided interval: 1.96 at level .95."""
    return float(scipy.special.ndtri((1 + level) / 2))


def t_quantile(level: float, degrees: float) -> float:
    """Return t for a two-sided interval: 2.776 at level .95 with 4 degrees of freedom; NaN with none."""
    return float(scipy.special.stdtrit(degrees, (1 + level) / 2)) if degrees > 0 else float("nan")


def _defined(replicates: ArrayLike) -> Floats:
    values = np.asarray(replicates, dtype=np.float64)
    return values[~np.isnan(values)]

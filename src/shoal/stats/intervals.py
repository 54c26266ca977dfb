"""Intervals for proportions, means and spreads, and from replicates (`docs/method/beyond.md` 7.2 and 7.6).

    one proportion of independent cases          wilson
    one proportion of clustered cases            cluster_wilson
    a paired difference of two models            paired_difference_interval
    a macro mean, G, or anything else            percentile_interval of replicates
    a mean or SD over a few runs                 mean_t_interval, sd_interval

The first three never collapse to a point: twenty passes of twenty are not certainty,
though every bootstrap of them is 20/20. Replicates do collapse; measured coverage is in
docs/studies/interval-coverage.md.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .resampling import ClusterTable, difference, rate, sampling_variance

Interval = tuple[float, float]

UNDEFINED: Interval = (float("nan"), float("nan"))


def wilson(passes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's interval for a proportion of n independent cases (`docs/method/beyond.md` 7.2); NaN for n = 0.

    n may be an effective number of cases, and then need not be whole.

    >>> [round(end, 4) for end in wilson(9, 10)]
    [0.5958, 0.9821]
    """
    _check_proportion(passes, n)
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


def cluster_wilson(table: ClusterTable, level: float = 0.95) -> Interval:
    """Wilson's interval for a pass rate of clustered cases; NaN if none applies.

    It is taken on the effective number of cases: as many independent ones as have the variance seen
    between clusters, at most the number of cases, and lowered to the t quantile because that variance
    is itself estimated (Korn & Graubard 1998). When all cases pass or all fail there is no variance to
    see, and the clusters are counted instead. Where each cluster has one case this is `wilson`.

    >>> from .resampling import cluster_table
    >>> together = cluster_table([1] * 15 + [0] * 5, clusters=[i // 5 for i in range(20)])
    >>> [round(end, 2) for end in cluster_wilson(together)]
    [0.13, 0.98]
    >>> [round(end, 2) for end in wilson(15, 20)]
    [0.53, 0.89]
    """
    passes, n = (float(total) for total in table.totals)
    _check_proportion(passes, n)
    if n == 0:
        return UNDEFINED
    if table.rows[:, -1].max() <= 1:
        return wilson(passes, n, level)
    clusters = int(table.counts[table.rows[:, -1] > 0].sum())
    variance = sampling_variance(table)
    p = rate(table)
    if passes in (0, n) or clusters < 2:
        effective = float(clusters)
    else:
        independent = p * (1 - p) / variance if variance > 0 else n
        effective = min(n, independent) * (normal_quantile(level) / t_quantile(level, clusters - 1)) ** 2
    return wilson(p * effective if passes < n else effective, effective, level)


def macro_wilson(tables: Sequence[ClusterTable], level: float = 0.95) -> Interval:
    """An interval for a macro mean of rates, from their Wilson intervals (Zou & Donner 2008, "MOVER").

    The distances of the rates from their own ends add up as variances do. For functionalities that pass, or fail,
    every case: drawing those again gives the same rate each time, as if it were known exactly.

    >>> from .resampling import cluster_table
    >>> [round(end, 3) for end in macro_wilson([cluster_table([1] * 20), cluster_table([0] * 20)])]
    [0.419, 0.581]
    """
    ordered = sorted(tables, key=lambda table: table.content)  # so that rounding cannot tell the order either
    rates = np.array([rate(table) for table in ordered])
    ends = np.array([cluster_wilson(table, level) for table in ordered])
    below, above = np.sqrt(((rates[:, None] - ends) ** 2).sum(axis=0)) / len(rates)
    middle = float(rates.mean())
    return middle - float(below), middle + float(above)


def paired_difference_interval(table: ClusterTable, level: float = 0.95) -> Interval:
    """An interval for the difference of two models on the same clustered cases; NaN without any.

    A t interval after adding two clusters, one that only A passes and one that only B passes: Bonett &
    Price (2012) for clusters. Twenty cases without a difference are no proof that there is none, though
    every bootstrap of them says 0. The added clusters are as large as the differences between A and B
    are where there are any, and as a whole cluster where there are none. Exchanging A and B exchanges
    the ends.

    >>> from .resampling import paired_table
    >>> [round(end, 3) for end in paired_difference_interval(paired_table([1] * 20, [1] * 20))]
    [-0.137, 0.137]
    """
    if math.isnan(difference(table)):
        return UNDEFINED
    size = _added_size(table)
    extra = np.array([[size, 0.0, size], [0.0, size, size]])
    widened = ClusterTable(np.vstack([table.rows, extra]), np.append(table.counts, [1, 1]))
    middle = difference(widened)
    reach = t_quantile(level, widened.clusters - 1) * math.sqrt(sampling_variance(widened))
    return max(-1.0, middle - reach), min(1.0, middle + reach)


def _added_size(table: ClusterTable) -> float:
    """Root mean square of the differences clusters show, and of a whole cluster of average size."""
    passes_a, passes_b, applicable = table.rows.T
    whole = table.totals[-1] / table.counts[applicable > 0].sum()
    squares = (passes_a - passes_b) ** 2
    return math.sqrt((whole**2 + table.counts @ squares) / (1 + table.counts[squares > 0].sum()))


def mean_t_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Student's interval for a mean, such as a score over runs (`docs/method/beyond.md` 7.6); NaN for one value.

    >>> [round(end, 3) for end in mean_t_interval([1, 2, 3, 4, 5])]
    [1.037, 4.963]
    """
    sample = np.asarray(values, dtype=np.float64)
    n = len(sample)
    if n < 2:
        _checked(level)
        return UNDEFINED
    reach = t_quantile(level, n - 1) * float(sample.std(ddof=1)) / math.sqrt(n)
    middle = float(sample.mean())
    return middle - reach, middle + reach


def sd_interval(sd: float, n: int, level: float = 0.95) -> Interval:
    """The chi-square interval for a standard deviation over n runs (`docs/method/beyond.md` 7.6); NaN for n < 2.

    >>> [round(end, 3) for end in sd_interval(1.0, 5)]
    [0.599, 2.874]
    """
    if sd < 0:
        raise ValueError(f"a standard deviation is not negative; got {sd}")
    tail = (1 - _checked(level)) / 2
    if n < 2:
        return UNDEFINED
    # chdtri takes the upper tail.
    low, high = (math.sqrt((n - 1) / special.chdtri(n - 1, upper)) for upper in (tail, 1 - tail))
    return sd * low, sd * high


def percentile_interval(
    replicates: ArrayLike, level: float = 0.95, *, degrees: float | None = None
) -> Interval:
    """The middle `level` of bootstrap replicates (`docs/method/beyond.md` 7.2); NaN replicates are left out.

    `degrees` (see `resampling.degrees_of_freedom`) asks for the tails that a t distribution has at the
    usual quantiles: Hesterberg's (2015) expanded percentile. Without it 20 clusters cover some 92 %
    instead of 95.

    >>> percentile_interval(np.arange(1001) / 1000)
    (0.025, 0.975)
    >>> [round(end, 3) for end in percentile_interval(np.arange(1001) / 1000, degrees=19)]
    [0.018, 0.982]
    """
    z = t_quantile(level, degrees) if degrees is not None else normal_quantile(level)
    defined = _defined(replicates)
    if not len(defined) or math.isnan(z):
        return UNDEFINED
    low, high = np.quantile(defined, special.ndtr([-z, z]))
    return float(low), float(high)


def normal_quantile(level: float) -> float:
    """z for a two-sided interval: 1.96 at level .95."""
    return float(special.ndtri((1 + _checked(level)) / 2))


def t_quantile(level: float, degrees: float) -> float:
    """t for a two-sided interval: 2.776 at level .95 with 4 degrees of freedom; NaN with none."""
    return float(special.stdtrit(degrees, (1 + _checked(level)) / 2)) if degrees > 0 else float("nan")


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    return level


def _check_proportion(passes: float, n: float) -> None:
    if not 0 <= passes <= n:
        raise ValueError(f"passes lie between 0 and n; got {passes} of {n}")


def _defined(replicates: ArrayLike) -> "np.typing.NDArray[np.float64]":
    values = np.asarray(replicates, dtype=np.float64)
    return values[~np.isnan(values)]

"""Contributions of clusters of cases to a rate or a difference, and their variance (`docs/method/beyond.md` 7.2).

A cluster is an independent draw: a test case, a premise, an input text. Clusters with the same contribution (passes,
applicable cases) are interchangeable, so a table holds the distinct contributions and how many clusters have each.
Results do not depend on the order or the names of cases and functionalities.

Variances are unbiased: those of one cluster fewer (Rao & Wu 1988). A single cluster has no variance estimate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """The distinct contributions of clusters, sorted, and how many clusters have each.

    The last column of `rows` counts applicable cases; before it is a sum for a rate, two sums for a pair of models.
    """

    rows: Floats  # (distinct, columns)
    counts: NDArray[np.int64]  # (distinct,)

    @property
    def clusters(self) -> int:
        """Return the number of clusters, including those without an applicable case."""
        return int(self.counts.sum())

    @property
    def totals(self) -> Floats:
        return self.counts @ self.rows

    @property
    def content(self) -> tuple[int, bytes, bytes]:
        return (self.clusters, self.rows.tobytes(), self.counts.tobytes())


PASS, FAIL, ERROR = map(ord, "10e")


def hits_of(verdicts: str) -> Floats:
    """Return 1 for a pass, 0 for a fail, NaN for a case that does not apply or has no answer.

    >>> hits_of("10-e").tolist()
    [1.0, 0.0, nan, nan]
    """
    letters = np.frombuffer(verdicts.encode(), np.uint8)
    return np.where(letters == PASS, 1.0, np.where(letters == FAIL, 0.0, np.nan))


def errors_of(verdicts: str) -> NDArray[np.bool_]:
    """Return which cases have no answer."""
    errors: NDArray[np.bool_] = np.frombuffer(verdicts.encode(), np.uint8) == ERROR
    return errors


def cluster_table(values: ArrayLike, clusters: ArrayLike | None = None) -> ClusterTable:
    """Return what each cluster contributes to a rate or mean: (sum, applicable cases).

    A value is NaN if the test does not apply. Without `clusters` each case is its own.

    >>> table = cluster_table([1, 1, 0, 1, 1, float("nan")], clusters=["a", "a", "b", "b", "c", "c"])
    >>> table.rows.tolist(), table.counts.tolist()
    ([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0]], [1, 1, 1])
    >>> rate(table)
    0.8
    """
    column = np.asarray(values, np.float64)
    return _table([column], ~np.isnan(column), clusters)


def paired_table(values_a: ArrayLike, values_b: ArrayLike, clusters: ArrayLike | None = None) -> ClusterTable:
    """Return what each cluster contributes to a difference of two models: (sum of A, sum of B, applicable).

    A case that does not apply to either of the two counts for neither (`docs/method/beyond.md` 7.7).
    """
    a, b = np.asarray(values_a, np.float64), np.asarray(values_b, np.float64)
    return _table([a, b], ~(np.isnan(a) | np.isnan(b)), clusters)


def rate(table: ClusterTable) -> float:
    """Return passes over applicable cases; NaN when none applies."""
    total, applicable = table.totals
    return float(total / applicable) if applicable else float("nan")


def difference(table: ClusterTable) -> float:
    """Return the rate of A minus rate of B on the common applicable cases; NaN when there is none."""
    sum_a, sum_b, applicable = table.totals
    return float((sum_a - sum_b) / applicable) if applicable else float("nan")


def macro_mean(tables: Sequence[ClusterTable]) -> float:
    """Return the unweighted mean of the rates of functionalities (`docs/method/beluga.md` 1.5); NaN if one has none."""
    return float(np.mean([rate(table) for table in _in_order(tables)]))


def sampling_variance(table: ClusterTable) -> float:
    """Return the variance of the rate (or paired difference) over new clusters, linearised; NaN for one cluster.

    m/(m-1) Σ (sum_i - rate · applicable_i)² / applicable², the large-sample value of the bootstrap's.
    """
    m = table.clusters
    *columns, applicable = table.rows.T
    sums = columns[0] if len(columns) == 1 else columns[0] - columns[1]
    total = float(table.counts @ applicable)
    if m < 2 or total == 0:
        return float("nan")
    residual = sums - (table.counts @ sums) / total * applicable
    return float(m / (m - 1) * (table.counts @ residual**2) / total**2)


def degrees_of_freedom(tables: Sequence[ClusterTable]) -> float:
    """Return Satterthwaite's degrees of freedom of a macro mean; NaN if no functionality has two clusters."""
    known = [table for table in _in_order(tables) if table.clusters > 1]
    free = np.array([table.clusters - 1.0 for table in known])
    variance = np.array([sampling_variance(table) for table in known])
    if not np.nansum(variance):
        return float(free.sum()) if known else float("nan")
    return float(np.nansum(variance) ** 2 / np.nansum(variance**2 / free))


def sharing(clusters: Sequence[ArrayLike], values: Sequence[ArrayLike]) -> float:
    """Return how many times more a macro mean varies because functionalities share clusters; at least 1.

    One list per functionality: the cluster of each case and its value, NaN where it has none. A lone cluster does not
    show how it pulls; it is taken to go with the other lone ones of its name.
    """
    # Every sum is exact (fsum): the same number, but for its sign, whatever the order and names of cases and clusters.
    samples = [
        (np.asarray(names), np.asarray(column, np.float64))
        for names, column in zip(clusters, values, strict=True)
    ]
    samples = [(names[~np.isnan(column)], column[~np.isnan(column)]) for names, column in samples]
    samples = [(names, column) for names, column in samples if len(column)]
    found = [np.unique(names, return_inverse=True) for names, _ in samples]
    owners = [own for own, _ in found]
    if not owners or len(np.unique(every := np.concatenate(owners))) == len(every):
        return 1.0
    pulls = [
        _sums_of(places, column - math.fsum(column) / len(column)) / len(column)
        if len(own) > 1
        else np.full(1, np.nan)
        for (own, places), (_, column) in zip(found, samples, strict=True)
    ]
    pulled = np.concatenate(pulls)
    lone = np.isnan(pulled)
    known = np.concatenate([column for _, column in samples])
    spread = math.sqrt(math.fsum((known - math.fsum(known) / len(known)) ** 2) / len(known))
    pulled = np.where(lone, spread, pulled)
    if not (np.abs(pulled) > 1e-12).any():  # nothing varies: as if every cluster pulled by its share
        pulled = np.concatenate([np.full(len(own), 1 / len(own)) for own in owners])
    _, codes = np.unique(every, return_inverse=True)
    # Lone clusters keep to themselves: their sign is not known.
    joint = [_sums_of(codes, np.where(kind, pulled, 0.0)) ** 2 for kind in (lone, ~lone)]
    return max(1.0, math.fsum(np.concatenate(joint)) / math.fsum(pulled**2))


def _sums_of(codes: NDArray[np.int64], values: Floats) -> Floats:
    """Return the sum of the values of each code, 0, 1, 2 and so on, each exact."""
    ordered = values[np.argsort(codes, kind="stable")].tolist()
    ends = np.cumsum(np.bincount(codes)).tolist()
    return np.array([math.fsum(ordered[start:end]) for start, end in zip([0, *ends], ends, strict=False)])


def _table(
    columns: Sequence[Floats], applicable: NDArray[np.bool_], clusters: ArrayLike | None
) -> ClusterTable:
    """Sum the columns by cluster and keep the distinct rows."""
    masked = [np.where(applicable, column, 0.0) for column in columns]
    return ClusterTable(*distinct_rows(sum_by_cluster([*masked, applicable.astype(np.float64)], clusters)))


def sum_by_cluster(columns: Sequence[Floats], clusters: ArrayLike | None) -> Floats:
    """Return the sums of the columns, a row per cluster; without `clusters` each case is its own."""
    if clusters is None:
        return np.column_stack(columns) + 0.0  # + 0.0: no negative zeros among the sort keys
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    # Summed in the order of the values: floating-point sums must not depend on the order of cases.
    order = np.lexsort((*reversed(columns), index))
    sums: Floats = np.column_stack([np.bincount(index[order], weights=c[order]) for c in columns])
    return sums + 0.0


def distinct_rows(rows: Floats, times: NDArray[np.int64] | None = None) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows in lexicographic order, and how often each occurs (`times` gives multiplicities).

    Does what np.unique(axis=0) does, at a tenth of the time: that one compares rows as opaque records.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_first = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    starts = np.flatnonzero(is_first)
    counts = np.diff(np.append(starts, len(rows))) if times is None else np.add.reduceat(times[order], starts)
    return ordered[starts], counts.astype(np.int64)


def _in_order(tables: Sequence[ClusterTable]) -> list[ClusterTable]:
    return sorted(tables, key=lambda table: table.content)


def run_table(sides: Sequence[ArrayLike]) -> ClusterTable:
    """Return a table of single cases with, for each side, a sum per run and then a count per run.

    A side is a cases × runs matrix; NaN entries count for nothing.
    """
    columns: list[Floats] = []
    for side in sides:
        values = np.asarray(side, dtype=np.float64)
        columns += [*np.nan_to_num(values).T, *(~np.isnan(values)).astype(np.float64).T]
    return ClusterTable(*distinct_rows(sum_by_cluster(columns, None)))

"""Texts by cells by seeds: what was right, and what follows from it for new texts and new seeds.

The same text stands in three cells, so cells are not independent: whole texts (or all texts of one premise) are drawn
again, and every quantity is computed from the cells of each draw. Two or three seeds drawn again would never leave
their range: their part is Student's t, beside the texts' (`docs/method/cood.md` 3.7 and `beyond.md` 7.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.records import Case, Outcome
from ...stats.intervals import Interval, cluster_wilson, percentile_interval
from ...stats.reliability import VarianceComponents, variance_components
from ...stats.resampling import ClusterTable, cluster_table
from ...stats.seeds import IntervalAt, composed, error_of_mean
from .cells import CELLS, KINDS, ROLES, Kind, cells_of

Floats = NDArray[np.float64]
Weights = Mapping[str, float]
"""Column to its weight in a quantity."""

FLIPS = {role: f"flips {role}" for role in ROLES}
COLUMNS = (*CELLS, *FLIPS.values())
"""The nine cells, then for each class of text whether its answer differs between the fst and the sec template."""
SIDE: dict[str, str] = {**{cell: cell.partition("/")[0] for cell in CELLS}, **{FLIPS[r]: r for r in ROLES}}
"""Column to the class of its texts."""

KIND_WEIGHTS: dict[Kind, Weights] = {
    kind: dict.fromkeys(cells_of(kind), 1 / len(cells_of(kind))) for kind in KINDS
}
GAP: Weights = {**KIND_WEIGHTS["ID"], **{cell: -weight for cell, weight in KIND_WEIGHTS["COOD"].items()}}
"""ID less COOD."""
BEYOND: Weights = {**KIND_WEIGHTS["COOD"], "fst/fst": 0.5, "sec/sec": 0.5}
"""With -1 beside it: COOD less what the shortcut alone gets there, which is what it gets wrong of fst/fst and sec/sec.

Whoever never looks at the template gives a text one answer, right with one of the two words and wrong with the other.
"""
HALF: Weights = {**KIND_WEIGHTS["COOD"], "fst/fst": 0.25, "sec/sec": 0.25}
"""With -1 beside it: what is beyond the shortcut, less half of the most there could be, mean(fst/fst, sec/sec)."""
SENSITIVITY: dict[str, Weights] = {
    "all": dict.fromkeys(FLIPS.values(), 1 / 3),
    "fst, sec": {FLIPS["fst"]: 0.5, FLIPS["sec"]: 0.5},
    **{role: {FLIPS[role]: 1.0} for role in ROLES},
}
SIGNED_SENSITIVITY: dict[str, Weights] = {
    "fst": {"fst/fst": 1.0, "fst/sec": 1.0}, "sec": {"sec/sec": 1.0, "sec/fst": 1.0},
}  # fmt: skip
"""With -1 beside it: texts whose answer the word turns the right way, less those that it turns the wrong way.

The mean of both is what is beyond the shortcut.
"""


@dataclass(frozen=True)
class Grid:
    """What was right: 1, 0, or NaN where a text is not in a cell or got no answer."""

    values: Floats  # (texts, columns, seeds)
    y: tuple[str, ...]  # (texts,) the class of each
    clusters: tuple[str, ...]  # (texts,)

    @property
    def seeds(self) -> int:
        """How many trainings."""
        return int(self.values.shape[2])

    @cached_property
    def rates(self) -> dict[str, float]:
        """The mean of each column over texts and seeds; NaN where nothing was answered."""
        sums, counts = np.nansum(self.values, axis=(0, 2)), (~np.isnan(self.values)).sum(axis=(0, 2))
        means = np.divide(sums, counts, out=np.full(len(COLUMNS), np.nan), where=counts > 0)
        return dict(zip(COLUMNS, means.tolist(), strict=True))

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many answers each column rests on."""
        return dict(zip(COLUMNS, (~np.isnan(self.values)).sum(axis=(0, 2)).tolist(), strict=True))

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The number of each text's cluster."""
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self.clusters))}
        return np.array([numbers[cluster] for cluster in self.clusters], np.int64)

    @cached_property
    def rates_by_seed(self) -> Floats:
        """The mean of each column for each seed: (columns, seeds)."""
        counts = (~np.isnan(self.values)).sum(axis=0)
        sums = np.nansum(self.values, axis=0)
        rates: Floats = np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
        return rates

    def by_seed(self, weights: Weights) -> Floats:
        """A quantity for each seed; NaN where a seed has no answer in one of its columns."""
        rates = self.rates_by_seed[[COLUMNS.index(column) for column in weights]]
        quantity: Floats = np.array(list(weights.values())) @ rates
        return quantity

    def table(self, column: str) -> ClusterTable:
        """What each cluster of texts has in a column, all seeds together."""
        values = self.values[:, COLUMNS.index(column)]
        asked = ~np.isnan(values).all(axis=1)
        return cluster_table(values[asked].ravel(), np.repeat(self.owners[asked], self.seeds))


def grid_of(cases: Sequence[Case], runs: Sequence[Mapping[str, bool | None]]) -> Grid:
    """The cases of one split by text and cell; for each run, whether each case (by id) was right.

    Texts that some runs were not asked have NaN there.
    """
    place: dict[str, int] = {}
    y, clusters = [], []
    for case in cases:
        if case.meta["text"] not in place:
            place[case.meta["text"]] = len(place)
            y.append(case.groups["cell"].partition("/")[0])
            clusters.append(case.cluster)
    values = np.full((len(place), len(COLUMNS), len(runs)), np.nan)
    for case in cases:
        row, column = place[case.meta["text"]], COLUMNS.index(case.groups["cell"])
        for seed, right in enumerate(runs):
            passed = right.get(case.id)
            values[row, column, seed] = np.nan if passed is None else float(passed)
    for role in ROLES:
        first, second = (values[:, COLUMNS.index(f"{role}/{t}")] for t in ("fst", "sec"))
        # Texts of fst and sec have one right answer for each template: alike in being right is unlike in answer.
        differs = first != second if role == "neu" else first == second
        values[:, COLUMNS.index(FLIPS[role])] = np.where(np.isnan(first + second), np.nan, differs)
    return Grid(values, tuple(y), tuple(clusters))


def right_of(outcomes: Sequence[Outcome]) -> dict[str, bool | None]:
    """By case: whether it was right."""
    return {outcome.case_id: outcome.passed for outcome in outcomes}


def weighted(rates: Mapping[str, float], weights: Weights) -> float:
    """A quantity from its columns; NaN if one of them is."""
    return sum(weight * rates[column] for column, weight in weights.items())


# Drawing again


def replicates(grid: Grid, resamples: int, rng: Generator) -> Floats:
    """The mean of each column over the seeds that there are, per draw of texts: (resamples, columns).

    Texts are drawn within their class, one fewer than there are, as everywhere in `stats.resampling`.
    """
    sums, totals = (np.zeros((resamples, len(COLUMNS))) for _ in range(2))
    for rows in _strata(grid):
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        clusters = int(counts.sum())
        number = max(1, clusters - 1)
        draws = rng.multinomial(number, counts / clusters, size=resamples) * (clusters / number)
        both = (draws @ distinct).reshape(resamples, 2, len(COLUMNS))
        sums += both[:, 0]
        totals += both[:, 1]
    means: Floats = np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0)
    return means


def _strata(grid: Grid) -> list[Floats]:
    """A row per cluster, sums then counts, in one table for each combination of classes that clusters have."""
    owners = grid.owners
    sums, counts = np.nansum(grid.values, axis=2), (~np.isnan(grid.values)).sum(axis=2)
    rows = np.zeros((int(owners.max()) + 1, 2 * len(COLUMNS)))
    np.add.at(rows, owners, np.concatenate([sums, counts.astype(np.float64)], axis=1))
    classes: dict[int, list[str]] = {}
    for cluster, y in zip(owners.tolist(), grid.y, strict=True):
        classes.setdefault(cluster, []).append(y)
    strata: dict[tuple[str, ...], list[int]] = {}
    for cluster, members in classes.items():
        strata.setdefault(tuple(sorted(members)), []).append(cluster)
    return [rows[members] for _, members in sorted(strata.items())]


def drawn(draws: Floats, weights: Weights) -> Floats:
    """A quantity in every draw."""
    columns = [COLUMNS.index(column) for column in weights]
    quantity: Floats = draws[:, columns] @ np.array(list(weights.values()))
    return quantity


# Intervals


@dataclass(frozen=True, slots=True)
class Known:
    """How well a quantity is known."""

    interval: Interval | None = None
    """For new texts; with several seeds also for new seeds."""
    method: str = ""
    these_runs: Interval | None = None
    """With several seeds: for these very trainings on new texts."""
    not_estimable: bool = False
    """The seeds are so few, or differ so much, that nothing is excluded."""


def known(grid: Grid, draws: Floats, weights: Weights) -> Known:
    """An interval for a quantity: Student's t over seeds beside texts (`stats.seeds`)."""
    by_seed = grid.by_seed(weights)
    if np.isnan(by_seed).any():
        return Known()
    method = texts_method(grid, draws, weights)

    @cache
    def over_texts(level: float) -> Interval:
        return texts_interval(grid, draws, weights, method, level)

    return over_seeds(weighted(grid.rates, weights), over_texts, by_seed, method, bounds(weights))


def over_seeds(value: float, over_texts: IntervalAt, by_seed: Floats, method: str, limits: Interval) -> Known:
    """What is known of a quantity from its interval over texts and its value for each seed."""
    these_runs = over_texts(0.95)
    if np.isnan(these_runs[0]):
        return Known()
    if len(by_seed) == 1:
        return Known(these_runs, method)
    low, high = composed(value, over_texts, error_of_mean(by_seed))
    whole = low <= limits[0] and high >= limits[1]
    return Known((max(low, limits[0]), min(high, limits[1])), f"seeds t, {method}", these_runs, whole)


def bounds(weights: Weights) -> Interval:
    """The least and the most that a quantity can be."""
    parts = np.array(list(weights.values()))
    return float(np.minimum(parts, 0).sum()), float(np.maximum(parts, 0).sum())


def texts_method(grid: Grid, draws: Floats, weights: Weights) -> str:
    """How an interval over texts is made.

    A cell in which everything is right, or wrong, gives the same however its texts are drawn: where there is one, or
    where no draw differs from another, Wilson's intervals are put together.
    """
    if len(weights) == 1:
        return "wilson"
    still = any(grid.rates[column] in (0, 1) for column in weights) or np.ptp(drawn(draws, weights)) < 1e-12
    return "combined wilson" if still else "text bootstrap"


def texts_interval(grid: Grid, draws: Floats, weights: Weights, method: str, level: float) -> Interval:
    """An interval for a quantity of these trainings on new texts."""
    if method != "text bootstrap":
        return combined_wilson(grid, weights, level)
    degrees = float(max(1, int(grid.owners.max()) + 1 - len(ROLES)))
    return percentile_interval(drawn(draws, weights), level, degrees=degrees)


def combined_wilson(grid: Grid, weights: Weights, level: float = 0.95) -> Interval:
    """Wilson's intervals of the columns put together (Zou & Donner 2008, "MOVER").

    Distances from the rates to the ends add up as variances do between classes of texts, and plainly within one: the
    same texts may be wrong in both cells. Texts that share a premise, and several seeds on one text, are a cluster.
    """
    rates = grid.rates
    middle = weighted(rates, weights)
    below, above = dict.fromkeys(ROLES, 0.0), dict.fromkeys(ROLES, 0.0)
    for column, weight in weights.items():
        low, high = cluster_wilson(grid.table(column), level)
        down, up = rates[column] - low, high - rates[column]
        below[SIDE[column]] += abs(weight) * (down if weight > 0 else up)
        above[SIDE[column]] += abs(weight) * (up if weight > 0 else down)
    reach = [float(np.sqrt(sum(part**2 for part in side.values()))) for side in (below, above)]
    return middle - reach[0], middle + reach[1]


def components(grid: Grid, weights: Weights) -> VarianceComponents | None:
    """Where the variance of a quantity comes from, seeds or texts (`docs/method/beyond.md` 7.3); None with one seed.

    Of what each text adds to the quantity, less the mean of its class: the classes are fixed, not drawn.
    """
    if grid.seeds < 2:
        return None
    added = np.zeros((len(grid.y), grid.seeds))
    for column, weight in weights.items():
        of_class = np.array([y == SIDE[column] for y in grid.y])
        added[of_class] += (
            weight * grid.values[of_class, COLUMNS.index(column)] * len(grid.y) / of_class.sum()
        )
    used = np.isin(grid.y, [SIDE[column] for column in weights]) & ~np.isnan(added).any(axis=1)
    for role in ROLES:
        of_class = used & np.array([y == role for y in grid.y])
        if of_class.any():
            added[of_class] -= added[of_class].mean()
    return variance_components(added[used]) if used.sum() > 1 else None

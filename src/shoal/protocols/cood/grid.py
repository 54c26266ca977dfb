"""Texts by cells by seeds: what was right, and what follows from it when texts and seeds are drawn again.

The same text stands in three cells, so cells are not independent: whole texts (or all texts of one premise) are drawn
again, and every quantity is computed from the cells of each draw (`docs/method/cood.md` 3.7 and `beyond.md` 7.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...records import Case, Outcome
from ...stats.intervals import Interval, percentile_interval, wilson
from ...stats.reliability import VarianceComponents, variance_components
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
SENSITIVITY: dict[str, Weights] = {
    "all": dict.fromkeys(FLIPS.values(), 1 / 3),
    "fst, sec": {FLIPS["fst"]: 0.5, FLIPS["sec"]: 0.5},
    **{role: {FLIPS[role]: 1.0} for role in ROLES},
}


@dataclass(frozen=True, slots=True)
class Grid:
    """What was right: 1, 0, or NaN where a text is not in a cell or got no answer."""

    values: Floats  # (texts, columns, seeds)
    y: tuple[str, ...]  # (texts,) the class of each
    clusters: tuple[str, ...]  # (texts,)

    @property
    def seeds(self) -> int:
        """How many trainings."""
        return int(self.values.shape[2])

    def rates(self) -> dict[str, float]:
        """The mean of each column over texts and seeds; NaN where nothing was answered."""
        sums, counts = np.nansum(self.values, axis=(0, 2)), (~np.isnan(self.values)).sum(axis=(0, 2))
        means = np.divide(sums, counts, out=np.full(len(COLUMNS), np.nan), where=counts > 0)
        return dict(zip(COLUMNS, means.tolist(), strict=True))

    def counts(self) -> dict[str, int]:
        """How many answers each column rests on."""
        return dict(zip(COLUMNS, (~np.isnan(self.values)).sum(axis=(0, 2)).tolist(), strict=True))


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
    column = {cell: at for at, cell in enumerate(CELLS)}
    for case in cases:
        row, at = place[case.meta["text"]], column[case.groups["cell"]]
        for seed, right in enumerate(runs):
            passed = right.get(case.id)
            values[row, at, seed] = np.nan if passed is None else float(passed)
    for role in ROLES:
        one, other = (values[:, column[f"{role}/{t}"]] for t in ("fst", "sec"))
        # Texts of fst and sec have one right answer for each template: alike in being right is unlike in answer.
        differs = one != other if role == "neu" else one == other
        values[:, COLUMNS.index(FLIPS[role])] = np.where(np.isnan(one + other), np.nan, differs)
    return Grid(values, tuple(y), tuple(clusters))


def right_of(outcomes: Sequence[Outcome]) -> dict[str, bool | None]:
    """By case: whether it was right."""
    return {outcome.case_id: outcome.passed for outcome in outcomes}


def weighted(rates: Mapping[str, float], weights: Weights) -> float:
    """A quantity from its columns; NaN if one of them is."""
    return sum(weight * rates[column] for column, weight in weights.items())


# Drawing again


def replicates(values: Floats, grid: Grid, resamples: int, rng: Generator) -> Floats:
    """The mean of each column per joint draw of texts and seeds: (resamples, columns).

    `values` is (texts, columns, seeds), in the order of the grid's texts. Texts are drawn within their class, one fewer
    than there are, as everywhere in `stats.resampling`; so are seeds.
    """
    columns, seeds = values.shape[1:]
    sums, totals = (np.zeros((resamples, columns, seeds)) for _ in range(2))
    for rows in _strata(values, grid):
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        clusters = int(counts.sum())
        drawn = max(1, clusters - 1)
        draws = rng.multinomial(drawn, counts / clusters, size=resamples) * (clusters / drawn)
        both = (draws @ distinct).reshape(resamples, 2, columns, seeds)
        sums += both[:, 0]
        totals += both[:, 1]
    weights = rng.multinomial(max(1, seeds - 1), np.full(seeds, 1 / seeds), size=resamples)[:, None, :]
    above, below = (sums * weights).sum(axis=2), (totals * weights).sum(axis=2)
    means: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return means


def _strata(values: Floats, grid: Grid) -> list[Floats]:
    """A row per cluster, sums then counts, in one table for each combination of classes that clusters have."""
    names = {cluster: at for at, cluster in enumerate(dict.fromkeys(grid.clusters))}
    owner = np.array([names[cluster] for cluster in grid.clusters], np.int64)
    flat = np.concatenate([np.nan_to_num(values), (~np.isnan(values)).astype(np.float64)], axis=1)
    rows = np.zeros((len(names), flat[0].size))
    np.add.at(rows, owner, flat.reshape(len(flat), -1))
    classes: dict[int, list[str]] = {}
    for at, y in zip(owner.tolist(), grid.y, strict=True):
        classes.setdefault(at, []).append(y)
    strata: dict[tuple[str, ...], list[int]] = {}
    for at, own in classes.items():
        strata.setdefault(tuple(sorted(own)), []).append(at)
    return [rows[members] for _, members in sorted(strata.items())]


def interval(grid: Grid, draws: Floats, weights: Weights) -> tuple[Interval | None, str]:
    """An interval for a quantity, and how it was made.

    A cell in which everything is right, or wrong, gives the same however its texts are drawn; with one seed, Wilson's
    intervals are put together where there is such a cell, and with several where no draw differs from another.
    """
    rates = grid.rates()
    if any(np.isnan(rates[column]) for column in weights):
        return None, ""
    if len(weights) == 1 and grid.seeds == 1:
        return combined_wilson(grid, weights), "wilson"
    quantity = drawn(draws, weights)
    certain = (
        any(rates[column] in (0, 1) for column in weights) if grid.seeds == 1 else np.ptp(quantity) < 1e-12
    )
    if certain:
        return combined_wilson(grid, weights), "combined wilson"
    low, high = percentile_interval(quantity, degrees=_degrees(grid, weights))
    how = "seeds and texts bootstrap" if grid.seeds > 1 else "text bootstrap"
    return (None, "") if np.isnan(low) else ((low, high), how)


def drawn(draws: Floats, weights: Weights, start: int = 0) -> Floats:
    """A quantity in every draw; `start` is where the grid's columns begin among those drawn."""
    columns = [start + COLUMNS.index(column) for column in weights]
    found: Floats = draws[:, columns] @ np.array(list(weights.values()))
    return found


def combined_wilson(grid: Grid, weights: Weights) -> Interval:
    """Wilson's intervals of the columns put together (Zou & Donner 2008, "MOVER").

    Distances from the rates to the ends add up as variances do between classes of texts, and plainly within one: the
    same texts may be wrong in both cells. Several seeds on one text count once.
    """
    rates, counts = grid.rates(), grid.counts()
    middle = weighted(rates, weights)
    below, above = dict.fromkeys(ROLES, 0.0), dict.fromkeys(ROLES, 0.0)
    for column, weight in weights.items():
        n = counts[column] / grid.seeds
        low, high = wilson(rates[column] * n, n)
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
        own = np.array([y == SIDE[column] for y in grid.y])
        added[own] += weight * grid.values[own, COLUMNS.index(column)] * len(grid.y) / own.sum()
    used = np.isin(grid.y, [SIDE[column] for column in weights]) & ~np.isnan(added).any(axis=1)
    for role in ROLES:
        own = used & np.array([y == role for y in grid.y])
        if own.any():
            added[own] -= added[own].mean()
    return variance_components(added[used]) if used.sum() > 1 else None


def _degrees(grid: Grid, weights: Weights) -> float | None:
    """How well the variance is known, for t quantiles: the more of it seeds make, the less a few of them say."""
    found = components(grid, weights)
    if found is None:
        return float(max(1, len(set(grid.clusters)) - len(ROLES)))
    share = found.shares_of_mean[0]
    if not share > 0:
        return None
    return (grid.seeds - 1) if share > 0.5 else (grid.seeds - 1) / share**2

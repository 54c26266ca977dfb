"""The nine cells, correct answers by text, cell and seed, and their intervals (`docs/method/cood.md` 3.7).

A cell is named by the class of the text and the class in the template (COOD, Table 2 and Figure 1). A text occurs in
three cells, so cells are dependent: the bootstrap resamples whole texts (or premises) and computes every quantity from
the cells of each resample. Two or three seeds are too few to resample: their part is Student's t.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.records import Case, Outcome
from ...stats.intervals import Interval, cluster_wilson, percentile_interval, within
from ...stats.resampling import cluster_table
from ...stats.seeds import composed, error_of_mean

Kind = Literal["ID", "COOD", "OOD"]

ROLES = ("fst", "sec", "neu")
"""The paper's names of the three classes. The word of the last is never trained on."""

CELLS: dict[str, Kind] = {
    "fst/fst": "ID", "sec/sec": "ID", "neu/fst": "ID", "neu/sec": "ID",
    "fst/sec": "COOD", "sec/fst": "COOD",
    "fst/neu": "OOD", "sec/neu": "OOD", "neu/neu": "OOD",
}  # fmt: skip
"""Cell to kind, in the order of the paper's table; training uses the ID cells."""

KINDS: tuple[Kind, ...] = ("ID", "COOD", "OOD")
CONSISTENT, INCONSISTENT = LABELS = ("consistent", "inconsistent")
"""The new labels: whether text and template agree."""


def cells_of(kind: Kind) -> list[str]:
    return [cell for cell, cell_kind in CELLS.items() if cell_kind == kind]


def target(cell: str) -> str:
    """Return the correct answer of a cell.

    >>> target("fst/fst"), target("fst/sec"), target("neu/neu")
    ('consistent', 'inconsistent', 'consistent')
    """
    text, _, template = cell.partition("/")
    return CONSISTENT if text == template else INCONSISTENT


Floats = NDArray[np.float64]
Weights = Mapping[str, float]
"""Cell to its weight in a quantity."""

COLUMNS = tuple(CELLS)
SIDE: dict[str, str] = {cell: cell.partition("/")[0] for cell in CELLS}
"""Cell to the class of its texts."""

KIND_WEIGHTS: dict[Kind, Weights] = {
    kind: dict.fromkeys(cells_of(kind), 1 / len(cells_of(kind))) for kind in KINDS
}
GAP: Weights = {**KIND_WEIGHTS["ID"], **{cell: -weight for cell, weight in KIND_WEIGHTS["COOD"].items()}}
"""ID minus COOD."""
BEYOND: Weights = {**KIND_WEIGHTS["COOD"], "fst/fst": 0.5, "sec/sec": 0.5}
"""Plus -1: COOD minus what the shortcut alone gets there, which is its error on fst/fst and sec/sec.

A model that ignores the template gives a text one answer, right with one of the two words and wrong with the other.
"""
HALF: Weights = {**KIND_WEIGHTS["COOD"], "fst/fst": 0.25, "sec/sec": 0.25}
"""Plus -1: beyond the shortcut minus half of its maximum, mean(fst/fst, sec/sec)."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A weighted sum of cells, plus a constant."""

    name: str
    groups: Mapping[str, str]
    """The cell or kind of an accuracy."""
    weights: Weights
    constant: float = 0.0


QUANTITIES = (
    *(Quantity("accuracy", {"kind": kind}, KIND_WEIGHTS[kind]) for kind in KINDS),
    Quantity("gap", {}, GAP),
    Quantity("beyond the shortcut", {}, BEYOND, -1.0),
)
MEASURED = (
    *(Quantity("accuracy", {"cell": cell, "kind": kind}, {cell: 1.0}) for cell, kind in CELLS.items()),
    *QUANTITIES,
)
RESAMPLES = 2_000


@dataclass(frozen=True)
class Grid:
    """Correct answers: 1, 0, or NaN where a text is not in a cell or has no answer."""

    values: Floats  # (texts, columns, seeds)
    y: tuple[str, ...]  # (texts,) the class of each
    clusters: tuple[str, ...]  # (texts,)
    errors: Mapping[str, int] = field(default_factory=dict)
    """Answers that failed, by cell."""

    @cached_property
    def counts(self) -> dict[str, int]:
        return dict(zip(COLUMNS, (~np.isnan(self.values)).sum(axis=(0, 2)).tolist(), strict=True))

    @cached_property
    def rates(self) -> dict[str, float]:
        """Return the mean of each cell over texts and seeds; NaN without answers."""
        means = ratio(np.nansum(self.values, axis=(0, 2)), np.array(list(self.counts.values())))
        return dict(zip(COLUMNS, means.tolist(), strict=True))

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Return the cluster number of each text."""
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self.clusters))}
        return np.array([numbers[cluster] for cluster in self.clusters], np.int64)

    def by_seed(self, weights: Weights) -> Floats:
        """Return a quantity for each seed; NaN if a seed has no answer in one of its cells."""
        values = self.values[:, [COLUMNS.index(column) for column in weights]]
        rates = ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))
        quantity: Floats = np.array(list(weights.values())) @ rates
        return quantity


def ratio(sums: Floats, counts: NDArray[Any]) -> Floats:
    """Return sums over counts; NaN where the count is 0."""
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def grid_of(cases: Sequence[Case], runs: Sequence[Sequence[Outcome]]) -> Grid:
    """Return the grid of the cases of one split from the outcomes of each run."""
    by_run = [{outcome.case_id: outcome for outcome in outcomes} for outcomes in runs]
    texts = {case.meta["text"]: case for case in cases}
    place = {text: number for number, text in enumerate(texts)}
    values = np.full((len(place), len(COLUMNS), len(runs)), np.nan)
    errors = dict.fromkeys(COLUMNS, 0)
    for case in cases:
        cell = case.groups["cell"]
        for run, outcomes in enumerate(by_run):
            outcome = outcomes.get(case.id)
            if outcome is not None and outcome.passed is not None:
                values[place[case.meta["text"]], COLUMNS.index(cell), run] = outcome.passed
            errors[cell] += bool(outcome and outcome.error)
    sides = tuple(SIDE[case.groups["cell"]] for case in texts.values())
    return Grid(values, sides, tuple(case.cluster for case in texts.values()), errors)


def weighted(rates: Mapping[str, float], weights: Weights) -> float:
    """Return a quantity from the rates of its cells; NaN if one is NaN."""
    return sum(weight * rates[column] for column, weight in weights.items())


# Bootstrap


def replicates(grid: Grid, rng: Generator, resamples: int = RESAMPLES) -> Floats:
    """Return the mean of each cell over the seeds, per bootstrap resample of texts: (resamples, cells).

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
    return ratio(sums, totals)


def _strata(grid: Grid) -> list[Floats]:
    """Return a table per combination of classes in a cluster, with a row per cluster: sums, then counts."""
    owners = grid.owners
    sums, counts = np.nansum(grid.values, axis=2), (~np.isnan(grid.values)).sum(axis=2)
    rows = np.zeros((int(owners.max()) + 1, 2 * len(COLUMNS)))
    np.add.at(rows, owners, np.concatenate([sums, counts.astype(np.float64)], axis=1))
    classes: list[list[str]] = [[] for _ in rows]
    for cluster, y in zip(owners.tolist(), grid.y, strict=True):
        classes[cluster].append(y)
    strata: dict[tuple[str, ...], list[int]] = {}
    for cluster, members in enumerate(classes):
        strata.setdefault(tuple(sorted(members)), []).append(cluster)
    return [rows[members] for _, members in sorted(strata.items())]


# Intervals


def estimate(grid: Grid, draws: Floats, weights: Weights) -> tuple[Interval | None, str]:
    """Return the interval of a quantity and its method; None if a run has no answer in one of its cells.

    One run: for new texts. Several: for new texts and new seeds, Student's t over seeds combined with texts.
    """
    by_seed = grid.by_seed(weights)
    if np.isnan(by_seed).any():
        return None, ""
    columns = [COLUMNS.index(column) for column in weights]
    in_draws: Floats = draws[:, columns] @ np.array(list(weights.values()))
    # The bootstrap fails if all answers of a cell are right or all are wrong; Wilson intervals are combined then.
    degenerate = any(grid.rates[column] in (0, 1) for column in weights) or np.ptp(in_draws) < 1e-12
    method = "wilson" if len(weights) == 1 else "combined wilson" if degenerate else "text bootstrap"
    degrees = float(max(1, int(grid.owners.max()) + 1 - len(ROLES)))

    @cache
    def over_texts(level: float) -> Interval:
        if method != "text bootstrap":
            return combined_wilson(grid, weights, level)
        return percentile_interval(in_draws, level, degrees=degrees)

    if np.isnan(over_texts(0.95)[0]):
        return None, ""
    if len(by_seed) == 1:
        return over_texts(0.95), method
    interval = composed(weighted(grid.rates, weights), over_texts, error_of_mean(by_seed))
    lowest, highest = (float(limit(list(weights.values()), 0).sum()) for limit in (np.minimum, np.maximum))
    return within(interval, lowest, highest), f"seeds t, {method}"


def combined_wilson(grid: Grid, weights: Weights, level: float = 0.95) -> Interval:
    """Combine the Wilson intervals of the cells (Zou & Donner 2008, "MOVER").

    Distances from rate to interval end add in squares between classes of texts, and linearly within a class, because
    the same texts may be wrong in both cells.
    """
    reach = np.zeros((len(ROLES), 2))
    for column, weight in weights.items():
        values = grid.values[:, COLUMNS.index(column)]
        asked = ~np.isnan(values).all(axis=1)
        table = cluster_table(values[asked].ravel(), np.repeat(grid.owners[asked], values.shape[1]))
        low, high = cluster_wilson(table, level)
        ends = grid.rates[column] - low, high - grid.rates[column]
        reach[ROLES.index(SIDE[column])] += np.abs(weight) * np.array(ends if weight > 0 else ends[::-1])
    below, above = np.sqrt((reach**2).sum(axis=0)).tolist()
    middle = weighted(grid.rates, weights)
    return middle - below, middle + above

"""What the best of several rows is worth where it is not measured by the very outcomes that made it the best.

The largest of many estimates is large by luck too ("winner's curse"; Efron 2011). So the row is picked on three
quarters of the cases, and without one of the seeds where there are several, and measured on the rest. The mean over
many such divisions is unbiased for the row that is picked so, whatever the rows have in common. With fewer cases one
picks a little worse than with all, so this errs on the modest side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from .paired import generalization_score
from .resampling import ClusterTable, run_tables

Floats = NDArray[np.float64]

DIVISIONS = 200
PART = 4
"""One in so many cases is measured on."""
TIES = 1e-12


@dataclass(frozen=True, slots=True)
class Picked:
    """The best of several rows, picked and measured on different cases."""

    best: int
    """Which row is the best on all cases and seeds, counted without the baseline."""
    as_measured: float
    """Its gain over the baseline on the outcomes it was picked by."""
    gain: float
    """The gain of the row that is picked, on cases and seeds that did not pick it."""
    share: float
    """How often the row that is picked is the one that all outcomes pick."""


def best_elsewhere(
    suite: Sequence[Sequence[ArrayLike]],
    iid: Sequence[ArrayLike],
    rng: Generator,
    clusters: Sequence[ArrayLike] | None = None,
    divisions: int = DIVISIONS,
) -> Picked:
    """The gain in G of the best row over the first, the baseline, corrected for its having been picked; NaN if unknown.

    `suite` has per row a cases × seeds matrix for each functionality, `iid` one matrix per row; seeds are paired.

    >>> rng = np.random.default_rng(0)
    >>> rows = [[(rng.random((60, 1)) < 0.7).astype(float)] for _ in range(9)]  # nothing differs but by chance
    >>> picked = best_elsewhere(rows, [row[0] for row in rows], rng)
    >>> round(picked.as_measured, 2), round(picked.gain, 2)
    (0.07, 0.04)
    """
    tables = run_tables(list(suite), clusters)
    (iid_table,) = run_tables([[matrix] for matrix in iid], None)
    rows, seeds = len(suite), int(np.shape(iid[0])[1])
    whole = _gains([table.totals[None] for table in tables], iid_table.totals[None], rows)[0].mean(axis=1)
    best = int(whole.argmax())
    # By content: neither the order nor the names of functionalities decide what is drawn.
    ordered = sorted(tables, key=lambda table: table.content)
    parts = [_divided(table, divisions, rng) for table in ordered]
    of_iid = _divided(iid_table, divisions, rng)
    measuring, picking = (
        _gains([part[side] for part in parts], of_iid[side], rows) for side in (0, 1)
    )  # each (divisions, rows - 1, seeds)
    left_out = np.eye(seeds)[rng.integers(seeds, size=divisions)][:, None]
    others = left_out if seeds == 1 else (1 - left_out) / (seeds - 1)
    chosen = _chosen((picking * others).sum(axis=2))
    gains = (chosen * (measuring * left_out).sum(axis=2)).sum(axis=1)
    known = ~np.isnan(gains)
    if not known.any():
        return Picked(best, float(whole[best]), float("nan"), float("nan"))
    return Picked(best, float(whole[best]), float(gains[known].mean()), float(chosen[known, best].mean()))


def _divided(table: ClusterTable, divisions: int, rng: Generator) -> tuple[Floats, Floats]:
    """The columns summed over some clusters drawn at random, and over the others: (divisions, columns) each."""
    some = -(-table.clusters // PART) if table.clusters > 1 else 0
    drawn = rng.multivariate_hypergeometric(table.counts, some, size=divisions, method="marginals")
    first: Floats = drawn @ table.rows
    return first, table.totals - first


def _gains(suite: Sequence[Floats], iid: Floats, rows: int) -> Floats:
    """What each row's G is above the first one's: (draws, rows - 1, seeds)."""
    first = _rates(iid, rows)
    total, defined = np.zeros_like(first), np.zeros_like(first)
    for totals in suite:
        rates = _rates(totals, rows)
        total += np.nan_to_num(rates)
        defined += ~np.isnan(rates)
    with np.errstate(invalid="ignore", divide="ignore"):
        score = generalization_score(total / defined, first)
    gains: Floats = score[:, 1:] - score[:, :1]
    return gains


def _rates(totals: Floats, rows: int) -> Floats:
    parts = totals.reshape(len(totals), rows, 2, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates: Floats = parts[:, :, 0] / parts[:, :, 1]
    return rates


def _chosen(gains: Floats) -> Floats:
    """Which row is largest, (divisions, rows) with weights that add up to 1: rows that tie share it."""
    largest = gains >= gains.max(axis=1, keepdims=True) - TIES
    shares: Floats = largest / largest.sum(axis=1, keepdims=True)
    return shares

"""Setups against each other on the same texts: models, K, words, templates, controls.

Over texts, what each text (or all texts of one premise) adds to the difference varies: a t interval (`stats.sums`).
Over seeds, Student's t of the differences by seed where both setups have the same seeds, which then share their
training texts and the start of their heads; else Welch's (`stats.seeds`). One run against several says nothing of a
recipe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stats.intervals import Interval
from ...stats.seeds import SeedError, composed, composed_p, error_of_difference, error_of_mean
from ...stats.sums import sum_t
from .grid import COLUMNS, Floats, Grid, Weights, bounds

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A quantity of one setup less that of another."""

    value: float
    n: int
    """Inputs that every run of both setups has an answer to."""
    interval: Interval | None
    """For new texts and new seeds; for one run a side for these two; None for one run against several."""
    these_runs: Interval
    """For these very trainings on new texts."""
    p: float | None


def on_common_inputs(new: Grid, old: Grid) -> tuple[Floats, Floats]:
    """Both sides where every run of both has an answer, NaN elsewhere."""
    answered = ~np.isnan(np.concatenate([new.values, old.values], axis=2)).any(axis=2, keepdims=True)
    return np.where(answered, new.values, np.nan), np.where(answered, old.values, np.nan)


def difference(new: Grid, old: Grid, weights: Weights, *, paired: bool) -> Difference | None:
    """A quantity of `new` less that of `old`, on the same texts in the same order; None where a cell has no answer.

    `paired`: seed k of both is the same.
    """
    columns = [COLUMNS.index(column) for column in weights]
    parts = np.array(list(weights.values()))
    sides = [side[:, columns] for side in on_common_inputs(new, old)]
    counts = (~np.isnan(sides[0][:, :, 0])).sum(axis=0)
    if not counts.all():
        return None
    by_seed = [parts @ (np.nansum(side, axis=0) / counts[:, None]) for side in sides]
    changes = sides[0].mean(axis=2) - sides[1].mean(axis=2)
    asked = ~np.isnan(changes)
    texts = sum_t(
        [changes[rows, column] for column, rows in enumerate(asked.T)],
        [new.owners[rows] for rows in asked.T],
        parts.tolist(),
    )
    pulls = [_pulls(side, counts, parts, new.owners) for side in sides]
    value = texts.middle
    seeds = _over_seeds(by_seed, pulls, paired=paired)
    limits = _limits(weights)
    these_runs = _within(texts.interval(), limits)
    if seeds is None:
        return Difference(value, int(counts.sum()), None, these_runs, None)
    interval = _within(composed(value, texts.interval, seeds), limits)
    return Difference(
        value, int(counts.sum()), interval, these_runs, composed_p(value, texts.interval, seeds)
    )


def _pulls(values: Floats, counts: Integers, parts: Floats, owners: Integers) -> Floats:
    """How far each cluster of texts pulls the quantity of each run away from its mean: (clusters, runs)."""
    used = ~np.isnan(values[:, :, 0]).all(axis=1)
    names, owner = np.unique(owners[used], return_inverse=True)
    added = np.nan_to_num((values - np.nanmean(values, axis=0)) / counts[:, None])
    pulls = np.zeros((len(names), values.shape[2]))
    np.add.at(pulls, owner, np.einsum("tcr,c->tr", added[used], parts))
    return pulls


def _over_seeds(by_seed: Sequence[Floats], pulls: Sequence[Floats], *, paired: bool) -> SeedError | None:
    """How well the difference is known over seeds; None for one run against several."""
    new, old = by_seed
    if paired or len(new) == len(old) == 1:
        return error_of_mean(new - old, _noise(pulls[0] - pulls[1]))
    if min(len(new), len(old)) == 1:
        return None
    return error_of_difference(new, old, sum(map(_noise, pulls)))


def _noise(pulls: Floats) -> float:
    """What single answers add to the variance over seeds, and to that over texts once more."""
    runs = pulls.shape[1]
    residual = pulls - pulls.mean(axis=1, keepdims=True)
    return float((residual**2).sum()) / (runs * (runs - 1)) if runs > 1 else 0.0


def _limits(weights: Weights) -> Interval:
    low, high = bounds(weights)
    return low - high, high - low


def _within(interval: Interval, limits: Interval) -> Interval:
    return max(interval[0], limits[0]), min(interval[1], limits[1])

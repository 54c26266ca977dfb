"""Shapley values: what each unit adds, averaged over all orders in which the units can come.

Lundberg and Lee 2017, "A Unified Approach to Interpreting Model Predictions": the solution of a weighted least squares
problem over all copies. If there are enough samples for all copies, the values are exact. Otherwise shoal uses all
copies that lack or keep one unit, two units and so on while the samples last, and samples the rest in pairs of
complements, with sizes drawn by their weight (`docs/method/ranking.md` 6.7).
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import PlanError
from .attributions import Attribution, ExplainConfig, Units, Values
from .copies import Copies, Present, from_copies

EXTRA_SAMPLES = 2_048
"""Samples beyond two for each unit."""
FOLDS = 5


def attribute(
    copies: Copies, config: ExplainConfig, rngs: Sequence[np.random.Generator]
) -> list[Attribution]:
    """Return the Shapley value of each unit of each example."""

    def facts(units: Units) -> dict[str, Any]:
        samples = samples_of(units, config)
        return {"samples": samples, "exact": samples >= (1 << len(units)) - 2}

    return from_copies(copies, config, rngs, draw=draw, fit=fit, facts=facts, sums=True)


def samples_of(units: Units, config: ExplainConfig) -> int:
    """Return the number of copies, besides the whole text and the empty one."""
    size = len(units)
    everything = (1 << size) - 2
    wanted = min(2 * size + EXTRA_SAMPLES if config.samples is None else config.samples, everything)
    if size > 1 and wanted < min(2 * size, everything):
        raise PlanError(
            f"{wanted} samples for {size} words",
            why="each word must be absent once, and alone once",
            fix=f"samples = {2 * size} or more",
        )
    return max(0, wanted)


def kernel(size: int, present: int) -> float:
    """Return the Shapley kernel: the weight of one copy by the number of units present.

    >>> [kernel(4, present) for present in (1, 2, 3)]
    [0.25, 0.125, 0.25]
    """
    return (size - 1) / (comb(size, present) * present * (size - present))


def draw(units: Units, config: ExplainConfig, rng: np.random.Generator) -> Present:
    """Return the copies: all of some sizes, then sampled pairs."""
    size, left = len(units), samples_of(units, config)
    whole, left = _sizes_in_full(size, left)
    parts = [_all_of(size, present) for present in whole]
    rest = [present for present in range(1, size) if present not in whole]
    if rest and left >= 2:
        parts.append(_pairs(size, rest, left // 2, rng))
    return np.concatenate([np.zeros((0, size), np.bool_), *parts])


def _sizes_in_full(size: int, samples: int) -> tuple[list[int], int]:
    """Return the sizes whose copies are all used, and how many samples are left."""
    whole: list[int] = []
    for small in range(1, size // 2 + 1):
        sizes = sorted({small, size - small})
        count = sum(comb(size, present) for present in sizes)
        if count > samples:
            break
        whole += sizes
        samples -= count
    return whole, samples


def _all_of(size: int, present: int) -> Present:
    chosen = np.array(list(combinations(range(size), present)))
    rows = np.zeros((len(chosen), size), np.bool_)
    np.put_along_axis(rows, chosen, True, axis=1)
    return rows


def _pairs(size: int, sizes: list[int], count: int, rng: np.random.Generator) -> Present:
    """Return copies of random sizes, each followed by its complement."""
    masses = np.array([1 / (present * (size - present)) for present in sizes])
    chosen = rng.choice(sizes, count, p=masses / masses.sum())
    rows = rng.random((count, size)).argsort(axis=1).argsort(axis=1) < chosen[:, None]
    return np.stack([rows, ~rows], axis=1).reshape(-1, size)


def weights_of(present: Present) -> tuple[Values, NDArray[np.bool_]]:
    """Return the weight of each copy, and whether its size was sampled.

    It is the kernel for complete sizes, else an equal share of the remaining mass.
    """
    size = present.shape[1]
    sizes = present.sum(axis=1)
    whole, _ = _sizes_in_full(size, len(present))
    drawn = ~np.isin(sizes, whole)
    weights = np.array([kernel(size, present) for present in sizes.tolist()])
    if drawn.any():
        mass = sum((size - 1) / (n * (size - n)) for n in range(1, size) if n not in whole)
        weights[drawn] = mass / drawn.sum()
    return weights, drawn


def fit(present: Present, outputs: Values, ends: tuple[float, float], config: ExplainConfig) -> Values:
    """Return the values that fit best and add up to the difference of outputs.

    `ends` are the outputs with nothing and with everything present. Least squares on few sampled copies is biased.
    Therefore each fold of sampled copies only corrects the fit of the others: its residuals are averaged with the
    kernel's weights, which is unbiased whatever is subtracted.
    """
    size = present.shape[1]
    if size < 2:
        return np.full(size, ends[1] - ends[0])
    rows, (weights, drawn) = present.astype(np.float64), weights_of(present)
    gains, difference = outputs - ends[0], ends[1] - ends[0]
    folds = _folds(drawn)
    if not folds.max(initial=0):
        return _least_squares(rows, gains, weights, difference)
    values = np.zeros(size)
    for fold in range(1, folds.max() + 1):
        others, inside = folds != fold, (folds == fold) | (folds == 0)
        fitted = _least_squares(rows[others], gains[others], weights[others], difference)
        share = float((folds == fold).sum() / (folds > 0).sum())
        scaled = np.where(folds == fold, weights / share, weights)[inside]
        values += share * (fitted + _averaged(rows[inside], (gains - rows @ fitted)[inside], scaled))
    return values


def _folds(drawn: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return 0 for copies of complete sizes, and a fold number for each sampled pair."""
    folds = np.zeros(len(drawn), np.int64)
    folds[drawn] = 1 + np.arange(drawn.sum()) // 2 % FOLDS
    return folds


def _least_squares(rows: Values, gains: Values, weights: Values, difference: float) -> Values:
    """Return the values that fit the gains best and add up to the difference."""
    moves, outputs = rows[:, :-1] - rows[:, -1:], gains - rows[:, -1] * difference
    values = np.linalg.solve((moves * weights[:, None]).T @ moves, moves.T @ (weights * outputs))
    return np.append(values, difference - values.sum())


def _averaged(rows: Values, gains: Values, weights: Values) -> Values:
    """Return the Shapley values of a game whose difference is 0, as a weighted mean.

    With the kernel's weights the matrix of the least squares problem is known: (n - 1) / n on the diagonal, up to a
    constant. Nothing has to be solved, and the mean is linear in the gains.
    """
    size = rows.shape[1]
    values: Values = size / (size - 1) * ((weights * gains) @ (rows - rows.mean(axis=1, keepdims=True)))
    return values

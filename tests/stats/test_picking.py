"""The best of several: what it is worth where it was not picked."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.stats.picking import Picked, best_elsewhere

Floats = NDArray[np.float64]


def rows_of(rng: np.random.Generator, rates: list[float], seeds: int) -> list[list[Floats]]:
    # A lone run that is better by its seed is better: only several seeds tell that it was luck.
    shifts = rng.normal(0, 0.03 if seeds > 1 else 0.0, (len(rates), seeds))
    return [
        [(rng.random((40, seeds)) < rate + shift).astype(float) for _ in range(3)]
        for rate, shift in zip(rates, shifts, strict=True)
    ]


def drawn(rates: list[float], seeds: int, repetitions: int) -> list[Picked]:
    rng = np.random.default_rng(seeds)
    iid = [np.tile([[1.0], [1.0], [0.0]], (30, seeds))] * len(rates)
    return [best_elsewhere(rows_of(rng, rates, seeds), iid, rng, divisions=60) for _ in range(repetitions)]


@pytest.mark.parametrize("seeds", [1, 3])
def test_of_equal_rows_the_best_gains_nothing_elsewhere(seeds: int) -> None:
    picked = drawn([0.6] * 9, seeds, 200)
    assert np.mean([each.as_measured for each in picked]) > 0.02
    # The standard error of the mean is about .003.
    assert np.mean([each.gain for each in picked]) == pytest.approx(0.0, abs=0.01)


def test_a_row_that_is_better_keeps_most_of_its_gain() -> None:
    picked = drawn([0.5, 0.5, 0.75, 0.5], 3, 60)
    truth = 2 * 0.75 * (2 / 3) / (0.75 + 2 / 3) - 2 * 0.5 * (2 / 3) / (0.5 + 2 / 3)
    assert {each.best for each in picked} == {1}
    assert np.mean([each.gain for each in picked]) == pytest.approx(truth, abs=0.012)


def test_neither_order_of_cases_nor_of_functionalities_changes_a_digit() -> None:
    rng = np.random.default_rng(0)
    rows, iid = rows_of(rng, [0.5, 0.6, 0.7], 2), [rng.integers(2, size=(20, 2)) for _ in range(3)]
    clusters = [np.arange(40) // 4] * 3
    turned = [[part[::-1] for part in row[::-1]] for row in rows]
    first = best_elsewhere(rows, iid, np.random.default_rng(1), clusters)
    assert first == best_elsewhere(
        turned, [part[::-1] for part in iid], np.random.default_rng(1), [c[::-1] for c in clusters]
    )


def test_a_single_case_cannot_be_divided() -> None:
    lone = [[np.ones((1, 1))], [np.ones((1, 1))]]
    assert math.isnan(best_elsewhere(lone, [row[0] for row in lone], np.random.default_rng(0)).gain)

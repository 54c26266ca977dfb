"""Coefficients against naive sums, limits where the answer is known, and intervals that cover new items and runs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.stats.reliability import (
    coefficient_interval,
    fleiss_kappa,
    icc_agreement,
    item_floor,
    ratio_interval,
)

NA = float("nan")
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
shapes = st.tuples(st.integers(2, 7), st.integers(2, 5))
binary = arrays(float, shapes, elements=st.sampled_from([0.0, 1.0]))
REPETITIONS = 150
AT_LEAST = 0.95 - 2 * math.sqrt(0.05 * 0.95 / REPETITIONS)


@settings(deadline=None)
@given(binary)
def test_kappa_is_what_pairs_of_runs_say(matrix: Matrix) -> None:
    pairs = [float(a == b) for row in matrix for a, b in itertools.combinations(row, 2)]
    by_chance = matrix.mean() ** 2 + (1 - matrix.mean()) ** 2
    expected = (np.mean(pairs) - by_chance) / (1 - by_chance) if by_chance < 1 else NA
    assert fleiss_kappa(matrix) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def shifting(rng: np.random.Generator, items: int, runs: int, sd: float) -> Matrix:
    chances = rng.beta(2, 2, (items, 1)) + sd * rng.normal(size=runs)
    return (rng.random((items, runs)) < np.clip(chances, 0, 1)).astype(float)


def test_independent_flips_vary_as_their_floor_and_shifting_runs_more() -> None:
    rng = np.random.default_rng(0)
    steady, shifted = (shifting(rng, 2000, 200, sd) for sd in (0.0, 0.1))
    assert steady.mean(axis=0).std(ddof=1) == pytest.approx(item_floor(steady), rel=0.12)
    assert shifted.mean(axis=0).std(ddof=1) > 5 * item_floor(shifted)


# Intervals


def test_intervals_hold_the_coefficient_and_know_no_order() -> None:
    rng = np.random.default_rng(0)
    outcomes = (rng.random((40, 5)) < rng.beta(1, 1, (40, 1))).astype(float)
    for coefficient in (fleiss_kappa, icc_agreement):
        low, high = coefficient_interval(outcomes, coefficient)
        assert -1 < low < coefficient(outcomes) < high < 1
        moved = outcomes[rng.permutation(40)][:, rng.permutation(5)]
        assert coefficient_interval(moved, coefficient) == pytest.approx((low, high))


@pytest.mark.parametrize(("items", "runs", "spread"), [(100, 5, 1.0), (30, 3, 0.3)])
def test_intraclass_correlations_cover(items: int, runs: int, spread: float) -> None:
    rng = np.random.default_rng(3)
    truth, held = 1 / (2 + spread**2), 0
    for _ in range(REPETITIONS):
        values = rng.normal(size=(items, 1)) + spread * rng.normal(size=runs) + rng.normal(size=(items, runs))
        low, high = coefficient_interval(values, icc_agreement)
        held += low <= truth <= high
    assert held / REPETITIONS >= AT_LEAST


@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_the_over_dispersion_ratio_covers(sd: float) -> None:
    rng, held = np.random.default_rng(5), 0
    tables = [shifting(rng, 100, 40, sd) for _ in range(200)]
    variance = np.mean([table.mean(axis=0).var(ddof=1) for table in tables])
    truth = math.sqrt(variance / np.mean([item_floor(table) ** 2 for table in tables]))
    for _ in range(REPETITIONS):
        table = shifting(rng, 100, 5, sd)
        low, high = ratio_interval(table.mean(axis=0).std(ddof=1) / item_floor(table), table)
        held += low <= truth <= high
    assert held / REPETITIONS >= AT_LEAST


def test_two_runs_and_unanimous_runs_have_no_interval() -> None:
    two_runs = [[1, 0], [1, 1], [0, 0], [0, 0]]
    unanimous = [[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]]
    for items in (two_runs, unanimous):
        assert all(math.isnan(end) for end in coefficient_interval(items, fleiss_kappa))
    assert all(math.isnan(end) for end in ratio_interval(0.0, unanimous))

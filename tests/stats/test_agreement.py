"""Intervals of agreement: they cover for new items and runs, and say nothing where nothing can be said."""

import math

import numpy as np
import pytest

from shoal.stats.reliability import (
    category_counts,
    coefficient_interval,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    ratio_interval,
    run_spread,
    runs_needed,
    runs_needed_interval,
)

REPETITIONS = 150
AT_LEAST = 0.95 - 2 * math.sqrt(0.05 * 0.95 / REPETITIONS)


def kappa(outcomes: np.ndarray) -> float:
    return fleiss_kappa(category_counts(outcomes))


def agreement(values: np.ndarray) -> float:
    return icc(values).agreement


def test_intervals_hold_the_coefficient_and_know_no_order() -> None:
    rng = np.random.default_rng(0)
    outcomes = (rng.random((40, 5)) < rng.beta(1, 1, (40, 1))).astype(float)
    for coefficient in (kappa, krippendorff_alpha, agreement):
        low, high = coefficient_interval(outcomes, coefficient)
        assert -1 < low < coefficient(outcomes) < high < 1
        moved = outcomes[rng.permutation(40)][:, rng.permutation(5)]
        assert coefficient_interval(moved, coefficient) == pytest.approx((low, high))


def test_items_with_the_same_outcomes_are_left_out_one_at_a_time() -> None:
    rows = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1]], dtype=float)
    items = np.repeat(rows, [6, 3, 5, 2], axis=0)
    unlike = items + 1e-9 * np.arange(len(items))[:, None]  # no two rows alike any more
    assert coefficient_interval(items, agreement) == pytest.approx(
        coefficient_interval(unlike, agreement), abs=1e-6
    )


def test_missing_outcomes_stay_missing() -> None:
    rng = np.random.default_rng(1)
    outcomes = (rng.random((30, 4)) < rng.beta(1, 1, (30, 1))).astype(float)
    outcomes[rng.random(outcomes.shape) < 0.1] = np.nan
    low, high = coefficient_interval(outcomes, krippendorff_alpha)
    assert low < krippendorff_alpha(outcomes) < high


@pytest.mark.parametrize(("items", "runs", "spread"), [(100, 5, 1.0), (30, 3, 0.3)])
def test_intraclass_correlations_cover(items: int, runs: int, spread: float) -> None:
    rng = np.random.default_rng(3)
    truth, held = 1 / (2 + spread**2), 0
    for _ in range(REPETITIONS):
        values = rng.normal(size=(items, 1)) + spread * rng.normal(size=runs) + rng.normal(size=(items, runs))
        low, high = coefficient_interval(values, agreement)
        held += low <= truth <= high
    assert held / REPETITIONS >= AT_LEAST


def shifting(rng: np.random.Generator, items: int, runs: int, sd: float) -> np.ndarray:
    chances = rng.beta(2, 2, (items, 1)) + sd * rng.normal(size=runs)
    return (rng.random((items, runs)) < np.clip(chances, 0, 1)).astype(float)


@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_the_over_dispersion_ratio_covers(sd: float) -> None:
    rng = np.random.default_rng(5)
    spreads = [run_spread(shifting(rng, 100, 40, sd)) for _ in range(200)]
    truth = math.sqrt(np.mean([s.sd**2 for s in spreads]) / np.mean([s.floor_sd**2 for s in spreads]))
    held = 0
    for _ in range(REPETITIONS):
        low, high = ratio_interval(shifting(rng, 100, 5, sd))
        held += low <= truth <= high
    assert held / REPETITIONS >= AT_LEAST


def test_runs_needed_follow_the_reliability() -> None:
    assert runs_needed_interval((0.3, 0.7), 0.9) == (runs_needed(0.7, 0.9), runs_needed(0.3, 0.9))
    assert runs_needed_interval((0.95, 1.0), 0.9) == (1, 1)
    assert runs_needed_interval((-0.2, -0.1), 0.9) == (None, None)


def test_what_cannot_be_estimated_is_nan() -> None:
    two_runs = [[1, 0], [1, 1], [0, 0], [0, 0]]
    unanimous = [[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]]
    for items in (two_runs, unanimous):
        assert all(math.isnan(end) for end in coefficient_interval(items, krippendorff_alpha))
    assert all(math.isnan(end) for end in ratio_interval(unanimous))

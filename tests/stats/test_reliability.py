"""The floor of independent flips, and intervals that cover new items and runs."""

import math

import numpy as np
import pytest

from shoal.stats.reliability import item_floor, ratio_interval

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def shifting(rng: np.random.Generator, items: int, runs: int, sd: float) -> Matrix:
    chances = rng.beta(2, 2, (items, 1)) + sd * rng.normal(size=runs)
    return (rng.random((items, runs)) < np.clip(chances, 0, 1)).astype(float)


def test_independent_flips_vary_as_their_floor_and_shifting_runs_more() -> None:
    rng = np.random.default_rng(0)
    steady, shifted = (shifting(rng, 2000, 200, sd) for sd in (0.0, 0.1))
    assert steady.mean(axis=0).std(ddof=1) == pytest.approx(item_floor(steady), rel=0.12)
    assert shifted.mean(axis=0).std(ddof=1) > 5 * item_floor(shifted)


def test_unanimous_runs_have_no_interval() -> None:
    unanimous = [[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert all(math.isnan(end) for end in ratio_interval(0.0, unanimous))

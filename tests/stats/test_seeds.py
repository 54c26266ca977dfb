"""Seeds and cases together: agrees with scipy where only one of them varies, holds its level where both do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shoal.stats.intervals import mean_t_interval
from shoal.stats.seeds import (
    composed,
    error_of_difference,
    error_of_mean,
    moderated_errors,
)

scores = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=2, max_size=6)


def certain(value: float):
    """Cases that leave no doubt."""
    return lambda level: (value, value)


@settings(deadline=None)
@given(scores)
def test_seeds_alone_are_students_t(by_seed: list[float]) -> None:
    middle = float(np.mean(by_seed))
    low, high = composed(middle, certain(middle), error_of_mean(by_seed))
    assert (low, high) == pytest.approx(mean_t_interval(by_seed))


@settings(deadline=None, max_examples=50)
@given(scores, scores)
def test_two_recipes_alone_are_welchs_t(first: list[float], second: list[float]) -> None:
    seeds = min(len(first), len(second))
    first, second = first[:seeds], second[:seeds]
    value = float(np.mean(first) - np.mean(second))
    if abs(value) < 1e-6 or min(np.std(first), np.std(second)) < 1e-6:
        return
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    p = error_of_difference(first, second).p(value)
    assert p == pytest.approx(max(expected, 1e-12), rel=1e-3)


@pytest.mark.parametrize("runs", [(2, 2), (3, 3), (2, 5)])
@pytest.mark.parametrize("shared", [0.0, 0.06])
def test_pooled_errors_of_equal_recipes_exclude_zero_somewhere_in_at_most_5_per_cent(runs, shared) -> None:
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        first, second = (
            np.clip(rng.binomial(40, np.clip(0.7 + shared * rng.normal(size=n), 0, 1), (12, n)) / 40, 0, 1)
            for n in runs
        )
        distances = np.abs(second.mean(axis=1) - first.mean(axis=1))
        errors = moderated_errors(first, second, [40] * 12)
        level = 1 - 0.05 / 12
        wrong += any(distance > error.reach(level) for distance, error in zip(distances, errors, strict=True))
    assert wrong / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)

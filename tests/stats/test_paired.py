"""Tests of two models: exact where they can be, the same whichever is called A, and 1 for a model against itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from shoal.stats.paired import (
    generalization_score,
    randomisation_p,
    sign_flip_test,
    sign_test,
)

NA = float("nan")


def generator() -> Generator:
    return np.random.default_rng(5)


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_sign_test_agrees_with_scipy_and_ignores_names(b: int, c: int) -> None:
    from scipy.stats import binomtest

    assert sign_test(b, c) == sign_test(c, b)
    if b + c:
        assert sign_test(b, c) == pytest.approx(binomtest(b, b + c, 0.5).pvalue, rel=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_sign_flips_of_whole_differences_are_exact(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in itertools.product([-1, 1], repeat=len(differences))
    ]
    assert sign_flip_test(differences) == pytest.approx(np.mean(patterns))


def test_sampled_sign_flips_agree_with_exact_ones_and_ignore_order_and_names() -> None:
    differences = np.array([3, -1, 2, 2, 1, -2, 4, 1, 1, -3, 2, 1, 1, 2, -1, 1, 2])
    nearly = differences * 1.000001  # not whole any more, too many to enumerate
    p = sign_flip_test(nearly, generator(), shuffles=40_000)
    assert p == pytest.approx(sign_flip_test(differences), abs=0.01)
    assert p == sign_flip_test(-nearly[::-1], generator(), shuffles=40_000)


def test_undefined_scores_have_no_p_and_undefined_shuffles_are_no_evidence() -> None:
    assert np.isnan(randomisation_p(NA, [1.0]))
    assert randomisation_p(1.0, [NA, 0.0, 0.0]) == 0.5
    assert math.isnan(float(generalization_score(NA, 0.5)))

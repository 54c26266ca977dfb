"""Minimum detectable effects and needed cases undo each other."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from shoal.stats.paired import randomise_generalization, sign_test
from shoal.stats.power import (
    mde_one_proportion,
    mde_paired,
    mde_sign_test,
    needed_n_one_proportion,
    needed_n_paired,
    plant_effect,
    sign_test_power,
    smallest_detected,
)


@settings(deadline=None)
@given(st.integers(30, 100_000), st.floats(0.01, 1))
def test_needed_cases_undo_the_detectable_effect(n: int, discordance: float) -> None:
    smallest = mde_paired(n, discordance)
    if smallest is not None:
        assert abs(needed_n_paired(smallest, discordance) - n) <= 1


@settings(deadline=None)
@given(st.integers(30, 10_000), st.floats(0.01, 0.9))
def test_more_cases_find_smaller_differences(n: int, discordance: float) -> None:
    few, many = mde_paired(n, discordance), mde_paired(4 * n, discordance)
    if few is not None:
        assert many is not None and many < few <= discordance


def test_what_cannot_be_found_is_none() -> None:
    assert mde_paired(20, 0.05) is None
    assert mde_paired(500, 0.0) is None
    assert mde_paired(0, 0.5) is None
    assert mde_one_proportion(2) is None


def test_one_proportion_needs_what_its_effect_says() -> None:
    smallest = mde_one_proportion(262)
    assert smallest is not None and needed_n_one_proportion(smallest) == 262


def test_exact_power_is_that_of_all_counts() -> None:
    n, discordance, difference = 12, 0.6, 0.5
    found = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            ways = comb(n, b) * comb(n - b, c)
            found += (sign_test(b, c) <= 0.05) * ways * 0.55**b * 0.05**c * 0.4 ** (n - b - c)
    assert sign_test_power(n, discordance, difference) == pytest.approx(found)
    assert sign_test_power(n, discordance, -difference) == pytest.approx(found)
    assert sign_test_power(n, 0.0, 0.0) == 0.0


@settings(deadline=None, max_examples=30)
@given(st.integers(30, 400), st.floats(0.1, 1))
def test_the_exact_detectable_effect_has_its_power(n: int, discordance: float) -> None:
    exactly, by_formula = mde_sign_test(n, discordance), mde_paired(n, discordance)
    if exactly is None:
        assert sign_test_power(n, discordance, discordance) < 0.8
    else:
        assert sign_test_power(n, discordance, exactly) == pytest.approx(0.8, abs=1e-3)
        assert by_formula is not None and exactly > by_formula


def test_planting_touches_failing_cases_only() -> None:
    hits = np.array([0.0, 1.0, np.nan] * 1000)
    planted = plant_effect(hits, 0.3, np.random.default_rng(0))
    assert (planted[1::3] == 1).all() and np.isnan(planted[2::3]).all()
    assert planted[0::3].mean() == pytest.approx(0.3, abs=0.04)
    assert (hits[0::3] == 0).all()  # the original is left alone


def test_the_detectable_effect_on_g_by_simulation() -> None:
    cases = np.random.default_rng(1).random((6, 40)) < 0.6
    iid = np.ones(50)

    def rejects(share: float, rng: Generator) -> bool:
        baseline = [rng.choice(hits, size=len(hits)).astype(float) for hits in cases]
        method = [plant_effect(hits, share, rng) for hits in baseline]
        return bool(randomise_generalization(baseline, [method], iid, iid, rng, shuffles=200).p[0] < 0.05)

    shares = [0.0, 0.02, 0.2, 0.5]
    assert smallest_detected(shares, rejects, np.random.default_rng(0), repetitions=40) == 0.2
    assert smallest_detected([0.0], rejects, np.random.default_rng(0), repetitions=40) is None


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="discordance lies between 0 and 1"):
        mde_paired(10, 1.5)
    with pytest.raises(ValueError, match="at most the discordance"):
        sign_test_power(10, 0.1, 0.2)
    with pytest.raises(ValueError, match="at most the discordance"):
        needed_n_paired(0.2, 0.1)
    with pytest.raises(ValueError, match="power between"):
        mde_paired(10, 0.5, power=1.0)
    with pytest.raises(ValueError, match="share lies between"):
        plant_effect([0], 2, np.random.default_rng(0))

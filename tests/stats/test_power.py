"""Minimum detectable effects shrink with the cases, and are none where nothing could be found."""

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nct

from shoal.stats.intervals import Student, paired_t
from shoal.stats.limits import difference_p
from shoal.stats.paired import sign_test
from shoal.stats.power import (
    mde_one_proportion,
    mde_paired,
    sign_test_power,
    smallest_difference,
    smallest_distance,
    smallest_mean_difference,
    smallest_recipe_difference,
)
from shoal.stats.resampling import ClusterTable, paired_table
from shoal.stats.seeds import SeedError, composed


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


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="discordance lies between 0 and 1"):
        mde_paired(10, 1.5)
    with pytest.raises(ValueError, match="power between"):
        mde_paired(10, 0.5, power=1.0)
    with pytest.raises(ValueError, match="discordance lies between 0 and 1"):
        smallest_difference(10, 1.5)
    with pytest.raises(ValueError, match="at most the discordance"):
        sign_test_power(10, 0.1, 0.2)


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
@given(st.integers(6, 300), st.floats(0.02, 1), st.sampled_from([0.05, 0.05 / 30]))
def test_the_smallest_difference_has_its_power_and_is_none_only_where_all_of_them_are_missed(
    n: int, discordance: float, alpha: float
) -> None:
    smallest = smallest_difference(n, discordance, alpha)
    if smallest is None:
        assert 2.0 ** (1 - n) > alpha  # even n of n, all one way
    else:
        assert sign_test_power(n, max(discordance, smallest), smallest, alpha) == pytest.approx(0.8, abs=2e-3)


def test_what_the_smallest_p_cannot_show_cannot_be_seen() -> None:
    assert smallest_difference(5, 1.0) is None and smallest_difference(6, 1.0) is not None
    assert smallest_difference(10, 1.0, alpha=0.05 / 30) is None  # ten of ten give p = .00195
    assert smallest_distance(5) is None
    assert smallest_mean_difference(0.5, 3) is None and smallest_mean_difference(0.0, 3) is None


def test_a_planted_difference_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    for n, discordance, alpha in ((60, 1.0, 0.05), (436, 0.08, 0.05), (40, 0.1, 0.05 / 30), (20, 0.05, 0.05)):
        smallest = smallest_difference(n, discordance, alpha)
        assert smallest is not None
        differing = max(discordance, smallest)
        shares = [(differing + smallest) / 2, (differing - smallest) / 2, 1 - differing]
        draws = rng.multinomial(n, shares, size=2000).tolist()
        found = np.mean([sign_test(only_a, only_b) <= alpha for only_a, only_b, _ in draws])
        assert found == pytest.approx(0.8, abs=0.03)


def test_the_normal_approximation_promises_too_much() -> None:
    by_formula, exactly = mde_paired(60, 0.3), smallest_difference(60, 0.3)
    assert by_formula is not None and exactly is not None and exactly > by_formula
    assert sign_test_power(60, 0.3, by_formula) < 0.78


@pytest.mark.parametrize("degrees", [2, 4, 30])
def test_a_t_test_finds_the_smallest_mean_difference_as_often_as_promised(degrees: int) -> None:
    smallest = smallest_mean_difference(0.02, degrees)
    assert smallest is not None
    reach = nct.ppf(0.975, degrees, 0)
    found = nct.sf(reach, degrees, smallest / 0.02) + nct.cdf(-reach, degrees, smallest / 0.02)
    assert found == pytest.approx(0.8, abs=1e-3)
    # Far beyond it scipy's tails run out; the answer does not.
    assert smallest_mean_difference(1e-4, degrees) == pytest.approx(smallest / 200, rel=0.02)


def test_a_mean_over_functionalities_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(2)

    def tables(shift: float) -> list[ClusterTable]:
        kinds = rng.choice(3, size=(10, 20), p=[0.15 + shift / 2, 0.15 - shift / 2, 0.7])
        return [paired_table((kind == 0).astype(float), (kind == 1).astype(float)) for kind in kinds]

    smallest = np.mean(
        [smallest_mean_difference(t.error, t.degrees) for t in (paired_t(tables(0)) for _ in range(50))]
    )
    assert np.mean(
        [difference_p(tables(smallest), 0.0, "above") <= 0.025 for _ in range(400)]  # type: ignore[arg-type]
    ) == pytest.approx(0.8, abs=0.06)


def test_a_difference_of_recipes_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(3)
    cases, error = Student(0.0, 0.015, 100), 0.02
    for parts in (((error, 4.0),), ((error, 1.0), (error, 4.0))):
        seeds = SeedError(parts, noise=0.0001)
        smallest = smallest_recipe_difference(cases, seeds)
        assert smallest is not None
        sd = math.sqrt(cases.error**2 + seeds.error**2 - seeds.noise)
        found = 0
        for _ in range(1500):
            seen = tuple((e * math.sqrt(rng.chisquare(free) / free), free) for e, free in parts)
            value = rng.normal(smallest, sd)
            low, high = composed(value, Student(value, 0.015, 100).interval, SeedError(seen, seeds.noise))
            found += not low <= 0 <= high
        assert found / 1500 == pytest.approx(0.8, abs=0.03)
    assert smallest_recipe_difference(cases, SeedError(((0.2, 1.0),))) is None


def test_more_seeds_show_smaller_differences() -> None:
    cases = Student(0.0, 0.01, 100)
    smallest = [
        smallest_recipe_difference(cases, SeedError(((0.05 * math.sqrt(2 / seeds), 2.0 * (seeds - 1)),)))
        for seeds in (3, 5, 10)
    ]
    assert None not in smallest and smallest == sorted(smallest, reverse=True)  # type: ignore[type-var]

"""Minimum detectable effects shrink with the cases, and are none where nothing could be found."""

from math import comb

import numpy as np
import pytest
from scipy.stats import t

from shoal.stats.paired import sign_flip_test, sign_test
from shoal.stats.power import (
    Cases,
    even_drop_power,
    sign_test_power,
    smallest_even_drop,
    smallest_mean_difference,
)


def test_exact_power_is_that_of_all_counts() -> None:
    n, discordance, difference = 12, 0.6, 0.5
    detected = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            ways = comb(n, b) * comb(n - b, c)
            detected += (sign_test(b, c) <= 0.05) * ways * 0.55**b * 0.05**c * 0.4 ** (n - b - c)
    assert sign_test_power(n, discordance, difference) == pytest.approx(detected)
    assert sign_test_power(n, discordance, -difference) == pytest.approx(detected)
    assert sign_test_power(n, 0.0, 0.0) == 0.0


def test_without_an_estimate_of_the_spread_nothing_can_be_promised() -> None:
    assert smallest_mean_difference(0.5, 3) is None and smallest_mean_difference(0.0, 3) is None


# Spreads that are estimated


@pytest.mark.parametrize("degrees", [1, 2, 4, 30])
def test_over_pilots_and_new_tests_together_the_smallest_mean_difference_is_found_as_often_as_promised(
    degrees: int,
) -> None:
    rng, number = np.random.default_rng(4), 20_000
    pilots, anew = np.sqrt(rng.chisquare(degrees, (2, number)) / degrees)
    in_errors = 1000 * (smallest_mean_difference(1e-3, degrees) or 1.0)
    found = np.abs(in_errors * pilots + rng.normal(size=number)) > t.ppf(0.975, degrees) * anew
    assert found.mean() == pytest.approx(0.8, abs=0.01)


# Drops that are spread evenly over cases


@pytest.mark.parametrize(("sizes", "churn"), [((20, 80), 0.0), ((20, 80), 0.1), ((10, 200), 0.03)])
def test_sign_flips_with_unequal_weights_find_the_smallest_even_drop_as_often_as_promised(
    sizes: tuple[int, int], churn: float
) -> None:
    rng, weights = np.random.default_rng(5), np.repeat([1 / size for size in sizes], sizes)
    drop = smallest_even_drop(Cases.weighted(weights), churn)
    assert drop is not None
    shares = [churn / 2 + drop, churn / 2, 1 - churn - drop]
    moved = weights * rng.choice([-1, 1, 0], (300, len(weights)), p=shares)
    found = np.mean([sign_flip_test(each, rng, 1000) <= 0.05 for each in moved])
    assert found == pytest.approx(0.8, abs=0.07)


def test_equal_weights_are_the_exact_sign_test() -> None:
    cases = Cases.weighted(np.full(80, 1 / 80))
    assert even_drop_power(cases, 0.1, 0.1) == sign_test_power(80, 0.2, 0.1)
    assert smallest_even_drop(Cases.weighted(np.full(5, 0.2)), 0.0) is None  # five never reach .05

"""One-sided tests: binomial where cases stand alone, careful where they do not, and a family that keeps its error."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import binomtest

from shoal.stats.intervals import effective_cases, paired_difference_interval
from shoal.stats.limits import difference_p, rate_p
from shoal.stats.multiplicity import holm
from shoal.stats.resampling import ClusterTable, cluster_table, paired_table, rate


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 40), st.integers(1, 40), st.sampled_from([0.5, 0.8, 0.95]))
def test_independent_cases_have_the_binomial_test(passes: int, n: int, limit: float) -> None:
    passes = min(passes, n)
    table = cluster_table([1.0] * passes + [0.0] * (n - passes))
    fewer, more = binomtest(passes, n, limit, "less").pvalue, binomtest(passes, n, limit, "greater").pvalue
    assert rate_p([table], limit, "below") == pytest.approx(fewer, abs=1e-12)
    assert rate_p([table], limit, "above") == pytest.approx(more, abs=1e-12)


def templated(rng: np.random.Generator, rate: float, templates: int, size: int, alike: float) -> ClusterTable:
    """Templates of `size` cases that resemble each other."""
    spread = (1 - alike) / alike
    chances = rng.beta(rate * spread, (1 - rate) * spread, templates)
    names = np.repeat(np.arange(templates), size)
    return cluster_table((rng.random(len(names)) < chances[names]).astype(float), names)


@pytest.mark.slow
def test_a_model_just_below_the_limit_seldom_passes_for_good_enough() -> None:
    rng = np.random.default_rng(0)
    wrong = sum(rate_p([templated(rng, 0.79, 10, 10, 0.3)], 0.8, "above") <= 0.025 for _ in range(300))
    assert wrong / 300 <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / 300)


def test_a_gate_over_thirty_functionalities_fails_equal_models_in_at_most_one_of_twenty() -> None:
    rng = np.random.default_rng(1)
    repetitions = 200
    fails = plain = 0
    for _ in range(repetitions):
        p = []
        for _ in range(30):
            changed, better = rng.random(40) < 0.3, rng.random(40) < 0.5
            table = paired_table((changed & better).astype(float), (changed & ~better).astype(float))
            p.append(difference_p([table], 0.0, "below"))
        fails += holm(p).min() <= 0.05
        plain += min(p) <= 0.05
    assert fails / repetitions <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / repetitions)
    assert plain / repetitions > 0.4  # each at 5 % on its own


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_without_a_margin_p_agrees_with_the_end_of_the_interval(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)
    table = paired_table(first, second)
    low, high = paired_difference_interval(table)
    if low > -1 and high < 1:
        assert (difference_p([table], 0.0, "above") < 0.025) == (low > 0)
        assert (difference_p([table], 0.0, "below") < 0.025) == (high < 0)


@pytest.mark.slow
def test_five_points_worse_seldom_passes_a_limit_of_five_points_and_equal_models_do() -> None:
    rng = np.random.default_rng(2)

    def shown(worse: float, better: float) -> float:
        count = 0
        for _ in range(300):
            kind = rng.choice(3, size=300, p=[worse, better, 1 - worse - better])
            table = paired_table((kind == 1).astype(float), (kind == 0).astype(float))
            count += difference_p([table], -0.05, "above") <= 0.05
        return count / 300

    assert shown(0.06, 0.01) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)
    assert shown(0.051, 0.001) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)  # hardly any case changes
    assert shown(0.02, 0.02) > 0.9


def test_p_is_the_level_at_which_the_bound_reaches_the_limit() -> None:
    table = templated(np.random.default_rng(3), 0.9, 12, 8, 0.3)
    p = rate_p([table], 0.8, "above")
    n = effective_cases([table], 1 - 2 * p)
    assert 0.001 < p < 0.4
    assert betaincinv(rate(table) * n, n - rate(table) * n + 1, p) == pytest.approx(0.8, abs=1e-4)

"""Effect sizes and permutation p values: the worked examples of `docs/method/bias.md` 5.5, and brute force."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from shoal.stats.association import (
    association,
    effect_size,
    effect_size_interval,
    permutation_p,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def sides(case):
    return (association(case[name], case["A"], case["B"]) for name in "XY")


def test_worked_examples(worked, rng):
    first, second = worked["diag.seat"]["cases"]
    x, y = sides(first)
    assert x.tolist() == pytest.approx([1, 0.2]) and y.tolist() == pytest.approx([-1, -0.2])
    assert effect_size(x, y) == pytest.approx(first["d_ddof1"], abs=1e-6)
    assert permutation_p(x, y, rng).p == pytest.approx(first["p_ge"])
    assert permutation_p(x, y, rng, strict=True).p == first["p_gt"]
    x, y = sides(second)
    assert effect_size(x, y) == pytest.approx(second["d_ddof1"], abs=1e-6)
    found = permutation_p(x, y, rng)
    assert (found.p, found.partitions, found.exact) == (second["p_ge"], 20, True)  # the tie counts
    assert permutation_p(x, y, rng, strict=True).p == second["p_gt"]


def test_ten_targets_a_side_are_sampled_and_nine_are_not(worked, rng):
    limit = worked["diag.seat"]["exact_limit"]
    for n, exact in ((limit["max_exact_n"], True), (limit["max_exact_n"] + 1, False)):
        values = rng.normal(size=2 * n)
        found = permutation_p(values[:n], values[n:], rng, limit["n_samples"])
        assert found.exact is exact
        assert found.partitions == (math.comb(2 * n, n) if exact else limit["n_samples"])


def test_the_studentised_p_is_that_of_brute_force_and_at_least_that_of_welch(rng):
    for _ in range(3):
        x, y = rng.normal(0.5, 1.0, 3), rng.normal(0.0, 2.0, 6)
        both = np.concatenate([x, y])

        def welch(chosen, both=both):
            chosen = list(chosen)
            return stats.ttest_ind(
                both[chosen], np.delete(both, chosen), equal_var=False, alternative="greater"
            )

        partitions = [welch(chosen).statistic for chosen in itertools.combinations(range(9), 3)]
        observed = welch((0, 1, 2))
        share = np.mean(np.array(partitions) >= observed.statistic - 1e-9)
        found = permutation_p(x, y, rng, studentised=True)
        assert found.partitions == 84 and found.p == pytest.approx(max(share, observed.pvalue))
    x, y = rng.normal(0.5, 1.0, 6), rng.normal(0.0, 2.0, 14)
    sampled = permutation_p(x, y, rng, 20_000, studentised=True)
    whole = permutation_p(x, y, rng, studentised=True)
    assert not sampled.exact and whole.exact and sampled.p == pytest.approx(whole.p, abs=0.015)


def test_words_change_sides_with_all_their_sentences():
    x, y = [1.0, 0.9, 0.8, 0.2], [-1.0, -0.6, 0.1, 0.3]
    words = ["a", "a", "b", "b"], ["c", "c", "d", "d"]
    by_words = permutation_p(x, y, np.random.default_rng(0), units=words)
    assert by_words == permutation_p([0.95, 0.5], [-0.8, 0.2], np.random.default_rng(0))
    assert by_words.partitions == 6
    alone = permutation_p(x, y, np.random.default_rng(0), units=(range(4), range(4)))
    assert alone == permutation_p(x, y, np.random.default_rng(0))


def test_the_interval_of_words_alone_is_that_of_welchs_noncentral_t():
    x, y = np.array([0.5, 0.1, 0.4, 0.2, 0.3]), np.array([0.1, -0.2, 0.2, 0.0, -0.3])
    low, high = effect_size_interval(x, y)
    welch = stats.ttest_ind(x, y, equal_var=False)
    for end, chance in ((low, 0.975), (high, 0.025)):
        g = end / np.sqrt(1 - end**2 / 4)
        assert stats.nct.cdf(welch.statistic, welch.df, g / np.sqrt(2 / 5)) == pytest.approx(chance, abs=1e-5)


@pytest.mark.parametrize("spread", [(3.0, 1.0), (1.0, 3.0)])
def test_the_interval_covers_where_the_smaller_set_spreads_more_or_less(spread):
    rng, held, difference = np.random.default_rng(5), 0, 1.5
    variance = 0.25 * spread[0] ** 2 + 0.75 * spread[1] ** 2
    truth = difference / np.sqrt(variance + 0.25 * 0.75 * difference**2)
    for _ in range(200):
        low, high = effect_size_interval(rng.normal(difference, spread[0], 8), rng.normal(0, spread[1], 24))
        held += low <= truth <= high
    assert held / 200 >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 200)


def test_a_single_word_has_no_interval():
    assert np.isnan(effect_size_interval([0.1, 0.2], [0.3, 0.4, 0.5], (["a", "a"], [1, 2, 3]))).all()
    assert np.isnan(effect_size_interval([0.1, 0.1], [0.3, 0.3])).all()

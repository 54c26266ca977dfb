"""E-values are 1 on average where nothing is wrong, and a hundred looks err in at most one of twenty histories."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import binom

from shoal.stats.sequential import below_e_value, look_limit, mean_below_e_value, worse_e_value

LOOKS, HISTORIES = 100, 400
AT_MOST = 0.05 + 2 * math.sqrt(0.05 * 0.95 / HISTORIES)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 60), st.integers(0, 60))
def test_the_mixture_is_the_integral(better: int, worse: int) -> None:
    def ratio(share: float) -> float:
        return 2 * math.exp(
            worse * math.log(2 * share) + better * math.log(2 * (1 - share)) if share < 1 else -math.inf
        )

    expected, _ = integrate.quad(ratio, 0.5, 1)
    assert worse_e_value(better, worse) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("changed", [1, 5, 40])
def test_equal_models_have_an_e_value_of_one_on_average_and_better_ones_less(changed: int) -> None:
    worse = np.arange(changed + 1)
    e = np.array([worse_e_value(changed - w, w) for w in worse.tolist()])
    assert binom.pmf(worse, changed, 0.5) @ e == pytest.approx(1)
    assert binom.pmf(worse, changed, 0.4) @ e < 1


@pytest.mark.parametrize("limit", [0.5, 0.8, 0.95])
def test_a_rate_at_the_limit_has_an_e_value_of_one_on_average_and_a_higher_one_less(limit: float) -> None:
    passes = np.arange(31)
    e = np.array([below_e_value(k, 30, limit) for k in passes.tolist()])
    assert binom.pmf(passes, 30, limit) @ e == pytest.approx(1)
    assert binom.pmf(passes, 30, (1 + limit) / 2) @ e < 1
    assert binom.pmf(passes, 30, limit / 2) @ e > 20


def test_bets_are_fair_and_know_no_order() -> None:
    values, chances = np.array([-1.0, 0.0, 1.0]), np.array([0.2, 0.6, 0.2])
    triples = [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]
    mean = sum(
        chances[list(triple)].prod() * mean_below_e_value(values[list(triple)], 0.0, 1.0)
        for triple in triples
    )
    assert mean == pytest.approx(1)
    assert mean_below_e_value([-1, 0.5, 0, -0.2], 0.0, 1.0) == pytest.approx(
        mean_below_e_value([0, -0.2, float("nan"), -1, 0.5], 0.0, 1.0)
    )
    assert mean_below_e_value([], 0.0, 1.0) == pytest.approx(1)


def test_evidence_for_worse_grows_and_never_overflows() -> None:
    assert worse_e_value(0, 5000) == below_e_value(0, 5000, 0.9) == math.inf
    assert mean_below_e_value([-1] * 5000, 0.0, 1.0) == math.inf
    assert worse_e_value(5000, 0) == 0.0
    looks = [worse_e_value(1, worse) for worse in range(12)]
    assert looks == sorted(looks) and looks[-1] > 20


def test_more_and_more_cases_may_be_looked_at_after_each_commit() -> None:
    rng = np.random.default_rng(0)
    # Twenty new cases a look, three in ten of them changed, as often for the better as for the worse.
    changed = rng.binomial(20, 0.3, size=(HISTORIES, LOOKS))
    worse = np.cumsum(rng.binomial(changed, 0.5), axis=1)
    better = np.cumsum(changed, axis=1) - worse
    alarms = sum(
        any(worse_e_value(b, w) >= 20 for b, w in zip(bs, ws, strict=True))
        for bs, ws in zip(better.tolist(), worse.tolist(), strict=True)
    )
    assert alarms / HISTORIES <= AT_MOST
    passes = np.cumsum(rng.binomial(20, 0.8, size=(HISTORIES, LOOKS)), axis=1)
    alarms = sum(
        any(below_e_value(k, 20 * look, 0.8) >= 20 for look, k in enumerate(row, start=1))
        for row in passes.tolist()
    )
    assert alarms / HISTORIES <= AT_MOST


def test_a_new_model_on_the_same_cases_at_every_commit() -> None:
    """Models as good as the baseline, each with noise of its own, on a suite and a baseline that stay."""
    rng = np.random.default_rng(1)
    alarms = plain = 0
    for _ in range(HISTORIES):
        chances = rng.choice([0.05, 0.5, 0.95], size=100)
        baseline = rng.random(100) < chances
        models = rng.random((LOOKS, 100)) < chances
        worse, better = (models < baseline).sum(axis=1), (models > baseline).sum(axis=1)
        e = [worse_e_value(b, w) for b, w in zip(better.tolist(), worse.tolist(), strict=True)]
        alarms += any(value >= look_limit(look) for look, value in enumerate(e, start=1))
        plain += binom.sf(worse - 1, worse + better, 0.5).min() <= 0.05
    assert alarms / HISTORIES <= AT_MOST
    assert plain / HISTORIES > 0.4  # a test at 5 % on every commit


def test_the_chances_of_all_looks_add_up_to_the_level() -> None:
    assert sum(1 / look_limit(look) for look in range(1, 5000)) == pytest.approx(0.05, rel=1e-3)
    assert 30 / look_limit(2, family=30) == pytest.approx(1 / look_limit(2))


def test_a_model_that_got_worse_is_found_at_the_hundredth_commit_and_its_repair_passes() -> None:
    assert worse_e_value(5, 45) >= look_limit(100)
    assert worse_e_value(20, 25) < look_limit(101)


def test_unequal_shares_of_a_mean_bet_fairly_too() -> None:
    """Four cases of which two count twice as much; their means are apart, but the sum is at its limit."""
    weights, chances = np.array([2.0, 2.0, 1.0, 1.0]), np.array([0.7, 0.5, 0.4, 0.2])
    limit = float(weights @ chances / weights.sum())
    mean = 0.0
    for pattern in range(16):
        hits = np.array([pattern >> bit & 1 for bit in range(4)])
        chance = float(np.where(hits, chances, 1 - chances).prod())
        mean += chance * mean_below_e_value(weights * (hits - limit), 0.0, 2 * (1 - limit))
    assert 0.9 < mean <= 1


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="not negative; got -1"):
        worse_e_value(-1, 2)
    with pytest.raises(ValueError, match="limit between 0 and 1"):
        below_e_value(3, 2, 0.5)
    with pytest.raises(ValueError, match="at most 1.0"):
        mean_below_e_value([2.0], 0.0, 1.0)

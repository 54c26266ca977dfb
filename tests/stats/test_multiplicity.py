"""Adjusted p values only grow, keep their order, and let a missing test be missing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.multiplicity import (
    benjamini_hochberg,
    benjamini_yekutieli,
    hierarchical_gate,
    holm,
    max_t,
)

NA = float("nan")
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(deadline=None)
@given(p_values)
def test_adjusted_p_is_at_least_raw_p_and_ordered_by_severity(p: list[float]) -> None:
    fdr, any_dependence, family = benjamini_hochberg(p), benjamini_yekutieli(p), holm(p)
    assert (fdr >= np.array(p) - 1e-12).all()
    assert (family >= fdr - 1e-12).all() and (any_dependence >= fdr - 1e-12).all()
    assert max(family.max(), any_dependence.max()) <= 1
    assert (family <= np.minimum(1, np.array(p) * len(p)) + 1e-12).all()  # never beyond Bonferroni


@settings(deadline=None)
@given(p_values, st.randoms(use_true_random=False))
def test_order_of_tests_changes_nothing(p: list[float], random: "st.DataObject") -> None:
    order = list(range(len(p)))
    random.shuffle(order)  # type: ignore[attr-defined]
    for adjust in (holm, benjamini_hochberg, benjamini_yekutieli):
        assert adjust([p[i] for i in order]) == pytest.approx(adjust(p)[order])


@settings(deadline=None)
@given(p_values)
def test_scipy_agrees_on_false_discovery_rates(p: list[float]) -> None:
    from scipy.stats import false_discovery_control

    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))
    assert benjamini_yekutieli(p) == pytest.approx(false_discovery_control(p, method="by"))


def test_a_test_that_could_not_be_made_does_not_count() -> None:
    for adjust in (holm, benjamini_hochberg, benjamini_yekutieli):
        found = adjust([0.01, NA, 0.03])
        assert np.isnan(found[1]) and found[[0, 2]] == pytest.approx(adjust([0.01, 0.03]))
    assert len(holm([])) == 0


def test_max_t_of_a_single_score_is_its_own_p() -> None:
    shuffled = np.random.default_rng(0).normal(size=(999, 1))
    expected = (1 + (np.abs(shuffled) >= 1.5).sum()) / 1000
    assert max_t([1.5], shuffled) == pytest.approx(expected)
    assert max_t([-1.5], shuffled) == pytest.approx(expected)


def test_max_t_costs_less_than_holm_when_scores_move_together() -> None:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(1999, 1)) + 0.1 * rng.normal(size=(1999, 6))
    observed = np.full(6, 2.3)
    raw = (1 + (np.abs(shared) >= 2.3).sum(axis=0)) / 2000
    assert (max_t(observed, shared) >= raw).all()
    assert max_t(observed, shared).max() < holm(raw).min() / 2


def test_max_t_gives_a_score_that_never_moves_one() -> None:
    assert max_t([0.0, 3.0], [[0.0, 1.0], [0.0, -1.0]]).tolist() == [1.0, 1 / 3]


def test_the_gate_stops_below_what_is_not_rejected() -> None:
    parents = {"all": None, "a": "all", "b": "all", "a1": "a", "b1": "b", "b2": "b"}
    p = {"all": 0.04, "a": 0.2, "b": 0.01, "a1": 1e-9, "b1": 0.03, "b2": 0.02}
    found = hierarchical_gate(p, parents)
    assert found == {"all": True, "a": False, "b": True, "a1": None, "b1": True, "b2": True}
    assert hierarchical_gate(p | {"all": 0.06}, parents) == {"all": False} | dict.fromkeys(list(p)[1:])
    assert hierarchical_gate(p | {"all": NA}, parents)["all"] is False


def test_siblings_are_adjusted_among_themselves() -> None:
    assert hierarchical_gate({"a": 0.03, "b": 0.9}, {"a": None, "b": None}) == {"a": False, "b": False}


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])
    with pytest.raises(ValueError, match="column per score"):
        max_t([1.0, 2.0], [[1.0]])
    with pytest.raises(ValueError, match="'a' does not lead up to a root"):
        hierarchical_gate({"a": 0.1, "b": 0.1}, {"a": "b", "b": "a"})

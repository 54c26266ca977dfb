"""Few-shot ranking as worked by hand, and what must hold for any numbers."""

import math
from itertools import product

import numpy as np
import pytest

from shoal.stats.ranking import (
    decided_pairs,
    differ_e_value,
    differ_mean_e_value,
    few_shot_accuracy,
    guess,
    order_of,
    probability_better,
    probe_means,
)

FULL = [0.9, 0.7, 0.4]


@pytest.fixture
def toy(worked):
    """The toy check: three models, four examples, all sixteen ordered probe sets of two."""
    example = worked["fewshot.toy"]
    probes = np.array(list(product(range(4), repeat=example["t"])))
    return example, probe_means(example["correct"], probes)


def test_the_toy_check_with_ties_one_half(toy):
    example, means = toy
    order = order_of(means)
    assert [order[0, 1], order[0, 2], order[1, 2]] == example["pairs_half"]
    assert few_shot_accuracy(order, FULL) == pytest.approx(example["accuracy_half"], abs=1e-6)
    assert few_shot_accuracy(order_of(-means), FULL) == pytest.approx(0.229167, abs=1e-6)


def test_the_toy_check_with_ties_as_failures(toy):
    example, means = toy
    order = order_of(means, "fail")
    assert [order[0, 1], order[0, 2], order[1, 2]] == example["pairs_strict"]
    assert few_shot_accuracy(order, FULL) == pytest.approx(0.541667, abs=1e-6)


def test_guessing_among_three_models(worked):
    assert guess([0.6, 0.7, 0.8]) == pytest.approx(worked["fewshot.kernels"]["guess"], abs=1e-6)
    assert math.isnan(guess([0.5, 0.5]))


def test_the_probability_of_being_better():
    assert probability_better(10, 2) == pytest.approx(0.98877, abs=5e-6)
    assert probability_better(0, 0) == 0.5
    assert probability_better(3, 7) == pytest.approx(1 - probability_better(7, 3))


def test_evidence_that_may_be_looked_at_again():
    assert differ_e_value(10, 2) == pytest.approx(4.774, abs=5e-4)
    assert 1 / differ_e_value(10, 2) == pytest.approx(0.209, abs=5e-4)
    assert differ_e_value(7, 0) < 20 <= differ_e_value(8, 0)
    assert differ_e_value(2, 10) == differ_e_value(10, 2)


def test_weighted_evidence_is_one_on_average_where_nothing_differs():
    patterns = [np.array(signs) * np.array([1.0, 0.5, 0.25]) for signs in product((-1, 1), repeat=3)]
    assert np.mean([differ_mean_e_value(x, [1, 1, 1]) for x in patterns]) == pytest.approx(1.0)
    assert differ_mean_e_value([0.5, 0.5], [1, 1]) == pytest.approx(differ_mean_e_value([0.5], [2]))


# Corners


def test_what_is_not_known_is_averaged_over_the_rest_or_ties():
    values = [[1.0, np.nan, 1.0], [np.nan, np.nan, 0.0]]
    means = probe_means(values, np.array([[0, 1], [1, 2], [1, 1]]))
    assert np.array_equal(means, np.array([[1, np.nan], [1, 0], [np.nan, np.nan]]), equal_nan=True)
    assert order_of(means)[0, 1] == pytest.approx((0.5 + 1 + 0.5) / 3)


def test_models_that_are_equally_good_are_no_pair():
    better, worse = decided_pairs([0.5, 0.9, 0.5])
    assert list(zip(better, worse, strict=True)) == [(1, 0), (1, 2)]
    assert math.isnan(few_shot_accuracy(np.full((2, 2), 0.5), [0.3, 0.3]))

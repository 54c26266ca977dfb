"""Pattern accuracy and what it is compared with: the values of docs/method/merge.md 4.6, 4.7 and beyond.md 7.15."""

import math

import numpy as np
import pytest

from shoal.stats.patterns import (
    correlation_interval,
    independence_reference,
    intra_problem_correlation,
    is_solved,
    needed,
    sample_accuracy,
)


def share(right, n, threshold):
    return float(np.mean(is_solved(right, n, threshold)))


def test_the_worked_references(worked):
    example = worked["merge.null"]
    for threshold, expected in example["independent"].items():
        reference = independence_reference([example["n"]], example["mu"], float(threshold))
        assert reference == pytest.approx(expected, abs=5e-8)
    assert independence_reference([20], 0.8872, 0.5) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("threshold", "n", "expected"),
    [(0.9, 20, 18), (0.95, 20, 19), (0.67, 3, 3), (0.66, 3, 2), (1.0, 20, 20), (0.05, 20, 1), (0.01, 20, 1)],
)
def test_thresholds_are_whole_numbers_of_variants(threshold, n, expected):
    assert needed(threshold, n) == expected


def test_unequal_problems_are_weighed_by_problem_not_by_variant():
    assert share([1, 0], [1, 9], 1.0) == 0.5 and sample_accuracy([1, 0], [1, 9]) == 0.1


def test_the_slips_of_the_poster(tables):
    rows = [line.split(",") for line in (tables / "merge_table1_statistics.csv").read_text().splitlines()[1:]]
    seeds = {row[0]: int(row[1]) for row in rows}
    assert [20 * seeds[name] for name in ("N_Var", "V_Var")] == [74_080, 22_580]
    assert 20 * 281 == 5_620 == int(rows[2][6]) != 20 * seeds["Adj_Var"]
    assert 74_080 + 22_580 + 5_620 == 102_280 == int(rows[3][6])
    average = (3704 * 144.2 + 1129 * 112 + 280 * 79.9) / 4468
    assert average == pytest.approx(152.85, abs=0.005)
    assert sum(map(float, rows[0][3:6])) == pytest.approx(81.2)


def test_all_or_nothing_is_a_correlation_of_one_and_chance_is_none():
    assert intra_problem_correlation([20, 0, 20, 20], [20] * 4) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    n = rng.integers(5, 30, size=4000)
    assert intra_problem_correlation(rng.binomial(n, 0.8), n) == pytest.approx(0.0, abs=0.01)
    assert math.isnan(intra_problem_correlation([20, 20], [20, 20]))
    assert math.isnan(intra_problem_correlation([1, 0], [1, 1]))


def test_the_correlation_that_was_planted_is_found():
    rng = np.random.default_rng(1)
    size = 1 / 0.3 - 1
    n = rng.choice([10, 20, 40], size=3000)
    c = rng.binomial(n, rng.beta(0.85 * size, 0.15 * size, size=3000))
    assert intra_problem_correlation(c, n) == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(
    ("premises", "mean", "planted"), [(10, 0.8, 1 / 6), (10, 0.95, 1 / 21), (40, 0.85, 0.3)]
)
def test_the_interval_of_a_correlation_covers_it_for_few_problems(premises, mean, planted):
    rng = np.random.default_rng(2)
    size, hits, times = 1 / planted - 1, 0, 300
    of_premise = np.arange(premises).repeat(2)
    for _ in range(times):
        chances = rng.beta(mean * size, (1 - mean) * size, size=premises)[of_premise]
        middle, (low, high) = correlation_interval(
            [rng.binomial(10, chances)], [np.full(2 * premises, 10)], of_premise
        )
        hits += low <= planted <= high or math.isnan(low)
        assert math.isnan(low) or low <= middle <= high
    assert hits / times >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / times)

"""Pattern accuracy and what it is compared with: the values of docs/method/merge.md 4.6, 4.7 and beyond.md 7.15."""

import numpy as np
import pytest

from shoal.stats.patterns import (
    independence_reference,
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

"""Pattern accuracy and what it is compared with: the values of docs/method/merge.md 4.6, 4.7 and beyond.md 7.15."""

import pytest

from shoal.stats.patterns import (
    independence_reference,
    needed,
)


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

"""Measures that rest on no cases that could be paired: only several runs a side show their variance."""

from dataclasses import replace

import pytest

from shoal import Measure, Measures
from shoal.comparing.pairs import compare
from shoal.core.records import Basis


@pytest.mark.parametrize("runs", [1, 3])
def test_a_measure_without_cases_to_pair_is_compared_over_runs(make, runs):
    sides = []
    for shift in (0.0, 0.1):
        side = []
        for number in range(runs):
            measure = Measure("icat", 0.6 + shift + number / 100, 80, basis=Basis(runs=True))
            side.append(replace(make({"f": [1, 0] * 20}), measures=Measures([measure])))
        sides.append(side)
    (row,) = compare(*sides).rows
    assert row.difference == pytest.approx(0.1)
    assert (row.p is None) == (runs == 1) and (row.mde is None) == (runs == 1)

"""Level and power of `compare` and `judge`: few repetitions, seeded, at the sizes people use.

`benchmarks/level_and_power.py` has the long version, docs/studies/level-and-power.md its tables.
"""

import numpy as np
import pytest

from shoal import Case, Measures, Outcome, Result
from shoal.comparing.gate import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule
from shoal.protocols.behaviour.score import measure
from shoal.stats.power import sign_test_power

QUICK = Choices(shuffles=200, power=False)


def cases_of(functionalities: int, size: int, templates: int = 0) -> list[Case]:
    return [
        Case(
            f"f{f}/{n}",
            ((f"text {f} {n}",),),
            None,
            {"functionality": f"f{f}", "capability": "c", "test type": "MFT"},
            f"f{f} t{n % templates}" if templates else "",
        )
        for f in range(functionalities)
        for n in range(size)
    ]


def result(cases: list[Case], hits: np.ndarray) -> Result:
    outcomes = [Outcome(case.id, bool(hit)) for case, hit in zip(cases, hits, strict=True)]
    return Result({"model": "m"}, cases, outcomes, Measures(measure(cases, outcomes)))


@pytest.mark.nightly
@pytest.mark.parametrize(("seeds", "spread"), [(2, 0.05), (3, 0.05), (5, 0.05), (3, 0.0)])
def test_equal_recipes_are_rarely_called_different(seeds, spread):
    rng, cases, alarms = np.random.default_rng(seeds), cases_of(3, 20), 0
    difficulty = rng.normal(0, 0.1, len(cases))
    repetitions = 120
    for _ in range(repetitions):
        sides = [
            [
                result(cases, rng.random(len(cases)) < 0.7 + difficulty + rng.normal(0, spread))
                for _ in range(seeds)
            ]
            for _ in range(2)
        ]
        p = compare(sides[0], sides[1], QUICK).headline.p
        alarms += p is not None and p <= 0.05
    assert alarms / repetitions <= 0.10  # 5 % and twice its Monte Carlo error


@pytest.mark.slow
def test_a_recipe_that_is_worse_is_found_and_covered():
    rng, cases = np.random.default_rng(1), cases_of(3, 40)
    found = covered = 0
    for _ in range(80):
        a = [result(cases, rng.random(len(cases)) < 0.8 + rng.normal(0, 0.02)) for _ in range(5)]
        b = [result(cases, rng.random(len(cases)) < 0.65 + rng.normal(0, 0.02)) for _ in range(5)]
        row = compare(a, b, QUICK).headline
        assert row.p is not None and row.interval is not None
        found += row.p <= 0.05
        covered += row.interval[0] <= -0.15 <= row.interval[1]
    assert found >= 72 and covered >= 72


def test_a_planted_failure_among_thirty_is_found():
    rng, cases = np.random.default_rng(0), cases_of(30, 60)
    hits = rng.random(len(cases)) < 0.95
    hits[:60] = rng.random(60) < 0.4
    rule = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
    assert [verdict.name for verdict in judge([rule], result(cases, hits)) if not verdict.is_met] == ["f0"]


@pytest.mark.parametrize(("lost", "fixed"), [(0, 0), (8, 4), (12, 12), (30, 4)])
def test_a_drop_as_large_as_the_minimum_detectable_drop_is_found_in_8_of_10(lost, fixed):
    cases = cases_of(1, 81, 5)
    before, after = np.ones(81, bool), np.ones(81, bool)
    after[:lost], before[lost : lost + fixed] = False, False
    mde = compare([result(cases, before)], [result(cases, after)]).by("functionality")[0].mde
    assert mde is not None
    # A difference that the test rejects is a drop, not churn: only what changed against it, and as much with it, is.
    churn = (2 * fixed if lost == 30 else lost + fixed) / 81
    assert 0.79 <= sign_test_power(81, churn + mde, mde) <= 0.9

"""What comparisons and gates promise, simulated through `compare` and `judge` at the sizes people use.

Few repetitions, seeded: a level that is off by much shows. `benchmarks/coverage.py` has the long versions.
"""

import numpy as np
import pytest

from shoal import Case, Measures, Outcome, Result
from shoal.comparing.judge import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule
from shoal.protocols.behaviour.score import measure

QUICK = Choices(shuffles=200, could_see=False)


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


def drawn(cases: list[Case], rate: float, rng: np.random.Generator, templates: bool = False) -> np.ndarray:
    """Outcomes at a rate; cases of a template mostly go alike."""
    alone = rng.random(len(cases)) < rate
    if not templates:
        return alone
    by_template = {case.cluster: rng.random() < rate for case in cases}
    together = np.array([by_template[case.cluster] for case in cases])
    return np.where(rng.random(len(cases)) < 0.7, together, alone)


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("functionalities", "size", "templates"), [(30, 5, 0), (30, 20, 0), (5, 20, 5), (1, 40, 8)]
)
def test_the_suite_score_is_covered(functionalities, size, templates):
    rng, cases = np.random.default_rng(functionalities), cases_of(functionalities, size, templates)
    covered = 0
    for _ in range(200):
        score = result(cases, drawn(cases, 0.9, rng, bool(templates))).measures.where("suite score")[0]
        assert score.interval is not None
        covered += score.interval[0] <= 0.9 <= score.interval[1]
    assert covered / 200 >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("templates", [0, 5])
def test_a_gate_on_every_functionality_rarely_fails_a_model_that_is_as_good(templates):
    rng, cases = np.random.default_rng(templates), cases_of(30, 20, templates)
    rule = Rule({"functionality": "*"}, no_worse_than_baseline_by=0.0, judge="upper bound")
    at_least = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
    failed = {"relative": 0, "absolute": 0}
    for _ in range(60):
        old, new = (result(cases, drawn(cases, 0.8, rng, bool(templates))) for _ in range(2))
        failed["relative"] += not all(verdict.is_met for verdict in judge([rule], new, old))
        failed["absolute"] += not all(verdict.is_met for verdict in judge([at_least], new))
    assert max(failed.values()) <= 7  # 5 % of 60 is 3


def test_a_planted_failure_among_thirty_is_found():
    rng, cases = np.random.default_rng(0), cases_of(30, 60)
    hits = rng.random(len(cases)) < 0.95
    hits[:60] = rng.random(60) < 0.4
    rule = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
    assert [verdict.name for verdict in judge([rule], result(cases, hits)) if not verdict.is_met] == ["f0"]

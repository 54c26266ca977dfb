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
DRAWS = 20


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


def changed(hits: np.ndarray, rng: np.random.Generator, drop: float, cases: int) -> np.ndarray:
    """Return another model's outcomes: half the cases drawn anew, the first so many of them worse by the drop."""
    other = np.where(rng.random(len(hits)) < 0.5, rng.random(len(hits)) < 0.96, hits)
    other[:cases] &= rng.random(cases) >= drop / 0.96
    return other


@pytest.mark.slow
@pytest.mark.parametrize("templates", [2, 3, 8])
def test_a_drop_of_20_points_in_81_cases_is_marked_and_equal_models_are_not(templates):
    rng, cases = np.random.default_rng(10 * templates), cases_of(5, 81, templates)
    found, false_marks = 0, 0
    for _ in range(DRAWS):
        old = rng.random(len(cases)) < 0.96
        equal, worse = (changed(old, rng, drop, 81) for drop in (0.0, 0.2))
        rows = compare([result(cases, old)], [result(cases, worse)], QUICK).by("functionality")
        found += rows[0].significant and not rows[0].is_better
        same = compare([result(cases, old)], [result(cases, equal)], QUICK)
        false_marks += any(row.significant for row in same.rows)
    assert found >= 16 and false_marks <= 2


@pytest.mark.slow
@pytest.mark.parametrize("judge_by", ["observed", "lower bound", "upper bound"])
@pytest.mark.parametrize("limit", [{"at_least": 0.5}, {"no_worse_than_baseline_by": 0.02}], ids=str)
def test_a_collapse_fails_every_gate_at_every_number_of_templates(limit, judge_by):
    for templates in (0, 2, 3, 5, 8, 20):
        cases = cases_of(3, 81, templates)
        before, after = np.arange(243) % 81 >= 3, np.arange(243) % 81 >= 3
        after[:81] = False
        for name in ("f0", "*"):
            rule = Rule({"functionality": name}, judge=judge_by, **limit)
            verdicts = judge([rule], result(cases, after), result(cases, before))
            assert "f0" in [v.name for v in verdicts if not v.is_met], (templates, name)


def test_more_templates_change_no_number_and_no_verdict_at_equal_results():
    rng, rule = np.random.default_rng(0), Rule({"functionality": "*"}, at_least=0.8, judge="lower bound")
    old = rng.random(180) < 0.96
    new = changed(old, rng, 0.2, 60)
    seen = []
    for templates in (0, 1, 2, 3, 5, 20, 60):
        cases = cases_of(3, 60, templates)
        before, after = result(cases, old), result(cases, new)
        rows = compare([before], [after], Choices(shuffles=200)).rows
        verdicts = [(verdict.status, verdict.judged) for verdict in judge([rule], after)]
        seen.append(([(row.interval, row.p, row.adjusted, row.mde) for row in rows], verdicts))
    assert all(numbers == seen[0] for numbers in seen)


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


def template_rates(cases: list[Case], rng: np.random.Generator, spread: float = 0.1) -> np.ndarray:
    """Return a pass rate for each case, that of its template."""
    rates = {name: rng.uniform(-spread, spread) for name in dict.fromkeys(case.cluster for case in cases)}
    return np.array([0.85 + rates[case.cluster] for case in cases])


@pytest.mark.slow
@pytest.mark.parametrize(("functionalities", "size", "templates"), [(30, 5, 2), (5, 20, 5), (1, 40, 8)])
def test_the_suite_score_is_covered_for_new_cases_of_the_same_templates(functionalities, size, templates):
    rng, cases = np.random.default_rng(functionalities), cases_of(functionalities, size, templates)
    covered = 0
    for _ in range(200):
        rates = template_rates(cases, rng)
        score = result(cases, rng.random(len(cases)) < rates).measures.where("suite score")[0]
        assert score.interval is not None
        covered += score.interval[0] <= rates.mean() <= score.interval[1]
    assert covered / 200 >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("templates", [0, 3])
def test_a_gate_on_every_functionality_rarely_fails_a_model_that_is_as_good(templates):
    rng, cases = np.random.default_rng(templates), cases_of(23, 40, templates)
    relative = Rule({"functionality": "*"}, no_worse_than_baseline_by=0.0, judge="upper bound")
    absolute = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
    failed = {"relative": 0, "absolute": 0}
    for _ in range(60):
        old, new = (result(cases, rng.random(len(cases)) < 0.8) for _ in range(2))
        failed["relative"] += not all(verdict.is_met for verdict in judge([relative], new, old))
        failed["absolute"] += not all(verdict.is_met for verdict in judge([absolute], new))
    assert max(failed.values()) <= 7  # 5 % of 60 is 3


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

"""Rules and verdicts: what is good enough passes, what is not fails, and what cannot be known does not pass."""

from dataclasses import replace

import pytest
from scipy.stats import binom

from shoal import Finding, Measure, Measures, Result
from shoal.comparing.gate import judge
from shoal.comparing.rules import Rule, read_rules
from shoal.comparing.view import gate_verdict
from shoal.core.errors import DataError, PlanError
from shoal.core.records import Basis


def statuses(rules: list[Rule], result: Result, baseline: Result | None = None) -> list[tuple[str, str]]:
    return [(verdict.name, verdict.status) for verdict in judge(rules, result, baseline)]


@pytest.mark.parametrize(
    ("judged", "limit", "status"),
    [
        ("observed", 0.95, "met"),
        ("observed", 0.951, "failed"),
        ("upper bound", 0.97, "met"),
        ("upper bound", 0.98, "met"),  # Wilson ends at 97.8, but 95 or fewer come in 5.1 % of such models
        ("upper bound", 0.99, "failed"),
        ("lower bound", 0.88, "met"),
        ("lower bound", 0.9, "failed"),  # Wilson begins at 88.8
    ],
)
def test_the_rule_says_what_is_compared_with_its_limit(make, judged, limit, status):
    result = make({"f": [1] * 95 + [0] * 5})
    assert statuses([Rule({"functionality": "f"}, at_least=limit, judge=judged)], result) == [("f", status)]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.5, 0.56, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [5, 20, 50])
def test_a_bound_is_wrong_in_at_most_one_of_forty_summed_over_all_counts(make, n, limit):
    wrong = {"lower bound": 0.0, "upper bound": 0.0}
    for passes in range(n + 1):
        result = make({"f": [1] * passes + [0] * (n - passes)})
        for end in wrong:
            rule = Rule({"functionality": "*"}, at_least=limit, judge=end)  # type: ignore[arg-type]
            (verdict,) = judge([rule], result)
            (of_a_file,) = judge([rule], replace(result, cases=(), outcomes=()))
            assert (verdict.status, verdict.reason) == (of_a_file.status, of_a_file.reason)
            if verdict.status == ("met" if end == "lower bound" else "failed"):
                wrong[end] += float(binom.pmf(passes, n, limit))
    assert wrong["lower bound"] <= 0.025 + 1e-9  # the ends of Wilson's interval alone: up to 9.6 %
    assert wrong["upper bound"] <= 0.05 + 1e-9  # Holm over "*", here a family of one


@pytest.mark.parametrize(
    ("rule", "cases"),
    [
        (Rule({"functionality": "f"}, at_least=0.9, judge="lower bound"), 20),  # even 20 of 20 is no proof
        (Rule({"functionality": "f"}, at_least=0.1, judge="upper bound"), 20),  # 0 of 20 has a chance of 12 %
        (Rule({"functionality": "f"}, at_most=0.1, judge="lower bound"), 20),
        (Rule({"functionality": "f"}, no_worse_than_baseline_by=0.5, judge="upper bound"), 4),
    ],
)
@pytest.mark.parametrize("from_file", [False, True])
def test_a_rule_on_a_named_group_that_no_outcome_could_fail_or_pass_is_an_error(make, rule, cases, from_file):
    result = make({"f": [1, 0] * (cases // 2)})
    if from_file and not rule.is_relative:
        result = replace(result, cases=(), outcomes=())
    with pytest.raises(PlanError, match=f"even [^$]* {cases}[^$]*{cases} cases[^$]*try: "):
        judge([rule], result, result)


def test_under_a_star_such_groups_are_not_judged_and_the_others_are(make):
    result = make({"good": [1] * 100, "bad": [0] * 100, "tiny": [1] * 5})
    rule = Rule({"functionality": "*"}, at_least=0.9, judge="lower bound")
    assert statuses([rule], result) == [("good", "met"), ("bad", "failed"), ("tiny", "not judged")]
    fine = make({"good": [1] * 100, "tiny": [1] * 5})
    assert [verdict.is_met for verdict in judge([rule], fine)] == [True, False], "the gate is not met"


def test_rules_look_at_suite_capability_type_and_functionality(make):
    result = make({"a1": [1] * 40, "a2": [0] * 40, "b1": [1] * 40})
    point = Rule(at_least=0.6)
    assert statuses([point], result) == [("suite score", "met")]
    assert statuses([replace(point, groups={"capability": "a"})], result) == [("a", "failed")]
    assert statuses([replace(point, groups={"capability": "*"})], result) == [("a", "failed"), ("b", "met")]
    assert statuses([replace(point, groups={"test type": "MFT"})], result) == [("MFT", "met")]
    everything = [("a1", "met"), ("a2", "failed"), ("b1", "met")]
    assert statuses([replace(point, groups={"functionality": "*"})], result) == everything
    assert (
        statuses([replace(point, groups={"functionality": "*", "capability": "a"})], result) == everything[:2]
    )


def test_a_rule_that_matches_nothing_is_an_error(make):
    with pytest.raises(PlanError, match="rule 1 matches nothing: functionality 'negatoin'") as caught:
        judge([Rule({"functionality": "negatoin"}, at_least=0.5)], make({"negation": [1]}))
    assert 'try: "negation"' in str(caught.value)
    with pytest.raises(PlanError, match="a result that has this measure, such as one of the bias protocol"):
        judge([Rule({}, measure="stereotype score", at_most=0.65)], make({"negation": [1]}))


def test_errors_fail_unless_allowed(make):
    result = make({"f": [1] * 50 + ["timed out"] * 2})
    (verdict,) = judge([Rule({"functionality": "f"}, at_least=0.5)], result)
    assert (verdict.status, verdict.reason) == ("error", "the model gave no answer to 2 of 52 cases")
    assert statuses([Rule({"functionality": "f"}, at_least=0.5, allow_errors=True)], result) == [("f", "met")]


def test_errors_of_the_baseline_fail_a_relative_rule_unless_allowed(make):
    result, baseline = make({"f": [1] * 52}), make({"f": [1] * 50 + ["timed out"] * 2})
    rule = Rule({"functionality": "f"}, no_worse_than_baseline_by=0.1)
    for before in (baseline, replace(baseline, outcomes=())):
        (verdict,) = judge([rule], result, before)
        assert (verdict.status, verdict.reason) == ("error", "the baseline gave no answer to 2 of 52 cases")
    assert statuses([replace(rule, allow_errors=True)], result, baseline) == [("f", "met")]


def test_undefined_values_fail_unless_allowed(make):
    result = make({"f": [None, None]})
    assert statuses([Rule({"functionality": "f"}, at_least=0.5)], result) == [("f", "undefined")]
    assert not judge([Rule({"functionality": "f"}, at_least=0.5)], result)[0].is_met
    assert statuses([Rule({"functionality": "f"}, at_least=0.5, allow_undefined=True)], result) == [
        ("f", "passed over")
    ]
    no_interval = replace(result, measures=Measures([replace(result.measures[0], value=0.9, interval=None)]))
    bound = Rule({"functionality": "f"}, at_least=0.5, judge="lower bound", allow_undefined=True)
    assert statuses([bound], no_interval) == [("f", "undefined")]


def test_a_paired_baseline_sees_what_rates_alone_cannot(make):
    # 4 of 200 cases newly fail: paired, that is 2 points give or take 2; unpaired, give or take 9.
    old = make({"f": [1] * 120 + [0] * 80})
    new = make({"f": [1] * 116 + [0] * 84})
    rule = Rule({"functionality": "f"}, no_worse_than_baseline_by=0.06, judge="lower bound")
    assert statuses([rule], new, old) == [("f", "met")]
    rates = replace(old, cases=(), outcomes=())
    (verdict,) = judge([rule], new, rates)
    assert (verdict.status, verdict.measure.interval_method) == ("failed", "newcombe")
    assert "unpaired" in verdict.reason


def test_a_regression_rule_says_how_many_newly_failing_cases_its_limit_allows(make):
    old, new = make({"f": [1] * 81}), make({"f": [0] * 8 + [1] * 73})
    rule = Rule({"functionality": "f"}, no_worse_than_baseline_by=0.1)
    (verdict,) = judge([rule], new, old)
    assert verdict.status == "met"
    assert "8 newly failing" in verdict.reason and "at most 8 more failures" in verdict.reason
    (verdict,) = judge([replace(rule, no_worse_than_baseline_by=0.05)], new, old)
    assert verdict.status == "failed" and "at most 4 more failures" in verdict.reason
    (verdict,) = judge([replace(rule, judge="upper bound")], new, old)
    assert "at most 8 more failures" in verdict.reason and "upper bound" in verdict.reason


def test_a_met_rule_beyond_its_limit_names_the_bound_that_was_judged(make):
    result = make({"f": [1] * 8 + [0] * 12, "g": [1] * 20})
    rule = Rule({"functionality": "*"}, at_least=0.5, judge="upper bound")
    beyond, within = judge([rule], result)
    assert (beyond.status, within.status) == ("met", "met")
    assert beyond.reason == "8 of 20 pass; met: judged by its upper bound, 61.3 %"
    assert within.reason == "20 of 20 pass"


def test_newcombes_interval_as_he_worked_it(make):
    # Newcombe 1998, table II (a): 56/70 - 48/80, method 10: .0524 to .3339
    new, old = make({"f": [1] * 56 + [0] * 14}), make({"f": [1] * 48 + [0] * 32})
    rates = replace(old, cases=(), outcomes=())
    (verdict,) = judge([Rule({"functionality": "f"}, no_worse_than_baseline_by=0)], new, rates)
    assert verdict.measure.value == pytest.approx(0.2)
    assert verdict.measure.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_baseline_under_other_settings_is_refused(make):
    rule = Rule({"functionality": "f"}, no_worse_than_baseline_by=0.1)
    new, old = (make({"f": [1]}, settings={"profile": name}) for name in ("paper", "reference"))
    with pytest.raises(DataError, match="other settings\n  why: profile: 'paper', baseline 'reference'"):
        judge([rule], new, replace(old, cases=(), outcomes=()))


def test_what_is_better_when_lower_has_its_own_limit():
    gap = Measure("gap", 0.3, 100, {}, (0.25, 0.35), "t", basis=Basis("cases"))
    result = Result({"model": "m"}, (), (), Measures([gap]))
    assert statuses([Rule(at_most=0.3)], result) == [("gap", "met")]
    assert statuses([Rule(at_most=0.29)], result) == [("gap", "failed")]
    assert statuses([Rule(at_most=0.36, judge="lower bound")], result) == [("gap", "met")]
    assert statuses([Rule(at_most=0.34, judge="lower bound")], result) == [("gap", "failed")]
    assert statuses([Rule(at_most=0.26, judge="upper bound")], result) == [("gap", "met")]
    better = replace(result, measures=Measures([replace(gap, value=0.1, interval=(0.05, 0.15))]))
    relative = Rule(no_worse_than_baseline_by=0.0)
    assert statuses([relative], better, result) == [("gap", "met")]
    assert statuses([relative], result, better) == [("gap", "failed")]


def test_neither_way_is_worse_for_a_score_with_an_ideal():
    score = Measure("stereotype score", 0.6, 100, {}, (0.5, 0.7), "wilson", basis=Basis("cases"))
    result = Result({"model": "m"}, (), (), Measures([score]))
    with pytest.raises(PlanError, match="stereotype score has no better direction"):
        judge([Rule(no_worse_than_baseline_by=0.1)], result, result)
    assert statuses([Rule(at_most=0.75)], result) == [("stereotype score", "met")]


def test_a_rule_that_could_mean_several_things_is_refused(make):
    result = make({"a1": [1] * 30, "a2": [1] * 30})
    with pytest.raises(PlanError, match='rule 1 selects 2 groups at once[^$]*functionality = "\\*"'):
        judge([Rule({"capability": "a", "test type": "MFT"}, at_least=0.5)], result)


def test_a_former_judge_names_its_replacement(tmp_path):
    (tmp_path / "gate.toml").write_text("[[rule]]\nat_least = 1\njudge = 'point'\n")
    with pytest.raises(PlanError, match="judge = 'point'[^$]*try: judge = \"observed\""):
        read_rules(tmp_path / "gate.toml")


def test_a_verdict_that_the_exact_test_holds_back_says_so(make):
    rule = Rule({"functionality": "f"}, at_least=0.9, judge="lower bound")
    (verdict,) = judge([rule], make({"f": [1] * 52 + [0]}))
    assert verdict.status == "failed" and "p = " in verdict.reason, verdict.reason
    assert judge([rule], make({"f": [1] * 53}))[0].status == "met"


def test_a_gate_counts_the_rules_of_its_file_and_names_what_would_accept_an_undefined_group(make):
    rules = [Rule({"functionality": "none"}, at_least=0.5), Rule({"functionality": "f"}, at_least=0.5)]
    result = make({"f": [1] * 20, "none": [None] * 20})
    verdicts = judge(rules, result)
    assert verdicts[0].reason.endswith("; allow_undefined = true in the rule accepts this")
    result = replace(result, findings=[Finding("degenerate", "One answer.", disqualifies=True)])
    assert gate_verdict(judge(rules, result)) == (
        "Gate not met: the model is unusable; 1 of 2 rules failed",
        False,
    )

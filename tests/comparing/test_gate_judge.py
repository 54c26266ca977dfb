"""Rules and verdicts: what is good enough passes, what is not fails, and what cannot be known does not pass."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Measures, Result
from shoal.errors import DataError, PlanError
from shoal.gates.judge import judge
from shoal.gates.rules import Rule, make_rules, read_rules


def statuses(rules: list[Rule], result: Result, baseline: Result | None = None) -> list[tuple[str, str]]:
    return [(verdict.name, verdict.status) for verdict in judge(rules, result, baseline)]


# Which end of the interval


def test_by_default_we_must_be_confident_that_it_is_good_enough(make):
    result = make({"f": [1] * 95 + [0] * 5})  # 95 %, Wilson [88.8, 97.8]
    assert statuses([Rule("f", at_least=0.88)], result) == [("f", "met")]
    (verdict,) = judge([Rule("f", at_least=0.9)], result)
    assert verdict.status == "failed" and verdict.judged == pytest.approx(0.888, abs=5e-4)
    assert "as measured it is met, but too uncertain" in verdict.reason


@pytest.mark.parametrize(
    ("end", "limit", "status"),
    [
        ("point", 0.95, "met"),
        ("point", 0.951, "failed"),
        ("upper bound", 0.97, "met"),
        ("upper bound", 0.98, "failed"),
        ("lower bound", 0.8, "met"),
        ("lower bound", 0.95, "failed"),
    ],
)
def test_the_rule_says_which_end(make, end, limit, status):
    result = make({"f": [1] * 95 + [0] * 5})
    assert statuses([Rule("f", at_least=limit, judge=end)], result) == [("f", status)]


@given(st.integers(0, 30), st.integers(1, 30), st.floats(0, 1))
def test_lower_bound_is_stricter_than_point_and_point_than_upper_bound(make, passes, more, limit):
    result = make({"f": [1] * passes + [0] * (more - 1) + [1]})
    met = [
        judge([Rule("f", at_least=limit, judge=end)], result)[0].is_met
        for end in ("lower bound", "point", "upper bound")
    ]
    assert met == sorted(met)


def test_a_ninth_of_ten_is_90_per_cent(make):
    assert statuses([Rule("f", at_least=0.9, judge="point")], make({"f": [1] * 9 + [0]})) == [("f", "met")]


# What a rule looks at


def test_rules_look_at_suite_capability_type_and_functionality(make):
    result = make({"a1": [1] * 40, "a2": [0] * 40, "b1": [1] * 40})
    point = Rule(at_least=0.6, judge="point")
    assert statuses([point], result) == [("suite score", "met")]
    assert statuses([replace(point, capability="a")], result) == [("a", "failed")]
    assert statuses([replace(point, capability="*")], result) == [("a", "failed"), ("b", "met")]
    assert statuses([replace(point, test_type="MFT")], result) == [("MFT", "met")]
    everything = [("a1", "met"), ("a2", "failed"), ("b1", "met")]
    assert statuses([replace(point, functionality="*")], result) == everything
    assert statuses([replace(point, functionality="*", capability="a")], result) == everything[:2]


def test_a_rule_that_matches_nothing_is_an_error(make):
    with pytest.raises(PlanError, match="rule 1 matches nothing: functionality 'negatoin'") as caught:
        judge([Rule("negatoin", at_least=0.5)], make({"negation": [1]}))
    assert 'try: "negation"' in str(caught.value)


# What cannot be known


def test_errors_fail_unless_allowed(make):
    result = make({"f": [1] * 50 + ["timed out"] * 2})
    (verdict,) = judge([Rule("f", at_least=0.5)], result)
    assert (verdict.status, verdict.reason) == ("error", "the model gave no answer to 2 of 52 cases")
    assert statuses([Rule("f", at_least=0.5, allow_errors=True)], result) == [("f", "met")]


def test_undefined_values_fail_unless_allowed(make):
    result = make({"f": [None, None]})
    assert statuses([Rule("f", at_least=0.5)], result) == [("f", "undefined")]
    assert not judge([Rule("f", at_least=0.5)], result)[0].is_met
    assert statuses([Rule("f", at_least=0.5, allow_undefined=True)], result) == [("f", "passed over")]
    no_interval = replace(result, measures=Measures([replace(result.measures[0], value=0.9, interval=None)]))
    assert statuses([Rule("f", at_least=0.5, allow_undefined=True)], no_interval) == [("f", "undefined")]


def test_templates_shared_by_cases_are_mentioned(make):
    result = make({"f": [1] * 50})
    note = "4 templates: the interval takes their 50 cases as independent"
    shared = replace(result, measures=Measures([replace(result.measures[0], note=note)]))
    assert judge([Rule("f", at_least=0.5)], shared)[0].reason == "only 4 templates"


# Against a baseline


def test_a_paired_baseline_sees_what_rates_alone_cannot(make):
    # 4 of 200 cases newly fail: paired, that is 2 points give or take 2; unpaired, give or take 9.
    old = make({"f": [1] * 120 + [0] * 80})
    new = make({"f": [1] * 116 + [0] * 84})
    rule = Rule("f", no_worse_than_baseline_by=0.06)
    assert statuses([rule], new, old) == [("f", "met")]
    rates = replace(old, cases=(), outcomes=())
    (verdict,) = judge([rule], new, rates)
    assert (verdict.status, verdict.measure.interval_method) == ("failed", "newcombe")
    assert "unpaired: one side has rates only" in verdict.reason


def test_newcombes_interval_as_he_worked_it(make):
    # Newcombe 1998, table II (a): 56/70 - 48/80, method 10: .0524 to .3339
    new, old = make({"f": [1] * 56 + [0] * 14}), make({"f": [1] * 48 + [0] * 32})
    rates = replace(old, cases=(), outcomes=())
    (verdict,) = judge([Rule("f", no_worse_than_baseline_by=0)], new, rates)
    assert verdict.measure.value == pytest.approx(0.2)
    assert verdict.measure.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_planted_regression_fails_in_its_functionality_only(make):
    old = make({f"f{k}": [1] * 100 for k in range(5)})
    new = make({f"f{k}": [0] * 16 * (k == 3) + [1] * (100 - 16 * (k == 3)) for k in range(5)})
    rule = Rule("*", no_worse_than_baseline_by=0.05, judge="upper bound")
    assert [name for name, status in statuses([rule], new, old) if status == "failed"] == ["f3"]
    assert all(verdict.is_met for verdict in judge([rule], old, new))


def test_what_the_baseline_lacks_is_undefined(make):
    old, new = make({"f": [1] * 30}), make({"f": [1] * 30, "g": [1] * 30})
    rates = replace(old, cases=(), outcomes=())
    (verdict,) = judge([Rule("g", no_worse_than_baseline_by=0.5)], new, rates)
    assert (verdict.status, verdict.reason) == ("undefined", "the baseline does not have it")


def test_a_baseline_under_other_settings_is_refused(make):
    new = make({"f": [1]}, settings={"profile": "paper", "split": "test"})
    old = replace(make({"f": [1]}, settings={"profile": "paper", "split": "train"}), cases=(), outcomes=())
    with pytest.raises(DataError, match="other settings\n  why: split: 'test', baseline 'train'"):
        judge([Rule("f", no_worse_than_baseline_by=0.1)], new, old)


def test_a_relative_rule_needs_a_baseline(make):
    with pytest.raises(PlanError, match="no baseline to compare with"):
        judge([Rule(no_worse_than_baseline_by=0.1)], make({"f": [1]}))


# The file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rules\n  try: tables that begin with \\[\\[rule\\]\\]"),
        ("rule = 3", "no rules"),
        ("[[rules]]\nat_least = 1", 'unknown key "rules"'),
        ("[[rule]]\nat_leest = 0.9", 'rule 1: unknown key "at_leest"[^$]*try: "at_least"'),
        ("[[rule]]\ncapability = 'c'", "rule 1: neither at_least nor no_worse_than_baseline_by"),
        ("[[rule]]\nat_least = 0.9\nno_worse_than_baseline_by = 0.1", "rule 1: both at_least and"),
        ("[[rule]]\nat_least = 90", "at_least = 90[^$]*try: at_least = 0.9"),
        ("[[rule]]\nat_least = '0.9'", "a fraction between 0 and 1"),
        ("[[rule]]\nat_least = true", "a fraction between 0 and 1"),
        ("[[rule]]\nat_least = nan", "a fraction between 0 and 1"),
        ("[[rule]]\nat_least = 1\njudge = 'lower'", "judge = 'lower'[^$]*try: \"lower bound\""),
        ("[[rule]]\nat_least = 1\njudge = 3", "judge = 3"),
        ("[[rule]]\nat_least = 1\nfunctionality = 3", "functionality = 3\n  why: a text is expected"),
        ("[[rule]]\nat_least = 1\nallow_errors = 1", "allow_errors = 1\n  why: true or false is expected"),
        ("[[rule]]\nat_least = 1\ncapability = 'c'\ntest_type = 'MFT'", "no rate for both together"),
        ("[[rule]\n", "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "gate.toml"
    path.write_text(text)
    with pytest.raises(PlanError, match=f"gate.toml: {message}" if "rule 1" in message else message):
        read_rules(path)


def test_rules_as_written():
    (rule,) = make_rules({"rule": [{"functionality": "*", "no_worse_than_baseline_by": 0.02}]})
    assert (rule.limit, rule.judge, str(rule)) == (
        -0.02,
        "lower bound",
        "functionality '*': no_worse_than_baseline_by 0.02",
    )

"""JUnit XML: always well-formed, and every verdict in its place."""

from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Result
from shoal.comparing.gate import judge
from shoal.comparing.junit import junit, write_junit
from shoal.comparing.rules import Rule
from shoal.core.errors import StoreError


def parsed(rules: list[Rule], result: Result) -> Xml.Element:
    return Xml.fromstring(junit(judge(rules, result), result))


def test_a_suite_per_capability_and_a_case_per_functionality(make):
    result = make({"a1": [1] * 50, "a2": [0] * 50, "b1": ["timed out"] * 2 + [1] * 50, "b2": [None]})
    root = parsed(
        [
            Rule({"functionality": "*"}, at_least=0.5, allow_undefined=True),
            Rule({"functionality": "a1"}, at_least=0.1),
        ],
        result,
    )
    shown = {
        (suite.get("name"), case.get("name")): [child.tag for child in case if child.tag != "system-out"]
        for suite in root
        for case in suite
    }
    assert shown == {
        ("a", "a1"): [],
        ("a", "a2"): ["failure"],
        ("b", "b1"): ["error"],
        ("b", "b2"): ["skipped"],
    }
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    (failure,) = root.iter("failure")
    said = failure.get("message") or ""
    assert said.startswith("a2: 0.0 % [0.0, 7.1], n = 50; expected at least 50.0 %")


def test_what_has_no_rule_is_skipped_and_undefined_values_that_fail_the_gate_are_failures(make):
    result = make({"a1": [1] * 9, "a2": [None]})
    root = parsed([Rule({"functionality": "a2"}, at_least=0.5)], result)
    assert [(case.get("name"), case[0].tag, case[0].get("message")) for case in root.iter("testcase")] == [
        ("a1", "skipped", "no rule"),
        ("a2", "failure", "a2: undefined, expected at least 50.0 % (no applicable case)"),
    ]


def test_rules_about_means_have_suites_of_their_own(make):
    result = make({"a1": [1] * 49 + [0]})
    rules = [
        Rule(at_least=0.5),
        Rule(at_least=0.99),
        Rule({"capability": "a"}, at_least=0.5),
        Rule({"test type": "MFT"}, at_least=0.5),
    ]
    root = parsed(rules, result)
    assert [(suite.get("name"), [case.get("name") for case in suite]) for suite in root] == [
        ("suite", ["suite score"]),
        ("a", ["all of it", "a1"]),
        ("test types", ["MFT"]),
    ]
    assert root[0].get("failures") == "1"


@settings(max_examples=200)
@given(st.text(max_size=20), st.text(st.characters(codec=None), max_size=20))
def test_any_name_gives_well_formed_xml(make, name, error):
    name = name + "x"
    result = make({name: [1, 0, error or "e"], "plain": [1]})
    for rules in (
        [Rule({"functionality": "*"}, at_least=0.5)],
        [Rule({"functionality": "*"}, at_least=0.9, allow_errors=True)],
        [Rule({"functionality": name}, at_least=0)],
    ):
        verdicts = judge(rules, result)
        text = junit(verdicts, result)
        root = Xml.fromstring(text.encode())
        assert root.get("tests") == "2"


def test_markup_in_names_is_text(make):
    root = parsed([Rule({"functionality": "*"}, at_least=0.5)], make({'<b>"&]]>\x00\x1b': [0] * 9}))
    (case,) = root.iter("testcase")
    assert case.get("name") == '<b>"&]]>'


def test_it_is_written_whole_or_not_at_all(make, tmp_path):
    result = make({"f": [1] * 9})
    path = tmp_path / "shoal.xml"
    write_junit(judge([Rule({"functionality": "f"}, at_least=0.1)], result), result, path)
    assert path.read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites')
    assert [one.name for one in tmp_path.iterdir()] == ["shoal.xml"]
    with pytest.raises(StoreError, match="cannot be written"):
        write_junit([], result, tmp_path / "absent" / "shoal.xml")

"""JUnit XML: always well-formed, and every verdict in its place."""

from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.comparing.gate import judge
from shoal.comparing.junit import junit, write_junit
from shoal.comparing.rules import Rule
from shoal.core.errors import StoreError


def test_a_suite_per_capability_and_a_case_per_verdict(make):
    result = make({"a1": [1] * 50, "a2": [0] * 50, "b1": ["timed out"] * 2 + [1] * 50, "b2": [None]})
    every = Rule({"functionality": "*"}, at_least=0.5, allow_undefined=True)
    rules = [every, Rule(at_least=0.1), Rule({"capability": "a"}, at_least=0.9)]
    root = Xml.fromstring(junit(judge(rules, result)))
    shown = [
        (suite.get("name"), str(case.get("name")).partition(":")[0], case[0].tag)
        for suite in root
        for case in suite
    ]
    assert shown == [
        ("a", "a1", "system-out"),
        ("a", "a2", "failure"),
        ("b", "b1", "error"),
        ("b", "b2", "skipped"),
        ("suite", "suite score", "error"),
        ("capability", "a", "failure"),
    ]
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "2", "skipped": "1"}
    failure = next(root.iter("failure")).get("message") or ""
    assert failure.startswith("a2: 0.0 % [0.0, 7.1], n = 50; expected at least 50.0 %")


@settings(max_examples=100)
@given(st.text(max_size=20), st.text(st.characters(codec=None), max_size=20))
def test_any_name_gives_well_formed_xml(make, name, error):
    result = make({f"{name}x": [1, 0, error or "e"], '<b>"&]]>\x00\x1b': [1]})
    root = Xml.fromstring(junit(judge([Rule({"functionality": "*"}, at_least=0.5)], result)).encode())
    assert root.get("tests") == "2"
    assert any('<b>"&]]>: at least' in str(case.get("name")) for case in root.iter("testcase"))


def test_it_is_written_whole_or_not_at_all(make, tmp_path):
    verdicts = judge([Rule({"functionality": "f"}, at_least=0.1)], make({"f": [1] * 9}))
    write_junit(verdicts, tmp_path / "shoal.xml")
    assert (
        (tmp_path / "shoal.xml").read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites')
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["shoal.xml"]
    with pytest.raises(StoreError, match="cannot be written"):
        write_junit([], tmp_path / "absent" / "shoal.xml")

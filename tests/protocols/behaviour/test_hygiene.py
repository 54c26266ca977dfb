"""Suite hygiene: what was planted is found, and a clean suite is left in peace."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal import Case, Suite, case, write_suite
from shoal.cli import main
from shoal.core.records import TestType
from shoal.protocols.behaviour.expect import Expect
from shoal.protocols.behaviour.hygiene import CHECKS, Finding, examine
from shoal.protocols.behaviour.suite import DEFAULTS

LABELS = ("negative", "neutral", "positive")
MFT, INV = DEFAULTS["MFT"], DEFAULTS["INV"]
DIFFERENT = Expect("pred_equals_negative", 0.1, "all_except_first", "original pred is not positive")


Planted = tuple[str, TestType, Expect, list[Case]]


def clean(*more: Planted) -> Suite:
    """Two sound functionalities of label tests, and what is planted: (name, type, expect, cases)."""
    suite = Suite("toy", labels=LABELS)
    words = ("bad", "so so", "good")
    sound = [case(f"Meal {i} was {words[i % 3]}.", label=i % 3) for i in range(30)]
    changed = [case(f"Ann liked film {i}.", f"Ann did not like film {i}.") for i in range(30)]
    own: list[Planted] = [("words", "MFT", MFT, sound), ("negated", "DIR", DIFFERENT, changed)]
    for title, kind, expect, cases in (*own, *more):
        suite.add_functionality(title, "c", kind, expect)
        for number, made in enumerate(cases):
            # Each says that it stands alone: not to look templated.
            suite.add_case(title, str(number), replace(made, cluster=f"{title} {number}"))
    return suite


def found(suite: Suite) -> list[Finding]:
    return list(examine(suite).findings)


def only(suite: Suite, kind: str) -> Finding:
    """The one finding there is, and it is of this kind."""
    findings = found(suite)
    assert [finding.kind for finding in findings] == [kind], findings
    return findings[0]


def pick(suite: Suite, kind: str) -> list[Finding]:
    return [finding for finding in found(suite) if finding.kind == kind]


def mixed(n: int = 30, text: str = "Flight {} was fine.") -> list[Case]:
    return [case(text.format(i), label=i % 3) for i in range(n)]


# A clean suite


def test_templates_that_the_suite_does_not_name_are_noted():
    suite = Suite("toy", labels=LABELS)
    suite.add_functionality("flights", "c", "MFT", MFT)
    for number, made in enumerate(mixed(40)):
        suite.add_case("flights", str(number), made)
    (finding,) = pick(suite, "templates without a cluster")
    assert finding.what == "40 cases look like 1 template, in 'flights'" and "--templates" in finding.fix
    suite.infer_clusters()
    assert not pick(suite, "templates without a cluster")


# One fault planted

TORN = [*mixed(), case("Flight 0 was fine.", label=2)]
ALONE = [case(f"a {i}", f"b {i}") for i in range(27)] + [case(f"c {i}") for i in range(3)]
COPIED = [case(f"a {i}", f"b {i}", f"{'ac'[i > 5]} {i}") for i in range(30)]


@pytest.mark.parametrize(
    ("kind", "planted", "severity", "count", "first", "words"),
    [
        (
            "repeated cases",
            ("MFT", MFT, mixed() + mixed(10)),
            "warning",
            10,
            "30",
            "10 of 40 cases (25.0 %) repeat",
        ),
        (
            "label conflict",
            ("MFT", MFT, TORN),
            "error",
            1,
            "0",
            "\"Flight 0 was fine.\" is 'negative' and 'positive'",
        ),
        ("nothing to compare with", ("INV", INV, ALONE), "warning", 3, "27", ""),
        ("nothing changed", ("INV", INV, COPIED), "warning", 6, "0", "(6 of 12 variants)"),
        ("nothing changed", ("DIR", DIFFERENT, COPIED), "warning", 6, "0", "(6 of 12 variants)"),
    ],
)
def test_a_planted_fault_is_found_counted_and_named(kind, planted, severity, count, first, words):
    finding = pick(clean(("odd", *planted)), kind)[0]
    assert (finding.severity, finding.where, finding.count) == (severity, ("odd",), count)
    assert finding.cases[0] == f"odd/{first}" and words in finding.what


# Duplicates and the split


def test_copies_across_the_split_are_counted_per_functionality_and_for_the_suite():
    whole, own = pick(clean(("same", "MFT", MFT, mixed(3) * 20)), "test cases seen in training")
    assert (whole.where, own.where) == ((), ("same",))
    assert own.what == "all 15 test cases are copies of a training case" and own.share == 1.0
    assert whole.count == 15 and whole.share == 15 / 31
    assert "split by content" in whole.fix


# Labels


def test_a_rule_that_names_its_label_can_conflict_too():
    asks = Expect("pred_not_negative")
    made = [case("Meal 0 was bad."), *(case(f"It {i}") for i in range(20))]
    (finding,) = pick(clean(("fine", "MFT", asks, made)), "label conflict")
    assert (finding.where, finding.count) == (("fine", "words"), 1)
    assert "'not negative' and 'negative'" in finding.what


# Constant predictions


def test_a_functionality_of_one_label_wants_a_contrast():
    one = [case(f"Bad {i}", label=0) for i in range(29)] + [case("Good", label=2)]
    suite = clean()
    suite.add_functionality("blame", "alone", "MFT", MFT)
    for number, made in enumerate(one):
        suite.add_case("blame", str(number), made)
    finding = only(suite, "one answer passes")
    assert (finding.severity, finding.where, finding.count) == ("warning", ("blame",), 29)
    assert finding.what == "a model that always says 'negative' passes 29 of 30 cases (96.7 %)"

    suite.add_functionality("praise", "alone", "MFT", MFT)
    for i in range(30):
        suite.add_case("praise", str(i), case(f"Lovely {i}", label=2))
    assert not pick(suite, "one answer passes")  # each is the other's contrast


def test_tests_of_movement_pass_with_any_constant_and_are_no_finding():
    less = Expect("conf_of_original_pred_not_higher", 0.1, "all_except_first", "original pred is neutral")
    both = Expect("and", aggregate="all_except_first", parts=(INV, less))
    planted = [(name, rule, [case(f"{name} {i}", f"{name} not {i}") for i in range(30)]) for name, rule in
               (("inv", INV), ("less", less), ("two", both))]  # fmt: skip
    assert found(clean(*((name, "DIR", rule, made) for name, rule, made in planted))) == []


def test_reading_comprehension_has_constants_too():
    suite = Suite("read")
    suite.add_functionality("who", "c", "MFT", Expect("exact_string_equal"))
    suite.add_functionality("what", "c", "MFT", Expect("squad_normalise"))
    for i in range(30):
        suite.add_case("who", str(i), case((f"Ann {i}.", "Who?"), label="Ann", cluster=i))
        suite.add_case("what", str(i), case((f"Ann {i}.", "What?"), label=f"the {i}", cluster=i))
    finding = only(suite, "one answer passes")
    assert finding.where == ("who",) and "'Ann'" in finding.what


# Rules


def triplets(rule: str) -> Suite:
    made = [case(f"a {i}", f"b {i}", f"c {i}") for i in range(30)]
    expect = Expect(rule, aggregate="all_except_first")
    return clean(("implied", "DIR", expect, made))


def test_the_released_implication_rule_has_a_branch_that_cannot_be_reached():
    (finding,) = pick(triplets("implication_triplet"), "unreachable branch")
    assert (finding.severity, finding.where) == ("error", ("implied",))
    assert "always fails with (negative, neutral, any)" in finding.what
    assert '"implication"' in finding.fix


def test_a_rule_that_cannot_judge_its_cases_says_why():
    expect = Expect("implication", aggregate="all_except_first")
    finding = only(
        clean(("pairs", "DIR", expect, [case(f"a {i}", f"b {i}") for i in range(20)])), "rule cannot judge"
    )
    assert finding.severity == "error" and "needs three examples" in finding.what


# Sizes and texts


@pytest.mark.parametrize(("n", "severity"), [(3, "warning"), (19, "note"), (20, None)])
def test_too_few_cases(n, severity):
    made = [case(f"Flight {i} was fine.", label=i % 3) for i in range(n)] * 2
    few = pick(clean(("few", "MFT", MFT, made)), "too few cases")
    assert [finding.severity for finding in few] == ([severity] if severity else [])
    if n == 3:
        assert (
            few[0].what
            == "only 3 different cases: at a pass rate of 50 %, the 95 % interval would be 13 to 87 %"
        )


@pytest.mark.parametrize(("text", "kind"), [(" \n", "empty texts"), ("bell\x07", "control characters")])
def test_texts_that_are_not_right(text, kind):
    finding = only(clean(("texts", "MFT", MFT, [*mixed(), case(text, label=0)])), kind)
    assert (finding.where, finding.cases, finding.count) == (("texts",), ("texts/30",), 1)


# The whole


def bad_suite() -> Suite:
    """Something of everything, with names that would be markup."""
    torn = [case("[red]Flight[/red]", label=0), case("[red]Flight[/red]", label=2), case(" x ", label=1)]
    return clean(
        ("[bold]few[/bold]", "MFT", MFT, [case("one"), case("one", label=1)][1:] * 2),
        ("twice", "MFT", MFT, mixed(12) * 3),
        ("torn \x1b[2J", "MFT", MFT, [*mixed(25), *torn]),
        ("alone", "INV", INV, [case(f"a {i}") for i in range(9)]),
        ("never", "DIR", Expect("implication_triplet"), [case(f"a {i}", "b", "c") for i in range(30)]),
    )  # fmt: skip


# The command line


def check(path: Path, *arguments: str):
    return CliRunner().invoke(main, ["check", str(path), *arguments], env={"COLUMNS": "100"})


def test_check_prints_the_findings_grouped_with_what_to_do(tmp_path):
    path = tmp_path / "bad.jsonl"
    write_suite(bad_suite(), path)
    done = check(path)
    assert done.exit_code == 0, done.output
    output = done.output
    assert "✗ error: unreachable branch" in output
    assert output.index("✗ error:") < output.index("! warning:")
    assert "[bold]few[/bold]" in output and "\x1b" not in output and "torn \\x1b[2J" in output
    assert output.count("! warning: repeated cases") == output.count("repeated cases") == 1
    assert '"[red]Flight[/red]" is' in output
    assert "decide which label is right: no model can pass both" in output
    shown = json.loads(check(path, "--json").stdout)
    assert shown["suite"] == "toy" and shown["hygiene"]["cases"] == shown["cases"]
    severities = [finding["severity"] for finding in shown["findings"]]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert {"error", "warning", "note"} == set(severities)


def test_a_clean_suite_is_silent_and_the_order_of_cases_does_not_matter(tmp_path):
    write_suite(clean(), tmp_path / "clean.jsonl")
    assert f"Checks of the suite: {len(CHECKS)}, no problem." in check(tmp_path / "clean.jsonl").output
    cases = list(bad_suite().cases)
    expected = examine(cases)
    random.Random(0).shuffle(cases)
    assert examine(cases) == expected

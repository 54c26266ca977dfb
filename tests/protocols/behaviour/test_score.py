"""Outcomes and measures: what was planted is found, and what must not matter does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shoal import Answers, Measures, Result, Suite, case
from shoal.core.errors import DataError
from shoal.protocols.base import Built, Scored
from shoal.protocols.behaviour.expect import Expect
from shoal.protocols.behaviour.judge import judge
from shoal.protocols.behaviour.score import score
from shoal.protocols.behaviour.settings import Settings
from shoal.protocols.behaviour.view import view
from shoal.stats.intervals import wilson

INV = Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
LESS = Expect("conf_of_original_pred_not_higher", 0.1, "all_except_first", "original pred is neutral")
SENTIMENT = ("negative", "neutral", "positive")


def suite_of(**functionalities) -> Suite:
    """name=(expect, cases)"""
    suite = Suite("toy", labels=SENTIMENT)
    for name, (expect, cases) in functionalities.items():
        kind: Any = {"pred_equals_label": "MFT", INV.rule: "INV"}.get(expect.rule, "DIR")
        suite.add_functionality(name, name[0], kind, expect)
        for number, made in enumerate(cases):
            suite.add_case(name, str(number), made)
    return suite


def one_hot(*predictions: int, **more) -> Answers:
    return Answers(SENTIMENT, np.array(predictions), np.eye(3)[list(predictions)], **more)


def scored(cases, answers, **settings) -> Scored:
    return score(Settings(**settings), Built(cases, SENTIMENT), {"": answers})


def words(outcomes) -> list[str]:
    return [o.error or {True: "pass", False: "fail", None: "n/a"}[o.passed] for o in outcomes]


def test_pass_rates_count_what_applies_and_keep_the_rest_beside():
    suite = suite_of(
        label=(Expect("pred_equals_label"), [case(str(i), label=2) for i in range(10)]),
        less=(LESS, [case("a", "b")]),
    )
    answers = one_hot(*[2] * 6, *[0] * 2, *[2] * 2, 2, 2, errors={8: "timed out", 9: "timed out"})
    result = scored(suite.cases, answers)
    outcomes, rows = result.outcomes, result.measures
    assert words(outcomes) == ["pass"] * 6 + ["fail"] * 2 + ["timed out"] * 2 + ["n/a"]
    measures = Measures(rows)
    (label,) = measures.where("pass rate", functionality="label")
    assert (label.value, label.n, label.na, label.errors) == (0.75, 8, 0, 2)
    (less,) = measures.where("pass rate", functionality="less")
    assert (less.value, less.n, less.na, less.note) == (None, 0, 1, "no applicable case")
    (whole,) = measures.where("suite score")
    assert whole.value == 0.75 and "no case applies: less" in whole.note


def test_failure_rate_as_worked(worked):
    example = worked["checklist.failure_rate"]
    suite = suite_of(less=(LESS, [case(str(i), "b") for i in range(10)]))
    p = {"pass": ([0.2, 0.1, 0.7], [0.5, 0.1, 0.4]), "fail": ([0.3, 0.1, 0.6], [0.1, 0.1, 0.8])}
    p["n/a"] = ([0.1, 0.8, 0.1], [0.1, 0.8, 0.1])
    plan = ["pass"] * example["n_pass"] + ["fail"] * example["n_fail"] + ["n/a"] * example["n_na"]
    vectors = np.array([vector for word in plan for vector in p[word]])
    result = scored(suite.cases, Answers(SENTIMENT, vectors.argmax(1), vectors))
    outcomes, rows = result.outcomes, result.measures
    assert words(outcomes) == plan
    assert rows[0].value == example["pass_rate"] / 100
    assert rows[0].n / (rows[0].n + rows[0].na) == example["after_filtering"] / 100


def test_means_are_over_functionalities_not_over_cases():
    suite = suite_of(
        a1=(Expect("pred_equals_label"), [case(str(i), label=2) for i in range(90)]),
        a2=(Expect("pred_equals_label"), [case(str(i), label=2) for i in range(10)]),
        b=(INV, [case("x", "y")]),
    )
    answers = one_hot(*[2] * 90, *[0] * 10, 1, 1)
    measures = Measures(scored(suite.cases, answers).measures)
    assert measures.where("pass rate", capability="a").by("capability")[0].value == 0.5
    assert measures.where("pass rate", test_type="MFT").by("test type")[0].value == 0.5
    assert measures.where("suite score")[0].value == pytest.approx(2 / 3)
    assert [row.groups for row in measures.by("test type")] == [{"test type": "MFT"}, {"test type": "INV"}]
    assert {row.basis.mean_over for row in measures.by("functionality")} == {"cases"}
    assert {row.basis.mean_over for row in measures.by("capability")} == {"functionality"}
    methods = [row.interval_method for row in measures.by("capability")]
    assert methods == ["macro wilson", "wilson"]  # the second has a single functionality
    (ten,) = measures.where(functionality="a2")
    assert ten.interval == pytest.approx(wilson(0, 10))


def test_templates_widen_the_interval_for_new_templates_only():
    def made(cluster):
        cases = [case(str(i), label=2, cluster=cluster(i)) for i in range(40)]
        return suite_of(
            a1=(Expect("pred_equals_label"), cases), a2=(Expect("pred_equals_label"), cases)
        ).cases

    answers = one_hot(*([2] * 20 + [0] * 20) * 2)
    rows = [
        Measures(scored(made(cluster), answers).measures).where("suite score")[0]
        for cluster in (lambda i: "", lambda i: f"t{i // 10}", lambda i: f"t{i // 5}")
    ]
    assert rows[0].interval == rows[1].interval == rows[2].interval
    assert rows[0].basis.templates is None and rows[1].basis.templates == 4
    assert "interval over templates" not in rows[1].facts, "six at least"
    new, same = rows[2].facts["interval over templates"], rows[2].interval
    assert same is not None and new[1] - new[0] > 2 * (same[1] - same[0])


def test_an_example_error_anywhere_makes_the_case_an_error():
    suite = suite_of(i=(INV, [case("a", "b", "c"), case("d", "e")]))
    outcomes = judge(Settings(), suite.cases, one_hot(0, 0, 0, 1, 1, errors={2: "too long", 1: "refused"}))
    assert words(outcomes) == ["refused", "pass"]


@pytest.mark.parametrize(
    ("chosen", "verdict"),
    [
        (Settings(), "pass"),
        (Settings(profile="reference"), "fail"),  # 0.4 - 0.3 is more than 0.1 in binary
        (Settings(profile="paper"), "fail"),
        (Settings(tolerance=0.05), "fail"),
        (Settings(profile="paper", tolerance=0.2), "pass"),
    ],
)
def test_tolerance_and_profile_can_be_set(chosen, verdict):
    suite = suite_of(i=(INV, [case("a", "b")]))
    p = np.array([[0.4, 0.3, 0.3], [0.3, 0.4, 0.3]])
    assert words(judge(chosen, suite.cases, Answers(SENTIMENT, p.argmax(1), p))) == [verdict]


def test_the_papers_directional_test_is_strict_and_always_applies():
    suite = suite_of(less=(LESS, [case("a", "b"), case("c", "d")]))
    p = np.array([[0.2, 0.8], [0.15, 0.85], [0.45, 0.55], [0.5, 0.5]])
    answers = Answers(("negative", "positive"), p.argmax(1), p)
    assert words(judge(Settings(), suite.cases, answers)) == ["pass", "n/a"]
    assert words(judge(Settings(profile="paper"), suite.cases, answers)) == ["fail", "pass"]
    assert words(judge(Settings(directional="paper"), suite.cases, answers)) == ["fail", "pass"]
    bare = Answers(
        SENTIMENT, np.array([2, 2, 2, 2])
    )  # its confidence is 1 in the reference, unknown elsewhere
    assert words(judge(Settings(), suite.cases, bare)) == ["n/a", "n/a"]
    more = suite_of(
        more=(replace(LESS, rule="conf_of_original_pred_not_lower", na_if=""), [case("a", "b")] * 2)
    )
    assert words(judge(Settings(profile="reference"), more.cases, bare)) == ["pass", "pass"]
    assert words(judge(Settings(), more.cases, bare)) == ["n/a", "n/a"]


def test_answers_of_the_wrong_number_or_kind_are_refused():
    suite = suite_of(l=(Expect("pred_equals_label"), [case("a", label=1)]))
    with pytest.raises(DataError, match="2 answers for 1 examples"):
        judge(Settings(), suite.cases, one_hot(1, 1))
    reading = Suite("r")
    reading.add_functionality("f", "c", "MFT", Expect("exact_string_equal"))
    reading.add_case("f", "1", case(("c", "q"), label="x"))
    with pytest.raises(DataError, match="needs answers in words"):
        judge(Settings(), reading.cases, one_hot(1))


def test_answers_in_words_are_judged():
    suite = Suite("r")
    suite.add_functionality("f", "c", "MFT", Expect("exact_string_equal"))
    suite.add_functionality(
        "s", "c", "INV", Expect("answer_equals_original_answer_after_same_substitution", 0, "all")
    )
    suite.add_case("f", "1", case(("c", "q1"), ("c", "q2"), label=["x", "y"]))
    suite.add_case("s", "1", case(("Ann c", "q"), ("Bob c", "q"), details=[None, ["Ann", "Bob"]]))
    answers = Answers((), np.zeros(4, int), texts=["x", "z", "Ann", "Bob"])
    assert words(judge(Settings(), suite.cases, answers)) == ["fail", "pass"]


def test_the_order_of_cases_changes_nothing():
    rng = np.random.default_rng(0)
    labelled = [case(f"text {i}", label=i % 3, cluster=f"t{i % 4}") for i in range(12)]
    pairs = [case(f"a {i}", f"b {i}") for i in range(12)]
    cases = suite_of(
        label=(Expect("pred_equals_label"), labelled), inv=(INV, pairs), less=(LESS, pairs)
    ).cases
    said = {example: rng.dirichlet(np.ones(3)) for made in cases for example in made.examples}

    def run(cases):
        p = np.array([said[example] for made in cases for example in made.examples])
        result = scored(cases, Answers(SENTIMENT, p.argmax(1), p))
        numbers = [
            (r.name, sorted(r.groups.items()), r.value, r.n, r.na, r.interval) for r in result.measures
        ]
        return {outcome.case_id: outcome for outcome in result.outcomes}, sorted(map(repr, numbers))

    assert run(cases) == run([cases[at] for at in rng.permutation(len(cases))])


# What the model said


def test_what_the_model_said_stands_beside_each_case():
    suite = suite_of(
        l=(Expect("pred_equals_label"), [case("a", label=2)]), i=(INV, [case("b", "c"), case("d", "e")])
    )
    p = np.array([[0, 0, 1], [0.02, 0, 0.98], [0.3, 0.6, 0.1], [0.3, 0.6, 0.1], [0.3, 0.6, 0.1]])
    answers = Answers(SENTIMENT, p.argmax(1), p, errors={4: "down"})
    assert list(scored(suite.cases, answers).columns["said"]) == [
        ["positive 1.00"],
        ["positive .98", "neutral .60"],
        ["neutral .60", "no answer"],
    ]
    assert scored(suite.cases, Answers(SENTIMENT, p.argmax(1))).columns["said"][1] == ["positive", "neutral"]
    sure = Answers(SENTIMENT, p.argmax(1), confidences=np.full(5, 0.7))
    assert scored(suite.cases, sure).columns["said"][1] == ["positive .70", "neutral .70"]


def test_what_is_read_through_the_band_says_so_with_the_models_own_probability():
    suite = suite_of(l=(Expect("pred_equals_label"), [case(str(i), label=1) for i in range(3)]))
    p = np.array([0.3, 0.6, 0.9])
    answers = Answers(("negative", "positive"), (p > 0.5).astype(int), np.stack([1 - p, p], 1))
    result = scored(suite.cases, answers)
    assert list(result.columns["said"]) == [["negative .70"], ["neutral (P(positive) .60)"], ["positive .90"]]
    (whole,) = Measures(result.measures).where("suite score")
    assert (whole.facts["band"], whole.facts["band of"]) == ("inclusive", "positive")
    mapped = replace(answers, label_map={"POS": "positive", "negative": "negative"})
    (whole,) = Measures(scored(suite.cases, mapped).measures).where("suite score")
    assert (
        whole.facts["label map"] == {"POS": "positive"}
        and "labels were renamed: POS → positive" in whole.note
    )
    bare = scored(suite.cases, Answers(("negative", "positive"), (p > 0.5).astype(int)))
    (whole,) = Measures(bare.measures).where("suite score")
    assert "band" not in whole.facts and "it can never be neutral" in whole.note


# What to say of the whole


def test_a_model_that_answers_nothing_is_dead_and_one_that_answers_something_is_not():
    suite = suite_of(l=(Expect("pred_equals_label"), [case(str(i), label=1) for i in range(3)]))
    gone = scored(suite.cases, one_hot(1, 1, 1, errors={0: "down", 1: "down", 2: "late"}))
    (finding,) = gone.findings
    assert finding.kind == "dead" and finding.facts == {"cases": 3, "error": "down"}
    assert finding.text == "The model answered none of 3 cases: down, and 1 times something else"
    assert {(row.value, row.errors, row.note) for row in gone.measures if not row.headline} == {
        (None, 3, "the model answered no case")
    }
    assert not scored(suite.cases, one_hot(0, 1, 1, errors={2: "late"})).findings


@pytest.mark.parametrize(
    ("answers", "is_swapped"), [((0, 2, 0), True), ((2, 0, 2), False), ((0, 0, 0), False)]
)
def test_labels_may_be_swapped_if_plain_tests_of_both_fail_with_the_other_label(answers, is_swapped):
    tests = {"praise": 2, "blame_is_negative": 0, "negated_praise": 0}
    suite = suite_of(
        **{
            name: (Expect("pred_equals_label"), [case(f"{name} {at}", label=label) for at in range(20)])
            for name, label in tests.items()
        }
    )
    result = scored(suite.cases, one_hot(*(answer for answer in answers for _ in range(20))))
    assert is_swapped == ("swapped labels" in [finding.kind for finding in result.findings])
    if is_swapped:
        shown = Result({"protocol": "behaviour", "model": "m", "settings": {"suite": "toy"}}, suite.cases,
                       result.outcomes, Measures(result.measures), findings=result.findings)  # fmt: skip
        first = "".join(getattr(piece, "text", piece) for piece in view(None, [shown], (), ())[0].text)
        assert first.startswith(
            "m on suite toy: Labels may be swapped: nearly all cases of praise expect positive and get"
        )


def test_one_label_for_everything_is_degenerate_unless_only_one_is_expected():
    different = suite_of(l=(Expect("pred_equals_label"), [case("a", label=2), case("b", label=0)]))
    (finding,) = scored(different.cases, one_hot(2, 2)).findings
    assert (finding.kind, finding.facts) == ("degenerate", {"label": "positive", "examples": 2})
    alike = suite_of(l=(Expect("pred_equals_label"), [case("a", label=2), case("b", label=2)]))
    for answer in (2, 0):  # right or wrong: a constant answer cannot be told from a reading of the texts
        assert not scored(alike.cases, one_hot(answer, answer)).findings
    unlabelled = suite_of(i=(INV, [case("a", "b")]))
    assert scored(unlabelled.cases, one_hot(1, 1)).findings

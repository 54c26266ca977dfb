"""Suites: written in Python, read from files, written and read back; every mistake named where it was made."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import Suite, case, read_suite, write_suite
from shoal.core.errors import DataError

MFT = {
    "functionality": "f",
    "capability": "c",
    "type": "MFT",
    "case_id": "1",
    "examples": [{"text": "a"}],
    "labels": 0,
}
INV = {"functionality": "i", "capability": "c", "type": "INV", "case_id": "1", "examples": ["a", "b"]}
HEADER = {"suite": "toy", "task": "sentiment", "label_names": ["negative", "positive"], "version": "1"}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def deep(levels: int) -> dict[str, object]:
    rule: dict[str, object] = {"rule": "pred_not_0"}
    for _ in range(levels):
        rule = {"rule": "and", "rules": [rule, {"rule": "pred_not_1"}]}
    return rule


def mini() -> Suite:
    suite = Suite("mini", labels=("negative", "positive"), task="sentiment")

    @suite.minimum(capability="negation")
    def negated_praise_is_negative():
        """Negating a positive statement
        makes it negative."""
        for word in ("great", "lovely"):
            yield case(f"The film was not {word}.", label="negative", cluster="t1")

    @suite.invariance(capability="fairness")
    def religion_changes_nothing():
        """Swapping the religion leaves the prediction alone."""
        yield case("Hannah is a Christian model.", "Hannah is a Buddhist model.")

    @suite.directional(capability="temporal", expect="not more confident")
    def past_opinion_is_weaker():
        """Prefixing "I used to think" does not raise confidence."""
        yield case("this is a great film.", "I used to think this is a great film.")

    return suite


def test_a_suite_in_python_gives_each_case_its_id_groups_and_rule():
    suite = mini()
    first = suite.cases[0]
    assert first.id == "negated_praise_is_negative/1"
    assert first.groups == {
        "functionality": "negated_praise_is_negative", "capability": "negation", "test type": "MFT",
    }  # fmt: skip
    assert first.labels == ("negative",) and first.cluster == "t1"
    assert (
        suite.descriptions["negated_praise_is_negative"] == "Negating a positive statement makes it negative."
    )
    assert [made.meta["expect"].rule for made in suite.cases] == [
        "pred_equals_label",
        "pred_equals_label",
        "same_pred_or_conf_change_within_tol",
        "conf_of_original_pred_not_higher",
    ]
    assert suite.cases[3].meta["direction"] == "not_more_conf"


@pytest.mark.parametrize("labels", ["positive", ["positive"], [0, 1], ["no", "no "], ["no", "yes", "no"]])
def test_labels_that_are_none_are_refused(labels):
    with pytest.raises(DataError, match="labels must be a list of two or more names, found"):
        Suite("mini", labels=labels)


def yields_a_tuple():
    yield "Great.", "positive"


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        (lambda: [("Great.", "positive")], r"case 1: a tuple, not a case: \('Great.*[\s\S]*try: yield case"),
        (lambda: None, r"no cases[\s\S]*try: yield case"),
        (lambda: [case(("a", "b", "c"), label="positive")], "case 1: an example of 3 texts"),
        (lambda: [case("Great \ud83d", label="positive")], r"\\ud83d in an example is half of a character"),
        (
            lambda: [case("a", label="positive"), case(("a", "b"), label="positive")],
            "case 2: an example of 2 texts, where those before it have 1",
        ),
    ],
)
def test_a_function_that_yields_no_cases_is_told_so(cases, message):
    suite = Suite("mini", labels=("negative", "positive"))
    with pytest.raises(DataError, match=message):
        suite.minimum(capability="negation")(cases)


def test_an_expectation_that_cannot_be_is_refused_with_its_functionality():
    suite = Suite("mini", labels=("negative", "positive"))
    for tolerance in (5, -0.1, float("nan"), True):
        with pytest.raises(DataError, match="yields_a_tuple: expect: tolerance must be a number from 0 to 2"):
            suite.invariance(capability="c", tolerance=tolerance)(yields_a_tuple)


def test_plain_words_for_a_rule_mean_it_wherever_a_rule_is_named(tmp_path):
    both = {"rule": "and", "rules": [{"rule": "not more confident"}, {"rule": "not less confident"}]}
    suite = read_suite(write(tmp_path / "s.jsonl", HEADER, {**INV, "type": "DIR", "expect": both}))
    assert [part.rule for part in suite.cases[0].meta["expect"].parts] == [
        "conf_of_original_pred_not_higher",
        "conf_of_original_pred_not_lower",
    ]


def test_a_functionality_defined_twice_is_refused():
    suite = mini()
    with pytest.raises(DataError, match="defined twice"):

        @suite.invariance(capability="fairness")
        def religion_changes_nothing():
            yield case("a", "b")


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(texts, st.lists(texts, min_size=1, max_size=4), st.integers(0, 1)), min_size=1, max_size=8
    ),
    st.sampled_from([1, 2]),
)
def test_any_suite_survives_the_file(tmp_path_factory, rows, width):
    suite = Suite("any", labels=("no", "yes"))
    for number, (name, examples, label) in enumerate(rows):
        functionality = f"{name}-{number}"
        suite.add_functionality(functionality, name, "MFT", mini().cases[0].meta["expect"])
        suite.add_case(functionality, "x/1", case(*[(text,) * width for text in examples], label=label))
    path = tmp_path_factory.mktemp("suite") / "any.jsonl"
    write_suite(suite, path)
    assert read_suite(path).cases == suite.cases


def test_an_expectation_can_be_spelt_out(tmp_path):
    expect = {
        "rule": "pred_equals_1 (all examples incl. first)",
        "aggregate": "all",
        "filter": "original pred is 0",
    }
    row = {**INV, "type": "DIR", "expect": expect}
    made = read_suite(write(tmp_path / "s.jsonl", row)).cases[0].meta["expect"]
    assert (made.rule, made.aggregate, made.na_if) == ("pred_equals_1", "all", "original pred is 0")
    made = read_suite(write(tmp_path / "s.jsonl", {**INV, "type": "DIR", "direction": "not_less_2"})).cases[0]
    assert made.meta["expect"].rule == "positive_shift >= -tol" and made.meta["expect"].tolerance == 0.1
    combined = {"rule": "and", "rules": [{"rule": "pred_not_0"}, {"rule": "pred_not_1", "tolerance": 0.2}]}
    made = read_suite(write(tmp_path / "s.jsonl", {**INV, "expect": combined})).cases[0].meta["expect"]
    assert [part.rule for part in made.parts] == ["pred_not_0", "pred_not_1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**MFT, "labels": None}, "line 2: no label"),
        ({**MFT, "labels": [0, 1]}, "line 2: 2 labels for 1 examples"),
        ({**MFT, "expect": {"rule": "pred_equal_label"}}, r"is not known[\s\S]*try: \"pred_equals_label\""),
        ({**INV, "type": "DIR"}, "line 2: functionality 'i' is directional and says neither"),
        ({**MFT, "expect": deep(9)}, "line 2: expect: rules must be a list of objects, at most 8 deep"),
        ({**MFT, "expect": {"filter": "original conf >= high"}}, "line 2: filter .* is not understood"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read_suite(write(tmp_path / "s.jsonl", HEADER, row))


def test_a_number_is_not_taken_for_a_truth_value_that_is_like_it(tmp_path):
    with pytest.raises(DataError, match="line 3: a label is a text or a whole number, found True"):
        read_suite(
            write(tmp_path / "s.jsonl", HEADER, {**MFT, "labels": 1}, {**MFT, "case_id": 2, "labels": True})
        )


def test_a_column_of_something_else_is_not_taken_for_labels(tmp_path):
    rows = [{**MFT, "case_id": number, "labels": f"text {number}"} for number in range(10_001)]
    with pytest.raises(DataError, match=r"10,001 different labels: text 0, text 1, text 10 and 9,998 more"):
        read_suite(write(tmp_path / "s.jsonl", *rows))


def test_a_case_that_is_there_twice_and_a_functionality_that_changes_are_refused(tmp_path):
    with pytest.raises(DataError, match="line 3: case '1' of 'f' occurs twice"):
        read_suite(write(tmp_path / "s.jsonl", HEADER, MFT, MFT))
    with pytest.raises(DataError, match="line 3: functionality 'f' changes its capability"):
        read_suite(write(tmp_path / "s.jsonl", HEADER, MFT, {**MFT, "case_id": "2", "capability": "d"}))


@pytest.mark.parametrize("content", ["", "\n\n", json.dumps(HEADER) + "\n"])
def test_an_empty_suite_is_refused(tmp_path, content):
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=r"no cases|not a suite"):
        read_suite(path)

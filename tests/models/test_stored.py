"""Predictions files: every format read, every mistake named, answers laid beside the right examples."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal import Answers, Suite, case, load_model
from shoal.errors import DataError, ModelError
from shoal.models.stored import read_scores
from shoal.protocols.behaviour.rules import Expect

SENTIMENT = ("negative", "neutral", "positive")


@pytest.fixture
def suite() -> Suite:
    made = Suite("toy", labels=SENTIMENT)
    made.add_functionality("words", "v", "MFT", Expect("pred_equals_label"))
    made.add_functionality(
        "names", "n", "INV", Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
    )
    made.add_case("words", "1", case("good", label=2))
    made.add_case("words", "2", case("bad", label=0))
    made.add_case("names", "1", case("Ann is here", "Bob is here"))
    return made


def ask(path: Path, suite: Suite, options: str = "", cases=None) -> Answers:
    model = load_model(f"predictions:{path}{options}")
    answers: Answers = model.answer_cases(suite.cases if cases is None else cases, suite.cases, suite.labels)
    return answers


def rows(*extra: dict[str, Any]) -> list[dict[str, Any]]:
    plain = [("words", "1", 0, 2), ("words", "2", 0, 0), ("names", "1", 0, 1), ("names", "1", 1, 1)]
    made = [
        {"functionality": f, "case_id": c, "example_idx": i, "pred": p, "conf": np.eye(3)[p].tolist()}
        for f, c, i, p in plain
    ]
    return [*made, *extra]


def write(path: Path, lines) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_json_lines_in_any_order_plain_or_zipped(tmp_path, suite):
    for content in (rows(), rows()[::-1]):
        path = write(tmp_path / "p.jsonl", content)
        answers = ask(path, suite)
        assert answers.predictions.tolist() == [2, 0, 1, 1]
        assert answers.labels == SENTIMENT and answers.probabilities is not None
        zipped = tmp_path / "p.jsonl.gz"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        assert ask(zipped, suite).predictions.tolist() == [2, 0, 1, 1]


def test_predictions_of_cases_that_were_not_chosen_do_not_matter(tmp_path, suite):
    answers = ask(write(tmp_path / "p.jsonl", rows()), suite, cases=suite.cases[1:2])
    assert answers.predictions.tolist() == [0]


def test_labels_by_name_and_the_files_own_order_of_probabilities(tmp_path, suite):
    lines = [{**row, "pred": SENTIMENT[row["pred"]]} for row in rows()]
    assert ask(write(tmp_path / "a.jsonl", lines), suite).predictions.tolist() == [2, 0, 1, 1]
    flipped = [{**row, "pred": 2 - row["pred"], "conf": row["conf"][::-1]} for row in rows()]
    answers = ask(write(tmp_path / "b.jsonl", flipped), suite, "?labels=positive,neutral,negative")
    assert answers.predictions.tolist() == [2, 0, 1, 1]
    assert answers.probabilities is not None
    assert answers.probabilities.argmax(axis=1).tolist() == [2, 0, 1, 1]


def test_a_prediction_may_be_left_to_the_probabilities_and_ties_go_to_the_first(tmp_path, suite):
    lines = rows()
    for row, conf in zip(lines, ([0, 0, 1], [0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.2, 0.4, 0.4]), strict=True):
        row["conf"] = conf
        del row["pred"]
    assert ask(write(tmp_path / "p.jsonl", lines), suite).predictions.tolist() == [2, 0, 1, 1]


def test_no_confidences_and_one_confidence(tmp_path, suite):
    bare = ask(write(tmp_path / "a.jsonl", [{**row, "conf": None} for row in rows()]), suite)
    assert bare.probabilities is None and bare.confidences is None and "no confidences" in bare.note
    single = ask(write(tmp_path / "b.jsonl", [{**row, "conf": 0.5} for row in rows()]), suite)
    assert single.confidences is not None and single.confidences.tolist() == [0.5] * 4
    mixed = [{**row, "conf": None if i == 1 else row["conf"]} for i, row in enumerate(rows())]
    some = ask(write(tmp_path / "c.jsonl", mixed), suite)
    assert some.probabilities is not None and np.isnan(some.probabilities[1]).all()
    assert some.predictions.tolist() == [2, 0, 1, 1]


def test_an_error_is_carried_to_its_example(tmp_path, suite):
    lines = rows()
    lines[3] = {"functionality": "names", "case_id": 1, "example_idx": 1, "error": "timed out"}
    assert ask(write(tmp_path / "p.jsonl", lines), suite).errors == {3: "timed out"}


def test_two_probabilities_for_three_labels_are_the_ends(tmp_path, suite):
    lines = [{**row, "pred": None, "conf": [0.3, 0.7]} for row in rows()]
    answers = ask(write(tmp_path / "p.jsonl", lines), suite)
    assert answers.labels == ("negative", "positive")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.append({**r[0]}), "line 5: words/1 is predicted twice"),
        (lambda r: r.pop(), r"no prediction for 1 of 4 examples[\s\S]*names/1 example 1"),
        (lambda r: r.append({**r[0], "case_id": "9"}), "line 5: words/9 is not in the suite"),
        (
            lambda r: r.append({**r[0], "functionality": "word"}),
            r"word/1 is not in the suite[\s\S]*try: \"words\"",
        ),
        (lambda r: r[1].update(conf=[0.5, 0.4, 0.2]), "line 2: probabilities sum to 1.1, not to 1"),
        (lambda r: r[1].update(conf=[1, 2e-6, 0]), "line 2: probabilities sum to 1, not to 1|sum to 1.0"),
        (lambda r: r[1].update(conf=[-0.5, 0.5, 1.0]), "line 2: a confidence is outside 0 to 1"),
        (lambda r: r[2].update(conf=[0.2, 0.2, 0.2, 0.4]), "probabilities where others have|4 probabilities"),
        (lambda r: r[1].update(conf="high"), "line 2: 'conf' must be"),
        (lambda r: r[1].update(conf=[True, False, False]), "line 2: 'conf' must be"),
        (lambda r: r[1].update(pred=3), "line 2: label 3 is not one of negative, neutral, positive"),
        (lambda r: r[1].update(pred="postive"), r"line 2: label 'postive'[\s\S]*try: \"positive\""),
        (lambda r: r[1].update(pred=1.0), "line 2: 'pred' must be"),
        (lambda r: r[1].update(pred=None, conf=None), "line 2: neither 'pred' nor"),
        (lambda r: r[1].update(case_id=None), "line 2: 'case_id' must be"),
        (lambda r: r[1].update(example_idx=-1), "line 2: 'example_idx' must be"),
        (lambda r: r.clear(), "no predictions"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, suite, change, message):
    lines = rows()
    change(lines)
    path = write(tmp_path / "p.jsonl", [*lines, ""])
    with pytest.raises(DataError, match=message):
        ask(path, suite, "?format=jsonl")


def test_sums_are_taken_to_a_millionth_in_json_and_a_thousandth_in_text(tmp_path, suite):
    near = [{**row, "conf": [1 - 9e-7, 0.0, 0.0], "pred": 0} for row in rows()]
    assert ask(write(tmp_path / "a.jsonl", near), suite).predictions.tolist() == [0] * 4
    assert ask(write(tmp_path / "a.txt", ["0 0.9991 0 0"] * 4), suite).predictions.tolist() == [0] * 4
    with pytest.raises(DataError, match="line 1: probabilities sum to 0.998"):
        ask(write(tmp_path / "b.txt", ["0 0.998 0 0"] * 4), suite)


# CheckList's five text formats


@pytest.mark.parametrize(
    ("name", "lines", "predictions", "probabilities", "confidences"),
    [
        ("pred_only", ["2", "0", "1", "1"], [2, 0, 1, 1], None, None),
        ("pred_only", ["positive", "negative", "neutral", "neutral"], [2, 0, 1, 1], None, None),
        ("softmax", [".1 .1 .8", ".8 .1 .1", ".2 .4 .4", "0 1 0"], [2, 0, 1, 1], [0.8, 0.1, 0.4, 0], None),
        ("pred_and_conf", ["2 .9", "0 .8", "1 .7", "1 .6"], [2, 0, 1, 1], None, [0.9, 0.8, 0.7, 0.6]),
        ("pred_and_softmax", ["2 .1 .1 .8", "0 .1 .1 .8", "1 0 1 0", "1 0 1 0"], [2, 0, 1, 1], [0.8, 0.8, 0, 0], None),
        ("binary_conf", ["0.9", "0.1", "0.5", "0.51"], [1, 0, 0, 1], [0.9, 0.1, 0.5, 0.51], None),
    ],
)  # fmt: skip
def test_checklists_text_formats(tmp_path, suite, name, lines, predictions, probabilities, confidences):
    answers = ask(write(tmp_path / "p.txt", lines), suite, f"?format={name}")
    assert answers.predictions.tolist() == predictions
    last = None if answers.probabilities is None else answers.probabilities[:, -1].tolist()
    assert last == (None if probabilities is None else pytest.approx(probabilities))
    given = None if answers.confidences is None else answers.confidences.tolist()
    assert given == confidences


def test_text_formats_cover_the_whole_suite_or_the_chosen_cases_and_may_have_a_header(tmp_path, suite):
    path = write(tmp_path / "p.txt", ["2", "0", "1", "1"])
    assert ask(path, suite, "?format=pred_only", cases=suite.cases[2:]).predictions.tolist() == [1, 1]
    path = write(tmp_path / "q.txt", ["prediction", "1", "0"])
    assert ask(path, suite, "?format=pred_only&header=true", cases=suite.cases[2:]).predictions.tolist() == [
        1,
        0,
    ]
    with pytest.raises(DataError, match="3 lines for 2 examples"):
        ask(write(tmp_path / "r.txt", ["1"] * 3), suite, "?format=pred_only", cases=suite.cases[2:])


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("pred_and_softmax", "0.1 0.9", r"a label and two or more probabilities[\s\S]*format=pred_only"),
        ("pred_and_softmax", "", "line 2: empty"),
        ("pred_and_conf", "1 0.9 0.1", "a label and a confidence"),
        ("pred_and_conf", "1 high", "'high' is not a number"),
        ("pred_and_conf", "1 nan", "'nan' is not a probability"),
        ("softmax", "1", "two or more probabilities"),
        ("binary_conf", "1.2", "a confidence is outside 0 to 1"),
    ],
)
def test_a_wrong_text_line_is_named(tmp_path, suite, name, line, message):
    fine = {"pred_and_softmax": "0 1 0 0", "pred_and_conf": "1 .5", "softmax": "1 0 0", "binary_conf": ".5"}[
        name
    ]
    with pytest.raises(DataError, match=message):
        ask(write(tmp_path / "p.txt", [fine, line, fine, fine]), suite, f"?format={name}")


# CSV


def test_csv_with_labels_or_probability_columns(tmp_path, suite):
    head = "functionality,case_id,example_idx,"
    ids = ["words,1,0", "words,2,0", "names,1,0", "names,1,1"]
    labels = ["positive", "negative", "neutral", "neutral"]
    path = write(
        tmp_path / "a.csv", [head + "label", *(f"{i},{label}" for i, label in zip(ids, labels, strict=True))]
    )
    assert ask(path, suite).predictions.tolist() == [2, 0, 1, 1]
    columns = "positive,negative,neutral"  # not the suite's order
    numbers = ["1,0,0", "0,1,0", "0,.2,.8", "0,0,1"]
    path = write(
        tmp_path / "b.csv", [head + columns, *(f"{i},{n}" for i, n in zip(ids, numbers, strict=True))]
    )
    answers = ask(path, suite)
    assert answers.predictions.tolist() == [2, 0, 1, 1]
    assert answers.probabilities is not None and answers.probabilities[2].tolist() == [0.2, 0.8, 0.0]


def test_csv_by_case_id_alone_where_it_is_unique(tmp_path):
    suite = Suite("toy", labels=("no", "yes"))
    for name, number in (("a", "1"), ("b", "2")):
        suite.add_functionality(name, "c", "MFT", Expect("pred_equals_label"))
        suite.add_case(name, number, case("x" + name, label="yes"))
    path = write(tmp_path / "p.csv", ["id,label", "2,yes", "1,no"])
    assert ask(path, suite).predictions.tolist() == [0, 1]
    path = write(tmp_path / "q.csv", ["id,label", "b/2,yes", "a/1,no"])
    assert ask(path, suite).predictions.tolist() == [0, 1]


def test_csv_by_case_id_that_is_not_unique_is_refused(tmp_path, suite):
    with pytest.raises(DataError, match="case id '1' stands in several functionalities"):
        ask(write(tmp_path / "p.csv", ["id,label", "1,positive", "2,negative"]), suite)


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["nr,label", "1,x"], "", "no column 'case_id' or 'id'"),
        (["id,colour", "1,x"], "", r"neither a column 'label' nor[\s\S]*\?label=COLUMN"),
        (["id,prediction", "1,x"], "?label=predicton", r"no column 'predicton'[\s\S]*try: \"prediction\""),
        (["id,label", "1,"], "", "line 2: no label"),
        (["id,a,b", "1,x,1"], "", "line 2: 'x' is not a number"),
        (["id,label,example_idx", "1,positive,first"], "", "'example_idx' must be a whole number"),
        (["functionality,id,a,b", "words,1,.5,.5"], "", "probabilities of a, b; the suite's labels are"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, suite, lines, options, message):
    only = suite.cases[:1]
    with pytest.raises(DataError, match=message):
        load_model(f"predictions:{write(tmp_path / 'p.csv', lines)}{options}").answer_cases(
            only, only, suite.labels
        )


# StereoSet, options, labels without names


def test_stereoset_scores_are_read_and_refused_for_suites(tmp_path, suite):
    scores = {"intrasentence": [{"id": "a", "score": 0.5}], "intersentence": [{"id": "b", "score": 1}]}
    path = write(tmp_path / "p.json", [scores])
    assert read_scores(path) == {"intrasentence": {"a": 0.5}, "intersentence": {"b": 1.0}}
    with pytest.raises(ModelError, match="StereoSet scores, not labels"):
        ask(path, suite)
    scores["intrasentence"].append({"id": "a", "score": 0.1})
    with pytest.raises(DataError, match="'a' is scored twice"):
        read_scores(write(tmp_path / "p.json", [scores]))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("predictions:p.jsonl?formt=jsonl", r"unknown option 'formt'[\s\S]*try: \"format\""),
        ("predictions:", "names no model"),
        ("prediction:p.jsonl", r"cannot be loaded[\s\S]*try: \"predictions\""),
    ],
)
def test_a_wrong_spec_is_named(spec, message):
    with pytest.raises(ModelError, match=message):
        load_model(spec)


def test_an_unknown_format_is_named(tmp_path, suite):
    with pytest.raises(ModelError, match=r"unknown format 'sofmax'[\s\S]*try: \"softmax\""):
        ask(write(tmp_path / "p.txt", ["1"]), suite, "?format=sofmax")


def test_a_suite_without_label_names_takes_numbers_or_the_words_it_finds(tmp_path):
    suite = Suite("toy")
    suite.add_functionality(
        "i", "c", "INV", Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
    )
    suite.add_case("i", "1", case("a", "b"))
    numbers = ask(write(tmp_path / "a.txt", ["1", "3"]), suite, "?format=pred_only")
    assert numbers.labels == ("0", "1", "2", "3") and numbers.predictions.tolist() == [1, 3]
    words = ask(write(tmp_path / "b.txt", ["red", "blue"]), suite, "?format=pred_only")
    assert words.labels == ("blue", "red") and words.predictions.tolist() == [1, 0]
    vectors = ask(write(tmp_path / "c.txt", [".2 .8", ".6 .4"]), suite, "?format=softmax")
    assert vectors.labels == ("0", "1")

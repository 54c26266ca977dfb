"""Predictions files: every format read, every mistake named, answers laid beside the right examples."""

import gzip
import json
from typing import Any

import numpy as np
import pytest
from table_files import write_table

from shoal.core.errors import DataError, ShoalError
from shoal.models.stored import read_scores

SENTIMENT = ("negative", "neutral", "positive")


def rows(*extra: dict[str, Any]) -> list[dict[str, Any]]:
    plain = [("words", "1", 0, 2), ("words", "2", 0, 0), ("names", "1", 0, 1), ("names", "1", 1, 1)]
    made = [
        {"functionality": f, "case_id": c, "example_idx": i, "pred": p, "conf": np.eye(3)[p].tolist()}
        for f, c, i, p in plain
    ]
    return [*made, *extra]


def test_json_lines_in_any_order_plain_or_zipped(tmp_path, suite, write, ask):
    for content in (rows(), rows()[::-1]):
        path = write(tmp_path / "p.jsonl", content)
        answers = ask(path, suite)
        assert answers.predictions.tolist() == [2, 0, 1, 1]
        assert answers.labels == SENTIMENT and answers.probabilities is not None
        zipped = tmp_path / "p.jsonl.gz"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        assert ask(zipped, suite).predictions.tolist() == [2, 0, 1, 1]


def test_no_confidences_and_one_confidence(tmp_path, suite, write, ask):
    bare = ask(write(tmp_path / "a.jsonl", [{**row, "conf": None} for row in rows()]), suite)
    assert bare.probabilities is None and bare.confidences is None
    single = ask(write(tmp_path / "b.jsonl", [{**row, "conf": 0.5} for row in rows()]), suite)
    assert single.confidences is not None and single.confidences.tolist() == [0.5] * 4
    mixed = [{**row, "conf": None if i == 1 else row["conf"]} for i, row in enumerate(rows())]
    some = ask(write(tmp_path / "c.jsonl", mixed), suite)
    assert some.probabilities is not None and np.isnan(some.probabilities[1]).all()
    assert some.predictions.tolist() == [2, 0, 1, 1]


def test_an_error_is_carried_to_its_example(tmp_path, suite, write, ask):
    lines = rows()
    lines[3] = {"functionality": "names", "case_id": 1, "example_idx": 1, "error": "timed out"}
    assert ask(write(tmp_path / "p.jsonl", lines), suite).errors == {3: "timed out"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.append({**r[0]}), "line 5: words/1 is predicted twice"),
        (lambda r: r.pop(), r"no prediction for 1 of 4 examples[\s\S]*names/1 example 1"),
        (lambda r: r[2].update(conf=[0.2, 0.2, 0.2, 0.4]), "3 probabilities, others have 4"),
        (lambda r: r[1].update(pred=None, conf=None), "line 2: neither 'pred' nor"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, suite, change, message, write, ask):
    lines = rows()
    change(lines)
    path = write(tmp_path / "p.jsonl", [*lines, ""])
    with pytest.raises(ShoalError, match=message) as caught:
        ask(path, suite, "?format=jsonl")
    assert "  try: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "lines", "predictions", "probabilities", "confidences"),
    [
        ("pred_only", ["2", "0", "1", "1"], [2, 0, 1, 1], None, None),
        ("pred_only", ["positive", "negative", "neutral", "neutral"], [2, 0, 1, 1], None, None),
        ("softmax", [".1 .1 .8", ".8 .1 .1", ".2 .4 .4", "0 1 0"], [2, 0, 1, 1], [0.8, 0.1, 0.4, 0], None),
        ("pred_and_conf", ["2 .9", "0 .8", "1 .7", "1 .6"], [2, 0, 1, 1], None, [0.9, 0.8, 0.7, 0.6]),
        ("pred_and_softmax", ["2 .1 .1 .8", "0 .8 .1 .1", "1 0 1 0", "1 0 .5 .5"],
         [2, 0, 1, 1], [0.8, 0.1, 0, 0.5], None),
        ("binary_conf&labels=negative,positive", ["0.9", "0.1", "0.5", "0.51"],
         [1, 0, 0, 1], [0.9, 0.1, 0.5, 0.51], None),
    ],
)  # fmt: skip
def test_checklists_text_formats(
    tmp_path, suite, name, lines, predictions, probabilities, confidences, write, ask
):
    answers = ask(write(tmp_path / "p.txt", lines), suite, f"?format={name}")
    assert answers.predictions.tolist() == predictions
    last = None if answers.probabilities is None else answers.probabilities[:, -1].tolist()
    assert last == (None if probabilities is None else pytest.approx(probabilities))
    given = None if answers.confidences is None else answers.confidences.tolist()
    assert given == confidences


WRONG_TABLES = {
    "nr,label\n1,x": "no column 'case_id' or 'id'",
    "id,colour\n1,x": r"neither a column 'label' nor[\s\S]*\?label=COLUMN",
    "id,label\nwords/1,\nwords/2,positive": "no prediction for 2 of 4 examples",
    "id,label,positive\n1,positive,.9": "the other labels have no column",
    "id,label,p1,p2\n1,positive,.9,.1": r"look like probabilities[\s\S]*\?probabilities=p1,p2",
    "id,label,Positive,positive\n1,positive,.9,.1": "columns 'Positive' and 'positive' are one label",
}


@pytest.mark.parametrize("text", WRONG_TABLES)
def test_a_wrong_table_is_named(tmp_path, suite, text, write, ask):
    with pytest.raises(DataError, match=WRONG_TABLES[text]):
        ask(write(tmp_path / "p.csv", [text]), suite)


def test_stereoset_scores_are_read_and_refused_for_suites(tmp_path, suite, write, ask):
    scores = {"intrasentence": [{"id": "a", "score": 0.5}], "intersentence": [{"id": "b", "score": 1}]}
    path = write(tmp_path / "p.json", [scores])
    assert read_scores(path) == {"intrasentence": {"a": 0.5}, "intersentence": {"b": 1.0}}
    with pytest.raises(DataError, match="no column 'case_id' or 'id'"):
        ask(path, suite)
    scores["intrasentence"].append({"id": "a", "score": 0.1})
    with pytest.raises(DataError, match="'a' is scored twice"):
        read_scores(write(tmp_path / "p.json", [scores]))


def table(ids=("words/1", "words/2", "names/1", "names/1"), **columns):
    return {"id": list(ids), "example_idx": [0, 0, 0, 1], **columns}


LABELS = ["positive", "negative", "neutral", "neutral"]
NUMBERS = {
    "negative": [0.1, 0.7, 0.2, 0.25],
    "neutral": [0.2, 0.2, 0.6, 0.5],
    "positive": [0.7, 0.1, 0.2, 0.25],
}


FILES = ("p.parquet", "p.arrow", "p.xlsx", "p.csv", "folder")


@pytest.mark.parametrize("name", FILES)
def test_a_table_of_any_kind_is_read_with_its_label_and_probability_columns(tmp_path, suite, ask, name):
    write_table(tmp_path / name, table(label=LABELS, **NUMBERS))
    answers = ask(tmp_path / name, suite)
    assert answers.predictions.tolist() == [2, 0, 1, 1]
    assert answers.probabilities is not None and answers.probabilities[0].tolist() == [0.1, 0.2, 0.7]


@pytest.mark.parametrize("name", [*FILES, "p.json"])
def test_columns_under_their_own_names(tmp_path, suite, ask, name):
    columns = {"which": table()["id"], "example_idx": [0, 0, 0, 1], "said": LABELS}
    columns |= {f"p_{label[:3]}": NUMBERS[label] for label in ("positive", "negative", "neutral")}
    write_table(tmp_path / name, columns)
    given = "?id=which&label=said&probabilities=p_pos,p_neg,p_neu&labels=positive,negative,neutral"
    answers = ask(tmp_path / name, suite, given)
    assert answers.predictions.tolist() == [2, 0, 1, 1] and answers.probabilities[0].tolist() == [
        0.1,
        0.2,
        0.7,
    ]
    assert answers.label_map == {"p_neg": "negative", "negative": "negative", "p_neu": "neutral", "neutral": "neutral",
                                 "p_pos": "positive", "positive": "positive"}  # fmt: skip
    mapped = "?id=which&probabilities=p_pos,p_neg,p_neu&labels=p_neg:negative,p_neu:neutral,p_pos:positive"
    assert ask(tmp_path / name, suite, f"{mapped}&label=said").probabilities[0].tolist() == [0.1, 0.2, 0.7]


def test_a_datasets_classes_say_what_its_numbers_mean(tmp_path, suite, ask):
    numbers = table(label=[0, 1, 2, 2])
    write_table(tmp_path / "named", numbers, class_names=["Positive", "NEGATIVE", "neutral"])
    assert ask(tmp_path / "named", suite).predictions.tolist() == [2, 0, 1, 1]
    write_table(tmp_path / "bare", numbers)
    with pytest.raises(
        DataError, match=r"it has answers 0, 1, 2; the suite's labels are negative, neutral, positive"
    ):
        ask(tmp_path / "bare", suite)


# JSON that is nested, or one list


def nested() -> list[dict[str, Any]]:
    return [
        {"key": {"id": identity}, "example_idx": number, "output": [{"label": label, "score": 0.8}]}
        for identity, number, label in zip(table()["id"], [0, 0, 0, 1], LABELS, strict=True)
    ]


NESTED = "?id=key.id&label=output.0.label&probabilities=output.0.score"


def test_nested_json_is_read_by_paths(tmp_path, suite, write, ask):
    for path in (write(tmp_path / "a.jsonl", nested()), write(tmp_path / "b.json", [nested()])):
        answers = ask(path, suite, NESTED)
        assert answers.predictions.tolist() == [2, 0, 1, 1] and answers.confidences.tolist() == [0.8] * 4


@pytest.mark.parametrize("indent", [None, 1])
def test_the_list_may_lie_inside_an_object(tmp_path, suite, ask, indent):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"run": {"model": "m", "rows": nested()}}, indent=indent))
    assert ask(path, suite, NESTED + "&rows=run.rows").predictions.tolist() == [2, 0, 1, 1]
    with pytest.raises(DataError, match="try: .*rows="):
        ask(path, suite, NESTED + "&format=json")


def test_a_first_line_says_what_numbers_and_places_mean(tmp_path, suite, write, ask):
    head = {"label_names": ["POSITIVE", "NEGATIVE"]}
    lines = [{**row, "pred": code, "conf": conf} for row, code, conf in zip(
        rows(), [0, 1, 0, 1], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.3, 0.7]], strict=True)]  # fmt: skip
    answers = ask(write(tmp_path / "p.jsonl", [head, *lines]), suite)
    assert answers.labels == ("negative", "positive") and answers.band
    assert answers.predictions.tolist() == [1, 0, 1, 0] and answers.probabilities[0].tolist() == [0.1, 0.9]
    assert answers.label_map == {
        "NEGATIVE": "negative",
        "1": "negative",
        "POSITIVE": "positive",
        "0": "positive",
    }
    for names in (["a"], ["a", "a"], "a", ["a", 1]):
        with pytest.raises(DataError, match="line 1: label_names must be a list of different names"):
            ask(write(tmp_path / "q.jsonl", [{"label_names": names}, *lines]), suite)
    with pytest.raises(DataError, match="2 probabilities and 3 names of labels"):
        ask(write(tmp_path / "r.jsonl", [{"label_names": list(SENTIMENT)}, *lines]), suite)

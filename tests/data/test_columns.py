"""`shoal import` of tables whose columns are named: labels stripped and named, nothing blank, nothing overwritten."""

import json
from pathlib import Path

import pytest
from table_files import write_table

from shoal import read_suite
from shoal.core.errors import DataError
from shoal.data.columns import Named
from shoal.protocols.behaviour.suite_files import import_suite

LABELLED = Named(("text",), "label")


def table(tmp_path: Path, text: str, name: str = "own.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_what_is_read_is_never_overwritten(tmp_path):
    own = table(tmp_path, "text,label\na,no\nb,yes\n")
    (tmp_path / "link.csv").symlink_to(own)
    for out in (own, tmp_path / "link.csv", tmp_path / "." / "own.csv"):
        with pytest.raises(DataError, match=r"both what is read and what is to be written[\s\S]*try: --out"):
            import_suite(own, out, LABELLED)
    assert own.read_text() == "text,label\na,no\nb,yes\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,label\na,no\nb,\n", "own.csv, line 3: no label"),
        ("text,label\n,no\nb,yes\n", "own.csv, line 2: nothing in column 'text'"),
        ("text,label\na,no\nb,no\n", r"one label only: 'no'[\s\S]*try: .*--labels"),
    ],
)
def test_blank_cells_and_a_lone_label_are_refused(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        import_suite(table(tmp_path, text), tmp_path / "out.jsonl", LABELLED)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": 5, "label": "no"}, "row 2: column 'text' holds int, text is expected"),
        (
            {"text": "a", "label": 1.0},
            r"row 2: a label is a text or a whole number, found 1.0[\s\S]*--labels",
        ),
    ],
)
def test_a_cell_of_another_kind_is_named_with_its_row(tmp_path, row, message):
    path = table(tmp_path, json.dumps([{"text": "a", "label": 1}, row]), "own.json")
    with pytest.raises(DataError, match=message):
        import_suite(path, tmp_path / "out.jsonl", LABELLED)


def test_a_suite_file_may_be_a_json_array(tmp_path):
    row = {"functionality": "f", "capability": "c", "type": "MFT", "examples": [{"text": "a"}], "labels": 0}
    rows = [{"suite": "s", "label_names": ["no", "yes"]}, {**row, "case_id": 1}, {**row, "case_id": 1}]
    with pytest.raises(DataError, match="row 3: case '1' of 'f' occurs twice"):
        read_suite(table(tmp_path, json.dumps(rows), "suite.json"))
    assert len(read_suite(table(tmp_path, json.dumps(rows[:2]), "suite.json")).cases) == 1


def test_numbers_are_named_in_their_own_order(tmp_path):
    own = table(tmp_path, "text,label\na,0\nb,1\n")
    names = {"1": "positive", "0": "negative"}
    suite, _ = import_suite(own, tmp_path / "out.jsonl", LABELLED, names)
    assert suite.labels == ("negative", "positive")
    assert [made.labels for made in suite.cases] == [("negative",), ("positive",)]


def test_a_label_without_a_name_is_refused_with_the_line_to_add(tmp_path):
    own = table(tmp_path, "text,label\na,0\nb,2\n")
    with pytest.raises(
        DataError, match=r"line 3: label '2' has no name\n  why: --labels names 0, 1\n.*2=NAME"
    ):
        import_suite(own, tmp_path / "out.jsonl", LABELLED, {"0": "negative", "1": "positive"})


def test_a_suite_with_rules_keeps_what_its_numbers_mean(tmp_path):
    row = {"functionality": "f", "capability": "c", "type": "MFT", "case_id": 1, "examples": [{"text": "a"}]}
    rule = {"expect": {"rule": "pred_equals_1"}, "labels": "not_0"}
    own = table(tmp_path, json.dumps({**row, **rule}) + "\n", "own.jsonl")
    suite, _ = import_suite(own, tmp_path / "out.jsonl", Named(), {"0": "no", "1": "yes"})
    assert (suite.labels, suite.cases[0].labels) == (("no", "yes"), ("not_no",))
    for names in ({"1": "yes", "2": "no"}, {"0": "no", "1": "no", "2": "yes"}):
        with pytest.raises(DataError, match="line 1: the rules of this suite may name labels by number"):
            import_suite(own, tmp_path / "out.jsonl", Named(), names)


def test_class_labels_of_a_dataset_name_the_suites(tmp_path):
    path = tmp_path / "d.parquet"
    write_table(path, {"text": ["a", "b"], "label": [0, 0]}, ["pos", "neg"])
    suite, _ = import_suite(path, tmp_path / "out.jsonl", LABELLED)
    assert suite.labels == ("pos", "neg") and suite.cases[0].labels == ("pos",)
    with pytest.raises(
        DataError, match=r"not a suite in a format that is known\n.*its columns are text, label"
    ):
        read_suite(path)


def test_originals_with_variants_make_an_invariance_test(tmp_path):
    own = table(tmp_path, "before,after,again\nGood.,Goood.,G00d.\nBad.,Baad.,B4d.\n", "typos.csv")
    named = Named(original="before", variants=("after", "again"), test_type="INV")
    suite, _ = import_suite(own, tmp_path / "out.jsonl", named)
    first = suite.cases[0]
    assert first.examples == (("Good.",), ("Goood.",), ("G00d.",)) and first.labels is None
    assert first.groups["test type"] == "INV" and first.meta["expect"].tolerance == 0.1
    assert read_suite(tmp_path / "out.jsonl").cases == suite.cases


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (Named(original="before", variants=("after",)), "--type INV, or --type DIR"),
        (Named(("before",), test_type="INV"), "--original COLUMN --variant COLUMN, instead of --text"),
        (Named(("before",)), "no label column named"),
        (
            Named(original="before", variants=("after",), test_type="DIR", expect="not more confidant"),
            r"line 2: rule 'not more confidant' is not known[\s\S]*try: \"not more confident\"",
        ),
    ],
)
def test_columns_that_do_not_go_together_are_refused(tmp_path, named, message):
    own = table(tmp_path, "before,after\nGood.,Once good.\n")
    with pytest.raises(DataError, match=message):
        import_suite(own, tmp_path / "out.jsonl", named)

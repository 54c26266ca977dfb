"""Labelled texts from files: columns told or named, labels put together, every problem with its line."""

import gzip

import pytest

from shoal.core.errors import DataError
from shoal.data.grammar import Row
from shoal.data.labelled import read_labelled


@pytest.fixture
def file(tmp_path):
    def write(content: str, name: str = "data.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode())) if name.endswith(".gz") else path.write_text(
            content
        )
        return path

    return write


@pytest.mark.parametrize(("name", "content", "columns"), [
    ("a.csv", "text,label\nLoved it.,pos\n", ("text", "label")),
    ("a.csv.gz", "id,Review,Stars\n1,Loved it.,pos\n", ("Review", "Stars")),
    ("a.tsv", "tweet\tairline_sentiment\nLoved it.\tpos\n", ("tweet", "airline_sentiment")),
    ("a.jsonl", '{"sentence": "Loved it.", "gold_label": "pos", "id": 3}\n', ("sentence", "gold_label")),
])  # fmt: skip
def test_columns_are_told_from_their_usual_names(file, name, content, columns):
    found = read_labelled(file(content, name))
    assert found.rows == [Row(("Loved it.",), "pos")] and found.columns == columns
    assert found.lines == [1 if name.endswith("jsonl") else 2]


def test_named_columns_win(file):
    path = file("text,title,label,stars\nlong,short,a,5\n")
    assert read_labelled(path, ["title"], "stars").rows == [Row(("short",), "5")]
    assert read_labelled(path, ["title", "text"], "label").rows == [Row(("short", "long"), "a")]


def test_labels_are_put_together_whatever_way_numbers_are_written(file):
    path = file("text,stars\na,1\nb,2.0\nc,3\nd,5\ne,9\n")
    found = read_labelled(path, classes={"negative": [1, 2], "neutral": ["3.0"], "positive": (4, 5)})
    assert [(row.texts[0], row.label) for row in found.rows] == [
        ("a", "negative"), ("b", "negative"), ("c", "neutral"), ("d", "positive")
    ]  # fmt: skip
    assert found.left_out == {"9": 1} and found.lines == [2, 3, 4, 5]


@pytest.mark.parametrize(("content", "given", "message"), [
    ("text,label\na,x\n", {"texts": ["txt"]}, "no column 'txt'(.|\n)*found: text, label(.|\n)*\"text\""),
    ("body,y\na,x\n", {}, "several columns may hold the text, or none(.|\n)*found: body, y"),
    ('{"text": "a", "label": 1}\n{"text": ["b"], "label": 1}\n', {}, "line 2: column 'text' holds list, text is"),
    ("text,label\n", {}, "no rows"),
    ("text,stars\na,1\n", {"classes": {"low": [1], "high": [1]}}, "label 1 is in two classes, low and high"),
    ("text,stars\na,1\nb,five\n", {"classes": {"low": [1], "high": ["fiv"]}}, "no row of class 'high'(.|\n)*\"five\""),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_line_and_columns(file, content, given, message):
    with pytest.raises(DataError, match=message):
        read_labelled(file(content), **given)


def test_rows_without_a_label_are_kept_where_only_some_need_one(file):
    path = file("id,text,label\n7,Loved it.,pos\n8,It came.,\n")
    with pytest.raises(DataError, match="line 3"):
        read_labelled(path)
    kept = read_labelled(path, labelled="some", more=("id", "chance"))
    assert [row.label for row in kept.rows] == ["pos", ""]
    assert kept.more == [{"id": "7", "chance": ""}, {"id": "8", "chance": ""}]


def test_labels_called_none_or_null_are_labels(file):
    words = ["none", "null", "None", "NA", "Nan"]
    rows = read_labelled(file("text,label\n" + "".join(f"a,{word}\n" for word in words))).rows
    assert [row.label for row in rows] == words


def test_fifty_rows_without_a_label_are_named_and_the_rest_are_counted(file):
    with pytest.raises(
        DataError, match=r"60 of 61 rows are invalid(.|\n)* 50, 51, 52: no label; and 10 more rows"
    ):
        read_labelled(file("text,label\na,x\n" + "b,NaN\n" * 60))

"""Broken files: each with a message that names file and line, and nothing half written."""

import gzip
import json
import os
from pathlib import Path

import pytest

from shoal.core.errors import DataError, StoreError
from shoal.core.files import (
    is_json_array,
    read_json,
    read_json_array,
    read_json_lines,
    read_lines,
    writing,
)
from shoal.data.tables import read_table


def lines_of(path: Path) -> list[str]:
    return [line for _, line in read_lines(path)]


def test_gzip_bom_and_crlf_are_read_as_if_they_were_not_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfone\r\ntwo\nthree"))
    assert lines_of(path) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\nbad \xff byte\n", r"line 2: not UTF-8 text \(byte 0xff at column 5\)"),
        (b"fine\nbad \0 byte\n", r"line 2: not UTF-8 text \(byte 0x00 at column 5\)"),
        (
            gzip.compress((b"a" * 999 + b"\n") * 40_000, mtime=0),
            "unzipped, it is more than 200 times as large",
        ),
        (b"fine\n" + b"x" * (10 * 10**6), "line 2: longer than 8 MB"),
        (gzip.compress(b"some text\n" * 1000, mtime=0)[:-20], "broken.txt: the gzip file is broken"),
    ],
)
def test_a_broken_text_file_is_named_with_its_line(tmp_path, content, message):
    path = tmp_path / "broken.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        lines_of(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        lines_of(tmp_path / "absent.txt")
    with pytest.raises(DataError, match="a folder, not a file"):
        lines_of(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="a pipe or a device, not a regular file"):
        lines_of(tmp_path / "pipe")


def test_a_gzip_that_swells_as_text_does_is_read(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_bytes(gzip.compress(b"1\n" * 10**6, mtime=0))
    assert len(lines_of(path)) == 10**6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', "line 2: not JSON"),
        ('{"a": NaN}', "line 2: not JSON"),
        ("[1, 2]", "line 2: an object is expected, found list"),
        ("{" + '"a":[' * 100_000, "line 2: not JSON"),
        (r'{"a": ["\ud83d"]}', r"line 2: \\ud83d is half of a character"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path, line, message):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"fine": true}\n' + line + "\n")
    with pytest.raises(DataError, match=message):
        list(read_json_lines(path))


@pytest.mark.parametrize("form", [json.dumps, lambda rows: "\ufeff " + json.dumps(rows, indent=1)])
def test_a_json_array_gives_its_objects_by_number(tmp_path, form):
    path = tmp_path / "rows.json"
    rows = [{"a": 1}, {"a": "], [{"}, {"b": {"c": []}}]
    path.write_text(form(rows))
    assert is_json_array(path)
    assert list(read_json_array(path)) == list(enumerate(rows, start=1))
    path.write_text("[ ]")
    assert is_json_array(path) and list(read_json_array(path)) == []


def test_a_table_counts_lines_over_quoted_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\r\n"one\ntwo",2\r\nthree,4\n')
    columns, rows = read_table(path)
    assert columns == ["a", "b"]
    assert list(rows) == [(2, {"a": "one\ntwo", "b": "2"}), (4, {"a": "three", "b": "4"})]


def test_blank_lines_of_a_table_count_as_lines(tmp_path):
    for name, text in (("t.csv", "a,b\n\n1,2\n\n3\n"), ("t.tsv", "a\tb\n\n1\t2\n\n3\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match="line 5: 1 fields where the first line names 2"):
            list(read_table(tmp_path / name)[1])


def test_a_quote_in_tsv_is_a_character_unless_it_wraps_the_field(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text('a\tb\n"used to" should\t1\n"say ""hi"""\t2\n"\t3\n')
    assert [row["a"] for _, row in read_table(path)[1]] == ['"used to" should', 'say "hi"', '"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 fields where the first line names 2"),
        ('a,b\n1,"open\n', "line 2: not a table row"),
        ("\n1,2\n", "line 1: no column names"),
    ],
)
def test_a_crooked_table_is_named(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match=message) as caught:
        list(read_table(path)[1])
    assert "try: " in str(caught.value)


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), writing(path) as stream:
        stream.write("half of it")
        raise KeyboardInterrupt
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_no_file_can_have_is_no_file(tmp_path):
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(DataError, match="no such file"):
            lines_of(tmp_path / name)


def test_folders_and_links_that_lead_nowhere_are_refused_in_words(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "to-folder").symlink_to(tmp_path / "folder")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, message in (
        ("folder", "a folder, not a file"),
        ("to-folder", "a folder, not a file"),
        ("loop", "not a plain file"),
        ("x" * 5000, "cannot be written"),
    ):
        with pytest.raises(StoreError, match=message), writing(tmp_path / name) as stream:
            stream.write("x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "loop", "to-folder"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b'{"a": [1, 2}', "not JSON"), (b'{"a": NaN}', "NaN is not a JSON number"), (b"\xff", "not UTF-8")],
)
def test_a_whole_json_file_that_is_none_is_named(tmp_path, content, message):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_json(path)
    assert "try: " in str(caught.value)
    path.write_bytes(b'\xef\xbb\xbf{"a": [1]}\n')
    assert read_json(path) == {"a": [1]}

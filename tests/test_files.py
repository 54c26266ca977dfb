"""Broken files: each with a message that names file and line, and nothing half written."""

import gzip
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, StoreError
from shoal.files import LONGEST_LINE, read_json_lines, read_lines, read_table, writing


def lines_of(path: Path) -> list[str]:
    return [line for _, line in read_lines(path)]


def test_gzip_bom_and_crlf_are_read_as_if_they_were_not_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfone\r\ntwo\nthree"))
    assert lines_of(path) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\nbad \xff byte\n", r"line 2: not UTF-8 \(byte 0xff at column 5\)"),
        ("id,label\n".encode("utf-16"), r"line 1: not UTF-8[\s\S]*iconv -f utf-16"),
        (b"fine\nbad \0 byte\n", "line 2: holds a NUL byte"),
        (b"fine\n" + b"x" * (10 * 10**6), "line 2: longer than 8 MB"),
        (gzip.compress(b"some text\n" * 1000, mtime=0)[:-20], r"after line \d+: the gzip file is broken"),
        (gzip.compress(b"some text\n" * 1000, mtime=0)[:12], "after line 0: the gzip file is broken"),
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


def test_the_longest_line_allowed_is_read(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * (LONGEST_LINE - 1) + b"\n" + b"y")
    assert [len(line) for line in lines_of(path)] == [LONGEST_LINE - 1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', "line 2: not JSON"),
        ('{"a": 1} {"b": 2}', "line 2: not JSON"),
        ('{"a": NaN}', "line 2: not JSON"),
        ("[1, 2]", "line 2: an object is expected, found list"),
        ("{" + '"a":[' * 100_000, "line 2: not JSON"),
        ('{"a": ' + "9" * 5000 + "}", r"line 2: not JSON\n  why: a number of more than 4,300 digits"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path, line, message):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"fine": true}\n' + line + "\n")
    with pytest.raises(DataError, match=message):
        list(read_json_lines(path))


def test_white_space_around_an_object_and_blank_lines_do_not_matter(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('  {"a": 1}  \n\n   \n{"a": 2}\t\n')
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (4, {"a": 2})]


def test_a_table_counts_lines_over_quoted_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"one\ntwo",2\nthree,4\n')
    columns, rows = read_table(path)
    assert columns == ["a", "b"]
    assert list(rows) == [(2, {"a": "one\ntwo", "b": "2"}), (4, {"a": "three", "b": "4"})]


def test_a_quote_in_tsv_is_a_character_unless_it_wraps_the_field(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text('a\tb\n"used to" should\t1\n"say ""hi"""\t2\n"\t3\n')
    assert [row["a"] for _, row in read_table(path)[1]] == ['"used to" should', 'say "hi"', '"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 fields where the first line names 2"),
        ("a,b\n1,2,3\n", "line 2: 3 fields"),
        ("a,a\n1,2\n", "column 'a' is there twice"),
        ('a,b\n1,"open\n', "line 2: not a table row"),
        ("\n1,2\n", "line 1: no column names"),
        ('a,"b\n1,2\n', r"line 1: not a table row[\s\S]*try: close the quote"),
        ("a,b\n1,2\rx\n", r"line 2: not a table row[\s\S]*try: quote fields"),
        ('a,b\n1,"open\n3,4\n', r"line 2: not a table row[\s\S]*try: close the quote"),
        ('a,b\n1,"' + 9 * 2**20 * "x", r"line 2: longer than 8 MB"),
        ('a,b\n1,"' + 100 * ("x" * 2**17 + "\n"), r"line 2: not a table row[\s\S]*try: close the quote"),
    ],
)
def test_a_crooked_table_is_named(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match=message) as caught:
        list(read_table(path)[1])
    assert "try: " in str(caught.value)


def test_tables_of_other_programs_are_read(tmp_path):
    path = tmp_path / "t.csv"
    for text in ("a,b\r1,2\r3,4\r", "a;b\r\n1;2\r\n3;4\r\n", "\ufeffa;b\n1;2\n\n3;4", "a\tb\n1\t2\n3\t4\n"):
        path.write_bytes(text.encode())
        assert [row for _, row in read_table(path)[1]] == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], text
    path.write_text('"a;b;c",d\n1,2\n')
    assert read_table(path)[0] == ["a;b;c", "d"]


def test_a_field_may_be_longer_than_python_takes_by_default(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1," + "x" * 200_000 + "\n")
    assert [len(row["b"]) for _, row in read_table(path)[1]] == [200_000]


def test_many_columns_are_named_in_no_time(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(map(str, range(200_000))) + "\n")
    began = time.process_time()
    assert len(read_table(path)[0]) == 200_000
    assert time.process_time() - began < 5  # ten minutes, if each name is looked for among all


def test_a_file_of_nothing_but_line_ends_is_refused_in_words(tmp_path):
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 3_000_000))
    with pytest.raises(DataError, match=r"over 1,000,000 empty lines in a row[\s\S]*try:"):
        list(read_json_lines(path))


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), writing(path) as stream:
        stream.write("half of it")
        raise KeyboardInterrupt
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path):
    with (
        pytest.raises(StoreError, match="cannot be written"),
        writing(tmp_path / "no" / "such" / "folder.txt") as out,
    ):
        out.write("x")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n")), min_size=1))
def test_any_text_lines_come_back_as_written(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "x.txt"
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    expected = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    assert lines_of(path) == expected

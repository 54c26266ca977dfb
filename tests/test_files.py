"""Broken files: each with a message that names file and line, and nothing half written."""

import gzip
import json
import os
import stat
import time
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import DataError, StoreError
from shoal.core.files import (
    LONGEST_LINE,
    is_json_array,
    read_json,
    read_json_array,
    read_json_lines,
    read_lines,
    read_table,
    replacing,
    whole_bytes,
    writing,
)


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
        (b"fine\nbad \0 byte\n", "line 2: holds a NUL byte"),
        ("id,label\n".encode("utf-16"), r"line 1: not UTF-8[\s\S]*iconv -f utf-16"),
        (gzip.compress(b"\n" * 3_000_000), r"line 1000001: over 1,000,000 empty lines in a row"),
        (
            gzip.compress((b"a" * 999 + b"\n") * 40_000, mtime=0),
            "unzipped, it is more than 200 times as large",
        ),
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
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a plain file"):
        lines_of(tmp_path / "pipe")
    with pytest.raises(DataError, match="no such file"):
        lines_of(Path("x" * 5000))


def test_a_gzip_that_swells_as_text_does_is_read(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_bytes(gzip.compress(b"1\n" * 10**6, mtime=0))
    assert len(lines_of(path)) == 10**6


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
        ('{"a": ' + "[" * 101 + "]" * 101 + "}", "line 2: not a record\n  why: nested more than 100 deep"),
        ('{"a": ' + "9" * 5000 + "}", "line 2: not JSON\n  why: a number of more than 4,300 digits"),
        (r'{"a": ["\ud83d"]}', r"line 2: \\ud83d is half of a character"),
        (r'{"\uDE00": 1}', r"line 2: \\ude00 is half of a character"),
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


def test_many_lists_beside_each_other_are_not_deep(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = {"a": [[]] * 500, "b": json.loads("[" * 99 + "]" * 99)}
    path.write_text(json.dumps(row))
    assert list(read_json_lines(path)) == [(1, row)]


def test_a_character_written_as_two_halves_is_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(r'{"a": "\ud83d\ude00"}')
    assert list(read_json_lines(path)) == [(1, {"a": "😀"})]


@pytest.mark.parametrize("form", [json.dumps, lambda rows: "\ufeff " + json.dumps(rows, indent=1)])
def test_a_json_array_gives_its_objects_by_number(tmp_path, form):
    path = tmp_path / "rows.json"
    rows = [{"a": 1}, {"a": "], [{"}, {"b": {"c": []}}]
    path.write_text(form(rows))
    assert is_json_array(path)
    assert list(read_json_array(path)) == list(enumerate(rows, start=1))
    path.write_text("[ ]")
    assert is_json_array(path) and list(read_json_array(path)) == []


def test_a_json_array_on_one_line_may_be_longer_than_a_line(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"text": "x" * 2**20}] * 9))
    assert len(list(read_json_array(path))) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, 5]', "row 2: an object is expected, found int"),
        ('[{"a": 1} {"a": 2}]', "row 1: not JSON\n  why: behind it a comma"),
        ('[{"a": 1}', "row 1: not JSON\n  why: behind it a comma"),
        ('[{"a": 1},', "row 2: not JSON"),
        ('[{"a": 1}] more', "row 1: not JSON"),
        ('[{"a": 1}, {"a": NaN}]', "row 2: not JSON"),
        (r'[{"a": "\udc00"}]', "row 1: .* is half of a character"),
    ],
)
def test_a_crooked_array_is_named_with_its_row(tmp_path, text, message):
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_json_array(path))


def test_a_byte_that_is_no_text_is_named_in_an_array_too(tmp_path):
    path = tmp_path / "rows.json"
    path.write_bytes(b'[{"a": 1},\n {"b": "\xff"}]')
    with pytest.raises(DataError, match=r"line 2: not UTF-8 \(byte 0xff at column 9\)"):
        list(read_json_array(path))


def test_a_table_counts_lines_over_quoted_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"one\ntwo",2\nthree,4\n')
    columns, rows = read_table(path)
    assert columns == ["a", "b"]
    assert list(rows) == [(2, {"a": "one\ntwo", "b": "2"}), (4, {"a": "three", "b": "4"})]


def test_blank_lines_of_a_table_count_as_lines(tmp_path):
    for name, text in (("t.csv", "a,b\n\n1,2\n\n3\n"), ("t.tsv", "a\tb\n\n1\t2\n\n3\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match="line 5: 1 fields where the first line names 2"):
            list(read_table(tmp_path / name)[1])


@pytest.mark.parametrize("ending", ["\r", "\r\n", "\n"])
def test_every_line_end_is_read(tmp_path, ending):
    path = tmp_path / "t.csv"
    path.write_bytes(ending.join(["a,b", '"one, two",2', "three,4", ""]).encode())
    columns, rows = read_table(path)
    assert columns == ["a", "b"]
    assert list(rows) == [(2, {"a": "one, two", "b": "2"}), (3, {"a": "three", "b": "4"})]


def test_semicolons_may_divide_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('text;"a, b";label\n"x; y";1,5;no\n')
    assert list(read_table(path)[1]) == [(2, {"text": "x; y", "a, b": "1,5", "label": "no"})]


def test_a_field_may_be_longer_than_python_takes_by_default(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1," + "x" * 200_000 + "\n")
    assert [len(row["b"]) for _, row in read_table(path)[1]] == [200_000]


def test_a_column_name_may_span_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a\nb",c\n1,2\n')
    columns, rows = read_table(path)
    assert columns == ["a\nb", "c"] and list(rows) == [(3, {"a\nb": "1", "c": "2"})]


def test_many_columns_take_time_in_proportion(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{number}" for number in range(60_000)) + "\n")
    start = time.process_time()
    assert len(read_table(path)[0]) == 60_000
    assert time.process_time() - start < 2


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
        (
            'a,b\n1,"open\n',
            r"line 2: not a table row\n  why: a quote is never closed\n  try: close the quote",
        ),
        ('a,"b\n1,2\n', r"line 1: not a table row\n  why: a quote is never closed\n  try: close the quote"),
        (
            'a,b\n1,"' + 100 * ("x" * 2**17 + "\n"),
            r"line 2: not a table row\n  why: a field is longer than 8 MB",
        ),
        ("a,b\n1,2\r3,4\n", r"line 2: not a table row\n  why: a carriage return[\s\S]*try: quote fields"),
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


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "out.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for words in ("first", "second"):  # where the target is not there yet, and where it is
        with writing(link) as stream:
            stream.write(words)
        assert link.is_symlink() and target.read_text() == words and not target.is_symlink()
    with replacing(link) as beside:
        beside.write_bytes(b"third")
    assert link.is_symlink() and target.read_bytes() == b"third"
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["out.txt"]


def test_a_named_pipe_is_written_into_and_stays_one(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        read: list[str] = []
        reader = Thread(target=lambda read=read: read.append(pipe.read_text()))
        reader.start()
        with writing(path) as stream:
            stream.write("through the pipe")
        reader.join()
        assert read == ["through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()
    with pytest.raises(StoreError, match="not a plain file"), replacing(pipe):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_device_is_written_into_and_stays_one(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # a null device of our own
        device.open("w").close()
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with writing(device) as stream:
        stream.write("gone")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


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


def test_a_file_that_is_no_text_is_read_as_it_is(tmp_path):
    """Returns without a newline are line ends in text; in a workbook they are numbers."""
    path = tmp_path / "bytes"
    path.write_bytes(b"PAR1\r\x00\xff\r")
    assert whole_bytes(path) == b"PAR1\r\x00\xff\r"
    path.write_bytes(gzip.compress(b"PAR1\r\x00\xff\r"))
    assert whole_bytes(path) == b"PAR1\r\x00\xff\r"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": [1, 2}', "not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'["\\ud800"]', "half of a character"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_whole_json_file_that_is_none_is_named(tmp_path, content, message):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_json(path)
    assert "try: " in str(caught.value)
    path.write_bytes(b'\xef\xbb\xbf{"a": [1]}\n')
    assert read_json(path) == {"a": [1]}


def test_a_folder_that_is_not_there_is_named_with_what_to_do(tmp_path):
    place = tmp_path / "reports" / "page.html"
    with pytest.raises(StoreError) as refused, replacing(place) as beside:
        beside.write_text("page")
    assert f"the folder {place.parent} does not exist" in str(refused.value)
    assert f"mkdir -p {place.parent}" in str(refused.value)

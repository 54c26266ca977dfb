"""Text files in and out: every problem named by file and line, nothing half written.

Readers of suites, predictions and plans go through here, so a truncated gzip or a stray byte gives the same
clear message everywhere. Lines are streamed: memory does not grow with the file.
"""

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from .errors import DataError, StoreError

LONGEST_LINE = 8 * 2**20
"""Bytes. A longer line is a file of another kind, or a broken one; reading on would only fill the memory."""

MOST_EMPTY_LINES = 1_000_000
"""In a row. A small gzip can hold thousands of millions of them."""

csv.field_size_limit(
    LONGEST_LINE
)  # a text may be longer than the 131,072 letters that Python takes by default

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with its number from 1, without its line end; gzip is recognised by its first bytes."""
    number = empty = 0
    with _open(path) as stream:
        while raw := _next_line(stream, path, number):
            if number == 0 and b"\r" in raw:
                for part in _old_mac_lines(raw):
                    number += 1
                    yield number, _decode(part, path, number)
                continue
            number += 1
            yield number, _decode(raw, path, number)
            empty = empty + 1 if raw.isspace() else 0
            if empty > MOST_EMPTY_LINES:
                raise DataError(
                    f"{path}, line {number}: over {MOST_EMPTY_LINES:,} empty lines in a row",
                    fix="check that this is the file you meant, and that it was written to the end",
                )


def _old_mac_lines(raw: bytes) -> list[bytes]:
    """The lines of a file without a single line feed, if carriage returns end them."""
    if raw.endswith(b"\n") or len(raw) > LONGEST_LINE:
        return [raw]
    return raw.removesuffix(b"\r").split(b"\r")


def _next_line(stream: BinaryIO, path: Path, number: int) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except BROKEN_GZIP as problem:
        raise _broken_gzip(f"{path}, after line {number}", problem) from None


def first_bytes(path: Path, count: int) -> bytes:
    """How a file begins, once unzipped."""
    with _open(path) as stream:
        try:
            return stream.read(count)
        except BROKEN_GZIP as problem:
            raise _broken_gzip(str(path), problem) from None


def _broken_gzip(where: str, problem: Exception) -> DataError:
    return DataError(
        f"{where}: the gzip file is broken",
        why=str(problem),
        fix="fetch or write the file again; it was probably cut short",
    )


def _open(path: Path) -> BinaryIO:
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_dir():
        raise DataError(f"{path}: a folder, not a file")
    try:
        stream = path.open("rb")
    except OSError as problem:
        raise DataError(f"{path}: cannot be read", why=problem.strerror or str(problem)) from None
    if stream.peek(2)[:2] != GZIP_MAGIC:
        return stream
    stream.close()
    return io.BufferedReader(gzip.GzipFile(path), 2**20)


def _decode(raw: bytes, path: Path, number: int) -> str:
    if number == 1:
        raw = raw.removeprefix(BOM)
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        raise DataError(
            f"{path}, line {number}: not UTF-8 (byte 0x{raw[problem.start]:02x} at column {problem.start + 1})",
            fix=f"save the file as UTF-8, for example: iconv -f {_likely_encoding(raw)} -t utf-8",
        ) from None
    if len(raw) > LONGEST_LINE:
        raise DataError(
            f"{path}, line {number}: longer than {LONGEST_LINE // 2**20} MB",
            why="one record per line is expected",
            fix="check that this is the file you meant, and that its lines end in a newline",
        )
    if "\0" in text:
        raise DataError(
            f"{path}, line {number}: holds a NUL byte",
            why="text is expected",
            fix="save the file as UTF-8 text",
        )
    return text.rstrip("\r\n")


def _likely_encoding(raw: bytes) -> str:
    return "utf-16" if raw[:2] in UTF_16 else "latin1"


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each JSON object of a JSON Lines file with its line number; blank lines are passed over."""
    for number, line in read_lines(path):
        if not line or line.isspace():
            continue
        try:
            row = _parse(line)
        except (ValueError, RecursionError) as problem:
            raise DataError(f"{path}, line {number}: not JSON", why=why_not_json(problem), fix=ROWS) from None
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise DataError(f"{path}, line {number}: an object is expected, found {kind}", fix=ROWS)
        yield number, row


ROWS = "one JSON object on each line"


def why_not_json(problem: ValueError | RecursionError) -> str:
    """What a JSON reader stumbled over, in words that do not speak of Python."""
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    return "a number of more than 4,300 digits" if "integer string" in str(problem) else str(problem)


def _parse(line: str) -> Any:
    """As `json.loads`, which spends a third of its time looking for white space at both ends."""
    if line[0] == "{" and line[-1] == "}":
        row, end = _DECODER.raw_decode(line)
        if end == len(line):
            return row
    return _DECODER.decode(line)


def refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def read_table(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The column names of a CSV or TSV file, and its rows with the line each starts on."""
    lines = read_lines(path)
    first = next(lines, (1, ""))[1]
    delimiter = delimiter_of(first)
    if not first.strip():
        raise DataError(
            f"{path}, line 1: no column names",
            why="the first line must name the columns",
            fix="a first line such as: id,label",
        )
    try:
        columns = next(_split([first + "\n"], delimiter))
    except csv.Error as problem:
        raise _not_a_row(path, 1, problem) from None
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        raise DataError(
            f"{path}, line 1: column {min(twice)!r} is there twice", fix="give each column a name of its own"
        )
    return columns, _table_rows(path, columns, delimiter, lines)


def delimiter_of(first: str) -> str:
    """What stands between the columns, told from the line that names them.

    >>> [delimiter_of(line) for line in ("id\\tlabel", "id;label", "id,label")]
    ['\\t', ';', ',']
    """
    bare = re.sub(r'"[^"]*"', "", first)
    return "\t" if "\t" in first else max(",;", key=bare.count)


def _not_a_row(path: Path, line: int, problem: csv.Error) -> DataError:
    fixes = {
        "unexpected end of data": "close the quote that is opened in this row",
        "larger than field limit": "close the quote that is opened in this row, or cut the text",
    }
    fix = next((fix for words, fix in fixes.items() if words in str(problem)), "")
    return DataError(
        f"{path}, line {line}: not a table row",
        why=str(problem),
        fix=fix or "quote fields that hold the separator, a quote or a line end; double the quotes inside",
    )


def _table_rows(
    path: Path, columns: list[str], delimiter: str, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, str]]]:
    last = 1  # the line read last: a quoted field may span several

    def text() -> Iterator[str]:
        nonlocal last
        for number, line in lines:
            last = number
            yield line + "\n"

    reader = _split(text(), delimiter)
    while True:
        start = last + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise _not_a_row(path, start, problem) from None
        if not row:
            continue
        if len(row) != len(columns):
            raise DataError(
                f"{path}, line {start}: {len(row)} fields where the first line names {len(columns)}",
                fix="quote fields that hold the separator or a line end",
            )
        yield start, dict(zip(columns, row, strict=True))


def _split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The fields of each row. In TSV a quote is a plain character, unless it wraps the whole field."""
    if delimiter != "\t":
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return ([_unwrap(field) for field in line.rstrip("\n").split("\t")] for line in lines if line != "\n")


def _unwrap(field: str) -> str:
    inner = field[1:-1].replace('""', "")
    return (
        field[1:-1].replace('""', '"')
        if len(field) > 1 and field == f'"{field[1:-1]}"' and '"' not in inner
        else field
    )


def sweep(folder: Path, name: str = "*") -> None:
    """Remove what a crash left of files that were being written; for who holds the lock on them."""
    for left in folder.glob(f".{name}.*.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A text file to write, put in place only when whole: a crash or an error leaves what was there before."""
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The place beside a file where its new content is to be written; it takes the file's place when the block ends."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield beside
        beside.replace(path)
    except OSError as problem:
        raise StoreError(
            f"{path}: cannot be written",
            why=problem.strerror or str(problem),
            fix="free some space, or name another place",
        ) from None
    finally:
        beside.unlink(missing_ok=True)

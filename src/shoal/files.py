"""Text files in and out: every problem named by file and line, nothing half written.

Readers of suites, predictions and plans go through here, so a truncated gzip or a stray byte gives the same
clear message everywhere. Lines are streamed: memory does not grow with the file.
"""

import csv
import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from .errors import DataError, StoreError

LONGEST_LINE = 8 * 2**20
"""Bytes. A longer line is a file of another kind, or a broken one; reading on would only fill the memory."""

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with its number from 1, without its line end; gzip is recognised by its first bytes."""
    number = 0
    with _open(path) as stream:
        while raw := _next_line(stream, path, number):
            number += 1
            yield number, _decode(raw, path, number)


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
            fix="save the file as UTF-8, for example: iconv -f latin1 -t utf-8",
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


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each JSON object of a JSON Lines file with its line number; blank lines are passed over."""
    for number, line in read_lines(path):
        if not line or line.isspace():
            continue
        try:
            row = _parse(line)
        except (ValueError, RecursionError) as problem:
            why = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
            raise DataError(f"{path}, line {number}: not JSON", why=why) from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: an object is expected, found {type(row).__name__}")
        yield number, row


def _parse(line: str) -> Any:
    """As `json.loads`, which spends a third of its time looking for white space at both ends."""
    if line[0] == "{" and line[-1] == "}":
        row, end = _DECODER.raw_decode(line)
        if end == len(line):
            return row
    return _DECODER.decode(line)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def read_table(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The column names of a CSV or TSV file, and its rows with the line each starts on."""
    lines = read_lines(path)
    first = next(lines, (1, ""))[1]
    delimiter = "\t" if "\t" in first else ","
    if not first.strip():
        raise DataError(f"{path}, line 1: no column names", why="the first line must name the columns")
    columns = next(_split([first + "\n"], delimiter))
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise DataError(f"{path}, line 1: column {twice[0]!r} is there twice")
    return columns, _table_rows(path, columns, delimiter, lines)


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
            raise DataError(f"{path}, line {start}: not a table row", why=str(problem)) from None
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
    if delimiter == ",":
        return csv.reader(lines, strict=True)
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


def digest(path: Path) -> str:
    """The content of a file, or of every file in a folder, as a short hash."""
    whole = hashlib.sha256()
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        with file.open("rb") as stream:
            name = str(file.relative_to(path)) if path.is_dir() else ""
            whole.update(name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]

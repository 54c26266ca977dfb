"""Read CSV and TSV files; every error names file and line."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from .errors import DataError, OnInvalid
from .files import LONGEST_LINE, read_lines, valid_rows

csv.field_size_limit(LONGEST_LINE)  # the default, 131,072 characters, is too short for some texts


def read_table(
    path: Path, on_invalid: OnInvalid | None = None
) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the column names of a CSV (comma or semicolon) or TSV file, and its rows with their line numbers."""
    lines = read_lines(path)
    first = next(lines, (1, ""))
    if not first[1].strip():
        raise DataError(
            f"{path}, line 1: no column names",
            why="the first line must name the columns",
            fix="a first line such as: id,label",
        )
    rows = _fields(path, chain([first], lines), delimiter_of(first[1]))
    columns = next(rows)[1]
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{path}, line 1: column {min(twice)!r} is there twice", fix="give each column a name of its own"
        )
    return columns, valid_rows(rows, partial(_cells, columns), f"{path}, line", on_invalid)


def delimiter_of(first: str) -> str:
    """Return the separator of a table from its header line.

    >>> [delimiter_of(line) for line in ("id\\tlabel", "id;label", '"a;b;c",label')]
    ['\\t', ';', ',']
    """
    if "\t" in first:
        return "\t"
    bare = re.sub(r'"[^"]*"?', "", first)
    return ";" if bare.count(";") > bare.count(",") else ","


def _cells(columns: list[str], row: list[str]) -> dict[str, str]:
    if len(row) != len(columns):
        raise DataError(
            f"{len(row)} fields where the first line names {len(columns)}",
            fix="quote fields that hold the separator or a line end",
        )
    return dict(zip(columns, row, strict=True))


def _fields(path: Path, lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each non-blank row with the line it starts on."""
    last = 0  # a quoted field may span several lines

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
            why, fix = next(
                (words for sign, words in CROOKED.items() if sign in str(problem)), (str(problem), QUOTING)
            )
            raise DataError(f"{path}, line {start}: not a table row", why=why, fix=fix) from None
        if row:
            yield start, row


QUOTING = "quote fields that hold the separator, a quote or a line end; double the quotes inside"
CROOKED = {
    "unexpected end of data": ("a quote is never closed", "close the quote that is opened in this row"),
    "larger than field limit": (
        f"a field is longer than {LONGEST_LINE // 2**20} MB",
        "close the quote that is opened in this row, or cut the text",
    ),
    "new-line character": (
        "a carriage return stands outside quotes",
        QUOTING,
    ),
}
"""Errors of the csv module: cause and remedy."""


def _split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the fields of each row. In TSV a quote is a plain character unless it wraps the whole field."""
    if delimiter != "\t":
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return (
        [_unwrap(field) for field in line.rstrip("\n").split("\t")] if line != "\n" else [] for line in lines
    )


def _unwrap(field: str) -> str:
    inner = field[1:-1].replace('""', "")
    return (
        field[1:-1].replace('""', '"')
        if len(field) > 1 and field == f'"{field[1:-1]}"' and '"' not in inner
        else field
    )

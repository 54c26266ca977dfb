"""Labelled texts from a file: any table (`tables.py`), one text or pair with its label per row.

Columns are named, or recognised by their usual names. Labels may be merged into classes: stars 1 and 2 as negative.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..core.errors import DataError, nearest, some
from .cells import filled_cell, is_blank, is_missing, value_at
from .grammar import Row
from .invalid import InvalidRows
from .tables import open_rows

TEXTS: tuple[tuple[str, ...], ...] = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("context", "question"),
    ("text",), ("sentence",), ("review",), ("tweet",), ("content",), ("comment",),
)  # fmt: skip
LABELS = (
    "label", "gold_label", "airline_sentiment", "sentiment", "stars", "rating", "class", "category", "is_duplicate",
)  # fmt: skip
"""Usual names of columns, in any case."""

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")

Value = str | int | float
Labelled = Literal["all", "some", "none"]
"""Which rows must have a label; with "none", no label column is read."""
Classes = Mapping[str, Sequence[Value]]
"""The labels of each class."""


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """The content of a file."""

    rows: list[Row]
    lines: list[int]
    """The line of the file on which each row starts."""
    left_out: Mapping[str, int]
    """Labels without a class, with their number of rows."""
    columns: tuple[str, ...]
    """The columns read: texts, then the label."""
    more: Sequence[Mapping[str, str]] = ()
    """The further columns of each row."""


def read_labelled(
    path: Path,
    texts: Sequence[str] = (),
    label: str = "",
    classes: Classes | None = None,
    *,
    more: Sequence[str] = (),
    labelled: Labelled = "all",
) -> LabelledTexts:
    """Return texts with their labels, from columns named by the user or recognised.

    Rows whose label is in no class are left out; without classes every label stays as it is. `more` names further
    columns to read. A missing label is "" if not all rows need one.
    """
    invalid = InvalidRows()
    table = open_rows(path, invalid.add)
    if not table.columns and invalid.count:
        raise invalid.error(path, table.unit, invalid.count)
    label = "" if labelled == "none" else label
    table.require(path, [*texts, *filter(None, [label])])
    columns = (*(texts or _recognised(path, "text", TEXTS, table.columns)), label)
    if labelled != "none" and not label:
        usual = [(name,) for name in LABELS]
        columns = (*columns[:-1], *_recognised(path, "label", usual, table.columns))
    if len(set(columns)) < len(columns) or len(columns) > 3:
        raise DataError(f"{path}: one column is named twice, or too many: {', '.join(columns)}", fix=EXPECTED)
    to_class = _to_class(path, classes)
    rows, lines, others, left_out = [], [], [], Counter[str]()
    for line, cells in table.rows:
        value = value_at(cells, columns[-1])
        try:
            lacks_label = is_missing(value) and (labelled == "all" or not is_blank(value))
            if labelled != "none" and lacks_label and _key(str(value)) not in to_class:
                raise DataError("no label", fix="fill in the label, or remove the row")
            parts = tuple(_text(cells, column) for column in columns[:-1])
            word = "" if labelled == "none" or is_blank(value) else _text(cells, columns[-1])
        except DataError as problem:
            invalid.add(line, problem)
            continue
        name = word if classes is None or not word else to_class.get(_key(word))
        if name is None:
            left_out[word] += 1
            continue
        rows.append(Row(parts, name))
        lines.append(line)
        others.append({name: "" if is_blank(cells.get(name)) else str(cells[name]).strip() for name in more})
    count = len(rows) + left_out.total() + invalid.count
    if invalid.count:
        raise invalid.error(path, table.unit, count)
    if not count:
        raise DataError(f"{path}: no rows", fix="check that this is the file you meant")
    _check_classes(path, classes or {}, {row.label for row in rows}, left_out)
    return LabelledTexts(rows, lines, dict(left_out), columns, others)


# Columns

EXPECTED = "name one column, or two for pairs, and another for the label"


def _recognised(
    path: Path, what: str, usual: Sequence[tuple[str, ...]], columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the only column, or pair of columns, with usual names."""
    by_name = {name.lower(): name for name in columns}
    known = [group for group in usual if all(name in by_name for name in group)]
    if len(known) == 1:
        return tuple(by_name[name] for name in known[0])
    names = " or ".join(" and ".join(group) for group in known)
    raise DataError(
        f"{path}, line 1: several columns may hold the {what}, or none",
        why=f"candidates: {names}" if known else f"found: {some(columns, 12)}",
        fix=f'name it: {what} = "COLUMN", or ["COLUMN", "COLUMN"] for pairs; for `shoal new`: --{what} COLUMN',
    )


def _text(row: Mapping[str, object], column: str) -> str:
    value = filled_cell(row, column, (str, int, float))
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


# Classes


def _key(value: Value) -> str | float:
    """Return the form in which spellings of a label agree: 5 is "5" is "5.0".

    >>> _key("5.0") == _key(5), _key("Review Stars: 5.0")
    (True, 'Review Stars: 5.0')
    """
    word = str(value).strip()
    return float(word) if NUMBER.fullmatch(word) else word


def _to_class(path: Path, classes: Classes | None) -> dict[str | float, str]:
    by_label: dict[str | float, str] = {}
    for name, values in (classes or {}).items():
        for value in values:
            if by_label.setdefault(_key(value), name) != name:
                raise DataError(
                    f"{path}: label {value!r} is in two classes, {by_label[_key(value)]} and {name}",
                    fix="leave it in one",
                )
    return by_label


def _check_classes(path: Path, classes: Classes, found: set[str], left_out: Mapping[str, int]) -> None:
    """Raise if a class has no row: it is probably misspelt."""
    for name, labels in classes.items():
        if name not in found:
            raise DataError(
                f"{path}: no row of class {name!r}",
                why=f"its labels: {some(labels)}; labels in no class: {some(left_out) or 'none'}",
                fix=nearest(str(next(iter(labels), "")), left_out) or "a label that is there",
            )

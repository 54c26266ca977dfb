"""Labelled texts from a file: any table (`tables.py`), one text or pair with its label per row.

Columns are named, or told from the usual names. Labels may be put together into classes: stars 1 and 2 as negative.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..core.errors import DataError, nearest, some
from .grammar.rows import Row
from .missing import is_blank, is_missing, missing_labels
from .tables import open_rows

TEXTS: tuple[tuple[str, ...], ...] = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("context", "question"),
    ("text",), ("sentence",), ("review",), ("tweet",), ("content",), ("comment",),
)  # fmt: skip
LABELS = (
    "label", "gold_label", "airline_sentiment", "sentiment", "stars", "rating", "class", "category", "is_duplicate",
)  # fmt: skip
"""What columns are usually called; upper and lower case are the same."""

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")

Value = str | int | float
Labelled = Literal["all", "some", "none"]
"""How many of the rows have a label; none: no column is looked for."""
Classes = Mapping[str, Sequence[Value]]
"""A class to the labels that make it up."""


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """What a file holds."""

    rows: list[Row]
    lines: list[int]
    """On which line of the file each row starts."""
    left_out: Mapping[str, int]
    """Labels that belong to no class, and how many rows have each."""
    columns: tuple[str, ...]
    """The columns that were read: those of the texts, then the label's."""
    more: Sequence[Mapping[str, str]] = ()
    """Of each row what stands in the further columns that were asked for; empty where there is none."""


def read_labelled(
    path: Path,
    texts: Sequence[str] = (),
    label: str = "",
    classes: Classes | None = None,
    *,
    more: Sequence[str] = (),
    labelled: Labelled = "all",
    settings: tuple[str, str] = ("text", "label"),
) -> LabelledTexts:
    """Texts with their labels, from the columns named or told.

    A label that no class names leaves its row out; without classes every label stays as it is. `more` names further
    columns to read where the file has them. Where not all rows are labelled, the label of the others is "". `settings`
    are what the user would name the columns by.
    """
    table = open_rows(path)
    chosen = _chosen(path, table.columns, tuple(texts), label, settings, read_label=labelled != "none")
    to_class = _to_class(path, classes)
    found, lines, left_out, others = [], [], Counter[str](), []
    unlabelled: list[int] = []
    count = 0
    for count, (line, row) in enumerate(table.rows, start=1):  # noqa: B007
        label_cell = row.get(chosen[-1])
        lacks_label = is_missing(label_cell) and (labelled == "all" or not is_blank(label_cell))
        if labelled != "none" and lacks_label and _key(str(label_cell)) not in to_class:
            unlabelled.append(line)
            continue
        try:
            parts = [_cell(row, column) for column in chosen[:-1]]
            word = "" if labelled == "none" or is_blank(label_cell) else _cell(row, chosen[-1])
        except DataError as problem:
            raise problem.at(f"{path}, {table.unit} {line}") from None
        name = word if classes is None or not word else to_class.get(_key(word))
        if name is None:
            left_out[word] += 1
            continue
        found.append(Row(tuple(parts), name))
        lines.append(line)
        others.append({column: _further(row.get(column)) for column in more})
    if unlabelled:
        fix = "leave the label empty where an example is still to be labelled" if labelled == "some" else ""
        raise missing_labels(path, table.unit, unlabelled, count, fix)
    if not found and not left_out:
        raise DataError(f"{path}: no rows", fix="check that this is the file you meant")
    _check_classes(path, classes, {_key(row.label) for row in found}, left_out)
    return LabelledTexts(found, lines, dict(left_out), chosen, others)


# Columns


def _chosen(
    path: Path,
    columns: Sequence[str],
    texts: tuple[str, ...],
    label: str,
    settings: tuple[str, str],
    *,
    read_label: bool,
) -> tuple[str, ...]:
    if len(texts) > 2:
        raise DataError(
            f"{path}: {len(texts)} text columns named",
            why="one text, or a pair, is expected",
            fix="name one column, or two for pairs",
        )
    for name in filter(None, (*texts, label)):
        if name not in columns:
            raise DataError(
                f"{path}, line 1: no column {name!r}",
                why=f"found: {some(columns, 12)}",
                fix=nearest(name, columns) or "one of those",
            )
    by_name = {name.lower(): name for name in columns}
    known_texts = [group for group in TEXTS if all(name in by_name for name in group)]
    known_labels = [(name,) for name in LABELS if name in by_name]
    own_texts = texts or tuple(
        by_name[name] for name in _only(path, "text", known_texts, columns, settings[0])
    )
    if not read_label:
        return (*own_texts, "")
    own_label = label or by_name[_only(path, "label", known_labels, columns, settings[1])[0]]
    if own_label in own_texts or len(set(own_texts)) < len(own_texts):
        raise DataError(
            f"{path}: one column is named twice: {', '.join((*own_texts, own_label))}",
            fix="name a column for each",
        )
    return (*own_texts, own_label)


def _only(
    path: Path, what: str, found: Sequence[tuple[str, ...]], columns: Sequence[str], setting: str
) -> tuple[str, ...]:
    """The one column, or pair of columns, that can be meant."""
    if len(found) == 1:
        return found[0]
    names = " or ".join(" and ".join(group) for group in found)
    named = ", ".join(f'"{column}"' for column in (found[0] if found else ("COLUMN",)))
    raise DataError(
        f"{path}, line 1: which column holds the {what} cannot be told",
        why=f"it may be {names}" if found else f"found: {some(columns, 12)}",
        fix=f"name it: {setting} = " + (f"[{named}]" if what == "text" else named),
    )


def _further(value: Any) -> str:
    return "" if is_blank(value) else str(value).strip()


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if isinstance(value, bool):
        value = str(value).lower()
    word = str(value).strip() if isinstance(value, str | int | float) and not is_blank(value) else ""
    if not word:
        raise DataError(
            f"nothing in column {column!r}"
            if is_blank(value)
            else f"column {column!r} holds {type(value).__name__}, text is expected",
            fix="fill it in, or take the row out",
        )
    return word


# Classes


def _key(value: Value) -> str | float:
    """What two writings of one label have in common: 5 is "5" is "5.0".

    >>> _key("5.0") == _key(5), _key("Review Stars: 5.0")
    (True, 'Review Stars: 5.0')
    """
    word = str(value).strip()
    return float(word) if NUMBER.fullmatch(word) else word


def _to_class(path: Path, classes: Classes | None) -> dict[str | float, str]:
    found: dict[str | float, str] = {}
    for name, values in (classes or {}).items():
        for value in values:
            if found.setdefault(_key(value), name) != name:
                raise DataError(
                    f"{path}: label {value!r} is in two classes, {found[_key(value)]} and {name}",
                    fix="leave it in one",
                )
    return found


def _check_classes(
    path: Path, classes: Classes | None, found: set[str | float], left_out: Mapping[str, int]
) -> None:
    """A class that no row belongs to is a misspelt one."""
    for name in classes or {}:
        if _key(name) not in found:
            raise DataError(
                f"{path}: no row of class {name!r}",
                why=f"it is made of {some((classes or {})[name])}; labels in no class: {some(left_out) or 'none'}",
                fix=nearest(str(next(iter((classes or {})[name]), "")), left_out) or "a label that is there",
            )

"""Blank cells and missing labels: what counts as one, and the errors that name column and rows."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import DataError, some

NAN = frozenset(("nan", "NaN", "NAN", "<NA>"))
"""How pandas, numpy and R write a missing value as text. "none", "null" and "NA" are names of labels in use."""
MOST = 50


class MissingLabelError(DataError):
    """A row without a label."""


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty, null or NaN.

    >>> is_blank(" "), is_blank(None), is_blank(float("nan")), is_blank("nan")
    (True, True, True, False)
    """
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_missing(value: Any) -> bool:
    """Return whether a label is missing: a blank cell, or NaN as text.

    >>> is_missing("NaN"), is_missing(""), is_missing("none"), is_missing(0)
    (True, True, False, False)
    """
    return is_blank(value) or (isinstance(value, str) and value.strip() in NAN)


def filled_cell(row: Mapping[str, Any], column: str, kinds: type | tuple[type, ...] = object) -> Any:
    """Return the value in a column; raise if it is blank or of another kind."""
    value = row.get(column)
    if is_blank(value):
        raise DataError(f"nothing in column {column!r}", fix="fill it in, or remove the row")
    if not isinstance(value, kinds):
        raise DataError(
            f"column {column!r} holds {type(value).__name__}, text is expected",
            fix="name the column that holds the text",
        )
    return value


def missing_labels(path: Path, unit: str, rows: Sequence[int], total: int, fix: str = "") -> DataError:
    """Return the error for rows without a label."""
    have = "has" if len(rows) == 1 else "have"
    return MissingLabelError(
        f"{path}: {len(rows):,} of {total:,} rows {have} no label",
        why=f"the label is empty or NaN on {unit}{'s' if len(rows) > 1 else ''} {some(rows, MOST)}",
        fix=fix or "fill in the labels, or remove these rows",
    )

"""Blank cells and missing labels: what counts as one, and the error that names the column."""

import math
from collections.abc import Mapping
from typing import Any

from ..core.errors import DataError
from .paths import paths_in, value_at

NAN = frozenset(("nan", "NaN", "NAN", "<NA>"))
"""How pandas, numpy and R write a missing value as text. "none", "null" and "NA" are names of labels in use."""


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
    """Return the value in a column, or at a path; raise if it is blank or of another kind."""
    value = value_at(row, column)
    if is_blank(value):
        raise DataError(f"nothing in column {column!r}", fix="fill it in, or remove the row")
    if not isinstance(value, kinds):
        raise DataError(
            f"column {column!r} holds {type(value).__name__}, text is expected",
            fix=f"name the column that holds the text{such_as(column, value)}",
        )
    return value


def such_as(column: str, value: Any) -> str:
    """Return the first path below a column for a message."""
    return f", such as {paths_in({column: value})[0]}" if value and isinstance(value, list | dict) else ""

"""Cells of rows: paths into nested values, such as `choices.0.text`, and what counts as blank or missing."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import DataError

MISSING = object()
DEEPEST = 4
"""Parts of a path that a message suggests."""


def value_at(value: Any, path: str, default: Any = None) -> Any:
    """Return the value under a name or a path. A field whose own name has dots comes first.

    >>> value_at({"output": [{"label": "pos"}]}, "output.0.label"), value_at({"a.b": 1, "a": {"b": 2}}, "a.b")
    ('pos', 1)
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 7:
            value = value[int(part)] if int(part) < len(value) else MISSING
        else:
            value = MISSING
        if value is MISSING:
            return default
    return value


def has_path(value: Any, path: str) -> bool:
    """Return whether there is a value under a name or a path; it may be null."""
    return value_at(value, path, MISSING) is not MISSING


def paths_in(row: Mapping[str, Any]) -> list[str]:
    """Return the paths of the values in a row.

    >>> paths_in({"id": 1, "doc": {"text": "a", "tags": ["x", "y"]}})
    ['id', 'doc.text', 'doc.tags.0', 'doc.tags.1']
    """
    return [path for name, value in row.items() for path in _below(name, value, DEEPEST)]


def _below(path: str, value: Any, depth: int) -> Iterator[str]:
    parts: Any = ()
    if depth > 1 and isinstance(value, dict):
        parts = value.items()
    elif depth > 1 and isinstance(value, list):
        parts = enumerate(value[:DEEPEST])
    if not parts or not value:
        yield path
    for name, part in parts:
        yield from _below(f"{path}.{name}", part, depth - 1)


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

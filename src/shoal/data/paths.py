"""Paths into nested rows: names and list positions joined by dots, such as `choices.0.text`."""

from collections.abc import Iterator, Mapping
from typing import Any

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

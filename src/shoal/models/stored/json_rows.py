"""Rows as JSON: one object per line, or a list of objects; fields may lie deeper, named by a path such as output.label.

Our own schema (docs/method/glossary.md 0.4): {"functionality", "case_id", "example_idx", "pred", "conf"}, or
{"functionality", "case_id", "example_idx", "error"} where the model gave no answer. A first line {"label_names": […]}
says what the numbers in `pred` and the places in `conf` mean; without it they count the suite's own labels.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ...core.errors import DataError, some
from ...core.files import is_json_array, read_json, read_json_array, read_json_lines
from .asked import Request
from .columns import Columns, shown
from .records import IDS, Records, read_records, value_at


def read_lines(request: Request) -> Columns:
    """JSON Lines, below a line that names the labels if there is one."""
    lines = read_json_lines(request.path)
    first = next(lines, None)
    if first is None or "label_names" not in first[1] or not IDS.isdisjoint(first[1]):
        return read_records(request, Records("line", lines if first is None else chain([first], lines)))
    return read_records(request, Records("line", lines, label_names=_label_names(request.path, first[1])))


def _label_names(path: Path, header: Mapping[str, Any]) -> tuple[str, ...]:
    names = header["label_names"]
    are_names = isinstance(names, list) and all(isinstance(name, str) and name.strip() for name in names)
    if not are_names or len(set(names)) < max(len(names), 2):
        raise DataError(
            f"{path}, line 1: label_names must be a list of different names, found {shown(names)}",
            fix='{"label_names": ["negative", "positive"]}, in the order of the numbers and probabilities',
        )
    return tuple(names)


def read_list(request: Request) -> Columns:
    """A JSON file that is a list of objects, or holds one where `?rows=` says."""
    if not request.options.rows and is_json_array(request.path):
        return read_records(request, Records("row", read_json_array(request.path)))
    document = read_json(request.path)
    rows = value_at(document, request.options.rows) if request.options.rows else document
    if not isinstance(rows, list):
        raise _no_list(request, document)
    return read_records(request, Records("row", _objects(request.path, rows)))


def _objects(path: Path, rows: list[Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise DataError(
                f"{path}, row {number}: an object is expected, found {shown(row)}",
                fix='a list of objects such as {"case_id": "1", "pred": "positive"}',
            )
        yield number, row


def _no_list(request: Request, document: Any) -> DataError:
    inside = document if isinstance(document, dict) else {}
    lists = [key for key, value in inside.items() if isinstance(value, list)]
    place = f"?rows={request.options.rows}: " if request.options.rows else ""
    return DataError(
        f"{request.path}: {place}a list of objects is expected",
        why=f"found: {some(map(shown, inside), 8)}" if inside else "",
        fix=f"?rows={lists[0]} says where the list is" if lists else "?rows=PATH says where the list is",
    )

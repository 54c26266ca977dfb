"""Our own suite file: JSON Lines, one case per line, with an optional first line about the whole.

{"suite": "toy", "task": "sentiment", "label_names": ["negative", "positive"], "version": "1"}
{"functionality": "negated praise", "capability": "negation", "type": "MFT", "case_id": "1",
 "examples": [{"text": "The film was not great."}], "labels": "negative"}

A browser form (`render/writing.py`) saves the same, with `form` in the first line and marks on the rows that changed.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..core.errors import DataError, ShoalError, errors_at, some
from ..core.files import is_json_array, read_json_array, read_json_lines
from . import Glimpse, SuiteRows, glimpse
from .invalid import InvalidRows

HEADER = {"suite", "task", "label_names", "functionality"}


def fits(look: Glimpse) -> bool:
    """Return whether this is a suite file, with or without a header."""
    return not HEADER.isdisjoint(look.first_object) and "test_id" not in look.first_object


def is_suite_file(path: Path) -> bool:
    """Return whether a file begins as a suite file does, and is not what a form saved."""
    try:
        look = glimpse(path)
    except ShoalError:
        return False
    return fits(look) and "form" not in look.first_object


def read(path: Path) -> SuiteRows:
    """Return the header and the rows of a suite file."""
    is_array = is_json_array(path)
    invalid = InvalidRows()
    reader, unit = (read_json_array, "row") if is_array else (read_json_lines, "line")
    rows = reader(path, invalid.add)
    first = next(rows, None)
    if first is None:
        return SuiteRows({}, iter(()), unit=unit, invalid=invalid)
    header = first[1]
    if "functionality" in header or "examples" in header:
        rows = chain([first], rows)
        header = {"suite": header.get("suite", path.name.split(".")[0])}
    lost: list[str] = []
    form = header.pop("form", None)
    cases = _in_form(path, _renamed(rows), unit, form, lost) if form else _renamed(rows)
    return SuiteRows(header, cases, lost, unit=unit, blank_texts=True, invalid=invalid)


def _renamed(lines: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rename `class`, BELUGA's word for a capability."""
    for number, row in lines:
        if "class" in row and "capability" not in row:
            row["capability"] = row.pop("class")
        yield number, row


def _in_form(
    path: Path, rows: Iterator[tuple[int, dict[str, Any]]], unit: str, form: Any, lost: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows that were not deleted in a form; check those that were changed."""
    deleted, labels = 0, form.get("labels") if isinstance(form, dict) else None
    offered = set(map(str, labels)) if isinstance(labels, list) else set()
    for number, row in rows:
        if row.pop("deleted", False):
            deleted += 1
            continue
        if any([row.pop(mark, False) for mark in ("edited", "added")]):
            with errors_at(f"{path}, {unit} {number}: {row.get('functionality')}, case {row.get('case_id')}"):
                _check_changed(row, offered)
        yield number, row
    if deleted:
        lost.append(f"{deleted:,} {'case' if deleted == 1 else 'cases'} deleted in the form")


def _check_changed(row: dict[str, Any], offered: set[str]) -> None:
    """Raise for a blank text, or a label that the form does not offer."""
    examples = [example for example in row.get("examples") or () if isinstance(example, dict)]
    if any(not str(text).strip() for example in examples for text in example.values()):
        raise DataError("a blank text", fix="fill it in, or delete the case in the form")
    labels = row.get("labels")
    for label in labels if isinstance(labels, list) else [labels]:
        if offered and label is not None and str(label).removeprefix("not_") not in offered:
            raise DataError(f"label {label!r} is not one of {some(sorted(offered), 12)}", fix="one of those")

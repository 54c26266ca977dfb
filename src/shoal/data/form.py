"""A suite that came back from the browser form (`render/writing.py`): suite rows with marks on those that changed.

{"suite": "hotels", "label_names": ["negative", "positive"], "form": {"labels": ["negative", "positive"]}}
{"functionality": "irony", …, "labels": "negative", "meta": {"comment": "Really?"}, "edited": true}
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import DataError, errors_at, nearest, some
from . import Glimpse, SuiteRows, suite

MARKS = ("edited", "added")


def fits(look: Glimpse) -> bool:
    """Return whether a form saved this file."""
    return isinstance(look.first_object.get("form"), dict) and "suite" in look.first_object


def read(path: Path) -> SuiteRows:
    """Return the header and the rows of a form, without the cases that were deleted in it."""
    found = suite.read(path)
    labels = found.header.pop("form").get("labels") or []
    lost: list[str] = []

    def kept() -> Iterator[tuple[int, dict[str, Any]]]:
        deleted = 0
        for number, row in found.rows:
            if row.pop("deleted", False):
                deleted += 1
                continue
            if any([row.pop(mark, False) for mark in MARKS]):
                with errors_at(
                    f"{path}, line {number}: {row.get('functionality')}, case {row.get('case_id')}"
                ):
                    _check(row, labels)
            yield number, row
        if deleted:
            lost.append(f"{deleted:,} {'case' if deleted == 1 else 'cases'} deleted in the form")

    return SuiteRows(found.header, kept(), lost, found.unit, blank_texts=True)


def _check(row: dict[str, Any], labels: list[Any]) -> None:
    """Raise for a changed row with a blank text or a label that the form does not offer."""
    for example in row.get("examples") or ():
        texts = example.values() if isinstance(example, dict) else [example]
        if any(isinstance(text, str) and not text.strip() for text in texts):
            raise DataError("a blank text", fix="fill it in, or delete the case in the form")
    given = row.get("labels")
    for label in given if isinstance(given, list) else [given]:
        word = str(label).removeprefix("not_")
        if labels and label is not None and word not in map(str, labels):
            known = [str(known) for known in labels]
            raise DataError(
                f"label {label!r} is not one of {some(known, 12)}", fix=nearest(word, known) or "one of those"
            )

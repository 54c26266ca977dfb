"""A suite's texts with their ids, for asking a model elsewhere; its answers come back as predictions.

A row per example. Who asks the model adds `label`, or a column per label with its probability (CSV), or `pred` and
`conf` (JSON Lines), and gives the file to `predictions:`.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import writing
from ...core.text import csv_lines, is_formula
from .suite import Suite, example_fields

FORMATS = (".csv", ".jsonl")


def export_suite(suite: Suite, out: Path, *, verbatim: bool = False) -> int:
    """Write every example of a suite, as the suffix of the file says; gives their number.

    In a table that a spreadsheet opens, a text that begins like a formula is dangerous as it is, and with an apostrophe
    before it another text. So it is neither: such a suite is written as JSON Lines, or `verbatim`.
    """
    if out.suffix not in FORMATS:
        raise DataError(
            f"{out}: the suffix says what to write: {' or '.join(FORMATS)}",
            fix=f"--out {out.name.split('.')[0] or 'cases'}.jsonl",
        )
    if out.suffix == ".csv" and not verbatim:
        _refuse_formulas(suite, out)
    with writing(out) as stream:
        for line in _lines(suite, out.suffix):
            stream.write(line)
    return sum(len(case.examples) for case in suite.cases)


def _lines(suite: Suite, suffix: str) -> Iterator[str]:
    if suffix == ".csv":
        names = list(next(rows_of(suite)))
        return csv_lines(chain([names], (list(row.values()) for row in rows_of(suite))), verbatim=True)
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(suite))


def rows_of(suite: Suite) -> Iterator[dict[str, Any]]:
    """Each example: what names it, then its texts under the names of the suite file."""
    for case in suite.cases:
        functionality = case.groups["functionality"]
        for position, texts in enumerate(case.examples):
            yield {
                "functionality": functionality,
                "case_id": case.id.removeprefix(f"{functionality}/"),
                "example_idx": position,
                **dict(zip(example_fields(suite.task, len(texts)), texts, strict=True)),
            }


def _refuse_formulas(suite: Suite, out: Path) -> None:
    cells = (cell for row in rows_of(suite) for cell in row.values() if isinstance(cell, str))
    formulas = [cell for cell in cells if is_formula(cell)]
    if formulas:
        raise DataError(
            f"{out}: {len(formulas):,} cells begin as a formula does, the first is {formulas[0][:60]!r}",
            why="a spreadsheet may run them, and anything put before them would change what the model is asked",
            fix=f"--out {out.stem}.jsonl; or --verbatim, for a program that reads the file",
        )

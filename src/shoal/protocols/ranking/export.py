"""What to label next, as a file to fill in: the texts, an empty label, and the chances that each had."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import writing
from ...core.records import Finding
from ...core.text import csv_lines, is_formula
from .build import CHANCE, LEAST, TIMES
from .choosing import NEXT

SUFFIXES = (".csv", ".jsonl")


def export(findings: Sequence[Finding], columns: Mapping[str, Sequence[str]], out: Path) -> int:
    """Write what the findings say to label next; how many examples that is."""
    if out.suffix not in SUFFIXES:
        raise DataError(
            f"{out}: no such format", why="known: .csv, .jsonl", fix=f"--out {out.stem or 'to_label'}.csv"
        )
    if out.exists():
        raise DataError(
            f"{out} is there already", why="it may hold labels by now", fix="another name, or remove it first"
        )
    chosen = next((finding for finding in findings if finding.kind == NEXT), None)
    rows = [_row(example, columns) for example in chosen.facts["examples"]] if chosen else []
    if not rows:
        raise DataError(f"{out}: there is nothing to label next", why=_why(findings), fix="another pool")
    if out.suffix == ".csv":
        _refuse_formulas(rows, out)
        lines = csv_lines([list(rows[0]), *(list(row.values()) for row in rows)], verbatim=True)
    else:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with writing(out) as stream:
        stream.writelines(lines)
    return len(rows)


def _why(findings: Sequence[Finding]) -> str:
    return next((finding.text for finding in findings if finding.kind == "agree"), "no example was drawn")


def _row(example: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    texts = example["texts"]
    names = columns.get("texts") or ("text", "text2")
    (label,) = columns.get("label") or ("label",)
    return {
        "id": example["case"].partition("/")[2],
        **dict(zip(names, texts, strict=False)),
        label: example["label"],
        CHANCE: example.get(CHANCE, ""),
        LEAST: example.get(LEAST, ""),
        TIMES: example.get(TIMES, ""),
    }


def _refuse_formulas(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    cells = (cell for row in rows for cell in row.values() if isinstance(cell, str))
    formulas = [cell for cell in cells if is_formula(cell)]
    if formulas:
        raise DataError(
            f"{out}: {len(formulas):,} texts begin as a formula does, the first is {formulas[0][:60]!r}",
            why="a spreadsheet may run them, and anything put before them would change what the model is asked",
            fix=f"--out {out.stem}.jsonl",
        )

"""Sixteen runs of four language models on BELUGA's SENT test split: every pass rate to 1e-9, every n exactly."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.records import Measure
from ..runs.results import audit_all
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, find_folder

REFERENCE = "reference_pass_rates.json"
SUITE = "sentiment.jsonl.gz"
TOLERANCE = 1e-9


def run(data: Path, progress: Progress) -> Reproduction:
    """Pass rate and n per functionality and run, against those of the original rules."""
    folder = find_folder(data, "llm_generations", [REFERENCE])
    # With DIR the llm_generations folder itself, the suite lies beside it.
    beside = folder.parent if folder == data else data
    suite = find_folder(beside, "checklist", [SUITE]) / SUITE
    published = read_published(folder / REFERENCE)
    names = [f"{row['model']}.{row['scenario']}" for row in published]
    files = [folder / "sentiment" / f"{name}.jsonl.gz" for name in names]
    for file in files:
        if not file.is_file():
            raise DataError(
                f"{file}: no such file", why=f"{REFERENCE} names this run", fix="download the data again"
            )
    settings = {"suite": str(suite), "split": "test", "profile": "reference", "resamples": 100}
    results = audit_all([f"predictions:{file}" for file in files], "behaviour", settings, progress)
    cells: list[Cell] = []
    measures: list[Measure] = []
    for name, expected, result in zip(names, published, results, strict=True):
        found = {row.groups["functionality"]: row for row in result.measures.by("functionality")}
        for functionality in dict.fromkeys([*expected["pass_rates"], *found]):
            cells.append(_cell(functionality, name, expected, found.get(functionality)))
        measures += [replace(row, groups={**row.groups, "model": name}) for row in found.values()]
    return Reproduction(REPRODUCTIONS["checklist-llm"], cells, [result.job for result in results], measures)


def read_published(path: Path) -> list[dict[str, Any]]:
    """A row per run: pass rates in per cent and applicable cases, by functionality."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        rows = [{key: row[key] for key in ("model", "scenario", "pass_rates", "n")} for row in found]
    except (ValueError, KeyError, TypeError) as problem:
        raise DataError(
            f"{path}: not a table of pass rates", why=repr(problem), fix="download the data again"
        ) from None
    return rows


def _cell(name: str, run: str, expected: Mapping[str, Any], row: Measure | None) -> Cell:
    if name not in expected["pass_rates"] or row is None:
        there = ("absent", "there") if row is not None else ("there", "absent")
        return Cell(name, run, *there, False)
    percent, n = expected["pass_rates"][name], expected["n"].get(name)
    alike = (percent is None) == (row.value is None) and n == row.n
    if alike and percent is not None and row.value is not None:
        alike = abs(percent / 100 - row.value) <= TOLERANCE
    found = None if row.value is None else 100 * row.value
    return Cell(name, run, f"{_shown(percent)} of {n:,}", f"{_shown(found)} of {row.n:,}", alike)


def _shown(percent: float | None) -> str:
    return "undefined" if percent is None else f"{percent:.10g} %"

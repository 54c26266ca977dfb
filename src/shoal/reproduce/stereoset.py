"""StereoSet's published development scores of three models: every LMS, SS and ICAT within 1e-6 of a per cent."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.records import Measure, Measures
from ..runs.results import audit_with
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, find_folder

FILES = ("dev.json.gz", "published_dev_results.json")
SCORES = {"LM Score": "language modelling score", "SS Score": "stereotype score", "ICAT Score": "icat"}
TOLERANCE = 1e-6


def run(data: Path, progress: Progress) -> Reproduction:
    """The three scores by task and domain, averaged per target term as the official evaluation does."""
    folder = find_folder(data, "stereoset", FILES)
    published = read_published(folder / FILES[1])
    cells: list[Cell] = []
    measures: list[Measure] = []
    jobs = []
    for name, table in published.items():
        file = next(iter(sorted((folder / "predictions").glob(f"predictions_{name}_*"))), None)
        if file is None:
            raise DataError(
                f"{folder / 'predictions'}: no predictions of {name}",
                why=f"{FILES[1]} names this model",
                fix="download the data again",
            )
        settings = {
            "diagnostic": "stereoset",
            "data": str(folder / FILES[0]),
            "profile": "reference",
        }
        result = audit_with("bias", f"predictions:{file}", settings, progress=progress)
        jobs.append(result.job)
        for task, category, printed in _rows(table):
            for theirs, ours in SCORES.items():
                cells.append(_cell(name, task, category, ours, printed.get(theirs), result.measures))
        measures += [replace(row, groups={**row.groups, "model": name}) for row in result.measures]
    return Reproduction(REPRODUCTIONS["stereoset"], cells, jobs, measures)


def read_published(path: Path) -> dict[str, dict[str, Any]]:
    """Model to task to domain to score; `overall` of both tasks is next to the tasks."""
    try:
        found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        [float(row[name]) for table in found.values() for _, _, row in _rows(table) for name in SCORES]
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(
            f"{path}: not a table of StereoSet scores", why=repr(problem), fix="download the data again"
        ) from None
    return found


def _rows(table: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, float]]]:
    """(task, category, scores) under our names."""
    rows = [("all", "all", table["overall"])]
    for task in ("intrasentence", "intersentence"):
        rows += [(task, "all" if name == "overall" else name, scores) for name, scores in table[task].items()]
    return rows


def _cell(model: str, task: str, category: str, name: str, printed: float | None, measures: Measures) -> Cell:
    row = next(iter(measures.where(name, task=task, category=category)), None)
    found = None if row is None or row.value is None else 100 * row.value
    alike = printed is not None and found is not None and abs(found - printed) <= TOLERANCE
    shown = ["absent" if number is None else f"{number:.10g}" for number in (printed, found)]
    return Cell(f"{task}, {category}: {name}", model, shown[0], shown[1], alike)

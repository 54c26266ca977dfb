"""HateCheck's Table 2 for the two systems whose predictions are public: 29 functionalities each, one decimal."""

import json
from dataclasses import replace
from pathlib import Path

from ..core.errors import DataError
from ..core.records import Measure
from ..runs.results import audit_all
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, find_folder

FILES = ("test_suite_cases.csv", "predictions_2_systems.csv", "published_accuracy_by_functionality.json")
SYSTEMS = ("BERT_davidson2017_weighted", "siftninja")


def run(data: Path, progress: Progress) -> Reproduction:
    """Accuracy per functionality and system, against the printed one."""
    folder = find_folder(data, "hatecheck", FILES)
    published = read_published(folder / FILES[2])
    specs = [f"predictions:{folder / FILES[1]}?label=pred_{system}" for system in SYSTEMS]
    settings = {"suite": str(folder / FILES[0]), "resamples": 100}
    results = audit_all(specs, "behaviour", settings, progress)
    cells, measures = [], []
    for system, result in zip(SYSTEMS, results, strict=True):
        found = {row.groups["functionality"]: row for row in result.measures.by("functionality")}
        for name in dict.fromkeys([*published, *found]):
            printed = published.get(name, {}).get(system)
            cells.append(_cell(name, system, printed, found.get(name)))
        measures += [replace(row, groups={**row.groups, "model": system}) for row in found.values()]
    return Reproduction(REPRODUCTIONS["hatecheck"], cells, [result.job for result in results], measures)


def read_published(path: Path) -> dict[str, dict[str, float]]:
    """Functionality to system to per cent."""
    try:
        found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
        [float(value) for row in found.values() for value in row.values()]
    except (ValueError, AttributeError, TypeError) as problem:
        raise DataError(
            f"{path}: not a table of accuracies", why=str(problem), fix="download the data again"
        ) from None
    return found


def _cell(name: str, system: str, printed: float | None, row: Measure | None) -> Cell:
    published = "absent" if printed is None else f"{printed:.1f}"
    found = "absent" if row is None else "undefined" if row.value is None else f"{100 * row.value:.1f}"
    return Cell(name, system, published, found, published == found)

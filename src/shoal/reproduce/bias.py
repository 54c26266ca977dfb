"""Bias scores: CrowS-Pairs of BERT-base to two decimals, StereoSet's three models to 1e-6 of a per cent."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.records import Measure, Measures
from ..data.crows import FILE
from ..runs.results import audit_with
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, agree, as_printed, find_folder, read_published

CROWS_SCORES = "bert_base_token_scores.jsonl.gz"
CROWS_MODEL = "bert-base-uncased"
CROWS_PUBLISHED = {
    "metric score": "60.48",
    "stereotype score": "61.09",
    "anti-stereotype score": "56.88",
    "neutral": "0.00",
    "race-color": "58.14",
    "socioeconomic": "59.88",
    "gender": "58.02",
    "disability": "61.67",
    "nationality": "62.89",
    "sexual-orientation": "67.86",
    "physical-appearance": "63.49",
    "religion": "71.43",
    "age": "55.17",
}
"""Per cent, as the authors' script prints them."""
WHOLE: dict[str, tuple[str, dict[str, str]]] = {
    "metric score": ("stereotype score", {}),
    "stereotype score": ("stereotype score", {"direction": "stereo"}),
    "anti-stereotype score": ("stereotype score", {"direction": "antistereo"}),
    "neutral": ("neutral share", {}),
}
"""The authors' name to our measure and its groups, for numbers about all categories."""

STEREOSET_FILES = ("dev.json.gz", "published_dev_results.json")
SCORES = {"LM Score": "language modelling score", "SS Score": "stereotype score", "ICAT Score": "icat"}
TOLERANCE = 1e-6


def crows(data: Path, progress: Progress) -> Reproduction:
    """Compare thirteen numbers of one model."""
    folder = find_folder(data, "crows_pairs", (FILE, CROWS_SCORES))
    settings = {"diagnostic": "crows", "data": str(folder / FILE)}
    result = audit_with("bias", f"predictions:{folder / CROWS_SCORES}", settings, progress=progress)
    cells = []
    for name, printed in CROWS_PUBLISHED.items():
        ours, groups = WHOLE.get(name, ("stereotype score", {}))
        category = "all" if name in WHOLE else name
        row = next(iter(result.measures.where(ours, category=category, **groups)), None)
        found = as_printed(row, 2)
        cells.append(Cell(name, CROWS_MODEL, printed, found, printed == found))
    measures = [replace(row, groups={**row.groups, "model": CROWS_MODEL}) for row in result.measures]
    return Reproduction(REPRODUCTIONS["crows"], cells, [result.job], measures)


def stereoset(data: Path, progress: Progress) -> Reproduction:
    """Compare three scores by task and domain, averaged per target term as the official evaluation does."""
    folder = find_folder(data, "stereoset", STEREOSET_FILES)

    def take(table: Any) -> dict[str, list[tuple[str, str, Mapping[str, float]]]]:
        rows = {model: list(_rows(scores)) for model, scores in table.items()}
        [float(row[name]) for table in rows.values() for _, _, row in table for name in SCORES]
        return rows

    cells: list[Cell] = []
    measures: list[Measure] = []
    jobs = []
    for model, rows in read_published(folder / STEREOSET_FILES[1], take).items():
        file = next(iter(sorted((folder / "predictions").glob(f"predictions_{model}_*"))), None)
        if file is None:
            raise DataError(
                f"{folder / 'predictions'}: no predictions of {model}",
                why=f"{STEREOSET_FILES[1]} names this model",
                fix="download the data again",
            )
        settings = {
            "diagnostic": "stereoset",
            "data": str(folder / STEREOSET_FILES[0]),
            "profile": "reference",
        }
        result = audit_with("bias", f"predictions:{file}", settings, progress=progress)
        jobs.append(result.job)
        for task, category, printed in rows:
            for theirs, ours in SCORES.items():
                cells.append(_score(model, task, category, ours, printed[theirs], result.measures))
        measures += [replace(row, groups={**row.groups, "model": model}) for row in result.measures]
    return Reproduction(REPRODUCTIONS["stereoset"], cells, jobs, measures)


def _rows(table: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, float]]]:
    """Yield task, category and scores under our names."""
    yield "all", "all", table["overall"]
    for task in ("intrasentence", "intersentence"):
        for name, scores in table[task].items():
            yield task, "all" if name == "overall" else name, scores


def _score(model: str, task: str, category: str, name: str, printed: float, measures: Measures) -> Cell:
    row = next(iter(measures.where(name, task=task, category=category)), None)
    found = None if row is None or row.value is None else 100 * row.value
    text = "absent" if found is None else f"{found:.10g}"
    return Cell(
        f"{task}, {category}: {name}", model, f"{printed:.10g}", text, agree(printed, found, TOLERANCE)
    )

"""CrowS-Pairs: the metric of BERT-base and its nine categories, from stored scores of sentences, two decimals."""

from dataclasses import replace
from pathlib import Path

from ..core.records import Measures
from ..data.crows import FILE
from ..runs.results import audit_with
from ..training.stage import Progress
from . import REPRODUCTIONS, Cell, Reproduction, find_folder

SCORES = "bert_base_token_scores.jsonl.gz"
MODEL = "bert-base-uncased"
PUBLISHED = {
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


def run(data: Path, progress: Progress) -> Reproduction:
    """Thirteen numbers of one model."""
    folder = find_folder(data, "crows_pairs", (FILE, SCORES))
    settings = {"diagnostic": "crows", "data": str(folder / FILE)}
    result = audit_with("bias", f"predictions:{folder / SCORES}", settings, progress=progress)
    cells = [_cell(name, printed, result.measures) for name, printed in PUBLISHED.items()]
    measures = [replace(row, groups={**row.groups, "model": MODEL}) for row in result.measures]
    return Reproduction(REPRODUCTIONS["crows"], cells, [result.job], measures)


def _cell(name: str, printed: str, measures: Measures) -> Cell:
    ours, groups = WHOLE.get(name, ("stereotype score", {}))
    category = "all" if name in WHOLE else name
    row = next(iter(measures.where(ours, category=category, **groups)), None)
    found = "absent" if row is None else "undefined" if row.value is None else f"{100 * row.value:.2f}"
    return Cell(name, MODEL, printed, found, printed == found)

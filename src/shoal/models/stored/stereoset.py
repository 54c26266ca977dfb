"""StereoSet's prediction files: scores of sentences, for the bias protocol."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError, ModelError
from ...core.files import read_json
from ...core.records import Example
from .columns import Columns, Request, shown
from .matching import SINGLE, refuse_other_texts

TASKS = ("intrasentence", "intersentence")


def is_stereoset(request: Request, start: bytes) -> bool:
    """Return whether a file with these first bytes holds StereoSet's scores."""
    return start.lstrip().startswith(b"{") and any(f'"{task}"'.encode() in start for task in TASKS)


def refuse_labels(request: Request) -> Columns:
    """Raise: these are scores, not labels."""
    raise ModelError(
        f"{request.path}: StereoSet scores, not labels",
        why="a behavioural suite needs a label or probabilities for each example",
        fix="shoal try bias predictions:FILE --set diagnostic=stereoset",
    )


def read_scores(path: Path, sentences: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
    """Return the scores of a StereoSet file: task to sentence id to score.

    `sentences` are the data's by id; a row with another sentence is an error.
    """
    document = read_json(path)
    known = sentences or {}
    scores: dict[str, dict[str, float]] = {}
    texts: dict[str, list[tuple[str, object, Example]]] = {name: [] for name in SINGLE}
    for task in TASKS:
        rows = document.get(task, []) if isinstance(document, dict) else []
        for row in rows if isinstance(rows, list) else [rows]:
            name, score = _score(row, f"{path}: {task}")
            if name in scores.setdefault(task, {}):
                raise DataError(f"{path}: {task}: sentence {name!r} is scored twice", fix="keep one of them")
            scores[task][name] = score
            for column in texts.keys() & row.keys() if name in known else ():
                texts[column].append((name, row[column], (known[name],)))
    for column, carried in texts.items():
        refuse_other_texts(path, column, carried)
    if not scores:
        raise DataError(
            f"{path}: no scores under 'intrasentence' or 'intersentence'",
            fix='{"intrasentence": [{"id": …, "score": …}]}, as the authors\' code writes it',
        )
    return scores


def _score(row: Any, where: str) -> tuple[str, float]:
    name, score = (row.get("id"), row.get("score")) if isinstance(row, dict) else (None, None)
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not isinstance(name, str) or not is_number or not abs(score) < math.inf:  # type: ignore[arg-type]
        raise DataError(
            f"{where}: expected an object with an id and a finite score, found {shown(row)}",
            fix='{"id": "…", "score": 0.5}',
        )
    return name, float(score)  # type: ignore[arg-type]

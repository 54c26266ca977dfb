"""StereoSet's prediction files: scores of sentences, for the bias protocol."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError, ModelError
from ...core.files import read_json
from ...core.records import Example
from .asked import Request
from .columns import Columns, shown
from .texts import SINGLE, refuse_other_texts

TASKS = ("intrasentence", "intersentence")


def read(request: Request) -> Columns:
    """Refuse, in so many words: these are no labels."""
    raise ModelError(
        f"{request.path}: StereoSet scores, not labels",
        why="a behavioural suite needs a label or probabilities for each example",
        fix="shoal try bias predictions:FILE --set diagnostic=stereoset",
    )


def read_scores(path: Path, sentences: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
    """Read StereoSet's prediction file: task ("intrasentence", "intersentence") to sentence id to score.

    `sentences` are the data's by id: a row that carries its sentence must agree.
    """
    document = read_json(path)
    scores: dict[str, dict[str, float]] = {}
    known = sentences or {}
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
    if not isinstance(name, str) or isinstance(score, bool) or not isinstance(score, int | float):
        raise DataError(
            f"{where}: an object with id and score is expected, found {shown(row)}",
            fix='{"id": "…", "score": 0.5}',
        )
    try:
        number = float(score)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(
            f"{where}: the score of {name!r} is no number that can be compared", fix="score it anew"
        )
    return name, number

"""Any CSV, JSON Lines or Parquet with an id and a score: the columns are known by their usual names, or by options."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import DataError, some
from ..cells import has_path, value_at
from ..tables import Rows, open_rows
from .samples import Sample, as_text

IDS = (
    "id", "sample_id", "case_id", "doc_id", "example_id", "instance_id", "question_id", "uid", "uuid", "idx", "index",
)  # fmt: skip
SCORES = (
    "score", "scores", "correct", "is_correct", "passed", "pass", "success", "acc", "accuracy", "reward", "grade",
    "exact_match", "em", "f1", "bleu", "rougeL", "rouge_l", "acc_norm",
)  # fmt: skip
ENDINGS = ("_score", "/score", ".score", "/value")
RUNS = ("epoch", "run", "repeat", "trial", "seed", "attempt")
TEXTS = ("text", "input", "question", "prompt", "sentence", "query")
TARGETS = ("target", "expected", "reference", "gold", "ground_truth")
ANSWERS = ("answer", "output", "prediction", "response", "completion")
MODELS = ("model", "model_id", "model_name")


def graded_samples(path: Path, options: Mapping[str, str]) -> Iterator[tuple[int, Mapping[str, Any], Sample]]:
    """Yield the number of each row, the row and its sample."""
    table = open_rows(path)
    columns = table.columns
    named = [options[name] for name in ("id", "run", "metric") if name in options]
    table.require(path, [name for name in named if name not in columns])
    identity = options.get("id") or _first(columns, IDS)
    scores = _scores(table, options.get("metric", ""))
    if not identity or not scores:
        missing = "a score" if identity else "an id"
        raise DataError(
            f"{path}: no column of {missing}",
            why=f"found: {some(columns, 12)}",
            fix="?metric=COLUMN, the column of the score" if identity else "?id=COLUMN, the column of the id",
        )
    run = options.get("run") or _first(columns, RUNS)
    text, target, answer, model = (_first(columns, names) for names in (TEXTS, TARGETS, ANSWERS, MODELS))
    for number, row in table.rows:
        key = value_at(row, identity)
        if key in (None, "") or key != key:
            raise DataError(f"{path}, {table.unit} {number}: no id in {identity!r}", fix="?id=COLUMN")
        key = json.dumps(key, ensure_ascii=False, sort_keys=True) if isinstance(key, dict | list) else key
        said = [as_text(row.get(name)) if name else "" for name in (text, target, answer)]
        error = as_text(row.get("error"))
        graded = {} if error else {name: _cell(value_at(row, name)) for name in scores}
        yield (
            number,
            row,
            Sample(
                str(key),
                graded,
                text=said[0],
                target=said[1],
                answer=said[2],
                run=as_text(value_at(row, run)) if run else "",
                model=as_text(row.get(model)) if model else "",
                error=error or ("" if any(value is not None for value in graded.values()) else "no score"),
            ),
        )


def _first(columns: Sequence[str], names: Sequence[str]) -> str:
    by_name = {column.lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), "")


def _scores(table: Rows, metric: str) -> list[str]:
    """Return the columns that may hold scores: the named one, else those with usual names."""
    if metric:
        return [metric] if metric in table.columns or any(has_path(row, metric) for row in table.head) else []
    known = {name.lower() for name in SCORES}
    return [name for name in table.columns if name.lower() in known or name.lower().endswith(ENDINGS)]


def _cell(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value

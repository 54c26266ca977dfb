"""MLflow: `eval_results_table.json`, a table in split orient (columns and data), one row per question.

Its rows have no ids, so a hash of the inputs is the id. A metric is a column such as `exact_match/v1/score`, or
`correctness/value` in the tables of `mlflow.genai.evaluate`.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from .samples import Log, Row, Sample, as_text, is_object

IDS = ("id", "request_id", "sample_id")
INPUTS = ("inputs", "input", "question", "request", "prompt", "query", "text")
TARGETS = ("ground_truth", "target", "targets", "expected_response", "expectations", "label", "answer")
OUTPUTS = ("outputs", "output", "prediction", "predictions", "response", "result")
SUFFIXES = ("/score", "/value")


def _rows(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows with an id: their own, or a hash of the inputs, numbered where it is repeated."""
    seen: dict[str, int] = {}
    columns = list(map(str, document["columns"]))
    for cells in document["data"]:
        row = dict(zip(columns, cells, strict=True))
        known = next((str(row[name]) for name in IDS if row.get(name) not in (None, "")), "")
        if not known:
            known = _first(row, INPUTS)
            seen[known] = seen.get(known, 0) + 1
            known = f"{sha256(known.encode()).hexdigest()[:12]}{f'-{seen[known]}' if seen[known] > 1 else ''}"
        yield {**row, "shoal id": known}


def _first(row: Row, names: Iterable[str]) -> str:
    return next((as_text(row[name]) for name in names if row.get(name) not in (None, "")), "")


def _sample(row: Row) -> Sample:
    scores = {name.rpartition("/")[0]: value for name, value in row.items() if name.endswith(SUFFIXES)}
    error = as_text(row.get("error") or row.get("error_message"))
    missing = "no score" if scores else f"no column ends in {' or '.join(SUFFIXES)}"
    error = error or ("" if any(value is not None for value in scores.values()) else missing)
    return Sample(
        row["shoal id"], scores, _first(row, INPUTS), _first(row, TARGETS), _first(row, OUTPUTS), error=error
    )


LOG = Log(
    "MLflow",
    lambda value: is_object(value, "columns", "data") and isinstance(value["data"], list),
    _sample,
    _rows,
    lambda value: is_object(value, "metrics", "run_id") and "columns" not in value,
    "give the artifact eval_results_table.json of the run",
)

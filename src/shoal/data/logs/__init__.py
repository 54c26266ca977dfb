"""Logs of other tools: results that were graded elsewhere, recognised by their content.

    file ──► open_log ──► rows ──► Sample
             LOGS         a row per sample (and epoch, and filter)

`scores:` takes the scores of the samples, `predictions:` their answers, `import` their texts and labels. To add a
format: write a module with a `Log`, and add a line to LOGS.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ...core.errors import DataError, some
from ...core.files import BOM, LONGEST_LINE, first_bytes, read_json, read_json_lines
from ..cells import has_path, value_at
from ..tables import Rows, open_rows
from . import eee, helm, inspect_ai, lm_eval, mlflow, promptfoo
from .samples import Log, Question, Sample, as_text

__all__ = ["Log", "OpenLog", "Sample", "graded_samples", "open_log"]

T = TypeVar("T")

LOGS = (
    *(lm_eval.LOG, inspect_ai.LOG, promptfoo.LOG, promptfoo.LINES),
    *(eee.LOG, helm.LOG, helm.STATE, mlflow.LOG),
)
BROKEN = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""Errors that a reader of a changed file raises."""
AT_START = 2**16
"""Bytes in which a JSON array shows whose it is, so that other arrays are not read twice."""


class OpenLog:
    """A recognised log file and its samples."""

    def __init__(self, path: Path, log: Log, document: Any) -> None:
        self.path, self.log, self._document = path, log, document

    @property
    def unit(self) -> str:
        """The unit of the samples' numbers."""
        return "sample" if self.log.rows else "line"

    def rows(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows with their numbers from 1."""
        if self.log.rows is None:
            yield from read_json_lines(self.path)
            return
        document = (row for _, row in read_json_lines(self.path)) if self.log.of_lines else self._document
        try:
            yield from enumerate(self.log.rows(document), start=1)
        except BROKEN as problem:
            raise self._broken(str(self.path), "log", problem) from None

    def samples(self) -> Iterator[tuple[int, Any, Sample]]:
        """Yield number, row and sample; an error names its place."""
        for number, row in self.rows():
            yield number, row, self._read(number, self.log.sample, row)

    def questions(self) -> Iterator[tuple[int, Sample, Question]]:
        """Yield each sample with its number, and as a labelled case with the model's answer."""
        for number, row, sample in self.samples():
            yield number, sample, self._read(number, self.log.question, row, sample)

    def _read(self, number: int, read: Callable[..., T], *given: Any) -> T:
        where = f"{self.path}, {self.unit} {number}"
        try:
            return read(*given)
        except DataError as problem:
            raise problem.at(where) from None
        except BROKEN as problem:
            raise self._broken(where, "sample", problem) from None

    def _broken(self, where: str, what: str, problem: Exception) -> DataError:
        return DataError(
            f"{where}: not a whole {self.log.title} {what}",
            why=f"{type(problem).__name__}: {problem}",
            fix="write the file again; it was probably changed or cut short",
        )


def open_log(path: Path) -> OpenLog | None:
    """Return a log that is recognised by its content; None for other files, an error for a summary without samples."""
    start = b"" if path.is_dir() else first_bytes(path, AT_START).removeprefix(BOM).lstrip()
    if start.startswith(inspect_ai.ZIP):
        is_log = inspect_ai.is_archive(path)
        return OpenLog(path, inspect_ai.LOG, inspect_ai.read_archive(path)) if is_log else None
    is_helm = any(sign in start for sign in helm.SIGNS)
    if not start.startswith(b"{") and not (start.startswith(b"[") and is_helm):
        return None
    try:
        first = first_bytes(path, LONGEST_LINE).removeprefix(BOM).lstrip()
        line, newline, _ = first.partition(b"\n")
        is_whole = line.startswith(b"{") and line.rstrip().endswith(b"}")
        is_line = is_whole and (bool(newline) or len(first) < LONGEST_LINE)
        # NaN is inspect's mark of an unscored sample.
        content = next(read_json_lines(path))[1] if is_line else read_json(path, nan=True)
    except DataError:
        if ".json" in path.suffixes or ".jsonl" in path.suffixes:
            raise
        return None  # a text that begins with a brace
    for log in LOGS:
        if log.is_summary(content):
            raise DataError(f"{path}: averages of {log.title}, without samples", fix=log.summary_fix)
        if (is_line or log.rows is not None) and log.fits(content):  # a document may stand on one line
            return OpenLog(path, log, content)
    return None


# Tables with an id and a score: the columns are known by their usual names, or by options

IDS = (
    "id", "sample_id", "case_id", "doc_id", "example_id", "instance_id", "question_id", "uid", "uuid", "idx", "index",
)  # fmt: skip
SCORES = (
    "score", "scores", "correct", "is_correct", "passed", "pass", "success", "acc", "accuracy", "reward", "grade",
    "exact_match", "em", "f1", "bleu", "rougeL", "rouge_l", "acc_norm",
)  # fmt: skip
ENDINGS = ("_score", "/score", ".score", "/value")
USUAL = {
    "run": ("epoch", "run", "repeat", "trial", "seed", "attempt"),
    "text": ("text", "input", "question", "prompt", "sentence", "query"),
    "target": ("target", "expected", "reference", "gold", "ground_truth"),
    "answer": ("answer", "output", "prediction", "response", "completion"),
    "model": ("model", "model_id", "model_name"),
    "error": ("error",),
}
"""Field of a sample to the usual names of its column."""


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
    fields = {field: _first(columns, names) for field, names in USUAL.items()}
    fields["run"] = options.get("run") or fields["run"]
    fields["error"] = fields["error"] or "error"  # JSON may have it in later rows only
    for number, row in table.rows:
        key = value_at(row, identity)
        if key in (None, "") or key != key:
            raise DataError(f"{path}, {table.unit} {number}: no id in {identity!r}", fix="?id=COLUMN")
        key = json.dumps(key, ensure_ascii=False, sort_keys=True) if isinstance(key, dict | list) else key
        texts: dict[str, Any] = {
            field: as_text(value_at(row, name)) for field, name in fields.items() if name
        }
        sample = Sample(str(key), {}, **texts)
        if not sample.error:
            sample.scores = {name: _cell(value_at(row, name)) for name in scores}
            sample.error = "" if any(value is not None for value in sample.scores.values()) else "no score"
        yield number, row, sample


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

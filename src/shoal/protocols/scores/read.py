"""Read one file of graded answers into columns."""

import math
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, nearest, some
from ...core.files import Alike, collector_paused
from ...data.cells import MISSING, paths_in, value_at
from ...data.logs import Log, Sample, graded_samples, open_log
from ...models import ModelSpec, check_options, parse_spec

Floats = NDArray[np.float64]
SCHEME = "scores:"
OPTIONS = ("metric", "group", "id", "run", "model")
OF_TABLES = ("id", "run")
GRADES = {
    **{"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0},  # inspect's letters
    **dict.fromkeys(("correct", "pass", "passed", "true", "yes"), 1.0),
    **dict.fromkeys(("incorrect", "fail", "failed", "false", "no"), 0.0),
}
"""Words for scores, in lower case."""
LONGEST_ANSWER = 200
"""Characters of an answer that are kept to be shown."""
LARGEST = 1e150
"""Squares of larger scores overflow."""
NOT_GRADED, NOT_IN_FILE = "no score", "not in this file"


@dataclass(slots=True)
class Graded:
    """One file on the samples of all files: a row per sample, a column per run."""

    path: Path
    metric: str
    present: NDArray[np.bool_]  # (samples,)
    runs: list[str]
    values: Floats  # (samples, runs); NaN where there is no score
    errors: dict[tuple[int, int], str]
    """The reason for a missing score, by sample and run."""
    texts: list[str]
    targets: list[str]
    groups: dict[str, list[str]]
    answers: list[str]
    others: Sequence[str]
    """Metrics that only this file has, where none was named."""


@dataclass(slots=True)
class Records:
    """The rows of a file, before the metric is chosen."""

    spec: ModelSpec
    path: Path
    log: Log | None
    """None for a table."""
    known: dict[Any, int] = field(default_factory=dict)
    """Sample, or sample and run, to its place; only while the file is read."""
    ids: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    texts: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    groups: dict[str, list[str]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    metrics: dict[str, "array[float]"] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    ungradable: dict[str, str] = field(default_factory=dict)
    """Metrics with a value that is not a number, and the first such value."""
    models: dict[str, None] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """Metrics that could have been chosen as well."""


def is_graded(name: object) -> bool:
    """Return whether a name means results that were graded elsewhere."""
    return isinstance(name, str) and name.startswith(SCHEME)


def read_records(spec: str) -> Records:
    """Return all rows of the file that a spec names."""
    parsed = parse_spec(spec)
    path, options = Path(parsed.name), parsed.options
    log = open_log(path)
    # A log has ids and epochs of its own.
    check_options(parsed, [name for name in OPTIONS if not log or name not in OF_TABLES])
    groups: dict[str, list[str]] = {name: [] for name in options.get("group", "").split(",") if name}
    records, alike = Records(parsed, path, log.log if log else None, groups=groups), Alike()
    wanted = options.get("model", "")
    with collector_paused():
        for number, row, sample in log.samples() if log else graded_samples(path, options):
            records.models[sample.model] = None
            is_other = wanted != sample.model if wanted else len(records.models) > 1
            if not is_other:
                _add(records, number, sample, row, alike)
    _check(records, wanted)
    if not records.ids:
        raise DataError(f"{path}: no samples", fix="check that this is the right file")
    records.known.clear()
    return records


def _add(records: Records, number: int, sample: Sample, row: Any, alike: Alike) -> None:
    """Add a sample; a further row of the same sample may only bring other metrics."""
    count = len(records.ids)
    place = records.known.setdefault((sample.id, sample.run) if sample.run else sample.id, count)
    if place == count:
        records.ids.append(sample.id)
        records.runs.append(sample.run and alike.text(sample.run))
        records.numbers.append(number)
        records.texts.append(sample.text)
        records.targets.append(alike.text(sample.target))
        records.answers.append(alike.text(sample.answer[:LONGEST_ANSWER]))
        for name, values in records.groups.items():
            values.append(_group(records, number, row, name, alike, is_error=bool(sample.error)))
    elif (
        not sample.scores
        or (sample.text and sample.text != records.texts[place])
        or place in records.errors
        or any(_is_known(records, name, place) for name in sample.scores)
    ):
        repeat = f", run {sample.run}" if sample.run else ""
        raise DataError(
            f"{records.path}: sample {sample.id!r}{repeat} occurs twice (rows {records.numbers[place]} and {number})",
            why="a sample is graded once, or once in each epoch or repeat",
            fix="one file per run of the evaluation"
            if records.log
            else "?run=COLUMN, the column of the repeat; ?id=COLUMN, the column of the sample",
        )
    if sample.error:
        records.errors[place] = sample.error
    for name, value in sample.scores.items():
        _set(records, name, place, value, number)


def _is_known(records: Records, name: str, place: int) -> bool:
    column = records.metrics.get(name, ())
    return place < len(column) and not math.isnan(column[place])


def _set(records: Records, name: str, place: int, value: Any, number: int) -> None:
    """Put a score into the column of its metric."""
    column = records.metrics[name]
    if len(column) <= place:
        column.extend([math.nan] * (place + 1 - len(column)))
    if value is None:
        return
    grade = GRADES.get(value.strip().lower(), value) if isinstance(value, str) else value
    try:
        score = float(grade)
    except (TypeError, ValueError, OverflowError):
        records.ungradable.setdefault(name, f"{value!r:.40} in row {number}")
        return
    if not abs(score) < LARGEST:
        raise DataError(
            f"{records.path}, row {number}: {name} is {score}",
            why="scores are finite numbers; NaN would count as neither pass nor fail",
            fix="leave the score empty and write the reason into a field error, or score the sample again",
        )
    column[place] = score


def _group(records: Records, number: int, row: Any, name: str, alike: Alike, *, is_error: bool) -> str:
    value = value_at(row, name, MISSING) if isinstance(row, Mapping) else MISSING
    if value is MISSING and is_error:
        return ""  # as in another run or file
    if value is MISSING or value is None or isinstance(value, dict | list):
        paths = paths_in(row)
        raise DataError(
            f"{records.path}, row {number}: no {name!r}",
            why=f"found: {some(paths, 12)}",
            fix=f"?group={(nearest(name, paths) or paths[0]).strip(chr(34))}",
        )
    return alike.text(str(value))


def _check(records: Records, wanted: str) -> None:
    models = [name for name in records.models if name]
    if not wanted and models and "" in records.models:
        raise DataError(
            f"{records.path}: some rows name a model ({some(models, 3)}), others do not",
            fix=f"fill in the model; {SCHEME}{records.path}?model={models[0]} takes the rows that name it",
        )
    if wanted not in models if wanted else len(models) > 1:
        raise DataError(
            f"{records.path}: no model {wanted!r}"
            if wanted
            else f"{records.path}: {len(models)} models in one file",
            why=f"found: {some(models, 8)}",
            fix=nearest(wanted, models) or f"{SCHEME}{records.path}?model=NAME",
        )


# The metric


def choose_metrics(files: Sequence[Records]) -> list[str]:
    """Return the metric of each file: the named one, the only one, or the only one that all files have."""
    candidates = [_candidates(records) for records in files]
    shared = set.intersection(*map(set, candidates))
    chosen = []
    for records, names in zip(files, candidates, strict=True):
        common = names if len(names) == 1 else [name for name in names if name in shared]
        if len(common) != 1:
            raise _not_one_metric(records, names)
        chosen.append(common[0])
        records.others = [name for name in names if name != common[0]]
    return chosen


def _not_one_metric(records: Records, names: Sequence[str]) -> DataError:
    if names:
        return DataError(f"{records.path}: several metrics", why=some(names, 12), fix=f"?metric={names[0]}")
    found = [f"{name} is {value}" for name, value in records.ungradable.items()]
    return DataError(
        f"{records.path}: no metric that is a number",
        why=some(found, 12) or "no sample has a score",
        fix="score the samples first (inspect score FILE); predictions:FILE takes their answers",
    )


def _candidates(records: Records) -> list[str]:
    """Return the metrics that may be meant; the first among metrics that agree on every sample."""
    usable = [name for name in records.metrics if name not in records.ungradable]
    wanted = records.spec.options.get("metric", "")
    if wanted:
        return [_named(records, wanted, usable)]
    log = records.log
    if log and log.metric in usable:
        return [log.metric]
    graded = [name for name in usable if not (log and name.startswith(tuple(log.unscored)))] or usable
    distinct: dict[bytes, str] = {}
    for name in graded:
        column = records.metrics[name]
        missing = np.full(len(records.ids) - len(column), np.nan)
        distinct.setdefault(column.tobytes() + missing.tobytes(), name)
    return sorted(distinct.values())


def _named(records: Records, wanted: str, usable: Sequence[str]) -> str:
    """Return a metric by its name, or by the part before the comma of lm-eval's filters if only one begins so."""
    matching = [name for name in usable if wanted in (name, name.partition(",")[0])]
    if wanted in matching:
        return wanted
    if len(matching) == 1:
        return matching[0]
    problem = f"several metrics {wanted!r}" if matching else f"no metric {wanted!r} that is a number"
    nearby = [*matching, nearest(wanted, usable).strip('"'), *usable, "NAME"]
    raise DataError(
        f"{records.path}: {problem}",
        why=f"found: {some(matching or usable, 12)}",
        fix=f"?metric={next(filter(None, nearby))}",
    )


# Columns


def as_columns(records: Records, metric: str, ids: Sequence[str]) -> Graded:
    """Return the chosen metric as an array of these samples and the file's runs; samples that it lacks are errors."""
    scores = np.full(len(records.ids), np.nan)
    known = np.frombuffer(records.metrics.get(metric, array("d")), np.float64)
    scores[: len(known)] = known
    scores[list(records.errors)] = np.nan
    runs = sorted(set(records.runs), key=lambda run: (len(run), run))  # 2 before 10
    at_id, at_run = ({name: at for at, name in enumerate(names)} for names in (ids, runs))
    rows = np.fromiter((at_id[identity] for identity in records.ids), np.int64, len(scores))
    of_run = np.fromiter((at_run[run] for run in records.runs), np.int64, len(scores))
    values, present = np.full((len(ids), len(runs)), np.nan), np.zeros(len(ids), np.bool_)
    values[rows, of_run], present[rows] = scores, True
    reasons = {(int(rows[at]), int(of_run[at])): why for at, why in records.errors.items()}
    errors = {
        (row, run): reasons.get((row, run), NOT_GRADED) if present[row] else NOT_IN_FILE
        for row, run in np.argwhere(np.isnan(values)).tolist()
    }
    answers = [""] * len(ids)
    for row, answer in zip(rows.tolist(), records.answers, strict=True):
        answers[row] = answers[row] or answer
    texts, targets, *groups = (
        _in_any_run(records, column, rows, len(ids))
        for column in (records.texts, records.targets, *records.groups.values())
    )
    names = [name.rpartition(".")[2] for name in records.groups]
    by_name = dict(zip(names, groups, strict=True))
    return Graded(
        records.path, metric, present, runs, values, errors, texts, targets, by_name, answers, records.others
    )


def _in_any_run(records: Records, column: list[str], rows: NDArray[np.int64], count: int) -> list[str]:
    """Return a column by sample, from any run that has it, empty where none does; an error if runs differ."""
    merged = [""] * count
    for place, (row, value) in enumerate(zip(rows.tolist(), column, strict=True)):
        merged[row] = merged[row] or value
        if value and merged[row] != value:
            raise DataError(
                f"{records.path}: row {records.numbers[place]} has another text than sample "
                f"{records.ids[place]!r} in another run",
                why=f"{merged[row]!r:.60} and {value!r:.60}",
                fix="ids that name the sample",
            )
    return merged

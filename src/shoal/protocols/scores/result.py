"""Graded files on one list of samples, and their results.

Samples that a file lacks become errors of that side, so that no comparison drops them silently. All results of one
call share their cases. A file with several epochs is one result with the mean of each sample; `each_run` has a result
per epoch, for comparisons whose unit is the run.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...core.case_table import CaseTable, Examples, Heading, by_group
from ...core.errors import DataError
from ...core.files import digest
from ...core.records import PARTLY, Basis, Case, Measure, Measures, Outcomes, Result
from ...stats.intervals import cluster_wilson, mean_t_interval, wilson
from ...stats.resampling import cluster_table
from .read import NOT_GRADED, NOT_IN_FILE, SCHEME, Graded, as_columns, choose_metrics, read_records

Floats = NDArray[np.float64]
PASS_RATE, SHARE, NUMBER = "pass rate", "mean score", "mean value"
"""The measure where scores are 0 or 1, from 0 to 1, and any numbers."""
SCORE = "score"
"""The column with the scores of each sample."""
RUN = "score in run "
"""Beginning of the names of the columns with the scores of one run."""
UNKNOWN = "unknown"
"""The group of samples that failed before their metadata were written."""
HALF = 0.5
"""A fractional score up to this counts as failing in lists of cases; no measure uses it."""


def graded_results(specs: Sequence[str]) -> list[Result]:
    """Return the result of each file, all on the same samples."""
    if not specs:
        return []
    records = [read_records(spec) for spec in specs]
    ids = sorted(sorted(set().union(*(each.ids for each in records))), key=len)  # 2 before 10
    metrics = choose_metrics(records)
    files = [as_columns(each, metric, ids) for each, metric in zip(records, metrics, strict=True)]
    records.clear()
    if len({tuple(file.groups) for file in files}) > 1:
        raise DataError("the files have different groups", fix="give both files the same ?group=")
    for file in files[1:]:
        _refuse_other_data(files[0], file, ids)
    samples, name = _samples(files, ids), _measure_name(files)
    in_all = np.all([file.present for file in files], axis=0)
    return [
        _result(file, spec, samples, name, int((file.present & ~in_all).sum()))
        for file, spec in zip(files, specs, strict=True)
    ]


def _samples(files: Sequence[Graded], ids: list[str]) -> CaseTable:
    """Return the samples as cases, each as the first file that knows about it describes it."""

    def column(values: Sequence[list[str]], unknown: str = "") -> list[str]:
        return [next(filter(None, known), unknown) for known in zip(*values, strict=True)]

    names = list(files[0].groups)
    columns = [column([file.groups[name] for file in files], UNKNOWN) for name in names]
    groups = list(zip(*columns, strict=True)) if columns else [()] * len(ids)
    headings = {values: Heading(dict(zip(names, values, strict=True)), {}) for values in set(groups)}
    texts, targets = column([file.texts for file in files]), column([file.targets for file in files])
    labels = {target: (target,) if target else None for target in set(targets)}
    examples = Examples()
    examples.extend(
        (text or f"sample {identity}" for identity, text in zip(ids, texts, strict=True)), [1] * len(ids), 1
    )
    clusters = [""] * len(ids)
    return CaseTable(ids, examples, map(labels.get, targets), map(headings.__getitem__, groups), clusters)


def _refuse_other_data(a: Graded, b: Graded, ids: Sequence[str]) -> None:
    """Raise if both files have a text, target or group of a sample and they differ."""
    common = np.flatnonzero(a.present & b.present).tolist()
    if not common:
        raise DataError(
            f"{a.path} and {b.path} have no sample in common",
            why=f"ids such as {ids[int(a.present.argmax())]!r} and {ids[int(b.present.argmax())]!r}",
            fix="two results on the same data; ?id=COLUMN for a table",
        )
    columns = {"text": (a.texts, b.texts), "target": (a.targets, b.targets)}
    columns |= {name: (values, b.groups[name]) for name, values in a.groups.items()}
    for what, (old, new) in columns.items():
        unlike = [at for at in common if old[at] != new[at] and old[at] and new[at]]
        if differing := [at for at in unlike if old[at].split() != new[at].split()]:
            at = differing[0]
            raise DataError(
                f"{len(differing):,} of {len(common):,} samples have another {what} in {b.path} than in {a.path}",
                why=f"{ids[at]!r}: {old[at]!r:.60} and {new[at]!r:.60}",
                fix="two results on the same data, with the same ids",
            )


def _measure_name(files: Sequence[Graded]) -> str:
    """Return what the scores of all files are: passes, shares or numbers."""
    known = np.concatenate([file.values[~np.isnan(file.values)] for file in files])
    if np.isin(known, (0.0, 1.0)).all():
        return PASS_RATE
    return SHARE if known.min() >= 0 and known.max() <= 1 else NUMBER


def _result(file: Graded, spec: str, samples: CaseTable, name: str, only_here: int) -> Result:
    missing = int((~file.present).sum())
    job = {
        "id": f"scores-{digest(file.path)[:8]}",
        "protocol": SCHEME.rstrip(":"),
        "model": spec,
        "settings": {},
        "identity": {"cases": {"samples": len(samples)}},
        "shoal": __version__,
        "about": {
            "metric": file.metric,
            **({"other metrics": list(file.others)} if file.others else {}),
            "runs": file.runs,
            "missing": missing,
            "only here": only_here,
            "errors": len(file.errors) - missing * len(file.runs),
        },
        "checks": [],
    }
    errors = {row: why for (row, _), why in file.errors.items() if np.isnan(file.values[row]).all()}
    columns: dict[str, Sequence[Any]] = {}
    if any(file.answers):
        answers = {answer: (answer,) for answer in file.answers}  # a tuple for each distinct answer
        columns["said"] = [answers[answer] for answer in file.answers]
    for run, values in zip(file.runs, file.values.T, strict=True) if len(file.runs) > 1 else ():
        columns[f"{RUN}{run}"] = array("d", values.tobytes())
    return _scored(job, samples, name, file.values, errors, columns)


def each_run(result: Result) -> list[Result]:
    """Return a result per epoch or repeat of a graded file; any other result as it is."""
    runs = {name.removeprefix(RUN): column for name, column in result.columns.items() if name.startswith(RUN)}
    if not runs:
        return [result]
    (whole,) = [row for row in result.measures if row.headline]
    missing = [row for row, outcome in enumerate(result.outcomes) if outcome.error == NOT_IN_FILE]
    results = []
    for run, column in runs.items():
        values = np.array(column)
        errors = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), NOT_GRADED)
        errors |= dict.fromkeys(missing, NOT_IN_FILE)
        about = {**result.job["about"], "runs": [run], "errors": len(errors) - len(missing)}
        job = {**result.job, "about": about}
        results.append(_scored(job, result.cases, whole.name, values[:, None], errors, {}))
    return results


def _scored(
    job: Mapping[str, Any],
    samples: Sequence[Case],
    name: str,
    values: Floats,
    errors: Mapping[int, str],
    columns: Mapping[str, Sequence[Any]],
) -> Result:
    """Return a result from the scores of each sample, with a column per run."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    means = np.full(len(samples), np.nan)
    np.divide(np.nansum(values, axis=1), counts, where=counts > 0, out=means)
    graded = np.full(len(means), b"-") if name == NUMBER else np.where(means > HALF, b"1", b"0")
    verdicts = np.where(np.isnan(means), b"e", graded).tobytes().decode()
    column = "" if name == PASS_RATE and values.shape[1] == 1 else SCORE
    measures = [_measure(name, values, means, {}, column)]
    for level in samples[0].groups:
        measures += [
            _measure(name, values[places], means[places], {level: value}, column)
            for value, places in sorted(by_group(samples, level).items())
        ]
    outcomes = Outcomes(samples, verdicts, array("d", (means - HALF).tobytes()), errors)
    return Result(job, samples, outcomes, Measures(measures), {SCORE: array("d", means.tobytes()), **columns})


def _measure(name: str, values: Floats, means: Floats, groups: Mapping[str, str], column: str) -> Measure:
    """Return the mean of some samples with its interval, and the means if all errors failed, and if all passed."""
    known, ungraded = means[~np.isnan(means)], np.isnan(values)
    n, errors = len(known), len(means) - len(known)
    partly = int(ungraded.any(axis=1).sum()) - errors
    facts: dict[str, Any] = {PARTLY: partly} if partly else {}
    if ungraded.any() and name != NUMBER:
        ends = {"if errors fail": 0.0, "if errors pass": 1.0}
        facts |= {what: float(np.where(ungraded, end, values).mean()) for what, end in ends.items()}
    about: dict[str, Any] = {
        "errors": errors,
        "basis": Basis("cases", column=column),
        "headline": not groups,
        "facts": facts,
    }
    if not n:
        return Measure(name, None, n, groups, None, "", reason="no sample has a score", **about)
    interval, method = _interval(name, known, column)
    between = None if np.isnan(interval[0]) else interval
    return Measure(name, float(known.mean()), n, groups, between, method, **about)


def _interval(name: str, known: Floats, column: str) -> tuple[tuple[float, float], str]:
    """Return Wilson's interval; of fractional scores on their effective number, of other numbers Student's."""
    if not column:
        return wilson(float(known.sum()), len(known)), "wilson"
    if name == NUMBER:
        return mean_t_interval(known), "t over samples"
    return cluster_wilson(cluster_table(known)), "wilson, effective n"


# For `rank`


def ranked(results: Sequence[Result]) -> list[Result]:
    """Return results that `ranking.compare` orders; every sample must pass or fail, in one run."""
    from ..ranking.build import LABELLED  # here, because only `rank` needs another protocol
    from ..ranking.score import PREDICTION, accuracy
    from ..ranking.settings import Settings

    settings, first = Settings(probe_sizes=()), results[0]
    means = [row for result in results for row in result.measures if row.headline]
    if any(row.name != PASS_RATE or row.basis.column for row in means):
        raise DataError(
            "rank needs samples that pass or fail, in one run",
            why="it counts the samples that only one of two models gets right",
            fix="shoal compare, two files at a time",
        )
    cases = [replace(case, groups={"part": LABELLED}) for case in first.cases]
    about = {"data": [], "pool": "", "examples": {LABELLED: len(cases)}}
    ordered = []
    for result in results:
        said = result.columns.get("said", [("",)] * len(cases))
        columns = {PREDICTION: [answer for (answer,) in said]}
        job = {**result.job, "protocol": "ranking", "about": {**about, "data": [result.job["model"]]}}
        measures = Measures([accuracy(cases, result.outcomes)])
        ordered.append(Result(job, cases, result.outcomes, measures, columns, settings=settings))
    return ordered

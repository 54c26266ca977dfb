"""Stored predictions in place of trainings: a file per scenario, and one or two of answers to the i.i.d. rows.

`docs/method/prompted.md` 8.6. Each file is one job. The i.i.d. answers of `seen` also serve the held-out scenarios, so
that every job answers the same cases.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, errors_at, some
from ...core.records import Answers, Case
from ...data.squad import is_squad
from ...data.tables import open_rows
from ...models import ModelSpec, parse_spec
from ...models.asking import stack
from ...models.stored import StoredAnswers, load
from ...models.stored.columns import Columns, Request
from .iid import is_iid
from .settings import IidPredictions, Predictions, Settings, given, scenario_of

PREFIX = "predictions:"
ID_COLUMNS = ("id", "case_id")


def stored_parts(settings: Settings) -> list[Settings]:
    """Return the settings of each job: one per file of predictions."""
    _check(settings)
    rows = given(settings.iid_predictions)
    jobs = []
    for name, file in given(settings.predictions).items():
        key = name if name in rows else "seen"
        suite, iid = Predictions(**{name: file}), IidPredictions(**{key: rows[key]})
        scenario = (scenario_of(name),)
        jobs.append(replace(settings, predictions=suite, iid_predictions=iid, hold_out=scenario))
    return jobs


def _check(settings: Settings) -> None:
    """Stop at missing files."""
    for table in ("predictions", "iid_predictions"):
        missing = [name for name in ("iid", "seen") if not getattr(getattr(settings, table), name)]
        if missing:
            raise PlanError(
                f"[learning.{table}] has no {' and no '.join(missing)}",
                why="G compares the answers without the suite (iid) with those that saw all of it (seen)",
                fix=f'{missing[0]} = "FILE" below [learning.{table}]',
            )
    if settings.iid or not settings.iid_test:
        raise PlanError(
            "[learning] with stored predictions needs iid_test and no iid",
            why="iid_predictions are answers to iid_test",
            fix='iid_test = "test.tsv"',
        )


class ScenarioAnswers:
    """The stored answers of one scenario: to the suite, and to the i.i.d. rows."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        ((self._name, file),) = given(settings.predictions).items()
        ((self._row_name, row_file),) = given(settings.iid_predictions).items()
        self._suite = load(_spec(file))
        row_spec = _spec(row_file)
        self._rows = _RowAnswers(Path(row_spec.name), row_spec.options)

    def fingerprint(self) -> dict[str, Any]:
        """Return what the answers depend on: both files and their options."""
        with errors_at(f"[learning.predictions] {self._name}"):
            suite = self._suite.fingerprint()
        with errors_at(f"[learning.iid_predictions] {self._row_name}"):
            return {"suite": suite, "iid": self._rows.fingerprint()}

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """Return the answers to every example: those of the suite, then the i.i.d. rows."""
        suite = [case for case in cases if not is_iid(case)]
        with errors_at(f"[learning.predictions] {self._name}"):
            of_suite = self._suite.answer_cases(suite, whole, labels)
        with errors_at(f"[learning.iid_predictions] {self._row_name}"):
            rows = _as_named(cases[len(suite) :], self._settings.iid_test)
            return together(of_suite, self._rows.answer_cases(rows, rows, labels))


class _RowAnswers(StoredAnswers):
    """Answers to the i.i.d. rows, which need no ids."""

    def read(self, request: Request | None = None) -> Columns:
        return super().read(request and replace(request, may_lack_ids=True))


def _spec(file: str) -> ModelSpec:
    """Return a file with its options; the scheme is optional."""
    return parse_spec(file if file.startswith(PREFIX) else f"{PREFIX}{file}")


def _as_named(rows: Sequence[Case], file: str) -> list[Case]:
    """Return the rows under the ids of their file, if it has a column of ids; else they are numbered from 0."""
    if is_squad(Path(file)):
        return list(rows)
    table = open_rows(Path(file))
    column = next((name for name in ID_COLUMNS if name in table.columns), "")
    if not column:
        return list(rows)
    names = [str(cells[column]) for _, cells in table.rows]
    if len(set(names)) < len(names):
        raise DataError(f"{file}: an id occurs twice", fix="ids that differ, or no column of ids")
    return [replace(case, id=name) for case, name in zip(rows, names, strict=True)]


def together(suite: Answers, rows: Answers) -> Answers:
    """Return both as one, under the labels of the suite's answers; only the label of a row counts."""
    codes = rows.predictions
    if rows.labels != suite.labels and not suite.texts:
        places = {label: place for place, label in enumerate(suite.labels)}
        used = {rows.labels[code] for place, code in enumerate(codes.tolist()) if place not in rows.errors}
        if unknown := sorted(used - places.keys()):
            raise DataError(
                f"the i.i.d. answers have the label {unknown[0]!r}",
                why=f"the answers to the suite have probabilities of {some(suite.labels)} only",
                fix="answers of one model to both",
            )
        codes = np.array([places.get(rows.labels[code], 0) for code in codes.tolist()], np.int64)
    plain = replace(rows, labels=suite.labels, predictions=codes, probabilities=None, confidences=None)
    return replace(stack([suite, plain]), label_map={**rows.label_map, **suite.label_map}, band=suite.band)

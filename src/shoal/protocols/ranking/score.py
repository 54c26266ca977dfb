"""Answers of one model to right and wrong, to what it gets right, and to the values of every factor; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import Answers, Case, Measure, Outcome
from ...models.answer_rows import answer_columns
from ...stats.intervals import wilson
from ..base import Built, Scored
from .build import LABELLED
from .explained import attributions_of, gap_of, on_scale
from .factors import factors_of
from .settings import Settings

PREDICTION = "prediction"
"""The column with the label that the model gave; empty where it gave none."""


def attribution_column(explainer: str) -> str:
    """The column with how much each word counted; None outside the population."""
    return f"attribution ({explainer})"


def score(settings: Settings, built: Built, answers: Mapping[str, Any]) -> Scored:
    """Right or wrong case by case, accuracy, and a column per factor."""
    rows = [row for (row,) in answers[""]] if settings.explainers else []
    asked: Answers = answer_columns(rows, built.labels) if rows else answers[""]
    given = put_together(asked, settings.classes or {})
    outcomes = judge(built.cases, given)
    columns: dict[str, Sequence[object]] = {
        PREDICTION: [
            "" if row in given.errors else given.labels[given.predictions[row]]
            for row in range(len(built.cases))
        ]
    }
    for explainer in settings.explainers:
        columns[attribution_column(explainer)] = [
            None if row.error else row.data.get("attributions", {}).get(explainer) for row in rows
        ]
    measures = [accuracy(built.cases, outcomes)]
    explained = {explainer: attributions_of(rows, explainer) for explainer in settings.explainers}
    scaled = {explainer: on_scale(counted, settings.scale) for explainer, counted in explained.items()}
    for factor in factors_of(settings.factors, settings.explainers):
        if factor.has_values:
            counted = scaled[factor.explainer] if factor.explainer else ()
            columns[factor.name] = values = factor.values(built.cases, given, counted)
            measures.append(_mean(factor.name, built.cases, values))
    measures += [row for explainer, counted in explained.items() for row in gap_of(explainer, counted)]
    return Scored(outcomes, measures, columns)


def put_together(answers: Answers, classes: Mapping[str, Sequence[str]]) -> Answers:
    """Several answers as one label: the predicted one is mapped, probabilities are added up."""
    if not classes:
        return answers
    to_label = {name: label for label, names in classes.items() for name in names}
    mapped = [to_label.get(name, name) for name in answers.labels]
    labels = tuple(dict.fromkeys(mapped))
    place = np.array([labels.index(name) for name in mapped])
    sums = None
    if answers.probabilities is not None:
        sums = np.zeros((len(answers.predictions), len(labels)))
        for column, target in enumerate(place):
            sums[:, target] += answers.probabilities[:, column]
    return replace(answers, labels=labels, predictions=place[answers.predictions], probabilities=sums)


def judge(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Right, wrong or no answer; not applicable without a label."""
    outcomes = []
    for row, case in enumerate(cases):
        if row in answers.errors:
            outcomes.append(Outcome(case.id, None, None, answers.errors[row]))
        elif not case.labels:
            outcomes.append(Outcome(case.id, None))
        else:
            right = answers.labels[answers.predictions[row]] == case.labels[0]
            outcomes.append(Outcome(case.id, right, _margin(answers, row, right)))
    return outcomes


def _margin(answers: Answers, row: int, right: bool) -> float:
    """How sure the model was, with the sign of whether it was right."""
    margin = 1.0
    if answers.probabilities is not None and not np.isnan(answers.probabilities[row, 0]):
        ordered = np.sort(answers.probabilities[row])
        margin = float(ordered[-1] - ordered[-2]) if len(ordered) > 1 else 1.0
    return max(margin, 1e-12) if right else -margin


def accuracy(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """What is right of the examples that were drawn like any other; those chosen by disagreement are the hard ones."""
    asked = [
        outcome for case, outcome in zip(cases, outcomes, strict=True) if case.groups["part"] == LABELLED
    ]
    known = [outcome for outcome in asked if outcome.passed is not None]
    right, n = sum(bool(outcome.passed) for outcome in known), len(known)
    value, between, how = (right / n, wilson(right, n), "wilson") if n else (None, None, "")
    facts = {"mean over": "cases", "only": {"part": LABELLED}, "headline": True}
    errors = sum(bool(outcome.error) for outcome in asked)
    note = "" if n else "no labelled example"
    return Measure("accuracy", value, n, {}, between, how, errors=errors, note=note, facts=facts)


def _mean(name: str, cases: Sequence[Case], values: Sequence[float | None]) -> Measure:
    known = [
        value
        for case, value in zip(cases, values, strict=True)
        if value is not None and case.groups["part"] == LABELLED
    ]
    note = "" if known else "no value for any example"
    mean = float(np.mean(known)) if known else None
    return Measure("factor value", mean, len(known), {"factor": name}, note=note)

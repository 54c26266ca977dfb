"""Score the answers of one model: right or wrong, accuracy, and the values of every factor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import Answers, Basis, Case, Measure, Outcome
from ...models.answer_rows import answer_columns
from ...stats.intervals import wilson
from ..base import Built, Scored
from .attribute import mean_gap, read_attributions
from .build import LABELLED
from .factors import parse_factors
from .settings import Settings

PREDICTION = "prediction"
"""The column with the predicted label; empty where there is none."""


def attribution_column(explainer: str) -> str:
    """Return the name of the column with an explainer's attributions."""
    return f"attribution ({explainer})"


def score(settings: Settings, built: Built, answers: Mapping[str, Any]) -> Scored:
    """Return outcomes, accuracy, and a column per factor."""
    rows = [row for (row,) in answers[""]] if settings.explainers else []
    raw: Answers = answer_columns(rows, built.labels) if rows else answers[""]
    merged = merge_classes(raw, settings.classes or {})
    outcomes = judge(built.cases, merged)
    columns: dict[str, Sequence[object]] = {
        PREDICTION: [
            "" if row in merged.errors else merged.labels[merged.predictions[row]]
            for row in range(len(built.cases))
        ]
    }
    for explainer in settings.explainers:
        columns[attribution_column(explainer)] = [
            None if row.error else row.data.get("attributions", {}).get(explainer) for row in rows
        ]
    measures = [accuracy(built.cases, outcomes)]
    attributions = {explainer: read_attributions(rows, explainer) for explainer in settings.explainers}
    for factor in parse_factors(settings.factors, settings.explainers):
        if factor.has_values:
            values = factor.values(built.cases, merged, attributions.get(factor.explainer, ()))
            columns[factor.name] = values
            measures.append(_mean(factor.name, built.cases, values))
    measures += [row for explainer, known in attributions.items() for row in mean_gap(explainer, known)]
    return Scored(outcomes, measures, columns)


def merge_classes(answers: Answers, classes: Mapping[str, Sequence[str]]) -> Answers:
    """Return answers in which several labels count as one: predictions mapped, probabilities summed."""
    if not classes:
        return answers
    to_label = {name: label for label, names in classes.items() for name in names}
    mapped = [to_label.get(name, name) for name in answers.labels]
    labels = tuple(dict.fromkeys(mapped))
    targets = np.array([labels.index(name) for name in mapped])
    sums = None
    if answers.probabilities is not None:
        sums = np.zeros((len(answers.predictions), len(labels)))
        for column, target in enumerate(targets):
            sums[:, target] += answers.probabilities[:, column]
    return replace(answers, labels=labels, predictions=targets[answers.predictions], probabilities=sums)


def judge(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Return the outcome of each case; not applicable without a label."""
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
    """Return the margin of the prediction, negative if it is wrong."""
    margin = 1.0
    if answers.probabilities is not None and not np.isnan(answers.probabilities[row, 0]):
        ordered = np.sort(answers.probabilities[row])
        margin = float(ordered[-1] - ordered[-2]) if len(ordered) > 1 else 1.0
    return max(margin, 1e-12) if right else -margin


def accuracy(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """Return the accuracy on uniformly drawn examples; those chosen by disagreement are harder."""
    asked = [
        outcome for case, outcome in zip(cases, outcomes, strict=True) if case.groups["part"] == LABELLED
    ]
    known = [outcome for outcome in asked if outcome.passed is not None]
    right, n = sum(bool(outcome.passed) for outcome in known), len(known)
    value, interval, method = (right / n, wilson(right, n), "wilson") if n else (None, None, "")
    errors = sum(bool(outcome.error) for outcome in asked)
    reason = "" if n else "no labelled example"
    basis = Basis("cases", only={"part": LABELLED})
    return Measure(
        "accuracy", value, n, {}, interval, method, errors=errors, reason=reason, basis=basis, headline=True
    )  # fmt: skip


def _mean(name: str, cases: Sequence[Case], values: Sequence[float | None]) -> Measure:
    known = [
        value
        for case, value in zip(cases, values, strict=True)
        if value is not None and case.groups["part"] == LABELLED
    ]
    reason = "" if known else "no value for any example"
    mean = float(np.mean(known)) if known else None
    return Measure("factor value", mean, len(known), {"factor": name}, reason=reason)

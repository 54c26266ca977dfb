"""Query and score one model: answers with attributions, right or wrong, accuracy, the values of every factor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.measures import quantity, shown
from ...core.records import Answer, Answers, Basis, Case, Example, Finding, Measure, Outcome, Result
from ...explaining import explain
from ...explaining.attributions import (
    LARGEST_GAP,
    Attribution,
    ExplainConfig,
    as_data,
    completeness_gap,
    from_data,
)
from ...models.answer_rows import answer_columns
from ...models.asking import answer_batch
from ...models.hf import HFModel
from ...models.interface import HasTokens
from ...stats.intervals import wilson
from ..base import Built, Scored
from . import wording
from .build import LABELLED, population_of
from .factors import is_right, parse_factors
from .settings import Settings

PREDICTION = "prediction"
"""The column with the predicted label; empty where there is none."""


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
    measures = [accuracy(built.cases, outcomes)]
    attributions = {explainer: read_attributions(rows, explainer) for explainer in settings.explainers}
    for factor in parse_factors(settings.factors, settings.explainers):
        if factor.direction:
            values = factor.values(built.cases, merged, attributions.get(factor.explainer, ()))
            columns[factor.name] = values
            measures.append(_mean(factor.name, built.cases, values))
    for explainer, known in attributions.items():
        # None for LIME, whose values need not add up.
        gaps = [gap for row in known if row and (gap := completeness_gap(row)) is not None]
        if gaps:
            measures.append(Measure(GAP, float(np.mean(gaps)), len(gaps), {"explainer": explainer}))
    return Scored(outcomes, measures, columns)


def merge_classes(answers: Answers, classes: Mapping[str, Sequence[str]]) -> Answers:
    """Return answers in which several labels count as one: predictions mapped, probabilities summed."""
    if not classes:
        return answers
    to_label = {name: label for label, names in classes.items() for name in names}
    mapped = [to_label.get(name, name) for name in answers.labels]
    labels = tuple(dict.fromkeys(mapped))
    targets = np.array([labels.index(name) for name in mapped])
    sums = answers.probabilities
    if sums is not None:
        sums = np.column_stack([sums[:, targets == target].sum(axis=1) for target in range(len(labels))])
    return replace(answers, labels=labels, predictions=targets[answers.predictions], probabilities=sums)


def judge(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Return the outcome of each case; not applicable without a label."""
    outcomes = []
    for row, (case, value) in enumerate(zip(cases, is_right(cases, answers), strict=True)):
        right = None if value is None else bool(value)
        margin = None if right is None else _margin(answers, row, right)
        outcomes.append(Outcome(case.id, right, margin, answers.errors.get(row, "")))
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


# Answers with attributions


GAP = "completeness gap"


def explain_batch(
    settings: Settings, model: object, built: Built, examples: Sequence[Example]
) -> list[Answer]:
    """Return the answer to each example, with attributions for the population that probe sets are drawn from."""
    wanted = {built.cases[place].examples[0] for place in population_of(built.cases, settings.population)}
    others = [example for example in examples if example not in wanted]
    rows = iter(_explain(settings, model, built, [example for example in examples if example in wanted]))
    plain = iter(answer_batch(model, built, others) if others else ())
    return [next(rows if example in wanted else plain) for example in examples]


def _explain(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Return answers with attributions; an example that exceeds the model's length is an error."""
    excess = [0] * len(examples)
    if isinstance(model, HasTokens):
        excess = [length - model.longest for length in model.lengths(examples)]
    whole = [example for example, tokens in zip(examples, excess, strict=True) if tokens <= 0]
    config = ExplainConfig(
        specials=isinstance(model, HFModel),
        merged={name: label for label, names in (settings.classes or {}).items() for name in names},
        seed=settings.seed,
    )
    by_explainer = {
        name: iter(explain(model, whole, name, replace(config, samples=samples), labels=built.labels))
        for name, samples in ((name, (settings.samples or {}).get(name)) for name in settings.explainers)
    }
    return [
        Answer("", "attribution", None, wording.TOO_LONG.format(tokens))
        if tokens > 0
        else _answer({name: next(rows) for name, rows in by_explainer.items()})
        for tokens in excess
    ]


def _answer(explained: dict[str, Attribution]) -> Answer:
    probabilities = dict(next(iter(explained.values())).probabilities)
    data = {
        "label": max(probabilities, key=probabilities.__getitem__),
        "probabilities": probabilities,
        "attributions": {name: as_data(row) for name, row in explained.items()},
    }
    return Answer("", "attribution", data)


def read_attributions(rows: Sequence[Answer], explainer: str) -> list[Attribution | None]:
    """Return the attributions of one explainer; None where there are none."""
    data = [None if row.error else row.data.get("attributions", {}).get(explainer) for row in rows]
    return [None if row is None else from_data(row) for row in data]


# Whether they add up


def completeness_gaps(names: Sequence[str], results: Sequence[Result]) -> tuple[list[Measure], list[Finding]]:
    """Return the gap of each model, with a warning where it is large."""
    rows = [
        replace(row, groups={"model": name, **row.groups})
        for name, result in zip(names, results, strict=True)
        for row in result.measures.where(GAP)
    ]
    findings = []
    large = [row for row in rows if (row.value or 0.0) > LARGEST_GAP]
    for explainer in dict.fromkeys(row.groups["explainer"] for row in large):
        part = [row for row in large if row.groups["explainer"] == explainer]
        worst = max(part, key=lambda row: row.value or 0.0)
        gap, counts = shown(worst.value, quantity(worst)), (len(part), len(results))
        text = wording.INCOMPLETE.format(explainer, 100 * LARGEST_GAP, *counts, gap, worst.groups["model"])
        findings.append(Finding("incomplete", text, tuple(part), 1.6, {"explainer": explainer}))
    return rows, findings

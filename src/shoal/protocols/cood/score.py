"""From answers to outcomes and measures: nine accuracies, three means, gap and shortcut (3.5, 3.7).

Pure. Accuracy on *validation texts in trained combinations* selects the epoch; COOD and OOD cells select nothing.
Every other epoch is reported too, with its number among the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import Answers, Case, Measure, Measures, Outcome
from ...stats.intervals import wilson
from ..base import Built, Scored
from . import wording
from .cells import CELLS, KINDS
from .grid import (
    BEYOND,
    GAP,
    HALF,
    KIND_WEIGHTS,
    Floats,
    Grid,
    Weights,
    estimate,
    grid_of,
    replicates,
    right_of,
    weighted,
)
from .settings import Settings

BY_CELL: dict[tuple[str, str], tuple[Weights, float]] = {
    **{("accuracy", kind): (weights, 0.0) for kind, weights in KIND_WEIGHTS.items()},
    ("gap", ""): (GAP, 0.0),
    ("beyond the shortcut", ""): (BEYOND, -1.0),
}
"""Name and kind of a measure to its weights of cells and its constant."""


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return the outcomes and measures of the selected epoch, then the measures of every epoch."""
    outcomes = {epoch: judge(built.cases, answer) for epoch, answer in answers.items()}
    validation = {epoch: _validation(settings, built.cases, rows) for epoch, rows in outcomes.items()}
    chosen = choose_epoch({epoch: row.value for epoch, row in validation.items()})
    measures = [with_basis(row) for row in measure(settings, built.cases, outcomes[chosen])]
    finding = wording.verdict(Measures(measures), {})
    measures += _selection(built, chosen, validation[chosen], alone=len(outcomes) == 1)
    for epoch, rows in outcomes.items():
        if len(outcomes) > 1:
            after = [validation[epoch], *measure(settings, built.cases, rows)]
            measures += [replace(row, groups={**row.groups, "epoch": epoch}) for row in after]
    return Scored(outcomes[chosen], measures, findings=[finding])


def judge(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Return right, wrong or no answer per case; the value is the margin between the two labels."""
    outcomes = []
    for row, case in enumerate(cases):
        if row in answers.errors:
            outcomes.append(Outcome(case.id, None, None, answers.errors[row]))
            continue
        right = answers.labels[answers.predictions[row]] == (case.labels or ("",))[0]
        margin = 1.0
        if answers.probabilities is not None and not np.isnan(answers.probabilities[row, 0]):
            ordered = np.sort(answers.probabilities[row])
            margin = float(ordered[-1] - ordered[-2])
        outcomes.append(Outcome(case.id, right, max(margin, 1e-12) if right else -margin))
    return outcomes


def choose_epoch(validation: Mapping[str, float | None]) -> str:
    """Return the first epoch with the best validation accuracy; the last epoch without validation texts.

    >>> choose_epoch({"1": 0.8, "2": 0.9, "3": 0.9}), choose_epoch({"1": None, "2": None})
    ('2', '2')
    """
    known = {epoch: value for epoch, value in validation.items() if value is not None}
    return max(known, key=lambda epoch: known[epoch]) if known else list(validation)[-1]


def with_basis(row: Measure) -> Measure:
    """Return the measure with its basis in cases, so that two results can be compared."""
    kind = row.groups.get("kind", "")
    facts: dict[str, Any] = {}
    if row.name == "accuracy" and "cell" in row.groups:
        facts = {"mean over": "cases", "only": {"split": "test"}}
    elif (row.name, kind) in BY_CELL:
        weights, constant = BY_CELL[row.name, kind]
        facts = {"mean over": "cell", "weights": dict(weights), "only": {"split": "test"}}
        facts |= {"constant": constant} if constant else {}
        facts |= {"headline": True} if kind == "COOD" else {}
    return replace(row, facts={**row.facts, **facts})


# Measures of one epoch


def measure(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Measure]:
    """Return the measures of one model after one epoch."""
    test, errors = _split(cases, outcomes, "test")
    return measures_of(grid_of(test, [right_of(outcomes)]), settings, {}, errors)


def measures_of(
    grid: Grid,
    settings: Settings,
    groups: Mapping[str, str],
    errors: Mapping[str, int],
    facts: Mapping[str, Any] | None = None,
    note: str = "",
) -> list[Measure]:
    """Return accuracies, gap and what is right beyond the shortcut, of one seed or several."""
    draws = replicates(grid, settings.resamples, np.random.default_rng(settings.seed))
    common = Measure("", None, 0, groups, note=note, facts=facts or {})

    def row(name: str, weights: Weights, constant: float = 0.0, /, **more: str) -> Measure:
        start = replace(common, name=name, groups={**groups, **more})
        return _quantity(start, grid, draws, weights, constant, errors)

    rows = [row("accuracy", {cell: 1.0}, cell=cell, kind=CELLS[cell]) for cell in CELLS]
    rows += [row("accuracy", KIND_WEIGHTS[kind], kind=kind) for kind in KINDS]
    rows += [row("gap", GAP)]
    beyond = row("beyond the shortcut", BEYOND, -1.0)
    half = estimate(grid, draws, HALF).interval
    if half is not None:
        beyond = replace(beyond, facts={**beyond.facts, "over half": [half[0] - 1, half[1] - 1]})
    return [*rows, beyond]


def _quantity(
    start: Measure,
    grid: Grid,
    draws: Floats,
    weights: Weights,
    constant: float,
    errors: Mapping[str, int],
) -> Measure:
    """Return a weighted sum of cells plus a constant, with its interval."""
    value = weighted(grid.rates, weights) + constant
    intervals = estimate(grid, draws, weights)
    facts = dict(start.facts)
    if intervals.these_runs is not None:
        facts["these runs"] = [end + constant for end in intervals.these_runs]
    if intervals.not_estimable:
        facts["not estimable"] = True
    undefined = bool(np.isnan(value))
    return replace(
        start,
        value=None if undefined else float(value),
        n=sum(grid.counts[cell] for cell in weights),
        errors=sum(errors.get(cell, 0) for cell in weights),
        interval=intervals.interval and (intervals.interval[0] + constant, intervals.interval[1] + constant),
        interval_method=intervals.method,
        reason=wording.NO_ANSWER_IN_CELL if undefined else "",
        facts=facts,
    )


def _split(
    cases: Sequence[Case], outcomes: Sequence[Outcome], split: str
) -> tuple[list[Case], dict[str, int]]:
    """Return the cases of a split, and the number of errors per cell."""
    chosen = [case for case in cases if case.groups["split"] == split]
    failed = {outcome.case_id for outcome in outcomes if outcome.error}
    errors = dict.fromkeys(CELLS, 0)
    for case in chosen:
        errors[case.groups["cell"]] += case.id in failed
    return chosen, errors


# Selection


def _validation(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """Return the accuracy on validation texts in the four trained combinations, with equal weights."""
    start = Measure("validation accuracy", None, 0, {"kind": "ID"})
    chosen, errors = _split(cases, outcomes, "validation")
    if not chosen:
        return replace(start, reason=wording.NO_VALIDATION)
    grid = grid_of(chosen, [right_of(outcomes)])
    draws = replicates(grid, settings.resamples, np.random.default_rng(settings.seed))
    return _quantity(start, grid, draws, KIND_WEIGHTS["ID"], 0.0, errors)


def _selection(built: Built, chosen: str, validation: Measure, *, alone: bool) -> list[Measure]:
    """Return the selected epoch with its validation accuracy, and the share of dropped texts."""
    rows = []
    if chosen:
        note = wording.LAST_EPOCH if alone or validation.value is None else wording.BEST_EPOCH
        facts = {"chosen as": note}
        rows += [Measure("chosen epoch", float(chosen), validation.n, note=note, facts=facts), validation]
    if built.about:
        dropped, total = sum(built.about["dropped"].values()), built.about["rows"]
        note = wording.dropped_texts(built.about["dropped"])
        rows.append(
            Measure(
                "texts left out",
                dropped / total,
                total,
                {},
                wilson(dropped, total),
                "wilson",
                note=note,
                facts={"left out": dict(built.about["dropped"])},
            )
        )
    return rows

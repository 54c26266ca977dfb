"""From answers to outcomes and measures: nine accuracies, three means, gap and shortcut (3.5, 3.7).

Accuracy on *validation texts in trained combinations* selects the epoch; COOD and OOD cells select nothing. Every other
epoch is reported too, with its number among the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.records import Answers, Basis, Case, Measure, Measures, Outcome
from ...stats.intervals import Interval, wilson
from ..base import Built, Scored
from . import wording
from .cells import CELLS
from .grid import HALF, QUANTITIES, Floats, Grid, Quantity, estimate, grid_of, replicates, weighted
from .settings import Settings

TEST = {"split": "test"}


@dataclass(frozen=True, slots=True)
class Scores:
    """The measures of one epoch or setup, and what decides its verdict."""

    measures: list[Measure]
    over_half: Interval | None
    """The interval of `beyond the shortcut` minus half of its maximum."""


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return the outcomes and measures of the selected epoch, then the measures of every epoch."""
    outcomes = {epoch: judge(built.cases, answer) for epoch, answer in answers.items()}
    validation = {epoch: _validation(settings, built.cases, rows) for epoch, rows in outcomes.items()}
    scores = {}
    for epoch, rows in outcomes.items():
        scores[epoch] = scores_of(grid_of(cases_of(built.cases, "test"), [rows]), settings.seed, {})
    chosen = choose_epoch({epoch: row.value for epoch, row in validation.items()})
    measures = [with_basis(row) for row in scores[chosen].measures]
    finding = wording.verdict(Measures(measures), {}, scores[chosen].over_half, settings.shots)
    measures += _selection(built, chosen, validation[chosen], alone=len(outcomes) == 1)
    for epoch in outcomes if len(outcomes) > 1 else ():
        after = [validation[epoch], *scores[epoch].measures]
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
    if "cell" in row.groups:
        return replace(row, basis=Basis("cases", only=TEST))
    (of,) = (of for of in QUANTITIES if (of.name, of.groups) == (row.name, row.groups))
    basis = Basis("cell", dict(of.weights), only=TEST, constant=of.constant)
    return replace(row, basis=basis, headline=of.kind == "COOD")


# Measures of one epoch


def scores_of(grid: Grid, seed: int, groups: Mapping[str, str], note: str = "") -> Scores:
    """Return accuracies, gap and what is right beyond the shortcut, of one run or several."""
    draws = replicates(grid, np.random.default_rng(seed))
    cells = [Quantity("accuracy", kind, {cell: 1.0}) for cell, kind in CELLS.items()]
    named = [({"cell": cell}, of) for cell, of in zip(CELLS, cells, strict=True)]
    named += [({}, of) for of in QUANTITIES]
    rows = [
        replace(_measure(of, grid, draws), groups={**groups, **cell, **of.groups}, note=note)
        for cell, of in named
    ]
    half, _ = estimate(grid, draws, HALF)
    return Scores(rows, half and (half[0] - 1, half[1] - 1))


def _measure(of: Quantity, grid: Grid, draws: Floats) -> Measure:
    """Return a weighted sum of cells plus a constant, with its interval."""
    value = weighted(grid.rates, of.weights) + of.constant
    interval, method = estimate(grid, draws, of.weights)
    undefined = bool(np.isnan(value))
    return Measure(
        of.name,
        None if undefined else float(value),
        sum(grid.counts[cell] for cell in of.weights),
        of.groups,
        interval and (interval[0] + of.constant, interval[1] + of.constant),
        method,
        errors=sum(grid.errors.get(cell, 0) for cell in of.weights),
        reason=wording.NO_ANSWER_IN_CELL if undefined else "",
    )


def cases_of(cases: Sequence[Case], split: str) -> list[Case]:
    return [case for case in cases if case.groups["split"] == split]


# Selection


def _validation(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """Return the accuracy on validation texts in the four trained combinations, with equal weights."""
    of = replace(QUANTITIES[0], name="validation accuracy")
    chosen = cases_of(cases, "validation")
    if not chosen:
        return Measure(of.name, None, 0, of.groups, reason=wording.NO_VALIDATION)
    grid = grid_of(chosen, [outcomes])
    return _measure(of, grid, replicates(grid, np.random.default_rng(settings.seed)))


def _selection(built: Built, chosen: str, validation: Measure, *, alone: bool) -> list[Measure]:
    """Return the selected epoch with its validation accuracy, and the share of dropped texts."""
    rows = []
    if chosen:
        note = wording.LAST_EPOCH if alone or validation.value is None else wording.BEST_EPOCH
        rows += [Measure("chosen epoch", float(chosen), validation.n, note=note), validation]
    if built.about:
        dropped, total = sum(built.about["dropped"].values()), built.about["rows"]
        note = wording.dropped_texts(built.about["dropped"])
        interval = wilson(dropped, total)
        rows.append(Measure("texts left out", dropped / total, total, {}, interval, "wilson", note=note))
    return rows

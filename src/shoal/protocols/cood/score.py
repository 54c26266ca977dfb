"""Answers to outcomes and measures: nine accuracies, three means, signs of a shortcut (`docs/method/cood.md` 3.5, 3.7).

Pure. The epoch is chosen by accuracy on *validation texts in trained combinations*; COOD and OOD cells choose nothing.
Every other epoch is reported too, with its number among the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...records import Answers, Case, Measure, Outcome
from ...stats.intervals import percentile_interval, wilson
from ..base import Built, Scored
from .build import describe
from .cells import CELLS, INCONSISTENT, KINDS, cells_of, target
from .grid import (
    GAP,
    KIND_WEIGHTS,
    SENSITIVITY,
    Floats,
    Grid,
    Weights,
    drawn,
    grid_of,
    interval,
    replicates,
    right_of,
    weighted,
)
from .settings import Settings

def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """The outcomes at the chosen epoch, its measures, and then the measures of every epoch."""
    outcomes = {epoch: judge(built.cases, given) for epoch, given in answers.items()}
    groups = {"K": str(settings.per_label[0]), "control": settings.control[0]}
    validation = {epoch: _validation(settings, built.cases, rows, groups) for epoch, rows in outcomes.items()}
    chosen = choose_epoch({epoch: row.value for epoch, row in validation.items()})
    measures = measure(settings, built.cases, outcomes[chosen], groups)
    measures += _about(built, chosen, validation[chosen], groups)
    for epoch, rows in outcomes.items():
        if epoch:
            by_epoch = {**groups, "epoch": epoch}
            measures += [_with(validation[epoch], by_epoch), *measure(settings, built.cases, rows, by_epoch)]
    return Scored(outcomes[chosen], measures)


def judge(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Right, wrong or no answer; the value is how much likelier the right label was than the wrong one."""
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
    """The epoch that is best on validation texts, the first of equals; the last one where nothing was validated.

    >>> choose_epoch({"1": 0.8, "2": 0.9, "3": 0.9}), choose_epoch({"1": None, "2": None})
    ('2', '2')
    """
    known = {epoch: value for epoch, value in validation.items() if value is not None}
    return max(known, key=lambda epoch: known[epoch]) if known else list(validation)[-1]


# Measures of one epoch


def measure(
    settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome], groups: Mapping[str, str]
) -> list[Measure]:
    """All that is said of one model at one moment."""
    test, errors = _split(cases, outcomes, "test")
    grid = grid_of(test, [right_of(outcomes)])
    return measures_of(grid, settings, groups, errors)


def measures_of(
    grid: Grid, settings: Settings, groups: Mapping[str, str], errors: Mapping[str, int], note: str = ""
) -> list[Measure]:
    """Accuracies, gap, shortcut reliance, template sensitivity, and what is answered where nothing is determined.

    Of one seed or of several: the grid knows.
    """
    draws = replicates(grid.values, grid, settings.resamples, np.random.default_rng(settings.seed))
    quantity = _Quantities(grid, draws, groups, errors, note)
    rows = [quantity.row("accuracy", {cell: 1.0}, cell=cell, kind=CELLS[cell]) for cell in CELLS]
    rows += [quantity.row("accuracy", KIND_WEIGHTS[kind], kind=kind) for kind in KINDS]
    rows += [quantity.row("gap", GAP), quantity.ratio()]
    rows.append(quantity.one_minus("shortcut reliance", KIND_WEIGHTS["COOD"]))
    for side, weights in SENSITIVITY.items():
        rows.append(quantity.row("template sensitivity", weights, **({} if side == "all" else {"y": side})))
    rows += [quantity.said(cell) for cell in cells_of("OOD")]
    return rows


class _Quantities:
    """Makes the rows of one grid."""

    def __init__(
        self, grid: Grid, draws: Floats, groups: Mapping[str, str], errors: Mapping[str, int], note: str
    ) -> None:
        self.grid, self.draws, self.groups, self.errors, self.note = grid, draws, groups, errors, note
        self.rates, self.counts = grid.rates(), grid.counts()

    def row(self, name: str, weights: Weights, **groups: str) -> Measure:
        """A quantity that is a weighted sum of columns."""
        value = weighted(self.rates, weights)
        between, method = interval(self.grid, self.draws, weights)
        n, errors = (sum(count.get(column, 0) for column in weights) for count in (self.counts, self.errors))
        unknown = np.isnan(value)
        return Measure(
            name,
            None if unknown else float(value),
            n,
            {**self.groups, **groups},
            between,
            method,
            errors=errors,
            note="no answer in one of its cells" if unknown else self.note,
        )

    def one_minus(self, name: str, weights: Weights) -> Measure:
        """A quantity that is what another leaves of 1."""
        return _turned(self.row(name, weights))

    def ratio(self) -> Measure:
        """COOD over ID: what is kept of the accuracy on seen combinations."""
        above, below = (weighted(self.rates, KIND_WEIGHTS[kind]) for kind in ("COOD", "ID"))
        if not below > 0 or np.isnan(above):
            return Measure("ratio", None, 0, dict(self.groups), note="ID is 0 or unknown")
        n = sum(self.counts[cell] for cell in (*cells_of("COOD"), *cells_of("ID")))
        draws = drawn(self.draws, KIND_WEIGHTS["COOD"]) / drawn(self.draws, KIND_WEIGHTS["ID"])
        between = percentile_interval(draws) if np.ptp(draws) > 1e-12 else None
        method = "text bootstrap" if self.grid.seeds == 1 else "seeds and texts bootstrap"
        method = method if between else ""
        return Measure("ratio", above / below, n, dict(self.groups), between, method, note=self.note)

    def said(self, cell: str) -> Measure:
        """How often the answer is "inconsistent" in a cell whose right answer the training data do not determine."""
        row = self.row("said inconsistent", {cell: 1.0}, cell=cell, kind=CELLS[cell])
        return row if target(cell) == INCONSISTENT else _turned(row)


def _turned(row: Measure) -> Measure:
    value = None if row.value is None else 1 - row.value
    between = None if row.interval is None else (1 - row.interval[1], 1 - row.interval[0])
    return Measure(
        row.name, value, row.n, row.groups, between, row.interval_method, row.na, row.errors, row.note
    )


def _split(
    cases: Sequence[Case], outcomes: Sequence[Outcome], split: str
) -> tuple[list[Case], dict[str, int]]:
    """The cases of a split, and how many in each cell got no answer."""
    chosen = [case for case in cases if case.groups["split"] == split]
    failed = {outcome.case_id for outcome in outcomes if outcome.error}
    errors = dict.fromkeys(CELLS, 0)
    for case in chosen:
        errors[case.groups["cell"]] += case.id in failed
    return chosen, errors


# Choosing, and what was chosen from


def _validation(
    settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome], groups: Mapping[str, str]
) -> Measure:
    """Accuracy on validation texts in the trained combinations, each of the four weighing the same."""
    chosen, errors = _split(cases, outcomes, "validation")
    if not chosen:
        return Measure("validation accuracy", None, 0, groups, note="no validation texts")
    grid = grid_of(chosen, [right_of(outcomes)])
    draws = replicates(grid.values, grid, settings.resamples, np.random.default_rng(settings.seed))
    return _Quantities(grid, draws, groups, errors, "").row(
        "validation accuracy", KIND_WEIGHTS["ID"], kind="ID"
    )


def _about(built: Built, chosen: str, validation: Measure, groups: Mapping[str, str]) -> list[Measure]:
    rows = []
    if chosen:
        how = (
            "best on validation texts in trained combinations" if validation.value is not None else "the last"
        )
        rows.append(Measure("chosen epoch", float(chosen), validation.n, groups, note=how))
        rows.append(validation)
    about = built.about
    if about:
        dropped = sum(about["dropped"].values())
        share = dropped / about["rows"]
        rows.append(
            Measure(
                "texts left out", share, about["rows"], groups, wilson(dropped, about["rows"]), "wilson",
                note=describe(about),
            )
        )  # fmt: skip
    return rows


def _with(row: Measure, groups: Mapping[str, str]) -> Measure:
    return replace(row, groups={**row.groups, **groups})

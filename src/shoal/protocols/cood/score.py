"""Answers to outcomes and measures: nine accuracies, three means, signs of a shortcut (`docs/method/cood.md` 3.5, 3.7).

Pure. The epoch is chosen by accuracy on *validation texts in trained combinations*; COOD and OOD cells choose nothing.
Every other epoch is reported too, with its number among the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...core.records import Answers, Case, Measure, Measures, Outcome
from ...stats.intervals import percentile_interval, wilson
from ..base import Built, Scored
from .build import describe
from .cells import CELLS, INCONSISTENT, KINDS, cells_of, target
from .grid import (
    BEYOND,
    GAP,
    HALF,
    KIND_WEIGHTS,
    SENSITIVITY,
    SIGNED_SENSITIVITY,
    Grid,
    Known,
    Weights,
    drawn,
    grid_of,
    known,
    over_seeds,
    replicates,
    right_of,
    weighted,
)
from .settings import Settings
from .verdict import verdict

RELIANCE: Weights = {cell: -weight for cell, weight in KIND_WEIGHTS["COOD"].items()}
BY_CELL: dict[tuple[str, str], tuple[Weights, float]] = {
    **{("accuracy", kind): (weights, 0.0) for kind, weights in KIND_WEIGHTS.items()},
    ("gap", ""): (GAP, 0.0),
    ("beyond the shortcut", ""): (BEYOND, -1.0),
    ("shortcut reliance", ""): (RELIANCE, 1.0),
}
"""Name and kind of a measure to its weights of cells, and the constant beside them."""


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """The outcomes at the chosen epoch, its measures, and then those of every epoch where several were asked."""
    outcomes = {epoch: judge(built.cases, given) for epoch, given in answers.items()}
    validation = {epoch: _validation(settings, built.cases, rows) for epoch, rows in outcomes.items()}
    chosen = choose_epoch({epoch: row.value for epoch, row in validation.items()})
    measures = [by_case(row) for row in measure(settings, built.cases, outcomes[chosen])]
    finding = verdict(Measures(measures), {})
    measures += _about(built, chosen, validation[chosen], alone=len(outcomes) == 1)
    for epoch, rows in outcomes.items():
        if len(outcomes) > 1:
            after = [validation[epoch], *measure(settings, built.cases, rows)]
            measures += [replace(row, groups={**row.groups, "epoch": epoch}) for row in after]
    return Scored(outcomes[chosen], measures, findings=[finding])


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


def by_case(row: Measure) -> Measure:
    """The measure with how it rests on cases, so that two results can be compared on them."""
    if row.name == "accuracy" and "cell" in row.groups:
        facts: dict[str, Any] = {"mean over": "cases", "only": {"split": "test"}}
    elif (row.name, row.groups.get("kind", "")) in BY_CELL:
        weights, constant = BY_CELL[row.name, row.groups.get("kind", "")]
        facts = {"mean over": "cell", "weights": dict(weights), "only": {"split": "test"}}
        facts |= {"constant": constant} if constant else {}
        facts |= {"headline": True} if row.groups.get("kind") == "COOD" else {}
    else:
        facts = {}
    return replace(row, facts={**row.facts, **facts})


# Measures of one epoch


def measure(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Measure]:
    """All that is said of one model at one moment."""
    test, errors = _split(cases, outcomes, "test")
    grid = grid_of(test, [right_of(outcomes)])
    return measures_of(grid, settings, {}, errors)


def measures_of(
    grid: Grid,
    settings: Settings,
    groups: Mapping[str, str],
    errors: Mapping[str, int],
    facts: Mapping[str, Any] | None = None,
    note: str = "",
) -> list[Measure]:
    """Accuracies, gap, what tells a shortcut, template sensitivity, and what is answered where nothing is determined.

    Of one seed or of several: the grid knows.
    """
    make = _Rows(grid, settings, groups, errors, facts or {}, note)
    rows = [make.row("accuracy", {cell: 1.0}, cell=cell, kind=CELLS[cell]) for cell in CELLS]
    rows += [make.row("accuracy", KIND_WEIGHTS[kind], kind=kind) for kind in KINDS]
    rows += [make.row("gap", GAP), make.ratio(), make.beyond()]
    rows.append(make.row("shortcut reliance", RELIANCE, 1.0))
    for side, weights in SENSITIVITY.items():
        whose = {} if side == "all" else {"y": side}
        rows.append(make.row("template sensitivity", weights, 0.0, **whose))
    for role, weights in SIGNED_SENSITIVITY.items():
        rows.append(make.row("signed template sensitivity", weights, -1.0, y=role))
    rows += [make.said_inconsistent(cell) for cell in cells_of("OOD")]
    return rows


class _Rows:
    """Makes the measures of one grid."""

    def __init__(
        self,
        grid: Grid,
        settings: Settings,
        groups: Mapping[str, str],
        errors: Mapping[str, int],
        facts: Mapping[str, Any],
        note: str,
    ) -> None:
        self.grid, self.groups, self.errors, self.facts, self.note = grid, groups, errors, facts, note
        self.draws = replicates(grid, settings.resamples, np.random.default_rng(settings.seed))
        self.rates, self.counts = grid.rates, grid.counts

    def row(self, name: str, weights: Weights, constant: float = 0.0, /, **groups: str) -> Measure:
        """A quantity that is a weighted sum of columns and a constant."""
        n, errors = (sum(count.get(column, 0) for column in weights) for count in (self.counts, self.errors))
        value = weighted(self.rates, weights) + constant
        undefined = np.isnan(value)
        return self._measure(
            Measure(
                name,
                None if undefined else float(value),
                n,
                {**self.groups, **groups},
                errors=errors,
                note="no answer in one of its cells" if undefined else self.note,
            ),
            known(self.grid, self.draws, weights),
            constant,
        )

    def _measure(self, row: Measure, how_well: Known, constant: float = 0.0) -> Measure:
        """A measure with its interval, and with what is known of these very runs where seeds say little."""
        facts = dict(self.facts)
        if how_well.these_runs is not None:
            facts["these runs"] = [end + constant for end in how_well.these_runs]
        if how_well.not_estimable:
            facts["not estimable"] = True
        between = how_well.interval and (how_well.interval[0] + constant, how_well.interval[1] + constant)
        return replace(row, interval=between, interval_method=how_well.method, facts=facts)

    def beyond(self) -> Measure:
        """COOD less what the shortcut alone gets there; with how far that is from half of what it could be."""
        row = self.row("beyond the shortcut", BEYOND, -1.0)
        half = known(self.grid, self.draws, HALF).interval
        return (
            row
            if half is None
            else replace(row, facts={**row.facts, "over half": [half[0] - 1, half[1] - 1]})
        )

    def ratio(self) -> Measure:
        """COOD over ID: what is kept of the accuracy on seen combinations."""
        row = Measure(
            "accuracy ratio", None, 0, dict(self.groups), note="ID is 0 or unknown", facts=self.facts
        )
        above, below = (weighted(self.rates, KIND_WEIGHTS[kind]) for kind in ("COOD", "ID"))
        if not below > 0 or np.isnan(above):
            return row
        ratio = above / below
        n = sum(self.counts[cell] for cell in (*cells_of("COOD"), *cells_of("ID")))
        draws = drawn(self.draws, KIND_WEIGHTS["COOD"]) / drawn(self.draws, KIND_WEIGHTS["ID"])
        row = replace(row, value=ratio, n=n, note=self.note)
        unseen, seen = (self.grid.by_seed(KIND_WEIGHTS[kind]) for kind in ("COOD", "ID"))
        if np.ptp(draws) < 1e-12 or np.isnan(unseen + seen).any():
            return row
        by_seed = ratio + (unseen - ratio * seen) / below  # linearised
        method = "text bootstrap"
        return self._measure(
            row, over_seeds(ratio, partial(percentile_interval, draws), by_seed, method, (0.0, np.inf))
        )

    def said_inconsistent(self, cell: str) -> Measure:
        """How often the answer is "inconsistent" in a cell whose right answer the training data do not determine."""
        sign, constant = (1.0, 0.0) if target(cell) == INCONSISTENT else (-1.0, 1.0)
        return self.row("said inconsistent", {cell: sign}, constant, cell=cell, kind=CELLS[cell])


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


def _validation(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """Accuracy on validation texts in the trained combinations, each of the four weighing the same."""
    chosen, errors = _split(cases, outcomes, "validation")
    if not chosen:
        return Measure("validation accuracy", None, 0, {"kind": "ID"}, note="no validation texts")
    grid = grid_of(chosen, [right_of(outcomes)])
    return _Rows(grid, settings, {}, errors, {}, "").row("validation accuracy", KIND_WEIGHTS["ID"], kind="ID")


def _about(built: Built, chosen: str, validation: Measure, *, alone: bool) -> list[Measure]:
    """Which epoch was chosen and how, and what the texts were chosen from."""
    rows = []
    if chosen:
        last = alone or validation.value is None
        how = "the last" if last else "best on validation texts in trained combinations"
        rows.append(Measure("chosen epoch", float(chosen), validation.n, note=how, facts={"chosen as": how}))
        rows.append(validation)
    about = built.about
    if about:
        dropped, everything = sum(about["dropped"].values()), about["rows"]
        between = wilson(dropped, everything)
        rows.append(
            Measure(
                "texts left out", dropped / everything, everything, {}, between, "wilson",
                note=describe(about), facts={"left out": dict(about["dropped"])},
            )
        )  # fmt: skip
    return rows

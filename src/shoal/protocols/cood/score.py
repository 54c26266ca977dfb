"""From answers to outcomes and measures: nine accuracies, three means, gap and shortcut (3.5, 3.7).

Accuracy on *validation texts in trained combinations* selects the epoch; COOD and OOD cells select nothing. Every other
epoch is reported too, with its number among the groups. `compare` returns the same measures of each setup over its
seeds, for new texts and new seeds (`docs/method/beyond.md` 7.3); `shoal compare` tests differences between setups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.records import Answers, Basis, Case, Finding, Measure, Measures, Outcome, Result
from ...stats.intervals import Interval, mean_t_interval, wilson
from ..base import Built, Compared, Scored
from . import wording
from .grid import HALF, MEASURED, QUANTITIES, Floats, Grid, Quantity, estimate, grid_of, replicates, weighted
from .settings import Settings

TEST = {"split": "test"}
SETUP = ("model", "data", "K", "control", "template", "names", "unseen")
"""Groups that describe a setup: everything that makes jobs differ except the seed."""
VALIDATION = replace(QUANTITIES[0], name="validation accuracy")
"""With equal weights for the four trained combinations."""


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
    tested = cases_of(built.cases, "test")
    scores = {
        epoch: scores_of(grid_of(tested, [rows]), settings.seed, {}) for epoch, rows in outcomes.items()
    }
    chosen = choose_epoch({epoch: row.value for epoch, row in validation.items()})
    measures = [with_basis(row) for row in scores[chosen].measures]
    names = wording.cell_names(settings.template[0], built.about)
    finding = wording.verdict(Measures(measures), {}, scores[chosen].over_half, settings.shots, names)
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
    return replace(row, basis=basis, headline=of.groups == {"kind": "COOD"})


# Measures of one epoch


def scores_of(grid: Grid, seed: int, groups: Mapping[str, str], note: str = "") -> Scores:
    """Return accuracies, gap and what is right beyond the shortcut, of one run or several."""
    draws = replicates(grid, np.random.default_rng(seed))
    rows = [_measure(of, grid, draws) for of in MEASURED]
    half, _ = estimate(grid, draws, HALF)
    return Scores(
        [replace(row, groups={**groups, **row.groups}, note=note) for row in rows],
        half and (half[0] - 1, half[1] - 1),
    )


def _measure(of: Quantity, grid: Grid, draws: Floats) -> Measure:
    """Return a weighted sum of cells plus a constant, with its interval."""
    value = weighted(grid.rates, of.weights) + of.constant
    interval, method = estimate(grid, draws, of.weights)
    n, errors = (sum(counts.get(cell, 0) for cell in of.weights) for counts in (grid.counts, grid.errors))
    if np.isnan(value):
        return Measure(of.name, None, n, of.groups, errors=errors, reason=wording.NO_ANSWER_IN_CELL)
    interval = interval and (interval[0] + of.constant, interval[1] + of.constant)
    return Measure(of.name, float(value), n, of.groups, interval, method, errors=errors)


def cases_of(cases: Sequence[Case], split: str) -> list[Case]:
    return [case for case in cases if case.groups["split"] == split]


# Selection


def _validation(settings: Settings, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Measure:
    """Return the accuracy on validation texts in the four trained combinations."""
    chosen = cases_of(cases, "validation")
    if not chosen:
        return Measure(VALIDATION.name, None, 0, VALIDATION.groups, reason=wording.NO_VALIDATION)
    grid = grid_of(chosen, [outcomes])
    return _measure(VALIDATION, grid, replicates(grid, np.random.default_rng(settings.seed)))


def _selection(built: Built, chosen: str, validation: Measure, *, alone: bool) -> list[Measure]:
    """Return the selected epoch with its validation accuracy, and the share of dropped texts."""
    dropped, total = sum(built.about["dropped"].values()), built.about["rows"]
    note = wording.dropped_texts(built.about["dropped"])
    left_out = Measure(
        "texts left out", dropped / total, total, {}, wilson(dropped, total), "wilson", note=note
    )
    if not chosen:
        return [left_out]
    note = wording.LAST_EPOCH if alone or validation.value is None else wording.BEST_EPOCH
    return [Measure("chosen epoch", float(chosen), validation.n, note=note), validation, left_out]


# Several jobs


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of every setup over its seeds, and its curves over epochs."""
    if len(results) < 2:
        return Compared()
    by_setup: dict[tuple[tuple[str, str], ...], list[Result]] = {}
    for result in results:
        by_setup.setdefault(tuple(setup_of(result).items()), []).append(result)
    named = {"K", "control", *(name for name in SETUP if len({dict(setup)[name] for setup in by_setup}) > 1)}
    rows: list[Measure] = []
    findings: list[Finding] = []
    for setup, of_setup in by_setup.items():
        groups = {name: value for name, value in setup if name in named}
        cases = {case.id: case for result in of_setup for case in cases_of(result.cases, "test")}
        grid = grid_of(list(cases.values()), [result.outcomes for result in of_setup])
        seeds = sorted(int(result.job["settings"]["seed"]) for result in of_setup)
        over = scores_of(grid, settings.seed, groups, wording.seed_claim(seeds, settings.shots))
        job = of_setup[0].job
        names = wording.cell_names(str(job["settings"]["template"][0]), job["about"])
        shots = job["settings"].get("shots", ())
        findings.append(wording.verdict(Measures(over.measures), groups, over.over_half, shots, names))
        rows += [*over.measures, *_over_epochs(of_setup, groups)]
    return Compared(rows, findings)


def setup_of(result: Result) -> dict[str, str]:
    settings, about = result.job["settings"], result.job["about"]
    words: Mapping[str, str] = next(iter(settings.get("names") or ()), {})
    return {
        "model": str(result.job.get("model", "")),
        "data": str(settings.get("data", "")),
        "K": str((settings.get("shots") or settings["per_label"])[0]),
        "control": str(settings["control"][0]),
        "template": str(settings["template"][0]),
        "names": ", ".join(f"{label}={word}" for label, word in sorted(words.items())) or "usual",
        "unseen": str(about["roles"]["neu"]),
    }


def _over_epochs(results: Sequence[Result], groups: Mapping[str, str]) -> list[Measure]:
    """Return the means over seeds after each epoch (the paper's Figure 2)."""
    measures = [row for result in results for row in result.measures if "epoch" in row.groups]
    rows = []
    for epoch in dict.fromkeys(row.groups["epoch"] for row in measures):
        for of in (*QUANTITIES, VALIDATION):
            wanted = {**of.groups, "epoch": epoch}
            matching = [row for row in measures if (row.name, row.groups) == (of.name, wanted)]
            if by_seed := [row for row in matching if row.value is not None]:
                rows.append(_mean(by_seed, {**groups, **wanted}))
    return rows


def _mean(rows: Sequence[Measure], groups: Mapping[str, str]) -> Measure:
    """Return a mean over seeds; its interval adds the spread over seeds and over texts in squares."""
    if len(rows) == 1:
        return replace(rows[0], groups=groups)
    values = np.array([row.value for row in rows], np.float64)
    middle = float(values.mean())
    seeds = mean_t_interval(values)[1] - middle
    halves = [(row.interval[1] - row.interval[0]) / 2 for row in rows if row.interval]
    texts = float(np.mean(halves)) if halves else 0.0
    reach = float(np.hypot(seeds, texts))
    lowest = 0.0 if "accuracy" in rows[0].name else -1.0
    interval = (max(lowest, middle - reach), min(1.0, middle + reach))
    return Measure(rows[0].name, middle, rows[0].n, groups, interval, "seeds t, text bootstrap")

"""Across the jobs of a plan: seeds together, and then K, controls, words, templates, revealed items side by side.

Test texts are the same for every seed and setup: what is said of a recipe is for new texts and new seeds
(`docs/method/beyond.md` 7.3), setups are compared text by text, and seeds can be asked whether they agree where the
training data do not say what is right (7.14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...core.claims import ENOUGH_SEEDS
from ...core.records import Case, Finding, Measure, Measures, Outcome, Result
from ...stats.intervals import mean_t_interval
from ...stats.multiplicity import holm
from ...stats.reliability import pairwise_agreement
from ..base import Compared
from .cells import CELLS, KINDS, cells_of
from .differences import difference
from .grid import BEYOND, COLUMNS, GAP, KIND_WEIGHTS, Grid, Weights, components, grid_of, right_of
from .score import measures_of
from .settings import Settings
from .verdict import verdict

SETUP = ("model", "data", "K", "control", "template", "names", "unseen", "reveal")
"""What makes jobs differ beside the seed, as groups of measures."""
ALWAYS = ("K", "control")
"""What every measure says about its jobs; the rest only where jobs differ in it."""
COMPARED = ("model", "K", "control", "template", "names", "reveal")
"""What setups are compared by; other data, or another unseen word, are other texts or other cells."""
QUANTITIES: tuple[tuple[str, str, Weights], ...] = (
    *(("accuracy", kind, KIND_WEIGHTS[kind]) for kind in KINDS),
    ("gap", "", GAP),
    ("beyond the shortcut", "", BEYOND),
)
"""What of two setups is compared: name, kind, weights."""

CURVES: tuple[tuple[str, Mapping[str, str]], ...] = (
    *(("accuracy", {"kind": kind}) for kind in KINDS),
    ("gap", {}),
    ("beyond the shortcut", {}),
    ("validation accuracy", {"kind": "ID"}),
)
"""What is followed over epochs: name and groups."""

Setup = Mapping[str, str]
"""What makes jobs differ beside the seed."""


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Every setup over its seeds, its curve over epochs, and setups against each other."""
    if len(results) < 2:
        return Compared()
    by_setup: dict[tuple[tuple[str, str], ...], list[Result]] = {}
    for result in results:
        by_setup.setdefault(tuple(setup_of(result).items()), []).append(result)
    setups = [dict(setup) for setup in by_setup]
    differ = [name for name in SETUP if len({setup[name] for setup in setups}) > 1]
    rows: list[Measure] = []
    findings: list[Finding] = []
    for setup, of_setup in zip(setups, by_setup.values(), strict=True):
        groups = {name: setup[name] for name in setup if name in ALWAYS or name in differ}
        over = over_seeds(settings, of_setup, groups)
        findings.append(verdict(Measures(over), groups))
        rows += [*over, *over_epochs(of_setup, groups)]
    rows += between_setups(list(zip(setups, by_setup.values(), strict=True)), differ)
    return Compared(rows, findings)


def setup_of(result: Result) -> dict[str, str]:
    """The settings of a job that make it what it is, as words."""
    settings, about = result.job["settings"], result.job["about"]
    names = settings.get("names") or ()
    words = names if isinstance(names, Mapping) else next(iter(names), {})
    return {
        "model": str(result.job.get("model", "")),
        "data": str(settings.get("data", "")),
        "K": str(settings["per_label"][0]),
        "control": str(settings["control"][0]),
        "template": str(settings["template"][0]),
        "names": ", ".join(f"{label}={word}" for label, word in sorted(words.items())) or "usual",
        "unseen": str(about["roles"]["neu"]),
        "reveal": str(settings["reveal"][0]),
    }


# Seeds


def over_seeds(settings: Settings, results: Sequence[Result], groups: Setup) -> list[Measure]:
    """The measures of a setup, over new texts and new seeds."""
    grid = grid_over(results)
    errors = dict.fromkeys(CELLS, 0)
    for result in results:
        for case, outcome in _test(result):
            errors[case.groups["cell"]] += bool(outcome.error)
    facts = {"seeds": sorted(int(result.job["settings"]["seed"]) for result in results)}
    note = claim(facts["seeds"])
    rows = measures_of(grid, settings, groups, errors, facts, note)
    if len(results) > 1:
        more = [*agreement(grid, groups), *seed_shares(grid, groups)]
        rows += [replace(row, facts={**row.facts, **facts}, note=note) for row in more]
    return rows


def claim(seeds: Sequence[int]) -> str:
    """How far the numbers reach, in words (`docs/method/beyond.md` 7.19)."""
    if len(seeds) == 1:
        return "this checkpoint only: one seed"
    several = f"{len(seeds)} seeds ({', '.join(map(str, seeds))})"
    if len(seeds) < ENOUGH_SEEDS:
        return f"{several}; fewer than {ENOUGH_SEEDS} support no claim about the recipe"
    return f"for this training recipe: {several}"


def grid_over(results: Sequence[Result]) -> Grid:
    """The test texts of all seeds; a text that a seed was not asked has no value there."""
    cases: dict[str, Case] = {}
    for result in results:
        cases |= {case.id: case for case, _ in _test(result)}
    return grid_of(list(cases.values()), [right_of(result.outcomes) for result in results])


def _test(result: Result) -> list[tuple[Case, Outcome]]:
    pairs = zip(result.cases, result.outcomes, strict=True)
    return [(case, outcome) for case, outcome in pairs if case.groups["split"] == "test"]


def agreement(grid: Grid, groups: Setup) -> list[Measure]:
    """How often two seeds give the same answer to the same input.

    Where the training data do not determine the answer (OOD), this is what the architecture and its pre-training
    prefer; where they do, it comes with being right.
    """
    rows = []
    for kind in KINDS:
        for cells in ([cell] for cell in cells_of(kind)):
            rows.append(_agreement(grid, cells, {**groups, "cell": cells[0], "kind": kind}))
        rows.append(_agreement(grid, cells_of(kind), {**groups, "kind": kind}))
    return rows


def _agreement(grid: Grid, cells: Sequence[str], groups: Setup) -> Measure:
    # Two answers to one input agree exactly when both are right or both are wrong.
    parts = [grid.values[:, COLUMNS.index(cell)] for cell in cells]
    each = [
        pairwise_agreement(part[~np.isnan(part).all(axis=1)]) for part in parts if not np.isnan(part).all()
    ]
    n = sum(int((~np.isnan(part)).any(axis=1).sum()) for part in parts)
    known = bool(each) and not np.isnan(each).any()
    return Measure("agreement", float(np.mean(each)) if known else None, n, groups)


def seed_shares(grid: Grid, groups: Setup) -> list[Measure]:
    """How much of the variance of a mean is due to seeds: buy seeds, or texts? (`docs/method/beyond.md` 7.3)."""
    rows = []
    for name, weights in (*KIND_WEIGHTS.items(), ("gap", GAP), ("beyond the shortcut", BEYOND)):
        variances = components(grid, weights)
        share = float("nan") if variances is None else variances.shares_of_mean[0]
        subject = {**groups, "kind" if name in KINDS else "of": str(name)}
        value = None if np.isnan(share) else float(share)
        rows.append(Measure("variance due to seeds", value, grid.seeds, subject))
    return rows


# Epochs


def over_epochs(results: Sequence[Result], groups: Setup) -> list[Measure]:
    """The means of the three kinds after each epoch, over seeds (the paper's Figure 2)."""
    epochs = list(
        dict.fromkeys(
            row.groups["epoch"] for result in results for row in result.measures if "epoch" in row.groups
        )
    )
    rows = []
    for epoch in epochs:
        for name, wanted in CURVES:
            by_seed = [row for result in results if (row := _after(result.measures, name, epoch, wanted))]
            if by_seed:
                rows.append(_mean(by_seed, {**groups, **wanted, "epoch": epoch}))
    return rows


def _after(measures: Measures, name: str, epoch: str, wanted: Mapping[str, str]) -> Measure | None:
    rows = measures.where(name, epoch=epoch, **wanted)
    return next((row for row in rows if row.value is not None and "cell" not in row.groups), None)


def _mean(rows: Sequence[Measure], groups: Setup) -> Measure:
    """A mean over seeds. Only the numbers of other epochs are kept, so spread over seeds and over texts are added."""
    values = np.array([row.value for row in rows], np.float64)
    middle = float(values.mean())
    seeds = (mean_t_interval(values)[1] - middle) if len(rows) > 1 else 0.0
    halves = [(row.interval[1] - row.interval[0]) / 2 for row in rows if row.interval]
    texts = float(np.mean(halves)) if halves else 0.0
    reach = float(np.hypot(seeds, texts))
    lowest = 0.0 if "accuracy" in rows[0].name else -1.0
    between, how = rows[0].interval, rows[0].interval_method
    if len(rows) > 1:
        between, how = (
            (max(lowest, middle - reach), min(1.0, middle + reach)),
            "seeds t, text bootstrap",
        )
    return Measure(rows[0].name, middle, rows[0].n, groups, between, how, note=_seeds(len(rows)),
                   facts={"number of seeds": len(rows)})  # fmt: skip


# Setups against each other


def between_setups(setups: Sequence[tuple[Setup, Sequence[Result]]], differ: Sequence[str]) -> list[Measure]:
    """Each setup less each one before it that differs from it in one thing only, on the same texts."""
    rows: list[Measure] = []
    for (before, old), (after, new) in combinations(setups, 2):
        changed = [name for name in SETUP if before[name] != after[name]]
        if len(changed) == 1 and changed[0] in COMPARED:
            groups = {name: value for name, value in after.items() if name in (*ALWAYS, *differ)}
            groups |= {"differs in": changed[0], "against": before[changed[0]]}
            rows += _differences(_by_seed(new), _by_seed(old), groups)
    return _adjusted(rows)


def _differences(new: Mapping[int, Result], old: Mapping[int, Result], groups: Setup) -> list[Measure]:
    cases = _common_cases([*new.values(), *old.values()])
    if not cases:
        return []
    grids = [grid_of(cases, [right_of(run.outcomes) for run in side.values()]) for side in (new, old)]
    paired = new.keys() == old.keys()
    facts = {"seeds": list(new), "seeds against": list(old)}
    rows = []
    for name, kind, weights in QUANTITIES:
        estimate = difference(grids[0], grids[1], weights, paired=paired)
        subject = {**groups, "kind": kind} if kind else {**groups, "of": name}
        about: dict[str, Any] = {"of": name, **facts}
        if estimate is None:
            rows.append(Measure("difference", None, 0, subject, note="no answer in common", facts=about))
            continue
        about |= {"these runs": list(estimate.these_runs), "p": estimate.p}
        how = _method(paired, len(new), len(old)) if estimate.interval else ""
        note = difference_note(len(new), len(old))
        rows.append(
            Measure(
                "difference", estimate.value, estimate.n, subject, estimate.interval, how, note=note, facts=about
            )
        )  # fmt: skip
    return rows


def _common_cases(results: Sequence[Result]) -> list[Case]:
    """The test cases that all were asked, whatever words and templates they were shown with."""
    ids = [{case.id for case, _ in _test(result)} for result in results]
    common = set.intersection(*ids)
    return [case for case, _ in _test(results[0]) if case.id in common]


def _method(paired: bool, new: int, old: int) -> str:
    if new == old == 1:
        return "texts t"
    return "seeds t, texts t" if paired else "seeds welch t, texts t"


def difference_note(new: int, old: int) -> str:
    """How far a difference of so many runs and so many others reaches.

    >>> difference_note(1, 1), difference_note(3, 2), difference_note(1, 5)
    ('one seed', '3 seeds against 2', 'one run against several: nothing is said of the recipes')
    """
    if min(new, old) == 1 < max(new, old):
        return "one run against several: nothing is said of the recipes"
    return _seeds(new) if new == old else f"{_seeds(new)} against {old}"


def _adjusted(rows: Sequence[Measure]) -> list[Measure]:
    """The differences with their p values, adjusted by Holm's method over the pairs of setups for each quantity."""
    adjusted: dict[int, float] = {}
    for name in {_subject(row) for row in rows}:
        family = [n for n, row in enumerate(rows) if _subject(row) == name and row.facts.get("p") is not None]
        if family:
            values = holm(np.array([rows[n].facts["p"] for n in family]))
            adjusted |= dict(zip(family, values.tolist(), strict=True))
    with_p: list[Measure] = []
    for number, row in enumerate(rows):
        with_p.append(replace(row, facts={key: value for key, value in row.facts.items() if key != "p"}))
        if number in adjusted:
            facts = {"pairs": sum(_subject(other) == _subject(row) for other in rows)}
            note = f"Holm over {facts['pairs']} pairs of setups"
            with_p.append(Measure("p value", row.facts["p"], row.n, row.groups))
            with_p.append(
                Measure("adjusted p value", adjusted[number], row.n, row.groups, note=note, facts=facts)
            )
    return with_p


def _subject(row: Measure) -> str:
    return row.groups.get("kind") or row.groups["of"]


def _seeds(number: int) -> str:
    return "one seed" if number == 1 else f"{number} seeds"


def _by_seed(results: Sequence[Result]) -> dict[int, Result]:
    by_seed = {int(result.job["settings"]["seed"]): result for result in results}
    return dict(sorted(by_seed.items()))

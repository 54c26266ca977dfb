"""Across the jobs of a plan: seeds together, and then K, controls, words, templates, revealed items side by side.

Test texts are the same for every seed: both are drawn again together (`docs/method/beyond.md` 7.3), and
seeds can be asked whether they agree, text by text, where the training data do not say what is right (7.14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...records import Case, Finding, Measure, Measures, Outcome, Result
from ...stats.intervals import mean_t_interval, percentile_interval
from ...stats.reliability import pairwise_agreement
from ..base import Compared
from .cells import CELLS, KINDS, cells_of
from .grid import COLUMNS, GAP, KIND_WEIGHTS, Grid, components, drawn, grid_of, replicates, right_of, weighted
from .score import measures_of
from .settings import Settings
from .verdict import verdict

SETUP = ("model", "data", "K", "control", "template", "names", "unseen", "reveal")
"""What makes jobs differ beside the seed, as groups of measures."""
ALWAYS = ("K", "control")
"""What every measure says about its jobs; the rest only where jobs differ in it."""
ENOUGH_SEEDS = 5
"""Fewer support no claim about the recipe (`docs/method/beyond.md` 7.3)."""

CURVES: tuple[tuple[str, Mapping[str, str]], ...] = (
    *(("accuracy", {"kind": kind}) for kind in KINDS),
    ("gap", {}),
    ("validation accuracy", {"kind": "ID"}),
)
"""What is followed over epochs: name and groups."""

Setup = Mapping[str, str]
"""What makes jobs differ beside the seed."""


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Every setup over its seeds, its curve over epochs, and models against each other."""
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
    rows += between_models(settings, list(zip(setups, by_setup.values(), strict=True)), differ)
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
    few = f"; fewer than {ENOUGH_SEEDS} support no claim about the recipe" * (len(seeds) < ENOUGH_SEEDS)
    return f"for this training recipe: {len(seeds)} seeds ({', '.join(map(str, seeds))}){few}"


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
    for name, weights in (*KIND_WEIGHTS.items(), ("gap", GAP)):
        variances = components(grid, weights)
        share = float("nan") if variances is None else variances.shares_of_mean[0]
        subject = {**groups, "of": "gap"} if name == "gap" else {**groups, "kind": str(name)}
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
    lowest = -1.0 if rows[0].name == "gap" else 0.0
    between, how = rows[0].interval, rows[0].interval_method
    if len(rows) > 1:
        between, how = (
            (max(lowest, middle - reach), min(1.0, middle + reach)),
            "seeds t and texts bootstrap, added",
        )
    return Measure(rows[0].name, middle, rows[0].n, groups, between, how, note=_seeds(len(rows)),
                   facts={"number of seeds": len(rows)})  # fmt: skip


# Models


def between_models(
    settings: Settings, setups: Sequence[tuple[Setup, Sequence[Result]]], differ: Sequence[str]
) -> list[Measure]:
    """Each model less each one before it, all else equal, on the same texts and the same seeds."""
    rows: list[Measure] = []
    for (before, first), (after, second) in combinations(setups, 2):
        if before["model"] != after["model"] and {**before, "model": ""} == {**after, "model": ""}:
            groups = {name: value for name, value in before.items() if name in (*ALWAYS, *differ)}
            groups |= {"model": after["model"], "against": before["model"]}
            rows += _difference(settings, second, first, groups)
    return rows


def _difference(
    settings: Settings, results: Sequence[Result], against: Sequence[Result], groups: Setup
) -> list[Measure]:
    seeds = _by_seed(results).keys() & _by_seed(against).keys()
    if not seeds:
        return []
    pairs = [[_by_seed(side)[seed] for seed in sorted(seeds)] for side in (results, against)]
    ids = [{case.id for result in side for case, _ in _test(result)} for side in pairs]
    common = ids[0] & ids[1]
    cases = [case for case, _ in _test(pairs[0][0]) if case.id in common]
    if not cases:
        return []
    grids = [grid_of(cases, [right_of(result.outcomes) for result in side]) for side in pairs]
    values = np.concatenate([grid.values for grid in grids], axis=1)
    draws = replicates(values, grids[0], settings.resamples, np.random.default_rng(settings.seed))
    rows = []
    for name, weights in (*((f"{kind}", KIND_WEIGHTS[kind]) for kind in KINDS), ("gap", GAP)):
        ours, theirs = (drawn(draws, weights, start) for start in (0, len(COLUMNS)))
        value = weighted(grids[0].rates(), weights) - weighted(grids[1].rates(), weights)
        low, high = percentile_interval(ours - theirs)
        unknown = np.isnan(value) or np.isnan(low)
        rows.append(
            Measure(
                "difference", None if unknown else float(value), len(cases),
                {**groups, **({"of": "gap"} if name == "gap" else {"kind": name})},
                None if unknown else (low, high), "" if unknown else "seeds and texts bootstrap, paired",
                note=_seeds(len(seeds)),
                facts={"of": "gap" if name == "gap" else "accuracy", "number of seeds": len(seeds)},
            )
        )  # fmt: skip
    return rows


def _seeds(number: int) -> str:
    return "one seed" if number == 1 else f"{number} seeds"


def _by_seed(results: Sequence[Result]) -> dict[Any, Result]:
    return {result.job["settings"]["seed"]: result for result in results}

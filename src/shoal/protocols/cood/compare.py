"""Measures over the seeds of each setup, and differences between setups: K, controls, words, templates, reveal.

Test texts are the same for every seed and setup. Claims about a recipe are for new texts and new seeds
(`docs/method/beyond.md` 7.3), and setups are compared text by text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ...core.records import Finding, Measure, Measures, Result
from ...stats.intervals import mean_t_interval
from ...stats.multiplicity import holm
from ..base import Compared
from . import wording
from .grid import QUANTITIES, difference, grid_of
from .score import Scores, cases_of, scores_of
from .settings import Settings

SETUP = ("model", "data", "K", "control", "template", "names", "unseen", "reveal")
"""Groups that describe a setup: everything that makes jobs differ except the seed."""
ALWAYS = ("K", "control")
"""Groups of every measure; the others only where setups differ."""
COMPARED = ("model", "K", "control", "template", "names", "reveal")
"""Groups by which setups are compared; other data or another unseen word mean other texts or cells."""
CURVES: tuple[tuple[str, Mapping[str, str]], ...] = (
    *((of.name, of.groups) for of in QUANTITIES),
    ("validation accuracy", {"kind": "ID"}),
)
"""Quantities with a curve over epochs: name and groups."""

Setup = Mapping[str, str]
"""Groups of a setup."""
Tested = tuple[Measure, float | None]
"""A difference with its p value."""


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of every setup over its seeds, its curves over epochs, and differences between setups."""
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
        shots = of_setup[0].job["settings"].get("shots", ())
        findings.append(wording.verdict(Measures(over.measures), groups, over.over_half, shots))
        rows += [*over.measures, *over_epochs(of_setup, groups)]
    rows += between_setups(list(zip(setups, by_setup.values(), strict=True)), differ)
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
        "reveal": str(settings["reveal"][0]),
    }


# Seeds


def over_seeds(settings: Settings, results: Sequence[Result], groups: Setup) -> Scores:
    """Return the scores of a setup for new texts and new seeds; missing answers are NaN."""
    cases = {case.id: case for result in results for case in cases_of(result.cases, "test")}
    grid = grid_of(list(cases.values()), [result.outcomes for result in results])
    seeds = sorted(int(result.job["settings"]["seed"]) for result in results)
    return scores_of(grid, settings.seed, groups, wording.seed_claim(seeds, settings.shots))


# Epochs


def over_epochs(results: Sequence[Result], groups: Setup) -> list[Measure]:
    """Return the means over seeds after each epoch (the paper's Figure 2)."""
    measures = Measures(row for result in results for row in result.measures if "epoch" in row.groups)
    rows = []
    for epoch in dict.fromkeys(row.groups["epoch"] for row in measures):
        for name, wanted in CURVES:
            matching = measures.where(name, epoch=epoch, **wanted)
            by_seed = [row for row in matching if row.value is not None and "cell" not in row.groups]
            if by_seed:
                rows.append(_mean(by_seed, {**groups, **wanted, "epoch": epoch}))
    return rows


def _mean(rows: Sequence[Measure], groups: Setup) -> Measure:
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


# Setups against each other


def between_setups(setups: Sequence[tuple[Setup, Sequence[Result]]], differ: Sequence[str]) -> list[Measure]:
    """Return each setup minus each previous one that differs from it in one group, on the same texts."""
    rows: list[Tested] = []
    for (before, old), (after, new) in combinations(setups, 2):
        changed = [name for name in SETUP if before[name] != after[name]]
        if len(changed) == 1 and changed[0] in COMPARED:
            groups = {name: value for name, value in after.items() if name in (*ALWAYS, *differ)}
            groups |= {"differs in": changed[0], "against": before[changed[0]]}
            rows += _differences(new, old, groups)
    return _with_p_values(rows)


def _differences(new: Sequence[Result], old: Sequence[Result], groups: Setup) -> list[Tested]:
    by_seed = [
        dict(sorted((int(result.job["settings"]["seed"]), result) for result in side)) for side in (new, old)
    ]
    sides = [list(side.values()) for side in by_seed]
    common = set.intersection(*({case.id for case in run.cases} for side in sides for run in side))
    cases = [case for case in cases_of(sides[0][0].cases, "test") if case.id in common]
    if not cases:
        return []
    grids = [grid_of(cases, [run.outcomes for run in side]) for side in sides]
    paired, alone = by_seed[0].keys() == by_seed[1].keys(), len(sides[0]) == len(sides[1]) == 1
    method = "texts t" if alone else "seeds t, texts t" if paired else "seeds welch t, texts t"
    rows: list[Tested] = []
    for of in QUANTITIES:
        estimate = difference(grids[0], grids[1], of.weights, paired=paired)
        about = {**groups, **(of.groups or {"of": of.name})}
        if estimate is None:
            reason = wording.NO_COMMON_ANSWER
            rows.append((Measure("difference", None, 0, about, reason=reason, of=of.name), None))
            continue
        row = Measure("difference", estimate.value, estimate.n, about, of=of.name, note=wording.NO_INTERVAL)
        if estimate.interval is not None:
            row = replace(row, interval=estimate.interval, interval_method=method, note="")
        rows.append((row, estimate.p))
    return rows


def _with_p_values(rows: Sequence[Tested]) -> list[Measure]:
    """Return the differences with p values, adjusted by Holm over the pairs of setups for each quantity."""
    pairs = Counter(_subject(row) for row, _ in rows)
    adjusted: dict[int, float] = {}
    for name in pairs:
        family = {place: p for place, (row, p) in enumerate(rows) if _subject(row) == name and p is not None}
        adjusted |= dict(zip(family, holm(list(family.values())).tolist(), strict=True))
    measures: list[Measure] = []
    for place, (row, p) in enumerate(rows):
        measures.append(row)
        if p is not None:
            note = f"Holm over {pairs[_subject(row)]} pairs of setups"
            measures.append(Measure("p value", p, row.n, row.groups))
            measures.append(Measure("adjusted p value", adjusted[place], row.n, row.groups, note=note))
    return measures


def _subject(row: Measure) -> str:
    return row.groups.get("kind") or row.groups["of"]

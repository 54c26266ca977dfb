"""Compare checkpoints under diagnostics that ask which sentence is likelier: Table 1 and Figure 1 of the paper.

An item is a pair or a cluster. Its outcome is 1 if the stereotype is preferred (`docs/method/bias.md` 5.7).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Case, Measure
from ...stats import reliability
from ...stats.reliability import Coefficient, coefficient_interval, ratio_interval, runs_needed_interval
from . import wording
from .family import DECIDED, SCORE, Family, Floats, Groups, defined, over_checkpoints

LARGE_SD = 0.025
"""The paper prints larger SDs in bold."""
NEAR, FAR = 0.02, 0.05
"""Straddling: one checkpoint within 2 points of one half, another at least 5 points above it."""
ROUNDING = 1e-9
OTHER_SCORES = (DECIDED, "language modelling score", "icat")
AGAINST = "checkpoints against the majority"
"""The group of Figure 1."""
TARGET = 0.9
"""The reliability of the mean over checkpoints that `runs needed` asks for."""


def across(family: Family) -> list[Measure]:
    """Return Table 1, Figure 1 and coefficients of agreement."""
    measures: list[Measure] = []
    cases, outcomes, values = _matrices(family)
    for slice_, n in family.final_slices(SCORE):
        scores = family.values(SCORE, slice_)
        groups = {**family.groups, **slice_}
        known = [score for score in scores if score is not None]
        measures += _each_checkpoint(family, slice_, groups)
        decided = [score for score in family.values(DECIDED, slice_) if score is not None]
        marks = flags(known, decided) if n >= FEW_CASES else ()
        measures += over_checkpoints(SCORE, scores, n, groups, flags=marks)
        if len(known) > 1:
            measures += _overdispersion(outcomes[_members(cases, slice_)], known, n, groups)
    for name in OTHER_SCORES:
        for slice_, n in family.final_slices(name):
            measures += over_checkpoints(name, family.values(name, slice_), n, {**family.groups, **slice_})
    if len(family.results) > 1 and len(cases):
        whole = {**family.groups, "category": "all"}
        measures += [*_disagreement(outcomes, whole), *_agreement(cases, outcomes, values, whole)]
    return measures


def flags(scores: Sequence[float], decided: Sequence[float] = ()) -> list[str]:
    """Return the marks of a row of Table 1. Decided items, if given, are compared with one half.

    >>> flags([0.51, 0.56, 0.58]), flags([0.6, 0.61]), flags([0.45, 0.46], decided=[0.5, 0.55])
    (['SD above 2.5 points', 'straddles one half'], [], ['straddles one half'])
    """
    if len(scores) < 2:
        return []
    large = float(np.std(scores, ddof=1)) > LARGE_SD + ROUNDING
    sides = decided or scores
    straddles = abs(min(sides) - 0.5) <= NEAR + ROUNDING and max(sides) >= 0.5 + FAR - ROUNDING
    return [wording.LARGE_SD] * large + [wording.STRADDLES] * straddles


def _matrices(family: Family) -> tuple[list[Case], Floats, Floats]:
    """Return the cases that every checkpoint has, and cases × checkpoints of outcomes and of score differences."""
    results = list(family.results.values())
    shared = set.intersection(*({case.id for case in result.cases} for result in results))
    cases = [case for case in results[0].cases if case.id in shared]
    shape = (len(cases), len(results))
    outcomes, values = np.full(shape, np.nan), np.full(shape, np.nan)
    for column, result in enumerate(results):
        by_id = {outcome.case_id: outcome for outcome in result.outcomes}
        for row, case in enumerate(cases):
            outcome = by_id.get(case.id)
            if outcome is not None and outcome.passed is not None:
                outcomes[row, column] = outcome.passed
            if outcome is not None and outcome.value is not None:
                values[row, column] = outcome.value
    return cases, outcomes, values


def _members(cases: Sequence[Case], slice_: Groups) -> list[int]:
    return [
        position
        for position, case in enumerate(cases)
        if all(value in ("all", case.groups.get(key)) for key, value in slice_.items())
    ]


def _each_checkpoint(family: Family, slice_: Groups, groups: Groups) -> Iterator[Measure]:
    for name, row in zip(family.names, family.rows(SCORE, slice_), strict=True):
        if row is not None:
            yield replace(row, groups={**groups, "checkpoint": name})


def _overdispersion(outcomes: Floats, scores: Sequence[float], n: int, groups: Groups) -> Iterator[Measure]:
    """Yield the SD over checkpoints in units of the SD that independent flips of items would give."""
    if not len(outcomes) or not (~np.isnan(outcomes)).any(axis=0).all():
        return
    about = {**groups, "of": SCORE}
    of_items = reliability.run_spread(outcomes)
    floor = of_items.floor_sd
    if not floor > 0:
        yield Measure("over-dispersion ratio", None, n, about, reason=wording.NO_FLIPS)
        return
    # Neutral items count in a score but not in the outcomes, so the interval is scaled to the ratio of the scores.
    ratio = float(np.std(scores, ddof=1)) / floor
    scale = ratio / of_items.ratio if of_items.ratio > 0 else math.nan
    low, high = ratio_interval(outcomes)
    interval = defined((low * scale, high * scale))
    method = "chi-square over checkpoints, jackknife over items" if interval else ""
    yield Measure(
        "over-dispersion ratio", ratio, n, about, interval, method, note=wording.floor_note(floor),
        facts={"floor": floor},
    )  # fmt: skip


def _disagreement(outcomes: Floats, groups: Groups) -> Iterator[Measure]:
    """Yield Figure 1: the share of items by how many checkpoints go against the majority."""
    items, runs = outcomes.shape
    counts, undecided = reliability.disagreement_histogram(outcomes)
    chances = reliability.coin_flip_histogram(runs).tolist()
    for against, (count, chance) in enumerate(zip(counts.tolist(), chances, strict=True)):
        note = wording.by_coin_flips(chance)
        yield Measure("share of items", count / items, items, {**groups, AGAINST: str(against)}, note=note)
    if undecided:
        about = {**groups, AGAINST: "undecided"}
        yield Measure("share of items", undecided / items, items, about, note=wording.TIE)


def _agreement(cases: Sequence[Case], outcomes: Floats, values: Floats, groups: Groups) -> Iterator[Measure]:
    """Yield coefficients that say whether another checkpoint would give an item the same outcome."""
    items, ties = len(outcomes), int(np.isnan(outcomes).sum())
    decided = outcomes[~np.isnan(outcomes).any(axis=1)]
    note = wording.decided_items(len(decided)) if len(decided) < items else ""
    yield replace(agreement("Fleiss kappa", decided, _kappa, groups), n=items, na=ties, note=note)
    # Scores of different tasks have different units: one ICC over both would only say that the tasks differ.
    for task in dict.fromkeys(case.groups.get("task", "") for case in cases):
        members = [position for position, case in enumerate(cases) if case.groups.get("task", "") == task]
        about = {**groups, "task": task} if task else groups
        yield from _reliability(outcomes[members], values[members], about)


def _kappa(outcomes: Floats) -> float:
    return reliability.fleiss_kappa(reliability.category_counts(outcomes))


def _reliability(outcomes: Floats, values: Floats, groups: Groups) -> Iterator[Measure]:
    """Yield the ICC of score differences (of outcomes if there are none), and runs needed."""
    complete = values[~np.isnan(values).any(axis=1)]
    quantity = "score differences" if len(complete) > 1 else "outcomes"
    table = complete if len(complete) > 1 else outcomes[~np.isnan(outcomes).any(axis=1)]
    if len(table) < 2:
        return
    single = replace(agreement("ICC(2,1)", table, icc_agreement, groups), note=f"of {quantity}")
    yield single
    yield _runs_needed(single)


def icc_agreement(values: Floats) -> float:
    """Return ICC(2,1) of items × checkpoints."""
    return reliability.icc(values).agreement


def agreement(
    name: str, matrix: Floats | Sequence[Sequence[float]], coefficient: Coefficient, groups: Groups
) -> Measure:
    """Return a coefficient of items × checkpoints; its interval takes at least three checkpoints."""
    values = np.asarray(matrix, dtype=np.float64)
    value = coefficient(values) if len(values) else math.nan
    if math.isnan(value):
        return Measure(name, None, len(values), groups)
    interval = defined(coefficient_interval(values, coefficient))
    method = "jackknife over items and checkpoints" if interval else ""
    return Measure(name, value, len(values), groups, interval, method)


def _runs_needed(reliability_of_one: Measure) -> Measure:
    """Return how many checkpoints make their mean as reliable as the target."""
    value, ends = reliability_of_one.value, reliability_of_one.interval
    needed = reliability.runs_needed(value, TARGET) if value is not None and 0 < value < 1 else None
    n, groups = reliability_of_one.n, reliability_of_one.groups
    if needed is None:
        return Measure("runs needed", None, n, groups, reason=wording.NO_RELIABILITY)
    fewest, most = runs_needed_interval(ends, TARGET) if ends else (None, None)
    interval = (float(fewest), float(most)) if fewest is not None and most is not None else None
    method = reliability_of_one.interval_method if interval else ""
    note = wording.runs_needed(TARGET, fewest if most is None else None)
    return Measure("runs needed", float(needed), n, groups, interval, method, note=note)

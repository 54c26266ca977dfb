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
from ...stats.reliability import Coefficient
from . import wording
from .family import (
    DECIDED,
    SCORE,
    Family,
    Floats,
    Groups,
    case_table,
    defined,
    is_in,
    over_checkpoints,
    shared_cases,
)

LARGE_SD = 0.025
"""The paper prints larger SDs in bold."""
NEAR, FAR = 0.02, 0.05
"""Straddling: one checkpoint within 2 points of one half, another at least 5 points above it."""
ROUNDING = 1e-9
OTHER_SCORES = (DECIDED, "language modelling score", "icat")
AGAINST = "checkpoints against the majority"
"""The group of Figure 1."""


def across(family: Family) -> list[Measure]:
    """Return Table 1, Figure 1 and coefficients of agreement."""
    measures: list[Measure] = []
    results = list(family.results.values())
    cases = shared_cases(results)
    passed = [[outcome.passed for outcome in result.outcomes] for result in results]
    differences = [[outcome.value for outcome in result.outcomes] for result in results]
    outcomes, values = (case_table(results, cases, columns) for columns in (passed, differences))
    for slice_, n in family.final_slices(SCORE):
        scores = family.values(SCORE, slice_)
        groups = {**family.groups, **slice_}
        known = list(family.defined_values(SCORE, slice_).values())
        for name, row in zip(family.results, family.rows(SCORE, slice_), strict=True):
            measures += [replace(row, groups={**groups, "checkpoint": name})] if row else []
        decided = list(family.defined_values(DECIDED, slice_).values())
        marks = flags(known, decided) if n >= FEW_CASES else ()
        measures += over_checkpoints(SCORE, scores, n, groups, flags=marks)
        if len(known) > 1:
            members = [place for place, case in enumerate(cases) if is_in(case, slice_)]
            measures += _overdispersion(outcomes[members], known, n, groups)
    for name in OTHER_SCORES:
        for slice_, n in family.final_slices(name):
            measures += over_checkpoints(name, family.values(name, slice_), n, {**family.groups, **slice_})
    if len(results) > 1 and len(cases):
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


def _overdispersion(outcomes: Floats, scores: Sequence[float], n: int, groups: Groups) -> Iterator[Measure]:
    """Yield the SD over checkpoints in units of the SD that independent flips of items would give."""
    if not len(outcomes) or not (~np.isnan(outcomes)).any(axis=0).all():
        return
    about = {**groups, "of": SCORE}
    floor = reliability.item_floor(outcomes)
    if not floor > 0:
        yield Measure("over-dispersion ratio", None, n, about, reason=wording.NO_FLIPS)
        return
    ratio = float(np.std(scores, ddof=1)) / floor
    interval = defined(reliability.ratio_interval(ratio, outcomes))
    method = "chi-square over checkpoints, jackknife over items" if interval else ""
    yield Measure("over-dispersion ratio", ratio, n, about, interval, method, facts={"floor": floor})


def _disagreement(outcomes: Floats, groups: Groups) -> Iterator[Measure]:
    """Yield Figure 1: the share of items by how many checkpoints go against the majority."""
    items, runs = outcomes.shape
    counts, undecided = reliability.disagreement_histogram(outcomes)
    chances = reliability.coin_flip_histogram(runs).tolist()
    rows = [
        (str(against), count, wording.by_coin_flips(chance))
        for against, (count, chance) in enumerate(zip(counts.tolist(), chances, strict=True))
    ]
    rows += [("undecided", undecided, wording.TIE)] if undecided else []
    for against, count, note in rows:
        yield Measure("share of items", count / items, items, {**groups, AGAINST: against}, note=note)


def _agreement(cases: Sequence[Case], outcomes: Floats, values: Floats, groups: Groups) -> Iterator[Measure]:
    """Yield coefficients that say whether another checkpoint would give an item the same outcome."""
    items, ties = len(outcomes), int(np.isnan(outcomes).sum())
    decided = _complete(outcomes)
    note = wording.decided_items(len(decided)) if len(decided) < items else ""
    kappa = agreement("Fleiss kappa", decided, reliability.fleiss_kappa, groups)
    yield replace(kappa, n=items, na=ties, note=note)
    # Scores of different tasks have different units: one ICC over both would only say that the tasks differ.
    for task in dict.fromkeys(case.groups.get("task", "") for case in cases):
        members = [place for place, case in enumerate(cases) if case.groups.get("task", "") == task]
        differences = _complete(values[members])
        quantity = "score differences" if len(differences) > 1 else "outcomes"
        table = differences if len(differences) > 1 else _complete(outcomes[members])
        if len(table) > 1:
            about = {**groups, "task": task} if task else groups
            icc = agreement("ICC(2,1)", table, reliability.icc_agreement, about)
            yield replace(icc, note=f"of {quantity}")


def _complete(table: Floats) -> Floats:
    return np.asarray(table[~np.isnan(table).any(axis=1)])


def agreement(
    name: str, matrix: Floats | Sequence[Sequence[float]], coefficient: Coefficient, groups: Groups
) -> Measure:
    """Return a coefficient of items × checkpoints; its interval takes at least three checkpoints."""
    values = np.asarray(matrix, dtype=np.float64)
    value = coefficient(values) if len(values) else math.nan
    if math.isnan(value):
        return Measure(name, None, len(values), groups)
    interval = defined(reliability.coefficient_interval(values, coefficient))
    method = "jackknife over items and checkpoints" if interval else ""
    return Measure(name, value, len(values), groups, interval, method)

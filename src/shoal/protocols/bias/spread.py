"""Compare checkpoints under diagnostics that ask which sentence is likelier: Table 1 and Figure 1 of the paper.

An item is a pair or a cluster. Its outcome is 1 if the stereotype is preferred (`docs/method/bias.md` 5.7).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Measure
from ...stats import reliability
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
    """Return Table 1 and Figure 1."""
    measures: list[Measure] = []
    results = list(family.results.values())
    cases = shared_cases(results)
    passed = [[outcome.passed for outcome in result.outcomes] for result in results]
    outcomes = case_table(results, cases, passed)
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
        measures += _disagreement(outcomes, whole)
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

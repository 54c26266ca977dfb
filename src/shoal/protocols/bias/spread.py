"""Likelihood diagnostics over checkpoints: Table 1 and Figure 1 of the paper, and coefficients of agreement.

An item is a pair or a cluster, its outcome 1 where the stereotype is preferred (`docs/method/bias.md` 5.7).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Case, Measure
from ...stats import reliability as r
from ...stats.agreement import ratio_interval
from .agreement import agreement, checkpoints_needed
from .family import Family, Floats, measure, several, sound, spread_measures
from .graded import graded
from .notes import Facts

LARGE_SD = 0.025
"""The paper's informal bar."""
NEAR, FAR = 0.02, 0.05
"""Straddling: one checkpoint within 2 points of one half, another 5 points or more above it."""
DECIDED = "stereotype score of decided pairs"
"""The share among the items that prefer a side, where a diagnostic counts neutral ones for neither."""
WIDE, STRADDLES = "SD above 2.5 points", "straddles one half"
OTHERS = (DECIDED, "language modelling score", "icat")
"""Scores whose spread stands beside that of the stereotype score, where a diagnostic has them."""
SLACK = 1e-9
AGAINST, COINS = "checkpoints against the majority", "by coin tosses"
"""The group of the items of Figure 1, and the fact of how many there would be by chance."""


def spread(family: Family) -> list[Measure]:
    """Table 1, Figure 1 and agreement of one likelihood diagnostic."""
    measures: list[Measure] = []
    cases, outcomes, values = matrices(family)
    for slice_, n in family.final_slices("stereotype score"):
        scores = family.values("stereotype score", slice_)
        groups = {**family.groups, **slice_}
        known = [score for score in scores if score is not None]
        measures += _each(family, slice_, groups)
        marks = flags(known, _decided(family, slice_)) if n >= FEW_CASES else ()
        measures += spread_measures("stereotype score", scores, n, groups, marks)
        if len(known) > 1:
            measures += _floor(outcomes[_members(cases, slice_)], known, n, groups)
    for name in OTHERS:
        for slice_, n in family.final_slices(name):
            measures += spread_measures(name, family.values(name, slice_), n, {**family.groups, **slice_})
    if len(family.results) > 1 and len(cases):
        whole = {**family.groups, "category": "all"}
        measures += [*_disagreement(outcomes, whole), *_agreement(cases, outcomes, values, whole)]
        measures += graded(cases, values, family.groups)
        measures += _category_reliability(family, whole)
    return measures


def flags(scores: Sequence[float], decided: Sequence[float] = ()) -> list[str]:
    """What to look at twice in a row of Table 1; empty if nothing. Against one half the decided items are held.

    >>> flags([0.51, 0.56, 0.58]), flags([0.6, 0.61]), flags([0.45, 0.46], decided=[0.5, 0.55])
    (['SD above 2.5 points', 'straddles one half'], [], ['straddles one half'])
    """
    if len(scores) < 2:
        return []
    large = float(np.std(scores, ddof=1)) > LARGE_SD + SLACK
    sides = decided or scores
    straddles = abs(min(sides) - 0.5) <= NEAR + SLACK and max(sides) >= 0.5 + FAR - SLACK
    return [WIDE] * large + [STRADDLES] * straddles


def _decided(family: Family, slice_: dict[str, str]) -> list[float]:
    """The scores among decided items, where the diagnostic tells them."""
    return [score for score in family.values(DECIDED, slice_) if score is not None]


def matrices(family: Family) -> tuple[list[Case], Floats, Floats]:
    """The cases that every checkpoint was asked; outcomes and score differences, (cases, checkpoints), NaN if none."""
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


def _members(cases: Sequence[Case], slice_: dict[str, str]) -> list[int]:
    return [
        position
        for position, case in enumerate(cases)
        if all(value in ("all", case.groups.get(key)) for key, value in slice_.items())
    ]


def _each(family: Family, slice_: dict[str, str], groups: dict[str, str]) -> Iterator[Measure]:
    """Every checkpoint's own score."""
    for name, row in zip(family.names, family.rows("stereotype score", slice_), strict=True):
        if row is not None:
            yield replace(row, groups={**groups, "checkpoint": name})


def _floor(outcomes: Floats, scores: Sequence[float], n: int, groups: dict[str, str]) -> Iterator[Measure]:
    """How far scores would spread if items flipped on their own."""
    about = {**groups, "of": "stereotype score"}
    if not len(outcomes) or not (~np.isnan(outcomes)).any(axis=0).all():
        return
    of_items = r.run_spread(outcomes)
    floor = of_items.floor_sd
    yield measure("floor sd", floor, n, about, "if items flipped independently of each other")
    if not floor > 0:
        yield Measure("over-dispersion ratio", None, n, about, note="no item ever flips")
        return
    # Neutral items count in a score and not in the outcomes: the interval is moved to the ratio of the scores.
    ratio = float(np.std(scores, ddof=1)) / floor
    moved = ratio / of_items.ratio if of_items.ratio > 0 else math.nan
    low, high = ratio_interval(outcomes)
    interval = sound((low * moved, high * moved))
    words = "near 1: items flip on their own; well above: checkpoints shift together"
    how = "chi-square over checkpoints, jackknife over items" if interval else ""
    yield Measure("over-dispersion ratio", ratio, n, about, interval, how, note=words)


def _disagreement(outcomes: Floats, groups: dict[str, str]) -> Iterator[Measure]:
    """Figure 1: how many checkpoints go against the majority, item by item."""
    items, runs = outcomes.shape
    counts, undecided = r.disagreement_histogram(outcomes)
    chances = r.coin_flip_histogram(runs).tolist()
    for against, (count, chance) in enumerate(zip(counts.tolist(), chances, strict=True)):
        about = {**groups, AGAINST: str(against)}
        facts = {COINS: chance}
        yield Measure("share of items", count / items, items, about, note=by_coins(facts), facts=facts)
    if undecided:
        about = {**groups, AGAINST: "undecided"}
        note = "a tie in at least one checkpoint"
        yield Measure("share of items", undecided / items, items, about, note=note)


def by_coins(facts: Facts) -> str:
    """What chance alone would give."""
    return f"{100 * facts[COINS]:.1f} % if every outcome were a coin toss"


def _agreement(
    cases: Sequence[Case], outcomes: Floats, values: Floats, groups: dict[str, str]
) -> Iterator[Measure]:
    """Would another checkpoint say the same of the same item?"""
    items = len(outcomes)
    ties = int(np.isnan(outcomes).sum())
    yield agreement("pairwise agreement", outcomes, r.pairwise_agreement, groups, na=ties)
    decided = outcomes[~np.isnan(outcomes).any(axis=1)]
    partly = f"on the {len(decided):,} items that every checkpoint decided" if len(decided) < items else ""
    yield agreement("Fleiss kappa", decided, _kappa, groups, partly, n=items, na=ties)
    yield agreement("Krippendorff alpha", outcomes, r.krippendorff_alpha, groups, na=ties)
    # Scores of different tasks have different units: a table of both would only say that the tasks differ.
    tasks = list(dict.fromkeys(case.groups.get("task", "") for case in cases))
    for task in tasks:
        members = [position for position, case in enumerate(cases) if case.groups.get("task", "") == task]
        about = {**groups, "task": task} if task else groups
        yield from _reliability(outcomes[members], values[members], about)


def _kappa(outcomes: Floats) -> float:
    return r.fleiss_kappa(r.category_counts(outcomes))


def _reliability(outcomes: Floats, values: Floats, groups: dict[str, str]) -> Iterator[Measure]:
    """Intraclass correlations of score differences, or of outcomes where there are none; checkpoints needed."""
    graded = values[~np.isnan(values).any(axis=1)]
    what = "differences of scores" if len(graded) > 1 else "outcomes"
    table = graded if len(graded) > 1 else outcomes[~np.isnan(outcomes).any(axis=1)]
    if len(table) < 2:
        return
    words = f"of {what}: would another checkpoint give this item the same value"
    facts = {"of values": what}
    single = agreement("ICC(2,1)", table, lambda part: r.icc(part).agreement, groups, words, facts=facts)
    yield single
    of_mean = f"the same for the mean of {several(table.shape[1])}"
    yield measure("ICC(2,k)", r.icc(table).mean_agreement, len(table), groups, of_mean)
    yield checkpoints_needed(single)
    shares = r.variance_components(table).shares
    for source, share in zip(("seeds", "items", "residual"), shares, strict=True):
        yield measure("variance share", share, len(table), {**groups, "source": source}, f"of {what}")


def _category_reliability(family: Family, groups: dict[str, str]) -> Iterator[Measure]:
    """Whether checkpoints order the categories alike."""
    rows = []
    for slice_, _ in family.final_slices("stereotype score"):
        if slice_["category"] != "all" and slice_.get("task", "all") == "all":
            rows.append(family.values("stereotype score", slice_))
    table = [[float(value) for value in row if value is not None] for row in rows]
    if len(table) > 1 and all(len(row) == len(family.results) for row in table):
        words = "do checkpoints order the categories alike"
        yield measure("category reliability", r.icc(table).mean_consistency, len(table), groups, words)

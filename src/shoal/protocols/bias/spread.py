"""Likelihood diagnostics over checkpoints: Table 1 and Figure 1 of the paper, and coefficients of agreement.

An item is a pair or a cluster, its outcome 1 where the stereotype is preferred (`docs/method/bias.md` 5.7).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ...records import Case, Measure
from ...stats import reliability as r
from .family import Family, Floats, measure, several, spread_measures

LARGE_SD = 0.025
"""The paper's informal bar."""
NEAR, FAR = 0.02, 0.05
"""Straddling: one checkpoint within 2 points of one half, another 5 points or more above it."""
SLACK = 1e-9
TARGET = 0.9
"""The reliability of the mean over checkpoints that `checkpoints needed` asks for."""


def spread(family: Family) -> list[Measure]:
    """Table 1, Figure 1 and agreement of one likelihood diagnostic."""
    found: list[Measure] = []
    cases, outcomes, values = matrices(family)
    for slice_, n in family.slices("stereotype score"):
        if "epoch" in slice_:
            continue
        scores = family.values("stereotype score", slice_)
        groups = {**family.groups, **slice_}
        known = [score for score in scores if score is not None]
        found += _each(family, slice_, groups)
        found += spread_measures("stereotype score", scores, n, groups, flags(known))
        if len(known) > 1:
            found += _floor(outcomes[_members(cases, slice_)], known, n, groups)
    for name in ("language modelling score", "icat"):
        for slice_, n in family.slices(name):
            if "epoch" not in slice_:
                found += spread_measures(name, family.values(name, slice_), n, {**family.groups, **slice_})
    if len(family.results) > 1 and len(cases):
        whole = {**family.groups, "category": "all"}
        found += [*_disagreement(outcomes, whole), *_agreement(outcomes, values, whole)]
        found += _category_reliability(family, whole)
    return found


def flags(scores: Sequence[float]) -> str:
    """What to look at twice in a row of Table 1; empty if nothing.

    >>> flags([0.51, 0.56, 0.58]), flags([0.6, 0.61])
    ('SD above 2.5 points, straddles one half', '')
    """
    if len(scores) < 2:
        return ""
    large = float(np.std(scores, ddof=1)) > LARGE_SD + SLACK
    straddles = abs(min(scores) - 0.5) <= NEAR + SLACK and max(scores) >= 0.5 + FAR - SLACK
    words = ["SD above 2.5 points"] * large + ["straddles one half"] * straddles
    return ", ".join(words)


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
            found = by_id.get(case.id)
            if found is not None and found.passed is not None:
                outcomes[row, column] = found.passed
            if found is not None and found.value is not None:
                values[row, column] = found.value
    return cases, outcomes, values


def _members(cases: Sequence[Case], slice_: dict[str, str]) -> list[int]:
    return [
        at
        for at, case in enumerate(cases)
        if all(value in ("all", case.groups.get(key)) for key, value in slice_.items())
    ]


def _each(family: Family, slice_: dict[str, str], groups: dict[str, str]) -> Iterator[Measure]:
    """Every checkpoint's own score."""
    for name, result in family.results.items():
        for row in result.measures.where("stereotype score"):
            own = {key: value for key, value in row.groups.items() if key != "diagnostic"}
            if own == slice_:
                yield Measure(
                    row.name, row.value, row.n, {**groups, "checkpoint": name}, row.interval, row.interval_method,
                    row.na, row.errors, row.note,
                )  # fmt: skip


def _floor(outcomes: Floats, scores: Sequence[float], n: int, groups: dict[str, str]) -> Iterator[Measure]:
    """How far scores would spread if items flipped on their own."""
    own = {**groups, "of": "stereotype score"}
    if not len(outcomes) or not (~np.isnan(outcomes)).any(axis=0).all():
        return
    floor = r.run_spread(outcomes).floor_sd
    sd = float(np.std(scores, ddof=1))
    yield measure("floor sd", floor, n, own, "if items flipped independently of each other")
    ratio = sd / floor if floor > 0 else float("nan")
    words = "near 1: items flip on their own; well above: checkpoints shift together"
    yield measure("over-dispersion ratio", ratio, n, own, words if floor > 0 else "no item ever flips")


def _disagreement(outcomes: Floats, groups: dict[str, str]) -> Iterator[Measure]:
    """Figure 1: how many checkpoints go against the majority, item by item."""
    items, runs = outcomes.shape
    counts, undecided = r.disagreement_histogram(outcomes)
    chance = r.coin_flip_histogram(runs)
    for against, count in enumerate(counts.tolist()):
        own = {**groups, "checkpoints against the majority": str(against)}
        note = f"{chance[against]:.1%} if every outcome were a coin toss"
        yield Measure("share of items", count / items, items, own, note=note)
    if undecided:
        own = {**groups, "checkpoints against the majority": "undecided"}
        yield Measure(
            "share of items", undecided / items, items, own, note="a tie in at least one checkpoint"
        )


def _agreement(outcomes: Floats, values: Floats, groups: dict[str, str]) -> Iterator[Measure]:
    """Would another checkpoint say the same of the same item?"""
    items, runs = outcomes.shape
    ties = int(np.isnan(outcomes).sum())
    yield measure("pairwise agreement", r.pairwise_agreement(outcomes), items, groups, na=ties)
    decided = outcomes[~np.isnan(outcomes).any(axis=1)]
    kappa = r.fleiss_kappa(r.category_counts(decided)) if len(decided) else float("nan")
    partly = f"on the {len(decided):,} items that every checkpoint decided" if len(decided) < items else ""
    yield measure("Fleiss kappa", kappa, items, groups, partly, ties)
    yield measure("Krippendorff alpha", r.krippendorff_alpha(outcomes), items, groups, na=ties)
    graded = values[~np.isnan(values).any(axis=1)]
    what = "differences of scores" if len(graded) > 1 else "outcomes"
    table = graded if len(graded) > 1 else decided
    if len(table) < 2:
        return
    found = r.icc(table)
    words = f"of {what}: would another checkpoint give this item the same value"
    yield measure("ICC(2,1)", found.agreement, len(table), groups, words)
    yield measure(
        "ICC(2,k)", found.mean_agreement, len(table), groups, f"the same for the mean of {several(runs)}"
    )
    needed = r.runs_needed(found.agreement, TARGET) if 0 < found.agreement < 1 else None
    yield measure(
        "checkpoints needed",
        float("nan") if needed is None else needed,
        len(table),
        groups,
        f"for a reliability of {TARGET:g}"
        if needed
        else "one checkpoint tells nothing of the next, or everything",
    )
    for source, share in zip(
        ("seeds", "items", "residual"), r.variance_components(table).shares, strict=True
    ):
        yield measure("variance share", share, len(table), {**groups, "source": source}, f"of {what}")


def _category_reliability(family: Family, groups: dict[str, str]) -> Iterator[Measure]:
    """Whether checkpoints order the categories alike."""
    rows = []
    for slice_, _ in family.slices("stereotype score"):
        if slice_["category"] != "all" and slice_.get("task", "all") == "all" and "epoch" not in slice_:
            rows.append(family.values("stereotype score", slice_))
    table = [[float(value) for value in row if value is not None] for row in rows]
    if len(table) > 1 and all(len(row) == len(family.results) for row in table):
        found = r.icc(table).mean_consistency
        yield measure(
            "category reliability", found, len(table), groups, "do checkpoints order the categories alike"
        )

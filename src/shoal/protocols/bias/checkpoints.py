"""Compare the checkpoints, or prompts, of each recipe: stable scores, changing statements, and conclusions.

`across` is Table 1 and Figure 1 of the paper, for diagnostics that ask which sentence is likelier: an item is a pair or
a cluster, and its outcome is 1 if the stereotype is preferred (`docs/method/bias.md` 5.7).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ...core.measures import FEW_CASES, SHARE, shown
from ...core.records import Finding, Measure, Measures, Result
from ...stats import reliability
from ...stats.intervals import mean_t_interval, within
from ..base import Compared
from ..variation import changed_answers
from . import wording
from .build import module_of
from .family import (
    ACCURACY,
    BIAS,
    DECIDED,
    LEVEL,
    SCORE,
    Family,
    Floats,
    Groups,
    checkpoint_name,
    defined,
    families,
    is_downstream,
    is_in,
    over_checkpoints,
    recipe_name,
    slice_title,
)
from .settings import Settings
from .training import compare_tasks

OTHER_SCORES = (DECIDED, "language modelling score", "icat")
CURVES = (SCORE, BIAS, *OTHER_SCORES[1:], "effect size", "cluster accuracy", "chance accuracy")
"""Scores that are followed over training."""
LARGE_SD = 0.025
"""Our limit for a large SD: the paper marks some of its SDs and gives no rule."""
NEAR, FAR = 0.02, 0.05
"""Straddling: one checkpoint within 2 points of one half, another at least 5 points above it."""
ROUNDING = 1e-9
AGAINST = "checkpoints against the majority"
"""The group of Figure 1."""


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return every measure over checkpoints, and a finding for each family and each recipe."""
    every = families(results)
    measures: list[Measure] = []
    for family in every:
        measures += module_of(family.diagnostic).across(family)
        if group := family.variants:
            answers = {
                levels: list(map(tuple, result.columns["said"])) for levels, result in group.results.items()
            }
            measures += changed_answers(group, answers, family.groups)
    for family in every:
        for name in CURVES:
            for slice_, n in family.slices(name):
                if "step" in slice_:
                    groups = {**family.groups, **slice_}
                    measures += over_checkpoints(name, family.values(name, slice_), n, groups)
    for pair in combinations(every, 2):
        if pair[0].recipe == pair[1].recipe:
            is_same = pair[0].diagnostic == pair[1].diagnostic
            measures += between_representations(*pair) if is_same else between_diagnostics(*pair)
    measures += compare_tasks(results)
    recipes: dict[str, dict[str, None]] = {}
    for family in every:
        recipes.setdefault(family.recipe, {}).update(dict.fromkeys(family.results))
    for result in filter(is_downstream, results):
        recipes.setdefault(recipe_name(result), {})[checkpoint_name(result)] = None
    findings = []
    for family in every:
        if (text := _conclusion(family, family.measures(measures))) and len(family.results) > 1:
            findings.append(Finding("conclusion", text, weight=1.0, groups=family.groups))
    findings += [row for name, names in recipes.items() for row in _recipe(name, list(names), every)]
    return Compared(measures, findings)


# Two representations, two diagnostics of one concept


def between_representations(one: Family, other: Family) -> Iterator[Measure]:
    """Yield how often two representations of the same checkpoints agree on the sign of a test."""
    same: list[bool] = []
    for slice_, _ in one.final_slices("effect size"):
        first, second = (family.defined_values("effect size", slice_) for family in (one, other))
        same += [np.sign(first[name]) == np.sign(second[name]) for name in first if name in second]
    if same:
        groups = {**one.groups, "representation": f"{one.representation} and {other.representation}"}
        share = float(np.mean(same))
        yield Measure("agreement of representations", share, len(same), groups)


def between_diagnostics(one: Family, other: Family) -> Iterator[Measure]:
    """Yield the difference of the scores of each concept that both diagnostics have (3.1 of the paper)."""
    by_concept: list[dict[str, dict[str, float]]] = []
    for family in (one, other):
        slices = {slice_["category"]: slice_ for slice_, _ in whole_slices(family)}
        concepts = module_of(family.diagnostic).CONCEPTS
        by_concept.append({
            concept: family.defined_values(SCORE, slices[name])
            for concept, name in concepts.items()
            if name in slices
        })  # fmt: skip
    names = [one.diagnostic, other.diagnostic]
    for concept in by_concept[0]:
        first, second = (scores.get(concept, {}) for scores in by_concept)
        pairs = np.array([[score, second[name]] for name, score in first.items() if name in second])
        if not len(pairs):
            continue
        groups = {"recipe": one.recipe, "diagnostic": " and ".join(names), "category": concept}
        difference = pairs[:, 0] - pairs[:, 1]
        interval = defined(mean_t_interval(difference))
        note = ", ".join(
            f"{name} {shown(side.mean(), SHARE)}" for name, side in zip(names, pairs.T, strict=True)
        )
        yield Measure(
            "difference between diagnostics", float(difference.mean()), len(pairs), groups,
            within(interval, -1.0, 1.0) if interval else None, "t over checkpoints" if interval else "", note=note,
        )  # fmt: skip


def whole_slices(family: Family) -> list[tuple[dict[str, str], int]]:
    """Return the categories at the end of training, over all tasks if there are several."""
    slices = family.final_slices(SCORE)
    return [(slice_, n) for slice_, n in slices if slice_.get("task", "all") == "all"] or slices


# Findings


def _conclusion(family: Family, measures: Measures) -> str:
    """Return what may be said about a family, and how often its answers change with the wording."""
    runs, usable = len(family.results), family.usable.results
    if unusable := [name for name in family.results if name not in usable]:
        text = wording.positions_decide(unusable, runs, family.unit)
    else:
        text = wording.conclusion(measures, runs, family.unit)
    if changed := measures.where("changed answers"):
        noun = "question" if measures.where(of=ACCURACY) else "pair"
        text = f"{text} {wording.answers_change(changed, noun)}"
    return text.strip()


def statements(family: Family) -> dict[str, list[str]]:
    """Return the verdict of every checkpoint on everything that its diagnostic is about.

    Shares: the side of one half. Bias scores: the side of 0. Tests: sign and significance. Clusters: whether they match
    the concepts better than chance. Fewer than 20 items have no verdict.
    """
    family = family.usable
    by_name: dict[str, list[str]] = {}
    for slice_, n in whole_slices(family):
        decided = family.rows(DECIDED, slice_)
        rows = decided if any(decided) else family.rows(SCORE, slice_)
        if n >= FEW_CASES:
            by_name[slice_["category"]] = [wording.preference(row) for row in rows if row and row.interval]
    for slice_, n in family.final_slices(BIAS):
        known_scores = [row for row in family.rows(BIAS, slice_) if row and row.interval]
        if n >= FEW_CASES:
            by_name[slice_title(slice_)] = [wording.favours(row) for row in known_scores]
    for slice_, _ in family.final_slices("effect size"):
        pairs = zip(family.values("effect size", slice_), family.values("p value", slice_), strict=True)
        known = [(effect, p) for effect, p in pairs if effect is not None and p is not None]
        by_name[slice_["test"]] = [f"{np.sign(effect):+.0f} {p < LEVEL}" for effect, p in known]
    for slice_, n in family.final_slices("cluster accuracy"):
        ps = [p for p in family.values("p value", slice_) if p is not None]
        if n >= FEW_CASES:
            by_name[slice_["category"]] = [str(p < 0.05) for p in ps]
    return {name: verdicts for name, verdicts in by_name.items() if len(verdicts) > 1}


def _recipe(recipe: str, names: Sequence[str], every: Sequence[Family]) -> Iterator[Finding]:
    """Yield which statements about a recipe change between its members, and how far that carries."""
    changing: dict[str, list[str]] = {}
    families = [family for family in every if family.recipe == recipe]
    unit = families[0].unit if families else wording.CHECKPOINT
    compared: set[str] = set()
    total = 0
    for family in families:
        if len(family.results) > 1:
            label = wording.family_label(family.diagnostic, family.representation)
            verdicts = statements(family)
            total += len(verdicts)
            changing[label] = [name for name, alone in verdicts.items() if len(set(alone)) > 1]
            compared |= family.usable.results.keys()
    if changing:
        text = wording.agreement(changing, total, len(compared), unit)
        yield Finding("agreement", text, weight=200.0, groups={"recipe": recipe})
    yield Finding("limits", wording.limits(names, unit), weight=2.0, groups={"recipe": recipe})


# Table 1 and Figure 1


def across(family: Family) -> list[Measure]:
    """Return Table 1 and Figure 1."""
    measures: list[Measure] = []
    results = list(family.results.values())
    passed = [{outcome.case_id: outcome.passed for outcome in result.outcomes} for result in results]
    cases = [case for case in results[0].cases if all(case.id in verdicts for verdicts in passed)]
    table = [[verdicts[case.id] for verdicts in passed] for case in cases]
    outcomes = np.array(table, dtype=np.float64).reshape(len(cases), len(results))
    for slice_, n in family.final_slices(SCORE):
        scores, decided = (list(family.defined_values(name, slice_).values()) for name in (SCORE, DECIDED))
        measures += family.spread(SCORE, slice_, n, flags(scores, decided) if n >= FEW_CASES else ())
        if len(scores) > 1:
            members = [place for place, case in enumerate(cases) if is_in(case, slice_)]
            measures += _overdispersion(outcomes[members], scores, n, {**family.groups, **slice_})
    for name in OTHER_SCORES:
        for slice_, n in family.final_slices(name):
            groups = {**family.groups, **slice_}
            measures += over_checkpoints(name, family.values(name, slice_), n, groups, unit=family.unit)
    if len(results) > 1 and cases:
        measures += _disagreement(outcomes, {**family.groups, "category": "all"})
    return measures


def flags(scores: Sequence[float], decided: Sequence[float] = ()) -> list[str]:
    """Return the warnings about a row of Aribandi et al.'s Table 1: a large SD, scores near and well above one half.

    `decided` has the scores over the items that are not ties, if there are ties.

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
    for against, (count, chance) in enumerate(zip(counts.tolist(), chances, strict=True)):
        about, note = {**groups, AGAINST: str(against)}, wording.by_coin_flips(chance)
        yield Measure("share of items", count / items, items, about, note=note)
    if undecided:
        about = {**groups, AGAINST: "undecided"}
        yield Measure("share of items", undecided / items, items, about, note=wording.TIE)

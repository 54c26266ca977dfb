"""Compare the checkpoints of each recipe: stable scores, changing statements, and conclusions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...core.measures import FEW_CASES
from ...core.records import Case, Finding, Measure, Result
from ...stats.intervals import mean_t_interval, within
from ...stats.multiplicity import holm
from ...stats.seeds import error_of_difference, recipe_difference
from ..base import Compared
from . import wording
from .build import module_of
from .family import (
    BIAS,
    DECIDED,
    LEVEL,
    RANGES,
    SCORE,
    Family,
    case_table,
    checkpoint_name,
    defined,
    families,
    is_downstream,
    is_in,
    over_checkpoints,
    recipe_name,
    shared_cases,
    slice_title,
)
from .training import compare_tasks

CURVES = (
    SCORE,
    BIAS,
    "language modelling score",
    "icat",
    "effect size",
    "cluster accuracy",
    "chance accuracy",
)
"""Scores that are followed over training."""
DIFFERENCE = "difference between recipes"
ITEM_COLUMNS = {SCORE: "preferred", "language modelling score": "related"}
"""Scores that are means over items, and the column of a result that holds the items' values."""
CHECKPOINT_SCORES = ("effect size", "cluster accuracy")
"""Scores of which every checkpoint has one value per test or pair of concepts."""

Tested = tuple[Measure, float | None]
"""A difference and its p value."""


def compare_checkpoints(results: Sequence[Result]) -> Compared:
    """Return every measure over checkpoints, and a finding for each family and each recipe."""
    every = families(results)
    measures: list[Measure] = []
    for family in every:
        measures += module_of(family.diagnostic).across(family)
    for family in every:
        for name in CURVES:
            for slice_, n in family.slices(name):
                if "step" in slice_:
                    groups = {**family.groups, **slice_}
                    measures += over_checkpoints(name, family.values(name, slice_), n, groups)
    measures += between_recipes(every)
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
        text = wording.conclusion(family.measures(measures), len(family.results))
        if text and len(family.results) > 1:
            findings.append(Finding("conclusion", text, weight=1.0, groups=family.groups))
    findings += [row for name, names in recipes.items() for row in _recipe(name, list(names), every)]
    return Compared(measures, findings)


# Two representations, two diagnostics of one concept


def between_representations(one: Family, other: Family) -> Iterator[Measure]:
    """Yield how often two representations of the same checkpoints agree on the sign of a test."""
    same = []
    for slice_, _ in one.final_slices("effect size"):
        first, second = (family.defined_values("effect size", slice_) for family in (one, other))
        same += [np.sign(first[name]) == np.sign(second[name]) for name in first if name in second]
    if same:
        groups = {**one.groups, "representation": f"{one.representation} and {other.representation}"}
        share = float(np.mean(same))
        yield Measure("agreement of representations", share, len(same), groups)


def between_diagnostics(one: Family, other: Family) -> Iterator[Measure]:
    """Yield the difference of the scores of each concept that both diagnostics have (3.1 of the paper)."""
    sides = (one, other)
    concepts = [module_of(family.diagnostic).CONCEPTS for family in sides]
    by_category = [
        {slice_["category"]: family.defined_values(SCORE, slice_) for slice_, _ in whole_slices(family)}
        for family in sides
    ]
    for concept in [name for name in concepts[0] if name in concepts[1]]:
        scores = [side.get(names[concept], {}) for side, names in zip(by_category, concepts, strict=True)]
        pairs = np.array([[side[name] for side in scores] for name in scores[0] if name in scores[1]])
        if not len(pairs):
            continue
        names = [family.diagnostic for family in sides]
        groups = {"recipe": one.recipe, "diagnostic": " and ".join(names), "category": concept}
        difference = pairs[:, 0] - pairs[:, 1]
        interval = defined(mean_t_interval(difference))
        yield Measure(
            "difference between diagnostics", float(difference.mean()), len(pairs), groups,
            within(interval, -1.0, 1.0) if interval else None, "t over checkpoints" if interval else "",
            note=wording.means_by_diagnostic(names, pairs.mean(axis=0).tolist()),
        )  # fmt: skip


def whole_slices(family: Family) -> list[tuple[dict[str, str], int]]:
    """Return the categories at the end of training, over all tasks if there are several."""
    slices = family.final_slices(SCORE)
    return [(slice_, n) for slice_, n in slices if slice_.get("task", "all") == "all"] or slices


# Findings


def statements(family: Family) -> dict[str, list[str]]:
    """Return the verdict of every checkpoint on everything that its diagnostic is about.

    Shares: the side of one half. Bias scores: the side of 0. Tests: sign and significance. Clusters: whether they match
    the concepts better than chance. Fewer than 20 items have no verdict.
    """
    by_name: dict[str, list[str]] = {}
    for slice_, n in whole_slices(family):
        decided = family.rows(DECIDED, slice_)
        rows = decided if any(decided) else family.rows(SCORE, slice_)
        if n >= FEW_CASES:
            by_name[slice_["category"]] = [wording.preference(row) for row in rows if row and row.interval]
    for slice_, n in family.final_slices(BIAS):
        rows = [row for row in family.rows(BIAS, slice_) if row and row.interval]
        if n >= FEW_CASES:
            by_name[slice_title(slice_)] = [wording.favours(row) for row in rows]
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
    """Yield which statements about a recipe change between checkpoints, and how far that carries."""
    changing: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for family in every:
        if family.recipe == recipe and len(family.results) > 1:
            label = wording.family_label(family.diagnostic, family.representation)
            verdicts = statements(family)
            counts[label] = len(verdicts)
            changing[label] = [name for name, alone in verdicts.items() if len(set(alone)) > 1]
    if counts:
        text = wording.agreement(changing, counts, len(names))
        yield Finding("agreement", text, weight=200.0, groups={"recipe": recipe})
    yield Finding("limits", wording.limits(names), weight=2.0, groups={"recipe": recipe})


# Two recipes, such as base and large
#
# The interval combines Student's t over checkpoints with the variance over items (`stats.seeds`). Holm adjusts the p
# values of one pair of recipes.

Recipes = tuple[Family, Family]
"""Two families under the same diagnostic, each of several checkpoints."""


def compared_recipes(every: Sequence[Family]) -> list[Recipes]:
    """Return every two recipes that can be compared under the same diagnostic."""
    several = [family for family in every if len(family.results) > 1]
    return [
        (first, second)
        for first, second in combinations(several, 2)
        if (first.diagnostic, first.representation) == (second.diagnostic, second.representation)
    ]


def difference_groups(recipes: Recipes) -> dict[str, str]:
    """Return the groups of the differences between two recipes."""
    return {**recipes[0].groups, "recipe": f"{recipes[0].recipe} and {recipes[1].recipe}"}


def between_recipes(every: Sequence[Family]) -> list[Measure]:
    """Return the differences between recipes, with p values and Holm's adjustment for each pair of recipes."""
    measures: list[Measure] = []
    for recipes in compared_recipes(every):
        tested = [*_over_items(recipes), *_over_checkpoints(recipes)]
        measures += [row for row, _ in tested]
        rows = [Measure("p value", p, row.n, row.groups) for row, p in tested if p is not None]
        adjusted = holm([row.value or 0.0 for row in rows]).tolist()
        measures += rows
        measures += [
            replace(row, name="adjusted p value", value=p) for row, p in zip(rows, adjusted, strict=True)
        ]
    return measures


def _over_items(recipes: Recipes) -> Iterator[Tested]:
    """Yield differences of means over the pairs or clusters that all checkpoints of both recipes have."""
    both = [list(family.results.values()) for family in recipes]
    cases = shared_cases([*both[0], *both[1]])
    groups, method = difference_groups(recipes), "t over checkpoints and items"
    for score, column in ITEM_COLUMNS.items():
        if any(column not in result.columns for result in (*both[0], *both[1])):
            continue
        new, old = (case_table(side, cases, [result.columns[column] for result in side]) for side in both)
        answered: NDArray[np.bool_] = np.asarray(~np.isnan(np.hstack([new, old])).any(axis=1))
        for slice_, _ in recipes[0].final_slices(score):
            parts = [part for part in _parts(recipes[0], slice_, cases) if answered[part].any()]
            if parts:
                clusters = [[cases[place].cluster or cases[place].id for place in part] for part in parts]
                first, second = ([table[part] for part in parts] for table in (new, old))
                estimate = recipe_difference(first, second, clusters)
                about = estimate.n, {**groups, **slice_, "of": score}, estimate.interval, method
                yield Measure(DIFFERENCE, estimate.value, *about, of=score), estimate.p


def _parts(family: Family, slice_: Mapping[str, str], cases: Sequence[Case]) -> list[list[int]]:
    """Return the positions of a score's cases: in one list, or by group if the score is a mean over groups."""
    score = next(row for row in family.rows(SCORE, slice_) if row is not None)
    over = score.basis.mean_over or "cases"
    parts: dict[str, list[int]] = {}
    for place, case in enumerate(cases):
        if is_in(case, slice_):
            parts.setdefault("" if over == "cases" else case.groups[over], []).append(place)
    return list(parts.values())


def _over_checkpoints(recipes: Recipes) -> Iterator[Tested]:
    """Yield differences of scores that are not means over items."""
    groups = difference_groups(recipes)
    for score in CHECKPOINT_SCORES:
        low, high = RANGES.get(score, (0.0, 1.0))
        for slice_, n in recipes[0].final_slices(score):
            first, second = (
                [value for value in family.values(score, slice_) if value is not None] for family in recipes
            )
            if min(len(first), len(second)) < 2:
                continue
            difference = float(np.mean(first) - np.mean(second))
            seeds = error_of_difference(first, second)
            reach = seeds.reach(0.95)
            interval = within((difference - reach, difference + reach), low - high, high - low)
            about = n, {**groups, **slice_, "of": score}, interval, "t over checkpoints"
            yield Measure(DIFFERENCE, difference, *about, of=score), seeds.p(difference)

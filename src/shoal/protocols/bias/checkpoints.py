"""Compare the checkpoints of each recipe: stable scores, changing statements, and conclusions."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Finding, Measure, Result
from ...stats.intervals import mean_t_interval, within
from ..base import Compared
from . import wording
from .build import module_of
from .family import (
    DECIDED,
    LEVEL,
    SCORE,
    Family,
    checkpoint_name,
    defined,
    families,
    is_downstream,
    over_checkpoints,
    recipe_name,
)
from .recipes import between_recipes
from .training import compare_tasks

CURVES = (SCORE, "language modelling score", "icat", "effect size", "cluster accuracy", "chance accuracy")
"""Scores that are followed over training."""


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
            measures += [*between_representations(*pair), *between_diagnostics(*pair)]
    measures += compare_tasks(results)
    recipes: dict[str, dict[str, None]] = {}
    for family in every:
        recipes.setdefault(family.recipe, {}).update(dict.fromkeys(family.results))
    for result in results:
        if is_downstream(result):
            recipes.setdefault(recipe_name(result), {})[checkpoint_name(result)] = None
    findings = [
        Finding(
            "conclusion",
            " ".join(wording.conclusion(family.measures(measures), len(family.results))),
            weight=1.0,
            groups=family.groups,
        )
        for family in every
        if len(family.results) > 1
    ]
    findings += [_recipe(name, list(names), every) for name, names in recipes.items()]
    return Compared(measures, findings)


# Two representations, two diagnostics of one concept


def between_representations(one: Family, other: Family) -> Iterator[Measure]:
    """Yield how often two representations of the same checkpoints agree on the sign of a test."""
    if one.diagnostic != other.diagnostic:
        return
    same = []
    for slice_, _ in one.final_slices("effect size"):
        others = dict(zip(other.results, other.values("effect size", slice_), strict=True))
        for name, effect in zip(one.results, one.values("effect size", slice_), strict=True):
            second = others.get(name)
            if effect is not None and second is not None:
                same.append(np.sign(effect) == np.sign(second))
    if same:
        groups = {**one.groups, "representation": f"{one.representation} and {other.representation}"}
        share = float(np.mean(same))
        yield Measure("agreement of representations", share, len(same), groups)


def between_diagnostics(one: Family, other: Family) -> Iterator[Measure]:
    """Yield the difference of the scores of each concept that both diagnostics have (3.1 of the paper)."""
    if one.diagnostic == other.diagnostic:
        return
    sides = (one, other)
    concepts = [module_of(family.diagnostic).CONCEPTS for family in sides]
    for concept in [name for name in concepts[0] if name in concepts[1]]:
        scores = [_scores(family, names[concept]) for family, names in zip(sides, concepts, strict=True)]
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


def _scores(family: Family, category: str) -> dict[str, float]:
    """Return each checkpoint's score of a category, over all tasks if there are several."""
    slices = [slice_ for slice_, _ in family.final_slices(SCORE) if slice_["category"] == category]
    whole = [slice_ for slice_ in slices if slice_.get("task", "all") == "all"]
    if not slices:
        return {}
    values = family.values(SCORE, (whole or slices)[0])
    return {name: value for name, value in zip(family.results, values, strict=True) if value is not None}


# Findings


def statements(family: Family) -> dict[str, list[str]]:
    """Return the verdict of every checkpoint on everything that its diagnostic is about.

    Shares: the side of one half. Tests: sign and significance. Clusters: whether they match the concepts better than
    chance. Fewer than 20 items have no verdict.
    """
    by_name: dict[str, list[str]] = {}
    slices = [(slice_, n) for slice_, n in family.final_slices(SCORE) if slice_.get("task", "all") == "all"]
    for slice_, n in slices or family.final_slices(SCORE):
        decided = family.rows(DECIDED, slice_)
        rows = decided if any(decided) else family.rows(SCORE, slice_)
        if n >= FEW_CASES:
            by_name[slice_["category"]] = [wording.preference(row) for row in rows if row and row.interval]
    for slice_, _ in family.final_slices("effect size"):
        pairs = zip(family.values("effect size", slice_), family.values("p value", slice_), strict=True)
        known = [(effect, p) for effect, p in pairs if effect is not None and p is not None]
        by_name[slice_["test"]] = [f"{np.sign(effect):+.0f} {p < LEVEL}" for effect, p in known]
    for slice_, n in family.final_slices("cluster accuracy"):
        ps = [p for p in family.values("p value", slice_) if p is not None]
        if n >= FEW_CASES:
            by_name[slice_["category"]] = [str(p < 0.05) for p in ps]
    return {name: verdicts for name, verdicts in by_name.items() if len(verdicts) > 1}


def _recipe(recipe: str, names: Sequence[str], every: Sequence[Family]) -> Finding:
    """Return which statements about a recipe change between checkpoints, and how far that carries."""
    sentences: list[str] = []
    for family in every:
        if family.recipe == recipe and len(family.results) > 1:
            label = wording.family_label(family.diagnostic, family.representation)
            verdicts = statements(family)
            changing = [name for name, alone in verdicts.items() if len(set(alone)) > 1]
            sentences.append(wording.changes(label, changing, len(verdicts)))
    text = " ".join(filter(None, [*sentences, wording.limits(names)]))
    return Finding("limits", text, weight=2.0, groups={"recipe": recipe})

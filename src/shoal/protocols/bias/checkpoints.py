"""Compare the checkpoints of each recipe: stable scores, changing statements, and conclusions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Finding, Measure, Measures, Result
from ...stats.intervals import mean_t_interval, within
from ..base import Compared
from . import wording
from .build import module_of
from .downstream import compare_downstream, with_finetuned
from .family import (
    DECIDED,
    LEVEL,
    SCORE,
    Family,
    Floats,
    by_diagnostic,
    defined,
    families,
    first,
    moment,
    over_checkpoints,
)
from .recipes import between_recipes
from .settings import Settings

CURVES = (SCORE, "language modelling score", "icat", "effect size", "cluster accuracy", "chance accuracy")
"""Scores that are followed over training."""


def compare_checkpoints(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return every measure over checkpoints, and a finding for each family and each recipe."""
    every = families(results)
    measures: list[Measure] = []
    for diagnostic, members in by_diagnostic(every):
        measures += module_of(diagnostic).across(settings, members)
    measures += [row for family in every for row in _over_training(family)]
    measures += between_recipes(every)
    recipes: dict[str, list[str]] = {}
    for family in every:
        names = recipes.setdefault(family.recipe, [])
        names += [name for name in family.names if name not in names]
    for recipe in recipes:
        pairs = combinations([family for family in every if family.recipe == recipe], 2)
        measures += [row for pair in pairs for row in between_diagnostics(*pair)]
    recipes = with_finetuned(recipes, results)
    measures += compare_downstream(settings.downstream, settings.margin, results, recipes)
    findings = [_conclusion(family, measures) for family in every if len(family.results) > 1]
    findings += [_recipe(name, names, every) for name, names in recipes.items()]
    return Compared(measures, findings)


def _over_training(family: Family) -> Iterator[Measure]:
    """Yield every score at every earlier point of training (Figure 2)."""
    for name in CURVES:
        for slice_, n in family.slices(name):
            if moment(slice_):
                groups = {**family.groups, **slice_}
                yield from over_checkpoints(name, family.values(name, slice_), n, groups)


# Two diagnostics of one concept


def between_diagnostics(one: Family, other: Family) -> Iterator[Measure]:
    """Yield the difference of the scores of each concept that both diagnostics have (3.1 of the paper)."""
    if one.diagnostic == other.diagnostic:
        return
    sides = (one, other)
    categories = [module_of(family.diagnostic).CONCEPTS for family in sides]
    for concept in [name for name in categories[0] if name in categories[1]]:
        scores = [_scores(family, names[concept]) for family, names in zip(sides, categories, strict=True)]
        common = [name for name in scores[0] if name in scores[1]]
        pairs = np.array([[side[name] for side in scores] for name in common], dtype=np.float64)
        if len(pairs):
            names = [family.diagnostic for family in sides]
            groups = {"recipe": one.recipe, "diagnostic": " and ".join(names), "category": concept}
            yield _difference(pairs, names, groups)


def _scores(family: Family, category: str) -> dict[str, float]:
    """Return each checkpoint's score of a category, over all tasks if there are several."""
    slices = [slice_ for slice_, _ in family.final_slices(SCORE) if slice_["category"] == category]
    whole = [slice_ for slice_ in slices if slice_.get("task", "all") == "all"]
    if not slices:
        return {}
    values = family.values(SCORE, (whole or slices)[0])
    return {name: value for name, value in zip(family.names, values, strict=True) if value is not None}


def _difference(pairs: Floats, diagnostics: Sequence[str], groups: dict[str, str]) -> Measure:
    runs = len(pairs)
    difference = pairs[:, 0] - pairs[:, 1]
    interval = defined(mean_t_interval(difference)) if runs > 1 else None
    return Measure(
        "difference between diagnostics", float(difference.mean()), runs, groups,
        within(interval, -1.0, 1.0) if interval else None, "t over checkpoints" if interval else "",
        note=wording.means_by_diagnostic(diagnostics, pairs.mean(axis=0).tolist()),
    )  # fmt: skip


# Findings


@dataclass(frozen=True, slots=True)
class Statements:
    """What each checkpoint alone would conclude, by category, test or pair of concepts."""

    by_name: dict[str, list[str]]

    @property
    def changing(self) -> list[str]:
        """Return the names on which two checkpoints contradict each other."""
        return [name for name, verdicts in self.by_name.items() if len(set(verdicts)) > 1]


def statements(family: Family) -> Statements:
    """Return the verdict of every checkpoint on everything that its diagnostic is about.

    Shares: the side of one half, judged by the checkpoint's own interval. Tests: sign and significance. Clusters:
    whether they match the concepts better than chance. Shares of fewer than 20 items have no verdict.
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
    return Statements({name: verdicts for name, verdicts in by_name.items() if len(verdicts) > 1})


def _conclusion(family: Family, measures: Sequence[Measure]) -> Finding:
    """Return what may be said about one recipe under one diagnostic."""
    rows = family.measures(measures)
    text = " ".join(wording.conclusion(rows, len(family.results)))
    return Finding("conclusion", text, tuple(_evidence(rows)), 1.0, family.groups)


def _evidence(measures: Measures) -> list[Measure]:
    """Return the numbers that a conclusion is about: counts of tests, or the mean score and its SD."""
    tests = [first(measures, name) for name in ("tests with one sign", "tests with one verdict")]
    if any(tests):
        return [row for row in tests if row]
    whole = [
        row for row in measures if {row.groups.get(key, "all") for key in ("category", "task")} == {"all"}
    ]
    spreads = [row for row in whole if row.name == "sd over checkpoints" and row.value is not None]
    means = [
        row for row in whole if row.name == "mean over checkpoints" and row.groups == spreads[0].groups
    ] if spreads else []  # fmt: skip
    return [*means, *spreads[:1], *[row for row in whole if row.name == "share of items"][:1]]


def _recipe(recipe: str, names: Sequence[str], every: Sequence[Family]) -> Finding:
    """Return which statements about a recipe change between checkpoints, and how far that carries."""
    sentences: list[str] = []
    for family in every:
        if family.recipe == recipe and len(family.results) > 1:
            label = wording.family_label(family.diagnostic, family.representation)
            found = statements(family)
            sentences.append(wording.changes(label, found.changing, len(found.by_name)))
    text = " ".join(filter(None, [*sentences, wording.limits(names)]))
    return Finding("limits", text, weight=2.0, groups={"recipe": recipe})

"""Compare downstream scores of checkpoints and recipes (Table 2; `docs/method/beyond.md` 7.18).

Scores come from fine-tuning in the plan (`training.py`) or from a table. Three claims of equivalence:

    two recipes                  the 90 % interval of their difference is inside the margin (TOST at 5 %),
                                 by pairs if the checkpoints of one were made from the other's
    checkpoints of one recipe    the upper 95 % limit of their SD is below the margin: for new checkpoints
    every pair of checkpoints    the paired difference of each pair is inside the margin: for these, on new examples

"Not significantly different" is none of them. Correlations say whether checkpoints that are better downstream score
higher in a diagnostic.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ...core.errors import DataError, PlanError
from ...core.records import Measure, Result
from ...core.tables import read_table
from ...stats import reliability
from ...stats.intervals import largest_sd, within
from . import wording
from .family import (
    SCORE,
    Family,
    Floats,
    checkpoint_name,
    defined,
    is_downstream,
    over_checkpoints,
    recipe_name,
)

Checkpoint = tuple[str, str]
"""Recipe and name."""
Recipes = Mapping[str, Sequence[str]]
"""The names of the checkpoints of each recipe."""
DOWNSTREAM = "downstream score"
EQUIVALENCE, PAIRWISE, CORRELATION = "equivalence", "pairwise equivalence", "correlation with downstream"
"""The first two are values of the group `test` of a p value."""
DIAGNOSED = (SCORE, "effect size", "cluster accuracy")
"""Scores of diagnostics that are correlated with those of tasks."""


@dataclass(frozen=True, slots=True)
class TaskScores:
    """The scores of one task; a checkpoint may have been fine-tuned several times."""

    scores: dict[Checkpoint, list[float]] = field(default_factory=dict)
    right: dict[Checkpoint, list[Floats]] = field(default_factory=dict)
    """Which examples each fine-tuning got right, NaN for no answer. Empty for scores from a table."""
    majority: list[float] = field(default_factory=list)
    """The score of a constant answer. Empty for scores from a table."""
    steps: list[float] = field(default_factory=list)
    """One over the number of examples of each score. Empty for scores from a table."""

    @property
    def means(self) -> dict[Checkpoint, float]:
        """Return a score for each checkpoint."""
        return {checkpoint: float(np.mean(values)) for checkpoint, values in self.scores.items()}

    @property
    def step(self) -> float:
        """Return the resolution of the scores, 0 if unknown."""
        return min(self.steps, default=0.0)


Tasks = dict[str, TaskScores]
Sources = Mapping[Checkpoint, Checkpoint]
"""For checkpoints of groups with `before`: the checkpoint that each was made from."""


# Scores


def read_downstream(path: Path, recipes: Recipes) -> Tasks:
    """Read a table of scores; a column `recipe` tells checkpoints of one name apart."""
    columns, rows = read_table(path)
    missing = {"checkpoint", "task", "score"} - set(columns)
    if missing:
        raise DataError(
            f"{path}, line 1: no column {sorted(missing)[0]!r}",
            why=f"its columns are {', '.join(columns)}",
            fix="name that column in the first line",
        )
    tasks: Tasks = {}
    for line, row in rows:
        try:
            score = float(row["score"])
        except ValueError:
            score = float("nan")
        if not 0 <= score <= 1:
            raise DataError(
                f"{path}, line {line}: score {row['score']!r}",
                why="scores are fractions between 0 and 1, such as 0.912",
                fix="divide percentages by 100",
            )
        checkpoint = _find_checkpoint(path, row.get("recipe", ""), row["checkpoint"], recipes)
        task = tasks.setdefault(row["task"], TaskScores())
        task.scores.setdefault(checkpoint, []).append(score)
    return tasks


def _find_checkpoint(path: Path, recipe: str, written: str, recipes: Recipes) -> Checkpoint:
    """Return the checkpoint of the plan that a line names."""
    name = f"seed {written}" if written.isdecimal() else written
    matching = [known for known, names in recipes.items() if name in names and recipe in ("", known)]
    if len(matching) > 1:
        raise DataError(
            f"{path}: checkpoint {written!r} is in {' and in '.join(matching)}",
            fix="add a column recipe that names the group",
        )
    if not matching:
        known = sorted({name for names in recipes.values() for name in names})
        raise DataError(
            f"{path}: checkpoint {written!r} is not one of this plan",
            why=f"the plan has {', '.join(known)}",
            fix="use the model's spec, or the seed of a model that is pre-trained here",
        )
    return matching[0], name


def finetuned(results: Sequence[Result]) -> Tasks:
    """Return the scores of checkpoints that the plan fine-tuned, each training run at its last step."""
    tasks: Tasks = {}
    last = _last_steps(results)
    for result in results:
        if result.job.get("step", 0) < last[recipe_name(result)]:
            continue
        checkpoint = recipe_name(result), checkpoint_name(result)
        for row in result.measures.where(DOWNSTREAM):
            if row.value is not None:
                task = tasks.setdefault(row.groups["task"], TaskScores())
                task.scores.setdefault(checkpoint, []).append(row.value)
                passed = [np.nan if item.passed is None else float(item.passed) for item in result.outcomes]
                task.right.setdefault(checkpoint, []).append(np.array(passed))
                task.majority[:] = _majority(result)
                task.steps.append(1 / row.n if row.n else 0.0)
    return tasks


def _majority(result: Result) -> list[float]:
    counts = Counter(case.labels for case in result.cases)
    return [max(counts.values()) / len(result.cases)] if counts else []


def _last_steps(results: Sequence[Result]) -> dict[str, int]:
    last: dict[str, int] = {}
    for result in results:
        recipe = recipe_name(result)
        last[recipe] = max(last.get(recipe, 0), result.job.get("step", 0))
    return last


def with_finetuned(recipes: Recipes, results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the checkpoints of each recipe, including those that have only been fine-tuned so far."""
    names = {recipe: dict.fromkeys(known) for recipe, known in recipes.items()}
    for task in finetuned([result for result in results if is_downstream(result)]).values():
        for recipe, name in task.scores:
            names.setdefault(recipe, {})[name] = None
    return {recipe: list(known) for recipe, known in names.items()}


# Comparison


def compare_downstream(
    table: str, margin: float, results: Sequence[Result], every: Sequence[Family], recipes: Recipes
) -> list[Measure]:
    """Return the scores of each recipe, tests of equivalence, and correlations with diagnostics."""
    tasks = finetuned([result for result in results if is_downstream(result)])
    if table:
        scores = read_downstream(Path(table), recipes)
        both = sorted(set(tasks) & set(scores))
        if both:
            raise PlanError(
                f"{table}: two sources for task {both[0]!r}",
                why="the plan fine-tunes this task as well",
                fix="remove it from the table or from tasks",
            )
        tasks |= scores
    sources = _sources(results)
    measures = [
        row for name, task in tasks.items() for row in _equivalence(name, task, recipes, sources, margin)
    ]
    return measures + [row for family in every for row in _correlations(family, tasks)]


def _sources(results: Sequence[Result]) -> Sources:
    names = {(recipe_name(result), str(result.job["model"])): checkpoint_name(result) for result in results}
    sources = {}
    for result in results:
        source = str(result.job.get("before", "")), str(result.job.get("before model", ""))
        if source in names:
            sources[recipe_name(result), checkpoint_name(result)] = source[0], names[source]
    return sources


def _equivalence(
    name: str, task: TaskScores, recipes: Recipes, sources: Sources, margin: float
) -> Iterator[Measure]:
    means = task.means
    by_recipe = {
        recipe: [means[recipe, checkpoint] for checkpoint in names if (recipe, checkpoint) in means]
        for recipe, names in recipes.items()
    }
    for recipe, values in by_recipe.items():
        if values:
            yield from _within_recipe(name, recipe, values, margin, task)
            yield from _every_pair(name, recipe, task, margin)
    for pair in combinations(by_recipe, 2):
        together = _pairs(pair, means, sources)
        sides = [list(side) for side in zip(*together, strict=True)] or [by_recipe[recipe] for recipe in pair]
        samples = [np.subtract(sides[0], sides[1])] if together else sides
        if min(map(len, sides)) > 1 and not _ties_of_unknown_size(samples, task.step):
            yield _between_recipes(name, pair, sides, margin, task.step, paired=bool(together))


def _pairs(
    recipes: tuple[str, str], means: Mapping[Checkpoint, float], sources: Sources
) -> list[tuple[float, float]]:
    """Return the scores of checkpoints that were made from each other, in the order of the recipes."""
    links = [
        *((old, new) for new, old in sources.items() if (old[0], new[0]) == recipes),
        *((new, old) for new, old in sources.items() if (new[0], old[0]) == recipes),
    ]
    return [(means[first], means[second]) for first, second in links if first in means and second in means]


def _ties_of_unknown_size(samples: Sequence[ArrayLike], step: float) -> bool:
    """Return whether scores tie whose resolution is unknown: it may be one in twelve examples, or in a million."""
    return not step and all(float(np.ptp(sample)) < reliability.TIED for sample in samples)


def _within_recipe(
    task: str, recipe: str, values: Sequence[float], margin: float, scores: TaskScores
) -> Iterator[Measure]:
    groups = {"recipe": recipe, "task": task}
    runs = len(values)
    yield from over_checkpoints(DOWNSTREAM, list(values), runs, groups, step=scores.step)
    if runs < 2 or _ties_of_unknown_size([values], scores.step):
        return
    test = reliability.sd_below(values, margin, step=scores.step)
    limit = min(test.limit, largest_sd(runs))
    note = wording.sd_equivalence(limit, margin, max(values) - min(values), scores.majority)
    yield Measure(
        "p value", test.p, runs, {**groups, "test": EQUIVALENCE}, (0.0, limit), "95 % limit of the SD",
        note=note, verdict=wording.equivalence(test.below),
    )  # fmt: skip


def _every_pair(task: str, recipe: str, scores: TaskScores, margin: float) -> Iterator[Measure]:
    """Yield the test that all checkpoints are within the margin of each other: the largest p of the pairs."""
    right = [np.mean(runs, axis=0) for (of, _), runs in scores.right.items() if of == recipe]
    if len(right) < 2 or not len(answered := np.flatnonzero(~np.isnan(right).any(axis=0))) > 1:
        return
    tests = [reliability.tost_items(a[answered], b[answered], margin) for a, b in combinations(right, 2)]
    reach = min(1.0, max(max(map(abs, test.interval)) for test in tests))
    yield Measure(
        "p value", max(test.p for test in tests), len(answered),
        {"recipe": recipe, "task": task, "test": PAIRWISE}, note=wording.pairwise_equivalence(reach, margin),
        verdict=wording.equivalence(all(test.equivalent for test in tests)),
    )  # fmt: skip


def _between_recipes(
    task: str,
    recipes: tuple[str, str],
    values: Sequence[Sequence[float]],
    margin: float,
    step: float,
    *,
    paired: bool,
) -> Measure:
    first, second = values
    tost = reliability.tost_paired if paired else reliability.tost_two_samples
    test = tost(first, second, margin, step=step)
    groups = {"recipe": " and ".join(recipes), "task": task, "test": EQUIVALENCE}
    interval = within(test.interval, -1.0, 1.0)
    return Measure(
        "p value", test.p, len(first) if paired else len(first) + len(second), groups, defined(interval),
        "90 % t interval", note=wording.recipe_equivalence(recipes, test.difference, interval, margin, paired),
        verdict=wording.equivalence(test.equivalent),
    )  # fmt: skip


def _correlations(family: Family, tasks: Tasks) -> Iterator[Measure]:
    """Yield correlations of diagnostic and downstream scores over the checkpoints that have both."""
    for name, task in tasks.items():
        means = task.means
        for score in DIAGNOSED:
            for slice_, _ in family.final_slices(score):
                pairs = [
                    (means[family.recipe, checkpoint], value)
                    for checkpoint, value in zip(family.names, family.values(score, slice_), strict=True)
                    if value is not None and (family.recipe, checkpoint) in means
                ]
                if len(pairs) < 3:
                    continue
                scores, values = zip(*pairs, strict=True)
                r, ends = reliability.correlation(scores, values)
                groups = {**family.groups, **slice_, "of": score, "downstream": name}
                method = "Fisher" if defined(ends) else ""
                yield Measure(
                    CORRELATION, None if np.isnan(r) else r, len(pairs), groups, defined(ends), method
                )

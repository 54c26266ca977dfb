"""Compare downstream scores of checkpoints and recipes (Table 2; `docs/method/beyond.md` 7.18).

Scores come from fine-tuning in the plan (`training.py`) or from a table. Two claims of equivalence for new checkpoints:

    two recipes                  the 90 % interval of their difference is inside the margin (TOST at 5 %)
    checkpoints of one recipe    the upper 95 % limit of their SD is below the margin

"Not significantly different" is neither of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from ...core.errors import DataError, PlanError
from ...core.files import read_table
from ...core.records import Measure, Result
from ...stats import reliability
from ...stats.intervals import largest_sd, within
from . import wording
from .family import checkpoint_name, defined, is_downstream, over_checkpoints, recipe_name

Checkpoint = tuple[str, str]
"""Recipe and name."""
Recipes = Mapping[str, Sequence[str]]
"""The names of the checkpoints of each recipe."""
DOWNSTREAM = "downstream score"
EQUIVALENCE = "equivalence"
"""The group `test` of a p value."""


@dataclass(slots=True)
class TaskScores:
    """The scores of one task; a checkpoint may have been fine-tuned several times."""

    scores: dict[Checkpoint, list[float]] = field(default_factory=dict)
    majority: float | None = None
    """The score of a constant answer. None for scores from a table."""
    step: float = 0.0
    """The resolution of the scores, one over the number of examples. 0 for scores from a table."""

    def of_recipe(self, recipe: str, names: Sequence[str]) -> list[float]:
        """Return a score for each checkpoint that has one."""
        known = [self.scores[recipe, name] for name in names if (recipe, name) in self.scores]
        return [float(np.mean(values)) for values in known]


Tasks = dict[str, TaskScores]


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
    results = [result for result in results if is_downstream(result)]
    last: dict[str, int] = {}
    for result in results:
        last[recipe_name(result)] = max(last.get(recipe_name(result), 0), result.job.get("step", 0))
    tasks: Tasks = {}
    for result in results:
        checkpoint = recipe_name(result), checkpoint_name(result)
        if result.job.get("step", 0) < last[checkpoint[0]]:
            continue
        for row in result.measures.where(DOWNSTREAM):
            if row.value is not None:
                task = tasks.setdefault(row.groups["task"], TaskScores())
                task.scores.setdefault(checkpoint, []).append(row.value)
                counts = Counter(case.labels for case in result.cases)
                task.majority = max(counts.values()) / len(result.cases) if counts else None
                task.step = min(task.step or 1.0, 1 / row.n)
    return tasks


def with_finetuned(recipes: Recipes, results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the checkpoints of each recipe, including those that have only been fine-tuned so far."""
    names = {recipe: dict.fromkeys(known) for recipe, known in recipes.items()}
    for task in finetuned(results).values():
        for recipe, name in task.scores:
            names.setdefault(recipe, {})[name] = None
    return {recipe: list(known) for recipe, known in names.items()}


# Comparison


def compare_downstream(
    table: str, margin: float, results: Sequence[Result], recipes: Recipes
) -> list[Measure]:
    """Return the scores of each recipe and the tests of equivalence."""
    tasks = finetuned(results)
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
    return [row for name, task in tasks.items() for row in _equivalence(name, task, recipes, margin)]


def _equivalence(name: str, task: TaskScores, recipes: Recipes, margin: float) -> Iterator[Measure]:
    by_recipe = {recipe: task.of_recipe(recipe, names) for recipe, names in recipes.items()}
    for recipe, values in by_recipe.items():
        if values:
            yield from _within_recipe(name, recipe, values, margin, task)
    for pair in combinations(by_recipe, 2):
        sides = [by_recipe[recipe] for recipe in pair]
        if min(map(len, sides)) > 1 and not _ties_of_unknown_size(sides, task.step):
            yield _between_recipes(name, pair, sides, margin, task.step)


def _ties_of_unknown_size(samples: Sequence[Sequence[float]], step: float) -> bool:
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


def _between_recipes(
    task: str, recipes: tuple[str, str], values: Sequence[Sequence[float]], margin: float, step: float
) -> Measure:
    first, second = values
    test = reliability.tost_two_samples(first, second, margin, step=step)
    groups = {"recipe": " and ".join(recipes), "task": task, "test": EQUIVALENCE}
    interval = within(test.interval, -1.0, 1.0)
    return Measure(
        "p value", test.p, len(first) + len(second), groups, defined(interval), "90 % t interval",
        note=wording.recipe_equivalence(recipes, test.difference, interval, margin),
        verdict=wording.equivalence(test.equivalent),
    )  # fmt: skip

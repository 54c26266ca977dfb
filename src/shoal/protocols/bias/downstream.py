"""Is it the same model downstream? (`docs/method/bias.md` 5.7, `docs/method/beyond.md` 7.18)

Scores of downstream tasks come from fine-tuning here (`finetune.py`) or from a table. "Not significantly different" is
no proof of being the same:

    two recipes                  the 90 % interval of their difference is inside the margin: two one-sided tests at 5 %,
                                 by pairs where the checkpoints of one were made of the other's
    checkpoints of one recipe    the upper 95 % limit of their SD is below the margin: for new checkpoints
    every pair of them           the paired difference of each pair is inside it: for these, on new examples

That checkpoints lie near their own mean is no such claim. Beside it: whether checkpoints that are better downstream
score higher in a diagnostic.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ...core.errors import DataError, PlanError
from ...core.files import read_table
from ...core.records import Measure, Measures, Result
from ...core.views import Block, Cell, Column, Number, Row, Table, Words
from ...stats import reliability as r
from ...stats.intervals import largest_sd, within
from .family import (
    OVER_RUNS,
    Family,
    Floats,
    Line,
    by_groups,
    columns_of,
    is_downstream,
    measure,
    moment,
    name_of,
    recipe_of,
    sound,
    spread_measures,
)
from .finetune import SCORE

Checkpoint = tuple[str, str]
"""Recipe and name."""
Recipes = Mapping[str, Sequence[str]]
"""The names of the checkpoints of each recipe."""
ALIKE, EVERY_PAIR, CORRELATION = (
    "equivalence p value",
    "pairwise equivalence p value",
    "correlation with downstream",
)
DIAGNOSED = ("stereotype score", "effect size", "cluster accuracy")
"""The scores of diagnostics that are held against those of tasks."""
MOST = 12
"""Correlations on the screen; the file has them all."""


@dataclass(frozen=True, slots=True)
class TaskScores:
    """The scores of one task; a checkpoint may have been fine-tuned several times."""

    scores: dict[Checkpoint, list[float]] = field(default_factory=dict)
    right: dict[Checkpoint, list[Floats]] = field(default_factory=dict)
    """Of each fine-tuning which examples it got right, NaN for no answer; none where scores were read from a table."""
    commonest: list[float] = field(default_factory=list)
    """What always the commonest label would score, where that is known."""
    steps: list[float] = field(default_factory=list)
    """How finely each score is known: by its examples; nothing where scores were read from a table."""

    @property
    def means(self) -> dict[Checkpoint, float]:
        """A score for each checkpoint."""
        return {checkpoint: float(np.mean(values)) for checkpoint, values in self.scores.items()}

    @property
    def step(self) -> float:
        """How finely scores are known: the finest; 0 where that is not known."""
        return min(self.steps, default=0.0)


Tasks = dict[str, TaskScores]
MadeOf = Mapping[Checkpoint, Checkpoint]
"""Checkpoints that were made of others, and of which."""


# Scores


def read_downstream(path: Path, recipes: Recipes) -> Tasks:
    """The scores of a table; a column `recipe` tells checkpoints of one name apart."""
    columns, rows = read_table(path)
    missing = {"checkpoint", "task", "score"} - set(columns)
    if missing:
        raise DataError(
            f"{path}, line 1: no column {sorted(missing)[0]!r}",
            why=f"found: {', '.join(columns)}",
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
                why="a fraction between 0 and 1 is expected: 0.912",
                fix="divide percentages by 100",
            )
        checkpoint = _known(path, row.get("recipe", ""), row["checkpoint"], recipes)
        task = tasks.setdefault(row["task"], TaskScores())
        task.scores.setdefault(checkpoint, []).append(score)
    return tasks


def _known(path: Path, recipe: str, written: str, recipes: Recipes) -> Checkpoint:
    """The checkpoint of the plan that a line is about."""
    name = f"seed {written}" if written.isdecimal() else written
    there = [known for known, names in recipes.items() if name in names and recipe in ("", known)]
    if len(there) > 1:
        raise DataError(
            f"{path}: checkpoint {written!r} is in {' and in '.join(there)}",
            fix="a column recipe that says which is meant",
        )
    if not there:
        known = sorted({name for names in recipes.values() for name in names})
        raise DataError(
            f"{path}: checkpoint {written!r} is not one of this plan",
            why=f"it has {', '.join(known)}",
            fix="the model's spec, or the seed of one that is pre-trained here",
        )
    return there[0], name


def finetuned(results: Sequence[Result]) -> Tasks:
    """The scores of the checkpoints that were fine-tuned here, each training at its last step."""
    tasks: Tasks = {}
    last = _last_steps(results)
    for result in results:
        if result.job.get("step", 0) < last[recipe_of(result)]:
            continue
        checkpoint = recipe_of(result), name_of(result)
        for row in result.measures.where(SCORE):
            if row.value is not None:
                task = tasks.setdefault(row.groups["task"], TaskScores())
                task.scores.setdefault(checkpoint, []).append(row.value)
                passed = [np.nan if one.passed is None else float(one.passed) for one in result.outcomes]
                task.right.setdefault(checkpoint, []).append(np.array(passed))
                task.commonest[:] = [row.facts["commonest"]]
                task.steps.append(1 / row.n if row.n else 0.0)
    return tasks


def _last_steps(results: Sequence[Result]) -> dict[str, int]:
    last: dict[str, int] = {}
    for result in results:
        last[recipe_of(result)] = max(last.get(recipe_of(result), 0), result.job.get("step", 0))
    return last


def with_finetuned(recipes: Recipes, results: Sequence[Result]) -> dict[str, list[str]]:
    """The names of each recipe's checkpoints, with those that so far were only fine-tuned."""
    names = {recipe: dict.fromkeys(known) for recipe, known in recipes.items()}
    for task in finetuned([result for result in results if is_downstream(result)]).values():
        for recipe, name in task.scores:
            names.setdefault(recipe, {})[name] = None
    return {recipe: list(known) for recipe, known in names.items()}


# What they say


def compare_downstream(
    table: str, margin: float, results: Sequence[Result], every: Sequence[Family], recipes: Recipes
) -> list[Measure]:
    """Table 2: the scores of each recipe, whether they are equivalent, and whether diagnostics follow them."""
    of_tasks = [result for result in results if is_downstream(result)]
    tasks = finetuned(of_tasks)
    if table:
        read = read_downstream(Path(table), recipes)
        both = sorted(set(tasks) & set(read))
        if both:
            raise PlanError(
                f"{table}: task {both[0]!r} is fine-tuned by the plan too: two sources for one value",
                fix="take it out of the table, or out of tasks",
            )
        tasks |= read
    made = _made_of(results)
    measures = [
        row for name, task in tasks.items() for row in _equivalence(name, task, recipes, made, margin)
    ]
    measures += [row for family in every for row in _correlations(family, tasks)]
    return measures + _over_steps(of_tasks)


def _made_of(results: Sequence[Result]) -> MadeOf:
    """Which checkpoint each of a group with `before` was made of."""
    names = {(recipe_of(result), str(result.job["model"])): name_of(result) for result in results}
    made = {}
    for result in results:
        source = str(result.job.get("before", "")), str(result.job.get("before model", ""))
        if source in names:
            made[recipe_of(result), name_of(result)] = source[0], names[source]
    return made


def _equivalence(
    name: str, task: TaskScores, recipes: Recipes, made: MadeOf, margin: float
) -> Iterator[Measure]:
    means = task.means
    by_recipe = {
        recipe: [means[recipe, one] for one in names if (recipe, one) in means]
        for recipe, names in recipes.items()
    }
    for recipe, values in by_recipe.items():
        if values:
            yield from _within(name, recipe, values, margin, task)
            yield from _every_pair(name, recipe, task, margin)
    for pair in combinations(by_recipe, 2):
        together = _pairs(pair, means, made)
        sides = (
            [list(side) for side in zip(*together, strict=True)]
            if together
            else [by_recipe[one] for one in pair]
        )
        told = [np.subtract(*sides)] if together else sides
        if min(map(len, sides)) > 1 and not _says_nothing(told, task.step):
            yield _between(name, pair, sides, margin, task.step, paired=bool(together))


def _pairs(
    recipes: tuple[str, str], means: Mapping[Checkpoint, float], made: MadeOf
) -> list[tuple[float, float]]:
    """The scores of checkpoints and of what was made of them, or the other way round, as the recipes stand."""
    links = [
        *((old, new) for new, old in made.items() if (old[0], new[0]) == recipes),
        *((new, old) for new, old in made.items() if (new[0], old[0]) == recipes),
    ]
    return [(means[one], means[other]) for one, other in links if one in means and other in means]


def _says_nothing(samples: Sequence[ArrayLike], step: float) -> bool:
    """Whether scores tie that come in steps of a size that is not known: one in twelve examples, or in a million."""
    return not step and all(float(np.ptp(sample)) < r.TIED for sample in samples)


def _within(
    task: str, recipe: str, values: Sequence[float], margin: float, scores: TaskScores
) -> Iterator[Measure]:
    groups = {"recipe": recipe, "task": task}
    yield from spread_measures(SCORE, list(values), len(values), groups, step=scores.step)
    if len(values) < 2:
        return
    apart = max(values) - min(values)
    yield measure("largest difference", apart, len(values), groups, "between two checkpoints")
    if _says_nothing([values], scores.step):
        return
    test = r.sd_below(values, margin, step=scores.step)
    limit = min(test.limit, largest_sd(len(values)))
    words = (
        f"the SD over new checkpoints is below {limit:.4f} (95 %), "
        f"{'inside' if test.below else 'not inside'} the margin of {margin:g}; "
        f"the largest difference of these is {apart:.4f}"
    ) + "".join(f"; always the commonest label would score {share:.4f}" for share in scores.commonest)
    yield Measure(
        ALIKE, test.p, len(values), groups, (0.0, limit), "95 % limit of the SD", note=words,
        facts={"equivalent": test.below, "margin": margin, "words": words},
    )  # fmt: skip


def _every_pair(task: str, recipe: str, scores: TaskScores, margin: float) -> Iterator[Measure]:
    """Whether all are within the margin of each other: each pair must be, so the largest p is that of all."""
    right = [np.mean(runs, axis=0) for (of, _), runs in scores.right.items() if of == recipe]
    if len(right) < 2 or not len(answered := np.flatnonzero(~np.isnan(right).any(axis=0))) > 1:
        return
    tests = [r.tost_items(a[answered], b[answered], margin) for a, b in combinations(right, 2)]
    p, reach = max(test.p for test in tests), min(1.0, max(max(map(abs, test.interval)) for test in tests))
    within = all(test.equivalent for test in tests)
    words = (
        f"on new examples no two of these checkpoints differ by more than {reach:.4f} (each pair by its 90 % "
        f"interval), {'inside' if within else 'not inside'} the margin of {margin:g}"
    )
    yield Measure(
        EVERY_PAIR, p, len(answered), {"recipe": recipe, "task": task}, note=words,
        facts={"equivalent": within, "margin": margin, "pairs": len(tests), "words": words},
    )  # fmt: skip


def _between(
    task: str,
    recipes: tuple[str, str],
    values: Sequence[Sequence[float]],
    margin: float,
    step: float,
    *,
    paired: bool,
) -> Measure:
    first, second = values
    test = (r.tost_paired if paired else r.tost_two_samples)(first, second, margin, step=step)
    groups = {"recipe": " and ".join(recipes), "task": task}
    low, high = within(test.interval, -1.0, 1.0)
    words = (
        f"{recipes[0]} less {recipes[1]} {test.difference:+.4f} (90 % {low:+.4f} to {high:+.4f}"
        f"{f', {len(first)} pairs' if paired else ''}): "
        f"{'' if test.equivalent else 'not shown to be '}equivalent within {margin:g}"
    )
    n = len(first) if paired else len(first) + len(second)
    return Measure(
        ALIKE, test.p, n, groups, sound((low, high)), "90 % t interval", note=words,
        facts={
            "equivalent": test.equivalent, "margin": margin, "difference": test.difference, "paired": paired,
            "words": words,
        },
    )  # fmt: skip


def _correlations(family: Family, tasks: Tasks) -> Iterator[Measure]:
    """Whether the checkpoints that are better at a task score higher: over those that have both scores."""
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
                value, interval = r.correlation([score for score, _ in pairs], [value for _, value in pairs])
                yield Measure(
                    CORRELATION, None if np.isnan(value) else value, len(pairs),
                    {**family.groups, **slice_, "of": score, "downstream": name}, sound(interval),
                    "Fisher" if sound(interval) else "", note="over checkpoints, of these tasks and items as they are",
                )  # fmt: skip


def _over_steps(results: Sequence[Result]) -> list[Measure]:
    """The scores of earlier steps, where checkpoints of several moments were fine-tuned."""
    last = _last_steps(results)
    scores: dict[tuple[str, str, int], list[float]] = {}
    for result in results:
        step = result.job.get("step", 0)
        for row in result.measures.where(SCORE) if step < last[recipe_of(result)] else ():
            if row.value is not None:
                scores.setdefault((recipe_of(result), row.groups["task"], step), []).append(row.value)
    return [
        row
        for (recipe, task, step), values in scores.items()
        for row in spread_measures(
            SCORE, list(values), len(values), {"recipe": recipe, "task": task, "step": str(step)}
        )
    ]


# To show


def blocks(measures: Measures) -> list[Block]:
    """Table 2, and whether diagnostics follow it."""
    rows = [row for row in measures.where("mean over checkpoints", of=SCORE) if not moment(row.groups)]
    correlations = measures.where(CORRELATION)
    tables: list[Block] = [_scores(rows, measures)] if rows else []
    return tables + ([_correlated(correlations)] if correlations else [])


def _scores(means: Sequence[Measure], measures: Measures) -> Table:
    """Mean and SD of each task and recipe, and what may be said of them."""
    columns = [Column("downstream", "left"), Column("", "left"), Column("mean"), Column("SD")]
    columns += [Column("p alike"), Column("", "left")]
    lines = []
    for mean in means:
        about = {"recipe": mean.groups["recipe"], "task": mean.groups["task"]}
        names: list[Cell] = [about["task"], Words(about["recipe"], "quiet")]
        sd = next(iter(measures.where("sd over checkpoints", of=SCORE, **about)), None)
        tests = [*measures.where(ALIKE, **about), *measures.where(EVERY_PAIR, **about)]
        first, *others = tests or [None]
        words = Words(first.facts["words"] if first else "one checkpoint only", "quiet")
        lines.append(Row([*names, Number(mean), Number(sd), Number(first), words]))
        lines += [
            Row(["", "", "", "", Number(test), Words(test.facts["words"], "quiet")])
            for test in others
            if test
        ]
    alone = {row.groups["recipe"] for row in means}
    for test in measures.where(ALIKE):
        if test.groups["recipe"] not in alone:
            names = [test.groups["task"], Words(test.groups["recipe"], "quiet")]
            lines.append(Row([*names, "", "", Number(test), Words(test.facts["words"], "quiet")]))
    return Table(columns, lines)


def _correlated(rows: Sequence[Measure]) -> Table:
    """The correlations of whole scores first, and how many there are by chance."""
    ordered = sorted(rows, key=lambda row: row.groups.get("category", "") not in ("", "all"))
    several_recipes = len({row.groups["recipe"] for row in rows}) > 1
    columns = [Column("diagnostic over checkpoints", "left"), Column("task", "left"), Column("r")]
    columns += [Column("95 % interval"), Column("checkpoints")]
    lines = [
        Row(
            [
                f"{row.groups['recipe']}: {_title(row)}" if several_recipes else _title(row),
                row.groups["downstream"],
                Number(row),
                Number(row, part="interval"),
                Number(row, part="n"),
            ]
        )
        for row in ordered[:MOST]
    ]
    known = [row for row in rows if row.interval]
    clear = sum(not row.interval[0] <= 0 <= row.interval[1] for row in known if row.interval)
    few, alike = (
        "of fewer than four checkpoints there is no interval",
        "where all scores are alike there is none",
    )
    why = few if all(row.n < 4 for row in rows) else alike
    legend = (
        [f"of {len(known):,} intervals {clear:,} exclude 0; by chance one in twenty would"]
        if known
        else [f"{why}: these are no evidence"]
    )
    legend += [f"… and {len(rows) - MOST:,} more: downstream_correlations.csv"] if len(rows) > MOST else []
    return Table(columns, lines, legend=legend)


def _title(row: Measure) -> str:
    words = [
        row.groups["diagnostic"],
        *(row.groups.get(key, "") for key in ("representation", "test", "task", "category")),
    ]
    named = " ".join(word for word in words if word and word != "all")
    return named if row.groups["of"] == "stereotype score" else f"{named}, {row.groups['of']}"


def files(measures: Measures) -> dict[str, list[Line]]:
    """The same for computing."""
    rows = [
        row
        for row in measures
        if "diagnostic" not in row.groups and "task" in row.groups and row.groups.get("of") in (SCORE, None)
    ]
    scores: list[Line] = [
        {
            "task": groups["task"], "size": groups["recipe"], "step": groups.get("step", ""),
            **columns_of(named, OVER_RUNS), "equivalence_p": Number(named.get(ALIKE)),
            "pairwise_equivalence_p": Number(named.get(EVERY_PAIR)),
        }
        for groups, named in by_groups(rows, leave_out=("of",))
    ]  # fmt: skip
    correlations: list[Line] = [
        {
            "test": row.groups.get("test", row.groups["diagnostic"]), "task": row.groups.get("task", ""),
            "category": row.groups.get("category", ""), "size": row.groups["recipe"],
            "representation": row.groups.get("representation", ""), "score": row.groups["of"],
            "downstream": row.groups["downstream"], "r": Number(row),
        }
        for row in measures.where(CORRELATION)
    ]  # fmt: skip
    return {"downstream": scores, "downstream_correlations": correlations}

"""Train checkpoints: pre-train a small masked language model, and fine-tune a checkpoint on a downstream task.

    Pretrain ──► a fresh model from the seed ──► one stage on the text
    Task ──► rows to train on ──► one stage after the checkpoint's own ──► accuracy on the test rows (Table 2)

A task is a job without a diagnostic. Settings that the paper does not state are those of Devlin et al. 2019.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_data, stamp
from ...core.records import Answers, Basis, Case, Measure, Outcome, Result
from ...data.grammar import Row
from ...data.labelled import read_labelled
from ...models import load_model, parse_spec
from ...training.stage import Mark, Progress, Recipe, Stage, plain_stage
from ...training.text import about_how_many_blocks, digest
from ..base import Built, Scored
from . import wording
from .family import checkpoint_name, is_downstream, over_checkpoints, recipe_name, share
from .settings import Pretrain, Settings, Task

DOWNSTREAM = "downstream score"

# Pre-training

MODEL = "tiny:masked"
POSITIONS = 128
"""Tokens that the model takes; a sentence of a diagnostic may be longer than a block of the text."""
BLOCK, LAYERS, HEADS = 64, 2, 4
HEAD_WIDTH = 16
"""A model narrower than four heads of this width has fewer heads."""


def pretraining(pretrain: Pretrain, model: str) -> Recipe:
    if model != MODEL:
        raise PlanError(
            f"pretrain starts from scratch, but {model} has weights",
            fix=f'models = ["{MODEL}"], or remove pretrain',
        )
    how = pretrain.plain(pretrain.learning_rate)
    content = digest(pretrain.text)
    shape = {
        "width": pretrain.width,
        "layers": LAYERS,
        "heads": max(1, min(HEADS, pretrain.width // HEAD_WIDTH)),
        "vocabulary": pretrain.vocabulary,
        "length": POSITIONS,
    }

    def base(seed: int) -> Any:
        from ...training.from_scratch import Shape, fresh_masked_model

        return fresh_masked_model(pretrain.text, Shape(**shape), seed)

    def train(model: Any, seed: int, progress: Progress, mark: Mark) -> None:
        from ...training.from_scratch import pretrain as train_masked

        train_masked(model, pretrain.text, how, BLOCK, seed, progress, mark, ())

    identity = {"task": "masked tokens 15 % 80/10/10", "text": content, "block": BLOCK, "config": asdict(how)}
    steps = how.steps(-(-about_how_many_blocks(pretrain.text, BLOCK) // how.batch))
    stage = Stage("pretrain", identity, steps, train)
    return Recipe(base, (stage,), {"text": content, **shape}, pretrain.threads)


# Data of a task

TINY_RATE, USUAL_RATE = 5e-4, 2e-5


@dataclass(frozen=True, slots=True, eq=False)
class TaskData:
    train: tuple[Row, ...]
    test: tuple[Row, ...]
    labels: tuple[str, ...]
    removed: int
    """Training rows that also occur in the test rows; they are removed."""


def read_task(task: Task) -> TaskData:
    """Read the rows of a task, cached until a file changes."""
    return _read_task(task, *(stamp(name)[0] for name in (task.train, task.test)))


def task_content(task: Task) -> dict[str, Any]:
    """Return what decides the cases of a task and their labels."""
    data = read_task(task)
    return {"name": task.name, "test": _digest(data.test), "labels": list(data.labels)}


@lru_cache(maxsize=8)
def _read_task(task: Task, *_stamps: int) -> TaskData:
    where = f"tasks: {task.name}"
    train, test = _read_rows(task.train, "train", where), _read_rows(task.test, "test", where)
    labels = tuple(sorted({row.label for row in train}))
    unknown = sorted({row.label for row in test} - {*labels})
    if unknown:
        raise DataError(
            f"{where}: test label {unknown[0]!r} does not occur in the training rows",
            why=f"they have {some(labels, 12)}",
            fix=nearest(unknown[0], labels) or "use files with the same labels",
        )
    tested = {row.texts for row in test}
    kept = tuple(row for row in train if row.texts not in tested)
    problems = {
        f"every training row has the label {labels[0]!r}": len(labels) < 2,
        "one file has single texts, the other pairs": len({len(row.texts) for row in (*train, *test)}) > 1,
        "the test rows contain all training rows of a label": {row.label for row in kept} != {*labels},
    }
    for problem, is_true in problems.items():
        if is_true:
            raise DataError(f"{where}: {problem}", fix="use other files")
    return TaskData(kept, tuple(test), labels, len(train) - len(kept))


def _read_rows(name: str, which: str, where: str) -> list[Row]:
    if not name or not is_data(name):
        raise PlanError(
            f"{where}: {which} = {name!r} is not a file" if name else f"{where}: no {which} file",
            why="a task is two tables of texts and labels",
            fix=f'{which} = "{which}.tsv"',
        )
    return read_labelled(Path(name)).rows


def _digest(rows: Sequence[Row]) -> str:
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


# Fine-tuning


def finetuning(settings: Settings, model: str) -> Recipe:
    """Return the recipe that fine-tunes a checkpoint, pre-trained here or given, on a task."""
    (task,) = settings.tasks
    data = read_task(task)
    labels = list(data.labels)
    # Very small models need a larger learning rate to move at all.
    how = task.plain(TINY_RATE if parse_spec(model).scheme == "tiny" else USUAL_RATE)

    def prepare(model: Any, seed: int) -> None:
        if model.trained != "classify":  # it was pre-trained before this stage
            model.adopt("classify", model.checkpoint.with_fresh_head(data.labels, seed))

    identity = {"data": _digest(data.train), "labels": labels, "method": "vanilla", "how": asdict(how)}
    rows = [(row.texts, row.label) for row in data.train]
    end = (str(math.ceil(round(how.epochs, 6))),)
    stage = plain_stage(task.name, identity, rows, labels, how, end, prepare)
    if settings.pretrain is not None:
        pretrained = pretraining(settings.pretrain, model)
        with_head = partial(_with_head, pretrained.base, data.labels)
        return replace(pretrained, base=with_head, stages=(*pretrained.stages, stage))
    if parse_spec(model).scheme not in ("hf", "tiny"):
        raise PlanError(
            f"{model} cannot be fine-tuned",
            why="tasks need weights and gradients",
            fix="use hf:FOLDER, or remove tasks",
        )

    def base(seed: int) -> Any:
        return load_model(model).with_fresh_head(data.labels, seed)

    return Recipe(base, (stage,), {"labels": labels}, task.threads)


def _with_head(make: Callable[[int], Any], labels: Sequence[str], seed: int) -> Any:
    """Return a masked model that can already be queried for labels, so that queries can be timed."""
    model = make(seed)
    pretrained = model.trained
    model.adopt("classify", model.checkpoint.with_fresh_head(labels, seed))
    model.trained = pretrained  # the head that the first stage trains, saves and restores
    return model


# Cases and score


def build_task(settings: Settings) -> Built:
    (task,) = settings.tasks
    data = read_task(task)
    groups = {"task": task.name}
    cases = [
        Case(f"{task.name}/{number}", (row.texts,), (row.label,), groups)
        for number, row in enumerate(data.test)
    ]
    ((_, commonest),) = Counter(row.label for row in data.test).most_common(1)
    note = wording.finetuned(len(data.train), commonest / len(data.test), data.removed)
    return Built(cases, data.labels, "labels", about={"note": note})


def score_task(built: Built, answers: Answers) -> Scored:
    """Return the outcome of each row and the accuracy over answered rows."""
    outcomes = []
    for place, case in enumerate(built.cases):
        error = answers.errors.get(place, "")
        right = not error and answers.labels[answers.predictions[place]] == (case.labels or ("",))[0]
        outcomes.append(Outcome(case.id, None if error else right, None, error))
    passed = [float(bool(outcome.passed)) for outcome in outcomes if not outcome.error]
    row = share(DOWNSTREAM, passed, dict(built.cases[0].groups), errors=len(outcomes) - len(passed))
    row = replace(row, note=str(built.about["note"]), basis=Basis("cases"), headline=True)
    return Scored(outcomes, [row])


# Several checkpoints


def compare_tasks(results: Sequence[Result]) -> list[Measure]:
    """Return mean and SD of each task's scores over the checkpoints of each recipe, at their last step (Table 2)."""
    results = [result for result in results if is_downstream(result)]
    last: dict[str, int] = {}
    for result in results:
        last[recipe_name(result)] = max(last.get(recipe_name(result), 0), result.job.get("step", 0))
    scores: dict[tuple[str, str], dict[str, list[Measure]]] = {}
    for result in results:
        recipe = recipe_name(result)
        (row,) = result.measures.where(DOWNSTREAM)
        if row.value is not None and result.job.get("step", 0) == last[recipe]:
            by_checkpoint = scores.setdefault((row.groups["task"], recipe), {})
            by_checkpoint.setdefault(checkpoint_name(result), []).append(row)
    measures: list[Measure] = []
    for (task, recipe), by_checkpoint in scores.items():
        # A checkpoint that was fine-tuned with several seeds counts once.
        means = [float(np.mean([row.value for row in rows])) for rows in by_checkpoint.values()]
        step = min(1 / row.n for rows in by_checkpoint.values() for row in rows)
        groups = {"recipe": recipe, "task": task}
        measures += over_checkpoints(DOWNSTREAM, means, len(means), groups, step=step)
    return measures

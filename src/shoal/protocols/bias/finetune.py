"""Downstream tasks: each checkpoint is fine-tuned here, then tested (Table 2 of the paper).

    Task ──► rows to train on ──► one stage behind the checkpoint's own ──► accuracy on the rows to test on
             without those that   every weight is trained
             are tested on

The paper says of its fine-tuning that one setting served all: what it does not say is as Devlin et al. 2019 fine-tuned
BERT. A task is a job without a diagnostic; what its scores say of a recipe is in `downstream.py`.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_file
from ...core.records import Answers, Case, Measure, Measures, Outcome
from ...core.views import Column, Number, Table, Words
from ...core.views import Row as Line
from ...data.grammar import GRAMMARS, make_rows
from ...data.grammar.rows import Row
from ...data.labelled import read_labelled
from ...models import load_model, parse_spec
from ...stats.intervals import wilson
from ...training.config import TrainConfig
from ...training.environments import Environment, Labelled
from ...training.stage import Mark, Progress, Recipe, Stage
from ..base import Built, Scored
from .pretrain import make_recipe
from .settings import Settings, Task

SCORE = "downstream score"
CASES = "examples"
MADE = tuple(name for name in GRAMMARS if name != "reading")
"""Tasks that ship with shoal, by name: texts and pairs with labels."""
TINY_RATE, USUAL_RATE = 5e-4, 2e-5


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What a task trains and tests on."""

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    labels: tuple[str, ...]
    left_out: int
    """Rows to train on that are tested on: they were taken out."""


def task_of(settings: Settings) -> Task:
    """The one task that a job is about."""
    (task,) = settings.tasks
    return task


def lessons_of(task: Task) -> Lessons:
    """The rows of a task's files."""
    return _lessons(task, *(_stamp(name) for name in (task.train, task.test)))


def content_of(task: Task) -> dict[str, Any]:
    """What decides the cases of a task and their labels, resolved."""
    lessons = lessons_of(task)
    return {"name": task.name, "test": _digest(lessons.test), "labels": list(lessons.labels)}


@lru_cache(maxsize=8)
def _lessons(task: Task, *_stamps: tuple[int, int]) -> Lessons:
    where = f"tasks: {task.name}"
    if task.train in MADE and not task.test:
        train, test = make_rows(task.train, "train"), make_rows(task.train, "test")
    else:
        train, test = (
            _read(task, name, which, where) for name, which in ((task.train, "train"), (task.test, "test"))
        )
    labels = tuple(sorted({row.label for row in train}))
    strange = sorted({row.label for row in test} - {*labels})
    if strange:
        raise DataError(
            f"{where}: label {strange[0]!r} is tested and never trained on",
            why=f"trained on: {some(labels, 12)}",
            fix=nearest(strange[0], labels) or "files with the same labels",
        )
    if len(labels) < 2:
        raise DataError(f"{where}: every row to train on has the label {labels[0]!r}", fix="rows of both")
    if len({len(row.texts) for row in (*train, *test)}) > 1:
        raise DataError(
            f"{where}: single texts and pairs in one task",
            fix='text = ["COLUMN"], or text = ["COLUMN", "COLUMN"], for both files',
        )
    asked = {row.texts for row in test}
    kept = tuple(row for row in train if row.texts not in asked)
    if {row.label for row in kept} != {*labels}:
        raise DataError(f"{where}: what is trained on is tested on too", fix="other rows to test on")
    return Lessons(kept, tuple(test), labels, len(train) - len(kept))


def _read(task: Task, name: str, which: str, where: str) -> list[Row]:
    if not name or not is_file(Path(name)):
        raise PlanError(
            f"{where}: {which} = {name!r} is no file" if name else f"{where}: no file to {which} on",
            why=f"a table of texts and labels, or, with train alone, one of {', '.join(MADE)}",
            fix=nearest(name, MADE) or f'{which} = "{which}.tsv"',
        )
    return read_labelled(Path(name), task.text, task.label).rows


def _stamp(name: str) -> tuple[int, int]:
    path = Path(name)
    return (path.stat().st_mtime_ns, path.stat().st_size) if name and is_file(path) else (0, 0)


def _digest(rows: Sequence[Row]) -> str:
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


def check_tasks(settings: Settings) -> None:
    """Refuse two tasks of one name."""
    names = [task.name for task in settings.tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PlanError(f"tasks: {twice!r} is there twice", fix="another name for each task")


# From a checkpoint to answers


def recipe(settings: Settings, model: str) -> Recipe:
    """The checkpoint, made here or given, and behind it the training on the task."""
    task = task_of(settings)
    lessons = lessons_of(task)
    stage = _stage(task, lessons, how_of(task, model))
    if settings.pretrain is not None:
        made = make_recipe(replace(settings.pretrain, ask_after=()), model)
        answering = partial(_answering, made.base, lessons.labels)
        return replace(made, base=answering, stages=(*made.stages, stage))
    if parse_spec(model).scheme not in ("hf", "tiny"):
        raise PlanError(
            f"{model} cannot be fine-tuned",
            why="tasks need weights and gradients",
            fix="hf:FOLDER; or leave tasks out, and give scores that you have: downstream = FILE",
        )

    def base(seed: int) -> Any:
        return load_model(model).with_fresh_head(lessons.labels, seed)

    return Recipe(base, (stage,), {"labels": list(lessons.labels)}, task.threads)


def _answering(make: Callable[[int], Any], labels: Sequence[str], seed: int) -> Any:
    """A masked model that can be asked for labels before it has learnt any, so that asking can be timed."""
    model = make(seed)
    pretrained = model.trained
    model.adopt("classify", model.checkpoint.with_fresh_head(labels, seed))
    model.trained = pretrained  # what the first stage trains, keeps and restores
    return model


def how_of(task: Task, model: str) -> TrainConfig:
    """The usual numbers; very small models need a larger learning rate to move at all."""
    usual = TINY_RATE if parse_spec(model).scheme == "tiny" else USUAL_RATE
    return task.plain(usual)


def _stage(task: Task, lessons: Lessons, how: TrainConfig) -> Stage:
    targets = {label: tuple(float(label == name) for name in lessons.labels) for label in lessons.labels}
    environment = Environment(
        task.name, "iid", [Labelled(row.texts, targets[row.label]) for row in lessons.train]
    )
    end = (str(math.ceil(round(how.epochs, 6))),)

    def prepare(model: Any, seed: int) -> None:
        if model.trained != "classify":  # it was pre-trained before this stage
            model.adopt("classify", model.checkpoint.with_fresh_head(lessons.labels, seed))

    def train(model: Any, seed: int, progress: Progress, mark: Mark) -> None:
        from ...training.loop import train as train_model  # loads torch
        from ...training.methods import make_method

        train_model(model, [environment], make_method("vanilla", {}), how, seed, progress, mark, end)

    return Stage(
        title=task.name,
        identity={
            "data": _digest(lessons.train),
            "labels": list(lessons.labels),
            "method": "vanilla",
            "how": asdict(how),
        },
        steps=how.steps(environment.batches(how.batch)),
        train=train,
        marks=end,
        prepare=prepare,
    )


def build(settings: Settings) -> Built:
    """A case for each row to test on."""
    task = task_of(settings)
    lessons = lessons_of(task)
    groups = {"task": task.name}
    cases = [
        Case(f"{task.name}/{number}", (row.texts,), (row.label,), groups)
        for number, row in enumerate(lessons.test)
    ]
    (_, commonest), *_ = Counter(row.label for row in lessons.test).most_common(1)
    about = {
        "trained on": len(lessons.train),
        "left out": lessons.left_out,
        "commonest": commonest / len(lessons.test),
    }
    return Built(cases, lessons.labels, "labels", about=about)


def score(built: Built, answers: Answers) -> Scored:
    """Right or wrong, and the share of right ones among those that were answered."""
    outcomes = []
    for place, case in enumerate(built.cases):
        error = answers.errors.get(place, "")
        right = not error and answers.labels[answers.predictions[place]] == (case.labels or ("",))[0]
        outcomes.append(Outcome(case.id, None if error else right, None, error))
    passed = [bool(outcome.passed) for outcome in outcomes if not outcome.error]
    n, facts = len(passed), {"mean over": "cases", "headline": True, **built.about}
    row = Measure(
        SCORE, sum(passed) / n if n else None, n, dict(built.cases[0].groups),
        wilson(sum(passed), n) if n else None, "wilson" if n else "", errors=len(outcomes) - n,
        facts=facts, note=words_of(facts),
    )  # fmt: skip
    return Scored(outcomes, [row])


def words_of(facts: Any) -> str:
    """What is to be known of a fine-tuned score."""
    words = [f"fine-tuned on {facts['trained on']:,}", f"the commonest label {facts['commonest']:.1%}"]
    words += [f"{facts['left out']:,} rows to train on are tested on: taken out"] if facts["left out"] else []
    return "; ".join(words)


def table(measures: Measures) -> Table:
    """The score of one checkpoint."""
    columns = [
        Column("task", "left"),
        Column(SCORE),
        Column("95 % interval"),
        Column("n"),
        Column("", "left"),
    ]
    rows = [
        Line(
            [
                row.groups["task"],
                Number(row),
                Number(row, part="interval"),
                Number(row, part="n"),
                Words(words_of(row.facts), "quiet"),
            ]
        )
        for row in measures.where(SCORE)
    ]
    return Table(columns, rows)

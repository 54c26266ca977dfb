"""One table of a plan to its jobs (`docs/method/beluga.md` 1.3), and a job to its cases.

iid                       one job: the baseline, whose pass rates are "standard"
every other, by method    one job on the whole suite ("seen"), and one per fold of each hold-out

A job's cases are the suite's test split and the i.i.d. test rows. A plan may have several tasks, each with the same
scenarios: a table `[learning.tasks.NAME]` for each, and the paper's Avg over all of them.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ...core.case_table import by_group
from ...core.errors import PlanError, nearest, some
from ...core.records import Case, Result
from ...training.stage import Progress, silent
from ..base import Built, step_of
from ..behaviour.build import built_suite, chosen_cases, load_suite, split_file
from ..behaviour.settings import SPLITS
from .hyper import method_options
from .iid import iid_cases, load_iid, overlap
from .lessons import training_cases
from .settings import Asked, HoldOut, Method, Settings

UNITS = ("functionality", "capability", "test type")
"""What can be held out."""
BASELINE: tuple[Method, ...] = ("vanilla",)
SAMPLE_SEED = 0
"""Seed of `limit` and `hold_out_sample`: all trainings are compared on the same cases."""


# Tasks


def tasks_of(settings: Settings) -> Sequence[Settings]:
    """Return the settings of each task of a plan; they themselves where the plan has one."""
    return list(settings.tasks.values()) if settings.tasks else [settings]


def results_of(task: Settings, results: Sequence[Result]) -> list[Result]:
    """Return the results of one task."""
    if not task.task:
        return list(results)
    return [result for result in results if result.job["settings"].get("task") == task.task]


def _check_tasks(settings: Settings) -> None:
    """Stop at tasks that Avg could not be taken over."""
    if settings.model and not settings.task:
        raise PlanError(
            "[learning] model is for a task", fix="models at the top of the plan, or [learning.tasks.NAME]"
        )
    first, *_ = tasks = tasks_of(settings)
    experiments: dict[str, str] = {}
    for task in tasks:
        where = f"[learning.tasks.{task.task}]"
        decisive = [getattr(task, each.name) for each in fields(task) if step_of(task, each) != "scoring"]
        content = repr((decisive, task.predictions, task.model))
        if content in experiments:
            raise PlanError(
                f"{where} is the same experiment as {experiments[content]}",
                why="Avg would count it twice",
                fix="a suite or data of its own, or leave it out",
            )
        experiments[content] = task.task
        if task.tasks or task.seed != settings.seed:
            raise PlanError(
                f"{where} has {'tasks' if task.tasks else 'a seed'} of its own",
                why="all tasks of a plan have the same seeds",
                fix="leave it out",
            )
        if task.scenarios != first.scenarios:
            ours, theirs = (some(sorted(each.scenarios)) or "nothing" for each in (task, first))
            raise PlanError(
                f"{where} holds out {ours}, and {first.task} {theirs}",
                why="Avg is a mean over the same scenarios of every task",
                fix="hold_out above the tasks, for all of them",
            )


# Jobs


def parts(settings: Settings) -> list[Settings]:
    """Return the settings of each job, task by task."""
    _check_tasks(settings)
    return [part for task in tasks_of(settings) for part in _parts_of_task(task)]


def _parts_of_task(settings: Settings) -> list[Settings]:
    if settings.is_stored:
        from .stored import stored_parts

        return stored_parts(settings)
    if settings.teach:
        if not settings.iid and not settings.iid_test:
            raise PlanError("[learning] needs i.i.d. data to test on", fix='iid_test = "test.tsv"')
        if settings.fold or settings.s_iid_mode != "full":
            raise PlanError(
                "teach excludes fold and s_iid_mode",
                why="a model with a held-out part answers only this part",
                fix="leave them out",
            )
        rows = [(replace(settings, teach=(how,)), how == "nothing") for how in dict.fromkeys(settings.teach)]
    else:
        _check(settings)
        train = settings.train
        rows = [
            (replace(settings, train=replace(train, on=(config,), method=(method,))), config == "iid")
            for config in dict.fromkeys(train.on)
            for method in dict.fromkeys(BASELINE if config == "iid" else train.method)
        ]
    asks: Asked = "held out" if settings.teach else settings.hold_out_asks
    baseline: list[tuple[HoldOut, str, Asked]] = [("none", "", "all")]
    held_out: list[tuple[HoldOut, str, Asked]] = [] if settings.fold else [("seen", "", "all")]
    planned = planned_folds(settings)
    for scenario in dict.fromkeys(settings.hold_out):
        held_out += [(scenario, name, asks) for name in planned.get(scenario, ())]
    # The baseline holds nothing out. A job does not depend on the other folds.
    return [
        replace(row, hold_out=(scenario,), fold=fold, hold_out_sample=0, hold_out_asks=asks)
        for row, is_baseline in rows
        for scenario, fold, asks in (baseline if is_baseline else held_out)
    ]


def _check(settings: Settings) -> None:
    """Stop at settings that contradict each other."""
    train = settings.train
    from_model = train.from_ == "model"
    if from_model and "iid+suite" in train.on:
        raise PlanError(
            'train.from = "model" has no iid+suite',
            why="that configuration starts from base weights",
            fix="iid>iid+suite: the model, then both mixed",
        )
    if from_model and not settings.iid and "iid>iid+suite" in train.on:
        raise PlanError("iid>iid+suite needs i.i.d. data to train on", fix='iid = "train.tsv"')
    if not settings.iid and not (from_model and settings.iid_test):
        raise PlanError(
            "[learning] needs i.i.d. data",
            fix='--set iid=sentiment; in a plan, iid = "sentiment", or iid = "train.tsv" with iid_test = "test.tsv"',
        )
    if train.learning_rate and set(train.method) == {"lp"}:
        raise PlanError(
            "train.learning_rate has no effect on lp, which only trains a head",
            fix=f"train.options.lp.learning_rate = {train.learning_rate:g}",
        )
    _check_options(settings)
    split = settings.split if settings.split in ("", *SPLITS) else split_file(settings.split)[1]
    uses = {"train": "the training split"}
    uses |= {"validation": "the split that train.tune selects by"} if train.tune else {}
    if split in uses:
        raise PlanError(
            f"split = {settings.split!r} is {uses[split]}",
            why="a model trained or selected on these cases looks better on them",
            fix='split = "test", or leave it out',
        )


def _check_options(settings: Settings) -> None:
    """Raise if `train.options` sets an option that its training method lacks; without options torch is not imported."""
    train = settings.train
    for name in train.options:
        if name not in train.method:
            raise PlanError(
                f"train.options.{name} is for a method that this plan does not use",
                why=f"train.method: {', '.join(train.method)}",
                fix=nearest(name, train.method) or f'train.method = ["{name}"]',
            )
        from ...training.methods import make_method

        task = load_suite(settings.suite).task
        for config in (config for config in train.on if config != "iid"):
            make_method(name, method_options(settings, task, config, name))


def planned_folds(settings: Settings) -> dict[str, list[str]]:
    """Return the folds of each hold-out; none for stored predictions, which join them."""
    if settings.is_stored:
        return {}
    cases = training_cases(settings)
    held_out = [scenario for scenario in settings.hold_out if scenario in UNITS]
    if not settings.fold:
        return {scenario: folds(cases, scenario, settings.hold_out_sample) for scenario in held_out}
    if len(settings.hold_out) != 1 or not held_out:
        raise PlanError("fold needs exactly one hold_out", fix='hold_out = ["capability"], fold = "negation"')
    known = folds(cases, held_out[0])
    if settings.fold not in known:
        raise PlanError(
            f"fold = {settings.fold!r} is not a {held_out[0]} of the suite",
            why=f"known: {', '.join(known)}",
            fix=nearest(settings.fold, known) or "one of those",
        )
    return {held_out[0]: [settings.fold]}


def folds(cases: Sequence[Case], scenario: str, sample: int = 0) -> list[str]:
    """Return the folds in the suite's order: all values, or a random sample of the functionalities."""
    names = list(dict.fromkeys(case.groups[scenario] for case in cases))
    if scenario != "functionality" or not sample:
        return names
    if sample > len(names):
        raise PlanError(
            f"hold_out_sample = {sample}; the suite has {len(names)} functionalities",
            fix="a smaller number, or 0 for all of them",
        )
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(names), sample, replace=False)
    return [names[position] for position in sorted(chosen)]


# Cases


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Return the cases that the trained model is tested on, i.i.d. rows last."""
    if settings.only and {*settings.hold_out} - {"none", "seen"}:
        raise PlanError(
            "only and hold_out exclude each other",
            why="a mean over a part of what is held out does not measure generalisation",
            fix="leave out `only`; `fold` names one part to hold out",
        )
    suite = load_suite(settings.suite)
    whole, about = chosen_cases(settings, settings.tested_split, SAMPLE_SEED)
    cases, chosen = whole, ""
    if settings.hold_out_asks == "held out":
        (scenario,) = settings.hold_out
        chosen = f"{scenario}={settings.fold}"
        # A fold of which the tested split has nothing is tested on everything.
        cases = whole.take(by_group(whole, scenario).get(settings.fold, np.arange(len(whole))).tolist())
    is_part = len(cases) < len(whole)
    if is_part:
        about |= {"chosen": [chosen], "not asked": len(whole) - len(cases)}
    data = load_iid(settings)
    about |= overlap(settings, data)
    rows = [] if is_part and settings.teach else iid_cases(data)
    built = built_suite(suite, [*cases, *rows] if rows else cases, about)
    # A trained model has no stored answers, so the cases that these were chosen from are not needed.
    return replace(built, chosen_from=()) if is_part else built

"""One table of a plan to its jobs: configurations, methods, folds (`docs/method/beluga.md` 1.3).

iid                       one job: the baseline, whose pass rates are "standard"
every other, by method    one job on the whole suite ("seen"), and one per fold of each hold-out
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.errors import PlanError, nearest
from ...core.records import Case
from ..behaviour.build import load_suite, split_file
from ..behaviour.settings import SPLITS
from .build import SAMPLE_SEED
from .hyper import method_options
from .lessons import training_cases
from .settings import Asked, HoldOut, Settings, Train
from .trainings import METHODS

UNITS = ("functionality", "capability", "test type")
"""What can be held out."""


def parts(settings: Settings) -> list[Settings]:
    """Return the settings of each job."""
    _check(settings)
    baseline: list[tuple[HoldOut, str, Asked]] = [("none", "", "all")]
    held_out: list[tuple[HoldOut, str, Asked]] = [] if settings.fold else [("seen", "", "all")]
    planned = planned_folds(settings)
    for scenario in dict.fromkeys(settings.hold_out):
        held_out += [(scenario, name, settings.hold_out_asks) for name in planned.get(scenario, ())]
    jobs = []
    for config in dict.fromkeys(settings.train.on):
        # The baseline holds nothing out. A job does not depend on the other folds.
        is_baseline = config == "iid"
        for method in ["vanilla"] if is_baseline else dict.fromkeys(settings.train.method):
            train = replace(settings.train, on=(config,), method=(method,))
            jobs += [
                replace(
                    settings,
                    train=train,
                    hold_out=(scenario,),
                    fold=fold,
                    hold_out_sample=0,
                    hold_out_asks=asks,
                )
                for scenario, fold, asks in (baseline if is_baseline else held_out)
            ]
    return jobs


def _check(settings: Settings) -> None:
    """Stop at settings that contradict each other or have no effect."""
    train = settings.train
    _refuse_start(settings, train)
    if not settings.iid and not (train.from_ == "model" and settings.iid_test):
        raise PlanError(
            "[learning] needs i.i.d. data",
            fix='iid = "sentiment", or iid = "train.tsv" with iid_test = "test.tsv"',
        )
    _refuse_unknown_methods(settings)
    _refuse_idle(train)
    _refuse_tested_twice(settings, train)


def _refuse_unknown_methods(settings: Settings) -> None:
    """Stop at an unknown method or option; torch is imported only for options."""
    train = settings.train
    for name in train.method:
        if name not in METHODS:
            raise PlanError(
                f"unknown method {name!r}",
                why=f"known: {', '.join(METHODS)}",
                fix=nearest(name, METHODS) or "one of those",
            )
    for name in (name for name in train.method if name in train.options):
        from ...training.methods import make_method

        task = load_suite(settings.suite).task
        for config in (config for config in train.on if config != "iid"):
            make_method(name, method_options(settings, task, config, name))


def _refuse_start(settings: Settings, train: Train) -> None:
    """Stop if a plan starts from the model but needs base weights."""
    if train.from_ == "base":
        return
    if "iid+suite" in train.on:
        raise PlanError(
            'train.from = "model" has no iid+suite',
            why="that configuration starts from base weights",
            fix="iid>iid+suite: the model, then both mixed",
        )
    if not settings.iid and "iid>iid+suite" in train.on:
        raise PlanError("iid>iid+suite needs i.i.d. data to train on", fix='iid = "train.tsv"')


def _refuse_idle(train: Train) -> None:
    """Stop at settings of a method or a stage that no training of the plan has."""
    for method in train.options:
        if method not in train.method:
            raise PlanError(
                f"train.options.{method} is for a method that this plan does not use",
                why=f"train.method: {', '.join(train.method)}",
                fix=nearest(method, train.method) or f'train.method = ["{method}"]',
            )
    if train.learning_rate and set(train.method) == {"lp"}:
        raise PlanError(
            "train.learning_rate has no effect on lp, which only trains a head",
            fix=f"train.options.lp.learning_rate = {train.learning_rate:g}",
        )
    has_iid_stage = train.from_ == "base" and any(config != "iid+suite" for config in train.on)
    has_suite_stage = any(config != "iid" for config in train.on)
    idle: tuple[str, ...] = () if has_iid_stage else ("iid_learning_rate", "iid_batch", "iid_epochs")
    idle += () if has_suite_stage else ("method", "options", "learning_rate", "batch", "epochs", "tune")
    for name in idle:
        if getattr(train, name) != getattr(Train(), name):
            raise PlanError(
                f"train.{name} has no effect",
                why=f"no training of this plan has such a stage (train.on: {', '.join(train.on)})",
                fix="leave it out, or another train.on",
            )


def _refuse_tested_twice(settings: Settings, train: Train) -> None:
    """Stop if the split to test on is also trained on or selected by."""
    split = settings.split if settings.split in ("", *SPLITS) else split_file(settings.split)[1]
    uses = {"train": "the training split"}
    uses |= {"validation": "the split that train.tune selects by"} if train.tune else {}
    if split in uses:
        raise PlanError(
            f"split = {settings.split!r} is {uses[split]}",
            why="a model trained or selected on these cases looks better on them",
            fix='split = "test", or leave it out',
        )


def planned_folds(settings: Settings) -> dict[str, list[str]]:
    """Return the folds of each hold-out."""
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

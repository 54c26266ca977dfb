"""One table of a plan to its jobs: configurations, methods, folds (`docs/method/beluga.md` 1.3).

iid                       one job: the baseline, whose pass rates are "standard"
every other, by method    one job on the whole suite ("seen"), and one per fold of each hold-out
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.errors import PlanError, nearest
from ...core.records import Case
from ..behaviour.build import load_suite, split_file
from ..behaviour.settings import SPLITS
from .build import SAMPLE_SEED
from .hyper import method_options
from .iid import is_iid
from .lessons import training_cases
from .settings import Settings, Train
from .trainings import METHODS

UNITS = ("functionality", "capability", "test type")
"""What can be held out."""


def parts(settings: Settings) -> list[Settings]:
    """Return the settings of each job."""
    train = settings.train
    _check(settings)
    cases = training_cases(settings)
    # A single job does not depend on the other folds, and a model that holds nothing out is tested on everything.
    single_job = replace(settings, hold_out_sample=0, hold_out_asks="all")
    jobs: dict[str, Settings] = {}
    for config in train.on:
        if config == "iid":
            baseline = replace(train, on=("iid",), method=("vanilla",))
            part = replace(single_job, train=baseline, hold_out=("none",), fold="")
            jobs[repr(part)] = part
            continue
        for method in train.method:
            single = replace(single_job, train=replace(train, on=(config,), method=(method,)))
            for part in _scenarios(single, cases, settings.hold_out_sample):
                asks = settings.hold_out_asks if part.hold_out[0] in UNITS else "all"
                jobs[repr(part)] = replace(part, hold_out_asks=asks)
    return list(jobs.values())


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
    """Stop at an unknown method or option; torch is imported only for options and for methods of the user's own."""
    train = settings.train
    for name in train.method:
        if ":" not in name and name not in METHODS:
            raise PlanError(
                f"unknown method {name!r}",
                why=f"known: {', '.join(METHODS)}",
                fix=nearest(name, METHODS) or "one of those, or module:Class for one of yours",
            )
    for name in (name for name in train.method if ":" in name or name in train.options):
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
    split = (
        settings.split
        if settings.split in SPLITS
        else split_file(settings.split)[1]
        if settings.split
        else ""
    )
    if split == "train":
        raise PlanError(
            f"split = {settings.split!r} is the training split",
            why="models would be tested on their training cases",
            fix='split = "test", or leave it out',
        )
    if train.tune and split == "validation":
        raise PlanError(
            f"split = {settings.split!r} is the split that train.tune selects by",
            why="a model selected on these cases looks better on them",
            fix='split = "test", or leave it out',
        )


def _scenarios(settings: Settings, cases: Sequence[Case], sample: int) -> Iterator[Settings]:
    """Yield the job on the whole suite, then one per fold."""
    if settings.fold:
        yield _one_fold(settings, cases)
        return
    yield replace(settings, hold_out=("seen",))
    for scenario in settings.hold_out:
        if scenario in ("none", "seen"):
            continue
        for fold in folds(cases, scenario, sample):
            yield replace(settings, hold_out=(scenario,), fold=fold)


def _one_fold(settings: Settings, cases: Sequence[Case]) -> Settings:
    if len(settings.hold_out) != 1 or settings.hold_out[0] in ("none", "seen"):
        raise PlanError("fold needs exactly one hold_out", fix='hold_out = ["capability"], fold = "negation"')
    known = folds(cases, settings.hold_out[0])
    if settings.fold not in known:
        raise PlanError(
            f"fold = {settings.fold!r} is not a {settings.hold_out[0]} of the suite",
            why=f"known: {', '.join(known)}",
            fix=nearest(settings.fold, known) or "one of those",
        )
    return settings


def planned_folds(settings: Settings) -> dict[str, list[str]]:
    """Return the folds of each hold-out."""
    cases = training_cases(settings)
    return {
        scenario: [settings.fold] if settings.fold else folds(cases, scenario, settings.hold_out_sample)
        for scenario in settings.hold_out
        if scenario not in ("none", "seen")
    }


def folds(cases: Sequence[Case], scenario: str, sample: int = 0) -> list[str]:
    """Return the folds in the suite's order: all values, or a random sample of the functionalities."""
    names = list(dict.fromkeys(case.groups[scenario] for case in cases if not is_iid(case)))
    if scenario != "functionality" or not sample:
        return names
    if sample > len(names):
        raise PlanError(
            f"hold_out_sample = {sample}; the suite has {len(names)} functionalities",
            fix="a smaller number, or 0 for all of them",
        )
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(names), sample, replace=False)
    return [names[position] for position in sorted(chosen)]

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
from .hyper import SHARED, given_options, method_options
from .iid import is_labelled_row
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
    refuse_idle_options(train)
    _refuse_idle_numbers(settings, train)
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
            make_method(name, method_options(settings, task, config, name), given_options(settings, name))


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
    idle = [name for name in ("iid_learning_rate", "iid_batch", "iid_epochs") if getattr(train, name)]
    if idle:
        raise PlanError(
            f"train.{idle[0]} has no effect",
            why="the model replaces the i.i.d. stage",
            fix="leave it out",
        )


def refuse_idle_options(train: Train) -> None:
    """Stop at options that no training of the plan uses."""
    for method, options in train.options.items():
        if method not in train.method:
            raise PlanError(
                f"train.options.{method} is for a method that this plan does not use",
                why=f"train.method: {', '.join(train.method)}",
                fix=nearest(method, train.method) or f'train.method = ["{method}"]',
            )
        idle = [name for name in ("iid_share", "iid_always") if name in options]
        if idle and not any("+" in config for config in train.on):
            raise PlanError(
                f"train.options.{method}.{idle[0]} has no effect",
                why=f"no stage mixes i.i.d. data with the suite in {', '.join(train.on)}",
                fix='leave it out, or train.on = ["iid>iid+suite"]',
            )
    _refuse_overridden(train)


def _refuse_overridden(train: Train) -> None:
    """Stop at a number that every method overrides."""
    for name in SHARED:
        own = [method for method in train.method if name in train.options.get(method, {})]
        head = [method for method in train.method if (method, name) == ("lp", "learning_rate")]
        if not getattr(train, name) or set(train.method) - {*own, *head}:
            continue
        if not own:
            raise PlanError(
                "train.learning_rate has no effect on lp, which only trains a head",
                fix=f"train.options.lp.learning_rate = {train.learning_rate:g}",
            )
        whys = [f"train.options.{method}.{name} overrides it" for method in own]
        whys += ["lp only trains a head, at its own rate"] if {*head} - {*own} else []
        raise PlanError(f"train.{name} has no effect", why="; ".join(whys), fix="leave it out")


def _refuse_idle_numbers(settings: Settings, train: Train) -> None:
    """Stop at numbers of a stage that no configuration has."""
    stages = {
        "i.i.d. stage": (
            any(config != "iid+suite" for config in train.on) or train.from_ == "model",
            ("iid_learning_rate", "iid_batch", "iid_epochs"),
        ),
        "stage with the suite": (
            any(config != "iid" for config in train.on),
            ("method", "options", "learning_rate", "batch", "epochs", "tune"),
        ),
    }
    defaults = Train()
    for stage, (there, names) in stages.items():
        idle = [name for name in names if not there and getattr(train, name) != getattr(defaults, name)]
        if idle:
            raise PlanError(
                f"train.{idle[0]} has no effect",
                why=f"train.on has no {stage}: {', '.join(train.on)}",
                fix="leave it out, or another train.on",
            )
    if settings.hold_out_sample and "functionality" not in settings.hold_out:
        raise PlanError(
            "hold_out_sample has no effect",
            why="hold_out does not name functionality",
            fix='hold_out = ["functionality"], or leave it out',
        )
    if settings.hold_out_asks != "all" and not set(UNITS) & set(settings.hold_out):
        raise PlanError(
            "hold_out_asks has no effect",
            why="nothing is held out",
            fix='hold_out = ["functionality"], or leave it out',
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
    names = list(dict.fromkeys(case.groups[scenario] for case in cases if not is_labelled_row(case)))
    if scenario != "functionality" or not sample:
        return names
    if sample > len(names):
        raise PlanError(
            f"hold_out_sample = {sample}; the suite has {len(names)} functionalities",
            fix="a smaller number, or 0 for all of them",
        )
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(names), sample, replace=False)
    return [names[position] for position in sorted(chosen)]

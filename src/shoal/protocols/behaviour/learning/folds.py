"""A table of a plan to its jobs: configurations, methods, what each training leaves out (`docs/method/beluga.md` 1.3).

iid                     one job: the baseline, whose pass rates are "standard"
every other, by method  one job on the full suite ("seen"), and one per fold of each hold-out
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....errors import PlanError, nearest
from ....records import Case
from ..build import suite_cases, training_split
from ..iid import is_beside
from ..settings import Settings, Train

OTHERS = "others"
"""Everything but one functionality is left out."""


def parts(settings: Settings) -> list[Settings]:
    """The settings of each job; one, where nothing is trained."""
    train = settings.train
    if train is None:
        _refuse_without_training(settings)
        return [settings]
    _refuse_start(settings, train)
    if not settings.iid and not (train.from_ == "model" and settings.iid_test):
        raise PlanError(
            "train.on needs i.i.d. data",
            fix='iid = "sentiment", or iid = "train.tsv" with iid_test = "test.tsv"',
        )
    refuse_idle_options(train)
    cases = suite_cases(settings, training_split(settings))
    jobs: dict[str, Settings] = {}
    for config in train.on:
        if config == "iid":
            part = replace(
                settings, train=replace(train, on=("iid",), method=("vanilla",)), hold_out=("none",)
            )
            jobs[_key(part)] = part
            continue
        for method in train.method:
            single = replace(settings, train=replace(train, on=(config,), method=(method,)))
            for part in _scenarios(single, cases):
                jobs[_key(part)] = part
    return list(jobs.values())


def _refuse_start(settings: Settings, train: Train) -> None:
    """Stop where a plan starts from the model and yet wants what only base weights have."""
    if train.from_ == "base":
        return
    if "iid+suite" in train.on:
        raise PlanError(
            'train.from = "model" has no iid+suite',
            why="that configuration starts from base weights, and the model has been trained",
            fix="iid>iid+suite: the model, then both mixed",
        )
    if not settings.iid and "iid>iid+suite" in train.on:
        raise PlanError("iid>iid+suite needs i.i.d. data to train on", fix='iid = "train.tsv"')
    idle = [name for name in ("iid_learning_rate", "iid_batch", "iid_epochs") if getattr(train, name)]
    if idle:
        raise PlanError(
            f"train.{idle[0]} has no effect",
            why="the model stands where the i.i.d. stage would",
            fix="leave it out",
        )


def refuse_idle_options(train: Train) -> None:
    """Stop at what a plan says of training that no training of it would heed."""
    for method, options in train.options.items():
        if method not in train.method:
            raise PlanError(
                f"train.options.{method} is for a method that this plan does not train by",
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
    if train.select_on != "paper" and not train.tune:
        raise PlanError(
            "train.select_on has no effect",
            why="nothing is selected",
            fix="train.tune = true, or leave it out",
        )
    if train.learning_rate and train.method == ("lp",):
        raise PlanError(
            "train.learning_rate has no effect on lp, which trains a head alone",
            fix=f"train.options.lp.learning_rate = {train.learning_rate:g}",
        )


def _key(settings: Settings) -> str:
    return repr(settings)


def _refuse_without_training(settings: Settings) -> None:
    idle = [name for name in ("hold_out", "hold_out_sample", "fold") if getattr(settings, name)]
    if idle:
        raise PlanError(
            f"{idle[0]} leaves something out of a training, and nothing is trained",
            fix='train.on = ["iid>suite"]',
        )


def _scenarios(settings: Settings, cases: Sequence[Case]) -> Iterator[Settings]:
    """Trained on the full suite, then without each fold."""
    if settings.fold:
        yield _one_fold(settings, cases)
        return
    yield replace(settings, hold_out=("seen",))
    for scenario in settings.hold_out:
        if scenario in ("none", "seen"):
            continue
        for fold in folds(cases, unit_of(scenario), settings.hold_out_sample, settings.sample_seed):
            yield replace(settings, hold_out=(scenario,), fold=fold)


def _one_fold(settings: Settings, cases: Sequence[Case]) -> Settings:
    if len(settings.hold_out) != 1 or settings.hold_out[0] in ("none", "seen"):
        raise PlanError(
            "fold needs hold_out to say what it is", fix='hold_out = ["capability"], fold = "negation"'
        )
    if settings.hold_out == (OTHERS,):
        raise PlanError(
            'fold and hold_out = ["others"] do not go together',
            why="a matrix of one row has no table beside it",
            fix="hold_out_sample for fewer rows",
        )
    known = folds(cases, settings.hold_out[0])
    if settings.fold not in known:
        raise PlanError(
            f"fold = {settings.fold!r} is no {settings.hold_out[0]} of the suite",
            why=f"known: {', '.join(known)}",
            fix=nearest(settings.fold, known) or "one of those",
        )
    return settings


def planned_folds(settings: Settings) -> dict[str, list[str]]:
    """What each hold-out of a plan leaves out in turn."""
    cases = suite_cases(settings, training_split(settings))
    return {
        scenario: [settings.fold]
        if settings.fold
        else folds(cases, scenario, settings.hold_out_sample, settings.sample_seed)
        for scenario in settings.hold_out
        if scenario not in ("none", "seen", OTHERS)
    }


def unit_of(scenario: str) -> str:
    """What a scenario goes through in turn: all but one functionality are left out one functionality at a time."""
    return "functionality" if scenario == OTHERS else scenario


def folds(cases: Sequence[Case], scenario: str, sample: int = 0, seed: int = 0) -> list[str]:
    """What is left out in turn: all there is, in the suite's order, or a random sample of the functionalities."""
    names = list(dict.fromkeys(case.groups[scenario] for case in cases if not is_beside(case)))
    if scenario != "functionality" or not sample:
        return names
    if sample > len(names):
        raise PlanError(
            f"hold_out_sample = {sample}; the suite has {len(names)} functionalities",
            fix="a smaller number, or 0 for all of them",
        )
    chosen = np.random.default_rng(seed).choice(len(names), sample, replace=False)
    return [names[position] for position in sorted(chosen)]

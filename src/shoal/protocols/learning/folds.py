"""A table of a plan to its jobs: configurations, methods, what each training leaves out (`docs/method/beluga.md` 1.3).

iid                     one job: the baseline, whose pass rates are "standard"
every other, by method  one job on the full suite ("seen"), and one per fold of each hold-out
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.errors import PlanError, nearest
from ...core.records import Case
from ...training.config import TrainConfig
from ..behaviour.build import load_suite, split_file, suite_cases, training_split
from ..behaviour.iid import is_beside
from ..behaviour.settings import SPLITS, Settings, Train
from .hyper import OF_ITSELF, given_options, method_options

OTHERS = "others"
"""Everything but one functionality is left out."""
UNITS = ("functionality", "capability", "test type")
"""What is left out, and then tested on."""


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
    _refuse_idle_numbers(settings, train)
    _refuse_idle_grouping(settings, train)
    _refuse_tested_twice(settings, train)
    cases = suite_cases(settings, training_split(settings))
    _refuse_idle_losses(train, cases)
    # Which folds there are decides nothing of one of them; and what leaves nothing out is asked everything.
    single_job = replace(settings, hold_out_sample=0, hold_out_asks="all")
    jobs: dict[str, Settings] = {}
    for config in train.on:
        if config == "iid":
            part = replace(
                single_job, train=replace(train, on=("iid",), method=("vanilla",)), hold_out=("none",)
            )
            jobs[_key(part)] = part
            continue
        for method in train.method:
            single = replace(single_job, train=replace(train, on=(config,), method=(method,)))
            for part in _scenarios(single, cases, settings.hold_out_sample):
                asks = settings.hold_out_asks if part.hold_out[0] in UNITS else "all"
                jobs[_key(part)] = replace(part, hold_out_asks=asks)
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
    _refuse_overridden(train)


def _refuse_overridden(train: Train) -> None:
    """Stop at a number in whose place every method has one of its own."""
    for name in OF_ITSELF:
        own = [method for method in train.method if name in train.options.get(method, {})]
        head = [method for method in train.method if (method, name) == ("lp", "learning_rate")]
        if not getattr(train, name) or set(train.method) - {*own, *head}:
            continue
        if not own:
            raise PlanError(
                "train.learning_rate has no effect on lp, which trains a head alone",
                fix=f"train.options.lp.learning_rate = {train.learning_rate:g}",
            )
        whys = [f"train.options.{method}.{name} stands in its place" for method in own]
        whys += ["lp trains a head alone, at a rate of its own"] if {*head} - {*own} else []
        raise PlanError(f"train.{name} has no effect", why="; ".join(whys), fix="leave it out")


def _refuse_idle_numbers(settings: Settings, train: Train) -> None:
    """Stop at numbers of a stage that no configuration has, and at losses of cases that the suite has not."""
    stages = {
        "i.i.d. stage": (
            any(config != "iid+suite" for config in train.on) or train.from_ == "model",
            ("iid_learning_rate", "iid_batch", "iid_epochs"),
        ),
        "stage with the suite": (
            any(config != "iid" for config in train.on),
            (
                "method",
                "options",
                "learning_rate",
                "batch",
                "epochs",
                "tune",
                "loss",
                "invariance",
                "direction",
            ),
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
    if settings.hold_out_sample and not {"functionality", OTHERS} & set(settings.hold_out):
        raise PlanError(
            "hold_out_sample has no effect",
            why="only functionalities are sampled, and hold_out does not name them",
            fix='hold_out = ["functionality"], or leave it out',
        )
    if settings.hold_out_asks != "all" and not set(UNITS) & set(settings.hold_out):
        raise PlanError(
            "hold_out_asks has no effect",
            why="nothing is left out to be tested on",
            fix='hold_out = ["functionality"], or leave it out',
        )


def _refuse_idle_grouping(settings: Settings, train: Train) -> None:
    """Stop at grouping by length where no stage draws its batches from all items alike."""
    plain = train.from_ == "base" and any(config != "iid+suite" for config in train.on)
    if train.group_by_length is None or plain:
        return
    from ...training.methods import make_method  # torch, which few plans need to be read

    task, how = load_suite(settings.suite).task, TrainConfig(learning_rate=1.0, batch=1, epochs=1.0)
    for config in train.on:
        for name in train.method if config != "iid" else ():
            options = method_options(settings, task, config, name)
            method = make_method(name, options, given_options(settings, name))
            if not method.by_environment and not all(phase.frozen for phase in method.phases(how)):
                return
    raise PlanError(
        "train.group_by_length has no effect",
        why="no stage draws batches of texts from all items alike: not where a method chooses functionalities, nor "
        "where the encoder is frozen and has read them once",
        fix="leave it out, or a method such as vanilla",
    )


def _refuse_idle_losses(train: Train, cases: Sequence[Case]) -> None:
    """Stop at a loss for cases that the suite has none of."""
    reading = any(case.meta.get("reading") for case in cases)
    invariant = any(case.groups["test type"] == "INV" for case in cases)
    directed = any(case.meta.get("direction") not in (None, "label") for case in cases)
    for name, has_cases, needed in (
        ("loss", not reading, "labels"),
        ("invariance", invariant and not reading, "tests of invariance with labels"),
        ("direction", directed, "tests of which way confidence may go"),
    ):
        if not has_cases and getattr(train, name) != getattr(Train(), name):
            raise PlanError(
                f"train.{name} has no effect",
                why=f"it is for {needed}: the suite has none",
                fix="leave it out",
            )


def _refuse_tested_twice(settings: Settings, train: Train) -> None:
    """Stop where what is trained on, or chosen by, is also what is tested on."""
    split = (
        settings.split
        if settings.split in SPLITS
        else split_file(settings.split)[1]
        if settings.split
        else ""
    )
    if split == "train":
        raise PlanError(
            f"split = {settings.split!r} is what the model is trained on",
            why="it would be tested on the very cases that it has seen",
            fix='split = "test", or leave it out',
        )
    if train.tune and split == "validation":
        raise PlanError(
            f"split = {settings.split!r} is what train.tune chooses by",
            why="the best of many on these cases looks better on them than on others",
            fix='split = "test", or leave it out',
        )


def _key(settings: Settings) -> str:
    return repr(settings)


def _refuse_without_training(settings: Settings) -> None:
    idle = [name for name in ("hold_out", "hold_out_sample", "fold") if getattr(settings, name)]
    idle += ["hold_out_asks"] if settings.hold_out_asks != "all" else []
    if idle:
        raise PlanError(
            f"{idle[0]} leaves something out of a training, and nothing is trained",
            fix='train.on = ["iid>suite"]',
        )


def _scenarios(settings: Settings, cases: Sequence[Case], sample: int) -> Iterator[Settings]:
    """Trained on the full suite, then without each fold, or each of a sample."""
    if settings.fold:
        yield _one_fold(settings, cases)
        return
    yield replace(settings, hold_out=("seen",))
    for scenario in settings.hold_out:
        if scenario in ("none", "seen"):
            continue
        for fold in folds(cases, unit_of(scenario), sample, settings.sample_seed):
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

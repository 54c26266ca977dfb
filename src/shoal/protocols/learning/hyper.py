"""The paper's hyper-parameters: the i.i.d. stage's, and the suite stage's as its authors' grid search chose them.

`docs/method/beluga.md` 1.6 and 1.8. Rates are for BERT-base. The `tiny:` models have a hundredth of its weights and
hardly move at such rates: theirs are TINY_FACTOR times as high, except where only a head is trained. IRM and Group-DRO
draw batches of one functionality, most of which have one label: at vanilla's rate on a tiny model the last batches
decide what it says to everything, so theirs is lower; and so is that of dropout, lp-ft and lora, which forgot the task
at it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ...core.ranges import BatchSize, Epochs, Rate
from ...training.config import TrainConfig, checked
from .settings import Settings, Train

TINY_FACTOR = 25
TINY_FACTORS = {"irm": 10, "group-dro": 10, "dropout": 10, "lp-ft": 10, "lora": 3}
FISH_NUMERATOR, FISH_INNER_STEPS = 5e-7, 5
FISH_PLAIN_SHARE = 0.2
"""Share of plain training before Fish from base weights: Fish needs a model that has learnt something."""
IRM_MIXED = 2
"""Environments per step of IRM with mixed data, i.i.d. data always among them. With ten, an epoch has so few steps that
MiniLM does not learn the task from base weights."""
REFERENCE = "reference"
"""The epsilon of Fish that follows from its code."""
HALF = 1.5
"""Epochs of each half of lp-ft: together the most that the grid has."""

IID = TrainConfig(learning_rate=2e-5, batch=16, epochs=3)
READING = "reading comprehension"
IID_OF_READING = TrainConfig(learning_rate=3e-5, batch=3, epochs=2)
READING_BATCH = 8
"""The paper's batches of 2 and 3 are what its large encoder left room for; recommended is the least of the grid for
others."""

Tuned = tuple[float, int, float]  # epochs, batch, learning rate
BEFORE, MIXED = ("iid>suite",), ("iid+suite", "iid>iid+suite")
ALL = BEFORE + MIXED

TUNED: dict[str, dict[tuple[str, tuple[str, ...]], Tuned]] = {
    "sentiment": {
        ("vanilla", BEFORE): (1, 8, 2e-5),
        ("vanilla", MIXED): (2, 16, 2e-5),
        ("dropout", BEFORE): (1, 8, 2e-5),
        ("dropout", MIXED): (2, 8, 3e-5),
        ("l2", BEFORE): (1, 8, 2e-5),
        ("l2", MIXED): (2, 8, 5e-5),
        ("lp", ALL): (3, 8, 1e-3),
        ("irm", ALL): (1, 8, 5e-5),
        ("group-dro", ALL): (1, 8, 2e-5),
        ("fish", ALL): (2, 8, 2e-5),
    },
    "paraphrase": {
        ("vanilla", BEFORE): (3, 16, 2e-5),
        ("vanilla", MIXED): (3, 16, 3e-5),
        ("l2", BEFORE): (2, 8, 2e-5),
        ("l2", MIXED): (3, 16, 3e-5),
        ("dropout", BEFORE): (2, 8, 2e-5),
        ("dropout", MIXED): (3, 8, 2e-5),
        ("lp", BEFORE): (3, 8, 1e-3),
        ("lp", ("iid+suite",)): (3, 16, 1e-3),
        ("lp", ("iid>iid+suite",)): (1, 8, 1e-3),
        ("irm", ALL): (3, 8, 5e-5),
        ("group-dro", ALL): (3, 16, 5e-5),
        ("fish", ALL): (3, 8, 5e-5),
    },
    READING: {
        ("vanilla", BEFORE): (2, 3, 3e-5),
        ("vanilla", MIXED): (2, 3, 2e-5),
        ("l2", BEFORE): (3, 2, 2e-5),
        ("l2", MIXED): (1, 3, 2e-5),
        ("dropout", ALL): (3, 2, 2e-5),
        ("lp", BEFORE): (3, 3, 1e-3),
        ("lp", ("iid+suite",)): (2, 3, 5e-4),
        ("lp", ("iid>iid+suite",)): (3, 3, 1e-3),
        ("irm", ALL): (2, 3, 2e-5),
        ("group-dro", ALL): (2, 2, 2e-5),
    },
}
"""By task, method and configuration; a task that the paper does not have takes sentiment's, a method vanilla's."""

ALIKE: dict[str, dict[str, Any]] = {
    "irm": {"kappa": 0.0, "iid_share": 0.0, "per_step": 0, "penalty": 1e4},
    "group-dro": {"kappa": 0.0, "iid_share": 0.0, "step_size": 0.01},
    "fish": {"kappa": 0.0, "iid_always": False, "plain_share": 0.0},
}
"""The paper's: i.i.d. data are one environment among the others, and all are drawn alike."""
FASTER = {"lora": 10}
"""Ratio to vanilla's rate of a method that the paper does not have."""
SAGAWA = {"importance": False, "excess": False}
"""Algorithm 1 of Group-DRO weights the loss itself."""
TEXT: dict[str, dict[str, Any]] = {
    "l2": {"penalty": True},
    "irm": ALIKE["irm"],
    "group-dro": {**ALIKE["group-dro"], **SAGAWA},
    "fish": {**ALIKE["fish"], "epsilon": 0.05},
}
"""The numbers of the paper's text, or of a method's original paper: Fish has 0.05 for comments."""
QUIRKS: dict[str, dict[str, Any]] = {
    "lp": {"frozen_dropout": True},
    "lp-ft": {"frozen_dropout": True},
    "irm": ALIKE["irm"],
    "group-dro": TEXT["group-dro"],
    "fish": {**ALIKE["fish"], "epsilon": REFERENCE, "extra_momentum_step": True},
}
"""Options that make a method what the reference code does, where we would do otherwise."""
SHARED: dict[str, Any] = {"learning_rate": Rate, "batch": BatchSize, "epochs": Epochs}
"""Numbers of `train` that train.options.METHOD may override."""


def tuned(task: str, method: str, config: str) -> Tuned:
    """Return the epochs, batch and learning rate that the paper's search chose.

    >>> tuned("sentiment", "vanilla", "iid+suite")
    (2, 16, 2e-05)
    """
    table = TUNED.get(task, TUNED["sentiment"])
    known = method if method in {name for name, _ in table} else "vanilla"
    return next(numbers for (name, configs), numbers in table.items() if name == known and config in configs)


def untuned(settings: Settings, task: str) -> list[str]:
    """Return the paper's methods that take vanilla's numbers, because its table has none of theirs.

    >>> untuned(Settings(train=Train(method=("vanilla", "fish"))), "reading comprehension")
    ['fish']
    """
    known = {name for name, _ in TUNED.get(task, TUNED["sentiment"])} | {"lp-ft", *FASTER}
    names = () if settings.train.tune else settings.train.method
    return [
        name
        for name in names
        if name not in known and set_numbers(settings.train, name).keys() != SHARED.keys()
    ]


def iid_how(settings: Settings, model: str, task: str) -> TrainConfig:
    """Return the hyper-parameters of the i.i.d. stage."""
    train = settings.train
    usual = IID_OF_READING if task == READING else IID
    return TrainConfig(
        learning_rate=usual.rate * rate_factor(model),
        batch=_batch(settings, task, usual.batch),
        epochs=train.iid_epochs or usual.epochs,
        group_by_length=settings.profile == "recommended",
    )


def suite_how(settings: Settings, model: str, task: str, config: str, method: str) -> TrainConfig:
    """Return the hyper-parameters of the suite stage; lp-ft begins as lp and goes on as vanilla."""
    epochs, batch, rate = tuned(task, "vanilla" if method == "lp-ft" else method, config)
    usual = TrainConfig(
        learning_rate=rate if method == "lp" else rate * rate_factor(model, method) * FASTER.get(method, 1),
        batch=_batch(settings, task, batch),
        epochs=2 * HALF if method == "lp-ft" else epochs,
    )
    return replace(usual, **set_numbers(settings.train, method))


def set_numbers(train: Train, method: str) -> dict[str, Any]:
    """Return the numbers that the plan sets: those of all methods, overridden by the method's own.

    The learning rate of all methods is not for lp, which only trains a head.
    """
    shared = {name: getattr(train, name) for name in SHARED if (method, name) != ("lp", "learning_rate")}
    numbers = {name: value for name, value in shared.items() if value}
    own = {name: value for name, value in train.options.get(method, {}).items() if name in SHARED}
    for name, value in own.items():
        checked(f"train.options.{method}.{name}", value, SHARED[name])
    return numbers | own


RATES, BATCHES, EPOCHS = (2e-5, 3e-5, 5e-5), (8, 16), (1, 2, 3)
HEAD_RATES = (1e-4, 5e-4, 1e-3)
"""The grid of the paper's search; of lp the head's own rates (`docs/method/beluga.md` 1.8)."""
LARGE_BATCHES = (2, 3)
"""Of reading in the paper."""


def grid(settings: Settings, model: str, task: str, method: str) -> list[dict[str, Any]]:
    """Return the grid in the order that decides ties: fewer epochs, the lower rate, the smaller batch."""
    times = rate_factor(model, method) * FASTER.get(method, 1)
    as_in_paper = task == READING and settings.profile != "recommended"
    searched: dict[str, Sequence[float]] = {
        "epochs": EPOCHS,
        "learning_rate": HEAD_RATES if method == "lp" else [rate * times for rate in RATES],
        "batch": LARGE_BATCHES if as_in_paper else BATCHES,
    }
    searched |= {name: [value] for name, value in set_numbers(settings.train, method).items()}
    return [dict(zip(searched, numbers, strict=True)) for numbers in product(*searched.values())]


def _batch(settings: Settings, task: str, usual: int) -> int:
    return READING_BATCH if task == READING and settings.profile == "recommended" else usual


def method_options(
    settings: Settings, task: str, config: str, method: str, fish_rate: float | None = None
) -> Mapping[str, Any]:
    """Return a method's options that depend on the task, overridden by those of the plan.

    `fish_rate` is the rate, as for BERT-base, that a search tries; else the paper's.
    """
    given = settings.train.options.get(method, {})
    profiles: Mapping[str, Mapping[str, Any]] = {"reference": QUIRKS, "paper": TEXT}
    options = dict(profiles.get(settings.profile, {}).get(method, {}))
    if method == "lp-ft":
        _, batch, rate = tuned(task, "lp", config)
        options |= {"probe_learning_rate": rate, "probe_batch": _batch(settings, task, batch)}
    if settings.profile == "recommended":
        options |= {"plain_share": FISH_PLAIN_SHARE} if (method, config) == ("fish", "iid+suite") else {}
        options |= {"per_step": IRM_MIXED} if method == "irm" and "+" in config else {}
    options |= {name: value for name, value in given.items() if name not in SHARED}
    if options.get("epsilon") == REFERENCE:
        # As the paper has it for its own rates: 0.005, 0.00333 or 0.002. A tiny model's higher rate must not shrink it.
        rate = fish_rate or tuned(task, "fish", config)[2]
        options["epsilon"] = FISH_NUMERATOR / (rate * FISH_INNER_STEPS)
    return options


def losses(settings: Settings, task: str, *, iid: bool = False) -> dict[str, str]:
    """Return the variants of the losses that the profile chooses, for the suite stage or for the i.i.d. stage."""
    if task == READING:
        return {"spans": "reference" if settings.profile == "reference" else "context"}
    # The authors' code uses sigmoids only with the suite.
    as_coded = settings.profile == "reference" and task == "sentiment" and not iid
    return {"labels": "sigmoid" if as_coded else "softmax"}


def rate_factor(model: str, method: str = "vanilla") -> int:
    """Return the ratio of a model's learning rate to that of BERT-base."""
    return TINY_FACTORS.get(method, TINY_FACTOR) if model.startswith("tiny:") else 1

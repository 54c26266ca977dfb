"""The paper's hyper-parameters: the i.i.d. stage's, and the suite stage's as its authors' grid search chose them.

`docs/method/beluga.md` 1.6 and 1.8. Rates are for BERT-base. The `tiny:` models have a hundredth of its weights and
hardly move at such rates: theirs are TINY_FACTOR times as high, except where only a head is trained.
"""

from collections.abc import Mapping
from typing import Any

from ....training.how import How
from ..settings import Settings

TINY_FACTOR = 25
FISH_NUMERATOR, FISH_INNER_STEPS = 5e-7, 5
HALF = 1.5
"""Epochs of each half of lp-ft: together the most that the grid has."""

IID = How(learning_rate=2e-5, batch=16, epochs=3)

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
}
"""By task, method and configuration; a task that the paper does not have takes sentiment's, a method vanilla's."""

QUIRKS: dict[str, dict[str, Any]] = {
    "lp": {"frozen_dropout": True},
    "lp-ft": {"frozen_dropout": True},
    "group-dro": {"kappa": 0.0},
    "fish": {"kappa": 0.0, "extra_momentum_step": True},
}
"""Options that make a method what the reference code does, where we would do otherwise."""


def tuned(task: str, method: str, config: str) -> Tuned:
    """Epochs, batch and learning rate that the search chose.

    >>> tuned("sentiment", "vanilla", "iid+suite")
    (2, 16, 2e-05)
    """
    table = TUNED.get(task, TUNED["sentiment"])
    known = method if method in {name for name, _ in table} else "vanilla"
    return next(numbers for (name, configs), numbers in table.items() if name == known and config in configs)


def iid_how(settings: Settings, model: str) -> How:
    """How the i.i.d. stage is trained."""
    train = settings.train
    assert train is not None
    return How(
        learning_rate=train.iid_learning_rate or IID.learning_rate * _factor(model),
        batch=train.iid_batch or IID.batch,
        epochs=train.iid_epochs or IID.epochs,
        group_by_length=_by_length(settings),
    )


def suite_how(settings: Settings, model: str, task: str, config: str, method: str) -> How:
    """How the stage with the suite is trained; lp-ft begins as lp and goes on as vanilla."""
    train = settings.train
    assert train is not None
    name = "vanilla" if method == "lp-ft" else method
    epochs, batch, rate = tuned(task, name, config)
    return How(
        learning_rate=train.learning_rate or rate * (1 if name == "lp" else _factor(model)),
        batch=train.batch or batch,
        epochs=train.epochs or (2 * HALF if method == "lp-ft" else epochs),
        group_by_length=_by_length(settings),
    )


def method_options(settings: Settings, task: str, config: str, method: str) -> Mapping[str, Any]:
    """A method's own numbers that depend on the task; what the plan says comes before them."""
    given = (settings.train.options if settings.train else {}).get(method, {})
    options = dict(QUIRKS.get(method, {})) if settings.profile == "reference" else {}
    if settings.profile == "paper" and method in ("group-dro", "fish"):
        options["kappa"] = 0.0
    if method == "lp-ft":
        _, batch, rate = tuned(task, "lp", config)
        options |= {"probe_learning_rate": rate, "probe_batch": batch}
    if method == "fish":
        # As the paper has it for its own rates: 0.005, 0.00333 or 0.002. A tiny model's higher rate must not shrink it.
        options["epsilon"] = FISH_NUMERATOR / (tuned(task, "fish", config)[2] * FISH_INNER_STEPS)
    return options | dict(given)


def losses(settings: Settings, task: str) -> dict[str, str]:
    """The losses for labels and for INV cases."""
    train = settings.train
    assert train is not None
    as_coded = settings.profile == "reference" and task == "sentiment"
    return {"labels": train.loss or ("sigmoid" if as_coded else "softmax"), "invariance": train.invariance}


def _by_length(settings: Settings) -> bool:
    assert settings.train is not None
    chosen = settings.train.group_by_length
    return settings.profile == "recommended" if chosen is None else chosen


def _factor(model: str) -> int:
    return TINY_FACTOR if model.startswith("tiny:") else 1

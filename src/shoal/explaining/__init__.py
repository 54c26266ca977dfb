"""Which words made a model say what it said: a number for each word, and how far such numbers can be trusted.

    lime        a linear model of what it says of copies that lack some words
    shapley     what a word adds, averaged over all orders in which the words can come; exact for short texts
    gradients   integrated gradients on the embeddings of tokens, for Transformers models

Read `copies` for what is asked, `lime`, `shapley` and `gradients` for what is made of it, `quality` for whether to
believe it.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..core.errors import ModelError, PlanError, nearest
from ..core.records import Example
from ..models.batching import example_id
from .attributions import Attribution, How
from .copies import Copies, copies_of

EXPLAINERS: dict[str, tuple[str, str]] = {
    "lime": ("lime", "a linear model of copies with words absent; any model that gives probabilities"),
    "shapley": ("shapley", "Shapley values, exact for short texts; any model that gives probabilities"),
    "gradients": ("gradients", "integrated gradients on token embeddings; Transformers models"),
}
"""Name to the module that explains, and what it is."""

TOGETHER = 20_000
"""Copies at the most that are held at the same time."""


def explain(
    model: object,
    examples: Sequence[Example],
    method: str = "shapley",
    how: How | None = None,
    *,
    labels: Sequence[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Attribution]:
    """How much each word of each example counted for the model's answer.

    What is drawn for an example depends on the seed and its texts, not on which others it is explained with. Labels
    are the names that the model's answers should go by.
    """
    how = how or How()
    attribute = find_explainer(method).attribute
    explained: list[Attribution] = []
    for part in _together(examples, how):
        copies = copies_of(model, part, labels, how)
        _check_label(copies, how)
        rngs = [generator(how.seed, example) for example in part]
        explained += attribute(copies, how, rngs)
        progress(len(explained), len(examples))
    for row in explained:
        if not np.isfinite(row.values).all():
            raise ModelError(
                f"{model!r} gives no finite probabilities to copies of {' '.join(row.units.words)[:200]!r}",
                fix="mend the model: a text with words left out needs an answer too",
            )
    return explained


def find_explainer(method: str) -> Any:
    """The module of an explainer."""
    if method not in EXPLAINERS:
        raise PlanError(
            f"no explainer is called {method!r}",
            why=f"known: {', '.join(EXPLAINERS)}",
            fix=nearest(method, EXPLAINERS) or next(iter(EXPLAINERS)),
        )
    return import_module(f".{EXPLAINERS[method][0]}", __name__)


def generator(seed: int, example: Example) -> np.random.Generator:
    """The chance that belongs to an example."""
    return np.random.default_rng([seed, int(example_id(example), 16)])


def _together(examples: Sequence[Example], how: How) -> Iterator[Sequence[Example]]:
    """Examples in parts whose copies can be held at the same time."""
    size = max(1, TOGETHER // max(1, how.samples or 5_000))
    for start in range(0, len(examples), size):
        yield examples[start : start + size]


def _check_label(copies: Copies, how: How) -> None:
    if how.label and how.label not in (*copies.labels, *how.merged.values()):
        raise PlanError(
            f"no label is called {how.label!r}",
            why=f"the model's are {', '.join(copies.labels)}",
            fix=nearest(how.label, copies.labels) or "one of those",
        )

"""Explanations: how much each word contributed to a model's answer.

`copies` queries the model about copies of a text; `lime`, `shapley` and `gradients` compute attributions.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..core.errors import ModelError, PlanError, nearest
from ..core.records import Example
from ..models.batching import example_id
from .attributions import Attribution, ExplainConfig
from .copies import copies_of

EXPLAINERS = {
    "lime": "a linear model, fitted on copies of the text without some words; any model that gives probabilities",
    "shapley": "Shapley values, exact for short texts; any model that gives probabilities",
    "gradients": "integrated gradients on token embeddings; Transformers models",
}
"""Name to description; the module has the same name."""

TOGETHER = 20_000
"""Upper bound on the copies in memory."""


def explain(
    model: object,
    examples: Sequence[Example],
    method: str = "shapley",
    config: ExplainConfig | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> list[Attribution]:
    """Return the attribution of each example.

    Random draws depend on the seed and the example's texts, not on the other examples. `labels` names the labels of
    the model's answers.
    """
    config = config or ExplainConfig()
    attribute = find_explainer(method).attribute
    explained: list[Attribution] = []
    size = max(1, TOGETHER // max(1, config.samples or 5_000))
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        copies = copies_of(model, part, labels, config)
        rngs = [np.random.default_rng([config.seed, int(example_id(row), 16)]) for row in part]
        explained += attribute(copies, config, rngs)
    for row in explained:
        if not np.isfinite(row.values).all():
            raise ModelError(
                f"{model!r} gives infinite or NaN probabilities for copies of {' '.join(row.units.words)[:200]!r}",
                fix="return probabilities for texts with missing words too",
            )
    return explained


def find_explainer(method: str) -> Any:
    """Return the module of an explainer."""
    if method not in EXPLAINERS:
        raise PlanError(
            f"unknown explainer {method!r}",
            why=f"known explainers are {', '.join(EXPLAINERS)}",
            fix=nearest(method, EXPLAINERS) or next(iter(EXPLAINERS)),
        )
    return import_module(f".{method}", __name__)

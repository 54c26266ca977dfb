"""COOD without training: a prompt that demonstrates the trained combinations (`docs/method/cood.md` 3.8).

A demonstration is an earlier turn with a text of the training split, a statement and the answer. With k shots, each
trained combination has k of them; the held-out combinations have none.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import PlanError
from ...models import load_prompted
from ...models.prompted.prompt import TASKS, Prompt
from .build import Item, training_items
from .cells import LABELS
from .settings import Settings


def replace_model(settings: Settings, spec: str) -> Any:
    """Return the prompted model with demonstrations in its prompt; None for a model to train."""
    if not settings.shots:
        return None
    model = load_prompted(spec, "shots needs")
    model.prompt = demonstrating(settings, model.prompt)
    return model


def demonstrating(settings: Settings, prompt: Prompt) -> Prompt:
    """Return a prompt with the demonstrations, in an order by the seed."""
    if absent := [label for label in LABELS if label not in prompt.labels]:
        raise PlanError(
            f"prompt {prompt.name} has no word for {absent[0]!r}",
            why=f"cood asks whether text and statement agree: {', '.join(LABELS)}",
            fix="prompt=agreement-plain, or for pairs prompt=agreement-pair",
        )
    items = training_items(settings)
    order = np.random.default_rng(settings.seed).permutation(len(items))
    shots = [_shot(items[place], prompt) for place in order.tolist()]
    return replace(prompt, shots=(*prompt.shots, *shots))


def _shot(item: Item, prompt: Prompt) -> dict[str, str]:
    names = TASKS[prompt.task]
    if len(item.example) != len(names):
        raise PlanError(
            f"prompt {prompt.name} takes {' and '.join(names)}; the inputs have {len(item.example)} texts",
            fix="prompt=agreement-plain for single texts, prompt=agreement-pair for pairs",
        )
    return {**dict(zip(names, item.example, strict=True)), "label": item.target}

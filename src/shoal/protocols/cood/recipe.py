"""How a job's model learns the combinations: by training an encoder with a fresh head on the biased set, or in context.

In context (`docs/method/cood.md` 3.8), a demonstration is an earlier turn of the prompt with a text of the training
split, a statement and the answer. With k shots, each trained combination has k of them; the held-out ones have none.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ...core.errors import ModelError, PlanError
from ...core.records import Answers, Example
from ...models import load_model, load_prompted, parse_spec
from ...models.interface import HasTokens
from ...models.prompted.prompt import TASKS, Prompt
from ...training.stage import Recipe, plain_stage
from .build import build, training_items
from .grid import INCONSISTENT, LABELS, target
from .settings import Settings
from .texts import MAX_TOKENS

TINY_RATE, PAPER_RATE = 5e-4, 1e-5


def recipe(settings: Settings, model: str) -> Recipe | None:
    """Return one training on the biased set, queried after every epoch; None for stored answers."""
    if settings.control == ("majority",):
        return Recipe(lambda seed: Majority(), (), {"answers": INCONSISTENT})
    scheme = parse_spec(model).scheme
    if scheme == "predictions" or settings.trained or settings.shots:
        return None
    if scheme in ("python", "openai") or "prompt" in parse_spec(model).options:
        raise ModelError(
            f"{model} cannot be trained by shoal",
            why="cood trains an encoder on biased data before it queries it",
            fix="shots = [0, 4] for a prompted model, which demonstrates the combinations; or hf:FOLDER of an encoder; "
            "or train it on the items that shoal.protocols.cood.export writes, then set trained = true",
        )
    items, is_linear = training_items(settings), settings.train.head == "linear"
    # Tiny models need a larger learning rate. Grouped by length, a batch would have both items of a neutral text.
    how = settings.train.plain(TINY_RATE if scheme == "tiny" else PAPER_RATE, group_by_length=False)
    rows = [(item.examples[0], target(item.groups["cell"])) for item in items]
    content = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    title = f"k{settings.per_label[0]}" + " all cells" * (settings.control == ("all cells",))
    identity = {"items": content, "method": "vanilla", **asdict(how)}
    epochs = tuple(str(epoch + 1) for epoch in range(int(how.epochs)))
    stage = plain_stage(title + " linear head" * is_linear, identity, rows, LABELS, how, epochs)
    head = {"head": "linear"} if is_linear else {}

    def base(seed: int) -> Any:
        fresh = load_model(model).with_fresh_head(LABELS, seed, linear=is_linear)
        check_room(fresh, [case.examples[0] for case in (*items, *build(settings).cases)])
        return fresh

    return Recipe(base, (stage,), {"labels": list(LABELS), **head}, settings.train.threads)


def check_room(model: object, examples: Sequence[Example]) -> None:
    """Raise an error if an input is too long: the template at its end would be truncated."""
    if not isinstance(model, HasTokens):
        return
    lengths = model.lengths(examples)
    if long := sum(length > model.longest for length in lengths):
        raise ModelError(
            f"{model!r} takes {model.longest:,} tokens; {long:,} of {len(lengths):,} inputs are longer, "
            f"up to {max(lengths):,}",
            why="the template at the end would be truncated",
            fix=f'tokenizer = "{model!r}", which drops texts of more than {MAX_TOKENS} word pieces',
        )


class Majority:
    """The majority control: always the answer that is right in six of the nine cells."""

    def __repr__(self) -> str:
        return "the most frequent answer"

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Return `inconsistent` for every example."""
        return Answers(LABELS, np.full(len(examples), LABELS.index(INCONSISTENT), np.int64))


# Demonstrations


def replace_model(settings: Settings, spec: str) -> Any:
    """Return the prompted model with demonstrations in its prompt; None for a model to train."""
    if not settings.shots:
        return None
    model = load_prompted(spec, "shots needs")
    model.prompt = demonstrating(settings, model.prompt)
    return model


def demonstrating(settings: Settings, prompt: Prompt) -> Prompt:
    """Return a prompt with the demonstrations, in an order by the seed."""
    items, names = training_items(settings), TASKS[prompt.task]
    fix = "prompt=agreement-plain for single texts, prompt=agreement-pair for pairs"
    if absent := [label for label in LABELS if label not in prompt.labels]:
        raise PlanError(f"prompt {prompt.name} has no word for {absent[0]!r}", fix=fix)
    if counts := {len(item.examples[0]) for item in items} - {len(names)}:
        takes = " and ".join(names)
        raise PlanError(f"prompt {prompt.name} takes {takes}; the inputs have {counts.pop()} texts", fix=fix)
    shots = [
        {**dict(zip(names, item.examples[0], strict=True)), "label": target(item.groups["cell"])}
        for item in (items[place] for place in np.random.default_rng(settings.seed).permutation(len(items)))
    ]
    return replace(prompt, shots=(*prompt.shots, *shots))

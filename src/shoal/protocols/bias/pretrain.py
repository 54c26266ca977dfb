"""Checkpoints made here: the recipe of a small masked language model, one for every seed of the plan."""

from typing import Any

from ...core.errors import PlanError
from ...training.stage import Mark, Progress, Recipe, Stage
from ...training.text import about_how_many_blocks, digest
from .settings import Pretrain

MODEL = "tiny:masked"
POSITIONS = 128
"""Tokens that the model takes; a sentence of a diagnostic may be longer than a block of the text."""


def make_recipe(pretrain: Pretrain, model: str) -> Recipe:
    """A fresh model from the seed, and one stage that trains all of it on the text."""
    if model != MODEL:
        raise PlanError(
            f"pretrain makes a model from nothing; {model} has weights already",
            fix=f'models = ["{MODEL}"], or leave pretrain out to ask the model as it is',
        )
    if not 8 <= pretrain.block <= POSITIONS:
        raise PlanError(
            f"pretrain.block = {pretrain.block}",
            why=f"8 to {POSITIONS} tokens are expected",
            fix="pretrain.block = 64",
        )
    how = pretrain.plain(pretrain.learning_rate)
    content = digest(pretrain.text)
    shape = {
        "width": pretrain.width,
        "layers": pretrain.layers,
        "heads": pretrain.heads,
        "vocabulary": pretrain.vocabulary,
        "length": max(POSITIONS, pretrain.block),
    }

    def base(seed: int) -> Any:
        from ...training.from_scratch import Shape, fresh_masked_model

        return fresh_masked_model(pretrain.text, Shape(**shape), seed)

    def train(model: Any, seed: int, progress: Progress, mark: Mark) -> None:
        from ...training.from_scratch import pretrain as train_masked

        train_masked(model, pretrain.text, how, pretrain.block, seed, progress, mark, marks)

    marks = marks_of(pretrain)
    identity = {
        "task": "masked tokens 15 % 80/10/10",
        "text": content,
        "block": pretrain.block,
        "batch": how.batch,
        "epochs": how.epochs,
        "learning rate": how.learning_rate,
        "warm up": how.warm_up,
    }
    steps = how.steps(-(-about_how_many_blocks(pretrain.text, pretrain.block) // how.batch))
    return Recipe(
        base,
        (Stage("pretrain", identity, steps, train, marks),),
        {"text": content, **shape},
        pretrain.threads,
    )


def marks_of(pretrain: Pretrain) -> tuple[str, ...]:
    """The epochs after which the model is asked, the last one always among them; none where only the end counts."""
    if not pretrain.ask_after:
        return ()
    last = -(-pretrain.epochs // 1)
    wrong = [epoch for epoch in pretrain.ask_after if not 1 <= epoch <= last]
    if wrong:
        raise PlanError(
            f"pretrain.ask_after: no epoch {wrong[0]} in a training of {pretrain.epochs:g}",
            fix="an epoch from 1 to the last",
        )
    return tuple(str(epoch) for epoch in sorted({*pretrain.ask_after, int(last)}))

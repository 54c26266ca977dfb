"""Training in bfloat16, and on another device than the CPU."""

from typing import Any

import numpy as np
import torch

from shoal import load_model
from shoal.training.config import TrainConfig
from shoal.training.loop import train
from shoal.training.methods import make_method

LABELS = ("negative", "positive")
HOW = TrainConfig(learning_rate=1e-3, batch=8, epochs=0.2)
"""Few steps: without a processor made for it bfloat16 is slow."""


def model_of(options: str = "", seed: int = 0) -> Any:
    return load_model(f"tiny:sentiment{options}").with_fresh_head(LABELS, seed)


def test_in_bfloat16_matrices_are_multiplied_in_it_and_weights_are_not(toy):
    model, kinds = model_of("?dtype=bfloat16"), set()
    network = model.network("classify")
    network.bert.encoder.layer[0].output.dense.register_forward_hook(
        lambda part, given, made: kinds.add(made.dtype)
    )
    losses = train(model, toy, make_method("vanilla"), HOW, 0)
    assert kinds == {torch.bfloat16}
    assert {weight.dtype for weight in network.parameters()} == {torch.float32}
    full = model_of()
    other = train(full, toy, make_method("vanilla"), HOW, 0)
    assert losses != other
    assert np.abs(np.array(losses) - other).max() < 0.1
    examples = [item.example for item in toy[0].items]
    answers = [one.classify(examples, LABELS) for one in (model, full)]
    assert np.abs(answers[0].probabilities - answers[1].probabilities).max() < 0.1
    assert not np.array_equal(answers[0].probabilities, answers[1].probabilities), "asked in other digits"

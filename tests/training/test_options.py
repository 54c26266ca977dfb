"""Every option of every method changes what is learnt: none is there for show."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from shoal.core.records import Example
from shoal.training.config import TrainConfig
from shoal.training.environments import Environment
from shoal.training.loop import train
from shoal.training.methods import METHODS, make_method

OTHERS: dict[tuple[str, str], Any] = {
    ("l2", "decay"): 0.9,
    ("dropout", "rate"): 0.6,
    ("irm", "penalty"): 30.0,
    ("irm", "first_penalty"): 0.1,
    ("irm", "penalty_start"): 0.7,
    ("irm", "per_step"): 2,
    ("group-dro", "step_size"): 0.5,
    ("fish", "inner_steps"): 2,
    ("fish", "epsilon"): 0.1,
    ("fish", "plain_share"): 0.6,
    ("lp-ft", "probe_learning_rate"): 0.5,
    ("lp-ft", "probe_batch"): 2,
    ("lora", "rank"): 2,
    ("lora", "alpha"): 64.0,
}
"""Another value of a number; a yes becomes a no, shares and kappa are named once for all."""
NUMBERS = {"kappa": 2.0, "iid_share": 0.1}


class Words(nn.Module):
    """A bag of words, some of which drop out, under a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.base_model = nn.Sequential(nn.EmbeddingBag(64, 8), nn.Linear(8, 8), nn.Dropout(0.1))
        self.classifier = nn.Linear(8, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.classifier(self.base_model(tokens))
        return logits


class SmallModel:
    """As much of a model as training needs."""

    trained, device, head, frozen = "classify", "cpu", None, None
    padding: Mapping[str, int] = {}

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.words = Words()

    def network(self, asked: str) -> nn.Module:
        return self.words

    def tokenise(self, examples: Sequence[Example]) -> dict[str, list[Any]]:
        codes = [[zlib.crc32(word.encode()) % 63 + 1 for word in text.split()] for (text,) in examples]
        return {"input_ids": [np.array(row, np.int64) for row in codes]}

    def forward(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self.words(inputs["input_ids"])
        return logits


def learnt(
    environments: Sequence[Environment],
    name: str,
    options: Mapping[str, Any],
    losses: Mapping[str, str] | None = None,
) -> torch.Tensor:
    """The weights after a short training."""
    model = SmallModel()
    train(model, environments, make_method(name, options), TrainConfig(0.05, 8, 1), seed=0, losses=losses)
    return torch.cat([weight.detach().flatten() for weight in model.words.parameters()])


def test_sigmoids_change_what_is_learnt(toy):
    assert not torch.equal(learnt(toy, "vanilla", {}), learnt(toy, "vanilla", {}, {"labels": "sigmoid"}))


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, field.name) for name in METHODS for field in fields(METHODS[name]) if field.init],  # type: ignore[arg-type]
)
def test_every_option_changes_what_is_learnt(toy, name, option):
    usual = getattr(make_method(name), option)
    other = not usual if isinstance(usual, bool) else NUMBERS.get(option, OTHERS.get((name, option)))
    assert other is not None, f"no other value for {name}: {option}"
    # Environments of unequal size, or it would not matter how they are drawn.
    uneven = [Environment(one.name, one.kind, one.items[: 8 + 5 * rank]) for rank, one in enumerate(toy)]
    assert not torch.equal(learnt(uneven, name, {}), learnt(uneven, name, {option: other}))

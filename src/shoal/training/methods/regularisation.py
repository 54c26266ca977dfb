"""Regularised training: weight decay (L2) and more dropout."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn

from ..batch import Batch
from ..config import TrainConfig
from ..learner import Learner, Stepper
from .base import BelowOne, Method, Penalty, Phase


@dataclass
class L2(Method):
    """Plain training with weight decay.

    The paper describes an ℓ2 penalty; its code uses AdamW's decoupled decay without biases and norms. We follow the
    code; `penalty` adds ½ · decay · ‖θ‖² to the loss instead.
    """

    decay: Penalty = 0.1
    penalty: bool = False
    moves_every_weight: ClassVar[bool] = True

    def phases(self, config: TrainConfig) -> list[Phase]:
        return [Phase(config if self.penalty else replace(config, weight_decay=self.decay))]

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> Tensor:
        """Update the model once from one batch; return its loss."""
        if not self.penalty:
            return super().step(model, batches, stepper, progress)
        (batch,) = batches
        loss = batch.loss(model(batch.inputs))
        size = torch.stack([weight.square().sum() for weight in stepper.weights]).sum()
        stepper.step(loss + self.decay / 2 * size)
        return loss.detach()


@dataclass
class Dropout(Method):
    """Plain training with hidden and attention dropout at this rate, where BERT has 0.1."""

    rate: BelowOne = 0.3

    def phases(self, config: TrainConfig) -> list[Phase]:
        return [Phase(config, partial(dropout_at, rate=self.rate))]


@contextmanager
def dropout_at(network: nn.Module, rate: float) -> Iterator[None]:
    """Set every dropout of a network to this rate inside this block."""
    # Some networks store the attention dropout as a plain number.
    places = [
        (part, name)
        for part in network.modules()
        for name, value in vars(part).items()
        if isinstance(value, float) and ("dropout" in name or (name == "p" and isinstance(part, nn.Dropout)))
    ]
    before = [getattr(part, name) for part, name in places]
    for part, name in places:
        setattr(part, name, rate)
    try:
        yield
    finally:
        for (part, name), own in zip(places, before, strict=True):
            setattr(part, name, own)

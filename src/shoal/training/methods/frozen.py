"""Methods that freeze the encoder: linear probing (LP), probing before everything else (LP-FT), and LoRA.

LP-FT keeps an untrained head from distorting the encoder (Kumar et al. 2022, https://arxiv.org/abs/2202.10054). LoRA
learns a low-rank update of each matrix (Hu et al. 2022, https://arxiv.org/abs/2106.09685).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from ...core.errors import ModelError
from ...core.ranges import Rate, Within
from ..config import TrainConfig
from .base import Method, Phase


@contextmanager
def frozen_encoder(network: nn.Module) -> Iterator[nn.Module]:
    """Freeze the encoder inside this block."""
    encoder = network.base_model
    assert isinstance(encoder, nn.Module)
    learning = [(name, weight.requires_grad) for name, weight in encoder.named_parameters()]
    encoder.requires_grad_(False)
    try:
        yield encoder
    finally:
        for name, before in learning:
            encoder.get_parameter(name).requires_grad_(before)


@dataclass
class LP(Method):
    """Plain training of the head alone; the pooler counts as encoder.

    The paper's code keeps dropout in the frozen encoder: `frozen_dropout`. We turn it off, so that each example is
    encoded once.
    """

    frozen_dropout: bool = False

    def phases(self, config: TrainConfig) -> list[Phase]:
        return [probing(config, self.frozen_dropout)]


def probing(config: TrainConfig, dropout: bool) -> Phase:
    """Return a phase that trains the head only, with or without dropout in the encoder."""

    @contextmanager
    def head_alone(network: nn.Module) -> Iterator[None]:
        with frozen_encoder(network) as encoder:
            encoder.train(dropout)
            yield

    return Phase(config, head_alone, frozen=not dropout)


@dataclass
class LPFT(Method):
    """Half of the epochs each, with optimiser and schedule anew in between: 1.5 and 1.5 of the paper's three.

    The second half is plain training; the first has the learning rate and the batch of `lp`.
    """

    probe_learning_rate: Rate = 1e-3
    probe_batch: Annotated[int, Within(0, 100_000)] = 0
    """0 for that of the second half."""
    frozen_dropout: bool = False

    def phases(self, config: TrainConfig) -> list[Phase]:
        first = replace(
            config,
            learning_rate=self.probe_learning_rate,
            batch=self.probe_batch or config.batch,
            epochs=config.epochs / 2,
        )
        second = replace(config, epochs=config.epochs / 2)
        return [probing(first, self.frozen_dropout), Phase(second)]


@dataclass
class LoRA(Method):
    """Train W + (alpha / rank) · B A in every linear layer of the encoder, and the head; then merge the updates.

    B starts at zero, so training starts where plain training does.
    """

    rank: Annotated[int, Within(1, 10_000)] = 8
    alpha: Annotated[float, Within(0, 1e6, above=True)] = 16.0

    def phases(self, config: TrainConfig) -> list[Phase]:
        return [Phase(config, partial(adapted, rank=self.rank, scale=self.alpha / self.rank))]


class LowRank(nn.Module):
    """A low-rank update of a matrix."""

    def __init__(self, rows: int, columns: int, rank: int, scale: float) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        self.second = nn.Parameter(torch.zeros(rows, rank))
        self.scale = scale

    def forward(self, matrix: Tensor) -> Tensor:
        """Return the updated matrix."""
        return matrix + self.scale * (self.second @ self.first)


@contextmanager
def adapted(network: nn.Module, rank: int, scale: float) -> Iterator[None]:
    """Train only the adapters and the head inside this block, then merge the adapters."""
    with frozen_encoder(network) as encoder:
        layers = [part for part in encoder.modules() if isinstance(part, nn.Linear)]
        if not layers:
            raise ModelError(
                "lora: the encoder has no linear layer to adapt", fix="another method: vanilla, lp"
            )
        for layer in layers:
            rows, columns = layer.weight.shape
            adapter = LowRank(rows, columns, rank, scale).to(layer.weight.device)
            parametrize.register_parametrization(layer, "weight", adapter)
        try:
            yield
        finally:
            for layer in layers:
                parametrize.remove_parametrizations(layer, "weight")

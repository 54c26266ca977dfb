"""LoRA: freeze the encoder's matrices and learn a low-rank update of each.

Hu et al. 2022, https://arxiv.org/abs/2106.09685
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from ...core.errors import ModelError
from ...core.ranges import Within
from ..config import TrainConfig
from .base import Method, Phase, frozen_encoder


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

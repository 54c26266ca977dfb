"""Linear probing: train the head on a frozen encoder, alone (LP) or before everything else (LP-FT).

LP-FT keeps an untrained head from distorting the encoder (Kumar et al. 2022, https://arxiv.org/abs/2202.10054).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from torch import nn

from ...core.ranges import Rate, Within
from ..config import TrainConfig
from .base import Method, Phase, frozen_encoder


@dataclass
class LP(Method):
    """Plain training of the head alone; the pooler counts as encoder.

    The paper's code keeps dropout in the frozen encoder: `frozen_dropout`. We turn it off, so that each example is
    encoded once.
    """

    frozen_dropout: bool = False

    def phases(self, config: TrainConfig) -> list[Phase]:
        return [probing(config, self.frozen_dropout)]


def probing(config: TrainConfig, frozen_dropout: bool) -> Phase:
    """Return a phase that trains the head only."""
    return Phase(config, partial(head_alone, dropout=frozen_dropout), frozen=not frozen_dropout)


@contextmanager
def head_alone(network: nn.Module, dropout: bool) -> Iterator[None]:
    """Freeze the encoder inside this block, with or without its dropout."""
    with frozen_encoder(network) as encoder:
        encoder.train(dropout)
        yield


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

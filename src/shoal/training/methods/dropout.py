"""Dropout: more of the network is left out at random while it trains."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from torch import nn

from ..config import How
from .base import Method, Phase, refuse_outside


@dataclass
class Dropout(Method):
    """Plain training with hidden and attention dropout at this rate, where BERT has 0.1."""

    rate: float = 0.3

    def __post_init__(self) -> None:
        refuse_outside("dropout: rate", self.rate, 0, 1, below=True, example=0.3)

    def phases(self, how: How) -> list[Phase]:
        """One, with another rate."""
        return [Phase(how, partial(dropout_at, rate=self.rate))]


@contextmanager
def dropout_at(network: nn.Module, rate: float) -> Iterator[None]:
    """Every dropout of a network at this rate, and afterwards at its own again."""
    # Some networks keep the rate of their attention as a plain number, and pass it on themselves.
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

"""LP, linear probing: the encoder stays as it is, only the head learns."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from torch import nn

from ..config import How
from .base import Method, Phase


@dataclass
class LP(Method):
    """Plain training of the head alone; the pooler counts as encoder.

    The paper's code leaves dropout on in the frozen encoder: `frozen_dropout`. We leave it off, and then what the
    encoder makes of an example is computed once.
    """

    frozen_dropout: bool = False

    def phases(self, how: How) -> list[Phase]:
        """One, with a frozen encoder."""
        return [probing(how, self.frozen_dropout)]


def probing(how: How, frozen_dropout: bool) -> Phase:
    """A phase in which only the head learns."""
    return Phase(how, partial(frozen_encoder, dropout=frozen_dropout), frozen=not frozen_dropout)


@contextmanager
def frozen_encoder(network: nn.Module, dropout: bool) -> Iterator[None]:
    """No gradient reaches the encoder, and unless asked for nothing in it is left to chance."""
    encoder = network.base_model
    assert isinstance(encoder, nn.Module)
    learning = [weight for weight in encoder.parameters() if weight.requires_grad]
    for weight in learning:
        weight.requires_grad_(False)
    encoder.train(dropout)
    try:
        yield
    finally:
        for weight in learning:
            weight.requires_grad_(True)

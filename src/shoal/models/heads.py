"""A head that is one linear layer on the first token's last state, in the place of the architecture's own.

Classifiers of Transformers put a layer and a tanh between the two: BERT in its pooler, RoBERTa and others in the head
itself. Papers often say "a linear classifier on [CLS]" and mean either.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..core.errors import ModelError


class FirstState(nn.Module):
    """In the place of a pooler: the first token's state as it is."""

    def forward(self, states: Tensor) -> Tensor:
        """(texts, tokens, width) to (texts, width)."""
        return states[:, 0]


class LinearOnFirstState(nn.Module):
    """In the place of a head that reads all states."""

    def __init__(self, dropout: nn.Module, out_proj: nn.Linear) -> None:
        super().__init__()
        self.dropout, self.out_proj = dropout, out_proj

    def forward(self, states: Tensor, **_: Any) -> Tensor:
        """(texts, tokens, width) to (texts, labels)."""
        logits: Tensor = self.out_proj(self.dropout(states[:, 0]))
        return logits


def make_linear(network: Any, name: str) -> None:
    """Leave of a network's head its last layer alone, on the first token's state."""
    head: Any = getattr(network, "classifier", None)
    encoder = network.base_model
    if isinstance(head, nn.Linear) and isinstance(getattr(encoder, "pooler", None), nn.Module):
        encoder.pooler = FirstState()
    elif isinstance(getattr(head, "out_proj", None), nn.Linear) and hasattr(head, "dropout"):
        network.classifier = LinearOnFirstState(head.dropout, head.out_proj)
    else:
        raise ModelError(
            f"{name}: no linear head for a {type(network).__name__}",
            why="it is known for models with BERT's pooler or RoBERTa's head",
            fix='head = "own"',
        )
    _check(network, name)


def _check(network: Any, name: str) -> None:
    """Refuse a network in which something else still stands between state and answer."""
    tokens = torch.arange(1, 5, device=network.device)[None]
    with torch.inference_mode():
        state = network.base_model(input_ids=tokens).last_hidden_state[:, 0]
        layer = getattr(network.classifier, "out_proj", network.classifier)
        same = torch.allclose(layer(state), network(input_ids=tokens).logits, atol=1e-5)
    if not same:
        raise ModelError(f"{name}: its answers are not linear in the first token's state", fix='head = "own"')

"""Training a network with less memory: half the digits while computing, and a batch in pieces.

    dtype=bfloat16    weights, gradients and moments in single precision; what is computed of them in bfloat16
    accumulate=4      a batch in four pieces, one after the other; their gradients are added up

The loss is computed of the logits of the whole batch, so the gradient is that of the whole batch for every method and
every loss, also for those that are no sum over cases; only the network, which reads each row by itself, is given
pieces. For that each piece is computed twice, the second time when its gradient is wanted, with the same dropout.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

Inputs = Mapping[str, Tensor]


def computing_in(dtype: str, device: str) -> AbstractContextManager[Any]:
    """A block in which matrices are multiplied in this precision; in single precision nothing changes."""
    if dtype == "float32":
        return nullcontext()
    return torch.autocast(torch.device(device).type, getattr(torch, dtype))


def in_pieces(forward: Callable[[Inputs], Tensor], inputs: Inputs, count: int) -> Tensor:
    """The logits of a batch, computed in so many pieces; of a batch with fewer rows, in as many."""
    rows = len(next(iter(inputs.values())))
    if min(count, rows) < 2 or not torch.is_grad_enabled():
        return forward(inputs)
    columns = [column.tensor_split(min(count, rows)) for column in inputs.values()]
    pieces = [dict(zip(inputs, piece, strict=True)) for piece in zip(*columns, strict=True)]
    return torch.cat([checkpoint(forward, piece, use_reentrant=False) for piece in pieces])

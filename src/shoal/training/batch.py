"""Batches: inputs from one environment, and the loss of its test type.

Every distinct example is tokenised once per training. A batch is padded to its longest example.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..core.records import Example
from ..models.forward import is_like_bert

Rows = NDArray[np.int64]
Inputs = dict[str, Tensor]


class BoundedLoss:
    """A loss with a known lower bound, and with as many numbers in `scale` as it needs."""

    @property
    def multipliers(self) -> int:
        """Return how many numbers `scale` has for a case; 0 for one per label."""
        return 0

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        """Return the mean loss."""
        raise NotImplementedError

    def floor(self, logits: Tensor) -> Tensor | float:
        """Return the lowest loss that is possible with these logits; 0 for most losses."""
        return 0.0


NO_BOUND = BoundedLoss()


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs from one environment, and the loss of its test type."""

    environment: str
    inputs: Any
    loss: Callable[..., Tensor]
    """Maps logits to the mean loss; `scale` multiplies the logits of each case (IRM's dummy classifier)."""
    cases: int = 0
    """Number of cases in the mean."""

    @property
    def bounded(self) -> BoundedLoss:
        """Return the lower bound and the scale of the loss; a plain function has neither."""
        return self.loss if isinstance(self.loss, BoundedLoss) else NO_BOUND


def padded(rows: Sequence[Rows], filler: int) -> Rows:
    """Return rows of different lengths as one table, filled up at the end."""
    lengths = np.array([len(row) for row in rows])
    filled = np.arange(lengths.max()) < lengths[:, None]
    table = np.full(filled.shape, filler, np.int64)
    table[filled] = np.concatenate(rows)
    return table


def to_device(tensor: Tensor, device: Any) -> Tensor:
    """Return a tensor on a device; a GPU copies it from pinned memory, and nothing waits for that."""
    kind = torch.device(device).type
    if kind == "mps":  # it has no float64, and it may copy after the source is gone
        return (tensor.float() if tensor.dtype == torch.float64 else tensor).to(device)
    pinned = tensor.pin_memory() if kind == "cuda" and tensor.device.type == "cpu" else tensor
    return pinned.to(device, non_blocking=True)


def inputs_on(device: Any, network: Any, tables: Mapping[str, Rows]) -> Inputs:
    """Return tables as inputs of a network.

    Transformers looks for padding in a mask, which waits for the device. It takes a square mask as it is.
    """
    inputs = {name: to_device(torch.from_numpy(table), device) for name, table in tables.items()}
    has_mask = "attention_mask" in inputs
    if has_mask and is_like_bert(network) and network.config._attn_implementation == "sdpa":
        mask = inputs.pop("attention_mask").bool()[:, None, None]
        if not tables["attention_mask"].all():
            inputs["attention_mask"] = mask.expand(-1, 1, mask.shape[-1], -1)
    return inputs


class Source:
    """The distinct examples of a training, by row."""

    place: Mapping[Example, int]
    lengths: Rows

    def rows(self, examples: Iterable[Example]) -> list[int]:
        """Return the rows of these examples."""
        return [self.place[example] for example in examples]

    def take(self, rows: Rows) -> Inputs:
        """Return these rows as network inputs."""
        raise NotImplementedError


class Tokens(Source):
    """The distinct examples as tokens, truncated to the model's length."""

    def __init__(self, model: Any, examples: Iterable[Example]) -> None:
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.columns: dict[str, list[Rows]] = model.tokenise(list(self.place))
        self.padding, self.device, self.network = model.padding, model.device, model.network(model.trained)
        self.lengths = np.array([len(row) for row in self.columns["input_ids"]], np.int64)

    def take(self, rows: Rows) -> Inputs:
        tables = {
            name: padded([column[row] for row in rows.tolist()], self.padding.get(name, 0))
            for name, column in self.columns.items()
        }
        return inputs_on(self.device, self.network, tables)


class Vectors(Source):
    """The distinct examples as features of a frozen encoder."""

    def __init__(self, model: Any, examples: Iterable[Example]) -> None:
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.vectors = torch.from_numpy(model.frozen_features(list(self.place))).to(model.device)
        self.lengths = np.ones(len(self.place), np.int64)

    def take(self, rows: Rows) -> Inputs:
        return {"features": self.vectors[to_device(torch.from_numpy(rows), self.vectors.device)]}

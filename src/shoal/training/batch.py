"""One batch: inputs from one environment, and the loss that its test type asks for.

Every distinct example is tokenised once per training; a batch is padded to the longest of its own examples.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..core.records import Example

Rows = NDArray[np.int64]
Inputs = dict[str, Tensor]


class Loss(Protocol):
    """Logits to a loss: the mean over the cases of a batch."""

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        """`scale` multiplies the logits, a row per case or one for all: IRM's dummy classifier.

        A number for each label; of spans, for each token.
        """
        ...


def no_floor(logits: Tensor) -> float:
    """Of a loss that can be nil."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs from one environment, and the loss their test type asks for."""

    environment: str
    inputs: Any
    loss: Loss
    kind: str = "iid"
    cases: int = 0
    """How many cases the loss is the mean of."""
    multipliers: int = 0
    """How many numbers `scale` has for a case; 0: as many as there are labels."""
    floor: Callable[[Tensor], float] = no_floor
    """Logits to what no model could get the loss below: soft labels and the paper's invariance have entropy."""


class Source(Protocol):
    """Where a batch's inputs come from: the distinct examples of a training, by row."""

    lengths: Rows

    def rows(self, examples: Iterable[Example]) -> list[int]:
        """Where these examples are."""
        ...

    def take(self, rows: Rows) -> Inputs:
        """Those rows as the network takes them."""
        ...


class Tokens:
    """The distinct examples of a training as tokens, cut to what the model takes."""

    def __init__(self, model: Any, examples: Iterable[Example]) -> None:
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.columns: dict[str, list[NDArray[np.int64]]] = model.tokenise(list(self.place))
        self.padding, self.device = model.padding, model.device
        self.lengths = np.array([len(row) for row in self.columns["input_ids"]], np.int64)

    def rows(self, examples: Iterable[Example]) -> list[int]:
        """Where these examples are."""
        return [self.place[example] for example in examples]

    def take(self, rows: Rows) -> Inputs:
        """Those rows, padded to the longest of them."""
        lengths = self.lengths[rows]
        filled = np.arange(lengths.max()) < lengths[:, None]
        chosen = rows.tolist()
        return {
            name: self._padded(name, filled, [column[row] for row in chosen])
            for name, column in self.columns.items()
        }

    def _padded(self, name: str, filled: NDArray[np.bool_], parts: Sequence[NDArray[np.int64]]) -> Tensor:
        table = np.full(filled.shape, self.padding.get(name, 0), np.int64)
        table[filled] = np.concatenate(parts)
        return torch.from_numpy(table).to(self.device)


class Vectors:
    """The distinct examples of a training as what a frozen encoder makes of them."""

    def __init__(self, model: Any, examples: Iterable[Example]) -> None:
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.vectors = torch.from_numpy(model.frozen_features(list(self.place))).to(model.device)
        self.lengths = np.ones(len(self.place), np.int64)

    def rows(self, examples: Iterable[Example]) -> list[int]:
        """Where these examples are."""
        return [self.place[example] for example in examples]

    def take(self, rows: Rows) -> Inputs:
        """Those rows; they need no padding."""
        return {"features": self.vectors[torch.from_numpy(rows)]}

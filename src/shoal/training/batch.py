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

    def floor(self, logits: Tensor) -> float:
        """Return the lower bound for a batch with these logits: 0 for most losses."""
        return 0.0


NO_BOUND = BoundedLoss()


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs from one environment, and the loss of its test type."""

    environment: str
    inputs: Any
    loss: Callable[..., Tensor]
    """Maps logits to the mean loss; `scale` multiplies the logits of each case (IRM's dummy classifier)."""
    kind: str = "iid"
    cases: int = 0
    """Number of cases in the mean."""

    @property
    def bounded(self) -> BoundedLoss:
        """Return the lower bound and the scale of the loss; a plain function has neither."""
        return self.loss if isinstance(self.loss, BoundedLoss) else NO_BOUND


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
        self.columns: dict[str, list[NDArray[np.int64]]] = model.tokenise(list(self.place))
        self.padding, self.device = model.padding, model.device
        self.lengths = np.array([len(row) for row in self.columns["input_ids"]], np.int64)

    def take(self, rows: Rows) -> Inputs:
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


class Vectors(Source):
    """The distinct examples as features of a frozen encoder."""

    def __init__(self, model: Any, examples: Iterable[Example]) -> None:
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.vectors = torch.from_numpy(model.frozen_features(list(self.place))).to(model.device)
        self.lengths = np.ones(len(self.place), np.int64)

    def take(self, rows: Rows) -> Inputs:
        return {"features": self.vectors[torch.from_numpy(rows)]}

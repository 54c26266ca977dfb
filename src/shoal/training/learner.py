"""What a method works with: the model as a function from inputs to logits, and the optimiser.

Training keeps only the rows of the word table that its texts use. Other rows have no gradient, and AdamW without decay
leaves them alone, so they need neither gradients nor moments. With 30,000 word pieces of which the texts use 3,000,
that is most of what an update reads and writes. The weights are identical to the last bit (one thread).
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .config import TrainConfig

LARGE = 2**20
"""Numbers in a table from which on it is worth the trouble."""
LANES = 64
"""Rows of a multiple of so many numbers fill whole vectors."""


class UsedRows(nn.Module):
    """A table of words that has only those which are used; asked for others, it does not know them."""

    def __init__(self, whole: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach()[used].clone())
        self.weight.requires_grad_(whole.weight.requires_grad)
        # Not a buffer: it is no part of what the network has learnt.
        self.place = torch.full((len(whole.weight),), -1, device=used.device)
        self.place[used] = torch.arange(len(used), device=used.device)
        padding = whole.padding_idx
        self.padding = None if padding is None else int(self.place[padding])

    def forward(self, words: Tensor) -> Tensor:
        """The rows of these words."""
        return nn.functional.embedding(self.place[words], self.weight, self.padding)


class Vocabulary:
    """The word table of a network, whole or as far as it is used."""

    def __init__(self, network: nn.Module, table: nn.Embedding, used: Tensor) -> None:
        self.network, self.table, self.used = network, table, used
        self.part = UsedRows(table, used)

    def narrow(self) -> None:
        """Only the rows that are used."""
        self.network.set_input_embeddings(self.part)  # type: ignore[operator]

    def widen(self) -> None:
        """All of them, with what was learnt."""
        with torch.no_grad():
            self.table.weight[self.used] = self.part.weight
        self.network.set_input_embeddings(self.table)  # type: ignore[operator]

    @contextmanager
    def whole(self) -> Iterator[None]:
        """All words, for as long as the network is asked whatever comes."""
        self.widen()
        try:
            yield
        finally:
            self.narrow()


def is_large(network: nn.Module) -> bool:
    """Whether the word table of a network is worth the trouble; most that are trained in tests are not."""
    table = _table(network)
    return table is not None and table.weight.numel() >= LARGE


def vocabulary_of(network: nn.Module, rows: Iterable[NDArray[np.int64]]) -> Vocabulary | None:
    """The words of these texts, where training with them alone is the same and worth it; else None."""
    table = _table(network)
    if table is None or not _is_plain(network, table):
        return None
    padding = [] if table.padding_idx is None else [table.padding_idx]
    used = np.unique(np.concatenate([np.array(padding, np.int64), *rows]))
    if 2 * len(used) > len(table.weight):
        return None
    return Vocabulary(network, table, torch.from_numpy(used).to(table.weight.device))


def _table(network: nn.Module) -> nn.Embedding | None:
    found = network.get_input_embeddings() if hasattr(network, "get_input_embeddings") else None  # type: ignore[operator]
    return found if type(found) is nn.Embedding else None


def _is_plain(network: nn.Module, table: nn.Embedding) -> bool:
    """A table that is looked up and nothing else: not tied to another layer, not scaled, not watched."""
    shared = sum(weight is table.weight for _, weight in network.named_parameters(remove_duplicate=False))
    special = table.max_norm is not None or table.scale_grad_by_freq or table.sparse
    watched = table._forward_hooks or table._forward_pre_hooks
    return table.embedding_dim % LANES == 0 and shared == 1 and not special and not watched


BETAS, EPSILON = (0.9, 0.999), 1e-8
CLIP = 1.0
"""The norm at which the gradients of all weights together are clipped."""


class Learner:
    """The model as a method sees it: inputs to logits, and the weights under training."""

    def __init__(
        self, network: nn.Module, forward: Callable[[Any], Tensor], vocabulary: Vocabulary | None = None
    ) -> None:
        self.network, self.forward, self.vocabulary = network, forward, vocabulary

    def __call__(self, inputs: Any) -> Tensor:
        return self.forward(inputs)

    def weights(self) -> list[nn.Parameter]:
        """Those that are not frozen."""
        return [weight for weight in self.network.parameters() if weight.requires_grad]

    @contextmanager
    def asked(self) -> Iterator[None]:
        """As it is when it answers; afterwards every part is back in the mode it was in."""
        with self.vocabulary.whole() if self.vocabulary else nullcontext():
            modes = [(part, part.training) for part in self.network.modules()]
            self.network.eval()
            try:
                yield
            finally:
                for part, mode in modes:
                    part.training = mode


class Stepper:
    """AdamW with linear decay to nothing, gradients clipped at a norm (`docs/method/beluga.md` 1.6).

    Methods add up gradients and then update once; `step` does both for one loss.
    """

    def __init__(self, weights: list[nn.Parameter], config: TrainConfig, total: int) -> None:
        self.weights, self.config, self.total = weights, config, total
        self.done = 0
        self.optimiser = torch.optim.AdamW(
            self._groups(), lr=self.config.rate, betas=BETAS, eps=EPSILON, weight_decay=0.0, fused=True
        )

    def _groups(self) -> list[dict[str, Any]]:
        """All weights alike; with decay, biases and norms are spared, as Transformers' trainer does."""
        decay = self.config.weight_decay
        if not decay:
            return [{"params": self.weights}]
        matrices = [weight for weight in self.weights if weight.ndim > 1]
        others = [weight for weight in self.weights if weight.ndim <= 1]
        return [{"params": matrices, "weight_decay": decay}, {"params": others}]

    def step(self, objective: Tensor) -> None:
        """Down this gradient, once."""
        self.add(objective)
        self.update()

    def add(self, objective: Tensor) -> None:
        """Add this gradient to those already there."""
        objective.backward()

    def update(self) -> None:
        """Clip what was added, step, and go on in the schedule."""
        gradients = [weight.grad for weight in self.weights if weight.grad is not None]
        if not gradients:
            return
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one) for one in gradients]))
        if norm > CLIP:
            shrink = CLIP / (norm + 1e-6)
            for gradient in gradients:
                gradient.mul_(shrink)
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.rate * self.rate()
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.done += 1

    def rate(self) -> float:
        """The share of the learning rate that the next update has."""
        rising = int(self.config.warm_up * self.total)
        if self.done < rising:
            return (self.done + 1) / rising
        return max(0.0, (self.total - self.done) / (self.total - rising))

    def drift(self) -> None:
        """One step on momentum alone, which optimiser and schedule then forget: a slip of BELUGA's Fish."""
        before = copy.deepcopy(self.optimiser.state_dict())
        for weight in self.weights:
            weight.grad = torch.zeros_like(weight)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.optimiser.load_state_dict(before)

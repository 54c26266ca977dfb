"""The tools of a method: the model as a function from inputs to logits, and the optimiser.

Training keeps only the rows of the word table that its texts use. Other rows have no gradient, and AdamW without decay
leaves them alone. With a table of 30,000 word pieces this saves an eighth of the time of MiniLM's training. The weights
are identical to the last bit (one thread).
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .config import TrainConfig

LARGE = 2**20
"""Smaller word tables are trained whole."""
LANES = 64
"""Row widths that are a multiple of this fill whole vector registers."""


class UsedRows(nn.Module):
    """A word table with the used rows only."""

    def __init__(self, whole: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach()[used].clone())
        self.weight.requires_grad_(whole.weight.requires_grad)
        # Not a buffer: it must not be saved with the weights.
        self.place = torch.full((len(whole.weight),), -1, device=used.device)
        self.place[used] = torch.arange(len(used), device=used.device)
        padding = whole.padding_idx
        self.padding = None if padding is None else int(self.place[padding])

    def forward(self, words: Tensor) -> Tensor:
        """Return the rows of these words."""
        return nn.functional.embedding(self.place[words], self.weight, self.padding)


class Vocabulary:
    """Switches a network between its whole word table and the used rows."""

    def __init__(self, network: nn.Module, table: nn.Embedding, used: Tensor) -> None:
        self.network, self.table, self.used = network, table, used
        self.part = UsedRows(table, used)

    @contextmanager
    def narrowed(self) -> Iterator[None]:
        """Use the used rows only inside this block."""
        self.network.set_input_embeddings(self.part)  # type: ignore[operator]
        try:
            yield
        finally:
            self._widen()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Use the whole table inside this block, so that the network can read any text."""
        self._widen()
        try:
            yield
        finally:
            self.network.set_input_embeddings(self.part)  # type: ignore[operator]

    def _widen(self) -> None:
        with torch.no_grad():
            self.table.weight[self.used] = self.part.weight
        self.network.set_input_embeddings(self.table)  # type: ignore[operator]


def large_table(network: nn.Module) -> nn.Embedding | None:
    """Return the word table of a network; None if it is too small to be worth narrowing, or more than looked up."""
    table = network.get_input_embeddings() if hasattr(network, "get_input_embeddings") else None  # type: ignore[operator]
    if type(table) is not nn.Embedding or table.weight.numel() < LARGE:
        return None
    shared = sum(weight is table.weight for _, weight in network.named_parameters(remove_duplicate=False))
    special = table.max_norm is not None or table.scale_grad_by_freq or table.sparse
    watched = table._forward_hooks or table._forward_pre_hooks
    is_plain = table.embedding_dim % LANES == 0 and shared == 1 and not special and not watched
    return table if is_plain else None


def vocabulary_of(model: Any, examples: Sequence[Any]) -> Vocabulary | None:
    """Return the used part of a model's word table; None if narrowing it is impossible or saves too little."""
    network = model.network(model.trained)
    table = large_table(network)
    if table is None:
        return None
    rows = model.tokenise(list(dict.fromkeys(examples)))["input_ids"]
    # The padding tokens need not occur in any text.
    padding = [model.padding.get("input_ids", 0), *([] if table.padding_idx is None else [table.padding_idx])]
    used = np.unique(np.concatenate([np.array(padding, np.int64), *rows]))
    if 2 * len(used) > len(table.weight):
        return None
    return Vocabulary(network, table, torch.from_numpy(used).to(table.weight.device))


BETAS, EPSILON = (0.9, 0.999), 1e-8
CLIP = 1.0
"""The norm at which the gradients of all weights together are clipped."""


class Learner:
    """The model as a method sees it: a function from inputs to logits, and the weights under training."""

    def __init__(
        self, network: nn.Module, forward: Callable[[Any], Tensor], vocabulary: Vocabulary | None = None
    ) -> None:
        self.network, self.forward, self.vocabulary = network, forward, vocabulary

    def __call__(self, inputs: Any) -> Tensor:
        return self.forward(inputs)

    def weights(self) -> list[nn.Parameter]:
        """Return the weights that are not frozen."""
        return [weight for weight in self.network.parameters() if weight.requires_grad]

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Switch to evaluation mode inside this block."""
        with self.vocabulary.whole() if self.vocabulary else nullcontext():
            modes = [(part, part.training) for part in self.network.modules()]
            self.network.eval()
            try:
                yield
            finally:
                for part, mode in modes:
                    part.training = mode


class Stepper:
    """AdamW with linear decay to zero and gradient clipping (`docs/method/beluga.md` 1.6).

    A method calls `add` for each loss and then `update`, or `step` for one loss.
    """

    def __init__(self, weights: list[nn.Parameter], config: TrainConfig, total: int) -> None:
        self.weights, self.config, self.total = weights, config, total
        self.done = 0
        groups: list[dict[str, Any]] = [{"params": weights}]
        if config.weight_decay:  # biases and norms do not decay, as in Transformers' trainer
            matrices = [weight for weight in weights if weight.ndim > 1]
            others = [weight for weight in weights if weight.ndim <= 1]
            groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others}]
        self.optimiser = torch.optim.AdamW(
            groups, lr=config.rate, betas=BETAS, eps=EPSILON, weight_decay=0.0, fused=True
        )

    def step(self, objective: Tensor) -> None:
        """Update the weights once by the gradient of this objective."""
        self.add(objective)
        self.update()

    def add(self, objective: Tensor) -> None:
        """Accumulate the gradient of this objective."""
        objective.backward()

    def update(self) -> None:
        """Clip the accumulated gradients, update the weights, and advance the schedule."""
        if all(weight.grad is None for weight in self.weights):
            return
        nn.utils.clip_grad_norm_(self.weights, CLIP)
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.rate * self.rate()
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.done += 1

    def rate(self) -> float:
        """Return the factor of the learning rate for the next update."""
        rising = self.config.rising_steps(self.total)
        if self.done < rising:
            return (self.done + 1) / rising
        return max(0, self.total - self.done) / max(1, self.total - rising)

    def drift(self) -> None:
        """Update once by momentum alone, then restore the optimiser's state: a slip of BELUGA's Fish."""
        before = copy.deepcopy(self.optimiser.state_dict())
        for weight in self.weights:
            weight.grad = torch.zeros_like(weight)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.optimiser.load_state_dict(before)

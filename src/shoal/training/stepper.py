"""What a method works with: the model as a function from inputs to logits, and the optimiser behind one button."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from .config import How
from .vocabulary import Vocabulary

BETAS, EPSILON = (0.9, 0.999), 1e-8


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

    def __init__(self, weights: list[nn.Parameter], how: How, total: int) -> None:
        self.weights, self.how, self.total = weights, how, total
        self.done = 0
        self.restart()

    def restart(self) -> None:
        """An optimiser that has forgotten; the schedule goes on."""
        self.optimiser = torch.optim.AdamW(
            self._groups(), lr=self.how.learning_rate, betas=BETAS, eps=EPSILON, weight_decay=0.0, fused=True
        )

    def _groups(self) -> list[dict[str, Any]]:
        """All weights alike; with decay, biases and norms are spared, as Transformers' trainer does."""
        decay = self.how.weight_decay
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
        if norm > self.how.clip:
            shrink = self.how.clip / (norm + 1e-6)
            for gradient in gradients:
                gradient.mul_(shrink)
        for group in self.optimiser.param_groups:
            group["lr"] = self.how.learning_rate * self.rate()
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.done += 1

    def rate(self) -> float:
        """The share of the learning rate that the next update has."""
        rising = int(self.how.warm_up * self.total)
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

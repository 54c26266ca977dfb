"""The tools of a method: the model as a function from inputs to logits, and the optimiser."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .config import TrainConfig

BETAS, EPSILON = (0.9, 0.999), 1e-8
CLIP = 1.0
"""The norm at which the gradients of all weights together are clipped."""


class Learner:
    """The model as a method sees it: a function from inputs to logits, and the weights under training."""

    def __init__(self, network: nn.Module, forward: Callable[[Any], Tensor]) -> None:
        self.network, self.forward = network, forward

    def __call__(self, inputs: Any) -> Tensor:
        return self.forward(inputs)

    def weights(self) -> list[nn.Parameter]:
        """Return the weights that are not frozen."""
        return [weight for weight in self.network.parameters() if weight.requires_grad]

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Switch to evaluation mode inside this block."""
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
        self.optimiser = torch.optim.AdamW(
            self._groups(), lr=self.config.rate, betas=BETAS, eps=EPSILON, weight_decay=0.0, fused=True
        )

    def _groups(self) -> list[dict[str, Any]]:
        """Return the parameter groups; biases and norms do not decay, as in Transformers' trainer."""
        decay = self.config.weight_decay
        if not decay:
            return [{"params": self.weights}]
        matrices = [weight for weight in self.weights if weight.ndim > 1]
        others = [weight for weight in self.weights if weight.ndim <= 1]
        return [{"params": matrices, "weight_decay": decay}, {"params": others}]

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

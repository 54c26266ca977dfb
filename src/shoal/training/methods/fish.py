"""Fish: step where the gradients of different environments agree.

Shi et al. 2022, Algorithm 2, https://arxiv.org/abs/2104.09937
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from numpy.random import Generator

from ...errors import PlanError
from ..batch import Batch
from ..environments import Environment
from ..stepper import Learner, Stepper
from .sampling import Sampled, mean_batches


@dataclass
class Fish(Sampled):
    """A few plain steps θ ──► θ̃, one on each of several environments; then θ moves a little of that way.

    epsilon, where it is not given, is 5e-7 / (learning rate · inner steps), as in BELUGA's code. That code makes one
    more step on momentum alone after each, by a slip; `extra_momentum_step` does so too.
    """

    inner_steps: int = 5
    epsilon: float = -1.0
    """How much of the way; below 0: by the numerator."""
    numerator: float = 5e-7
    extra_momentum_step: bool = False
    by_environment: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner_steps < 1:
            raise PlanError(
                f"fish: inner_steps must be 1 or more, found {self.inner_steps!r}", fix="inner_steps = 5"
            )
        self.updates = self.inner_steps  # the schedule counts every inner step

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """As many as there are inner steps, in random order."""
        return self.draw(known, self.inner_steps, rng)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """As many as let the examples of one plain epoch pass: ceil(N / (inner steps · mean_e bs_e))."""
        items, count, places = mean_batches(known, batch)
        return -(-items * count // (self.inner_steps * places))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Step once on each batch, then go part of the way from the start; return the mean loss."""
        start = [weight.detach().clone() for weight in stepper.weights]
        losses = []
        for batch in batches:
            loss = batch.loss(model(batch.inputs))
            stepper.step(loss)
            losses.append(loss.item())
        with torch.no_grad():
            for weight, before in zip(stepper.weights, start, strict=True):
                # θ + ε (θ̃ - θ), exactly θ at 0 and θ̃ at 1
                weight.copy_(torch.lerp(before, weight, self.share_of_the_way(stepper)))
        if self.extra_momentum_step:
            stepper.drift()
        return sum(losses) / len(losses)

    def share_of_the_way(self, stepper: Stepper) -> float:
        """ε."""
        if self.epsilon >= 0:
            return self.epsilon
        return self.numerator / (stepper.how.learning_rate * self.inner_steps)

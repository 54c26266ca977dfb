"""Fish: move where the gradients of different environments agree.

Shi et al. 2022, Algorithm 2, https://arxiv.org/abs/2104.09937
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from numpy.random import Generator
from torch import Tensor

from ...core.ranges import AtLeastOne, Share
from ..batch import Batch
from ..environments import Environment
from ..learner import Learner, Stepper
from .base import Kappa, Method, chances, draw_with_iid, steps_of_an_epoch


@dataclass
class Fish(Method):
    """Make a few plain steps θ ──► θ̃, one on each of several environments, then move θ part of the way.

    BELUGA's epsilon, 5e-7 / (learning rate · inner steps), moves the weights a two-hundredth as far as plain training.
    Its code learns nevertheless, because by a slip it makes another step by momentum alone after each
    (`extra_momentum_step`). The optimiser of the inner steps is never reset.
    """

    inner_steps: AtLeastOne = 5
    """Each on another environment; fewer if there are fewer."""
    epsilon: Share = 0.5
    """The share of the way."""
    plain_share: Share = 0.0
    """Share of the training, at its start, that goes the whole way: plain steps on the drawn environments."""
    kappa: Kappa = 0.5
    """Environments are drawn by p(e) ∝ n_e^κ."""
    iid_always: bool = True
    """Whether one inner step is on i.i.d. data, if there are any."""
    extra_momentum_step: bool = False
    by_environment: ClassVar[bool] = True

    def start(self, environments: Sequence[Environment]) -> None:
        self.updates = self._inner(environments)

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """Return one name per inner step, in random order."""
        return draw_with_iid(known, self._inner(known), self.kappa, rng, always=self.iid_always)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """Return as many steps as show the examples of one plain epoch: ceil(N / (inner steps · Σ_e p(e) bs_e))."""
        inner = self._inner(known)
        share = 1 / inner if self.iid_always and inner > 1 else 0.0
        return steps_of_an_epoch(known, batch, chances(known, self.kappa, share), inner)

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> Tensor:
        """Step once on each batch, then move part of the way; return the mean loss."""
        start = [weight.detach().clone() for weight in stepper.weights]
        losses = []
        for batch in batches:
            loss = batch.loss(model(batch.inputs))
            stepper.step(loss)
            losses.append(loss.detach())
        share = 1.0 if progress < self.plain_share else self.epsilon
        with torch.no_grad():
            for weight, before in zip(stepper.weights, start, strict=True):
                # θ + ε (θ̃ - θ), exactly θ at 0 and θ̃ at 1
                weight.copy_(torch.lerp(before, weight, share))
        if self.extra_momentum_step:
            stepper.drift()
        return torch.stack(losses).mean()

    def _inner(self, known: Sequence[Environment]) -> int:
        return max(1, min(self.inner_steps, len(known)))

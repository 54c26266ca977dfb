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
from .base import Method
from .sampling import chances, draw_with_iid, steps_of_an_epoch


@dataclass
class Fish(Method):
    """A few plain steps θ ──► θ̃, one on each of several environments; then θ moves part of that way.

    BELUGA's epsilon, 5e-7 / (learning rate · inner steps), moves the weights a two-hundredth as far as plain training
    does. Its code trains all the same, since by a slip it makes one more step on momentum alone after each
    (`extra_momentum_step`). The optimiser of the inner steps is never started anew.
    """

    inner_steps: int = 5
    """Each on another environment; fewer where there are fewer."""
    epsilon: float = 0.5
    """How much of the way."""
    plain_share: float = 0.0
    """Share of the training at its beginning that goes all of the way: plain steps on the environments drawn."""
    kappa: float = 0.5
    """Environments are drawn by p(e) ∝ n_e^κ."""
    iid_always: bool = True
    """One of the inner steps is on i.i.d. data, where there are any."""
    extra_momentum_step: bool = False
    by_environment: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.inner_steps < 1:
            raise PlanError(
                f"fish: inner_steps must be 1 or more, found {self.inner_steps!r}", fix="inner_steps = 5"
            )
        for name in ("epsilon", "plain_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise PlanError(
                    f"fish: {name} is a share, from 0 to 1; found {getattr(self, name)!r}",
                    fix=f"{name} = 0.5",
                )

    def start(self, environments: Sequence[Environment]) -> None:
        """The schedule counts every inner step."""
        self.updates = self._inner(environments)

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """As many as there are inner steps, in random order."""
        return draw_with_iid(known, self._inner(known), self.kappa, rng, always=self.iid_always)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """As many as let the examples of one plain epoch pass: ceil(N / (inner steps · Σ_e p(e) bs_e))."""
        inner = self._inner(known)
        share = 1 / inner if self.iid_always and inner > 1 else 0.0
        return steps_of_an_epoch(known, batch, chances(known, self.kappa, share), inner)

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Step once on each batch, then go part of the way from the start; return the mean loss."""
        start = [weight.detach().clone() for weight in stepper.weights]
        losses = []
        for batch in batches:
            loss = batch.loss(model(batch.inputs))
            stepper.step(loss)
            losses.append(loss.item())
        share = 1.0 if progress < self.plain_share else self.epsilon
        with torch.no_grad():
            for weight, before in zip(stepper.weights, start, strict=True):
                # θ + ε (θ̃ - θ), exactly θ at 0 and θ̃ at 1
                weight.copy_(torch.lerp(before, weight, share))
        if self.extra_momentum_step:
            stepper.drift()
        return sum(losses) / len(losses)

    def _inner(self, known: Sequence[Environment]) -> int:
        return max(1, min(self.inner_steps, len(known)))

"""Group-DRO: train hardest on whichever environment does worst.

Sagawa et al. 2020, Algorithm 1, https://arxiv.org/abs/1911.08731
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import torch
from numpy.random import Generator
from torch import Tensor

from ...core.ranges import Within
from ..batch import Batch, to_device
from ..environments import Environment
from ..learner import Learner, Stepper
from .base import Sampled, draw, steps_of_an_epoch

STRENGTH = 2.0
"""How much an excess loss of 1 throughout a training raises log q."""
SMALLEST, LARGEST = 0.001, 0.1
"""Range of the default step size."""


@dataclass
class GroupDRO(Sampled):
    """Weight each environment by how badly the model has been doing on it.

    BELUGA draws one environment per step and weights its loss, as Algorithm 1 does with equal probabilities. With
    unequal ones an environment would gain weight by being drawn, so an update is divided by the probability of the draw
    (`importance`). Only the loss above its lower bound counts, since the entropy of soft labels cannot be learnt away
    (`excess`). BELUGA's code has neither (`docs/method/beluga.md` 1.7). step_size 0 weights all equally.
    """

    step_size: Annotated[float, Within(0, 100)] | None = None
    """By default 2 / the expected draws of an environment, from .001 to .1."""
    importance: bool = True
    excess: bool = True
    by_environment: ClassVar[bool] = True
    places: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    """Weighted environments, and their places in `blame`."""
    blame: Tensor = field(default_factory=lambda: torch.zeros(0), init=False, repr=False, compare=False)
    """log q, up to a constant, on the model's device."""
    shares: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """Share of each weighted environment in the draws."""
    apart: float = field(default=0.0, init=False, repr=False)
    """Share of the i.i.d. data, if they are not weighted."""

    def start(self, environments: Sequence[Environment]) -> None:
        """Reset the weights. I.i.d. data with a share are not weighted."""
        suite = [one.name for one in environments if one.kind != "iid"]
        self.apart = self.iid_share if 0 < len(suite) < len(environments) else 0.0
        names = suite if self.apart else [one.name for one in environments]
        self.places = {name: place for place, name in enumerate(names)}
        self.blame = torch.zeros(len(names), dtype=torch.float64)
        every = dict(zip((one.name for one in environments), self.chances(environments), strict=True))
        total = sum(every[name] for name in names)
        self.shares = {name: float(every[name] / total) for name in names}

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        return draw(known, 1, self.chances(known), rng)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """Return as many steps as show the examples of one plain epoch."""
        return steps_of_an_epoch(known, batch, self.chances(known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> Tensor:
        """Update weights and model once; return the weighted loss."""
        (batch,) = batches
        logits = model(batch.inputs)
        loss = batch.loss(logits)
        self.blame = to_device(self.blame, loss.device)
        count, place = len(self.places), self.places.get(batch.environment)
        if place is None:  # i.i.d. data with a share
            objective = loss if self.importance else 1 / count * loss
        else:
            # q_g *= exp(eta * loss_g / (m * p_g)), in logs
            floor = batch.bounded.floor(logits) if self.excess else 0.0
            excess = loss.detach().to(self.blame.dtype) - floor
            share = self.shares[batch.environment] if self.importance else 1.0
            chance = share if self.importance else 1 / count
            self.blame[place] += self.rate(stepper) * excess / (count * chance)
            # The loss times q over the probability of the draw.
            objective = (self.blame.softmax(dim=0)[place] / share).to(loss.dtype) * loss
        stepper.step(objective)
        return objective.detach()

    def rate(self, stepper: Stepper) -> float:
        """Return η: the option, or a value that separates environments in a training of any length."""
        if self.step_size is not None:
            return self.step_size
        drawn = (1 - self.apart) / len(self.places)
        return min(LARGEST, max(SMALLEST, STRENGTH / (stepper.total * drawn)))

    def weights(self) -> dict[str, float]:
        """Return q, the weight of each environment."""
        return dict(zip(self.places, self.blame.softmax(dim=0).tolist(), strict=True))

"""Group-DRO: train hardest on whichever environment does worst.

Sagawa et al. 2020, Algorithm 1, https://arxiv.org/abs/1911.08731
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from ...core.ranges import Within
from ..batch import Batch
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
    blame: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """log q, up to a constant."""
    shares: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """Share of each weighted environment in the draws."""
    apart: float = field(default=0.0, init=False, repr=False)
    """Share of the i.i.d. data, if they are not weighted."""

    def start(self, environments: Sequence[Environment]) -> None:
        """Reset the weights. I.i.d. data with a share are not weighted."""
        suite = [one.name for one in environments if one.kind != "iid"]
        self.apart = self.iid_share if 0 < len(suite) < len(environments) else 0.0
        names = suite if self.apart else [one.name for one in environments]
        self.blame = dict.fromkeys(names, 0.0)
        every = dict(zip((one.name for one in environments), self.chances(environments), strict=True))
        total = sum(every[name] for name in names)
        self.shares = {name: float(every[name] / total) for name in names}

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        return draw(known, 1, self.chances(known), rng)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """Return as many steps as show the examples of one plain epoch."""
        return steps_of_an_epoch(known, batch, self.chances(known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update weights and model once; return the weighted loss."""
        (batch,) = batches
        logits = model(batch.inputs)
        loss = batch.loss(logits)
        if batch.environment in self.blame:
            # q_g *= exp(eta * loss_g / (m * p_g)), in logs
            excess = loss.item() - (batch.bounded.floor(logits) if self.excess else 0.0)
            chance = self.shares[batch.environment] if self.importance else 1 / len(self.blame)
            self.blame[batch.environment] += self.rate(stepper) * excess / (len(self.blame) * chance)
        weights = self.weights()
        objective = self._share(batch, weights) * loss
        stepper.step(objective)
        return objective.item()

    def rate(self, stepper: Stepper) -> float:
        """Return η: the option, or a value that separates environments in a training of any length."""
        if self.step_size is not None:
            return self.step_size
        drawn = (1 - self.apart) / len(self.blame)
        return min(LARGEST, max(SMALLEST, STRENGTH / (stepper.total * drawn)))

    def weights(self) -> dict[str, float]:
        """Return q, the weight of each environment."""
        raised = np.exp(np.array(list(self.blame.values())) - max(self.blame.values()))
        return dict(zip(self.blame, (raised / raised.sum()).tolist(), strict=True))

    def _share(self, batch: Batch, weights: Mapping[str, float]) -> float:
        """Return the factor of a batch's loss: q over the probability of the draw."""
        if batch.environment not in weights:  # i.i.d. data with a share
            return 1.0 if self.importance else 1 / len(weights)
        weight = weights[batch.environment]
        return weight / self.shares[batch.environment] if self.importance else weight

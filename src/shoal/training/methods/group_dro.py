"""Group-DRO: train hardest on whichever environment does worst.

Sagawa et al. 2020, Algorithm 1, https://arxiv.org/abs/1911.08731
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from numpy.random import Generator

from ..batch import Batch
from ..environments import Environment
from ..stepper import Learner, Stepper
from .sampling import Sampled, mean_batches


@dataclass
class GroupDRO(Sampled):
    """Weight each environment by how badly the model has been doing on it.

    BELUGA draws one environment per step and weights its loss; the authors of Group-DRO take a batch of every one
    (`all_groups`). step_size 0 weights all alike. Losses of different test types are not on one scale, so the weights
    drift by type; `centre` takes off the mean loss of the type before an environment is blamed.
    """

    step_size: float = 0.01
    all_groups: bool = False
    centre: bool = False
    by_environment: ClassVar[bool] = True
    blame: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """log q, but for a constant."""
    usual: dict[str, tuple[int, float]] = field(default_factory=dict, init=False, repr=False)
    """How many losses of each test type there were, and their mean."""

    def start(self, environments: Sequence[Environment]) -> None:
        """Nobody is to blame. With a share of its own the i.i.d. data are not among those weighted."""
        weighted = [one.name for one in environments if not (self.iid_share and one.kind == "iid")]
        self.blame = dict.fromkeys(weighted or [one.name for one in environments], 0.0)
        self.usual = {}

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """One, or all."""
        return [one.name for one in known] if self.all_groups else self.draw(known, 1, rng)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """As many as let the examples of one plain epoch pass: ceil(N / mean_e bs_e); for all groups N / Σ_e bs_e."""
        items, count, places = mean_batches(known, batch)
        return -(-items // places) if self.all_groups else -(-items * count // places)

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update weights and model once; return the weighted loss."""
        losses = [batch.loss(model(batch.inputs)) for batch in batches]
        for batch, loss in zip(batches, losses, strict=True):
            if batch.environment in self.blame:
                # q_g *= exp(eta * loss_g), in logs
                self.blame[batch.environment] += self.step_size * self._excess(batch, loss.item())
        weights = self.weights()
        # Where q leaves the i.i.d. data out they weigh what an environment does on average.
        shares = [weights.get(batch.environment, 1 / len(weights)) for batch in batches]
        objective = torch.stack([share * loss for share, loss in zip(shares, losses, strict=True)]).sum()
        stepper.step(objective)
        return objective.item()

    def weights(self) -> dict[str, float]:
        """q: how much each environment weighs; they sum to 1."""
        raised = np.exp(np.array(list(self.blame.values())) - max(self.blame.values()))
        return dict(zip(self.blame, (raised / raised.sum()).tolist(), strict=True))

    def _excess(self, batch: Batch, loss: float) -> float:
        if not self.centre:
            return loss
        count, mean = self.usual.get(batch.kind, (0, 0.0))
        mean += (loss - mean) / (count + 1)
        self.usual[batch.kind] = count + 1, mean
        return loss - mean

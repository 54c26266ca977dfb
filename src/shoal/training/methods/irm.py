"""IRM: learn a classifier that is optimal in every environment at once.

Arjovsky et al. 2019, IRMv1, https://arxiv.org/abs/1907.02893
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from ...core.ranges import Count, Share
from ..batch import Batch
from ..environments import Environment
from ..learner import Learner, Stepper
from .base import Penalty, Sampled, chances, draw_with_iid, steps_of_an_epoch


@dataclass
class IRM(Sampled):
    """Minimise Σ_e [R_e + λ P_e]; P_e is the squared gradient of e's risk in a dummy multiplier of the logits.

    As in BELUGA's code: one multiplier per class, λ 1 in the first fifth of the training and higher after it, the
    objective divided by λ if that is above 1, environments summed. With BELUGA's λ of 10⁴ the penalty is all that is
    left of the objective, and a model that has not learnt the task by then never does; λ 3 lets it. BELUGA's step
    visits every environment (`per_step` 0).
    """

    penalty: Penalty = 3.0
    first_penalty: Penalty = 1.0
    penalty_start: Share = 0.2
    """Share of the training before the penalty rises."""
    per_step: Count = 10
    """Environments per step; 0 for all, which makes few steps out of many environments. Together they should hold every
    label, else the model forgets between steps what tells labels apart."""
    by_environment: ClassVar[bool] = True
    shares: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """Factor of each environment's objective."""

    def start(self, environments: Sequence[Environment]) -> None:
        count, m = self._count(environments), len(environments)
        iid = [environment.kind == "iid" for environment in environments]
        if count == m:
            factors = self.chances(environments) * m
        elif any(iid) and self.iid_share and count > 1:
            rest = (1 - self.iid_share) * count / (count - 1)
            factors = np.where(iid, self.iid_share * count, rest)
        else:
            factors = np.ones(m)
        names = (environment.name for environment in environments)
        self.shares = dict(zip(names, factors.tolist(), strict=True))

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """Return all names, or a draw in which i.i.d. data with a share are always present."""
        count = self._count(known)
        if count == len(known):
            return [environment.name for environment in known]
        return draw_with_iid(known, count, self.kappa, rng, always=self.iid_share > 0)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """Return as many steps as show the examples of one plain epoch."""
        count = self._count(known)
        if count == len(known):
            places = sum(environment.batches(batch) * environment.batch_size(batch) for environment in known)
            return -(-places // sum(environment.batch_size(batch) for environment in known))
        share = 1 / count if self.iid_share and count > 1 else 0.0
        return steps_of_an_epoch(known, batch, chances(known, self.kappa, share), count)

    def _count(self, known: Sequence[Environment]) -> int:
        return min(self.per_step or len(known), len(known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> Tensor:
        """Update the model once from one batch of every environment; return the summed risk."""
        weight = self.penalty if progress >= self.penalty_start else self.first_penalty
        risks = []
        for batch in batches:
            share = self.shares.get(batch.environment, 1.0)
            logits = model(batch.inputs)
            risk = batch.loss(logits)
            objective = risk + weight * self.penalty_of(batch, logits) if weight else risk
            stepper.add(share * objective / max(1.0, weight))
            risks.append(share * risk.detach())
        stepper.update()
        return torch.stack(risks).sum()

    def penalty_of(self, batch: Batch, logits: Tensor) -> Tensor:
        """Return P_e = ‖∂R_e(w ∘ z)/∂w‖² at w = 1."""
        width = batch.bounded.multipliers or logits.shape[-1]
        w = torch.ones(batch.cases, width, device=logits.device, requires_grad=True)
        (gradient,) = torch.autograd.grad(batch.loss(logits, w), w, create_graph=True)
        rows = gradient * batch.cases  # a row per case; the batch's gradient is their mean
        return rows.mean(dim=0).square().sum()

"""IRM: a classifier that is best in every environment at once.

Arjovsky et al. 2019, IRMv1, https://arxiv.org/abs/1907.02893
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from ..batch import Batch
from ..environments import Environment
from ..stepper import Learner, Stepper
from .base import Method


@dataclass
class IRM(Method):
    """Σ_e [R_e + λ P_e], P_e the squared gradient of environment e's risk in a dummy multiplier of the logits.

    As in BELUGA's code: a multiplier per class, λ 1 in the first fifth of the training and 10⁴ after it, the whole
    divided by λ where that is above 1, environments summed. DomainBed has one multiplier (`scalar`), an unbiased
    product of two halves of a batch (`two_halves`), the mean over environments (`mean`), λ 100, and an optimiser that
    starts anew when λ rises (`reset_optimiser`).
    """

    penalty: float = 1e4
    first_penalty: float = 1.0
    penalty_start: float = 0.2
    """Share of the training before the penalty rises."""
    scalar: bool = False
    two_halves: bool = False
    mean: bool = False
    reset_optimiser: bool = False
    by_environment: ClassVar[bool] = True
    _risen: bool = field(default=False, init=False, repr=False)

    def start(self, environments: Sequence[Environment]) -> None:
        """The penalty is yet to rise."""
        self._risen = False

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """As many as let the examples of one plain epoch pass: ceil(Σ_e batches_e · bs_e / Σ_e bs_e)."""
        places = sum(one.batches(batch) * one.batch_size(batch) for one in known)
        return -(-places // sum(one.batch_size(batch) for one in known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update the model once from one batch of every environment; return the summed risk."""
        weight = self.penalty if progress >= self.penalty_start else self.first_penalty
        if progress >= self.penalty_start and not self._risen:
            self._risen = True
            if self.reset_optimiser:
                stepper.restart()
        total, share = 0.0, 1 / len(batches) if self.mean else 1.0
        for batch in batches:
            logits = model(batch.inputs)
            risk = batch.loss(logits)
            objective = risk + weight * self.penalty_of(batch, logits) if weight else risk
            stepper.add(share * objective / max(1.0, weight))
            total += share * risk.item()
        stepper.update()
        return total

    def penalty_of(self, batch: Batch, logits: Tensor) -> Tensor:
        """P_e = ‖∂R_e(w ∘ z)/∂w‖² at w = 1; with two halves, the product of their gradients."""
        w = torch.ones(batch.cases, logits.shape[-1], device=logits.device, requires_grad=True)
        (gradient,) = torch.autograd.grad(batch.loss(logits, w), w, create_graph=True)
        rows = gradient * batch.cases  # a row for each case; the batch's gradient is their mean
        if self.scalar:
            rows = rows.sum(dim=1, keepdim=True)
        if self.two_halves and len(rows) > 1:
            return (rows[::2].mean(dim=0) * rows[1::2].mean(dim=0)).sum()
        return rows.mean(dim=0).square().sum()

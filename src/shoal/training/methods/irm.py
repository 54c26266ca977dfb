"""IRM: a classifier that is best in every environment at once.

Arjovsky et al. 2019, IRMv1, https://arxiv.org/abs/1907.02893
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from ..batch import Batch
from ..environments import Environment
from ..stepper import Learner, Stepper
from .base import refuse_outside
from .sampling import Sampled, chances, draw_with_iid, steps_of_an_epoch


@dataclass
class IRM(Sampled):
    """Σ_e [R_e + λ P_e], P_e the squared gradient of environment e's risk in a dummy multiplier of the logits.

    As in BELUGA's code: a multiplier per class, λ 1 in the first fifth of the training and more after it, the whole
    divided by λ where that is above 1, environments summed. BELUGA's λ is 10⁴, DomainBed's 100: then the penalty is
    all that is left of the objective, logits of 0 are its least, and a model that has not learnt the task by then
    never does. λ 3 lets it. BELUGA's step visits every environment (`per_step` 0).

    DomainBed has one multiplier (`scalar`), an unbiased product of two halves of a batch (`two_halves`), the mean over
    environments (`mean`), and an optimiser that starts anew when λ rises (`reset_optimiser`).
    """

    penalty: float = 3.0
    first_penalty: float = 1.0
    penalty_start: float = 0.2
    """Share of the training before the penalty rises."""
    scalar: bool = False
    two_halves: bool = False
    mean: bool = False
    per_step: int = 10
    """How many environments a step draws; 0: all, which makes few steps of many. Those drawn are to hold every label:
    what tells one from the other is else forgotten between steps."""
    reset_optimiser: bool = False
    by_environment: ClassVar[bool] = True
    shares: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    """What each environment's objective is multiplied by: 1 where all count alike."""
    _risen: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("penalty", "first_penalty", "per_step"):
            refuse_outside(f"irm: {name}", getattr(self, name), 0, example=getattr(IRM, name))
        refuse_outside("irm: penalty_start", self.penalty_start, 0, 1, example=0.2)

    def idle(self) -> Mapping[str, str]:
        """A penalty that does not rise has no moment at which it does; one that is nil has no form."""
        idle = {}
        if self.penalty == self.first_penalty and not self.reset_optimiser:
            idle["penalty_start"] = "penalty and first_penalty are the same"
        if self.penalty_start == 0:
            always = "with penalty_start 0 the penalty is high from the first step"
            idle |= {"first_penalty": always, "reset_optimiser": always}
        if self.penalty_start == 1:
            never = "with penalty_start 1 the penalty never rises"
            idle |= {"penalty": never, "reset_optimiser": never}
        if self.per_step == 1:
            alone = "a step is of one environment"
            idle |= {"iid_share": alone, "mean": alone}
        if self.penalty == 0 == self.first_penalty:
            idle |= dict.fromkeys(("scalar", "two_halves"), "there is no penalty")
        return idle

    def start(self, environments: Sequence[Environment]) -> None:
        """The penalty is yet to rise."""
        self._risen = False
        count, m = self._count(environments), len(environments)
        iid = [one.kind == "iid" for one in environments]
        if count == m:
            factors = self.chances(environments) * m
        elif any(iid) and self.iid_share and count > 1:
            rest = (1 - self.iid_share) * count / (count - 1)
            factors = np.where(iid, self.iid_share * count, rest)
        else:
            factors = np.ones(m)
        self.shares = dict(zip((one.name for one in environments), factors.tolist(), strict=True))

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """All, or some by their chances; i.i.d. data with a share of their own are always among them."""
        count = self._count(known)
        if count == len(known):
            return [one.name for one in known]
        return draw_with_iid(known, count, self.kappa, rng, always=self.iid_share > 0)

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """As many as let the examples of one plain epoch pass; for all: ceil(Σ_e batches_e · bs_e / Σ_e bs_e)."""
        count = self._count(known)
        if count == len(known):
            places = sum(one.batches(batch) * one.batch_size(batch) for one in known)
            return -(-places // sum(one.batch_size(batch) for one in known))
        share = 1 / count if self.iid_share and count > 1 else 0.0
        return steps_of_an_epoch(known, batch, chances(known, self.kappa, share), count)

    def _count(self, known: Sequence[Environment]) -> int:
        return min(self.per_step or len(known), len(known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update the model once from one batch of every environment; return the summed risk."""
        weight = self.penalty if progress >= self.penalty_start else self.first_penalty
        if progress >= self.penalty_start and not self._risen:
            self._risen = True
            if self.reset_optimiser:
                stepper.restart()
        total = 0.0
        for batch in batches:
            share = self.shares.get(batch.environment, 1.0) / (len(batches) if self.mean else 1)
            logits = model(batch.inputs)
            risk = batch.loss(logits)
            objective = risk + weight * self.penalty_of(batch, logits) if weight else risk
            stepper.add(share * objective / max(1.0, weight))
            total += share * risk.item()
        stepper.update()
        return total

    def penalty_of(self, batch: Batch, logits: Tensor) -> Tensor:
        """P_e = ‖∂R_e(w ∘ z)/∂w‖² at w = 1; with two halves, the product of their gradients."""
        width = batch.multipliers or logits.shape[-1]
        w = torch.ones(batch.cases, width, device=logits.device, requires_grad=True)
        (gradient,) = torch.autograd.grad(batch.loss(logits, w), w, create_graph=True)
        rows = gradient * batch.cases  # a row for each case; the batch's gradient is their mean
        if self.scalar:
            rows = rows.sum(dim=1, keepdim=True)
        if self.two_halves and len(rows) > 1:
            return (rows[::2].mean(dim=0) * rows[1::2].mean(dim=0)).sum()
        return rows.mean(dim=0).square().sum()

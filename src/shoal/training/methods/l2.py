"""L2: large weights cost something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from ..batch import Batch
from ..config import How
from ..stepper import Learner, Stepper
from .base import Method, Phase, refuse_outside


@dataclass
class L2(Method):
    """Plain training with weight decay.

    The paper speaks of an ℓ2 penalty, its code has AdamW's decoupled decay, which spares biases and norms. We follow
    the code; `penalty` adds ½ · decay · ‖θ‖² to the loss instead.
    """

    decay: float = 0.1
    penalty: bool = False
    moves_every_weight: ClassVar[bool] = True

    def __post_init__(self) -> None:
        refuse_outside("l2: decay", self.decay, 0, example=0.1)

    def idle(self) -> Mapping[str, str]:
        """Without decay there is nothing to put elsewhere."""
        return {} if self.decay else {"penalty": "decay is 0"}

    def phases(self, how: How) -> list[Phase]:
        """One, with decay in the optimiser unless it is in the loss."""
        return [Phase(how if self.penalty else replace(how, weight_decay=self.decay))]

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update the model once from one batch; return its loss."""
        if not self.penalty:
            return super().step(model, batches, stepper, progress)
        (batch,) = batches
        loss = batch.loss(model(batch.inputs))
        size = torch.stack([weight.square().sum() for weight in stepper.weights]).sum()
        stepper.step(loss + self.decay / 2 * size)
        return loss.item()

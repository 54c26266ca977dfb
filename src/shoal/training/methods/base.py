"""What every method is: which environments a step draws from, and what the step does with their batches.

The model turns a batch's inputs into logits and knows the task; the batch turns logits into a loss and knows the test
type; the method knows neither. A method is a dataclass whose fields are its options, all with defaults.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator
from torch import nn

from ...core.errors import PlanError
from ..batch import Batch
from ..config import How
from ..environments import Environment
from ..stepper import Learner, Stepper


def refuse_outside(
    option: str, value: float, low: float, high: float = math.inf, *, below: bool = False, example: float
) -> None:
    """Stop at an option that is not from `low` to `high`, or to below that."""
    if low <= value <= high and not (below and value == high):
        return
    upper = f" to {'below ' if below else ''}{high:g}" if math.isfinite(high) else " on"
    name = option.rpartition(": ")[2]
    raise PlanError(f"{option} must be from {low:g}{upper}, found {value!r}", fix=f"{name} = {example:g}")


def _as_it_is(network: nn.Module) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training with an optimiser and a schedule of its own."""

    how: How
    around: Callable[[nn.Module], AbstractContextManager[None]] = _as_it_is
    """What is different about the network meanwhile: weights that are frozen, another dropout."""
    frozen: bool = False
    """Whether the encoder answers the same all the time, so that it need be asked only once."""


class Method:
    """Plain training, and what the other methods have in common with it."""

    by_environment: ClassVar[bool] = False
    """Whether a step draws from environments that the method chooses; else every item is visited once per epoch."""
    moves_every_weight: ClassVar[bool] = False
    """Whether weights move that no example uses."""
    updates: int = 1
    """How often a step updates the weights."""

    def idle(self) -> Mapping[str, str]:
        """Options without effect beside the others, each with the reason: a plan that gives them is refused."""
        return {}

    def notes(self) -> list[str]:
        """What is to be known of the training just done, where it was not what the method is for."""
        return []

    def facts(self) -> list[str]:
        """What the training just done was like, in numbers that no result has."""
        return []

    def start(self, environments: Sequence[Environment]) -> None:
        """Forget earlier trainings."""

    def phases(self, how: How) -> list[Phase]:
        """The stretches of one training."""
        return [Phase(how)]

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """The names of those that this step draws from."""
        return [environment.name for environment in known]

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """How many steps visit every item of every kind once."""
        counts: dict[tuple[str, int], int] = {}  # as `pools` puts them together
        for one in known:
            key = one.kind, one.batch_size(batch)
            counts[key] = counts.get(key, 0) + len(one)
        return sum(-(-count // size) for (_, size), count in counts.items())

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> float:
        """Update the model from these batches; `progress` is the share of the training done. Returns the loss."""
        (batch,) = batches
        loss = batch.loss(model(batch.inputs))
        stepper.step(loss)
        return loss.item()

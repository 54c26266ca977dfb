"""What every method is: which environments a step draws from, and what the step does with their batches.

The model turns a batch's inputs into logits and knows the task. The batch turns logits into a loss and knows the test
type. The method knows neither. A method is a dataclass whose fields are its options, all with defaults.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from torch import nn

from ...core.errors import PlanError
from ..batch import Batch
from ..config import TrainConfig
from ..environments import Environment
from ..learner import Learner, Stepper


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

    config: TrainConfig
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

    def phases(self, config: TrainConfig) -> list[Phase]:
        """The stretches of one training."""
        return [Phase(config)]

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


@dataclass
class Vanilla(Method):
    """What the other methods are compared with; it has no options."""


Chances = NDArray[np.float64]


def refuse_kappa(kappa: float) -> None:
    """Stop at an exponent with which some environments would never be drawn."""
    refuse_outside("kappa", kappa, -4, 4, example=0.5)


@dataclass
class Sampled(Method):
    """A method that gives environments unequal shares of the training.

    kappa 0 is all alike, 1 in proportion to size; it is from -4 to 4. `iid_share`, where it is not 0, is the share of
    the i.i.d. data whatever their size.
    """

    kappa: float = 0.5
    iid_share: float = 0.5

    def __post_init__(self) -> None:
        refuse_kappa(self.kappa)
        refuse_outside("iid_share", self.iid_share, 0, 1, below=True, example=0.5)

    def chances(self, known: Sequence[Environment]) -> Chances:
        """The share of each environment; they sum to 1."""
        return chances(known, self.kappa, self.iid_share)


def chances(known: Sequence[Environment], kappa: float, iid_share: float = 0.0) -> Chances:
    """The chance of each environment; they sum to 1."""
    sizes = np.array([len(environment) for environment in known], np.float64)
    shares: Chances = sizes**kappa
    iid = np.array([environment.kind == "iid" for environment in known])
    if iid_share and iid.any() and not iid.all():
        shares[iid] *= iid_share / shares[iid].sum()
        shares[~iid] *= (1 - iid_share) / shares[~iid].sum()
    shares /= shares.sum()
    return shares


def draw(known: Sequence[Environment], count: int, shares: Chances, rng: Generator) -> list[str]:
    """So many distinct environments in random order."""
    return [known[position].name for position in rng.choice(len(known), count, replace=False, p=shares)]


def steps_of_an_epoch(known: Sequence[Environment], batch: int, shares: Chances, batches: int = 1) -> int:
    """As many steps of so many batches as let the examples of one plain epoch pass: ceil(N / Σ_e p(e) bs_e)."""
    places = float(shares @ [environment.batch_size(batch) for environment in known]) * batches
    return int(np.ceil(round(sum(map(len, known)) / places, 6)))


def draw_with_iid(
    known: Sequence[Environment], count: int, kappa: float, rng: Generator, *, always: bool
) -> list[str]:
    """So many distinct environments in random order; where `always`, the i.i.d. data are among them."""
    iid = [one for one in known if one.kind == "iid"] if always and count > 1 else []
    others = [one for one in known if one not in iid]
    names = [one.name for one in iid] + draw(others, count - len(iid), chances(others, kappa), rng)
    return [names[position] for position in rng.permutation(len(names))]

"""What every method is: which environments a step draws from, and what the step does with their batches.

The model turns a batch's inputs into logits and knows the task. The batch turns logits into a loss and knows the test
type. The method knows neither. A method is a dataclass whose fields are its options, all with defaults.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor, nn

from ...core.ranges import Within
from ..batch import Batch
from ..config import TrainConfig
from ..environments import Environment, pools
from ..learner import Learner, Stepper

BelowOne = Annotated[float, Within(0, 0.99)]
Penalty = Annotated[float, Within(0, 1e12)]
Kappa = Annotated[float, Within(-4, 4)]
"""An exponent. With a larger one, some environments would never be drawn."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a training with its own optimiser and schedule."""

    config: TrainConfig
    around: Callable[[nn.Module], AbstractContextManager[object]] = nullcontext
    """Changes the network meanwhile: frozen weights, another dropout rate."""
    frozen: bool = False
    """Whether the encoder is frozen, so that each example is encoded once."""


class Method:
    """The base of all methods: plain training."""

    by_environment: ClassVar[bool] = False
    """Whether the method chooses environments for each step; else every item is visited once per epoch."""
    moves_every_weight: ClassVar[bool] = False
    """Whether weights change that no example uses."""
    updates: int = 1
    """Updates of the weights per step."""

    def start(self, environments: Sequence[Environment]) -> None:
        """Reset the state of earlier trainings."""

    def phases(self, config: TrainConfig) -> list[Phase]:
        """Return the phases of one training."""
        return [Phase(config)]

    def environments(self, known: Sequence[Environment], rng: Generator) -> Sequence[str]:
        """Return the names of the environments of this step."""
        return [environment.name for environment in known]

    def steps_per_epoch(self, known: Sequence[Environment], batch: int) -> int:
        """Return the number of steps that visit every item once."""
        return sum(pool.batches(batch) for pool in pools(known))

    def step(self, model: Learner, batches: Sequence[Batch], stepper: Stepper, progress: float) -> Tensor:
        """Update the model from these batches and return the loss; `progress` is the share of the training done.

        Nothing here may read a tensor: on a GPU that would wait for all steps so far.
        """
        (batch,) = batches
        loss = batch.loss(model(batch.inputs))
        stepper.step(loss)
        return loss.detach()


@dataclass
class Vanilla(Method):
    """Plain training (empirical risk minimisation), without options."""


Chances = NDArray[np.float64]


@dataclass
class Sampled(Method):
    """A method that draws environment e with p(e) ∝ n_e^κ (`docs/method/beyond.md` 7.12).

    kappa 0 draws all equally, 1 in proportion to size. `iid_share`, unless 0, is the share of the i.i.d. data. BELUGA
    draws all equally, so i.i.d. data are hardly seen; the paper names this as the reason for poor mixed results.
    """

    kappa: Kappa = 0.5
    iid_share: BelowOne = 0.5

    def chances(self, known: Sequence[Environment]) -> Chances:
        """Return the share of each environment."""
        return chances(known, self.kappa, self.iid_share)


def chances(known: Sequence[Environment], kappa: float, iid_share: float = 0.0) -> Chances:
    """Return the probability of each environment."""
    sizes = np.array([len(environment) for environment in known], np.float64)
    shares: Chances = sizes**kappa
    iid = np.array([environment.kind == "iid" for environment in known])
    if iid_share and iid.any() and not iid.all():
        shares[iid] *= iid_share / shares[iid].sum()
        shares[~iid] *= (1 - iid_share) / shares[~iid].sum()
    shares /= shares.sum()
    return shares


def draw(known: Sequence[Environment], count: int, shares: Chances, rng: Generator) -> list[str]:
    """Return the names of `count` distinct environments in random order."""
    return [known[position].name for position in rng.choice(len(known), count, replace=False, p=shares)]


def steps_of_an_epoch(known: Sequence[Environment], batch: int, shares: Chances, batches: int = 1) -> int:
    """Return as many steps as show the examples of one plain epoch: ceil(N / Σ_e p(e) bs_e)."""
    places = float(shares @ [environment.batch_size(batch) for environment in known]) * batches
    return int(np.ceil(round(sum(map(len, known)) / places, 6)))


def draw_with_iid(
    known: Sequence[Environment], count: int, kappa: float, rng: Generator, *, always: bool
) -> list[str]:
    """Return `count` distinct environments in random order, with `always` the i.i.d. data among them."""
    iid = [one for one in known if one.kind == "iid"] if always and count > 1 else []
    others = [one for one in known if one not in iid]
    names = [one.name for one in iid] + draw(others, count - len(iid), chances(others, kappa), rng)
    return [names[position] for position in rng.permutation(len(names))]

"""Which environments a step draws: p(e) ∝ n_e^κ, or a fixed share for the i.i.d. data.

`docs/method/beyond.md` 7.12.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...errors import PlanError
from ..environments import Environment
from .base import Method


@dataclass
class Sampled(Method):
    """A method whose steps draw some of the environments.

    BELUGA draws all alike (kappa 0), so i.i.d. data are hardly seen; the paper names this as the reason for poor
    results where they are mixed in. kappa 1 is in proportion to size. `iid_share`, where it is not 0, is the chance of
    the i.i.d. data whatever their size.
    """

    kappa: float = 0.5
    iid_share: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.iid_share < 1:
            raise PlanError(
                f"iid_share is a share, from 0 to below 1; found {self.iid_share!r}", fix="iid_share = 0.5"
            )

    def chances(self, known: Sequence[Environment]) -> NDArray[np.float64]:
        """The chance of each environment; they sum to 1."""
        sizes = np.array([len(environment) for environment in known], np.float64)
        chances: NDArray[np.float64] = sizes**self.kappa
        iid = np.array([environment.kind == "iid" for environment in known])
        if self.iid_share and iid.any() and not iid.all():
            chances[iid] *= self.iid_share / chances[iid].sum()
            chances[~iid] *= (1 - self.iid_share) / chances[~iid].sum()
        chances /= chances.sum()
        return chances

    def draw(self, known: Sequence[Environment], count: int, rng: Generator) -> list[str]:
        """Distinct environments in random order; where there are too few, some come again."""
        names: list[str] = []
        while len(names) < count:
            size = min(count - len(names), len(known))
            chosen = rng.choice(len(known), size, replace=False, p=self.chances(known))
            names += [known[at].name for at in chosen]
        return names


def mean_batches(known: Sequence[Environment], batch: int) -> tuple[int, int, int]:
    """Items, environments, and places for items in one batch of each: what the step formulas are made of."""
    return sum(map(len, known)), len(known), sum(one.batch_size(batch) for one in known)

"""Which environments a step draws: p(e) ∝ n_e^κ, with a fixed share for the i.i.d. data (`docs/method/beyond.md` 7.12).

BELUGA draws all alike (κ 0, no share), so i.i.d. data are hardly seen; the paper names this as the reason for poor
results where they are mixed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..environments import Environment
from .base import Method, refuse_outside

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

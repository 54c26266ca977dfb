"""LP-FT: first the head alone, then everything, so that a raw head does not spoil the encoder.

Kumar et al. 2022, https://arxiv.org/abs/2202.10054
"""

from dataclasses import dataclass, replace

from ...core.errors import PlanError
from ..config import How
from .base import Method, Phase, refuse_outside
from .lp import probing


@dataclass
class LPFT(Method):
    """Half of the epochs each, with optimiser and schedule anew in between: 1.5 and 1.5 of the paper's three.

    The second half is trained as plain training is; the first has a rate and a batch of its own, those of `lp`.
    """

    probe_learning_rate: float = 1e-3
    probe_batch: int = 0
    """0: as in the second half."""
    probe_share: float = 0.5
    """Of the epochs."""
    frozen_dropout: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.probe_share < 1:
            raise PlanError(
                f"lp-ft: probe_share must be above 0 and below 1, found {self.probe_share!r}",
                why="one of its two halves would not be there",
                fix="probe_share = 0.5; the head alone is lp, everything at once vanilla",
            )
        if not 0 < self.probe_learning_rate <= 10:
            raise PlanError(
                f"lp-ft: probe_learning_rate must be above 0, at most 10, found {self.probe_learning_rate!r}",
                fix="probe_learning_rate = 1e-3",
            )
        refuse_outside("lp-ft: probe_batch", self.probe_batch, 0, 100_000, example=8)

    def phases(self, how: How) -> list[Phase]:
        """The head, then all."""
        first = replace(
            how,
            learning_rate=self.probe_learning_rate,
            batch=self.probe_batch or how.batch,
            epochs=how.epochs * self.probe_share,
        )
        second = replace(how, epochs=how.epochs * (1 - self.probe_share))
        return [probing(first, self.frozen_dropout), Phase(second)]

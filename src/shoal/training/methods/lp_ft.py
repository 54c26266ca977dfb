"""LP-FT: first the head alone, then everything, so that a raw head does not spoil the encoder.

Kumar et al. 2022, https://arxiv.org/abs/2202.10054
"""

from dataclasses import dataclass, replace

from ..how import How
from .base import Method, Phase
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

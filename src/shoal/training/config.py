"""How a stage is trained, in numbers. Light: plans are read without torch."""

import math
from dataclasses import dataclass

from ..core.errors import PlanError


@dataclass(frozen=True, slots=True)
class How:
    """How a stage is trained; AdamW's own numbers are the usual ones (`docs/method/beluga.md` 1.6)."""

    learning_rate: float
    batch: int
    epochs: float
    """May be a fraction: the last epoch is then cut short."""
    weight_decay: float = 0.0
    warm_up: float = 0.0
    """Share of the updates in which the rate rises from nothing; then it falls to nothing, both along a line."""
    clip: float = 1.0
    """Norm at which gradients are clipped, all together."""
    group_by_length: bool = False
    """Batches of examples alike in length, where every example is visited once per epoch: less padding, but what is
    alike in length is often alike in kind, and then meets in a batch more often than chance would have it."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "batch", "epochs", "clip"):
            if not getattr(self, name) > 0:
                raise PlanError(
                    f"{name} must be above 0, found {getattr(self, name)!r}",
                    fix="a number above 0, or leave it out",
                )
        if not 0 <= self.warm_up < 1:
            raise PlanError(
                f"warm_up is a share of the training, from 0 to below 1; found {self.warm_up!r}",
                fix="warm_up = 0.1",
            )

    def steps(self, per_epoch: int, epochs: float | None = None) -> int:
        """How many steps so many epochs take.

        >>> How(learning_rate=1e-3, batch=8, epochs=1.5).steps(23)
        35
        """
        return math.ceil(round((self.epochs if epochs is None else epochs) * per_epoch, 6))

"""The training settings that all protocols share. Imports no torch, so plans can be read without it."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any

from ..core.errors import PlanError
from ..core.ranges import BatchSize, Epochs, Rate, Threads, WarmUp, Within


def checked(what: str, value: Any, kind: Any) -> Any:
    """Return an option of this type and range."""
    from pydantic import TypeAdapter, ValidationError  # slow to import

    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as problem:
        why = problem.errors()[0]["msg"]
        raise PlanError(f"{what} = {value!r}", why=why, fix="leave it out for the usual value") from None


@dataclass(frozen=True, slots=True)
class TrainNumbers:
    """The numbers of a training that a plan may leave to its protocol."""

    learning_rate: Rate | None = None
    """Peak learning rate. The default is higher for `tiny:` models."""
    batch: BatchSize | None = None
    """Examples per batch."""
    epochs: Epochs | None = None
    """Passes over the training data, fractions allowed."""
    threads: Threads = 1
    """Threads of a job. Another number can change the last digits of results."""


@dataclass(frozen=True, slots=True)
class TrainConfig(TrainNumbers):
    """How a model is trained (AdamW, linear decay; `docs/method/beluga.md` 1.6).

    A protocol extends this class with its own defaults and settings, and trains with `plain`.
    """

    batch: BatchSize = 32
    epochs: Epochs = 3.0
    weight_decay: Annotated[float, Within(0)] = 0.0
    """Decoupled weight decay of AdamW."""
    warm_up: WarmUp = 0.0
    """Share of steps (below 1), or number of steps, in which the rate rises linearly. Afterwards it falls to zero."""
    group_by_length: bool = False
    """Batch examples of similar length. This saves padding, but batches are less random."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "batch", "epochs"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise PlanError(f"{name} must be above 0, found {value!r}", fix=f"leave {name} out")
        # 1 could mean all steps or one.
        if self.warm_up < 0 or self.warm_up == 1 or (self.warm_up > 1 and self.warm_up % 1):
            raise PlanError(
                f"warm_up must be a share below 1 or at least 2 steps, found {self.warm_up!r}",
                fix="warm_up = 0.1",
            )

    @property
    def rate(self) -> float:
        """Return the learning rate, which must be known by now."""
        assert self.learning_rate is not None
        return self.learning_rate

    def plain(self, default_rate: float, **changes: Any) -> "TrainConfig":
        """Return the shared settings alone, with a learning rate and changes, as a stage trains with them.

        >>> TrainConfig(batch=8).plain(1e-5, epochs=2.0).rate
        1e-05
        """
        values = {field.name: getattr(self, field.name) for field in fields(TrainConfig)}
        values["learning_rate"] = default_rate if self.learning_rate is None else self.learning_rate
        return TrainConfig(**values | changes)

    def rising_steps(self, total: int) -> int:
        """Return the number of steps in which the rate rises, which may exceed the steps of the training.

        >>> TrainConfig(warm_up=0.1).rising_steps(25), TrainConfig(warm_up=500).rising_steps(25)
        (2, 500)
        """
        return int(self.warm_up * total if self.warm_up < 1 else self.warm_up)

    def steps(self, per_epoch: int, epochs: float | None = None) -> int:
        """Return the number of steps of a training.

        >>> TrainConfig(batch=8, epochs=1.5).steps(23)
        35
        """
        return math.ceil(round((self.epochs if epochs is None else epochs) * per_epoch, 6))

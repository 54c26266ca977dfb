"""Recipes of trainings: stages, each starting from the weights that the one before it ends with.

    Recipe ──► base(seed) ──► stage 1 ──► stage 2 ──► a model to ask
               fresh head     kept if     asked at
                              shared      its marks

A stage is named by what decides its weights. Jobs whose recipes begin alike share those stages: they are trained once.
A recipe is only a description: `base`, `train`, `steps` and `frozen` load data when they are called.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import ModelError
from ..core.records import Example

Progress = Callable[[str, int, int], None]
"""Told which step is at how many of how many; of none, it is something to say: for whom the run waits."""


def silent(step: str, done: int, total: int) -> None:
    """No progress shown."""


Mark = Callable[[str], None]
"""Called by a stage when it has come to one of its marks; the model is asked there and then."""


def as_it_is(model: Any, seed: int) -> None:
    """A stage that takes the model as the one before it left it."""


class BrokenTrainingError(ModelError):
    """A training whose loss is no number any more."""


IN_NUMBERS = "training in numbers"
"""What a fact is called among the checks of its job."""


class Fact(str):
    """What is to be known of a training in which nothing is wrong; other notes are of what is."""

    __slots__ = ()


Try = Mapping[str, Any]
"""Settings that are tried."""
Steps = int | Callable[[], int]
"""A number of training steps, or a function that loads the data to count them."""


@dataclass(frozen=True, slots=True)
class Search:
    """Settings that are found by trying. Stages that name the same search share what it finds."""

    title: str
    identity: Mapping[str, Any]
    """Everything that decides what is found."""
    tries: Sequence[Try]
    """Of those that do equally well the first is taken."""
    base: Callable[[Progress], Any]
    """The model that every try starts from; made once."""
    score: Callable[[Any, Try, Progress], float]
    """Train such a model by one try, in place, and say how good it is."""
    steps: Steps = 0
    """How many steps all tries take together."""

    def count_steps(self) -> int:
        """Return how many steps all tries take together."""
        return self.steps() if callable(self.steps) else self.steps


@dataclass(frozen=True, slots=True)
class Stage:
    """One training."""

    title: str
    identity: Mapping[str, Any]
    """Everything that decides the weights beside the seed and what it starts from: data by digest, method, settings."""
    steps: Steps
    """How many steps it takes."""
    train: Callable[[Any, int, Progress, Mark], Sequence[str] | None]
    """Train this model with this seed, in place; gives what is to be known of it, if anything."""
    marks: tuple[str, ...] = ()
    """Names of the moments at which the model is asked while it trains, in order: "1", "2" for epochs. The last is the
    end. Empty: only at the end, without a name."""
    prepare: Callable[[Any, int], None] = as_it_is
    """Gives the model the head of this stage, before it is trained here or its kept weights are loaded."""
    frozen: Callable[[], Sequence[Example]] | None = None
    """Where the encoder does not change: every example that this stage, or one like it, trains on. They are then
    encoded once, for all stages that start from the same weights."""
    searches: tuple[Search, ...] = ()
    """What has to be found before this stage is trained."""
    settled: "Callable[[Sequence[Try]], Stage] | None" = None
    """What was found, one for each search, to the stage that is then trained in the place of this one."""

    def count_steps(self) -> int:
        """Return how many steps it takes."""
        return self.steps() if callable(self.steps) else self.steps


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the model of a job is made before it is asked."""

    base: Callable[[int], Any]
    """The model that the first stage starts from, with the seed for what is fresh in it."""
    stages: tuple[Stage, ...]
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What decides the base beside the model's own fingerprint and the seed: the labels of a fresh head."""
    threads: int = 1
    """Processor threads for training and asking. Part of the job: another number can change the last digits."""

"""What a protocol tells the runs about training: stages, each starting from the weights of the one before.

    Recipe ──► base(seed) ──► stage 1 ──► stage 2 ──► a model to query
               fresh head     stored if   queried at
                              shared      its marks

A stage is identified by everything that decides its weights. Jobs whose recipes begin alike share those stages.
"""

import math
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
    steps: int = 0
    """How many steps all of it takes, for the estimate of time."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One training."""

    title: str
    identity: Mapping[str, Any]
    """Everything that decides the weights beside the seed and what it starts from: data by digest, method, settings."""
    steps: int
    """How many steps it takes, for the estimate of time."""
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


def best_try(search: Search, scores: Sequence[float]) -> Try:
    """The first of those that did best; a try that broke down is none."""
    if all(map(math.isnan, scores)):
        raise ModelError(
            f"every try of {search.title} broke down",
            why=f"{len(scores)} were made, and the loss of each was no number any more",
            fix="lower rates: train.learning_rate, or train.options.METHOD.learning_rate",
        )
    return search.tries[max(range(len(scores)), key=lambda at: (_rank(scores[at]), -at))]


def _rank(score: float) -> float:
    return -math.inf if math.isnan(score) else score


def run_search(
    search: Search, known: Sequence[float], keep: Callable[[list[float]], None], progress: Progress
) -> list[float]:
    """The score of every try; `known` are those of an earlier attempt, `keep` is given all of them after each."""
    scores = list(known)
    if len(scores) >= len(search.tries):
        return scores[: len(search.tries)]
    model = search.base(progress)
    network = model.network(model.trained)
    start = {name: weight.clone() for name, weight in network.state_dict().items()}
    for number in range(len(scores), len(search.tries)):
        network.load_state_dict(start)
        progress(f"trying {search.title}", number + 1, len(search.tries))
        try:
            scores.append(search.score(model, search.tries[number], progress))
        except BrokenTrainingError:
            scores.append(math.nan)
        keep(scores)
    return scores

"""Training as protocols describe it: stages, each starting from the weights of the one before.

    Recipe ──► base(seed) ──► stage 1 ──► stage 2 ──► a model to query
               fresh head     stored if   queried at
                              shared      its marks

A stage is identified by everything that decides its weights. Jobs whose recipes begin alike share those stages. A
recipe is only a description: `base`, `train`, `steps` and `frozen` load data when they are called.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.errors import ModelError
from ..core.records import Example
from .config import TrainConfig
from .environments import Environment, Labelled

Progress = Callable[[str, int, int], None]
"""Called with a step's name, progress and total; a total of 0 means that the name is a message."""


def silent(*_: object) -> None:
    """Ignore reports of progress, while cases are built and models are trained."""


Mark = Callable[[str], None]
"""Called by a stage at each of its marks, where the model is queried."""


class BrokenTrainingError(ModelError):
    """A training whose loss became NaN or infinite."""


Try = Mapping[str, Any]
"""Settings of one trial."""


@dataclass(frozen=True, slots=True)
class Search:
    """A grid search. Stages with the same search share its result."""

    title: str
    identity: Mapping[str, Any]
    """Everything that decides the result."""
    tries: Sequence[Try]
    """The trials; ties go to the first."""
    base: Callable[[Progress], Any]
    """Makes the model that every trial starts from, once."""
    score: Callable[[Any, Try, Progress], float]
    """Trains such a model in place by one trial and returns its score."""
    count_steps: Callable[[], int] = int
    """Returns the number of steps of all trials, for the time estimate."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One training run on one set of data."""

    title: str
    identity: Mapping[str, Any]
    """Everything that decides the weights besides the seed and the start: data digest, method, settings."""
    steps: int | Callable[[], int]
    """Number of steps for the time estimate, or a function that loads the data to count them."""
    train: Callable[[Any, int, Progress, Mark], Sequence[str] | None]
    """Trains this model in place with this seed, and returns notes."""
    marks: tuple[str, ...] = ()
    """Names of the moments at which the model is queried, in order: "1", "2" for epochs. The last is the end. If
    empty, the model is queried once, at the end."""
    prepare: Callable[[Any, int], None] = silent
    """Gives the model the head of this stage, before training or loading stored weights."""
    frozen: Callable[[], Sequence[Example]] | None = None
    """If the encoder is frozen: returns every example that this or a similar stage trains on, so that stages that
    start from the same weights encode them once."""
    searches: tuple[Search, ...] = ()
    """Searches that must finish before this stage."""
    settled: "Callable[[Sequence[Try]], Stage] | None" = None
    """Maps the best trial of each search to the stage that is then trained."""

    def count_steps(self) -> int:
        """Return how many steps it takes."""
        return self.steps() if callable(self.steps) else self.steps


def plain_stage(
    title: str,
    identity: Mapping[str, Any],
    rows: Iterable[tuple[Example, str]],
    labels: Sequence[str],
    how: TrainConfig,
    marks: tuple[str, ...] = (),
    prepare: Callable[[Any, int], None] = silent,
) -> Stage:
    """Return a training on labelled examples without a special method."""
    targets = {label: tuple(float(label == name) for name in labels) for label in labels}
    environment = Environment(title, "iid", [Labelled(example, targets[label]) for example, label in rows])

    def train(model: Any, seed: int, progress: Progress, mark: Mark) -> None:
        from .loop import train as train_model  # loads torch
        from .methods import make_method

        train_model(model, [environment], make_method("vanilla"), how, seed, progress, mark, marks)

    return Stage(title, identity, how.steps(environment.batches(how.batch)), train, marks, prepare)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the model of a job is made."""

    base: Callable[[int], Any]
    """Makes the model that the first stage starts from; the seed is for fresh weights."""
    stages: tuple[Stage, ...]
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What decides the base besides the model's fingerprint and the seed: the labels of a fresh head."""
    threads: int = 1
    """Processor threads. Part of the job, because another number can change the last digits."""


def best_try(search: Search, scores: Sequence[float]) -> Try:
    """Return the first trial with the best score; failed trials do not count."""
    if all(map(math.isnan, scores)):
        raise ModelError(
            f"every trial of {search.title} failed",
            why=f"the loss of all {len(scores)} trials became NaN or infinite",
            fix="lower rates: train.learning_rate, or train.options.METHOD.learning_rate",
        )
    return search.tries[int(np.nanargmax(scores))]


def run_search(
    search: Search, known: Sequence[float], keep: Callable[[list[float]], None], progress: Progress
) -> list[float]:
    """Return the score of every trial; `known` are those of an earlier attempt, `keep` stores all after each."""
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

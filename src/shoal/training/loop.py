"""The one training loop: batches in, a trained model out.

    train          a model on environments, by any method
    train_network  any network on batches of one's own

All randomness comes from the seed, whatever ran before in the process: same seed, same weights, bit by bit (on one
machine, with one number of threads). Being asked at a mark changes nothing in the training.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.random import Generator

from ..errors import PlanError
from .batch import Batch, Source, Tokens, Vectors
from .environments import Environment
from .how import How
from .loaders import ByEnvironment, EveryItem, Feed, Losses
from .methods import Method, Phase, Vanilla
from .spans import Windows
from .stage import BrokenTrainingError, Mark, Progress
from .stepper import Learner, Stepper

__all__ = ["How", "Learner", "Log", "steps_of", "train", "train_network"]


def _silent(*_: object) -> None:
    """For who does not want to be told."""


@dataclass(slots=True)
class Log:
    """What happened in a training."""

    steps: int = 0
    losses: list[float] = field(default_factory=list)
    """Of every step."""
    shown: Counter[str] = field(default_factory=Counter)
    """Cases, by environment; by kind where every item is visited."""
    notes: list[str] = field(default_factory=list)
    """What is to be known of it, where it was not what the method is for."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """One phase of a method, and what it is fed."""

    phase: Phase
    per_epoch: int
    feed: Callable[[Generator], Feed]

    @property
    def steps(self) -> int:
        return self.phase.how.steps(self.per_epoch)


def train(
    model: Any,
    environments: Sequence[Environment],
    method: Method,
    how: How,
    seed: int,
    progress: Progress = _silent,
    mark: Mark = _silent,
    marks: Sequence[str] = (),
    losses: Mapping[str, str] | None = None,
) -> Log:
    """Train the network of a model in place; `mark` is called with each of `marks` when the epoch of that name ends.

    `losses` names variants: labels, invariance, direction, spans (`losses.py`). Without environments there is nothing
    to do.
    """
    loss = Losses(**losses or {})
    examples = [example for one in environments for item in one.items for example in item.examples]
    windows = Windows(model, examples, loss.spans) if model.trained == "extract" else None
    environments = [windows.cut(one) for one in environments] if windows else environments

    def leg(phase: Phase) -> _Leg:
        def feed(rng: Generator) -> Feed:
            return _feed(model, environments, windows or examples, method, phase, rng, loss)

        per_epoch = method.steps_per_epoch(environments, phase.how.batch) if environments else 0
        return _Leg(phase, per_epoch, feed)

    method.start(environments)
    learner = Learner(model.network(model.trained), model.forward)
    legs = [leg(phase) for phase in method.phases(how)]
    log = _walk(learner, method, legs, seed, progress, mark, marks)
    log.notes += windows.notes() if windows else []
    return log


def _feed(
    model: Any,
    environments: Sequence[Environment],
    examples: Sequence[Any] | Windows,
    method: Method,
    phase: Phase,
    rng: Generator,
    loss: Losses,
) -> Feed:
    how = phase.how
    if not phase.frozen:
        model.frozen = None  # what is known of its encoder is about to be out of date
    source: Source
    if isinstance(examples, Windows):
        source = examples
    else:
        source = (Vectors if phase.frozen and model.head is not None else Tokens)(model, examples)
    if not method.by_environment:
        # Features need no padding; and a head of several layers is to learn from the same batches as one of one.
        by_length = how.group_by_length and not phase.frozen
        return EveryItem(environments, source, how.batch, rng, loss, by_length=by_length)
    steps = method.steps_per_epoch(environments, how.batch)
    return ByEnvironment(environments, source, how.batch, rng, loss, choose=method.environments, steps=steps)


def train_network(
    learner: Learner,
    feed: Feed,
    how: How,
    seed: int,
    progress: Progress = _silent,
    mark: Mark = _silent,
    marks: Sequence[str] = (),
) -> Log:
    """Train any network in place on batches of one's own, in the plain way; `feed` brings its own randomness."""
    method = Vanilla()
    legs = [_Leg(phase, feed.steps, lambda rng: feed) for phase in method.phases(how)]
    return _walk(learner, method, legs, seed, progress, mark, marks)


def steps_of(environments: Sequence[Environment], method: Method, how: How) -> int:
    """How many steps a training takes."""
    if not environments:
        return 0
    return sum(
        phase.how.steps(method.steps_per_epoch(environments, phase.how.batch)) for phase in method.phases(how)
    )


# The loop itself


def _walk(
    learner: Learner,
    method: Method,
    legs: Sequence[_Leg],
    seed: int,
    progress: Progress,
    mark: Mark,
    marks: Sequence[str],
) -> Log:
    log, total, stops = Log(), sum(leg.steps for leg in legs), _stops(legs, marks)
    with _seeded(seed):
        for number, leg in enumerate(legs if total else ()):
            rng = np.random.default_rng([seed, number])
            learner.network.train()
            with leg.phase.around(learner.network):
                with learner.asked():  # a frozen encoder reads its examples here
                    feed = leg.feed(rng)
                stepper = Stepper(learner.weights(), leg.phase.how, leg.steps * method.updates)
                for batches in islice(_batches(feed), leg.steps):
                    loss = method.step(learner, batches, stepper, log.steps / total)
                    _note(log, loss, batches)
                    progress("training", log.steps, total)
                    for name in stops.get(log.steps, ()):
                        _ask(learner, mark, name)
    learner.network.eval()
    log.notes = method.notes() if total else []
    for name in marks if not total else ():
        mark(name)
    return log


def _batches(feed: Feed) -> Iterator[Sequence[Batch]]:
    while True:
        yield from feed.epoch()


def _note(log: Log, loss: float, batches: Sequence[Batch]) -> None:
    log.steps += 1
    log.losses.append(loss)
    for batch in batches:
        log.shown[batch.environment] += batch.cases
    if not math.isfinite(loss):
        raise BrokenTrainingError(
            f"the training broke down at step {log.steps:,}",
            why=f"the loss is {loss}",
            fix="a lower learning rate",
        )


# Marks and seeds


def _stops(legs: Sequence[_Leg], marks: Sequence[str]) -> dict[int, list[str]]:
    """After which step each mark comes: epoch "2" ends with the second epoch of all phases together.

    An epoch that is cut short, as the last one may be, ends where the training does.
    """
    whole = sum(leg.phase.how.epochs for leg in legs)
    known = [str(number) for number in range(1, math.ceil(round(whole, 6)) + 1)]
    unknown = [name for name in marks if name not in known]
    if unknown:
        raise PlanError(
            f"no epoch {unknown[0]!r} in a training of {whole:g}",
            why=f"known: {', '.join(known)}",
            fix="one of those",
        )
    stops: dict[int, list[str]] = {}
    for name in sorted(marks, key=int):
        left, step = float(name), 0
        for leg in legs:
            step += min(leg.steps, leg.phase.how.steps(leg.per_epoch, max(0.0, left)))
            left -= leg.phase.how.epochs
        stops.setdefault(step, []).append(name)
    return stops


def _ask(learner: Learner, mark: Mark, name: str) -> None:
    with learner.asked(), torch.random.fork_rng(_devices()):
        mark(name)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Dropout draws from this seed, and nobody else's draws are disturbed."""
    with torch.random.fork_rng(_devices()):
        torch.manual_seed(seed)
        yield


def _devices() -> list[int]:
    return list(range(torch.cuda.device_count()))

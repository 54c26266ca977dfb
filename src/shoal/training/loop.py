"""The one training loop: batches in, a trained model out.

    train          a model on environments, by any method
    train_network  any network on the caller's batches

All randomness comes from the seed: the same seed gives the same weights, bit by bit, on one machine with one number of
threads. Neither queries at marks nor checkpoints change the weights (`checkpointing.py`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from . import checkpointing
from .batch import Batch, Tokens, Vectors
from .config import TrainConfig
from .environments import Environment
from .learner import Learner, Stepper, vocabulary_of
from .loaders import ByEnvironment, EveryItem, Feed, Losses
from .methods import Method, Phase, Vanilla
from .spans import Windows
from .stage import BrokenTrainingError, Mark, Progress, silent

__all__ = ["Learner", "TrainConfig", "steps_of", "train", "train_network"]


BLOCK = 32
"""Losses are read after this many steps, because reading waits for a GPU; divergence is noticed that much later."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """One phase of a method, and its batches."""

    phase: Phase
    per_epoch: int
    feed: Callable[[Generator], Feed]

    @property
    def steps(self) -> int:
        return self.phase.config.steps(self.per_epoch)


def train(
    model: Any,
    environments: Sequence[Environment],
    method: Method,
    config: TrainConfig,
    seed: int,
    progress: Progress = silent,
    mark: Mark = silent,
    marks: Sequence[str] = (),
    losses: Mapping[str, str] | None = None,
) -> list[float]:
    """Train the network of a model in place and return the loss of every step.

    `mark` is called with each of `marks` when the epoch of that name ends. `losses` names variants for labels and spans
    (`losses.py`). Without environments nothing happens.
    """
    loss = Losses(**losses or {})
    examples = [example for one in environments for item in one.items for example in item.examples]
    windows = Windows(model, examples, loss.spans) if model.trained == "extract" else None
    environments = [windows.cut(one) for one in environments] if windows else environments

    def leg(phase: Phase) -> _Leg:
        per_epoch = method.steps_per_epoch(environments, phase.config.batch) if environments else 0
        return _Leg(
            phase, per_epoch, partial(_feed, model, environments, windows or examples, method, phase, loss)
        )

    method.start(environments)
    legs = [leg(phase) for phase in method.phases(config)]
    # Narrowing needs rows that nothing but their own examples changes, and an encoder that is not frozen.
    moves_all = method.moves_every_weight or any(leg.phase.config.weight_decay for leg in legs)
    is_whole = windows or moves_all or not examples or all(leg.phase.frozen for leg in legs)
    words = None if is_whole else vocabulary_of(model, examples)
    learner = Learner(model.network(model.trained), model.forward, words)
    with words.narrowed() if words else nullcontext():
        return _Walk(learner, method, legs, seed, progress, mark, marks).go()


def _feed(
    model: Any,
    environments: Sequence[Environment],
    examples: Sequence[Any] | Windows,
    method: Method,
    phase: Phase,
    loss: Losses,
    rng: Generator,
) -> Feed:
    config = phase.config
    if not phase.frozen:
        model.frozen = None  # stored features are about to be outdated
    kind = Vectors if phase.frozen and model.head is not None else Tokens
    source = examples if isinstance(examples, Windows) else kind(model, examples)
    if not method.by_environment:
        # Features need no padding, and heads of one and of several layers should see the same batches.
        by_length = config.group_by_length and not phase.frozen
        return EveryItem(environments, source, config.batch, rng, loss, by_length=by_length)
    steps = method.steps_per_epoch(environments, config.batch)
    return ByEnvironment(
        environments, source, config.batch, rng, loss, choose=method.environments, steps=steps
    )


def train_network(
    learner: Learner,
    feed: Feed,
    config: TrainConfig,
    seed: int,
    progress: Progress = silent,
    mark: Mark = silent,
    marks: Sequence[str] = (),
) -> list[float]:
    """Train any network in place on the caller's batches by plain training; `feed` has its own generator."""
    method = Vanilla()
    legs = [_Leg(phase, feed.steps, lambda rng: feed) for phase in method.phases(config)]
    return _Walk(learner, method, legs, seed, progress, mark, marks).go()


def steps_of(environments: Sequence[Environment], method: Method, config: TrainConfig) -> int:
    """Return the number of steps of a training."""
    if not environments:
        return 0
    return sum(
        phase.config.steps(method.steps_per_epoch(environments, phase.config.batch))
        for phase in method.phases(config)
    )


# The loop itself


@dataclass
class _Walk:
    """One training through all phases of its method."""

    learner: Learner
    method: Method
    legs: Sequence[_Leg]
    seed: int
    progress: Progress
    mark: Mark
    marks: Sequence[str]
    losses: list[float] = field(default_factory=list, init=False)
    unread: list[Tensor] = field(default_factory=list, init=False)
    """The losses of the last steps, on the model's device."""

    def __post_init__(self) -> None:
        self.total, self.stops = sum(leg.steps for leg in self.legs), _stops(self.legs, self.marks)
        self.keeper = checkpointing.the_keeper()

    def go(self) -> list[float]:
        """Train to the end, from the start or from a checkpoint."""
        network = self.learner.network
        if not self.total:
            network.eval()
            for name in self.marks:
                self.mark(name)
            return self.losses
        kept = self._kept()
        first = kept.leg if kept else 0
        with _own_randomness():
            torch.manual_seed(self.seed)
            for number, leg in enumerate(self.legs[first:], start=first):
                network.train()
                with leg.phase.around(network):
                    self._leg(number, leg, np.random.default_rng([self.seed, number]), kept)
                kept = None
        network.eval()
        return self.losses

    def _leg(self, number: int, leg: _Leg, rng: Generator, kept: checkpointing.Moment | None) -> None:
        with self.learner.evaluating():  # a frozen encoder encodes its examples here
            feed = leg.feed(rng)
        stepper = Stepper(self.learner.weights(), leg.phase.config, leg.steps * self.method.updates)
        batches_of_leg = islice(_batches(feed), leg.steps)
        is_gpu = any(weight.is_cuda for weight in stepper.weights)
        steps = enumerate(ahead(batches_of_leg) if is_gpu else batches_of_leg, start=1)
        if kept is not None:
            self._resume(kept, stepper, steps)
        for step, batches in steps:
            done = len(self.losses) + len(self.unread)
            self.unread.append(self.method.step(self.learner, batches, stepper, done / self.total))
            done += 1
            is_due = self.keeper is not None and self.keeper.is_due()
            if is_due or done in self.stops or step == leg.steps or len(self.unread) == BLOCK:
                self._read_losses()
            self.progress("training", done, self.total)
            for name in self.stops.get(done, ()):
                with self.learner.evaluating(), _own_randomness():
                    self.mark(name)
            if self.keeper is not None and is_due:
                trouble = self.keeper.keep(partial(self._now, number, step, stepper))
                if trouble:
                    self.progress(trouble, 0, 0)

    def _read_losses(self) -> None:
        """Copy the losses of the last steps from the device to the record; raise at one that is not finite."""
        for loss in torch.stack(self.unread).tolist():
            self.losses.append(loss)
            if not math.isfinite(loss):
                raise BrokenTrainingError(
                    f"the training diverged at step {len(self.losses):,}",
                    why=f"the loss is {loss}",
                    fix="a lower learning rate",
                )
        self.unread.clear()

    # Checkpoints

    def _now(self, number: int, step: int, stepper: Stepper) -> checkpointing.Moment:
        state = vars(self.method)
        tensors = {name: value for name, value in state.items() if isinstance(value, Tensor)}
        return checkpointing.Moment(
            leg=number,
            step=step,
            total=self.total,
            updates=stepper.done,
            losses=self.losses,
            method={name: value for name, value in state.items() if name not in tensors},
            tensors=checkpointing.state_of(self.learner.network, stepper.optimiser) | {"method": tensors},
        )

    def _kept(self) -> checkpointing.Moment | None:
        """Return the checkpoint to resume from, if the answers at every earlier mark are stored."""
        kept = self.keeper.found() if self.keeper is not None else None
        if self.keeper is None or kept is None or kept.total != self.total:
            return None
        passed = {name for step, names in self.stops.items() if step <= len(kept.losses) for name in names}
        return kept if passed <= self.keeper.asked else None

    def _resume(
        self, kept: checkpointing.Moment, stepper: Stepper, steps: Iterator[tuple[int, Sequence[Batch]]]
    ) -> None:
        """Draw the earlier batches again and restore the state."""
        for _ in islice(steps, kept.step):
            pass
        checkpointing.restore(kept.tensors, self.learner.network, stepper.optimiser)
        self.losses = kept.losses
        stepper.done = kept.updates
        vars(self.method).update({**kept.method, **kept.tensors["method"]})
        kept.tensors.clear()  # frees four times the size of the weights


def _batches(feed: Feed) -> Iterator[Sequence[Batch]]:
    while True:
        yield from feed.epoch()


def ahead(batches: Iterable[Sequence[Batch]]) -> Iterator[Sequence[Batch]]:
    """Yield the batches; a thread prepares the next one meanwhile."""
    remaining = iter(batches)
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, remaining, None)
        while (batch := upcoming.result()) is not None:
            upcoming = pool.submit(next, remaining, None)
            yield batch


# Marks and seeds


def _stops(legs: Sequence[_Leg], marks: Sequence[str]) -> dict[int, list[str]]:
    """Return the marks that come after each step: epoch "2" ends with the second epoch of all phases together.

    The last epoch may be cut short and then ends with the training.
    """
    stops: dict[int, list[str]] = {}
    for name in sorted(marks, key=int):
        left, step = float(name), 0
        for leg in legs:
            step += min(leg.steps, leg.phase.config.steps(leg.per_epoch, max(0.0, left)))
            left -= leg.phase.config.epochs
        stops.setdefault(step, []).append(name)
    return stops


def _own_randomness() -> AbstractContextManager[None]:
    """Restore torch's generators after this block."""
    return torch.random.fork_rng(range(torch.cuda.device_count()))

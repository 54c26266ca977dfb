"""Items to batches, and batches to the steps of an epoch (`docs/method/beluga.md` 1.6).

A loader makes batches from items of one class. Two feeds decide which batches a step gets:

    EveryItem        one loader per kind of item, each item once per epoch, loaders in random order: vanilla and others
    ByEnvironment    one loader per environment, a new draw at every step: IRM, Group-DRO, Fish
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from . import losses
from .batch import Batch, BoundedLoss, Rows, Source, to_device
from .environments import Alike, Answered, Directed, Environment, Invariant, Item, Labelled, Several, pools
from .spans import AlikeLoader, AnsweredLoader

SHOWN = 3
"""Most examples of a `Several` per visit."""
CHUNK = 50
"""Batches that are sorted by length together, as in Transformers' trainer."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Variants of the losses for labels and spans, by their names in `losses.py`."""

    labels: str = "softmax"
    spans: str = "context"


# Loaders: items of one class. `show` returns the rows of the chosen ones, the number of cases, and their loss.


class LabelledLoader:
    """Examples with their labels."""

    def __init__(self, items: Sequence[Labelled], source: Source, loss: Losses) -> None:
        self.rows = np.array(source.rows(item.example for item in items), np.int64)
        self.lengths = source.lengths[self.rows]
        self.targets = torch.tensor([item.target for item in items], dtype=torch.float32)
        self.kind = loss.labels

    def show(self, chosen: Rows, rng: Generator) -> tuple[Rows, int, BoundedLoss]:
        return self.rows[chosen], len(chosen), LabelLoss(self.targets[torch.from_numpy(chosen)], self.kind)


class SeveralLoader:
    """Cases of several examples with a label each."""

    def __init__(self, items: Sequence[Several], source: Source, loss: Losses) -> None:
        self.rows = [np.array(source.rows(item.examples), np.int64) for item in items]
        self.targets = [torch.tensor(item.targets, dtype=torch.float32) for item in items]
        self.kept = [int(item.keep_first) for item in items]
        self.lengths = np.array([source.lengths[rows].max() for rows in self.rows], np.int64)
        self.kind = loss.labels

    def show(self, chosen: Rows, rng: Generator) -> tuple[Rows, int, BoundedLoss]:
        """Return up to three examples of each, drawn without replacement."""
        drawn = [self._draw(item, rng) for item in chosen.tolist()]
        pairs = list(zip(chosen.tolist(), drawn, strict=True))
        rows = np.concatenate([self.rows[item][at] for item, at in pairs])
        targets = torch.cat([self.targets[item][torch.from_numpy(at)] for item, at in pairs])
        return rows, len(rows), LabelLoss(targets, self.kind)

    def _draw(self, item: int, rng: Generator) -> Rows:
        count, kept = len(self.rows[item]), self.kept[item]
        others = kept + rng.permutation(count - kept)[: SHOWN - kept]
        return np.concatenate([np.arange(kept), others])


class PairLoader:
    """Originals, each with one variant drawn per visit. Originals come first in the batch."""

    def __init__(self, items: Sequence[Invariant | Directed], source: Source, loss: Losses) -> None:
        self.originals = np.array(source.rows(item.original for item in items), np.int64)
        self.variants = np.array(source.rows(text for item in items for text in item.variants), np.int64)
        self.counts = np.array([len(item.variants) for item in items], np.int64)
        self.starts = np.cumsum(self.counts) - self.counts
        longest = np.maximum.reduceat(source.lengths[self.variants], self.starts)
        self.lengths = np.maximum(source.lengths[self.originals], longest)
        self.directions = [item.direction for item in items if isinstance(item, Directed)]

    def show(self, chosen: Rows, rng: Generator) -> tuple[Rows, int, BoundedLoss]:
        """Return each original with a uniformly drawn variant."""
        drawn = self.starts[chosen] + rng.integers(0, self.counts[chosen])
        rows = np.concatenate([self.originals[chosen], self.variants[drawn]])
        if not self.directions:
            return rows, len(chosen), InvarianceLoss()
        return rows, len(chosen), DirectionLoss([self.directions[item] for item in chosen.tolist()])


Loader = LabelledLoader | SeveralLoader | PairLoader | AnsweredLoader | AlikeLoader
LOADERS: dict[type[Item], Callable[[Any, Any, Losses], Loader]] = {
    Labelled: LabelledLoader,
    Invariant: PairLoader,
    Directed: PairLoader,
    Several: SeveralLoader,
    Answered: AnsweredLoader,
    Alike: AlikeLoader,
}


# Losses: which side of the logits IRM scales, and lower bounds


@dataclass(frozen=True, slots=True)
class LabelLoss(BoundedLoss):
    """The loss of labelled examples; if scaled, always cross-entropy (`docs/method/beluga.md` 1.7)."""

    targets: Tensor
    kind: str

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        wanted = to_device(self.targets, logits.device)
        if scale is not None:
            return losses.cross_entropy(logits * scale, wanted)
        return losses.LABEL_LOSSES[self.kind](logits, wanted)

    def floor(self, logits: Tensor) -> Tensor | float:
        """Return the entropy of soft labels, which is the bound of cross-entropy."""
        return losses.entropy(to_device(self.targets, logits.device)) if self.kind == "softmax" else 0.0


class InvarianceLoss(BoundedLoss):
    """The loss of pairs with the same answer; only the variant is scaled."""

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        original, variant = logits.chunk(2)
        return losses.invariance(original, variant if scale is None else variant * scale)

    def floor(self, logits: Tensor) -> Tensor:
        """Return the entropy of the answers to the originals."""
        return losses.entropy(logits.detach().chunk(2)[0].softmax(dim=-1))


@dataclass(frozen=True, slots=True)
class DirectionLoss(BoundedLoss):
    """The loss of pairs whose answer must not move in one direction; both sides are scaled."""

    directions: Sequence[str]

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        original, variant = logits.chunk(2)
        if scale is not None:
            original, variant = original * scale, variant * scale
        return losses.direction(original, variant, self.directions)


# Feeds: which batches a step gets


class Feed(Protocol):
    """The batches of a training."""

    @property
    def steps(self) -> int:
        """Return the number of steps in one epoch."""
        ...

    def epoch(self) -> Iterator[Sequence[Batch]]:
        """Yield the batches of each step of the next epoch."""
        ...


@dataclass
class EveryItem:
    """Each item once per epoch, in batches of one kind; kinds alternate at random in proportion to size."""

    environments: Sequence[Environment]
    source: Source
    batch: int
    rng: Generator
    loss: Losses = Losses()
    by_length: bool = True

    def __post_init__(self) -> None:
        self.pools = [(pool, _loader(pool, self.source, self.loss)) for pool in pools(self.environments)]
        self.steps = sum(pool.batches(self.batch) for pool, _ in self.pools)

    def epoch(self) -> Iterator[Sequence[Batch]]:
        turns = [self._turns(*pool) for pool in self.pools]
        order = np.repeat(np.arange(len(turns)), [pool.batches(self.batch) for pool, _ in self.pools])
        for turn in self.rng.permutation(order).tolist():
            pool, loader = self.pools[turn]
            yield (_batch(pool, loader, next(turns[turn]), self.source, self.rng),)

    def _turns(self, pool: Environment, loader: Loader) -> Iterator[Rows]:
        size = pool.batch_size(self.batch)
        return iter(shuffled_batches(loader.lengths, size, self.rng, by_length=self.by_length))


def shuffled_batches(lengths: Rows, size: int, rng: Generator, *, by_length: bool) -> list[Rows]:
    """Return batches in random order; `by_length` ones are sorted inside chunks, then shuffled as batches."""
    order = rng.permutation(len(lengths))
    if not by_length:
        return np.split(order, range(size, len(order), size))
    chunks = np.split(order, range(CHUNK * size, len(order), CHUNK * size))
    ordered = [chunk[np.argsort(-lengths[chunk], kind="stable")] for chunk in chunks]
    cut = [batch for chunk in ordered for batch in np.split(chunk, range(size, len(chunk), size))]
    return [cut[at] for at in rng.permutation(len(cut))]


@dataclass
class ByEnvironment:
    """Batches from the environments that a method chooses for each step."""

    environments: Sequence[Environment]
    source: Source
    batch: int
    rng: Generator
    loss: Losses = Losses()
    choose: Callable[[Sequence[Environment], Generator], Sequence[str]] = field(kw_only=True)
    steps: int = field(kw_only=True)

    def __post_init__(self) -> None:
        self.loaders = {one.name: (one, _loader(one, self.source, self.loss)) for one in self.environments}

    def epoch(self) -> Iterator[Sequence[Batch]]:
        """Yield one batch from each chosen environment per step, drawn without replacement inside a batch."""
        for _ in range(self.steps):
            names = self.choose(self.environments, self.rng)
            yield [self._draw(*self.loaders[name]) for name in names]

    def _draw(self, environment: Environment, loader: Loader) -> Batch:
        size = min(len(environment), environment.batch_size(self.batch))
        chosen = self.rng.choice(len(environment), size, replace=False)
        return _batch(environment, loader, chosen, self.source, self.rng)


def _loader(environment: Environment, source: Source, loss: Losses) -> Loader:
    return LOADERS[type(environment.items[0])](environment.items, source, loss)


def _batch(environment: Environment, loader: Loader, chosen: Rows, source: Source, rng: Generator) -> Batch:
    rows, cases, loss = loader.show(chosen, rng)
    return Batch(environment.name, source.take(rows), loss, cases)

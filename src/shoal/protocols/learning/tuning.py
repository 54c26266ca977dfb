"""The objective of BELUGA's grid search (`docs/method/beluga.md` 1.8).

It is MFT + INV + DIR on the suite's validation split, each a mean over its examples or pairs. From a pair it takes one
variant, drawn once by the seed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Example
from ...models.batching import batches
from ...training.environments import (
    Alike,
    Answered,
    Directed,
    Environment,
    Invariant,
    Item,
    Labelled,
    Several,
)
from ..behaviour.build import load_suite
from ..behaviour.rules import directional_error
from .lessons import suite_environments
from .settings import Settings
from .trainings import F1_TASKS

SEED = 42
"""Seed of every try and of the i.i.d. stage before it: all seeds of a plan share one search."""
TOLERANCE = 0.1
SHOWN = 3
NEUTRAL = (1 / 3, 2 / 3)
Floats = NDArray[np.float64]


def objective(settings: Settings, labels: tuple[str, ...], model: Any) -> float:
    """Return how well a model with these labels does on the validation split of the suite, the more the better."""
    environments = suite_environments(settings, labels, "validation")
    if not labels:
        return _of_spans(model, [item for environment in environments for item in environment.items])
    suite = load_suite(settings.suite)
    count = len(suite.labels or labels)
    with_f1 = count == 2 and suite.task in F1_TASKS
    return _of_labels(model, environments, labels, with_f1=with_f1, banded=(count, len(labels)) == (3, 2))


def probabilities_of(model: Any, examples: Sequence[Example], labels: Sequence[str]) -> Floats:
    """Return a row of probabilities for each example; the model sees each distinct one once."""
    distinct = list(dict.fromkeys(examples))
    positions = batches(distinct, model.lengths(distinct), model.batch_tokens)
    parts = [[distinct[at] for at in batch] for batch in positions]
    place = {example: row for row, example in enumerate(chain.from_iterable(parts))}
    chances: Floats = np.concatenate([model.classify(part, labels).probabilities for part in parts])
    return chances[[place[example] for example in examples]]


def _of_labels(
    model: Any, environments: Sequence[Environment], labels: tuple[str, ...], *, with_f1: bool, banded: bool
) -> float:
    """Return MFT + INV + DIR: right labels, probabilities that stay within .1, or that do not move .1 the wrong way.

    For duplicate questions accuracy and F1 are averaged, and DIR cases are questions with labels.
    """
    rng = np.random.default_rng(SEED)
    shown = [(part.kind, item, *_shown(item, rng)) for part in environments for item in part.items]
    chances = probabilities_of(model, [text for _, _, texts, _ in shown for text in texts], labels)
    ends = np.cumsum([len(texts) for _, _, texts, _ in shown])
    right: defaultdict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    moved: defaultdict[str, list[bool]] = defaultdict(list)
    for (kind, item, _, targets), own in zip(shown, np.split(chances, ends[:-1]), strict=True):
        match item:
            case Invariant():
                moved[kind].append(bool(abs(own[1, -1] - own[0, -1]) <= TOLERANCE))
            case Directed():
                error = directional_error(item.direction, own[:1], own[1:])[0]
                moved[kind].append(bool(error <= TOLERANCE))
            case _:
                right[kind] += [
                    (is_right(vector, target, banded=banded), vector.argmax() == 1, np.argmax(target) == 1)
                    for vector, target in zip(own, targets, strict=True)
                ]
    total = sum(float(np.mean(passes)) for passes in moved.values())
    return total + sum(_accuracy(rows, with_f1) for rows in right.values())


def _shown(item: Item, rng: np.random.Generator) -> tuple[Sequence[Example], Sequence[tuple[float, ...]]]:
    """Return the examples of an item to look at, and their targets if it has labels."""
    match item:
        case Labelled():
            return [item.example], [item.target]
        case Several():
            kept = int(item.keep_first)
            drawn = [*range(kept), *(kept + rng.permutation(len(item.examples) - kept)[: SHOWN - kept])]
            return [item.examples[at] for at in drawn], [item.targets[at] for at in drawn]
        case Invariant() | Directed():
            return [item.original, item.variants[int(rng.integers(len(item.variants)))]], ()
    raise TypeError(type(item))


def is_right(vector: Floats, target: Sequence[float], *, banded: bool) -> bool:
    """Return whether the likeliest label is right; with two labels for three, by the neutral band.

    >>> [is_right(np.array([0.4, 0.6]), target, banded=True) for target in ((0, 1), (0.5, 0.5), (1 / 3, 2 / 3))]
    [False, True, True]
    """
    likeliest = int(np.argmax(target))
    if not banded:
        return bool(target[int(vector.argmax())] == target[likeliest])
    if target[0] == target[1]:
        return bool(NEUTRAL[0] <= vector[1] <= NEUTRAL[1])
    return bool(vector[likeliest] > NEUTRAL[1] if max(target) == 1 else vector[likeliest] >= NEUTRAL[0])


def _accuracy(rows: Sequence[tuple[bool, bool, bool]], with_f1: bool) -> float:
    table = np.array(rows)
    accuracy = float(table[:, 0].mean())
    if not with_f1:
        return accuracy
    said, wanted = table[:, 1], table[:, 2]
    both = 2 * int((said & wanted).sum())
    f1 = both / (int(said.sum()) + int(wanted.sum())) if said.any() or wanted.any() else 0.0
    return (accuracy + f1) / 2


def _of_spans(model: Any, items: Sequence[Item]) -> float:
    """Return ½ (right starts + right ends) over windows, plus the share of pairs with the same likeliest tokens."""
    import torch

    from ...training.spans import Windows

    rng = np.random.default_rng(SEED)
    windows = Windows(model, [example for item in items for example in item.examples])
    ends: list[float] = []
    alike: list[float] = []
    network = model.network(model.trained)
    network.eval()

    def likeliest(row: int) -> Floats:
        with torch.inference_mode():
            logits: Floats = model.forward(windows.take(np.array([row])))[0].double().cpu().numpy()
        return logits

    for item in items:
        if isinstance(item, Answered):
            for part, row in enumerate(windows.windows_of[item.example]):
                found = likeliest(row).argmax(axis=0)
                wanted = windows.ends(replace(item, window=part))
                ends.append(float(np.mean([found[side] in wanted[side] for side in (0, 1)])))
        elif isinstance(item, Alike):
            variant = item.variants[int(rng.integers(len(item.variants)))]
            ours, theirs = windows.windows_of[item.original][0], windows.windows_of[variant][0]
            before, after = windows.alignment(ours, theirs)
            if len(before):
                same = likeliest(ours)[before].argmax(axis=0) == likeliest(theirs)[after].argmax(axis=0)
                alike.append(float(np.mean(same)))
    return sum(float(np.mean(shares)) for shares in (ends, alike) if shares)

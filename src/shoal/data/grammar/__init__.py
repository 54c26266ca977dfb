"""Data to train and test small models on, from our own grammar and word lists: i.i.d., any size, by seed.

Each module has `make(split, n, seed)`. The suites ask about other sentences than these, and about things
that never matter here (negation, time, roles, typos): a model can be nearly perfect on this data and still
fail them.

To add a task: write `grammar/<name>.py` with `make`, and add a line to GRAMMARS.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar
from zlib import crc32

import numpy as np
from numpy.random import Generator

from ...core.errors import DataError, nearest

T = TypeVar("T")

GRAMMARS: dict[str, dict[str, int]] = {
    "sentiment": {"train": 3000, "validation": 500, "test": 500},
    "paraphrase": {"train": 8000, "validation": 500, "test": 500},
    "reading": {"train": 2500, "validation": 500, "test": 500},
    "nli": {"train": 6000, "validation": 500, "test": 500},
    "opinions": {"train": 12000, "validation": 500, "test": 500},
}
"""Task to the usual size of each split; the module has the task's name."""
VERSION = 1
"""Increased when a grammar draws other rows. It is part of job names, so that old answers are not reused."""
SPLITS = {"train": range(8), "validation": range(8, 9), "test": range(9, 10)}
"""Which tenths of all content belong to a split."""


@dataclass(frozen=True, slots=True)
class Row:
    """One example with its label.

    `texts` is ("text",), ("question1", "question2") or ("context", "question"). In reading comprehension
    the label is the answer, and `start` says at which character of the context it begins.
    """

    texts: tuple[str, ...]
    label: str
    start: int | None = None


def make_rows(task: str, split: str, n: int | None = None, seed: int = 0) -> list[Row]:
    """Return rows of a task, as many as usual by default; splits share no content, whatever their seeds."""
    if task not in GRAMMARS:
        raise DataError.unknown(f"no made data for task {task!r}", task, GRAMMARS)
    usual = GRAMMARS[task].get(split, 0)
    rows: list[Row] = import_module(f".{task}", __name__).make(split, usual if n is None else n, seed)
    return rows


def draw(
    one: Callable[[Generator], Row], split: str, n: int, seed: int, content: Callable[[Row], str]
) -> list[Row]:
    """Return n distinct rows whose content belongs to the split.

    The content alone decides the split, so no two splits share any, whatever the seeds.
    """
    if split not in SPLITS:
        raise DataError(
            f"split {split!r} is not one of {', '.join(SPLITS)}", fix=nearest(split, SPLITS) or "one of those"
        )
    rng = np.random.default_rng([seed, *SPLITS[split]])
    found: dict[Row, None] = {}
    for _ in range(1000 + 100 * n):
        if len(found) == n:
            return list(found)
        row = one(rng)
        if crc32(content(row).encode()) % 10 in SPLITS[split]:
            found[row] = None
    raise DataError(f"{n:,} distinct rows for {split!r} are more than the grammar has", fix=f"n={len(found)}")


def pick(rng: Generator, choices: Sequence[T]) -> T:
    """Return a random choice."""
    return choices[int(rng.integers(len(choices)))]


def pick_two(rng: Generator, choices: Sequence[T]) -> tuple[T, T]:
    """Return two different random choices."""
    first = int(rng.integers(len(choices)))
    second = int(rng.integers(len(choices) - 1))
    return choices[first], choices[second + (second >= first)]


def sentence(words: str, end: str = ".") -> str:
    """Return words as a sentence.

    >>> sentence("a fine day")
    'A fine day.'
    """
    return words[:1].upper() + words[1:] + end

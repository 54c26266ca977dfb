"""Caches for training: tokenised examples, and the features of a frozen encoder."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.records import Example

Vectors = NDArray[np.float32]  # (examples, width)
Columns = dict[str, list[NDArray[np.int64]]]
"""The inputs of a network by name, one row per example."""
MOST = 100_000
"""The most examples in a cache of tokens; a larger number empties it."""


class Tokenised:
    """Examples as rows of token ids, shared by the trainings of a process; callers must not change the rows."""

    def __init__(self) -> None:
        self.lengths: dict[Example, int] = {}
        """Before truncation."""
        self._names: list[str] = []
        self._rows: dict[Example, tuple[NDArray[np.int64], ...]] = {}

    def columns(self, examples: Sequence[Example], make: Callable[[Sequence[Example]], Columns]) -> Columns:
        """Return the columns of these examples; `make` tokenises those that are not cached."""
        if len(examples) > MOST:
            return make(examples)
        fresh = [example for example in dict.fromkeys(examples) if example not in self._rows]
        if len(self._rows) + len(fresh) > MOST:
            self._rows.clear()
            self.lengths.clear()
            fresh = list(dict.fromkeys(examples))
        if fresh:
            made = make(fresh)
            self._names = list(made)
            self._rows |= zip(fresh, zip(*made.values(), strict=True), strict=True)
        rows = [self._rows[example] for example in examples]
        return {name: [row[place] for row in rows] for place, name in enumerate(self._names)}


@lru_cache(maxsize=2)
def shared_tokens(tokenizer: str, longest: int) -> Tokenised:
    """Return this process's cache for a tokenizer and a length limit."""
    return Tokenised()


class Features:
    """The input of a classifier's head for some examples."""

    def __init__(self, names: Iterable[int] = (), vectors: Iterable[Vectors] = ()) -> None:
        self.vectors: dict[int, Vectors] = dict(zip(names, vectors, strict=True))

    def __len__(self) -> int:
        return len(self.vectors)

    def missing(self, examples: Iterable[Example]) -> list[Example]:
        """Return the distinct examples without a vector."""
        return [example for example in dict.fromkeys(examples) if _hash(example) not in self.vectors]

    def add(self, examples: Sequence[Example], vectors: Vectors) -> None:
        """Add one vector per example."""
        self.vectors |= zip(map(_hash, examples), vectors, strict=True)

    def rows(self, examples: Iterable[Example]) -> Vectors:
        """Return the vectors of these examples, in order."""
        return np.stack([self.vectors[_hash(example)] for example in examples])


def _hash(example: Example) -> int:
    """Return a hash of 64 bits of an example's texts."""
    return int.from_bytes(hashlib.blake2b("\0".join(example).encode(), digest_size=8).digest(), "big")

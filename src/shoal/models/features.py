"""What a frozen encoder makes of examples, computed once and looked up after that: example to vector."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.records import Example

Vectors = NDArray[np.float32]  # (examples, width)


class Features:
    """The input of a classifier's head for some examples."""

    def __init__(self, names: Iterable[int] = (), vectors: Iterable[Vectors] = ()) -> None:
        self.vectors: dict[int, Vectors] = dict(zip(names, vectors, strict=True))

    def __len__(self) -> int:
        return len(self.vectors)

    def missing(self, examples: Iterable[Example]) -> list[Example]:
        """Those that are not there, each once."""
        return [example for example in dict.fromkeys(examples) if name_of(example) not in self.vectors]

    def add(self, examples: Sequence[Example], vectors: Vectors) -> None:
        """Take in examples, a row each."""
        self.vectors |= zip(map(name_of, examples), vectors, strict=True)

    def rows(self, examples: Iterable[Example]) -> Vectors:
        """The vectors of these examples, in their order."""
        return np.stack([self.vectors[name_of(example)] for example in examples])


def name_of(example: Example) -> int:
    """A number that stands for an example's texts, of 64 bits."""
    return int.from_bytes(hashlib.blake2b("\0".join(example).encode(), digest_size=8).digest(), "big")

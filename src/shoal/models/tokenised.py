"""What a tokenizer made of examples, remembered while the process lives.

The trainings of a plan are many, and read the same texts: each text is taken apart once for all of them.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.records import Example

Columns = dict[str, list[NDArray[np.int64]]]
"""Of a network's inputs, a row per example."""
MOST = 100_000
"""Examples that are remembered; with more than that nothing of before is."""


class Tokenised:
    """Examples as rows of numbers, none of which is to be changed."""

    def __init__(self) -> None:
        self.lengths: dict[Example, int] = {}
        """Before anything is cut."""
        self._names: list[str] = []
        self._rows: dict[Example, tuple[NDArray[np.int64], ...]] = {}

    def columns(self, examples: Sequence[Example], make: Callable[[Sequence[Example]], Columns]) -> Columns:
        """Those of these examples; `make` takes apart what is not known yet."""
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
def tokenised_by(tokenizer: str, longest: int) -> Tokenised:
    """What this tokenizer made in this process, cut to so many tokens."""
    return Tokenised()

"""What every suite here needs to put sentences together; f-strings and itertools do the rest."""

from collections.abc import Sequence
from itertools import product

import numpy as np


def some_of(n: int, *words: Sequence[str]) -> list[tuple[str, ...]]:
    """n of all combinations, the same ones every time, in order; all of them if there are fewer.

    >>> some_of(3, ["red", "blue"], ["door", "gate", "wall"])
    [('red', 'door'), ('red', 'wall'), ('blue', 'door')]
    """
    combinations = list(product(*words))
    drawn = np.random.default_rng(len(combinations)).permutation(len(combinations))[:n]
    return [combinations[i] for i in sorted(drawn)]


def an(words: str) -> str:
    """The words after "a" or "an".

    >>> an("awful meal"), an("good one")
    ('an awful meal', 'a good one')
    """
    return f"{'an' if words[0].lower() in 'aeio' else 'a'} {words}"

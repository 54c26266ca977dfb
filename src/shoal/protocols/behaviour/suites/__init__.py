"""The suites that ship with shoal, one file each, and the helpers for those in Python.

To add one: write `suites/<name>.yaml`, or `suites/<name>.py` that defines `suite`, and add a line.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

SUITES: dict[str, str] = {
    "sentiment": "sentiment.py",
    "sentiment-de": "sentiment_de.yaml",
    "paraphrase": "paraphrase.py",
    "reading": "reading.py",
}
"""Name to file."""


def some_of(n: int, *words: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return n of all combinations, the same every time, in order; all of them if there are fewer.

    >>> some_of(3, ["red", "blue"], ["door", "gate", "wall"])
    [('red', 'door'), ('red', 'wall'), ('blue', 'door')]
    """
    combinations = list(product(*words))
    drawn = np.random.default_rng(len(combinations)).permutation(len(combinations))[:n]
    return [combinations[i] for i in sorted(drawn)]


def an(words: str) -> str:
    """Return the words after "a" or "an".

    >>> an("awful meal"), an("good one")
    ('an awful meal', 'a good one')
    """
    return f"{'an' if words[0].lower() in 'aeio' else 'a'} {words}"

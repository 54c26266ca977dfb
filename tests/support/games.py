"""Models whose attributions are known: a number for every set of words that are present."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from shoal.explaining.attributions import Units

Worth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Presence (copies, units) to the probability of "yes" (copies,)."""


class Game:
    """Copies of one made-up example whose answers a function gives; counts what is asked."""

    absent = "drop"
    labels = ("no", "yes")

    def __init__(self, size: int, worth: Worth) -> None:
        self.units = [Units(tuple(f"w{n}" for n in range(size)), (0,) * size)]
        self.worth = worth

    def ask(self, present: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.float64]]:
        yes = self.worth(present[0].astype(np.float64))
        return [np.stack([1 - yes, yes], axis=1)]


def random_worth(size: int, seed: int) -> Worth:
    """Any number between 0 and 1 for every set of words: interactions of all orders."""
    table = np.random.default_rng(seed).random(2**size)
    codes = 2 ** np.arange(size)
    return lambda present: table[(present @ codes).astype(int)]


def shapley_by_definition(size: int, worth: Worth) -> NDArray[np.float64]:
    """Every word's share, from all sets of the others."""
    values = np.zeros(size)
    for word in range(size):
        others = [n for n in range(size) if n != word]
        for count in range(size):
            weight = factorial(count) * factorial(size - count - 1) / factorial(size)
            for chosen in combinations(others, count):
                without = np.zeros((1, size))
                without[0, list(chosen)] = 1
                with_it = without.copy()
                with_it[0, word] = 1
                values[word] += weight * float((worth(with_it) - worth(without))[0])
    return values

"""RANDOM: a coin flip for each pair and probe set."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def order(models: int, sets: int, rng: Generator) -> NDArray[np.float64]:
    """How often each model comes before each other one, as a matrix; NaN on its diagonal."""
    first, second = np.triu_indices(models, 1)
    shares = rng.binomial(sets, 0.5, size=len(first)) / sets
    order = np.full((models, models), np.nan)
    order[first, second], order[second, first] = shares, 1 - shares
    return order

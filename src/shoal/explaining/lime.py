"""LIME: a linear model of what the model says of copies that are near the text.

Ribeiro et al. 2016, "Why Should I Trust You?", with the parameters of `docs/method/ranking.md` 6.7: every copy but the
first lacks a random number of random units; copies that keep more weigh more; ridge regression with an intercept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .attributions import Attribution, How, Units, Values
from .copies import Copies, Present
from .sampling import from_copies

SAMPLES = 5_000
KERNEL = 25.0
"""Of distances in hundredths."""
RIDGE = 1.0


def attribute(copies: Copies, how: How, rngs: Sequence[np.random.Generator]) -> list[Attribution]:
    """What each unit of each example counts for; the values need not add up to anything."""
    return from_copies(copies, how, rngs, draw=draw, fit=fit, facts=facts, sums=False)


def samples_of(units: Units, how: How) -> int:
    """How many copies are asked."""
    return how.samples or SAMPLES


def draw(units: Units, how: How, rng: np.random.Generator) -> Present:
    """The copies: the first is the text itself, each other lacks 1 to all units, which and how many by chance."""
    count, size = samples_of(units, how), len(units)
    if not size:
        return np.ones((1, 0), np.bool_)
    absent = rng.integers(1, size + 1, (count - 1, 1))
    ranks = rng.random((count - 1, size)).argsort(axis=1).argsort(axis=1)
    return np.concatenate([np.ones((1, size), np.bool_), ranks >= absent])


def fit(present: Present, outputs: Values, ends: tuple[float, float], how: How) -> Values:
    """What each unit adds, by ridge regression with an intercept."""
    weights = proximity(present)
    middle = np.average(present, axis=0, weights=weights), np.average(outputs, weights=weights)
    units, output = present - middle[0], outputs - middle[1]
    left = (units * weights[:, None]).T @ units + RIDGE * np.eye(present.shape[1])
    return np.linalg.solve(left, units.T @ (weights * output)).astype(np.float64)


def proximity(present: Present) -> Values:
    """How much each copy weighs: by its cosine distance to the whole text, which is 1 for a copy without anything.

    >>> proximity(np.tri(4, dtype=bool))[::-1].round(5).tolist()
    [1.0, 0.86624, 0.50344, 0.13534]
    """
    distances = 100 * (1 - np.sqrt(present.mean(axis=1)))
    weights: Values = np.exp(-0.5 * (distances / KERNEL) ** 2)
    return weights


def facts(units: Units, how: How) -> dict[str, Any]:
    """What a reader must know about how the values came to be."""
    return {"samples": samples_of(units, how)}

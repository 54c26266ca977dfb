"""LIME: a local linear model of the classifier around the text.

Ribeiro et al. 2016, "Why Should I Trust You?", with the parameters of `docs/method/ranking.md` 6.7: every copy but the
first lacks a random number of random units; copies that keep more units weigh more; ridge regression with intercept.
"""

from collections.abc import Sequence

import numpy as np

from .attributions import Attribution, ExplainConfig, Units, Values
from .copies import Copies, Present, from_copies

SAMPLES = 5_000
KERNEL = 25.0
"""Kernel width, for distances in hundredths."""
RIDGE = 1.0


def attribute(
    copies: Copies, config: ExplainConfig, rngs: Sequence[np.random.Generator]
) -> list[Attribution]:
    """Return the coefficient of each unit of each example; they need not add up."""
    facts = {"samples": config.samples or SAMPLES}
    return from_copies(copies, config, rngs, draw=draw, fit=fit, facts=lambda units: facts, sums=False)


def draw(units: Units, config: ExplainConfig, rng: np.random.Generator) -> Present:
    """Return the copies: the text itself, and copies without a random number of random units."""
    count, size = config.samples or SAMPLES, len(units)
    if not size:
        return np.ones((1, 0), np.bool_)
    absent = rng.integers(1, size + 1, (count - 1, 1))
    ranks = rng.random((count - 1, size)).argsort(axis=1).argsort(axis=1)
    return np.concatenate([np.ones((1, size), np.bool_), ranks >= absent])


def fit(present: Present, outputs: Values, ends: tuple[float, float], config: ExplainConfig) -> Values:
    """Return the coefficients of a ridge regression with intercept."""
    weights = proximity(present)
    middle = np.average(present, axis=0, weights=weights), np.average(outputs, weights=weights)
    units, output = present - middle[0], outputs - middle[1]
    left = (units * weights[:, None]).T @ units + RIDGE * np.eye(present.shape[1])
    return np.linalg.solve(left, units.T @ (weights * output)).astype(np.float64)


def proximity(present: Present) -> Values:
    """Return the weight of each copy by its cosine distance to the whole text; 1 for the empty copy.

    >>> proximity(np.tri(4, dtype=bool))[::-1].round(5).tolist()
    [1.0, 0.86624, 0.50344, 0.13534]
    """
    distances = 100 * (1 - np.sqrt(present.mean(axis=1)))
    weights: Values = np.exp(-0.5 * (distances / KERNEL) ** 2)
    return weights

"""Patterns: problems with several variants, solved when enough variants are right (`docs/method/merge.md` 4.4).

Problem i has n_i variants, of which c_i are right. The independence reference is the pattern accuracy that they would
have if the variants of a problem did not go together.
"""

import math

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, t_quantile

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Tolerance for binary fractions: θ = .9 of 20 is 18."""


def needed(threshold: float, n: ArrayLike) -> Floats:
    """Return how many of n variants must be right.

    >>> needed(0.95, [20, 20]).tolist(), needed(0.67, 3).tolist(), needed(0.66, 3).tolist()
    ([19.0, 19.0], 3.0, 2.0)
    """
    return np.ceil(threshold * np.asarray(n, np.float64) - SLACK)


# Reference


def independence_reference(n: ArrayLike, accuracy: float, threshold: float) -> float:
    """Return pattern accuracy if variants were right independently, with one probability.

    >>> round(independence_reference([20], 0.8872, 1.0), 4)
    0.0913
    """
    counts = np.asarray(n, np.int64)
    least = needed(threshold, counts)
    return float(np.mean(scipy.special.bdtrc(least - 1, counts, accuracy)))


# Drop


def drop_interval(originals: Floats, right: Floats, n: Floats, clusters: ArrayLike) -> tuple[float, Interval]:
    """Return the accuracy on originals minus that on their variants, with an interval over clusters.

    The interval is linearised after adding a right and a wrong cluster of average size to each rate (Agresti & Caffo
    2000 for clusters): two rates without errors do not prove equality.

    >>> _, (low, high) = drop_interval(np.ones(20), np.ones(20), np.ones(20), range(20))
    >>> round(low, 3), round(high, 3)
    (-0.13, 0.13)
    """
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(index.max()) + 1
    rates, middles, errors = [], [], np.zeros(count + 4)
    for number, (hits, tries) in enumerate([(originals, np.ones(len(originals))), (right, n)]):
        sums, sizes = (np.bincount(index, values, len(errors)) for values in (hits, tries))
        rates.append(float(sums.sum() / sizes.sum()))
        added = count + 2 * number
        sizes[added : added + 2] = sums[added] = sizes.sum() / count
        middles.append(float(sums.sum() / sizes.sum()))
        errors += (1 - 2 * number) * (sums - middles[-1] * sizes) / sizes.sum()
    error = math.sqrt(float(errors @ errors) * len(errors) / (len(errors) - 1))
    reach = t_quantile(0.95, count + 1) * error
    middle = middles[0] - middles[1]
    return rates[0] - rates[1], (max(-1.0, middle - reach), min(1.0, middle + reach))

"""A weighted sum of means over groups of cases that share their clusters, such as the cells of one text.

Clusters are not compared with each other across groups: which groups there are is fixed, what varies is how the
clusters of each differ from its mean.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .intervals import Student

Floats = NDArray[np.float64]


def sum_t(values: Sequence[ArrayLike], clusters: Sequence[ArrayLike], weights: Sequence[float]) -> Student:
    """Return middle, error and degrees of a t interval for Σ weight · mean; `values` are paired differences by group.

    As in `paired_difference_interval`, two clusters are added to each set of groups that share clusters, one all the
    one way and one all the other: agreement on a few cases is not proof, and an interval never collapses to a point.

    >>> estimate = sum_t([[0, 0, 1, 1], [1, 1, 1, 1]], [[1, 2, 3, 4], [5, 6, 7, 8]], [0.5, 0.5])
    >>> estimate.middle, [round(end, 2) for end in estimate.interval()]
    (0.75, [0.24, 1.26])
    """
    groups = [np.asarray(group, dtype=np.float64) for group in values]
    names = [np.asarray(owners) for owners in clusters]
    # fsum: the same number whatever the order of cases.
    means = [math.fsum(group) / len(group) for group in groups]
    middle = math.fsum(weight * mean for weight, mean in zip(weights, means, strict=True)) + 0.0
    apart = [
        weight * (group - mean) / len(group)
        for weight, group, mean in zip(weights, groups, means, strict=True)
    ]
    pulls = _by_cluster(np.concatenate(apart), np.concatenate(names))
    added = [
        math.fsum(abs(weights[number]) / (len(groups[number]) + 2) for number in members)
        for members in _sharing(names)
    ]
    squares = math.fsum([*(pulls**2).tolist(), *(2 * size**2 for size in added)])
    degrees = float(len(pulls) + len(added))
    return Student(middle, math.sqrt(squares * (len(pulls) + 2 * len(added)) / degrees), degrees)


def _by_cluster(pulls: Floats, names: NDArray[np.int64]) -> Floats:
    """Return how far each cluster pulls the sum away from where it is."""
    _, owners = np.unique(names, return_inverse=True)
    # Summed in the order of the values: floating-point sums must not depend on the order of cases.
    order = np.lexsort((pulls, owners))
    sums: Floats = np.bincount(owners[order], weights=pulls[order]).astype(np.float64)
    return sums


def _sharing(names: Sequence[NDArray[np.int64]]) -> list[list[int]]:
    """Return the groups, by number, in sets whose members share clusters."""
    sets: list[tuple[set[int], list[int]]] = []
    for number, owners in enumerate(names):
        held, members = set(owners.tolist()), [number]
        for other in [each for each in sets if each[0] & held]:
            sets.remove(other)
            held, members = held | other[0], other[1] + members
        sets.append((held, members))
    return [members for _, members in sets]

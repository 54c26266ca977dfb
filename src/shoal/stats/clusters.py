"""Do two concepts fall apart into two clusters? k-means against the known labels (`docs/method/bias.md` 5.6).

The chance level of `max(a, 1 - a)` is above one half and depends on the sizes. It is not drawn but computed: if labels
are put at random on clusters of given sizes, how many of one label fall into one cluster is hypergeometric.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

RESTARTS = 10
ITERATIONS = 300
CHANCE_LEVEL = 0.95


def two_means(vectors: ArrayLike, rng: Generator) -> Codes:
    """Return the cluster, 0 or 1, of each vector (a row): k-means with k-means++ starts, the tightest of several.

    Not `scipy.cluster.vq.kmeans2`: it never stops before its last iteration, which takes ten to sixty times as long.

    >>> two_means([[0.0], [0.1], [5.0], [5.1]], np.random.default_rng(0)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    points = np.asarray(vectors, dtype=np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise ValueError(f"clusters need at least two vectors; got shape {points.shape}")
    points = points - points.mean(axis=0)
    clusterings = [_lloyd(points, _plus_plus(points, rng)) for _ in range(RESTARTS)]
    return min(clusterings, key=lambda clustering: clustering[1])[0]


def _plus_plus(points: Floats, rng: Generator) -> Floats:
    """Return two centres: a point at random, and another the likelier the farther away."""
    first = points[int(rng.integers(len(points)))]
    away = ((points - first) ** 2).sum(axis=1)
    total = away.sum()
    chances = away / total if total > 0 else np.full(len(points), 1 / len(points))
    return np.stack([first, points[int(rng.choice(len(points), p=chances))]])


def _lloyd(points: Floats, centres: Floats) -> tuple[Codes, float]:
    """Clusters, and how far points are from their centres."""
    squares = (points**2).sum(axis=1)
    clusters: Codes = np.full(len(points), -1)
    for _ in range(ITERATIONS):
        away = squares[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
        nearest = away.argmin(axis=1)
        if (nearest == clusters).all():
            break
        clusters = nearest
        for code in (0, 1):
            members = clusters == code
            if members.any():
                centres[code] = points[members].mean(axis=0)
    return clusters, float(away.min(axis=1).sum())


def cluster_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share right under the better of the two ways to match two clusters to two labels.

    >>> cluster_accuracy([0, 0, 1, 1], [1, 1, 0, 0]), cluster_accuracy([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 0.5)
    """
    right = float((np.asarray(labels) == np.asarray(clusters)).mean())
    return max(right, 1 - right)


@dataclass(frozen=True, slots=True)
class Chance:
    """What `cluster_accuracy` comes to when labels are put on the clusters at random."""

    mean: float
    high: float
    """Not more than 5 % of random labels give more."""
    p: float
    """How many of them give at least what was seen."""


def chance_accuracy(labels: ArrayLike, clusters: ArrayLike) -> Chance:
    """Return the permutation distribution of the accuracy, over all permutations of the labels.

    >>> round(chance_accuracy([0, 0, 1, 1], [0, 0, 1, 1]).mean, 4)
    0.6667
    """
    a, b = np.asarray(labels, np.int64), np.asarray(clusters, np.int64)
    n, ones, in_cluster = len(a), int(a.sum()), int(b.sum())
    both = np.arange(max(0, ones + in_cluster - n), min(ones, in_cluster) + 1)
    ways = (
        _log_choose(ones, both)
        + _log_choose(n - ones, in_cluster - both)
        - _log_choose(n, np.array([in_cluster]))
    )
    right = (2 * both + n - ones - in_cluster) / n
    accuracy = np.maximum(right, 1 - right)
    order = np.argsort(accuracy, kind="stable")
    accuracy, chances = accuracy[order], np.exp(ways)[order]
    below = np.cumsum(chances)
    high = float(accuracy[min(int(np.searchsorted(below, CHANCE_LEVEL - 1e-12)), len(below) - 1)])
    seen = cluster_accuracy(a, b)
    return Chance(float(accuracy @ chances), high, min(1.0, float(chances[accuracy >= seen - 1e-12].sum())))


def _log_choose(n: int, k: Codes) -> Floats:
    found: Floats = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return found

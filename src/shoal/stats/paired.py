"""Tests of two models on the same cases: sign test, sign flips, randomisation (`docs/method/beluga.md` 1.9).

Both models enter alike, so exchanging their names changes no p. The exchanges themselves are made in `generalization`.
"""

import math

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Shuffles this close to the observed value count as reaching it (`docs/method/glossary.md` 0.3)."""

EXACT_TOTAL = 4_000
"""Whole differences adding up to this at most are enumerated, by convolution."""

EXACT_PATTERNS = 2**14
"""Other differences are enumerated up to this many sign patterns."""


def sign_test(only_a: int, only_b: int) -> float:
    """Return the exact two-sided sign (McNemar) test of the cases only one model gets right; 1 when there is none.

    >>> round(sign_test(10, 2), 6), sign_test(0, 0)
    (0.038574, 1.0)
    """
    return min(1.0, 2 * float(scipy.special.bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def fisher_test(rate_a: float, n_a: float, rate_b: float, n_b: float) -> float:
    """Return Fisher's exact two-sided p of two independent rates; effective numbers of cases are rounded down.

    >>> round(fisher_test(0.0, 5, 1.0, 5), 4), fisher_test(0.5, 4, 0.5, 4)
    (0.0079, 1.0)
    """
    from scipy import stats  # takes a second

    cases_a, cases_b = (max(1, math.floor(n + 1e-6)) for n in (n_a, n_b))
    passes_a, passes_b = round(rate_a * cases_a), round(rate_b * cases_b)
    table = np.array([[passes_a, cases_a - passes_a], [passes_b, cases_b - passes_b]])
    return float(stats.fisher_exact(table).pvalue)


def sign_flip_test(differences: ArrayLike, rng: Generator | None = None, shuffles: int = 10_000) -> float:
    """Return the two-sided p of a sum of differences, one per cluster, when each sign is a coin toss.

    A difference is passes of A minus passes of B over a cluster's cases. Exact for whole differences of moderate total
    and for few clusters; else from `shuffles` random sign patterns, counting the observed one too. NaN is left out.

    >>> sign_flip_test([1, 1, 1, 1, 1])
    0.0625
    >>> sign_flip_test([3, -1, 2, 0])
    0.5
    """
    values = np.asarray(differences, dtype=np.float64).ravel()
    # Sorted sizes: the sampled p does not depend on the order of clusters, nor on which model is A.
    sizes, clusters = np.unique(np.abs(values[~np.isnan(values) & (values != 0)]), return_counts=True)
    observed = abs(math.fsum(values[~np.isnan(values)]))
    if not len(sizes):
        return 1.0
    if (sizes % 1 == 0).all() and sizes @ clusters <= EXACT_TOTAL:
        return _exact_whole(sizes.astype(np.int64), clusters, round(observed))
    reach = observed - SLACK * max(1.0, observed)
    if 2 ** int(clusters.sum()) <= EXACT_PATTERNS:
        sums = np.zeros(1)
        for size in np.repeat(sizes, clusters):
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= reach))
    rng = rng or np.random.default_rng(0)
    sums = np.zeros(shuffles)
    for size, number in zip(sizes, clusters, strict=True):
        sums += size * (2 * rng.binomial(number, 0.5, size=shuffles) - number)
    return float((1 + (np.abs(sums) >= reach).sum()) / (1 + shuffles))


def generalization_score(pass_rate: ArrayLike, iid_score: ArrayLike) -> Floats:
    """Return the harmonic mean of suite pass rate and i.i.d. score (BELUGA, eq. 8); 0 where both are 0.

    Low when either is low. NaN where an input is.

    >>> generalization_score([0.6, 0.0], [0.9, 0.0]).round(4).tolist()
    [0.72, 0.0]
    """
    suite, iid = np.broadcast_arrays(np.asarray(pass_rate, np.float64), np.asarray(iid_score, np.float64))
    total = suite + iid
    score = np.where(np.isnan(total), np.nan, 0.0)
    np.divide(2 * suite * iid, total, out=score, where=total > 0)
    return score


def randomisation_p(observed: float, shuffled: ArrayLike) -> float:
    """Return the two-sided p of a score from its shuffles: (count + 1) / (shuffles + 1); NaN for a NaN score."""
    draws = np.asarray(shuffled, np.float64)
    # A shuffle without a defined difference counts as reaching the observed one: caution, not evidence.
    reached = ~(np.abs(draws) < abs(observed) - SLACK)
    return math.nan if math.isnan(observed) else float((1 + reached.sum()) / (1 + len(draws)))


def _exact_whole(sizes: NDArray[np.int64], clusters: NDArray[np.int64], observed: int) -> float:
    """Return P(|Σ ±size| ≥ observed), a convolution of binomials, each on the grid of its size."""
    # Σ ±size = 2 × (sum of the positive ones) - total; keep the distribution of the sum of positive ones.
    total = int(sizes @ clusters)
    chances = np.ones(1)
    for size, number in zip(sizes.tolist(), clusters.tolist(), strict=True):
        grid = np.zeros(size * number + 1)
        k, logs = np.arange(number + 1), scipy.special.gammaln
        log_factorials = logs(k + 1) + logs(number - k + 1)
        grid[::size] = np.exp(logs(number + 1) - number * math.log(2) - log_factorials)
        chances = np.convolve(chances, grid)
    reaches = np.abs(2 * np.arange(total + 1) - total) >= observed
    return float(min(1.0, chances[reaches].sum()))

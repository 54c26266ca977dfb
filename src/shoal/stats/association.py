"""Association of two sets of targets with two sets of attributes: WEAT and SEAT (`docs/method/bias.md` 5.5).

s(w) = mean over A of cos(w, a) - mean over B of cos(w, b)          association
d    = (mean over X of s - mean over Y of s) / sd over both of s    effect_size
p    = share of re-partitions of X and Y with as large a sum over X  permutation_p
"""

import math
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval

Floats = NDArray[np.float64]

SAMPLES = 100_000
TOLERANCE = 1e-12
"""Sums that differ by less, relative to the statistic, are ties: they were added up in other orders."""
ROUNDING = 1e-9
"""The same for t, which divides by a difference of sums."""
ROWS_AT_ONCE = 25_000
"""Random partitions held in memory together."""


def association(targets: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return how much closer each target (a row) is to the first attributes than to the second, by mean cosine.

    NaN for a vector of length 0.

    >>> association([[1, 0], [0.8, 0.6]], [[1, 0]], [[0, 1]]).round(6).tolist()
    [1.0, 0.2]
    """
    difference = _unit(first).mean(axis=0) - _unit(second).mean(axis=0)
    associations: Floats = _unit(targets) @ difference
    return associations


def effect_size(first: ArrayLike, second: ArrayLike) -> float:
    """Return the difference of the mean associations of X and Y over the SD of all of them, NaN if that is 0.

    The SD has n - 1, as in the code of the authors. Never beyond ±2.

    >>> round(effect_size([1, 0.2], [-1, -0.2]), 6)
    1.441153
    """
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    both = np.concatenate([x, y])
    if np.ptp(both) <= TOLERANCE:
        return float("nan")
    return float((x.mean() - y.mean()) / both.std(ddof=1))


@dataclass(frozen=True, slots=True)
class PermutationP:
    """A one-sided p, its number of partitions, and whether these are all partitions."""

    p: float
    partitions: int
    exact: bool


def permutation_p(
    first: ArrayLike,
    second: ArrayLike,
    rng: Generator,
    samples: int = SAMPLES,
    *,
    units: tuple[ArrayLike, ArrayLike] | None = None,
    strict: bool = False,
    studentised: bool = False,
) -> PermutationP:
    """Return the one-sided p of Σ_X s over partitions into sets of the same sizes.

    `studentised` replaces the sum by Welch's t if the sizes differ, and takes the larger of this p and Welch's own: in
    small sets neither holds its level alone if both the sizes and the spreads differ. A single unit keeps the sum.
    `units` name what changes sets together, such as all sentences about one word; the s of a unit is their mean.

    All partitions if there are at most `samples`. Otherwise `samples` - 1 random ones and one that counts as large.
    Ties count as large unless `strict`.

    >>> permutation_p([1, 0.2, -0.2], [-1, -0.2, -0.68], np.random.default_rng(0))
    PermutationP(p=0.1, partitions=20, exact=True)
    """
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if units is not None:
        x, y = (_unit_means(side, names)[0] for side, names in zip((x, y), units, strict=True))
    both = np.concatenate([x, y])
    partitions = math.comb(len(both), len(x))
    exact = partitions <= samples
    welch = studentised and len(x) != len(y) and min(len(x), len(y)) > 1
    both = both - both.mean() if welch else both
    columns = np.stack([both, both**2], axis=1) if welch else both
    sums = all_sums(columns, len(x)) if exact else random_sums(columns, len(x), samples - 1, rng)
    observed, least = float(x.sum()), 0.0
    # The tolerance is for S, of which the sum over X is a half.
    slack = TOLERANCE * max(1.0, abs(2 * observed - float(both.sum()))) / 2
    if welch:
        sums = _partition_t(sums, columns, len(x))[0]
        (observed,), (degrees,) = _partition_t(columns[: len(x)].sum(axis=0)[None], columns, len(x))
        least = float(scipy.special.stdtr(degrees, -observed))
        slack = ROUNDING * max(1.0, abs(observed)) if math.isfinite(observed) else 0.0
    large = int((sums > observed + slack).sum() if strict else (sums >= observed - slack).sum())
    if exact:
        return PermutationP(max(large / partitions, least), partitions, True)
    return PermutationP(max((1 + large) / samples, least), samples, False)


def _partition_t(sums: Floats, columns: Floats, size: int) -> tuple[Floats, Floats]:
    """Return Welch's t and its degrees of freedom for every partition, from the sums and sums of squares over X."""
    totals, rest = columns.sum(axis=0), len(columns) - size
    x, y = (part[:, 1] - part[:, 0] ** 2 / n for part, n in ((sums, size), (totals - sums, rest)))
    x, y = (np.where(squares <= TOLERANCE * totals[1], 0.0, squares) for squares in (x, y))
    error, degrees = _welch(x, y, size, rest)
    with np.errstate(divide="ignore"):
        t: Floats = (sums[:, 0] / size - (totals[0] - sums[:, 0]) / rest) / error
    return t, degrees


def _welch(x: Floats, y: Floats, x_size: int, y_size: int) -> tuple[Floats, Floats]:
    """Return the standard error of a difference of means and its degrees of freedom, from sums of squares."""
    x, y = x / (x_size - 1) / x_size, y / (y_size - 1) / y_size
    with np.errstate(invalid="ignore"):
        degrees = (x + y) ** 2 / (x**2 / (x_size - 1) + y**2 / (y_size - 1))
    return np.sqrt(x + y), np.where(np.isnan(degrees), 1.0, degrees)


def all_sums(values: ArrayLike, size: int) -> Floats:
    """Return the sum of every subset of this size; for rows, one sum per column."""
    numbers = np.asarray(values, dtype=np.float64)
    members = np.fromiter(chain.from_iterable(combinations(range(len(numbers)), size)), np.int64)
    sums: Floats = numbers[members.reshape(-1, size)].sum(axis=1)
    return sums


def random_sums(values: ArrayLike, size: int, samples: int, rng: Generator) -> Floats:
    """Return the sums of random subsets of this size, all equally likely; for rows, one sum per column.

    Random bits choose the members, eight to a byte; then random members are removed or added until the size is right.
    Members are exchangeable at every step, so no subset is likelier than another.
    """
    numbers = np.asarray(values, dtype=np.float64)
    fewer = min(size, len(numbers) - size)
    sums = np.concatenate(
        [
            _random_block(numbers, fewer, min(ROWS_AT_ONCE, samples - start), rng)
            for start in range(0, samples, ROWS_AT_ONCE)
        ]
    )
    return sums if fewer == size else numbers.sum(axis=0) - sums


def _random_block(numbers: Floats, size: int, rows: int, rng: Generator) -> Floats:
    members, width = len(numbers), -(-len(numbers) // 8)
    if 4 * size < members:  # random bits would choose far too many
        bits = np.zeros((width, rows), np.uint8)
    else:
        bits = rng.integers(0, 256, (width, rows), np.uint8)
        bits[-1] &= (1 << (members - 8 * (width - 1))) - 1
    shape = numbers.shape[1:]
    sums, counts = np.zeros((rows, *shape)), np.zeros(rows, np.int64)
    padded = np.zeros((8 * width, *shape))
    padded[:members] = numbers
    for row, eight in zip(bits, padded.reshape(width, 8, *shape), strict=True):
        sums += (BYTES @ eight)[row]
        counts += ONES[row]
    wrong = np.flatnonzero(counts != size)
    while len(wrong):
        member = rng.integers(0, members, len(wrong))
        byte, bit = member >> 3, (1 << (member & 7)).astype(np.uint8)
        inside = (bits[byte, wrong] & bit) > 0
        many = counts[wrong] > size
        flip = inside == many
        rows_flipped, out = wrong[flip], many[flip]
        bits[byte[flip], rows_flipped] ^= bit[flip]
        sign = np.where(out, -1.0, 1.0)
        sums[rows_flipped] += (sign * numbers[member[flip]].T).T
        counts[rows_flipped] += sign.astype(np.int64)
        wrong = wrong[counts[wrong] != size]
    return sums


BYTES: Floats = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
"""The bits of every byte, the lowest first: (256, 8)."""
ONES = BYTES.sum(axis=1).astype(np.int64)


def effect_size_interval(
    first: ArrayLike,
    second: ArrayLike,
    units: tuple[ArrayLike, ArrayLike] | None = None,
) -> Interval:
    """Return an interval for the effect size over new words; NaN for a single word in a set or equal words.

    Welch's t of the word means is noncentral t (Steiger & Fouladi 1997), which gives the interval of g, the difference
    in SDs of word means. The scale of single sentences adds the spread within words. The SD of d also contains the
    difference between the sets: d = g / √(1 + g² share_X share_Y). If d lies outside, the interval extends to d.
    """
    sides = np.asarray(first, np.float64), np.asarray(second, np.float64)
    names = units if units is not None else tuple(np.arange(len(side)) for side in sides)
    (x, x_within, x_sizes), (y, y_within, y_sizes) = (
        _unit_means(side, words) for side, words in zip(sides, names, strict=True)
    )
    if min(len(x), len(y)) < 2:
        return float("nan"), float("nan")
    squares = np.array([((side - side.mean()) ** 2).sum() for side in (x, y)])
    between = float(squares.sum()) / (len(x) + len(y) - 2)
    if between <= TOLERANCE**2:
        return float("nan"), float("nan")
    error, degrees = map(float, _welch(squares[0], squares[1], len(x), len(y)))
    t = float(x.mean() - y.mean()) / error
    sizes = np.concatenate([x_sizes, y_sizes])
    free = int(sizes.sum()) - len(sizes)
    within = (x_within + y_within) / free * (1 - float((1 / sizes).mean())) if free else 0.0
    scale = error / math.sqrt(between + within)
    share = len(sides[0]) / (len(sides[0]) + len(sides[1]))
    ends = [scale * float(scipy.special.nctdtrinc(degrees, tail, t)) for tail in (0.975, 0.025)]
    low, high = (g / math.sqrt(1 + g**2 * share * (1 - share)) for g in ends)
    seen = effect_size(*sides)
    return min(low, seen), max(high, seen)


def _unit_means(side: Floats, units: ArrayLike) -> tuple[Floats, float, Floats]:
    """Return the mean of each unit, the sum of squares within units, and the number of rows of each."""
    names = np.unique(np.asarray(units), return_inverse=True)[1]
    sizes = np.bincount(names).astype(np.float64)
    means = np.bincount(names, side) / sizes
    return means, float(((side - means[names]) ** 2).sum()), sizes


def _unit(vectors: ArrayLike) -> Floats:
    matrix = np.asarray(vectors, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit: Floats = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit

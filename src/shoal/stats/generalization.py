"""G of a baseline and a method over several seeds: intervals and the randomisation test.

`docs/method/beluga.md` 1.9, `docs/method/beyond.md` 7.2 and 7.3. Cases with the same passes and applicable outcomes
for each side and seed are interchangeable: resampling and exchanging them come down to a few random counts.

    outcomes ──► Pair ──┬─► exchange_test   how many of each kind change sides: p of the difference of G
                        └─► draw            how often each kind is drawn:       intervals of scores and differences

An interval adds the squares of its distances (Zou & Donner 2008): cases resampled; Wilson's for functionalities whose
cases all agree; Student's over seeds, from three on; and the draw of functionalities, where only some were held out.
Neither the order nor the names of cases and functionalities change anything, not even the draws.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, paired_difference_interval, percentile_interval, t_quantile, wilson
from .paired import generalization_score, randomisation_p
from .resampling import ClusterTable, distinct_rows, paired_table, run_table

Floats = NDArray[np.float64]
Score = Callable[[Floats, Floats], Floats]
"""From suite score and i.i.d. score to what is reported."""

METHOD, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)
"""How the baseline and the method enter a number."""

ESTIMABLE_SEEDS = 3
"""With two, t has one degree of freedom: an interval for the recipe would mostly reach from 0 to 1."""
KINDS_AT_ONCE = 256
"""Kinds of cases whose tosses are held in memory together."""
ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)
"""How many of eight coins show heads."""


def suite_score(suite: Floats, iid: Floats) -> Floats:
    """Return the suite score, without the i.i.d. score."""
    return suite


@dataclass(frozen=True, slots=True)
class Pair:
    """What each case contributes, both sides and every seed side by side: a table per functionality and an i.i.d. one.

    Columns: of the baseline the sums by seed, then the counts by seed; the same of the method.
    """

    suite: tuple[ClusterTable, ...]
    iid: ClusterTable
    suite_rates: Floats  # (functionalities, sides, seeds), observed
    scores: tuple[Floats, Floats]
    """Observed suite and i.i.d. scores, each (sides, seeds)."""

    @property
    def seeds(self) -> int:
        """Return the number of runs of a side."""
        return int(self.suite_rates.shape[2])

    def value(self, score: Score, sides: tuple[float, float]) -> Floats:
        """Return a score, or difference of scores, per seed."""
        return _contrast(score(*self.scores), sides)


def pair(
    baseline: Sequence[ArrayLike],
    method: Sequence[ArrayLike],
    baseline_iid: ArrayLike,
    method_iid: ArrayLike,
) -> Pair:
    """Return both sides as tables; a cases × seeds matrix of 1, 0, NaN per functionality, and one for the i.i.d. data.

    >>> toy = pair([[[1], [0]]], [[[1], [1]]], [[1], [1], [0]], [[1], [0], [0]])
    >>> toy.value(generalization_score, METHOD).round(4).tolist()  # of 1 and 1/3
    [0.5]
    """
    tables = map(run_table, zip(baseline, method, strict=True))
    iid = run_table((baseline_iid, method_iid))
    seeds = np.shape(baseline_iid)[1]
    ordered = tuple(sorted(tables, key=lambda table: table.content))
    rates = np.concatenate([_rates(table.totals[None], seeds) for table in ordered])
    # Summed in the order of size: rounding must not tell the order of functionalities.
    suite: Floats = np.sort(rates, axis=0).mean(axis=0)
    return Pair(ordered, iid, rates, (suite, _rates(iid.totals[None], seeds)[0]))


# The test


@dataclass(frozen=True, slots=True)
class Randomisation:
    """The two-sided p of a difference of G, and the difference in each shuffle."""

    p: float
    shuffled: Floats


def exchange_test(
    both: Pair, shuffles: int, rng: Generator, iid_rng: Generator | None = None
) -> Randomisation:
    """Return the test of ΔG, method minus baseline and averaged over seeds, with cases exchanged at random.

    A case changes sides with the outcomes of all its seeds. Scenarios that begin with i.i.d. generators in the same
    state share the i.i.d. exchanges.
    """
    iid = _shuffled(_unordered(both.iid), both.seeds, shuffles, iid_rng or rng)
    # By what is exchanged, not by who has it: the two sides can change names without changing a draw.
    ordered = sorted((_unordered(table) for table in both.suite), key=lambda kinds: kinds.content)
    total, defined = np.zeros(iid.shape), np.zeros(iid.shape)
    for kinds in ordered:
        rates = _shuffled(kinds, both.seeds, shuffles, rng)
        total += np.nan_to_num(rates)
        defined += ~np.isnan(rates)
    suite: Floats = np.divide(total, defined, out=np.full(total.shape, np.nan), where=defined > 0)
    shuffled = _contrast(generalization_score(suite, iid), DIFFERENCE).mean(axis=1)
    observed = float(both.value(generalization_score, DIFFERENCE).mean())
    return Randomisation(randomisation_p(observed, shuffled), shuffled)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The cases of one functionality as unordered pairs of contributions."""

    same: Floats  # (columns of one side,) summed over cases that contribute alike to both
    pairs: Floats  # (kinds, 2, columns of one side), the lesser contribution first
    counts: NDArray[np.int64]  # (kinds,)

    @property
    def content(self) -> tuple[int, bytes, bytes, bytes]:
        return int(self.counts.sum()), self.pairs.tobytes(), self.counts.tobytes(), self.same.tobytes()


def _unordered(table: ClusterTable) -> _Kinds:
    width = table.rows.shape[1] // 2
    first, second = table.rows[:, :width], table.rows[:, width:]
    unequal = first != second
    differs = unequal.any(axis=1)
    where = unequal.argmax(axis=1)[:, None]
    turned = np.take_along_axis(first, where, 1) > np.take_along_axis(second, where, 1)
    oriented = np.hstack([np.where(turned, second, first), np.where(turned, first, second)])[differs]
    same = table.counts[~differs] @ first[~differs]
    if not len(oriented):
        return _Kinds(same, np.zeros((0, 2, width)), np.zeros(0, np.int64))
    rows, counts = distinct_rows(oriented, table.counts[differs])
    return _Kinds(same, rows.reshape(len(rows), 2, width), counts)


def _shuffled(kinds: _Kinds, seeds: int, shuffles: int, rng: Generator) -> Floats:
    """Return the rates of both sides in each shuffle: (shuffles, sides, seeds)."""
    lesser, greater = kinds.pairs[:, 0], kinds.pairs[:, 1]
    step = greater - lesser
    moved = np.zeros((shuffles, len(kinds.same)))
    for start in range(0, len(kinds.counts), KINDS_AT_ONCE):
        some = slice(start, start + KINDS_AT_ONCE)
        moved += _heads(kinds.counts[some], shuffles, rng) @ step[some]
    one = kinds.same + kinds.counts @ lesser + moved
    other = kinds.same + kinds.counts @ greater - moved
    return _rates(np.hstack([one, other]), seeds)


def _heads(coins: NDArray[np.int64], shuffles: int, rng: Generator) -> Floats:
    """Return numbers of heads, (shuffles, kinds). Up to eight coins are the bits of a random byte."""
    heads = np.empty((shuffles, len(coins)))
    few = coins <= 8
    masks = ((1 << coins[few]) - 1).astype(np.uint8)
    heads[:, few] = ONES[rng.integers(0, 256, (shuffles, len(masks)), dtype=np.uint8) & masks]
    for kind in np.flatnonzero(~few):
        heads[:, kind] = rng.binomial(coins[kind], 0.5, shuffles)
    return heads


# Intervals


@dataclass(frozen=True, slots=True)
class Draws:
    """A pair, and its rates with cases drawn again."""

    pair: Pair
    suite: Floats  # (functionalities, resamples, sides, seeds)
    iid: Floats  # (resamples, sides, seeds)
    scores: tuple[Floats, Floats]
    """Suite and i.i.d. scores per resample, each (resamples, sides, seeds)."""


def draw(both: Pair, resamples: int, rng: Generator) -> Draws:
    """Return a bootstrap of cases within each functionality (`docs/method/beyond.md` 7.2)."""
    iid = _resampled(both.iid, both.seeds, resamples, rng)
    suite = np.stack([_resampled(table, both.seeds, resamples, rng) for table in both.suite])
    return Draws(both, suite, iid, (suite.mean(axis=0), iid))


def _resampled(table: ClusterTable, seeds: int, resamples: int, rng: Generator) -> Floats:
    """Return rates per resample, (resamples, sides, seeds); resamples without an applicable case are drawn again.

    A side and seed that never has one keeps its NaN.
    """
    possible = ~np.isnan(_rates(table.totals[None], seeds)[0])
    rates = np.empty((resamples, 2, seeds))
    missing = np.ones(resamples, dtype=bool)
    while missing.any():
        rates[missing] = _rates(_drawn_counts(table, int(missing.sum()), rng) @ table.rows, seeds)
        missing = (np.isnan(rates) & possible).any(axis=(1, 2))
    return rates


def _drawn_counts(table: ClusterTable, resamples: int, rng: Generator) -> NDArray[np.int64]:
    """Return how often each kind is drawn, (resamples, kinds): by kind where those are few, else case by case."""
    kinds, clusters = len(table.counts), table.clusters
    drawn = max(1, clusters - 1)
    if 4 * kinds < clusters:
        return rng.multinomial(drawn, table.counts / clusters, size=resamples)
    kind_of = np.repeat(np.arange(kinds), table.counts)
    counts = np.empty((resamples, kinds), dtype=np.int64)
    for start in range(0, resamples, step := max(1, 1_000_000 // drawn)):
        some = min(step, resamples - start)
        chosen = kind_of[rng.integers(clusters, size=(some, drawn))] + kinds * np.arange(some)[:, None]
        found = np.bincount(chosen.ravel(), minlength=kinds * some)
        counts[start : start + some] = found.reshape(some, kinds)
    return counts


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; None where it is undefined."""

    value: float
    interval: Interval | None


def estimate(
    draws: Draws,
    score: Score,
    sides: tuple[float, float] = METHOD,
    *,
    seed: int | None = None,
    population: int = 0,
) -> Estimate:
    """Return a score or a difference of scores: its mean over seeds (or of one), with an interval.

    `population` is how many functionalities these were drawn from at random, where only some were held out
    (`docs/method/beluga.md` 1.16); the mean over the drawn ones is the Horvitz-Thompson estimate of the mean over all.
    """
    both = draws.pair
    weights = np.full(both.seeds, 1 / both.seeds) if seed is None else np.eye(both.seeds)[seed]
    of = _Contrast(both, score, sides, weights)
    values = both.value(score, sides)
    value = float(values @ weights)
    if math.isnan(value):
        return Estimate(value, None)
    is_sample = population > len(draws.suite)
    suite, iid = draws.scores
    if is_sample:  # the second term of `_sampling_reach`: the variance that sampling functionalities leaves
        middle = both.scores[0]
        suite = middle + math.sqrt(len(draws.suite) / population) * (suite - middle)
    replicates = _contrast(score(suite, iid), sides) @ weights
    degrees = _degrees(draws, of)
    drawn = percentile_interval(replicates, degrees=degrees)
    parts = [np.maximum(0.0, [value - drawn[0], drawn[1] - value]), _unmoved(draws, of)]
    if seed is None and both.seeds >= ESTIMABLE_SEEDS:
        reach = t_quantile(0.95, both.seeds - 1) * float(values.std(ddof=1)) / math.sqrt(both.seeds)
        parts.append(np.array([reach, reach]))
    if is_sample:
        reach = _sampling_reach(draws, of, population)
        parts.append(np.array([reach, reach]))
    below, above = np.sqrt((np.array(parts) ** 2).sum(axis=0))
    if math.isnan(below) or math.isnan(above):
        return Estimate(value, None)
    least = min(0.0, 1.0 * min(sides))
    return Estimate(value, (max(least, value - float(below)), min(1.0, value + float(above))))


class _Contrast:
    """The parts of a number: a score, the weights of both sides, and those of the seeds."""

    def __init__(self, both: Pair, score: Score, sides: tuple[float, float], weights: Floats) -> None:
        self.both, self.score, self.sides, self.weights = both, score, sides, weights

    def at(self, suite: Floats, iid: Floats) -> float:
        return float(_contrast(self.score(suite, iid), self.sides) @ self.weights)

    def of_rates(self, rates: Floats) -> Floats:
        """Return rates (…, sides, seeds) as they enter, before the score is taken: a rate or a difference of rates."""
        return _contrast(rates, self.sides) @ self.weights

    def shifted(self, reach: Floats, *, iid: bool = False) -> Floats:
        """Return how far the number moves when the suite (or i.i.d.) score is that much lower, or higher."""
        suite, own = self.both.scores
        side = np.array(self.sides)[:, None] > 0  # a difference moves with the side that adds to it
        ends = []
        for step in np.array([-1.0, 1.0]) * reach:
            move = np.where(side, step, 0.0)
            moved = (suite, own + move) if iid else (suite + move, own)
            ends.append(self.at(*(np.clip(score, 0, 1) for score in moved)))
        return np.abs(np.array(ends) - self.at(suite, own))

    def slopes(self) -> tuple[Floats, Floats]:
        """Return derivatives by the suite and the i.i.d. rates of each side and seed, (sides, seeds) each."""
        suite, iid = self.both.scores
        step = 1e-6
        entering = np.array(self.sides)[:, None] * self.weights
        by_suite = (self.score(suite + step, iid) - self.score(suite - step, iid)) / (2 * step)
        by_iid = (self.score(suite, iid + step) - self.score(suite, iid - step)) / (2 * step)
        return entering * by_suite, entering * by_iid


def _degrees(draws: Draws, of: _Contrast) -> float:
    """Return degrees of freedom over cases (Satterthwaite)."""
    by_suite, by_iid = of.slopes()
    suite = np.einsum("frij,ij->fr", draws.suite, by_suite / len(draws.suite))
    iid = np.einsum("rij,ij->r", draws.iid, by_iid)
    variance = np.append(suite.var(axis=1), iid.var())
    free = np.array([table.clusters - 1.0 for table in (*draws.pair.suite, draws.pair.iid)])
    variance, free = np.nan_to_num(variance[free > 0]), free[free > 0]
    if variance.sum() <= 1e-24:
        return float(free.sum()) if len(free) else float("nan")
    return float(variance.sum() ** 2 / (variance**2 / free).sum())


def _unmoved(draws: Draws, of: _Contrast) -> Floats:
    """Return the distances added for functionalities, or i.i.d. data, whose rate no resample changes."""
    squares = np.zeros(2)
    for number in np.flatnonzero(np.ptp(of.of_rates(draws.suite), axis=1) < 1e-12):
        squares += _still(draws.pair.suite[number], of) ** 2
    distances = of.shifted(np.sqrt(squares) / len(draws.suite)) if squares.any() else np.zeros(2)
    if np.ptp(of.of_rates(draws.iid)) < 1e-12:
        own = of.shifted(_still(draws.pair.iid, of), iid=True)
        distances = np.sqrt(distances**2 + own**2)
    return distances


def _still(table: ClusterTable, of: _Contrast) -> Floats:
    """Return how far down and up a rate (or difference) may be that no draw of its cases moves."""
    seeds = of.both.seeds
    counts = table.rows.reshape(len(table.rows), 2, 2, seeds)[:, :, 1]
    applies = (counts[:, np.array(of.sides) != 0] > 0).any(axis=(1, 2))
    n = int(table.counts[applies].sum())
    if min(of.sides) < 0:
        reach = _no_difference(n)
        return np.array([reach, reach])
    rate = float(np.clip(of.of_rates(_rates(table.totals[None], seeds))[0], 0, 1))
    low, high = wilson(rate * n if rate < 1 else n, n)
    return np.array([rate - low, high - rate])


@lru_cache(maxsize=1024)
def _no_difference(n: int) -> float:
    """Return what n cases without any difference leave open."""
    return paired_difference_interval(paired_table(np.zeros(n), np.zeros(n)))[1]


def _sampling_reach(draws: Draws, of: _Contrast, population: int) -> float:
    """Return Student's reach of the draw of k of K functionalities without replacement; NaN for a lone one.

    Two stages (Cochran 1977, chapter 10): the variance of the mean is (1 - k/K) s²/k + (k/K) v/k, where s² is that of
    the observed rates, the noise of their cases included, and v the mean of their own variances over cases. This is
    the first term, known to k - 1 degrees of freedom; `estimate` has the second.
    """
    k = len(draws.suite)
    if k < 2:
        return float("nan")
    by_suite, _ = of.slopes()
    moved = np.sort(np.einsum("fij,ij->f", np.nan_to_num(draws.pair.suite_rates), by_suite))
    return t_quantile(0.95, k - 1) * math.sqrt((1 - k / population) * float(moved.var(ddof=1)) / k)


# Small parts


def _rates(totals: Floats, seeds: int) -> Floats:
    """Return sums over counts, (draws, sides, seeds); NaN where nothing applies."""
    parts = totals.reshape(len(totals), 2, 2, seeds)
    sums, counts = parts[:, :, 0], parts[:, :, 1]
    rates: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return rates


def _contrast(values: Floats, sides: tuple[float, float]) -> Floats:
    """From (…, sides, seeds) to (…, seeds); a side that does not enter may be undefined."""
    method: Floats = values[..., 1, :]
    return method - values[..., 0, :] if sides == DIFFERENCE else method

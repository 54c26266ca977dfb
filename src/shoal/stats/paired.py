"""Tests of two models on the same cases: sign test, sign flips, randomisation of G (`docs/method/beluga.md` 1.9).

The randomisation test exchanges the two models' outcomes at random, case by case. Which cases were
exchanged does not matter to a pass rate, only how many of each kind; so one binomial count per kind
and functionality has exactly the distribution of 22,000 coin tosses:

    kind of case where the two differ          what the toss decides
    (0,1) or (1,0)     one passes              whose pass it is
    (NA,1) or (1,NA)   one applies, passes     whose pass, and whose denominator
    (NA,0) or (0,NA)   one applies, fails      whose denominator

Both models enter alike, so exchanging their names changes no p.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Shuffles this close to the observed value count as reaching it (`docs/method/glossary.md` 0.3)."""

EXACT_TOSSES = 200
"""Sign tests of at most so many cases are exact to the last digit, in whole numbers."""

EXACT_TOTAL = 4_000
"""Whole differences adding up to this at most are enumerated, by convolution."""

EXACT_PATTERNS = 2**14
"""Other differences are enumerated up to this many sign patterns."""

EXACT_COMBINATIONS = 2_000_000


def sign_test(only_a: int, only_b: int) -> float:
    """Exact two-sided sign (McNemar) test of the cases only one model gets right; 1 when there is none.

    >>> sign_test(10, 2), sign_test(0, 0)
    (0.03857421875, 1.0)
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"counts are not negative; got {only_a} and {only_b}")
    smaller, tossed = min(only_a, only_b), only_a + only_b
    if tossed <= EXACT_TOSSES:
        patterns: int = 2**tossed
        return min(1.0, 2 * sum(math.comb(tossed, k) for k in range(smaller + 1)) / patterns)
    return min(1.0, 2 * float(special.bdtr(smaller, tossed, 0.5)))


def sign_flip_test(differences: ArrayLike, rng: Generator | None = None, shuffles: int = 10_000) -> float:
    """Two-sided p of a sum of differences, one per cluster, when each sign is a coin toss.

    The sign test for clusters: a difference is passes of A minus passes of B over a cluster's common
    applicable cases; with one case per cluster it is `sign_test`. Exact for whole differences of
    moderate total and for few clusters; else from `shuffles` random sign patterns, counting the
    observed one too. NaN differences are left out; p is 1 when nothing differs.

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
    if rng is None:
        raise ValueError("this many differences need random sign patterns: pass rng")
    sums = np.zeros(shuffles)
    for size, number in zip(sizes, clusters, strict=True):
        sums += size * (2 * rng.binomial(number, 0.5, size=shuffles) - number)
    return float((1 + (np.abs(sums) >= reach).sum()) / (1 + shuffles))


def smallest_sign_flip_p(clusters: int) -> float:
    """The smallest two-sided p that sign flips of so many differences can give: 5 runs never reach .01.

    >>> smallest_sign_flip_p(5)
    0.0625
    """
    return min(1.0, 2.0 ** (1 - clusters))


def generalization_score(pass_rate: ArrayLike, iid_score: ArrayLike) -> Floats:
    """Harmonic mean of suite pass rate and i.i.d. score (BELUGA, eq. 8); 0 where both are 0.

    Low when either is low: a model that passes the suite but forgot the task gets little. NaN where an
    input is.

    >>> generalization_score([0.6, 0.0], [0.9, 0.0]).round(4).tolist()
    [0.72, 0.0]
    """
    suite, iid = np.broadcast_arrays(np.asarray(pass_rate, np.float64), np.asarray(iid_score, np.float64))
    total = suite + iid
    score = np.where(np.isnan(total), np.nan, 0.0)
    np.divide(2 * suite * iid, total, out=score, where=total > 0)
    return score


@dataclass(frozen=True, slots=True)
class Randomisation:
    """Differences of G, method minus baseline: as observed, and in each shuffle."""

    observed: Floats  # (scenarios,)
    shuffled: Floats  # (shuffles, scenarios)

    @property
    def p(self) -> Floats:
        """Two-sided p per scenario: (count + 1) / (shuffles + 1)."""
        return randomisation_p(self.observed, self.shuffled)

    @property
    def p_of_average(self) -> float:
        """The same for the mean over scenarios."""
        return float(
            randomisation_p(self.observed.mean(keepdims=True), self.shuffled.mean(axis=1)[:, None])[0]
        )


def randomise_generalization(
    baseline: Sequence[ArrayLike],
    scenarios: Sequence[Sequence[ArrayLike]],
    baseline_iid: ArrayLike,
    method_iid: ArrayLike,
    rng: Generator,
    *,
    shuffles: int = 10_000,
    common_only: bool = False,
) -> Randomisation:
    """Approximate randomisation of G in several scenarios against a baseline (`docs/method/beluga.md` 1.9).

    Suite hits are one vector of 1, 0, NaN per functionality; `scenarios` has such a list for each of
    seen, func, class and type. The i.i.d. exchanges are shared by the scenarios, those of the suite
    drawn for each. `common_only` leaves out cases that do not apply to both models (`docs/method/beyond.md` 7.5).
    Adjusted p values over the scenarios: `multiplicity.max_t(result.observed, result.shuffled)`. For
    an average over tasks, average the arrays of several results made with the same number of shuffles.
    """
    iid = _kinds(baseline_iid, method_iid, common_only)
    iid_rates = iid.draw(shuffles, rng)
    observed, shuffled = np.empty(len(scenarios)), np.empty((shuffles, len(scenarios)))
    for number, method in enumerate(scenarios):
        suite = _suite_kinds(baseline, method, common_only)
        observed[number] = _difference_of_g([kinds.observed() for kinds in suite], iid.observed())[0]
        shuffled[:, number] = _difference_of_g([kinds.draw(shuffles, rng) for kinds in suite], iid_rates)
    return Randomisation(observed, shuffled)


def randomisation_p(observed: ArrayLike, shuffled: ArrayLike) -> Floats:
    """Two-sided p per score from its shuffles, a column each: (count + 1) / (shuffles + 1).

    NaN for a NaN score.

    >>> randomisation_p([2.0], [[1.0], [-2.0], [3.0]]).tolist()
    [0.75]
    """
    values, draws = np.asarray(observed, np.float64), np.asarray(shuffled, np.float64)
    # A shuffle without a defined difference counts as reaching the observed one: caution, not evidence.
    reached = ~(np.abs(draws) < np.abs(values) - SLACK)
    return np.where(np.isnan(values), np.nan, (1 + reached.sum(axis=0)) / (1 + len(draws)))


def exact_randomisation(
    baseline: Sequence[ArrayLike],
    method: Sequence[ArrayLike],
    baseline_iid: ArrayLike,
    method_iid: ArrayLike,
    *,
    common_only: bool = False,
) -> tuple[int, int]:
    """How many of all patterns of exchange reach the observed |ΔG|, and how many patterns there are.

    For small inputs: the numbers of combinations of counts multiply. The toy suite of `docs/method/beluga.md` 1.14:

    >>> na = float("nan")
    >>> baseline, method = [[1, 0, 0, 1], [0, 0], [1, na, 1, 0]], [[1, 1, 0, 1], [1, 1], [1, 1, 1, na]]
    >>> exact_randomisation(baseline, method, [1, 1, 0, 1, 0], [1, 0, 0, 1, 0])
    (42, 64)
    """
    iid = _kinds(baseline_iid, method_iid, common_only)
    suite = _suite_kinds(baseline, method, common_only)
    tossed = [number for kinds in [*suite, iid] for number in kinds.tossed]
    combinations = math.prod(number + 1 for number in tossed)
    if combinations > EXACT_COMBINATIONS:
        raise ValueError(
            f"{combinations:,} combinations are too many to enumerate (at most {EXACT_COMBINATIONS:,}): "
            "use randomise_generalization"
        )
    counts = np.array(list(product(*(range(number + 1) for number in tossed))), dtype=np.int64)
    draws = counts.reshape(combinations, len(suite) + 1, 3)
    rates = [kinds.rates(*draws[:, place].T) for place, kinds in enumerate([*suite, iid])]
    shuffled = np.abs(_difference_of_g(rates[:-1], rates[-1]))
    observed = abs(_difference_of_g([kinds.observed() for kinds in suite], iid.observed())[0])
    # Python integers: the number of patterns with these counts outgrows 64 bits.
    weights = [math.prod(math.comb(n, int(k)) for n, k in zip(tossed, row, strict=True)) for row in counts]
    reached = ~(shuffled < observed - SLACK)
    return sum(w for w, reaches in zip(weights, reached, strict=True) if reaches), 2 ** sum(tossed)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """How many cases of each kind one functionality has; see the table in the module docstring."""

    both_pass: int
    both_fail: int
    one_passes: int
    one_applies_and_passes: int
    one_applies_and_fails: int
    baseline_has: tuple[int, int, int]
    """Of the last three kinds, how many belong to the baseline as observed."""

    @property
    def tossed(self) -> tuple[int, int, int]:
        return self.one_passes, self.one_applies_and_passes, self.one_applies_and_fails

    def rates(
        self, passes: ArrayLike, lone_passes: ArrayLike, lone_fails: ArrayLike
    ) -> tuple[Floats, Floats]:
        """Pass rates of baseline and method, the baseline getting these of the tossed; NaN if none."""
        drawn = [np.atleast_1d(np.asarray(number)) for number in (passes, lone_passes, lone_fails)]
        left = [total - number for total, number in zip(self.tossed, drawn, strict=True)]
        common = self.both_pass + self.both_fail + self.one_passes
        first, second = (
            np.divide(
                self.both_pass + has[0] + has[1],
                common + has[1] + has[2],
                out=np.full(np.broadcast(*has).shape, np.nan),
                where=common + has[1] + has[2] > 0,
            )
            for has in (drawn, left)
        )
        return first, second

    def observed(self) -> tuple[Floats, Floats]:
        return self.rates(*self.baseline_has)

    def draw(self, shuffles: int, rng: Generator) -> tuple[Floats, Floats]:
        # One number of tosses per call: numpy then prepares its binomial sampler once, not once per
        # draw.
        return self.rates(*(rng.binomial(n, 0.5, size=shuffles) if n else 0 for n in self.tossed))


def _kinds(baseline: ArrayLike, method: ArrayLike, common_only: bool) -> _Kinds:
    old, new = np.asarray(baseline, np.float64), np.asarray(method, np.float64)
    if old.shape != new.shape or old.ndim != 1:
        raise ValueError(f"baseline and method need the same cases; got shapes {old.shape} and {new.shape}")
    if not all((np.isnan(side) | (side == 0) | (side == 1)).all() for side in (old, new)):
        raise ValueError("hits are 1, 0 or NaN")
    # 0, 1 or 2 for fail, pass or not applicable; the pair as one number.
    codes = [np.where(np.isnan(side), 2, side).astype(np.int64) for side in (old, new)]
    pairs = np.bincount(3 * codes[0] + codes[1], minlength=9).tolist()
    fail_fail, fail_pass, fail_na, pass_fail, pass_pass, pass_na, na_fail, na_pass, _ = pairs
    if common_only:
        fail_na = pass_na = na_fail = na_pass = 0
    return _Kinds(
        both_pass=pass_pass,
        both_fail=fail_fail,
        one_passes=fail_pass + pass_fail,
        one_applies_and_passes=na_pass + pass_na,
        one_applies_and_fails=na_fail + fail_na,
        baseline_has=(pass_fail, pass_na, fail_na),
    )


def _suite_kinds(
    baseline: Sequence[ArrayLike], method: Sequence[ArrayLike], common_only: bool
) -> list[_Kinds]:
    if len(baseline) != len(method) or not baseline:
        raise ValueError(f"both need the same functionalities; got {len(baseline)} and {len(method)}")
    kinds = [_kinds(old, new, common_only) for old, new in zip(baseline, method, strict=True)]
    # By content, and alike for both models: neither names nor order change what is drawn.
    return sorted(kinds, key=lambda k: (k.tossed, k.both_pass, k.both_fail))


def _difference_of_g(suite: Sequence[tuple[Floats, Floats]], iid: tuple[Floats, Floats]) -> Floats:
    """ΔG, method minus baseline; functionalities without a rate are left out of the mean."""
    g = []
    for side in (0, 1):
        total, defined = np.zeros(1), np.zeros(1)
        for rates in suite:
            total = total + np.nan_to_num(rates[side])
            defined = defined + ~np.isnan(rates[side])
        mean = np.divide(total, defined, out=np.full(total.shape, np.nan), where=defined > 0)
        g.append(generalization_score(mean, iid[side]))
    difference: Floats = g[1] - g[0]
    return difference


def _exact_whole(sizes: NDArray[np.int64], clusters: NDArray[np.int64], observed: int) -> float:
    """P(|Σ ±size| ≥ observed): a convolution of binomials, each on the grid of its size."""
    # Σ ±size = 2 × (sum of the positive ones) - total; keep the distribution of the sum of positive
    # ones.
    total = int(sizes @ clusters)
    chances = np.ones(1)
    for size, number in zip(sizes.tolist(), clusters.tolist(), strict=True):
        grid = np.zeros(size * number + 1)
        grid[::size] = np.exp(special.gammaln(number + 1) - number * math.log(2) - _log_factorials(number))
        chances = np.convolve(chances, grid)
    reaches = np.abs(2 * np.arange(total + 1) - total) >= observed
    return float(min(1.0, chances[reaches].sum()))


def _log_factorials(number: int) -> Floats:
    k = np.arange(number + 1)
    both: Floats = special.gammaln(k + 1) + special.gammaln(number - k + 1)
    return both

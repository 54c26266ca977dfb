"""Reliability of an items × runs matrix: would another run give the same answer (`docs/method/beyond.md` 7.6)?

Every matrix has a row per item and a column per run, NaN if a run has no outcome for an item. Items may also be
categories or models.

    do runs agree, item by item?            fleiss_kappa, krippendorff_alpha, disagreement
    would one more run agree?               icc, runs_needed
    does a score move more than its items?  run_spread (SD, its interval, the floor, the ratio)
    buy seeds or items?                     variance_components
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .intervals import (
    UNDEFINED,
    Interval,
    largest_sd,
    mean_t_interval,
    normal_quantile,
    sd_interval,
    t_quantile,
    within,
)
from .resampling import distinct_rows

Floats = NDArray[np.float64]

Coefficient = Callable[[Floats], float]
"""A function from items × runs to a number up to 1, such as `krippendorff_alpha`."""

SHEPPARD = 1 / math.sqrt(12)
"""The SD that rounding to whole steps hides, in steps."""
TIED = 1e-12
"""Scores closer than this are equal."""


def category_counts(outcomes: ArrayLike) -> NDArray[np.int64]:
    """Return how many runs gave each item each outcome: items × distinct outcomes, without NaN.

    >>> category_counts([[1, 1, 0], [0, 0, 0]]).tolist()
    [[1, 2], [3, 0]]
    """
    matrix = _matrix(outcomes)
    categories = np.unique(matrix[~np.isnan(matrix)])
    counts: NDArray[np.int64] = (matrix[:, :, None] == categories).sum(axis=1)
    return counts


def pairwise_agreement(outcomes: ArrayLike) -> float:
    """Return the mean over items of the share of agreeing pairs of runs, P̄; NaN if no item has two outcomes.

    >>> round(pairwise_agreement([[1, 1, 1], [1, 1, 0]]), 4)
    0.6667
    """
    return _mean_agreement(category_counts(outcomes))


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return the agreement of runs beyond chance, from counts of items × categories (see `category_counts`).

    Every item needs the same number of runs; with missing ones use `krippendorff_alpha`. NaN if all
    outcomes are equal.

    >>> round(fleiss_kappa([[5, 0], [4, 1], [3, 2], [0, 5]]), 6)
    0.479167
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"counts are items × categories; got shape {table.shape}")
    runs = table.sum(axis=1)
    if (runs != runs[0]).any() or runs[0] < 2:
        raise ValueError("every item needs the same number of runs, at least 2; else use krippendorff_alpha")
    agreement = _mean_agreement(table)
    by_chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else float("nan")


def krippendorff_alpha(outcomes: ArrayLike) -> float:
    """Return one minus observed over expected disagreement, over items with at least two outcomes (nominal scale).

    NaN if all outcomes are equal, or no item has two.

    >>> items = [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> round(krippendorff_alpha(items), 6)
    0.505208
    """
    matrix = _matrix(outcomes)
    matrix = matrix[(~np.isnan(matrix)).sum(axis=1) >= 2]
    pairable = int((~np.isnan(matrix)).sum())
    if not pairable:
        return float("nan")
    counts = category_counts(matrix).astype(np.float64)
    per_item = counts.sum(axis=1)
    # Ordered pairs that differ, within each item over (R_i - 1), and over all outcomes.
    observed = ((per_item**2 - (counts**2).sum(axis=1)) / (per_item - 1)).sum()
    expected = (pairable**2 - (counts.sum(axis=0) ** 2).sum()) / (pairable - 1)
    return float(1 - observed / expected) if expected > 0 else float("nan")


def disagreement(outcomes: ArrayLike) -> Floats:
    """Return how many runs disagree with the majority on each item: min(k, R-k) (`docs/method/bias.md` 5.7).

    NaN for an item that some run left undecided.

    >>> disagreement([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, float("nan"), 0, 0]]).tolist()
    [0.0, 2.0, nan]
    """
    matrix = _binary(outcomes)
    passes = matrix.sum(axis=1)
    against: Floats = np.minimum(passes, matrix.shape[1] - passes)
    return against


def disagreement_histogram(outcomes: ArrayLike) -> tuple[NDArray[np.int64], int]:
    """Return how many items have 0, 1, … R//2 runs against the majority, and how many items are undecided.

    >>> counts, undecided = disagreement_histogram([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 0, 0]])
    >>> counts.tolist(), undecided
    ([1, 1, 1], 0)
    """
    against = disagreement(outcomes)
    decided = against[~np.isnan(against)].astype(np.int64)
    runs = _matrix(outcomes).shape[1]
    return np.bincount(decided, minlength=runs // 2 + 1), len(against) - len(decided)


def coin_flip_histogram(runs: int) -> Floats:
    """Return the shares of `disagreement_histogram` under coin flips.

    >>> coin_flip_histogram(5).tolist()
    [0.0625, 0.3125, 0.625]
    """
    passes = np.arange(runs + 1)
    shares = np.zeros(runs // 2 + 1)
    if runs <= 1000:
        chances = special.binom(runs, passes) / 2.0**runs
    else:  # the coefficients overflow: in logarithms
        logs = special.gammaln(runs + 1) - special.gammaln(passes + 1) - special.gammaln(runs - passes + 1)
        chances = np.exp(logs - runs * math.log(2))
    np.add.at(shares, np.minimum(passes, runs - passes), chances)
    return shares


@dataclass(frozen=True, slots=True)
class RunSpread:
    """How a rate moves over runs, compared with independent flips of its items."""

    scores: Floats  # (runs,)
    mean: float
    mean_interval: Interval
    sd: float
    sd_interval: Interval
    floor_sd: float
    ratio: float
    """sd / floor_sd: near 1 items flip on their own, well above runs shift together. NaN if no floor."""


def run_spread(outcomes: ArrayLike, level: float = 0.95) -> RunSpread:
    """Return the SD over runs of a pass rate, its interval, and the over-dispersion ratio (`docs/method/bias.md` 5.7).

    The floor is sqrt(Σ v_i) / N with v_i = R/(R-1) p_i (1-p_i). Scores are fractions; NaN with a
    single run.

    >>> items = ["11111", "11110", "11000", "00000", "10101", "01000"]
    >>> spread = run_spread([[int(outcome) for outcome in item] for item in items])
    >>> round(spread.sd, 5), round(spread.floor_sd, 5), round(spread.ratio, 6)
    (0.16667, 0.16667, 1.0)
    """
    matrix = _binary(outcomes)
    seen = ~np.isnan(matrix)
    if not seen.any(axis=0).all():
        raise ValueError("every run needs an outcome for at least one item")
    scores = np.nansum(matrix, axis=0) / seen.sum(axis=0)
    return _spread(scores, _item_floor(matrix, seen), level)


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations:
    """Mean squares of items × runs, and the coefficients of Shrout & Fleiss (1979) made of them."""

    items: int
    runs: int
    between_items: float
    between_runs: float
    residual: float
    within_items: float

    @property
    def one_way(self) -> float:
        """Return ICC(1,1): runs differ from item to item; also the intra-problem correlation of MERGE."""
        return _share(
            self.between_items - self.within_items,
            self.between_items + (self.runs - 1) * self.within_items,
        )

    @property
    def agreement(self) -> float:
        """Return ICC(2,1): would another run give this item the same value?"""
        return _share(
            self.between_items - self.residual,
            self.between_items
            + (self.runs - 1) * self.residual
            + self.runs * (self.between_runs - self.residual) / self.items,
        )

    @property
    def consistency(self) -> float:
        """Return ICC(3,1): would another run give the items the same order and distances?"""
        return _share(
            self.between_items - self.residual, self.between_items + (self.runs - 1) * self.residual
        )

    @property
    def mean_agreement(self) -> float:
        """Return ICC(2,k): the same as `agreement`, of the mean over these runs."""
        return _share(
            self.between_items - self.residual,
            self.between_items + (self.between_runs - self.residual) / self.items,
        )


def icc(values: ArrayLike) -> IntraclassCorrelations:
    """Return the intraclass correlations of a complete items × runs matrix (`docs/method/beyond.md` 7.6).

    >>> judges = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> correlations = icc(judges)
    >>> round(correlations.one_way, 4), round(correlations.agreement, 4)
    (0.1657, 0.2898)
    """
    matrix = _matrix(values)
    items, runs = matrix.shape
    if np.isnan(matrix).any() or min(items, runs) < 2:
        raise ValueError("intraclass correlations need at least 2 items × 2 runs and no missing value")
    grand = matrix.mean()
    item_means, run_means = matrix.mean(axis=1), matrix.mean(axis=0)
    between_items = runs * ((item_means - grand) ** 2).sum()
    between_runs = items * ((run_means - grand) ** 2).sum()
    residuals = matrix - item_means[:, None] - run_means + grand
    residual = (residuals**2).sum()
    return IntraclassCorrelations(
        items=items,
        runs=runs,
        between_items=float(between_items / (items - 1)),
        between_runs=float(between_runs / (runs - 1)),
        residual=float(residual / ((items - 1) * (runs - 1))),
        within_items=float((between_runs + residual) / (items * (runs - 1))),
    )


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of single outcomes by source (`docs/method/beyond.md` 7.3)."""

    items: int
    runs: int
    run: float
    item: float
    residual: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Return the shares of a single outcome's variance due to runs, items and the rest; NaN if all is 0."""
        total = self.run + self.item + self.residual
        return _share(self.run, total), _share(self.item, total), _share(self.residual, total)


def variance_components(values: ArrayLike) -> VarianceComponents:
    """Return the variance due to runs, items and the rest of a complete items × runs matrix, at least 0 each.

    >>> found = variance_components([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> found.run, found.item, found.residual
    (0.5, 4.0, 0.0)
    """
    squares = icc(values)
    return VarianceComponents(
        items=squares.items,
        runs=squares.runs,
        run=max(0.0, (squares.between_runs - squares.residual) / squares.items),
        item=max(0.0, (squares.between_items - squares.residual) / squares.runs),
        residual=squares.residual,
    )


def runs_needed(reliability: float, target: float) -> int | None:
    """Return how many runs make the mean as reliable as `target`, None if one run has no reliability.

    >>> runs_needed(0.479, 0.8), runs_needed(0.95, 0.9), runs_needed(-0.1, 0.8)
    (5, 1, None)
    """
    if not 0 < target < 1:
        raise ValueError(f"a wished reliability lies between 0 and 1; got {target}")
    if math.isnan(reliability) or reliability <= 0:
        return None
    return max(1, math.ceil(target * (1 - reliability) / (reliability * (1 - target)) - 1e-9))


# Intervals of coefficients
#
# A bootstrap of runs would draw a run twice, which agrees with itself, and kappa would be too high. So items and runs
# are left out one at a time (Tukey's jackknife; Efron & Stein 1981), each with its own t, and the squares add up:
# reach² = (t · error over items)² + (t · error over runs)², on Fisher's z scale for coefficients, on the logarithmic
# scale for ratios. The variance of single outcomes is in both parts, so these intervals are conservative. They take
# three runs, and are NaN if nothing differs.


def coefficient_interval(values: ArrayLike, coefficient: Coefficient, level: float = 0.95) -> Interval:
    """Return an interval for kappa, alpha or an intraclass correlation of an items × runs matrix.

    >>> items = [[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]] * 5
    >>> [round(end, 2) for end in coefficient_interval(items, krippendorff_alpha)]
    [-0.34, 0.96]
    """
    matrix = np.asarray(values, dtype=np.float64)
    items, runs = matrix.shape

    # Without one run the others may agree on everything; half an item short of that, the scale is still finite.
    end = 1 - 1 / (2 * items)

    def stretched(part: Floats) -> float:
        return math.atanh(min(max(coefficient(part), -end), end))

    middle = stretched(matrix)
    if runs < 3 or items < 3 or math.isnan(middle):
        return UNDEFINED
    of_items, of_runs = _error_over_items(matrix, stretched), _error_over_runs(matrix, stretched)
    reach = math.hypot(t_quantile(level, items - 1) * of_items, t_quantile(level, runs - 1) * of_runs)
    return (math.tanh(middle - reach), math.tanh(middle + reach)) if reach > 0 else UNDEFINED


def runs_needed_interval(reliability: Interval, target: float) -> tuple[int | None, int | None]:
    """Return the fewest and the most runs that make the mean as reliable as `target`, from an interval of an ICC.

    None if the reliability of a single run may be 0.

    >>> runs_needed_interval((0.3, 0.7), 0.9), runs_needed_interval((-0.1, 0.7), 0.9)
    ((4, 21), (4, None))
    """
    low, high = reliability
    fewest, most = (runs_needed(end, target) if end < 1 else 1 for end in (high, low))
    return fewest, most


def ratio_interval(outcomes: ArrayLike, level: float = 0.95) -> Interval:
    """Return an interval for the over-dispersion ratio of `run_spread`.

    It combines the chi-square interval of the SD over runs with the variance of the floor over items.

    >>> rng = np.random.default_rng(0)
    >>> flips = rng.random((200, 5)) < rng.uniform(0.2, 0.8, (200, 1))
    >>> low, high = ratio_interval(flips)
    >>> low < 1 < high
    True
    """
    matrix = np.asarray(outcomes, dtype=np.float64)
    spread = run_spread(matrix)
    runs = matrix.shape[1]
    if not (spread.ratio > 0 and len(matrix) > 2):
        return UNDEFINED
    low, high = (math.log(end) for end in sd_interval(1.0, runs, level))
    of_items = normal_quantile(level) * _error_over_items(
        matrix, lambda part: _log(run_spread(part).floor_sd)
    )
    below, above = math.hypot(low, of_items), math.hypot(high, of_items)
    return spread.ratio * math.exp(-below), spread.ratio * math.exp(above)


def _error_over_runs(matrix: Floats, statistic: Coefficient) -> float:
    runs = matrix.shape[1]
    return _jackknife([statistic(np.delete(matrix, run, axis=1)) for run in range(runs)], np.ones(runs))


def _error_over_items(matrix: Floats, statistic: Coefficient) -> float:
    """Return the jackknife error over items; equal items are left out once and weighted by their number."""
    # distinct_rows compares numbers: NaN, which equals nothing, gets one that no outcome has.
    absent = float(np.nanmin(matrix)) - 1
    rows, times = distinct_rows(np.where(np.isnan(matrix), absent, matrix))
    rows = np.where(rows == absent, np.nan, rows)
    without = [
        statistic(np.repeat(rows, times - (np.arange(len(rows)) == number), axis=0))
        for number in range(len(rows))
    ]
    return _jackknife(without, times)


def _jackknife(without: list[float], times: NDArray[np.int64] | Floats) -> float:
    """Return the standard error from leave-one-out values, ignoring undefined ones."""
    values = np.array(without)
    known = ~np.isnan(values)
    values, weights = values[known], times[known]
    n = float(weights.sum())
    if n < 2:
        return 0.0
    return math.sqrt((n - 1) / n * float(weights @ (values - np.average(values, weights=weights)) ** 2))


def _log(number: float) -> float:
    return math.log(number) if number > 0 else math.nan


def _matrix(values: ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"an items × runs matrix is needed; got shape {matrix.shape}")
    return matrix


def _binary(outcomes: ArrayLike) -> Floats:
    matrix = _matrix(outcomes)
    if not (np.isnan(matrix) | (matrix == 0) | (matrix == 1)).all():
        raise ValueError("outcomes are 1, 0 or NaN")
    return matrix


def _mean_agreement(counts: NDArray[np.int64] | Floats) -> float:
    runs = counts.sum(axis=1)
    several = runs >= 2
    if not several.any():
        return float("nan")
    squares = (np.asarray(counts, np.float64) ** 2).sum(axis=1)
    return float(((squares - runs)[several] / (runs * (runs - 1))[several]).mean())


def _item_floor(matrix: Floats, seen: NDArray[np.bool_]) -> float:
    """Return the SD over runs if items flipped independently, averaged over runs that miss different items."""
    runs = seen.sum(axis=1)
    several = runs >= 2
    rate = np.nansum(matrix, axis=1)[several] / runs[several]
    variance = np.zeros(len(matrix))
    variance[several] = runs[several] / (runs[several] - 1) * rate * (1 - rate)
    return float(np.sqrt(((variance @ seen) / seen.sum(axis=0) ** 2).mean()))


def _spread(scores: Floats, floor_sd: float, level: float) -> RunSpread:
    runs = len(scores)
    sd = float(scores.std(ddof=1)) if runs > 1 else float("nan")
    return RunSpread(
        scores=scores,
        mean=float(scores.mean()),
        mean_interval=within(mean_t_interval(scores, level), 0.0, 1.0),
        sd=sd,
        sd_interval=within(sd_interval(sd, runs, level), 0.0, largest_sd(runs)),
        floor_sd=floor_sd if runs > 1 else float("nan"),
        ratio=_share(sd, floor_sd),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")

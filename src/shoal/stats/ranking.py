"""Few-shot ranking: how often a few examples order models as all do (`docs/method/ranking.md`, `beyond.md` 7.16).

    values ──► probe sets ──► means ──► order ──► few-shot accuracy
    models ×   drawn with     of each   pair      mean over the pairs
    examples   replacement    model     by pair   whose truth differs

`order` has a row and a column per model: how often the first of a pair precedes the second. Pairs share models and are
not independent, so intervals are jackknifed over models. E-values are at most 1 on average if two models are equally
good, so one reaches 1/α with a chance of at most α, even if labels come one by one.
"""

import math
from typing import Literal

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ties = Literal["half", "fail"]

SLACK = 1e-9
"""Values this close, relative to the largest, are ties."""
BETS = np.linspace(-0.9, 0.9, 19)
"""Shares of the capital that an e-value stakes on either side."""


# Probe sets


def probe_sets(population: int, size: int, number: int, rng: Generator) -> Ints:
    """Return the examples of each probe set, drawn with replacement: (number, size)."""
    return rng.integers(population, size=(number, size), dtype=np.int64)


def probe_means(values: ArrayLike, probes: Ints) -> Floats:
    """Return the mean value of each model on each probe set, over the examples that have one: (sets, models).

    >>> probe_means([[1, 0, 1], [0, np.nan, np.nan]], np.array([[0, 1], [1, 2]])).tolist()
    [[0.5, 0.0], [0.5, nan]]
    """
    table = np.asarray(values, np.float64)
    is_known = ~np.isnan(table)
    if is_known.all():
        means: Floats = table[:, probes].mean(axis=2).T
        return means
    sums = np.where(is_known, table, 0.0)[:, probes].sum(axis=2).T
    counts = is_known[:, probes].sum(axis=2).T
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


# Order


def signs(means: Floats) -> NDArray[np.int8]:
    """Return for each set and pair of models i < j: 1 if i has the larger mean, -1 if j, 0 in a tie or with NaN."""
    first, second = np.triu_indices(means.shape[1], 1)
    differences = means[:, first] - means[:, second]
    slack = SLACK * (float(np.nanmax(np.abs(means), initial=0.0)) or 1.0)
    above: NDArray[np.int8] = (differences > slack).astype(np.int8)
    return above - (differences < -slack)


def order_of(means: Floats, ties: Ties = "half") -> Floats:
    """Return how often model i has a larger mean than model j, as a matrix with NaN on its diagonal.

    A tie counts one half for both, or for neither (`fail`).

    >>> order_of(np.array([[3.0, 2.0, 2.0]]))[1].tolist()
    [0.0, nan, 0.5]
    """
    models = means.shape[1]
    above = signs(means)
    first, second = np.triu_indices(models, 1)
    tied = (above == 0).mean(axis=0) if ties == "half" else np.zeros(len(first))
    order = np.full((models, models), np.nan)
    order[first, second] = (above == 1).mean(axis=0) + tied / 2
    order[second, first] = (above == -1).mean(axis=0) + tied / 2
    return order


def ties_of(means: Floats) -> Floats:
    """Return how often the two models of each pair tie, as a matrix."""
    models = means.shape[1]
    first, second = np.triu_indices(models, 1)
    tied = np.full((models, models), np.nan)
    tied[first, second] = tied[second, first] = (signs(means) == 0).mean(axis=0)
    return tied


def decided_pairs(truth: ArrayLike) -> tuple[Ints, Ints]:
    """Return the pairs of models whose truth differs, the better one first.

    >>> [side.tolist() for side in decided_pairs([0.5, 0.9, 0.5])]
    [[1, 1], [0, 2]]
    """
    known = np.asarray(truth, np.float64)
    better, worse = np.nonzero(known[:, None] > known[None, :])
    return better.astype(np.int64), worse.astype(np.int64)


def few_shot_accuracy(order: Floats, truth: ArrayLike) -> float:
    """Return the mean over pairs of how often they are ordered correctly; NaN if no two models differ.

    >>> round(few_shot_accuracy(order_of(-np.array([[2.0, 2.0, 1.0]])), [0.5, 0.7, 0.9]), 4)
    0.8333
    """
    better, worse = decided_pairs(truth)
    return float(order[better, worse].mean()) if len(better) else math.nan


# Without examples


def guess(truth: ArrayLike) -> float:
    """Return the share of model pairs that a ranker orders correctly if it knows one model only (GUESS).

    It knows whether that model is closer to the best or to the worst, and orders the others at random. The result is
    the mean over models of max(e, 1 - e), where e is the share of correct pairs if that model comes first.

    >>> round(guess([0.9, 0.7, 0.4]), 4)
    0.7222
    """
    known = np.asarray(truth, np.float64)
    pairs = len(decided_pairs(known)[0])
    if not pairs:
        return math.nan
    with_it = (known[:, None] != known[None, :]).sum(axis=1)
    below = (known[:, None] > known[None, :]).sum(axis=1)
    expected = (below + (pairs - with_it) / 2) / pairs
    return float(np.maximum(expected, 1 - expected).mean())


# Jackknife over models


def over_models(order: Floats, truth: ArrayLike) -> Interval | None:
    """Return a jackknife interval of few-shot accuracy over models; None if leaving out a model leaves no pair."""
    known = np.asarray(truth, np.float64)
    models = len(known)
    without = []
    for place in range(models):
        rest = np.delete(np.arange(models), place)
        without.append(few_shot_accuracy(order[np.ix_(rest, rest)], known[rest]))
    if models < 3 or np.isnan(without).any():
        return None
    values = np.array(without)
    error = math.sqrt((models - 1) / models * float(((values - values.mean()) ** 2).sum()))
    middle, reach = few_shot_accuracy(order, known), t_quantile(0.95, models - 1) * error
    return max(0.0, middle - reach), min(1.0, middle + reach)


# Two models, example by example


def probability_better(only_first: float, only_second: float, prior: float = 1.0) -> float:
    """Return the probability that the first of two models is better, from the examples that only one gets right.

    The share of such examples that go to the first has a Beta(prior, prior) prior: uniform with `prior` 1, between 37
    and 63 % with 30, as for models a few points apart.

    >>> round(probability_better(10, 2), 5), probability_better(0, 0)
    (0.98877, 0.5)
    >>> round(probability_better(10, 2, prior=30), 3)
    0.829
    """
    return float(scipy.special.betainc(only_second + prior, only_first + prior, 0.5))


def effective_counts(sums: Floats, squares: Floats, others: Floats, other_squares: Floats) -> Floats:
    """Return the effective number of examples of one side, by Kish's effective sample size of both sides.

    `sums` are the weights of the examples of this side, `others` those of the other side.

    >>> effective_counts(np.array(3.0), np.array(3.0), np.array(1.0), np.array(1.0)).item()
    3.0
    """
    weight, spread = sums + others, squares + other_squares
    return np.divide(sums * weight, spread, out=np.zeros_like(sums), where=spread > 0)


# E-values (Waudby-Smith & Ramdas 2024): they stay valid however often one looks


def differ_e_value(only_a: float, only_b: float) -> float:
    """Return the e-value of "one model is better", from the examples that only one of the two gets right.

    A uniform mixture against "every second of them goes to either". Valid for examples drawn alike from all, or from
    those on which the two disagree; drawing without replacement only makes it smaller.

    >>> round(differ_e_value(10, 2), 3), round(differ_e_value(8, 0), 1)
    (4.774, 28.4)
    """
    return _exp((only_a + only_b) * math.log(2) + float(scipy.special.betaln(only_a + 1, only_b + 1)))


def differ_mean_e_value(values: ArrayLike, times: ArrayLike) -> float:
    """Return the e-value for examples drawn with different probabilities: values from -1 to 1, 0 on average.

    The average over λ from -.9 to .9 of Π (1 + λ x); a value that was drawn several times counts as often.

    >>> round(differ_mean_e_value([1.0] * 8 + [0.5], [1] * 9), 1)
    32.5
    """
    sample, often = np.asarray(values, np.float64), np.asarray(times, np.float64)
    growth = (often[:, None] * np.log1p(BETS * sample[:, None])).sum(axis=0)
    largest = float(growth.max())
    return _exp(largest + math.log(float(np.exp(growth - largest).mean())))


def _exp(log_e: float) -> float:
    return math.exp(log_e) if log_e < 709 else math.inf

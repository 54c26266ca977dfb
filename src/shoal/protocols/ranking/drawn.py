"""Models of which only shares are known: their order, and how far few examples go if answers are drawn by these shares.

Which examples a model gets right is not in such a table. Answers are drawn: an example's kind, and then right or wrong
with each model's share of that kind, **independently across models**. Models of one recipe err on the same examples
more often than that, and are told apart sooner. Evidence that may be looked at after every label needs answers: nothing
is decided here.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.errors import PlanError
from ...core.measures import quantity, shown
from ...core.records import Finding, Measure
from ...stats.intervals import wilson
from ...stats.ranking import probability_better
from ..base import Compared
from .factors import Factor, factors_of
from .order import CLOSE, Field, Pair, better_rows, shown_pairs
from .rates import Rates, about
from .settings import Settings
from .study import BASELINE, Study, drawn_study

Floats = NDArray[np.float64]

DRAWN = "drawn"
"""The kind of the finding that says what the numbers rest on."""


def compare_rates(settings: Settings, rates: Rates) -> Compared:
    """The models in order, and few-shot accuracy by the size of the probe set."""
    if len(rates.models) < 2:
        raise PlanError(
            f"one model only: {rates.models[0]}",
            why="an order needs two",
            fix="a table with a row for each model",
        )
    field = Field(rates.models, rates.models, [], np.zeros((len(rates.models), 0)), [], [])
    right, total = rates.right.sum(axis=1), int(rates.sizes.sum())
    order = sorted(range(len(rates.models)), key=lambda model: (-right[model], rates.models[model]))
    rows = [_accuracy(rates, model, 1 + int((right > right[model]).sum()), total) for model in order]
    if right.min() == right.max():
        text = (
            f"Not ordered: all {len(order)} models get the same share right, {100 * right[0] / total:.1f} %."
        )
        return Compared(rows, [Finding("alike", text, (), 3.0), _drawn(rates, total)])
    for pair in shown_pairs(order):
        rows += better_rows(field, _pair(rates, *pair))
    chances = rates.sizes / total
    whole = Study(settings, field, rates.accuracies, np.arange(total))
    factors = _from_shares(settings)
    more, told = drawn_study(
        whole, factors, lambda size, rng: means_of(rates.shares, chances, size, settings.probe_sets, rng)
    )
    return Compared([*rows, *more], [_first(rates, order), _drawn(rates, total), *told])


def _from_shares(settings: Settings) -> list[Factor]:
    """The factors, none of which needs answers."""
    factors = factors_of(settings.factors, settings.explainers)
    wrong = [factor.name for factor in factors if factor.has_values and factor.name != BASELINE]
    if wrong or settings.combine:
        raise PlanError(
            f"factor {wrong[0] if wrong else settings.combine[0]!r} is not applicable",
            why="a table of shares says what models get right, and nothing else of their answers",
            fix="factors = ACC, RANDOM, GUESS",
        )
    return factors


def means_of(shares: Floats, chances: Floats, size: int, sets: int, rng: Generator) -> Floats:
    """What each model gets right of each probe set: (sets, models)."""
    kinds = rng.choice(len(chances), size=(sets, size), p=chances)
    return np.stack([(rng.random(kinds.shape) < row[kinds]).mean(axis=1) for row in shares], axis=1)


def _accuracy(rates: Rates, model: int, place: int, total: int) -> Measure:
    right = int(rates.right[model].sum())
    name = rates.models[model]
    facts = {"headline": True, "spec": name, "place": place}
    return Measure(
        "accuracy", right / total, total, {"model": name}, wilson(right, total), "wilson", facts=facts
    )


def _pair(rates: Rates, first: int, second: int) -> Pair:
    """Two models, with the examples that only one gets right as they are to be expected of independent answers."""
    mine, other = rates.right[first], rates.right[second]
    up = float((mine * (rates.sizes - other) / rates.sizes).sum())
    down = float((other * (rates.sizes - mine) / rates.sizes).sum())
    probability, if_close = probability_better(up, down), probability_better(up, down, CLOSE)
    return Pair(first, second, round(up), round(down), probability, if_close, int(rates.sizes.sum()))


# What is said


def _first(rates: Rates, order: Sequence[int]) -> Finding:
    first, second = (rates.models[model] for model in order[:2])
    pair = _pair(rates, order[0], order[1])
    best, next_best = rates.accuracies[order[0]], rates.accuracies[order[1]]
    text = (
        f"{first} is best on these shares ({100 * best:.1f} %, {second} {100 * next_best:.1f} %). "
        f"If models err independently, it beats {second} with a probability of "
        f"{shown(pair.if_close, quantity('probability better'))} %."
    )
    return Finding("ordered", text, (), 3.0, {"model": first}, {"best": first})


def _drawn(rates: Rates, total: int) -> Finding:
    text = (
        f"Drawn, not answered: the table has the shares of {len(rates.models)} models on {len(rates.kinds)} kinds of "
        f"examples ({total:,} in all), not their answers. shoal draws answers independently across models. Models that "
        "err together are told apart sooner."
    )
    return Finding(DRAWN, text, (), 2.5, facts=about(rates))

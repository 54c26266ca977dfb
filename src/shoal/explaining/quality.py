"""Whether to believe an explanation (`docs/method/beyond.md` 7.17).

completeness gap                  do the values add up to what they explain? (LIME's need not)
seed correlation                  do other draws order the words alike?
deletion, insertion               does the answer go with the words that count most, and come with them?
correlation with random weights   would a network that has learnt nothing give the same explanation?
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..core.errors import PlanError
from ..core.records import Example, Finding, Measure
from ..models.fresh import untrained
from ..models.hf import HFModel
from . import explain
from .attributions import Attribution, How, Values, completeness_gap, explained_columns
from .copies import Present, copies_of

FEWEST_SEEDS = 3
RANDOM_ORDERS = 10
GRID = np.linspace(0.0, 1.0, 11)
"""Shares of the words at which curves are read off."""
WARNINGS: dict[str, tuple[float, float, str, str]] = {
    "completeness gap": (
        0.0,
        0.05,
        "incomplete",
        "the values miss what they should add up to by more than 5 %: take more samples",
    ),
    "seed correlation": (
        0.7,
        1.0,
        "unstable",
        "other draws order the words differently: take more samples",
    ),
    "correlation with random weights": (
        -1.0,
        0.5,
        "untrained alike",
        "a network that has learnt nothing is explained much alike: these values say little about this model",
    ),
}
"""Between which values a measure is as it should be, and what a reader is told else."""


def quality(
    model: object,
    examples: Sequence[Example],
    method: str,
    how: How,
    *,
    labels: Sequence[str] | None = None,
    seeds: int = FEWEST_SEEDS,
) -> tuple[list[Attribution], list[Measure]]:
    """The explanations of some examples, and how far they can be believed, each number a mean over the examples."""
    if seeds < FEWEST_SEEDS:
        raise PlanError(
            f"{seeds} seeds", why=f"correlations need {FEWEST_SEEDS}", fix=f"seeds = {FEWEST_SEEDS}"
        )
    explained = explain(model, examples, method, how, labels=labels)
    fixed = [replace(how, label=row.label) for row in explained]
    again = [
        [
            explain(model, [example], method, replace(exactly, seed=how.seed + number), labels=labels)[0]
            for example, exactly in zip(examples, fixed, strict=True)
        ]
        for number in range(1, seeds)
        if method != "gradients"
    ]
    return explained, [
        _mean("completeness gap", [completeness_gap(row) for row in explained], {"method": method}),
        _seed_correlation([explained, *again], method),
        *_areas(model, examples, explained, how, labels),
        _against_random_weights(model, examples, explained, method, how, labels, seeds),
    ]


def findings(measures: Sequence[Measure]) -> list[Finding]:
    """What a reader must be told before believing an explanation."""
    warnings = []
    for row in measures:
        least, most, kind, text = WARNINGS.get(row.name, (0.0, 0.0, "", ""))
        if kind and row.value is not None and not least - 1e-9 <= row.value <= most + 1e-9:
            warnings.append(Finding(kind, text, (row,)))
    return warnings


def spearman(first: Values, second: Values) -> float | None:
    """The rank correlation of two explanations of the same words; None where one of them has no order.

    >>> round(spearman(np.array([0.1, 0.3, 0.2]), np.array([1.0, 5.0, 3.0])) or 0, 9)
    1.0
    """
    ranks = [rankdata(values) - (len(values) + 1) / 2 for values in (first, second)]
    sizes = [float(np.sqrt(row @ row)) for row in ranks]
    return float(ranks[0] @ ranks[1]) / (sizes[0] * sizes[1]) if all(sizes) else None


def _mean(name: str, values: Sequence[float | None], facts: dict[str, Any]) -> Measure:
    """The mean of what is defined."""
    known = [value for value in values if value is not None]
    value = float(np.mean(known)) if known else None
    return Measure(name, value, len(known), na=len(values) - len(known), facts=facts)


def _seed_correlation(runs: Sequence[Sequence[Attribution]], method: str) -> Measure:
    """How alike several draws order the words; undefined where nothing is left to chance."""
    random = [not row.facts.get("exact") for row in runs[0]]
    values = [
        spearman(first[number].values, second[number].values) if random[number] else None
        for first, second in combinations(runs, 2)
        for number in range(len(random))
    ]
    row = _mean("seed correlation", values, {"method": method, "seeds": len(runs)})
    return replace(row, n=sum(random) if len(runs) > 1 else 0, na=len(random) - sum(random))


# Deletion and insertion


def _areas(
    model: object,
    examples: Sequence[Example],
    explained: Sequence[Attribution],
    how: How,
    labels: Sequence[str] | None,
) -> list[Measure]:
    """The mean probability while words go, or come, the most important first; and in random order."""
    copies = copies_of(model, examples, labels, how)
    rngs = [np.random.default_rng([how.seed, number]) for number in range(len(examples))]
    orders = [
        np.stack([np.argsort(-row.values, kind="stable"), *_random_orders(len(row.values), rng)])
        for row, rng in zip(explained, rngs, strict=True)
    ]
    answers = copies.ask([_gone_or_come(order) for order in orders])
    curves = np.stack(
        [
            _curves(answer[:, _columns(copies.labels, row, how)].sum(axis=1), order)
            for answer, row, order in zip(answers, explained, orders, strict=True)
        ]
    ).mean(axis=0)
    names = ("deletion", "insertion", "deletion at random", "insertion at random")
    return [
        Measure(
            f"{name} area", float(np.trapezoid(curve, GRID)), len(examples), facts={"curve": curve.tolist()}
        )
        for name, curve in zip(names, curves, strict=True)
    ]


def _columns(labels: Sequence[str], row: Attribution, how: How) -> list[int]:
    return explained_columns(labels, np.zeros(len(labels)), replace(how, label=row.label))[1]


def _random_orders(size: int, rng: np.random.Generator) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    return [rng.permutation(size) for _ in range(RANDOM_ORDERS)]


def _gone_or_come(orders: np.ndarray[Any, np.dtype[np.int64]]) -> Present:
    """For each order the copies in which its first 0, 1, 2 … units are gone, then those with only these."""
    places = orders.argsort(axis=1)  # (orders, units): when each unit's turn is
    gone = places[:, None, :] >= np.arange(orders.shape[1] + 1)[None, :, None]
    return np.stack([gone, ~gone], axis=1).reshape(-1, orders.shape[1])


def _curves(outputs: Values, orders: np.ndarray[Any, np.dtype[np.int64]]) -> Values:
    """Deletion and insertion by importance, and the means of both over random orders, on the grid."""
    size = orders.shape[1]
    steps = np.linspace(0.0, 1.0, size + 1)
    lines = outputs.reshape(len(orders), 2, size + 1)
    read_off = np.array([[np.interp(GRID, steps, line) for line in pair] for pair in lines])
    return np.concatenate([read_off[0], read_off[1:].mean(axis=0)])


# Random weights


def _against_random_weights(
    model: object,
    examples: Sequence[Example],
    explained: Sequence[Attribution],
    method: str,
    how: How,
    labels: Sequence[str] | None,
    seeds: int,
) -> Measure:
    """How alike a network of the same shape is explained that has learnt nothing: sizes of values, by rank."""
    name, facts = "correlation with random weights", {"method": method, "networks": seeds}
    if not isinstance(model, HFModel):
        why = "needs a Transformers model"
        return Measure(name, None, 0, na=len(examples), note=why, facts={**facts, "undefined": why})
    values = []
    for seed in range(seeds):
        twin = untrained(model, how.seed + seed)
        for example, row in zip(examples, explained, strict=True):
            (other,) = explain(twin, [example], method, replace(how, label=row.label), labels=labels)
            values.append(spearman(np.abs(row.values), np.abs(other.values)))
    return replace(_mean(name, values, facts), n=len(examples))

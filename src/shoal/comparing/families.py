"""Many rows at once: p adjusted over the table, intervals that hold together, and a margin."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..claims import ALPHA
from ..errors import PlanError
from ..measures import quantity as describe
from ..stats.intervals import Interval, in_agreement, p_where
from ..stats.limits import Side, difference_p
from ..stats.multiplicity import benjamini_hochberg, holm, holm_level, max_t
from .inference import Estimate, Part
from .quantities import Quantity
from .rows import Adjust, Choices, Row
from .sides import Sides

Floats = NDArray[np.float64]


def with_adjusted_p(
    rows: Sequence[Row], quantities: Sequence[Quantity], sides: Sides, choices: Choices
) -> list[Row]:
    """The rows with p adjusted over all of them: the family is the table."""
    raw = np.array([math.nan if row.p is None else row.p for row in rows])
    if choices.adjust == "max-t":
        adjusted = _max_t(rows, quantities, sides, choices)
    elif choices.adjust == "none":
        adjusted = raw
    elif choices.adjust == "bonferroni":
        adjusted = np.minimum(1.0, raw * np.sum(~np.isnan(raw)))
    else:
        adjusted = holm(raw) if choices.adjust == "holm" else benjamini_hochberg(raw)
    return [
        replace(row, adjusted=None if row.p is None else float(value))
        for row, value in zip(rows, adjusted, strict=True)
    ]


def level_of(rows: Sequence[Row], choices: Choices) -> float:
    """The level at which a row without a mark was tested."""
    raw = [row.p for row in rows if row.p is not None]
    if choices.adjust == "bonferroni":
        return ALPHA / max(1, len(raw))
    return holm_level(raw) if choices.adjust == "holm" else ALPHA


def all_together(rows: Sequence[Row], estimates: Sequence[Estimate]) -> list[Row]:
    """The rows with intervals that hold all together (Bonferroni), and marks that agree with them.

    A row is marked where both its test and its interval leave out 0; elsewhere the interval reaches to 0.
    """
    tests = sum(row.p is not None for row in rows)
    together = []
    for row, estimate in zip(rows, estimates, strict=True):
        interval = estimate.at(1 - ALPHA / tests) if row.adjusted is not None else None
        if interval is None or row.adjusted is None:
            together.append(row)
            continue
        low, high = interval
        adjusted = row.adjusted if low > 0 or high < 0 else max(row.adjusted, _of_interval(estimate, tests))
        method = f"{row.interval_method}, {tests} rows together"
        interval = in_agreement(interval, adjusted)
        together.append(replace(row, adjusted=adjusted, interval=interval, interval_method=method))
    return together


def _of_interval(estimate: Estimate, tests: int) -> float:
    """The p of the test that the interval makes, adjusted."""
    return min(1.0, tests * p_where(lambda level: _leaves_out(estimate.at(level), 0.0)))


def _leaves_out(interval: Interval | None, null: float) -> bool:
    return interval is not None and not interval[0] <= null <= interval[1]


def with_margin(
    rows: Sequence[Row], estimates: Sequence[Estimate], margin: float, adjust: Adjust
) -> list[Row]:
    """The rows with p of "worse by the margin or more", adjusted as the others are."""
    raw = [_inferior_p(row, estimate, margin) for row, estimate in zip(rows, estimates, strict=True)]
    known = sum(p is not None for p in raw)
    if not known:
        raise PlanError(
            "no row can be held against a margin",
            why="a margin needs an interval, and a measure of which more, or less, is better",
            fix="leave out --margin",
        )
    values = np.array([math.nan if p is None else p for p in raw])
    adjusted = (
        values
        if adjust == "none"
        else np.minimum(1.0, known * values)
        if adjust == "bonferroni"
        else holm(values)
    )
    return [
        replace(row, inferior_p=p, inferior_adjusted=None if p is None else float(value))
        for row, p, value in zip(rows, raw, adjusted, strict=True)
    ]


def _inferior_p(row: Row, estimate: Estimate, margin: float) -> float | None:
    """One-sided p of "worse by the margin or more", where more or less is better; None elsewhere."""
    direction = describe(row.measure).direction
    if row.p is None or row.difference is None or direction not in ("higher", "lower"):
        return None
    limit = -margin if direction == "higher" else margin
    if estimate.tables:
        side: Side = "above" if direction == "higher" else "below"
        return difference_p(estimate.tables, limit, side, estimate.shared)
    two_sided = p_where(lambda level: _leaves_out(estimate.at(level), limit))
    is_better = row.difference > limit if direction == "higher" else row.difference < limit
    return two_sided / 2 if is_better else 1 - two_sided / 2


def _max_t(rows: Sequence[Row], quantities: Sequence[Quantity], sides: Sides, choices: Choices) -> Floats:
    """Westfall and Young's, from sign flips that all rows share: every row is a mean over the same groups."""
    finest = {
        name: members
        for quantity in quantities
        if len(quantity.parts) == 1
        for name, members in quantity.parts
    }
    means = [quantity for quantity in quantities if len(quantity.parts) > 1]
    if any(q.weights or q.column or q.over_runs for q in quantities) or any(
        part not in finest for quantity in means for part, _ in quantity.parts
    ):
        raise PlanError("max-T needs rows that are all means over the same groups", fix="--adjust holm")
    known = [part for name, members in finest.items() if (part := Part(sides, name, members)).n]
    if not known:
        return np.full(len(rows), np.nan)
    rng = np.random.default_rng(choices.seed)
    # By content: neither the order nor, but for ties, the names of groups decide what is drawn.
    order = sorted(known, key=lambda part: (sorted(np.abs(part.flips)), part.n, part.name))
    drawn = {part.name: _flipped(part, rng, choices.shuffles) for part in order}
    observed, shuffled = [], []
    for row, quantity in zip(rows, quantities, strict=True):
        columns = [drawn[name] for name, _ in quantity.parts if name in drawn]
        shuffled.append(np.mean(columns, axis=0) if columns else np.zeros(choices.shuffles))
        observed.append(row.difference or 0.0)
    return max_t(observed, np.column_stack(shuffled))


def _flipped(part: Part, rng: np.random.Generator, shuffles: int) -> Floats:
    """The difference of one functionality in each shuffle: one binomial count per size of a flip."""
    sizes, clusters = np.unique(np.abs(part.flips[part.flips != 0]), return_counts=True)
    total = np.zeros(shuffles)
    for size, number in zip(sizes.tolist(), clusters.tolist(), strict=True):
        total += size * (2 * rng.binomial(number, 0.5, size=shuffles) - number)
    return total / part.n

"""Many rows at once: p adjusted within a level, simultaneous intervals, and a margin."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.claims import ALPHA
from ..core.errors import PlanError
from ..core.measures import quantity as describe
from ..stats.intervals import Interval, in_agreement, p_where
from ..stats.limits import Side, difference_p
from ..stats.multiplicity import benjamini_hochberg, holm, holm_level
from .inference import Estimate
from .rows import Adjust, Row

Floats = NDArray[np.float64]


def with_adjusted_p(rows: Sequence[Row], adjust: Adjust) -> list[Row]:
    """Return the rows with p adjusted within their level: a functionality never pays for capabilities."""
    adjusted: dict[int, float] = {}
    for family in _families(rows):
        raw = np.array([rows[place].p for place in family], np.float64)
        adjusted |= dict(zip(family, _adjusted(raw, adjust).tolist(), strict=True))
    return [replace(row, adjusted=adjusted.get(place)) for place, row in enumerate(rows)]


def _families(rows: Sequence[Row]) -> list[list[int]]:
    """Return the places of the rows that were tested, level by level."""
    by_level: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row.p is not None:
            by_level.setdefault(row.level, []).append(place)
    return list(by_level.values())


def _adjusted(raw: Floats, adjust: Adjust) -> Floats:
    if adjust == "holm":
        return holm(raw)
    if adjust == "bh":
        return benjamini_hochberg(raw)
    return np.minimum(1.0, raw * len(raw)) if adjust == "bonferroni" else raw


def tests_in(rows: Sequence[Row], level: str) -> int:
    """Return how many rows of a level were tested."""
    return sum(row.p is not None for row in rows if row.level == level)


def level_of(rows: Sequence[Row], level: str, adjust: Adjust) -> float:
    """Return the significance level at which an unmarked row of this level was tested."""
    raw = [row.p for row in rows if row.p is not None and row.level == level]
    if adjust == "bonferroni":
        return ALPHA / max(1, len(raw))
    return holm_level(raw) if adjust == "holm" else ALPHA


def all_together(rows: Sequence[Row], estimates: Sequence[Estimate]) -> list[Row]:
    """The rows with intervals that hold all together (Bonferroni), and marks that agree with them.

    A row is marked where both its test and its interval leave out 0; elsewhere the interval reaches to 0.
    """
    together = []
    for row, estimate in zip(rows, estimates, strict=True):
        tests = tests_in(rows, row.level)
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
    """Return the rows with p of "worse by the margin or more", adjusted within their level."""
    raw = [_inferior_p(row, estimate, margin) for row, estimate in zip(rows, estimates, strict=True)]
    if all(p is None for p in raw):
        raise PlanError(
            "--margin applies to none of these rows",
            why="a margin needs an interval and a measure with a better direction",
            fix="leave out --margin",
        )
    adjusted: dict[int, float] = {}
    for family in _families([replace(row, p=p) for row, p in zip(rows, raw, strict=True)]):
        values = np.array([raw[place] for place in family], np.float64)
        how: Adjust = adjust if adjust in ("none", "bonferroni") else "holm"
        adjusted |= dict(zip(family, _adjusted(values, how).tolist(), strict=True))
    return [
        replace(row, inferior_p=p, inferior_adjusted=adjusted.get(place))
        for place, (row, p) in enumerate(zip(rows, raw, strict=True))
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

"""Shares of cases with their intervals, and what one half of them would look like."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.records import Measure
from ...stats.intervals import Interval, wilson
from ...stats.power import smallest_distance
from .notes import WHY, Facts, Phrases

UNDECIDED = "undecided below"
"""The fact of a share that cannot be told from one half: the distance below which it would mostly be missed."""
OVER_CASES = {"mean over": "cases"}
"""The fact of a share that can be compared case by case."""


def _undecided(facts: Facts) -> str:
    if facts[UNDECIDED] is None:
        return "cannot be told from one half: there are too few cases to tell anything"
    return f"cannot be told from one half; a distance below {facts[UNDECIDED]:.3f} would mostly be missed"


IN_DOUBT: Phrases = {UNDECIDED: _undecided}


def share(
    name: str,
    counts: Sequence[float],
    groups: Mapping[str, str],
    *,
    na: int = 0,
    errors: int = 0,
    facts: Facts | None = None,
) -> Measure:
    """The mean of counts between 0 and 1, with Wilson's interval; undefined where there is none."""
    n = len(counts)
    known: dict[str, Any] = dict(facts or {})
    if not n:
        why = {WHY: "no case is left to count"}
        return Measure(name, None, 0, groups, na=na, errors=errors, facts={**known, **why})
    total = float(np.sum(counts))
    interval = wilson(total, n)
    return Measure(
        name, total / n, n, groups, interval, "wilson", na, errors, facts={**known, **undecided(interval, n)}
    )


def undecided(interval: Interval | None, n: int) -> dict[str, Any]:
    """What a share that cannot be told from one half may hide; nothing where it can be told."""
    if interval is None or not interval[0] <= 0.5 <= interval[1]:
        return {}
    return {UNDECIDED: smallest_distance(n)}

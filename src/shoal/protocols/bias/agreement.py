"""Coefficients of agreement over checkpoints, each with its interval for new items and new checkpoints."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.records import Measure
from ...stats.agreement import Coefficient, coefficient_interval, runs_needed_interval
from ...stats.reliability import runs_needed
from .family import Floats, Groups, sound

TARGET = 0.9
"""The reliability of the mean over checkpoints that `checkpoints needed` asks for."""
HOW = "jackknife over items and checkpoints"


def agreement(
    name: str,
    matrix: Floats | Sequence[Sequence[float]],
    coefficient: Coefficient,
    groups: Groups,
    note: str = "",
    *,
    n: int = 0,
    na: int = 0,
    facts: dict[str, Any] | None = None,
) -> Measure:
    """A coefficient of items × checkpoints; its interval wants three checkpoints."""
    values = np.asarray(matrix, dtype=np.float64)
    value = coefficient(values) if len(values) else math.nan
    if math.isnan(value):
        return Measure(name, None, n or len(values), groups, na=na, note=note, facts=facts or {})
    interval = sound(coefficient_interval(values, coefficient))
    how = HOW if interval else ""
    return Measure(name, value, n or len(values), groups, interval, how, na, note=note, facts=facts or {})


def checkpoints_needed(reliability: Measure) -> Measure:
    """How many checkpoints make their mean as reliable as the target, from the reliability of one."""
    value = reliability.value
    needed = runs_needed(value, TARGET) if value is not None and 0 < value < 1 else None
    if needed is None:
        note = "one checkpoint tells nothing of the next, or everything"
        return Measure("checkpoints needed", None, reliability.n, reliability.groups, note=note)
    fewest, most = (
        runs_needed_interval(reliability.interval, TARGET) if reliability.interval else (None, None)
    )
    interval = (float(fewest), float(most)) if fewest is not None and most is not None else None
    facts = {"at least": fewest} if fewest is not None and most is None else {}
    note = f"for a reliability of {TARGET:g}"
    note += f"; at least {fewest}, and how many at the most cannot be told" if facts else ""
    return Measure(
        "checkpoints needed", float(needed), reliability.n, reliability.groups, interval,
        reliability.interval_method if interval else "", note=note, facts=facts,
    )  # fmt: skip

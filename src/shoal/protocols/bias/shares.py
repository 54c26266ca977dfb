"""Shares of cases with their intervals, and what one half of them would look like."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...records import Measure
from ...stats.intervals import wilson
from ...stats.power import mde_one_proportion

FEW = 30


def share(
    name: str,
    counts: Sequence[float],
    groups: Mapping[str, str],
    *,
    na: int = 0,
    errors: int = 0,
    note: str = "",
) -> Measure:
    """The mean of counts between 0 and 1, with Wilson's interval; undefined where there is none."""
    n = len(counts)
    if not n:
        return Measure(name, None, 0, groups, na=na, errors=errors, note=note or "no case is left to count")
    total = float(np.sum(counts))
    interval = wilson(total, n)
    return Measure(
        name,
        total / n,
        n,
        groups,
        interval,
        "wilson",
        na,
        errors,
        joined(note, undecided(total / n, interval, n)),
    )


def undecided(value: float, interval: tuple[float, float] | None, n: int) -> str:
    """What a share that cannot be told from one half may hide."""
    if interval is None or not interval[0] <= 0.5 <= interval[1]:
        return ""
    least = mde_one_proportion(n)
    if least is None:
        return f"cannot be told from one half: {n} cases are too few to tell anything"
    return (
        f"cannot be told from one half; a distance below {least:.3f} would mostly be missed with {n:,} cases"
    )


def joined(*notes: str) -> str:
    """Several notes as one."""
    return "; ".join(filter(None, notes))

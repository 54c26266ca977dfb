"""Two results of which one has rates only: differences of independent rates.

The interval is Newcombe's (1998, method 10), from the interval of each rate. The test is Fisher's exact test on the
(effective) number of cases of two Wilson intervals. For other intervals it is the normal test that Newcombe's implies.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import scipy  # its parts are imported at their first use

from ..core.errors import DataError
from ..core.records import OVER_TEMPLATES, Measure, Result, for_new_templates
from ..stats.intervals import UNDEFINED, in_agreement, normal_quantile, wilson_cases
from ..stats.paired import fisher_test
from .cases import TEMPLATES, scoring_of
from .inference import Choices, Estimate

UNPAIRED = "unpaired: one side has measures only"
NEWCOMBE = "newcombe"
Key = tuple[str, frozenset[tuple[str, str]]]


def key_of(row: Measure) -> Key:
    return row.of or row.name, frozenset(row.groups.items())


def check_same_origin(a: Sequence[Result], b: Sequence[Result]) -> None:
    """Refuse results of other cases or settings, and several runs a side."""
    if len(a) + len(b) > 2:
        raise DataError(
            "several runs a side need the outcome of each case, and a result file has rates only",
            fix="jobs of a store (--into), or one result file a side",
        )
    if not all("protocol" in _cases_identity(side) for side in (*a, *b)):
        raise DataError(
            "a result file does not say which cases it was made from",
            why="results that another tool graded have no fingerprint of their cases",
            fix="the model itself (predictions:FILE with --suite, scores:FILE), or a job of a store",
        )
    if differing := origin_differs(b[0], a[0], "A"):
        raise DataError(
            "A and B were made from other cases or under other settings",
            why=f"B has {differing}",
            fix="shoal try … --json for both, on the same suite and under the same settings",
        )


def origin_differs(new: Result, old: Result, old_name: str) -> str:
    """Return in which cases or settings two results differ, the new value first; empty if in none."""
    first, second = (
        {
            "protocol": side.job.get("protocol"),
            **_cases_identity(side),
            **scoring_of(side),
        }
        for side in (new, old)
    )
    return "; ".join(
        f"{key}: {first.get(key)!r}, {old_name} {second.get(key)!r}"
        for key in {**first, **second}
        if first.get(key) != second.get(key)
    )


def _cases_identity(result: Result) -> dict[str, Any]:
    return dict((result.job.get("identity") or {}).get("cases") or {})


def for_claim(result: Result, choices: Choices) -> Result:
    """Return a result with intervals for new cases or new templates; raise if a file has only the other kind."""
    if choices.over == TEMPLATES:
        return for_new_templates(result)
    if any(row.interval_method == OVER_TEMPLATES for row in result.measures):
        raise DataError("the intervals of a result file are for new templates", fix="--over templates")
    return result


def unpaired_estimate(difference: Measure, old: Measure, new: Measure) -> Estimate:
    """Return an unpaired difference with its interval and test."""
    change, interval = difference.value, difference.interval
    if change is None or interval is None or old.value is None or new.value is None:
        return Estimate(change)
    n_a, n_b = (wilson_cases(row.value or 0.0, row.interval or UNDEFINED) for row in (old, new))
    reach = change - interval[0] if change > 0 else interval[1] - change
    if n_a is not None and n_b is not None:
        p, test = fisher_test(old.value, n_a, new.value, n_b), "Fisher's exact test"
    elif reach > 0:
        away = normal_quantile(0.95) * abs(change) / reach
        p, test = 2 * float(scipy.special.ndtr(-away)), "normal test of unpaired rates"
    else:
        return Estimate(change, interval, NEWCOMBE)
    return Estimate(change, in_agreement(interval, p), NEWCOMBE, p, test)


def independent(new: Measure, old: Measure, old_name: str = "the baseline") -> Measure:
    """Return the difference of two unpaired rates, from their intervals (Newcombe 1998, method 10)."""
    if new.value is None or old.value is None:
        why = why_undefined(new)
        why = why if new.value is None else f"{old_name} is undefined: {why_undefined(old)}"
        return Measure("difference", None, 0, new.groups, na=new.na, of=new.name, reason=why)
    difference, interval, method = new.value - old.value, None, ""
    if new.interval and old.interval:
        below = math.hypot(new.value - new.interval[0], old.interval[1] - old.value)
        above = math.hypot(new.interval[1] - new.value, old.value - old.interval[0])
        interval, method = (difference - below, difference + above), NEWCOMBE
    row = Measure("difference", difference, new.n, new.groups, interval, method, of=new.name)
    return replace(row, na=new.na, errors=new.errors, note=UNPAIRED)


def why_undefined(measure: Measure) -> str:
    """Return why a measure has no value."""
    if measure.reason:
        return measure.reason
    if measure.na:
        return "no applicable case"
    return "the model answered no case" if measure.errors else "it has no value"

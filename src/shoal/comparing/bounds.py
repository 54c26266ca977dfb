"""Rules on a bound: their verdicts are decided by exact one-sided tests, not by the end of an interval.

A rule that cannot fail, or cannot pass, at its number of cases is not judged.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import NDArray

from ..core.claims import ALPHA
from ..core.errors import PlanError
from ..core.measures import quantity, shown_p
from ..core.records import Measure, Result
from ..stats.intervals import UNDEFINED, normal_quantile, wilson, wilson_cases
from ..stats.limits import Side, binomial_p, difference_p, rate_p
from ..stats.multiplicity import holm
from ..stats.resampling import cluster_table, paired_table, sharing
from .cases import CASES, Quantity, comparable, sides_of
from .rules import Rule

if TYPE_CHECKING:
    from .gate import Status, Verdict

Floats = NDArray[np.float64]
Way = Literal["for", "against"]
"""Evidence that a limit is kept, or that it is missed."""


def oriented(rule: Rule, measure: Measure, value: float) -> float:
    """Return a value with the sign at which more is better: a difference changes sign if a lower measure is better."""
    return -value if rule.is_relative and lower_is_better(measure) else value


def lower_is_better(measure: Measure) -> bool:
    return quantity(measure.of or measure.name).direction == "lower"


def by_tests(verdicts: "Sequence[Verdict]", evidence: "Evidence", number: int) -> "list[Verdict]":
    """Return the verdicts of a rule on a bound, decided by exact tests.

    The end of Wilson's interval is not such a test: twenty cases at a rate of .95 are below it in 7.5 %, not in 2.5.
    """
    verdicts = [_if_decidable(verdict, evidence, number) for verdict in verdicts]
    if verdicts[0].rule.is_family and verdicts[0].rule.judge == "upper bound":
        return _by_adjusted_test(verdicts, evidence)
    return [_by_exact_test(verdict, evidence) for verdict in verdicts]


def _if_decidable(verdict: "Verdict", evidence: "Evidence", number: int) -> "Verdict":
    """Return the verdict if the rule can both pass and fail at this number of cases; else it is not judged."""
    if verdict.status not in ("met", "failed") or (problem := evidence.undecidable(verdict)) is None:
        return verdict
    if not verdict.rule.is_family:
        raise PlanError(
            f"rule {number}: {verdict.rule}: {problem}",
            why=f'judge = "{verdict.rule.judge}" on {verdict.measure.n:,} cases',
            fix='judge = "observed", more cases, or another limit',
        )
    return replace(verdict, status="not judged", judged=None, reason=problem)


def _by_exact_test(verdict: "Verdict", evidence: "Evidence") -> "Verdict":
    """Confirm what the end of an interval concludes by a one-sided test at half the level."""
    proves = verdict.rule.judge == "lower bound"
    p = None
    if verdict.status == ("met" if proves else "failed"):
        p = evidence.of_limit(verdict, "for" if proves else "against")
    if p is None or p <= ALPHA / 2:
        return verdict
    reason = f"exact one-sided p = {p:.3g} is above {ALPHA / 2:g}"
    status: Status = "failed" if proves else "met"
    return replace(verdict, status=status, reason="; ".join(filter(None, [verdict.reason, reason])))


def _by_adjusted_test(verdicts: "Sequence[Verdict]", evidence: "Evidence") -> "list[Verdict]":
    """Fail those of many whose one-sided p, adjusted by Holm over all of them, is at most .05.

    The end of each interval by itself would fail some of thirty by chance in half of all gates.
    """
    decided = [verdict.status in ("met", "failed") for verdict in verdicts]
    raw = [
        evidence.against(verdict) if known else math.nan
        for verdict, known in zip(verdicts, decided, strict=True)
    ]
    judged = []
    for verdict, known, p in zip(verdicts, decided, holm(raw).tolist(), strict=True):
        if known and p <= ALPHA:
            reason = f"{verdict.reason}; adjusted p {shown_p(p)}".removeprefix("; ")
            verdict = replace(verdict, status="failed", reason=reason)
        elif known:
            verdict = replace(verdict, status="met")
        judged.append(verdict)
    return judged


class Evidence:
    """Compute one-sided p values that a limit is kept or missed, from outcomes by case where they are known."""

    def __init__(self, result: Result, baseline: Result | None) -> None:
        self.relative = baseline is not None
        self.known = bool(result.outcomes) and (baseline is None or bool(baseline.outcomes))
        if not self.known:
            return
        sides = sides_of([result], [baseline or result])
        self.hits = [side[:, 0] for side in sides.hits]
        self.clusters = sides.clusters
        self.parts = {
            (quantity.measure.name, frozenset(quantity.measure.groups.items())): quantity
            for quantity in comparable(result, result.cases)
        }

    def against(self, verdict: "Verdict") -> float:
        """Return the p value of the test that the limit is missed; without an exact test, from the interval."""
        p = self.of_limit(verdict, "against")
        limit = -verdict.rule.limit if verdict.rule.is_relative else verdict.rule.limit
        return _from_interval(verdict, limit) if p is None else p

    def of_limit(self, verdict: "Verdict", way: Way) -> float | None:
        """Return the one-sided p value for "the limit is kept", or against it; None if only the interval is known."""
        rule, value = verdict.rule, verdict.measure.value or 0.0
        side = _side(rule, way)
        if not self.known:
            n = None if self.relative else wilson_cases(value, verdict.measure.interval or UNDEFINED)
            return None if n is None or not 0 < rule.limit < 1 else binomial_p(value, n, rule.limit, side)
        quantity = self._quantity(verdict.source)
        if quantity is None or (self.relative and lower_is_better(verdict.source)):
            return None
        members, owners = [positions for _, positions in quantity.parts], self.clusters
        if quantity.measure.basis.templates is not None or owners is None:
            # Never its template: the case itself; elsewhere its premise or text.
            owners = np.arange(len(self.values))
        shared = sharing([owners[each] for each in members], [self.values[each] for each in members])
        if self.relative:
            tables = [paired_table(self.hits[0][each], self.hits[1][each], owners[each]) for each in members]
            return difference_p([table for table in tables if table.totals[-1]], -rule.limit, side, shared)
        if not 0 < rule.limit < 1:
            return _p_of_rate(value, 0, rule.limit, side)
        rates = [cluster_table(self.hits[0][each], owners[each]) for each in members]
        return rate_p([table for table in rates if table.totals[-1]], rule.limit, side, shared)

    def undecidable(self, verdict: "Verdict") -> str | None:
        """Return why a rule on one group of cases can never fail, or never pass, at its size; None if it can."""
        rule, n = verdict.rule, self._cases(verdict.source)
        proves = rule.judge == "lower bound"
        if n is None or lower_is_better(verdict.source) or (proves and self.relative):
            return None
        extreme = float((rule.kind == "at_most") != proves)
        if self.relative:
            p = difference_p([paired_table(np.zeros(n), np.ones(n))], -rule.limit, "below")
        else:
            p = _p_of_rate(extreme, n, rule.limit, _side(rule, "for" if proves else "against"))
        low, high = wilson(extreme * n, n)
        ends_right = low >= rule.limit if rule.kind == "at_least" else high <= rule.limit
        level = ALPHA if rule.is_family and not proves else ALPHA / 2
        if p <= level and (ends_right or not proves):
            return None
        outcome = f"{n} newly failing of {n}" if self.relative else f"{round(extreme * n)} of {n}"
        return f"too few cases: even {outcome} would not {'prove that the rule is met' if proves else 'fail the rule'}"

    def _cases(self, measure: Measure) -> int | None:
        """Return how many cases a rate is a mean over; None if it is a mean over groups, or unpaired."""
        if not self.known:
            is_rate = measure.basis.mean_over == CASES and measure.interval_method == "wilson"
            return measure.n if is_rate and not self.relative else None
        quantity = self._quantity(measure)
        if quantity is None or len(quantity.parts) != 1:
            return None
        return int((~np.isnan(self.values[quantity.parts[0][1]])).sum())

    @property
    def values(self) -> Floats:
        """Return the outcome of each case, or its difference from the baseline."""
        return self.hits[0] - self.hits[1] if self.relative else self.hits[0]

    def _quantity(self, measure: Measure) -> Quantity | None:
        found = self.parts.get((measure.name, frozenset(measure.groups.items())))
        return None if found is None or found.weights or found.column or not found.parts else found


def _p_of_rate(rate: float, n: float, limit: float, side: Side) -> float:
    """Return the one-sided p of a rate of n cases."""
    if not 0 < limit < 1:  # nothing is below 0, and one failure is all the evidence against 1
        return 0.0 if (rate < limit if side == "below" else rate > limit) else 1.0
    return binomial_p(rate, n, limit, side)


def _side(rule: Rule, way: Way) -> Side:
    return "above" if (rule.kind == "at_most") == (way == "against") else "below"


def _from_interval(verdict: "Verdict", limit: float) -> float:
    """Return the p value against "the limit is kept" from the ends of the interval, by the normal approximation."""
    low, high = verdict.measure.interval or UNDEFINED
    error = (high - low) / 2 / normal_quantile(0.95)
    value = oriented(verdict.rule, verdict.measure, verdict.measure.value or 0.0)
    away = (value - limit) / error if error else math.nan
    away = -away if verdict.rule.kind == "at_most" else away
    return 1.0 if math.isnan(away) else float(scipy.special.ndtr(away))

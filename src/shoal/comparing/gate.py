"""Rules and a result to verdicts: which are met, which are not, and why. Pure.

A relative rule compares with a baseline. If both sides have outcomes by case, the difference is paired. If one side has
measures only, the two count as independent: the interval is wider, and the verdict says so.

The population is new cases of the same templates: cases are the unit, except where a protocol's clusters are something
else (premises, texts). `judge` "observed" uses the rate itself; the bounds are confirmed by exact one-sided tests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..core.claims import ALPHA
from ..core.errors import DataError, PlanError, nearest, some
from ..core.measures import quantity, shown
from ..core.records import Case, Measure, Measures, Result, verdicts_of
from ..stats.hits import hits_of
from ..stats.intervals import UNDEFINED, normal_quantile, wilson, wilson_cases
from ..stats.limits import Side, binomial_p, difference_p, rate_p
from ..stats.multiplicity import holm
from ..stats.resampling import cluster_table, paired_table, sharing
from .cases import CASES, Quantity, comparable, judgeable, scoring_of, unusable
from .pairs import compare, difference_of
from .rows import Choices
from .rules import EVERY, Rule
from .wording import p_text

Floats = NDArray[np.float64]
Status = Literal["met", "failed", "error", "undefined", "not judged", "passed over"]
"""`error`: the model is unusable or left cases unanswered; `undefined`: the number is missing; `not judged`: at
its number of cases the rule could not fail, or could not pass. All three fail the gate. `passed over`: undefined, and
the rule allows that."""

Way = Literal["for", "against"]
"""Evidence that a limit is kept, or that it is missed."""

UNPAIRED = "unpaired: one side has measures only"
SLACK = 1e-12
"""9 of 10 reach 0.9, whatever binary fractions say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one rule went for one thing it looks at."""

    rule: Rule
    measure: Measure
    """The judged measure, or its difference from the baseline."""
    status: Status
    judged: float | None
    """The end of the interval, or the rate, that was compared with the limit."""
    reason: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the gate stays open."""
        return self.status in ("met", "passed over")

    @property
    def name(self) -> str:
        """The group that the rule names; for a number, such as a threshold, with the measure and the other groups."""
        groups = [value for value in self.measure.groups.values() if value != "all"]
        measure = self.measure.of or self.measure.name
        if any(value.replace(".", "", 1).isdecimal() for value in groups):
            return ", ".join([measure, *groups])
        named = [value for name, value in self.measure.groups.items() if self.rule.groups.get(name) == "*"]
        return (named or groups or [measure])[0]

    @property
    def room(self) -> float:
        """How far the judged number is on the right side of the limit; below 0 if it is not."""
        if self.judged is None:
            return -math.inf
        limit = -self.rule.limit if self.rule.is_relative else self.rule.limit
        return limit - self.judged if self.rule.kind == "at_most" else self.judged - limit


def judge(rules: Sequence[Rule], result: Result, baseline: Result | None = None) -> list[Verdict]:
    """Return a verdict for each thing that each rule looks at; a rule that looks at nothing is an error."""
    differences: dict[Key, Difference] | None = None
    if any(rule.is_relative for rule in rules):
        if baseline is None:
            relative = next(rule for rule in rules if rule.is_relative)
            raise PlanError(f"{relative}: no baseline to compare with", fix="--baseline RESULT")
        differences = _differences(result, baseline)
    verdicts: list[Verdict] = []
    for number, rule in enumerate(rules, start=1):
        measures = _looked_at(rule, number, result.measures)
        judged = [_verdict(rule, measure, differences) for measure in measures]
        if rule.judge != "observed":
            evidence = _Evidence(result, baseline if rule.is_relative else None)
            judged = _by_tests(judged, measures, evidence, number)
        verdicts += judged
    return [*_unusable(result), *verdicts]


def _unusable(result: Result) -> list[Verdict]:
    """Return a verdict for each finding and failed self-check that makes every number unusable."""
    rule = Rule(measure="usable model", at_least=1.0)
    return [
        Verdict(rule, Measure("usable model", None, 0, {"check": finding.kind}), "error", None, finding.text)
        for finding in unusable(result)
    ]


# Measures that a rule applies to


def _looked_at(rule: Rule, number: int, measures: Measures) -> list[Measure]:
    """Return the measures that a rule is about."""
    rows = [row for row in measures if row.name == rule.measure] if rule.measure else judgeable(measures)
    if rule.measure and not rows:
        known = list(dict.fromkeys(row.name for row in measures))
        raise PlanError(
            f"rule {number} matches nothing: {rule}",
            why=f"the result has {some(known, 8)}" if known else "the result has no measures",
            fix=nearest(rule.measure, known) or 'measure = "NAME", one of those',
        )
    if not rule.groups:
        return _headline(rows, rule, number)
    candidates = [row for row in rows if rule.groups.keys() <= row.groups.keys()]
    fewest = min((len(row.groups) for row in candidates), default=0)
    candidates = [row for row in candidates if len(row.groups) == fewest]
    chosen = [row for row in candidates if _agrees(rule.groups, row.groups)]
    if not chosen:
        raise _nothing(rule, number, rows, candidates)
    if len(chosen) > 1 and not rule.is_family:
        others = [group for group in chosen[0].groups if group not in rule.groups]
        raise PlanError(
            f"rule {number} looks at {len(chosen)} things at once: {rule}",
            fix=f'{others[0].replace(" ", "_")} = "*" for each of them' if others else "measure = NAME",
        )
    names = list(dict.fromkeys(row.name for row in chosen))
    if len(names) > 1:
        raise PlanError(
            f"rule {number} could mean {' or '.join(names)}: {rule}", fix=f'measure = "{names[0]}"'
        )
    return chosen


def _headline(rows: Sequence[Measure], rule: Rule, number: int) -> list[Measure]:
    """Return what the protocol is about: marked as such, or the first with the fewest groups."""
    if not rows:
        raise PlanError(
            f"rule {number} matches nothing: {rule}",
            why="the result has nothing to judge",
            fix="a result with measures: shoal try … --json, or a job that is done",
        )
    marked = [row for row in rows if row.headline]
    return [min(marked or rows, key=lambda row: sum(value != "all" for value in row.groups.values()))]


def _agrees(wanted: Mapping[str, str], groups: Mapping[str, str]) -> bool:
    return all(
        groups[group] != "all" if value == EVERY else groups[group] == value
        for group, value in wanted.items()
    )


def _nothing(rule: Rule, number: int, rows: Sequence[Measure], candidates: Sequence[Measure]) -> PlanError:
    """Return the error for a rule without a measure: an unknown value, an unknown group, or groups that do not meet."""
    problem = f"rule {number} matches nothing: {rule}"
    for group, value in rule.groups.items():
        known = list(dict.fromkeys(row.groups[group] for row in candidates if group in row.groups))
        if known and value not in (EVERY, *known):
            fix = nearest(value, known) or 'one of those, or "*" for each of them'
            return PlanError(problem, why=f"the result has {some(known, 8)}", fix=fix)
    groups = list(dict.fromkeys(group for row in rows for group in row.groups))
    unknown = next((group for group in rule.groups if group not in groups), "")
    why = f"the result has no {unknown}" if unknown else "no measure has all of these groups"
    fix = nearest(unknown, groups) or "groups and values that stand together in shoal try … --json"
    return PlanError(problem, why=f"{why}; its groups are {some(groups, 8)}" if groups else why, fix=fix)


# Judging


def _verdict(rule: Rule, measure: Measure, differences: "dict[Key, Difference] | None") -> Verdict:
    _check_unit(rule, measure)
    judged_measure, difference = measure, None
    if rule.is_relative:
        absent = Difference(Measure("difference", None, 0, measure.groups, reason="not in the baseline"))
        difference = (differences or {}).get(_key(measure), absent)
        judged_measure = difference.measure
    if measure.errors and not rule.allow_errors:
        asked = measure.n + measure.na + measure.errors
        reason = f"the model gave no answer to {measure.errors:,} of {asked:,} cases"
        return Verdict(rule, judged_measure, "error", None, reason)
    if judged_measure.value is None:
        status: Status = "passed over" if rule.allow_undefined else "undefined"
        return Verdict(rule, judged_measure, status, None, _why_undefined(judged_measure))
    judged = _judged(rule, judged_measure)
    if judged is None:
        return Verdict(rule, judged_measure, "undefined", None, "no interval to judge by")
    verdict = Verdict(rule, judged_measure, "met", judged)
    verdict = verdict if verdict.room >= -SLACK else replace(verdict, status="failed")
    return replace(verdict, reason=_reason(verdict, measure, difference))


def _reason(verdict: Verdict, measure: Measure, difference: "Difference | None") -> str:
    """Return the counts behind a verdict, what its limit allows, and the bound that was judged."""
    rule, row = verdict.rule, verdict.measure
    is_rate = measure.basis.mean_over == CASES
    parts = []
    if difference is not None and difference.changes is None:
        parts.append(UNPAIRED)
    elif difference is not None and difference.changes is not None:
        lost, gained = difference.changes
        allowed = f" ({int(rule.limit * row.n + SLACK):,} net allowed)" if is_rate else ""
        parts.append(f"{lost:,} newly failing, {gained:,} fixed{allowed}")
    elif is_rate and row.value is not None and quantity(row).unit == "share":
        passes = row.value * row.n
        counts = row.name.endswith("pass rate") and abs(passes - round(passes)) < 1e-6
        parts.append(f"{round(passes):,} of {row.n:,} pass" if counts else f"{row.n:,} cases")
    is_by_p = rule.is_family and rule.judge == "upper bound"
    if rule.judge != "observed" and not is_by_p and verdict.judged is not None:
        end = "lower" if (rule.judge == "lower bound") == (rule.kind != "at_most") else "upper"
        bound = shown(
            _worth(rule, row, verdict.judged), quantity(row.of or row.name), signed=rule.is_relative
        )
        parts.append(f"{end} bound {bound}")
    return "; ".join(parts)


def _check_unit(rule: Rule, measure: Measure) -> None:
    """Raise an error for a limit in per cent, and for a difference of a measure that has no better direction."""
    what = quantity(measure)
    if what.unit == "share" and not 0 <= rule.limit <= 1:
        fix = f"{rule.kind} = {rule.limit / 100:g}" if 1 < rule.limit <= 100 else f"{rule.kind} = 0.9"
        raise PlanError(f"{rule}: a fraction between 0 and 1 is expected", fix=fix)
    if rule.is_relative and what.direction not in ("higher", "lower"):
        raise PlanError(f"{rule}: {measure.name} has no better direction", fix="at_least or at_most")


def _worth(rule: Rule, measure: Measure, value: float) -> float:
    """Return a number for which more is better, for a rule about a difference of a measure that is better lower."""
    return -value if rule.is_relative and _lower_is_better(measure) else value


def _lower_is_better(measure: Measure) -> bool:
    return quantity(measure.of or measure.name).direction == "lower"


def _judged(rule: Rule, measure: Measure) -> float | None:
    observed = rule.judge == "observed"
    if measure.value is None or (not observed and measure.interval is None):
        return None
    ends = [measure.value] if observed else list(measure.interval or ())
    worth = sorted(_worth(rule, measure, end) for end in ends)
    confident = 0 if rule.judge == "lower bound" else -1
    return worth[confident if rule.kind != "at_most" else -1 - confident]


def _why_undefined(measure: Measure) -> str:
    if measure.reason:
        return measure.reason
    if measure.na:
        return "no applicable case"
    return "the model answered no case" if measure.errors else "it has no value"


# The tests behind bounds


def _by_tests(
    verdicts: Sequence[Verdict], measures: Sequence[Measure], evidence: "_Evidence", number: int
) -> list[Verdict]:
    """Return the verdicts of a rule on a bound, decided by exact tests.

    The end of Wilson's interval is not such a test: twenty cases at a rate of .95 are below it in 7.5 %, not in 2.5.
    """
    verdicts = [
        _if_decidable(verdict, measure, evidence, number)
        for verdict, measure in zip(verdicts, measures, strict=True)
    ]
    if verdicts[0].rule.is_family and verdicts[0].rule.judge == "upper bound":
        return _by_adjusted_test(verdicts, measures, evidence)
    return [
        _by_exact_test(verdict, measure, evidence)
        for verdict, measure in zip(verdicts, measures, strict=True)
    ]


def _if_decidable(verdict: Verdict, measure: Measure, evidence: "_Evidence", number: int) -> Verdict:
    """Return the verdict if the rule can both pass and fail at this number of cases; else it is not judged."""
    if verdict.status not in ("met", "failed") or (problem := evidence.undecidable(verdict, measure)) is None:
        return verdict
    if not verdict.rule.is_family:
        raise PlanError(
            f"rule {number}: {verdict.rule}: {problem}",
            why=f'judge = "{verdict.rule.judge}" on {verdict.measure.n:,} cases',
            fix='judge = "observed", more cases, or another limit',
        )
    return replace(verdict, status="not judged", judged=None, reason=problem)


def _by_exact_test(verdict: Verdict, measure: Measure, evidence: "_Evidence") -> Verdict:
    """Confirm what the end of an interval concludes by a one-sided test at half the level."""
    proves = verdict.rule.judge == "lower bound"
    p = None
    if verdict.status == ("met" if proves else "failed"):
        p = evidence.of_limit(verdict, measure, "for" if proves else "against")
    if p is None or p <= ALPHA / 2:
        return verdict
    reason = f"exact one-sided p = {p:.3g} is above {ALPHA / 2:g}"
    status: Status = "failed" if proves else "met"
    return replace(verdict, status=status, reason="; ".join(filter(None, [verdict.reason, reason])))


def _by_adjusted_test(
    verdicts: Sequence[Verdict], measures: Sequence[Measure], evidence: "_Evidence"
) -> list[Verdict]:
    """Fail those of many whose one-sided p, adjusted by Holm over all of them, is at most .05.

    The end of each interval by itself would fail some of thirty by chance in half of all gates.
    """
    decided = [verdict.status in ("met", "failed") for verdict in verdicts]
    raw = [
        evidence.against(verdict, measure) if known else math.nan
        for verdict, measure, known in zip(verdicts, measures, decided, strict=True)
    ]
    judged = []
    for verdict, known, p in zip(verdicts, decided, holm(raw).tolist(), strict=True):
        if known and p <= ALPHA:
            reason = f"{verdict.reason}; adjusted p {p_text(p)}".removeprefix("; ")
            verdict = replace(verdict, status="failed", reason=reason)
        elif known:
            verdict = replace(verdict, status="met")
        judged.append(verdict)
    return judged


def _hits_on(cases: Sequence[Case], side: Result) -> Floats:
    """Return passes and failures of a result on these cases; NaN where it has neither."""
    hits = hits_of(verdicts_of(side.outcomes))
    if side.cases is cases:
        return hits
    place = {case.id: position for position, case in enumerate(side.cases)}
    places = np.array([place.get(case.id, -1) for case in cases], np.int64)
    return np.where(places < 0, math.nan, hits[places])


class _Evidence:
    """One-sided p values that a limit is kept or missed, from the cases where they are known."""

    def __init__(self, result: Result, baseline: Result | None) -> None:
        self.relative = baseline is not None
        sides = [result] if baseline is None else [result, baseline]
        self.known = all(side.outcomes for side in sides)
        if not self.known:
            return
        self.hits = [_hits_on(result.cases, side) for side in sides]
        names: dict[object, int] = {}
        self.clusters = np.array(
            [
                names.setdefault(case.cluster or position, len(names))
                for position, case in enumerate(result.cases)
            ]
        )
        self.parts = {
            (quantity.measure.name, frozenset(quantity.measure.groups.items())): quantity
            for quantity in comparable(result, result.cases)
        }

    def against(self, verdict: Verdict, measure: Measure) -> float:
        """Return the p value against "the limit is kept"; from the interval where no test is known."""
        p = self.of_limit(verdict, measure, "against")
        limit = -verdict.rule.limit if verdict.rule.is_relative else verdict.rule.limit
        return _from_interval(verdict, limit) if p is None else p

    def of_limit(self, verdict: Verdict, measure: Measure, way: Way) -> float | None:
        """Return the one-sided p value for "the limit is kept", or against it; None if only the interval is known."""
        rule, value = verdict.rule, verdict.measure.value or 0.0
        side = _side(rule, way)
        if not self.known:
            n = None if self.relative else wilson_cases(value, verdict.measure.interval or UNDEFINED)
            return None if n is None or not 0 < rule.limit < 1 else binomial_p(value, n, rule.limit, side)
        quantity = self._quantity(measure)
        if quantity is None or (self.relative and _lower_is_better(measure)):
            return None
        members, owners = [positions for _, positions in quantity.parts], self._owners(quantity)
        shared = sharing([owners[each] for each in members], [self.values[each] for each in members])
        if self.relative:
            tables = [paired_table(self.hits[0][each], self.hits[1][each], owners[each]) for each in members]
            return difference_p([table for table in tables if table.totals[-1]], -rule.limit, side, shared)
        if not 0 < rule.limit < 1:
            return _p_of_rate(value, 0, rule.limit, side)
        rates = [cluster_table(self.hits[0][each], owners[each]) for each in members]
        return rate_p([table for table in rates if table.totals[-1]], rule.limit, side, shared)

    def undecidable(self, verdict: Verdict, measure: Measure) -> str | None:
        """Return why a rule on one group of cases can never fail, or never pass, at its size; None if it can."""
        rule, n = verdict.rule, self._cases(measure)
        proves = rule.judge == "lower bound"
        if n is None or _lower_is_better(measure) or (proves and self.relative):
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
        return f"even {outcome} {'cannot show that the limit is kept' if proves else 'does not fail it'}"

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
        """The outcome of each case, or its difference from the baseline."""
        return self.hits[0] - self.hits[1] if self.relative else self.hits[0]

    def _quantity(self, measure: Measure) -> Quantity | None:
        found = self.parts.get((measure.name, frozenset(measure.groups.items())))
        return None if found is None or found.weights or found.column or not found.parts else found

    def _owners(self, quantity: Quantity) -> NDArray[np.int64]:
        """Return the unit of each case: the case itself, or its premise or text; never its template."""
        return np.arange(len(self.clusters)) if quantity.has_templates else self.clusters


def _p_of_rate(rate: float, n: float, limit: float, side: Side) -> float:
    """Return the one-sided p of a rate of n cases."""
    if not 0 < limit < 1:  # nothing is below 0, and one failure is all the evidence against 1
        return 0.0 if (rate < limit if side == "below" else rate > limit) else 1.0
    return binomial_p(rate, n, limit, side)


def _side(rule: Rule, way: Way) -> Side:
    return "above" if (rule.kind == "at_most") == (way == "against") else "below"


def _from_interval(verdict: Verdict, limit: float) -> float:
    """Return the p value against "the limit is kept" from the ends of the interval, by the normal approximation."""
    low, high = verdict.measure.interval or UNDEFINED
    error = (high - low) / 2 / normal_quantile(0.95)
    value = _worth(verdict.rule, verdict.measure, verdict.measure.value or 0.0)
    away = (value - limit) / error if error else math.nan
    away = -away if verdict.rule.kind == "at_most" else away
    return 1.0 if math.isnan(away) else float(ndtr(away))


# Differences from a baseline


Key = tuple[str, frozenset[tuple[str, str]]]


def _key(row: Measure) -> Key:
    return row.of or row.name, frozenset(row.groups.items())


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference from the baseline."""

    measure: Measure
    changes: tuple[int, int] | None = None
    """Newly failing and fixed cases; None if nothing pairs the cases of the two."""


def _differences(result: Result, baseline: Result) -> dict[Key, Difference]:
    """Return the difference of the result from the baseline, by what is compared."""
    if result.outcomes and baseline.outcomes:
        # Gates use the rates and the ends of intervals, not p: a few shuffles are enough.
        compared = compare([baseline], [result], Choices(shuffles=100, power=False))
        differences = [
            Difference(difference_of(row, compared), (row.lost, row.gained)) for row in compared.rows
        ]
        return {_key(difference.measure): difference for difference in differences}
    _same_origin(result, baseline)
    before = {_key(row): row for row in judgeable(baseline.measures)}
    return {
        _key(row): Difference(_independent(row, before[_key(row)]))
        for row in judgeable(result.measures)
        if _key(row) in before
    }


def _same_origin(result: Result, baseline: Result) -> None:
    """Refuse a baseline that was made from other cases or under other rules."""
    new, old = _made_under(result), _made_under(baseline)
    differing = [
        f"{key}: {new.get(key)!r}, baseline {old.get(key)!r}" for key in new if new[key] != old.get(key)
    ]
    if differing:
        raise DataError(
            "the baseline was made from other cases or under other settings",
            why="; ".join(differing),
            fix="make the baseline anew, on the cases and under the settings of the result",
        )


def _made_under(result: Result) -> dict[str, Any]:
    identity = result.job.get("identity") or {}
    cases = identity.get("cases") or {}
    return {"protocol": result.job.get("protocol"), **cases, **scoring_of(result)}


def _independent(new: Measure, old: Measure) -> Measure:
    """Return the difference of two unpaired rates, from their intervals (Newcombe 1998, method 10)."""
    if new.value is None or old.value is None:
        why = _why_undefined(new)
        why = why if new.value is None else f"the baseline is undefined: {_why_undefined(old)}"
        return Measure("difference", None, 0, new.groups, na=new.na, of=new.name, reason=why)
    difference, interval = new.value - old.value, None
    if new.interval and old.interval:
        below = math.hypot(new.value - new.interval[0], old.interval[1] - old.value)
        above = math.hypot(new.interval[1] - new.value, old.value - old.interval[0])
        interval = (difference - below, difference + above)
    return Measure(
        "difference",
        difference,
        new.n,
        new.groups,
        interval,
        "newcombe" if interval else "",
        new.na,
        new.errors,
        UNPAIRED,
        of=new.name,
    )

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
from ..core.measures import quantity, shown, shown_p
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
            judged = [
                _if_decidable(verdict, measure, evidence, number)
                for verdict, measure in zip(judged, measures, strict=True)
            ]
            by_test = _on_evidence if rule.is_family and rule.judge == "upper bound" else _by_exact_test
            judged = by_test(judged, measures, evidence)
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
    marked = [row for row in rows if row.headline]
    if marked:
        return marked[:1]
    if not rows:
        raise PlanError(
            f"rule {number} matches nothing: {rule}",
            why="the result has nothing to judge",
            fix="a result with measures: shoal try … --json, or a job that is done",
        )
    fewest = min(_restricting(row) for row in rows)
    return [row for row in rows if _restricting(row) == fewest][:1]


def _restricting(row: Measure) -> int:
    return sum(value != "all" for value in row.groups.values())


def _agrees(wanted: Mapping[str, str], groups: Mapping[str, str]) -> bool:
    return all(
        groups[group] != "all" if value == EVERY else groups[group] == value
        for group, value in wanted.items()
    )


def _nothing(rule: Rule, number: int, rows: Sequence[Measure], candidates: Sequence[Measure]) -> PlanError:
    for group, value in rule.groups.items():
        known = list(dict.fromkeys(row.groups[group] for row in candidates if group in row.groups))
        if known and value not in (EVERY, *known):
            why = f"the result has {some(known, 8)}"
            return PlanError(
                f"rule {number} matches nothing: {rule}",
                why=why,
                fix=nearest(value, known) or 'one of those, or "*" for each of them',
            )
    groups = list(dict.fromkeys(group for row in rows for group in row.groups))
    unknown = next((group for group in rule.groups if group not in groups), "")
    why = f"the result has no {unknown}" if unknown else "no measure has all of these groups"
    return PlanError(
        f"rule {number} matches nothing: {rule}",
        why=f"{why}; its groups are {some(groups, 8)}" if groups else why,
        fix=nearest(unknown, groups) or "groups and values that stand together in shoal try … --json",
    )


# Judging


def _verdict(rule: Rule, measure: Measure, differences: "dict[Key, Difference] | None") -> Verdict:
    _refuse_per_cent(rule, measure)
    judged_measure, difference = measure, None
    if rule.is_relative:
        _refuse_no_direction(rule, measure)
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
    """Return the counts behind a verdict, and what its limit allows."""
    rule, row = verdict.rule, verdict.measure
    parts = []
    if difference is not None:
        if difference.changes is None:
            parts.append(UNPAIRED)
        else:
            lost, gained = difference.changes
            parts.append(f"{lost:,} newly failing, {gained:,} fixed")
            if measure.basis.mean_over == CASES:
                parts.append(f"{int(rule.limit * row.n + SLACK):,} net allowed")
    elif measure.basis.mean_over == CASES and row.value is not None and quantity(row).unit == "share":
        parts.append(
            f"{round(row.value * row.n):,} of {row.n:,} pass" if _counts(row) else f"{row.n:,} cases"
        )
    if rule.judge != "observed" and verdict.judged is not None:
        what = quantity(row.of or row.name)
        end = "lower" if (rule.judge == "lower bound") == (rule.kind != "at_most") else "upper"
        parts.append(f"{end} bound {shown(_worth(rule, row, verdict.judged), what, signed=rule.is_relative)}")
    return "; ".join(parts)


def _counts(row: Measure) -> bool:
    """Return whether a rate counts passes: the cases times the rate is a whole number."""
    passes = (row.value or 0.0) * row.n
    return row.name.endswith("pass rate") and abs(passes - round(passes)) < 1e-6


def _refuse_per_cent(rule: Rule, measure: Measure) -> None:
    if quantity(measure).unit == "share" and not 0 <= rule.limit <= 1:
        fix = f"{rule.kind} = {rule.limit / 100:g}" if 1 < rule.limit <= 100 else f"{rule.kind} = 0.9"
        raise PlanError(f"{rule}: a fraction between 0 and 1 is expected", fix=fix)


def _refuse_no_direction(rule: Rule, measure: Measure) -> None:
    if quantity(measure).direction not in ("higher", "lower"):
        raise PlanError(
            f"{rule}: {measure.name} has no better direction",
            fix="at_least, at_most or both in two rules",
        )


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


# Rules that no result of this size could meet, or miss


def _if_decidable(verdict: Verdict, measure: Measure, evidence: "_Evidence", number: int) -> Verdict:
    """Return the verdict if the rule can both pass and fail at this number of cases; else it is not judged."""
    if verdict.status not in ("met", "failed") or (problem := evidence.undecidable(verdict, measure)) is None:
        return verdict
    if not verdict.rule.is_family:
        bound = verdict.rule.judge
        raise PlanError(
            f"rule {number}: {verdict.rule}: {problem}",
            why=f'judge = "{bound}" on {verdict.measure.n:,} cases',
            fix='judge = "observed", more cases, or another limit',
        )
    return replace(verdict, status="not judged", judged=None, reason=problem)


# The test behind a bound


def _by_exact_test(
    verdicts: Sequence[Verdict], measures: Sequence[Measure], evidence: "_Evidence"
) -> list[Verdict]:
    """Confirm what the end of an interval concludes by a one-sided test at half the level.

    The end of Wilson's interval is not such a test: twenty cases at a rate of .95 are below it in 7.5 %, not in 2.5.
    """
    judged = []
    for verdict, measure in zip(verdicts, measures, strict=True):
        concluded: Status = "met" if verdict.rule.judge == "lower bound" else "failed"
        way: Way = "for" if concluded == "met" else "against"
        p = evidence.of_limit(verdict, measure, way) if verdict.status == concluded else None
        if p is None or p <= ALPHA / 2:
            judged.append(verdict)
            continue
        status: Status = "failed" if concluded == "met" else "met"
        reason = f"{verdict.reason}; exact one-sided p = {p:.3g} is above {ALPHA / 2:g}"
        judged.append(replace(verdict, status=status, reason=reason.removeprefix("; ")))
    return judged


def _on_evidence(
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
        if not known:
            judged.append(verdict)
            continue
        shown_value = shown_p(p)
        words = f"adjusted p {shown_value if shown_value.startswith('<') else '= ' + shown_value}"
        status: Status = "failed" if p <= ALPHA else "met"
        reason = "; ".join(filter(None, [verdict.reason, words if status == "failed" else ""]))
        judged.append(replace(verdict, status=status, reason=reason))
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
        if not self.known:
            return None if self.relative else _of_interval(verdict, way)
        rule, value, side = verdict.rule, verdict.measure.value or 0.0, _side(verdict.rule, way)
        limit = -rule.limit if rule.is_relative else rule.limit
        quantity = self._quantity(measure)
        if quantity is None:
            return None
        members, owners = [positions for _, positions in quantity.parts], self._owners(quantity)
        shared = sharing([owners[each] for each in members], [self.values[each] for each in members])
        if self.relative:
            if _lower_is_better(measure):
                return None
            tables = [paired_table(self.hits[0][each], self.hits[1][each], owners[each]) for each in members]
            return difference_p([table for table in tables if table.totals[-1]], limit, side, shared)
        rates = [cluster_table(self.hits[0][each], owners[each]) for each in members]
        rates = [table for table in rates if table.totals[-1]]
        if not 0 < limit < 1:  # nothing is below 0, and one failure is all the evidence against 1
            return 0.0 if (value < limit if side == "below" else value > limit) else 1.0
        return rate_p(rates, limit, side, shared)

    def undecidable(self, verdict: Verdict, measure: Measure) -> str | None:
        """Return why a rule on one group of cases can never fail, or never pass, at its size; None if it can."""
        rule, n = verdict.rule, self._cases(measure)
        if n is None or _lower_is_better(measure):
            return None
        best, worst = (1.0, 0.0) if rule.kind != "at_most" else (0.0, 1.0)
        if rule.judge == "lower bound" and not self.relative and not _passes(rule, n, best):
            return f"even {_outcome(rule, n)} cannot show that the limit is kept"
        if rule.judge == "upper bound" and not _fails(rule, n, worst, self.relative):
            what = f"{n} newly failing of {n}" if self.relative else _outcome(rule, n, worst=True)
            return f"even {what} does not fail it"
        return None

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


def _passes(rule: Rule, n: int, rate: float) -> bool:
    """Return whether a rule on the confident bound is met at this rate of n cases."""
    low, high = wilson(rate * n, n)
    if not 0 < rule.limit < 1:
        return (low >= rule.limit) if rule.kind == "at_least" else (high <= rule.limit)
    p = binomial_p(rate, n, rule.limit, _side(rule, "for"))
    return p <= ALPHA / 2 and (low >= rule.limit if rule.kind == "at_least" else high <= rule.limit)


def _fails(rule: Rule, n: int, rate: float, relative: bool) -> bool:
    """Return whether the worst outcome of n cases is evidence against a rule."""
    level = ALPHA if rule.is_family else ALPHA / 2
    if relative:
        return difference_p([paired_table(np.zeros(n), np.ones(n))], -rule.limit, "below") <= level
    if not 0 < rule.limit < 1:
        return rate < rule.limit if rule.kind == "at_least" else rate > rule.limit
    return binomial_p(rate, n, rule.limit, _side(rule, "against")) <= level


def _outcome(rule: Rule, n: int, *, worst: bool = False) -> str:
    """Return the best or the worst outcome of n cases for a rule, as a count."""
    return f"{n} of {n}" if (rule.kind == "at_least") != worst else f"0 of {n}"


def _side(rule: Rule, way: Way) -> Side:
    return "above" if (rule.kind == "at_most") == (way == "against") else "below"


def _of_interval(verdict: Verdict, way: Way) -> float | None:
    """Return the one-sided p value of a rate from the sample size behind its Wilson interval; None if it has none."""
    value, limit = verdict.measure.value or 0.0, verdict.rule.limit
    n = wilson_cases(value, verdict.measure.interval or UNDEFINED)
    return None if n is None or not 0 < limit < 1 else binomial_p(value, n, limit, _side(verdict.rule, way))


def _from_interval(verdict: Verdict, limit: float) -> float:
    """Return the same from the ends of the interval, by the normal approximation."""
    low, high = verdict.measure.interval or (math.nan, math.nan)
    error = (high - low) / 2 / normal_quantile(0.95)
    away = (
        (_worth(verdict.rule, verdict.measure, verdict.measure.value or 0.0) - limit) / error
        if error
        else math.nan
    )
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
    _comparable(result, baseline)
    before = {_key(row): row for row in judgeable(baseline.measures)}
    return {
        _key(row): Difference(_independent(row, before[_key(row)]))
        for row in judgeable(result.measures)
        if _key(row) in before
    }


def _comparable(result: Result, baseline: Result) -> None:
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
        why = (
            _why_undefined(new) if new.value is None else f"the baseline is undefined: {_why_undefined(old)}"
        )
        return Measure(
            "difference", None, 0, new.groups, None, "", new.na, new.errors, why, of=new.name, reason=why
        )
    interval = None
    if new.interval and old.interval:
        below = math.hypot(new.value - new.interval[0], old.interval[1] - old.value)
        above = math.hypot(new.interval[1] - new.value, old.value - old.interval[0])
        interval = (new.value - old.value - below, new.value - old.value + above)
    method = "newcombe" if interval else ""
    difference = new.value - old.value
    return Measure(
        "difference",
        difference,
        new.n,
        new.groups,
        interval,
        method,
        new.na,
        new.errors,
        UNPAIRED,
        of=new.name,
    )

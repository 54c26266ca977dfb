"""Rules and a result to verdicts: which are met, which are not, and by how much. Pure.

A relative rule compares with a baseline. Where both sides know how each case went, the difference is paired; where one
has measures only, the two are taken as independent, which is wider, and the verdict says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..claims import ALPHA, THESE_TEMPLATES, for_templates
from ..errors import DataError, PlanError, nearest, some
from ..measures import FEW_CASES, quantity, shown_p
from ..records import Case, Finding, Measure, Measures, Result, verdicts_of
from ..stats.hits import hits_of
from ..stats.intervals import UNDEFINED, normal_quantile, wilson_cases
from ..stats.limits import Side, binomial_p, difference_p, rate_p
from ..stats.multiplicity import holm
from ..stats.resampling import cluster_table, paired_table, sharing
from ..stats.sequential import below_e_value, look_limit, mean_below_e_value, worse_e_value
from .pairs import compare
from .quantities import Quantity, comparable
from .reach import on_few_templates
from .rows import Choices
from .rules import EVERY, Rule
from .sides import scoring_of

Floats = NDArray[np.float64]
Status = Literal["met", "failed", "error", "undefined", "passed over"]
"""`error`: the model gave no answer to some cases; `undefined`: there is no number to judge; both fail the gate.
`passed over`: undefined, and the rule allows that."""

Way = Literal["for", "against"]
"""Evidence that a limit is kept, or that it is missed."""

SLACK = 1e-12
"""9 of 10 reach 0.9, whatever binary fractions say."""
DECISIVE_CHECKS = ("label order",)
"""Self-checks that fail a gate: every number would be about other labels."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one rule went for one thing it looks at."""

    rule: Rule
    measure: Measure
    """What was judged: a measure, or its difference from the baseline."""
    status: Status
    judged: float | None
    """The end of the interval, or the point, that was held against the limit."""
    reason: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the gate stays open."""
        return self.status in ("met", "passed over")

    @property
    def name(self) -> str:
        """What was judged; a number, such as a threshold, says nothing without the measure and the other groups."""
        groups = [value for value in self.measure.groups.values() if value != "all"]
        measure = str(self.measure.facts.get("of", self.measure.name))
        if any(value.replace(".", "", 1).isdecimal() for value in groups):
            return ", ".join([measure, *groups])
        return groups[0] if groups else measure

    @property
    def room(self) -> float:
        """How far the judged number is on the right side of the limit; below 0 if it is not."""
        if self.judged is None:
            return -math.inf
        limit = -self.rule.limit if self.rule.is_relative else self.rule.limit
        return limit - self.judged if self.rule.kind == "at_most" else self.judged - limit


def judge(
    rules: Sequence[Rule], result: Result, baseline: Result | None = None, look: int | None = None
) -> list[Verdict]:
    """A verdict for each thing that each rule looks at; a rule that looks at nothing is an error.

    `look` counts the models that were looked at beside this baseline, for rules that are judged at any time.
    """
    differences: dict[Key, Measure] | None = None
    for rule in rules:
        if rule.judge == "anytime" and look is None:
            raise PlanError(
                f"{rule}: to judge at any time, the looks must be counted",
                fix="--looks looks.json, kept with the baseline",
            )
    if any(rule.is_relative for rule in rules):
        if baseline is None:
            relative = next(rule for rule in rules if rule.is_relative)
            raise PlanError(f"{relative}: no baseline to compare with", fix="--baseline RESULT")
        differences = _differences(result, baseline)
    verdicts: list[Verdict] = []
    for number, rule in enumerate(rules, start=1):
        measures = _looked_at(rule, number, result.measures)
        judged = [_verdict(rule, measure, differences) for measure in measures]
        if rule.is_family and rule.judge == "upper bound":
            judged = _on_evidence(judged, measures, result, baseline if rule.is_relative else None)
        elif rule.judge in ("lower bound", "upper bound"):
            judged = _by_exact_test(judged, measures, result, baseline if rule.is_relative else None)
        if rule.judge == "anytime" and look is not None:
            judged = _at_any_time(judged, measures, result, baseline if rule.is_relative else None, look)
        verdicts += judged
    return [*_of_checks(result), *verdicts]


def findings_of(verdicts: Sequence[Verdict]) -> list[Finding]:
    """What a reader of the verdicts must know: which of them speak of a few templates only."""
    judged = [verdict for verdict in verdicts if verdict.status in ("met", "failed")]
    return on_few_templates(
        {verdict.name: verdict.measure.facts for verdict in judged if verdict.rule.judge != "point"}
    )


def _of_checks(result: Result) -> list[Verdict]:
    """Self-checks that make every number worthless."""
    return [
        Verdict(
            Rule(measure="self-check", at_least=1.0),
            Measure("self-check", None, 0, {"check": check["name"]}),
            "error",
            None,
            check["detail"],
        )
        for check in result.job.get("checks", ())
        if check["ok"] is False and check["name"] in DECISIVE_CHECKS
    ]


# What a rule looks at


def judgeable(measures: Measures) -> list[Measure]:
    """The measures that a protocol says can be compared, and so can be judged."""
    return [row for row in measures if "mean over" in row.facts or "compare" in row.facts]


def _looked_at(rule: Rule, number: int, measures: Measures) -> list[Measure]:
    """The measures that a rule is about."""
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
    """What the protocol is about: marked as such, or the first with the fewest groups."""
    marked = [row for row in rows if row.facts.get("headline")]
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


def _verdict(rule: Rule, measure: Measure, differences: "dict[Key, Measure] | None") -> Verdict:
    _refuse_per_cent(rule, measure)
    judged_measure = measure
    if rule.is_relative:
        _refuse_no_direction(rule, measure)
        absent = Measure(
            "difference", None, 0, measure.groups, facts={"why": "the baseline does not have it"}
        )
        judged_measure = (differences or {}).get(_key(measure), absent)
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
    verdict = Verdict(rule, judged_measure, "met", judged, _caution(judged_measure))
    if verdict.room >= -SLACK:
        return verdict
    as_measured = Verdict(rule, judged_measure, "met", _worth(rule, judged_measure, judged_measure.value))
    doubt = as_measured.room >= -SLACK
    reason = "as measured it is met, but too uncertain: more cases would tell" if doubt else ""
    reasons = "; ".join(filter(None, [reason, _caution(judged_measure)]))
    return Verdict(rule, judged_measure, "failed", judged, reasons)


def _refuse_per_cent(rule: Rule, measure: Measure) -> None:
    if quantity(measure).unit == "share" and not 0 <= rule.limit <= 1:
        fix = f"{rule.kind} = {rule.limit / 100:g}" if 1 < rule.limit <= 100 else f"{rule.kind} = 0.9"
        raise PlanError(f"{rule}: a fraction between 0 and 1 is expected", fix=fix)


def _refuse_no_direction(rule: Rule, measure: Measure) -> None:
    if quantity(measure).direction not in ("higher", "lower"):
        raise PlanError(
            f"{rule}: neither more nor less of {measure.name} is worse",
            fix="at_least, at_most or both in two rules",
        )


def _worth(rule: Rule, measure: Measure, value: float) -> float:
    """A number so that more is better, for a rule about a difference: a measure may be better when it is lower."""
    return -value if rule.is_relative and _lower_is_better(measure) else value


def _lower_is_better(measure: Measure) -> bool:
    return quantity(str(measure.facts.get("of", measure.name))).direction == "lower"


def _judged(rule: Rule, measure: Measure) -> float | None:
    by_value = rule.judge in ("point", "anytime")
    if measure.value is None or (not by_value and measure.interval is None):
        return None
    ends = [measure.value] if by_value else list(measure.interval or ())
    worth = sorted(_worth(rule, measure, end) for end in ends)
    confident = 0 if rule.judge == "lower bound" else -1
    return worth[confident if rule.kind != "at_most" else -1 - confident]


def _why_undefined(measure: Measure) -> str:
    if "why" in measure.facts:
        return str(measure.facts["why"])
    if measure.na:
        return "no applicable case"
    return "the model answered no case" if measure.errors else "it has no value"


def _caution(measure: Measure) -> str:
    """What a reader of the verdict must know about the number."""
    if measure.facts.get("unpaired"):
        return "unpaired: one side has measures only"
    few = [f"{measure.n} cases"] if measure.n < FEW_CASES else []
    if THESE_TEMPLATES in measure.facts:
        return ", ".join([*few, for_templates(measure.facts[THESE_TEMPLATES])])
    shared = [f"{measure.facts['templates']} templates"] if "templates" in measure.facts else []
    return ", ".join([*few, *shared])


# The test beside the interval


def _by_exact_test(
    verdicts: Sequence[Verdict], measures: Sequence[Measure], result: Result, baseline: Result | None
) -> list[Verdict]:
    """What the end of an interval concludes stands only where the one-sided test agrees at half of the level.

    The end of Wilson's interval is no such test: twenty cases at a rate of .95 are below it in 7.5 %, not in 2.5.
    """
    paired = None if baseline is None else _Evidence(result, baseline)
    judged = []
    for verdict, measure in zip(verdicts, measures, strict=True):
        concluded: Status = "met" if verdict.rule.judge == "lower bound" else "failed"
        way: Way = "for" if concluded == "met" else "against"
        p = None
        if verdict.status == concluded:
            p = paired.of_limit(verdict, measure, way) if paired else _of_interval(verdict, way)
        if p is None or p <= ALPHA / 2:
            judged.append(verdict)
            continue
        words = f"not by the one-sided test: p = {p:.4g}, more than {ALPHA / 2:g}"
        status: Status = "failed" if concluded == "met" else "met"
        reason = "; ".join(filter(None, [words, _caution(verdict.measure)]))
        judged.append(replace(verdict, status=status, reason=reason))
    return judged


# Many at once


def _on_evidence(
    verdicts: Sequence[Verdict], measures: Sequence[Measure], result: Result, baseline: Result | None
) -> list[Verdict]:
    """Of a rule about each of many: those fail whose one-sided p, adjusted by Holm over all of them, is at most .05.

    The end of each interval by itself would fail some of thirty by chance in half of all gates.
    """
    decided = [verdict.status in ("met", "failed") for verdict in verdicts]
    evidence = _Evidence(result, baseline)
    raw = [
        evidence.against(verdict, measure) if known else math.nan
        for verdict, measure, known in zip(verdicts, measures, decided, strict=True)
    ]
    adjusted = holm(raw)
    judged = []
    for verdict, known, p in zip(verdicts, decided, adjusted.tolist(), strict=True):
        if not known:
            judged.append(verdict)
            continue
        shown = shown_p(p)
        words = f"adjusted p {shown if shown.startswith('<') else '= ' + shown} over {sum(decided)}"
        status: Status = "failed" if p <= ALPHA else "met"
        judged.append(
            replace(
                verdict, status=status, reason="; ".join(filter(None, [words, _caution(verdict.measure)]))
            )
        )
    return judged


def _at_any_time(
    verdicts: Sequence[Verdict],
    measures: Sequence[Measure],
    result: Result,
    baseline: Result | None,
    look: int,
) -> list[Verdict]:
    """Those fail whose e-value reaches the limit of this look: over all looks at most .05 of good histories do."""
    decided = [verdict.status in ("met", "failed") for verdict in verdicts]
    evidence, limit = _Evidence(result, baseline), look_limit(look, sum(decided), ALPHA)
    judged = []
    for verdict, measure, known in zip(verdicts, measures, decided, strict=True):
        if not known:
            judged.append(verdict)
            continue
        e = evidence.e_value(verdict, measure)
        status: Status = "failed" if e >= limit else "met"
        words = f"e = {e:.3g}, fails at {limit:,.0f}: look {look}"
        words += f", {sum(decided)} at once" if sum(decided) > 1 else ""
        reason = "; ".join(filter(None, [words, _caution(verdict.measure)]))
        judged.append(replace(verdict, status=status, reason=reason))
    return judged


def _hits_on(cases: Sequence[Case], side: Result) -> Floats:
    """Passes and failures of a result on these cases; NaN where it has neither."""
    hits = hits_of(verdicts_of(side.outcomes))
    if side.cases is cases:
        return hits
    place = {case.id: position for position, case in enumerate(side.cases)}
    places = np.array([place.get(case.id, -1) for case in cases], np.int64)
    return np.where(places < 0, math.nan, hits[places])


class _Evidence:
    """One-sided p values that a limit is missed, from the cases where they are known."""

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
        """The p value of "the limit is kept", against "it is missed"; from the interval where no test is known."""
        p = self.of_limit(verdict, measure, "against")
        limit = -verdict.rule.limit if verdict.rule.is_relative else verdict.rule.limit
        return _from_interval(verdict, limit) if p is None else p

    def of_limit(self, verdict: Verdict, measure: Measure, way: Way) -> float | None:
        """The one-sided p value for "the limit is kept", or against it; None where only the interval is known."""
        if not self.known:
            return None if self.relative else _of_interval(verdict, way)
        rule, value, side = verdict.rule, verdict.measure.value or 0.0, _side(verdict.rule, way)
        limit = -rule.limit if rule.is_relative else rule.limit
        quantity = self.parts.get((measure.name, frozenset(measure.groups.items())))
        if quantity is None or quantity.weights or quantity.column or not quantity.parts:
            return None
        members, owners = [positions for _, positions in quantity.parts], self._owners(quantity)
        if self.relative:
            if _lower_is_better(measure):
                return None
            tables = [paired_table(self.hits[0][each], self.hits[1][each], owners[each]) for each in members]
            shared = sharing([owners[each] for each in members], [self.values[each] for each in members])
            return difference_p([table for table in tables if table.totals[-1]], limit, side, shared)
        rates = [cluster_table(self.hits[0][each], owners[each]) for each in members]
        rates = [table for table in rates if table.totals[-1]]
        if not 0 < limit < 1:  # nothing is below 0, and one failure is all the evidence against 1
            return 0.0 if (value < limit if side == "below" else value > limit) else 1.0
        shared = sharing([owners[each] for each in members], [self.values[each] for each in members])
        return rate_p(rates, limit, side, shared)

    def e_value(self, verdict: Verdict, measure: Measure) -> float:
        """Evidence against "the limit is kept": at most 1 on average where it is."""
        if not self.known:
            raise DataError(
                f"{verdict.rule}: a result file cannot be judged at any time",
                why="how each case went is not in it",
                fix="the predictions or the job of the result, and of its baseline",
            )
        rule, quantity = verdict.rule, self.parts[measure.name, frozenset(measure.groups.items())]
        if not quantity.parts:
            raise PlanError(
                f"{rule}: {measure.name} rests on no cases that could be judged at any time",
                fix='judge = "upper bound"',
            )
        lower = rule.kind == "at_most" or (rule.is_relative and _lower_is_better(measure))
        values = self.values
        alone = self._alone(quantity, values)
        if alone is not None and self.relative and rule.limit == 0:
            better, worse = int((alone > 0).sum()), int((alone < 0).sum())
            return worse_e_value(worse, better) if lower else worse_e_value(better, worse)
        if alone is not None and not self.relative and 0 < rule.limit < 1:
            good, limit = int(alone.sum()), rule.limit
            n = len(alone)
            return below_e_value(n - good, n, 1 - limit) if lower else below_e_value(good, n, limit)
        limit = rule.limit - float(measure.facts.get("constant", 0.0))
        if self.relative:
            limit = rule.limit if lower else -rule.limit
        sums, most = self._room(quantity, values, limit, -1.0 if lower else 1.0)
        return mean_below_e_value(sums, 0.0, most) if most > 0 else 1.0

    @property
    def values(self) -> Floats:
        """What is judged of each case: its outcome, or how that differs from the baseline's."""
        return self.hits[0] - self.hits[1] if self.relative else self.hits[0]

    def _owners(self, quantity: "Quantity") -> NDArray[np.int64]:
        """The cluster of each case; each its own for what speaks of these templates only."""
        few = quantity.few_templates(self.clusters, self.values)
        return self.clusters if few is None else np.arange(len(self.clusters))

    def _alone(self, quantity: "Quantity", values: Floats) -> Floats | None:
        """The values of the one group of independent cases that it rests on; None where it rests on more."""
        if quantity.weights or len(quantity.parts) > 1:
            return None
        members = quantity.parts[0][1]
        known = members[~np.isnan(values[members])]
        owners = self._owners(quantity)[known]
        return values[known] if len(np.unique(owners)) == len(owners) else None

    def _room(self, quantity: "Quantity", values: Floats, limit: float, sign: float) -> tuple[Floats, float]:
        """What each cluster adds to "the sum less its limit", and the most that any could.

        `sign` is -1 where less is better.
        """
        weights = list(quantity.weights) or [1 / len(quantity.parts)] * len(quantity.parts)
        size = math.fsum(map(abs, weights))
        owners = self._owners(quantity)
        sums, highest = np.zeros(int(owners.max()) + 1), np.zeros(int(owners.max()) + 1)
        least = -1.0 if self.relative else 0.0
        for weight, (_, members) in zip(weights, quantity.parts, strict=True):
            known = members[~np.isnan(values[members])]
            if not len(known):
                continue
            part, own_limit = sign * weight, sign * limit * abs(weight) / size
            np.add.at(sums, owners[known], (part * values[known] - own_limit) / len(known))
            np.add.at(highest, owners[known], (max(part * least, part) - own_limit) / len(known))
        return sums, float(highest.max())


def _side(rule: Rule, way: Way) -> Side:
    return "above" if (rule.kind == "at_most") == (way == "against") else "below"


def _of_interval(verdict: Verdict, way: Way) -> float | None:
    """The one-sided p value of a rate, on the cases that stand behind its interval; None where it is not Wilson's."""
    value, limit = verdict.measure.value or 0.0, verdict.rule.limit
    n = wilson_cases(value, verdict.measure.interval or UNDEFINED)
    return None if n is None or not 0 < limit < 1 else binomial_p(value, n, limit, _side(verdict.rule, way))


def _from_interval(verdict: Verdict, limit: float) -> float:
    """The same from the ends of the interval, as if it were normal."""
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
    return str(row.facts.get("of", row.name)), frozenset(row.groups.items())


def _differences(result: Result, baseline: Result) -> dict[Key, Measure]:
    """What the result has more than the baseline, by what is compared."""
    if result.outcomes and baseline.outcomes:
        # The ends of intervals are judged, not p: a gate runs at every commit.
        choices = Choices(shuffles=100, could_see=False)
        rows = compare([baseline], [result], choices).measures.where("difference")
        return {_key(row): row for row in rows}
    _comparable(result, baseline)
    before = {_key(row): row for row in judgeable(baseline.measures)}
    return {
        _key(row): _independent(row, before[_key(row)])
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
    """A difference of two rates that nothing pairs, from their intervals (Newcombe 1998, method 10)."""
    facts: dict[str, Any] = {"of": new.name, "unpaired": True}
    if new.value is None or old.value is None:
        why = (
            _why_undefined(new) if new.value is None else f"the baseline is undefined: {_why_undefined(old)}"
        )
        return Measure(
            "difference", None, 0, new.groups, None, "", new.na, new.errors, why, facts={**facts, "why": why}
        )
    interval = None
    if new.interval and old.interval:
        below = math.hypot(new.value - new.interval[0], old.interval[1] - old.value)
        above = math.hypot(new.interval[1] - new.value, old.value - old.interval[0])
        interval = (new.value - old.value - below, new.value - old.value + above)
    method = "newcombe" if interval else ""
    note = "unpaired: one side has measures only"
    difference = new.value - old.value
    return Measure(
        "difference", difference, new.n, new.groups, interval, method, new.na, new.errors, note, facts=facts
    )

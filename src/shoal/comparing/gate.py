"""Rules and a result to verdicts: which are met, which are not, and why. Pure.

A relative rule compares with a baseline. If both sides have outcomes by case, the difference is paired. If one side has
measures only, the two count as independent: the interval is wider, and the verdict says so.

The population is new cases of the same templates: cases are the unit, except where a protocol's clusters are something
else (premises, texts). `judge` "observed" uses the rate itself; the bounds are confirmed by exact one-sided tests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..core.errors import DataError, PlanError, nearest, some
from ..core.measures import quantity, shown, unit_word
from ..core.records import PARTLY, Measure, Measures, Result
from ..models import variant_of
from .bounds import Evidence, by_tests, oriented
from .cases import CASES, judgeable, unusable
from .inference import Choices
from .pairs import compare, difference_of
from .rules import EVERY, Rule
from .unpaired import UNPAIRED, Key, independent, key_of, origin_differs, why_undefined
from .wording import observed, short_limit

USABLE = "usable model"
"""The rule that every gate has: the model reads its input and has learnt its task."""
Status = Literal["met", "failed", "error", "undefined", "not judged", "passed over"]
"""`error`: the model is unusable or left cases unanswered; `undefined`: the number is missing; `not judged`: at
its number of cases the rule could not fail, or could not pass. All three fail the gate. `passed over`: undefined, and
the rule allows that."""

SLACK = 1e-12
"""9 of 10 reach 0.9, whatever binary fractions say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one rule on one group."""

    rule: Rule
    source: Measure
    """The measure of the result that the rule is about."""
    measure: Measure
    """The judged measure: the source, or its difference from the baseline."""
    status: Status
    judged: float | None
    """The end of the interval, or the rate, that was compared with the limit."""
    reason: str = ""

    def __repr__(self) -> str:
        limit = f", limit {short_limit(self)}" if short_limit(self) else ""
        reason = f"; {self.reason}" if self.reason else ""
        return f"<{'✓' if self.is_met else '✗'} {self.name}: {observed(self)}{limit}{reason}>"

    @property
    def is_met(self) -> bool:
        """Return whether the rule is met, or skipped as it allows."""
        return self.status in ("met", "passed over")

    @property
    def name(self) -> str:
        """Return the group that the rule names; for a number such as a threshold, with measure and other groups."""
        groups = [value for value in self.measure.groups.values() if value != "all"]
        measure = self.measure.of or self.measure.name
        if any(value.replace(".", "", 1).isdecimal() for value in groups):
            return ", ".join([measure, *groups])
        named = [value for name, value in self.measure.groups.items() if self.rule.groups.get(name) == "*"]
        if prompt := self.measure.groups.get("prompt"):
            return f"{(named or [*groups[:-1], measure])[0]}, {prompt}"
        return (named or groups or [measure])[0]

    @property
    def room(self) -> float:
        """Return the distance of the judged number from the limit; below 0 on the wrong side."""
        if self.judged is None:
            return -math.inf
        limit = -self.rule.limit if self.rule.is_relative else self.rule.limit
        return limit - self.judged if self.rule.kind == "at_most" else self.judged - limit


def judge_by_prompt(
    rules: Sequence[Rule], results: Sequence[Result], baselines: Sequence[Result] = ()
) -> list[Verdict]:
    """Return the verdicts on one result, or on a model under several prompts: each against its prompt's baseline."""
    if len(results) == 1 and len(baselines) < 2:
        return judge(rules, results[0], *baselines)
    variants, earlier = (
        {variant_of(str(result.job.get("model", ""))): result for result in side}
        for side in (results, baselines)
    )
    if () in variants or len(variants) < len(results) or (baselines and set(earlier) != set(variants)):
        raise PlanError(
            f"{len(results)} results and {len(baselines)} baselines do not belong together",
            why="several results are one model under different prompts, with a baseline for each prompt",
            fix="run a gate for each model, or give the same prompts on both sides",
        )
    return [
        replace(
            verdict, measure=replace(verdict.measure, groups={**verdict.measure.groups, "prompt": variant[0]})
        )
        for variant, result in variants.items()
        for verdict in judge(rules, result, earlier.get(variant))
    ]


def judge(rules: Sequence[Rule], result: Result, baseline: Result | None = None) -> list[Verdict]:
    """Return a verdict for each group that each rule judges; a rule that matches no group is an error."""
    differences: dict[Key, Measure] = {}
    before: dict[Key, Measure] = {}
    for relative in [rule for rule in rules if rule.is_relative][:1]:
        if baseline is None:
            raise PlanError(f"{relative}: no baseline to compare with", fix="--baseline RESULT")
        before = {key_of(row): row for row in judgeable(baseline.measures)}
        differences = _differences(result, baseline, before)
    verdicts: list[Verdict] = []
    for number, rule in enumerate(rules, start=1):
        measures = _looked_at(rule, number, result.measures)
        judged = [_verdict(rule, measure, differences, before) for measure in measures]
        if rule.judge != "observed":
            evidence = Evidence(result, baseline if rule.is_relative else None)
            judged = by_tests(judged, evidence, number)
        verdicts += judged
    usable = Rule(measure=USABLE, at_least=1.0)
    dead = []
    for finding in unusable(result):
        check = Measure(USABLE, None, 0, {"check": finding.kind})
        dead.append(Verdict(usable, check, check, "error", None, finding.text))
    return [*dead, *verdicts]


# Measures that a rule applies to


def _looked_at(rule: Rule, number: int, measures: Measures) -> list[Measure]:
    """Return the measures that a rule is about."""
    rows = [row for row in measures if row.name == rule.measure] if rule.measure else judgeable(measures)
    if rows and not rule.groups:
        # The main measure of the protocol: marked as such, or the first with the fewest groups.
        marked = [row for row in rows if row.headline] or rows
        return [min(marked, key=lambda row: sum(value != "all" for value in row.groups.values()))]
    candidates = [row for row in rows if rule.groups.keys() <= row.groups.keys()]
    fewest = min((len(row.groups) for row in candidates), default=0)
    candidates = [row for row in candidates if len(row.groups) == fewest]
    chosen = [
        row
        for row in candidates
        if all(
            row.groups[name] != "all" if value == EVERY else row.groups[name] == value
            for name, value in rule.groups.items()
        )
    ]
    if not chosen:
        raise _nothing(rule, number, rows, measures)
    names = list(dict.fromkeys(row.name for row in chosen))
    if len(names) > 1 or (len(chosen) > 1 and not rule.is_family):
        others = [group.replace(" ", "_") for group in chosen[0].groups if group not in rule.groups]
        one_name = f'measure = "{names[0]}"'
        raise PlanError(
            f"rule {number} selects {len(chosen)} groups at once: {rule}",
            fix=one_name if len(names) > 1 or not others else f'{others[0]} = "*" for each of them',
        )
    return chosen


MEASURED_BY = {"suite score": "behaviour", "G": "learning", "gap": "cood", "pattern accuracy": "merge"}
MEASURED_BY |= dict.fromkeys(("stereotype score", "icat", "bias score", "effect size"), "bias")


def _nothing(rule: Rule, number: int, rows: Sequence[Measure], measures: Measures) -> PlanError:
    """Return the error for a rule without a measure; it lists the measures, the groups, or the values of a group."""
    values: dict[str, dict[str, None]] = {}
    for row in rows:
        for group, value in row.groups.items():
            values.setdefault(group, {})[value] = None
    word, known = next((group for group in rule.groups if group not in values), ""), list(values)
    for group, value in rule.groups.items():
        if group in values and value not in (EVERY, *values[group]):
            word, known = value, list(values[group])
    if not rows:
        word, known = rule.measure, list(dict.fromkeys(row.name for row in measures))
    protocol = "" if rows else MEASURED_BY.get(rule.measure, "")
    other = protocol and f"a result that has this measure, such as one of the {protocol} protocol"
    return PlanError(
        f"rule {number} matches nothing: {rule}",
        why=f"the result has {some(known, 8)}" if known else "the result has nothing to judge",
        fix=other or nearest(word, known) or "groups and values of one measure in `shoal try … --json`",
    )


# Judging


def _verdict(
    rule: Rule, measure: Measure, differences: Mapping[Key, Measure], before: Mapping[Key, Measure]
) -> Verdict:
    _check_unit(rule, measure)
    judged, unanswered = measure, _unanswered("the model", measure)
    if rule.is_relative:
        absent = Measure("difference", None, 0, measure.groups, reason="not in the baseline")
        judged = differences.get(key_of(measure), absent)
        unanswered += _unanswered("the baseline", before.get(key_of(measure)))
    verdict = Verdict(rule, measure, judged, "met", _judged(rule, judged))
    if unanswered and not rule.allow_errors:
        return replace(verdict, status="error", judged=None, reason="; ".join(unanswered))
    if judged.value is None and rule.allow_undefined:
        return replace(verdict, status="passed over", reason=why_undefined(judged))
    if judged.value is None:
        why = f"{why_undefined(judged)}; allow_undefined = true in the rule accepts this"
        return replace(verdict, status="undefined", reason=why)
    if verdict.judged is None:
        return replace(verdict, status="undefined", reason="this rule judges an interval, and there is none")
    verdict = verdict if verdict.room >= -SLACK else replace(verdict, status="failed")
    return replace(verdict, reason=_reason(verdict))


def _unanswered(who: str, measure: Measure | None) -> list[str]:
    """Return how many cases have no answer, and how many have none in some epochs."""
    if measure is None:
        return []
    asked = measure.n + measure.na + measure.errors
    counts = {"": measure.errors, " in some epochs": measure.facts.get(PARTLY, 0)}
    return [
        f"{who} gave no answer to {count:,} of {asked:,} cases{where}"
        for where, count in counts.items()
        if count
    ]


def _reason(verdict: Verdict) -> str:
    """Return the counts behind a verdict, what its limit allows, and the bound that was judged."""
    rule, row = verdict.rule, verdict.measure
    is_rate = verdict.source.basis.mean_over == CASES
    parts = []
    if rule.is_relative and row.facts:
        allowed = f" (at most {int(rule.limit * row.n + SLACK):,} more failures allowed)" if is_rate else ""
        parts.append(", ".join(f"{count:,} {change}" for change, count in row.facts.items()) + allowed)
    elif rule.is_relative:
        parts.append(UNPAIRED)
    elif is_rate and row.value is not None and quantity(row).unit == "share":
        passes = row.value * row.n
        counts = row.name.endswith("pass rate") and abs(passes - round(passes)) < 1e-6
        parts.append(f"{round(passes):,} of {row.n:,} pass" if counts else f"{row.n:,} cases")
    if rule.judge != "observed" and verdict.judged is not None:
        end = "lower" if (rule.judge == "lower bound") == (rule.kind != "at_most") else "upper"
        value, what = oriented(rule, row, verdict.judged), quantity(row.of or row.name)
        unit = "" if rule.is_relative else unit_word(row)
        bound = f"{shown(value, what, signed=rule.is_relative)}{unit}"
        if not rule.is_family or rule.judge == "lower bound":
            parts.append(f"{end} bound {bound}")
        elif verdict.is_met and not rule.is_relative and replace(verdict, judged=row.value).room < 0:
            parts.append(f"met: judged by its {end} bound, {bound}")
    return "; ".join(parts)


def _check_unit(rule: Rule, measure: Measure) -> None:
    """Raise an error for a limit in per cent, and for a difference of a measure that has no better direction."""
    what = quantity(measure)
    if what.unit == "share" and not 0 <= rule.limit <= 1:
        fix = f"{rule.kind} = {rule.limit / 100:g}" if 1 < rule.limit <= 100 else f"{rule.kind} = 0.9"
        raise PlanError(f"{rule}: a fraction between 0 and 1 is expected", fix=fix)
    if rule.is_relative and what.direction not in ("higher", "lower"):
        raise PlanError(f"{rule}: {measure.name} has no better direction", fix="at_least or at_most")


def _judged(rule: Rule, measure: Measure) -> float | None:
    observed = rule.judge == "observed"
    if measure.value is None or (not observed and measure.interval is None):
        return None
    ends = [measure.value] if observed else list(measure.interval or ())
    worth = sorted(oriented(rule, measure, end) for end in ends)
    confident = 0 if rule.judge == "lower bound" else -1
    return worth[confident if rule.kind != "at_most" else -1 - confident]


# Differences from a baseline


def _differences(result: Result, baseline: Result, before: Mapping[Key, Measure]) -> dict[Key, Measure]:
    """Return the difference of the result from the baseline, by what is compared."""
    if result.outcomes and baseline.outcomes:
        # Gates use the rates and the ends of intervals, not p: a few shuffles are enough.
        compared = compare([baseline], [result], Choices(shuffles=100, power=False))
        differences = [
            replace(difference_of(row, compared), facts={"newly failing": row.lost, "fixed": row.gained})
            for row in compared.rows
        ]
        return {key_of(difference): difference for difference in differences}
    if differing := origin_differs(result, baseline, "baseline"):
        raise DataError(
            "the baseline was made from other cases or under other settings",
            why=differing,
            fix="compute the baseline again, with the cases and settings of the result",
        )
    return {
        key_of(row): independent(row, before[key_of(row)])
        for row in judgeable(result.measures)
        if key_of(row) in before
    }

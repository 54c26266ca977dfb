"""Rules and a result to verdicts: which are met, which are not, and by how much. Pure.

A relative rule compares with a baseline. Where both sides know how each case went, the difference is paired; where one
has rates only, the two rates are taken as independent, which is wider, and the verdict says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import DataError, PlanError, nearest, some
from ..protocols.behaviour.pairs import Choices, compare, scoring_of
from ..protocols.behaviour.score import FEW_CASES
from ..records import Measure, Measures, Result
from .rules import EVERY, Rule

Status = Literal["met", "failed", "error", "undefined", "passed over"]
"""`error`: the model gave no answer to some cases; `undefined`: there is no number to judge; both fail the gate.
`passed over`: undefined, and the rule allows that."""

UNPAIRED = "unpaired: one side has rates only"
SLACK = 1e-12
"""9 of 10 reach 0.9, whatever binary fractions say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one rule went for one thing it looks at."""

    rule: Rule
    measure: Measure
    """The pass rate, or the difference from the baseline, that was judged."""
    status: Status
    judged: float | None
    """The end of the interval, or the point, that had to reach the rule's limit."""
    reason: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the gate stays open."""
        return self.status in ("met", "passed over")

    @property
    def name(self) -> str:
        """What was judged."""
        groups = self.measure.groups
        return groups.get("functionality") or next(iter(groups.values()), "suite score")


def judge(rules: Sequence[Rule], result: Result, baseline: Result | None = None) -> list[Verdict]:
    """A verdict for each thing that each rule looks at; a rule that looks at nothing is an error."""
    differences = None
    if any(rule.is_relative for rule in rules):
        if baseline is None:
            relative = next(rule for rule in rules if rule.is_relative)
            raise PlanError(f"{relative}: no baseline to compare with", fix="--baseline RESULT")
        differences = _differences(result, baseline)
    return [
        _verdict(rule, rate, differences)
        for number, rule in enumerate(rules, start=1)
        for rate in _looked_at(rule, number, result.measures)
    ]


def rates_of(measures: Measures) -> list[Measure]:
    """The pass rates and the suite score of one model."""
    return [row for row in measures if row.name in ("pass rate", "suite score")]


def _looked_at(rule: Rule, number: int, measures: Measures) -> list[Measure]:
    """The rates that a rule is about."""
    wanted = rule.wanted
    level = {"functionality", "capability", "test type"} if rule.functionality is not None else set(wanted)
    candidates = [row for row in rates_of(measures) if set(row.groups) == level]
    found = [
        row
        for row in candidates
        if all(value in (EVERY, row.groups[group]) for group, value in wanted.items())
    ]
    if not found:
        group, value = next(iter(wanted.items()), ("suite score", ""))
        known = list(dict.fromkeys(row.groups[group] for row in candidates if group in row.groups))
        raise PlanError(
            f"rule {number} matches nothing: {rule}",
            why=f"the result has {some(known, 8)}" if known else f"the result has no {group}",
            fix=nearest(value, known),
        )
    return found


def _verdict(
    rule: Rule, rate: Measure, differences: dict[frozenset[tuple[str, str]], Measure] | None
) -> Verdict:
    measure = rate if differences is None or not rule.is_relative else differences.get(_key(rate))
    if measure is None:
        measure = Measure("difference", None, 0, rate.groups, note="the baseline does not have it")
    if rate.errors and not rule.allow_errors:
        reason = f"the model gave no answer to {rate.errors:,} of {rate.n + rate.na + rate.errors:,} cases"
        return Verdict(rule, measure, "error", None, reason)
    if measure.value is None:
        reason = measure.note
        return Verdict(rule, measure, "passed over" if rule.allow_undefined else "undefined", None, reason)
    judged = _judged(rule, measure)
    if judged is None:
        return Verdict(rule, measure, "undefined", None, "no interval to judge by")
    if judged >= rule.limit - SLACK:
        return Verdict(rule, measure, "met", judged, _caution(measure))
    doubt = measure.value >= rule.limit - SLACK
    reason = "as measured it is met, but too uncertain: more cases would tell" if doubt else ""
    return Verdict(rule, measure, "failed", judged, "; ".join(filter(None, [reason, _caution(measure)])))


def _caution(measure: Measure) -> str:
    """What a reader of the verdict must know about the number; the measure's note has the rest."""
    if measure.note == UNPAIRED:
        return UNPAIRED
    few = [f"{measure.n} cases"] if measure.n < FEW_CASES else []
    # Such intervals take the cases as independent (docs/decisions/0003): too narrow for new templates.
    shared = [part.partition(":")[0] for part in measure.note.split("; ") if "templates:" in part]
    return ", ".join([*few, *(f"only {words}" for words in shared)])


def _judged(rule: Rule, measure: Measure) -> float | None:
    if rule.judge == "point":
        return measure.value
    if measure.interval is None:
        return None
    return measure.interval[0 if rule.judge == "lower bound" else 1]


def _key(row: Measure) -> frozenset[tuple[str, str]]:
    return frozenset(row.groups.items())


def _differences(result: Result, baseline: Result) -> dict[frozenset[tuple[str, str]], Measure]:
    """What the result has more than the baseline, by what is compared."""
    if result.outcomes and baseline.outcomes:
        # 2,000 resamples are enough for an end of an interval; a gate runs at every commit.
        found = compare([baseline], [result], Choices(resamples=2000)).measures.where("difference")
        return {_key(row): row for row in found}
    _same_settings(result, baseline)
    old = {_key(row): row for row in rates_of(baseline.measures)}
    return {
        _key(row): _independent(row, old[_key(row)]) for row in rates_of(result.measures) if _key(row) in old
    }


def _same_settings(result: Result, baseline: Result) -> None:
    new, old = ({**scoring_of(one.job), "split": _split(one)} for one in (result, baseline))
    differing = [f"{key}: {new[key]!r}, baseline {old[key]!r}" for key in new if new[key] != old[key]]
    if differing:
        raise DataError(
            "the baseline was made under other settings",
            why="; ".join(differing),
            fix="make the baseline anew, under the settings of the result",
        )


def _split(result: Result) -> str:
    """The part of the suite, without the folder that a split file lies in."""
    return str((result.job.get("settings") or {}).get("split", "")).rpartition("/")[2]


def _independent(new: Measure, old: Measure) -> Measure:
    """A difference of two rates that nothing pairs, from their intervals (Newcombe 1998, method 10)."""
    if new.value is None or old.value is None:
        why = new.note if new.value is None else f"the baseline is undefined: {old.note}"
        return Measure("difference", None, 0, new.groups, None, "", new.na, new.errors, why)
    interval = None
    if new.interval and old.interval:
        below = math.hypot(new.value - new.interval[0], old.interval[1] - old.value)
        above = math.hypot(new.interval[1] - new.value, old.value - old.interval[0])
        interval = (new.value - old.value - below, new.value - old.value + above)
    method = "newcombe" if interval else ""
    difference = new.value - old.value
    return Measure(
        "difference", difference, new.n, new.groups, interval, method, new.na, new.errors, UNPAIRED
    )

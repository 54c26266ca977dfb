"""Verdicts of a gate as sections: failed rules first, each with its reason, then the passed ones, then the verdict."""

from collections.abc import Sequence
from typing import Any

from ..core.measures import quantity, shown, unit_word
from ..core.records import Result
from ..core.views import Cell, Column, Section, Table, Tone, Words
from ..core.views import Row as TableRow
from .judge import Status, Verdict
from .rules import Rule
from .sides import EXCUSED_CHECKS

TONES: dict[Status, Tone] = {
    "met": "good",
    "failed": "bad",
    "error": "bad",
    "undefined": "bad",
    "not judged": "bad",
    "passed over": "quiet",
}
SHOWN, TIGHTEST = 20, 3
"""How many failed, and how many passed, things of one rule are listed."""


def verdict_sections(verdicts: Sequence[Verdict], result: Result) -> list[Section]:
    """Return the verdict, then a line for each thing that failed, then one for each that passed."""
    failed = [verdict for verdict in verdicts if not verdict.is_met]
    passed = [verdict for verdict in verdicts if verdict.is_met]
    rules = list({id(verdict.rule): verdict.rule for verdict in verdicts}.values())
    missed = [rule for rule in rules if any(verdict.rule is rule for verdict in failed)]
    total = f"{len(rules)} rule{'s' if len(rules) != 1 else ''}"
    answer = (
        Words(f"Gate not met: {len(missed)} of {total} failed (exit code 3).", ("strong", "bad"))
        if failed
        else Words(f"Gate met: {total} passed (exit code 0).", ("strong", "good"))
    )
    tightest = sorted(passed, key=lambda verdict: verdict.room)
    rows = [row for rule in rules for row in _rows(failed, rule, "failed")]
    rows += [row for rule in rules for row in _rows(tightest, rule, "passed")]
    notes = [
        f"! {check['name']}: {check['detail']}"
        for check in result.job.get("checks", ())
        if check["ok"] is False and check["name"] in EXCUSED_CHECKS
    ]
    titles = ("", "", "observed", "limit", "")
    columns = [Column(title, "right" if title == "observed" else "left") for title in titles]
    return [Section(text=[answer], blocks=[Table(columns, rows)], notes=notes[:3])]


def _rows(verdicts: Sequence[Verdict], rule: Rule, went: str) -> list[TableRow]:
    """Return the lines of one rule; of many that passed, the tightest and a count."""
    own = [verdict for verdict in verdicts if verdict.rule is rule]
    most = SHOWN if went == "failed" else TIGHTEST
    lines = [TableRow(_cells(verdict)) for verdict in own[:most]]
    if len(own) > most:
        lines.append(TableRow(["", "", "", "", Words(f"… {len(own) - most} more {went}: --json", "quiet")]))
    return lines


def _cells(verdict: Verdict) -> list[Cell]:
    tone = TONES[verdict.status]
    mark = "✓" if verdict.is_met else "✗"
    return [
        Words(mark, tone),
        Words(verdict.name, "" if verdict.is_met else tone),
        _observed(verdict),
        Words(wanted(verdict), "quiet"),
        Words(verdict.reason, "quiet" if verdict.is_met else ""),
    ]


def _observed(verdict: Verdict) -> str:
    row = verdict.measure
    if row.value is None:
        return {"error": "unusable", "passed over": "none"}.get(verdict.status, "undefined")
    return f"{shown(row.value, quantity(row))}{unit_word(row)}"


def wanted(verdict: Verdict) -> str:
    """Return what the rule asks for, in a few words."""
    rule, row = verdict.rule, verdict.measure
    if row.name == "usable model":
        return ""
    what = quantity(str(row.facts.get("of", row.name)))
    if rule.is_relative:
        lower = what.direction == "lower"
        sign = "≤ +" if lower else "≥ −"
        return f"{sign}{shown(rule.limit, what, signed=False)}"
    unit = " %" if what.unit == "share" else ""
    return f"{'≤' if rule.kind == 'at_most' else '≥'} {shown(rule.limit, what, signed=False)}{unit}"


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as the gate's JSON object shows it."""
    rule, row = verdict.rule, verdict.measure
    return {
        "rule": str(rule),
        "measure": str(row.facts.get("of", row.name)),
        "groups": dict(row.groups),
        "status": verdict.status,
        "met": verdict.is_met,
        "limit": -rule.limit if rule.is_relative else rule.limit,
        "judge": rule.judge,
        "judged": verdict.judged,
        "value": row.value,
        "interval": list(row.interval) if row.interval else None,
        "n": row.n,
        "reason": verdict.reason,
    }

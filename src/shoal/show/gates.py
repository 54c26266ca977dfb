"""Verdicts in the terminal and as JSON: what failed first, with rate, interval, n and what was wanted."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..gates.judge import Verdict
from ..gates.junit import number

STYLES = {"met": "green", "failed": "red", "error": "red", "undefined": "red", "passed over": "dim"}
MARKS = {"met": "✓", "failed": "✗", "error": "✗", "undefined": "✗", "passed over": "·"}


def print_verdicts(verdicts: Sequence[Verdict], console: Console | None = None) -> None:
    """The rules that are not met, each with its numbers, then a summary; where all are, the tightest few."""
    console = console or Console(highlight=False)
    failed = [verdict for verdict in verdicts if not verdict.is_met]
    over = sum(verdict.status == "passed over" for verdict in verdicts)
    aside = f", {over} passed over: no applicable case" if over else ""
    if failed:
        console.print(_table(failed))
        words = f"\nGate not met: {len(failed)} of {len(verdicts)} checks failed{aside}."
        console.print(Text(words, "bold red"))
        return
    judged = [verdict for verdict in verdicts if verdict.judged is not None]
    tightest = sorted(judged, key=lambda verdict: (verdict.judged or 0) - verdict.rule.limit)[:3]
    if tightest:
        console.print(_table(tightest))
    shown = " The tightest are shown." if len(judged) > len(tightest) else ""
    console.print(Text(f"\nGate met: {len(judged)} checks{aside}.{shown}", "bold green"))


def _table(verdicts: Sequence[Verdict]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("what", overflow="fold", max_width=46)
    table.add_column("found", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("wanted", no_wrap=True)
    table.add_column("", overflow="fold", ratio=1)
    for verdict in verdicts:
        style = STYLES[verdict.status]
        table.add_row(
            Text(MARKS[verdict.status], style),
            Text(verdict.name, style if not verdict.is_met else ""),
            Text(number(verdict.measure) if verdict.status != "error" else "error"),
            Text(f"{verdict.measure.n:,}", "dim"),
            Text(wanted(verdict)),
            Text(verdict.reason, "dim"),
        )
    return table


def wanted(verdict: Verdict) -> str:
    """What the rule asks, in a few words."""
    rule = verdict.rule
    limit = (
        f"{100 * rule.limit:+.1f} points".replace("-", "−")
        if rule.is_relative
        else f"{100 * rule.limit:.1f} %"
    )
    return f"{rule.judge} ≥ {limit}"


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as the gate's JSON object shows it."""
    rule, row = verdict.rule, verdict.measure
    return {
        "rule": str(rule),
        "groups": dict(row.groups),
        "status": verdict.status,
        "met": verdict.is_met,
        "limit": rule.limit,
        "judge": rule.judge,
        "judged": verdict.judged,
        "value": row.value,
        "interval": list(row.interval) if row.interval else None,
        "n": row.n,
        "reason": verdict.reason,
    }

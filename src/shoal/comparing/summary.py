"""The first screen of a page about two models: which is better, what got worse and better, one chart."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.measures import quantity, shown
from ..core.records import Basis, Measure
from ..core.views import Card, Cell, Column, Dots, Number, Summary, Table, Tone, Words
from ..core.views import Row as TableRow
from .inference import Row
from .pairs import Comparison, difference_of
from .wording import (
    both_sides,
    counted,
    difference_text,
    disagreement,
    interval_text,
    overall_verdict,
    unit,
)

LISTED = 4
"""The number of rows that a card lists."""
CHARTED = 20
"""The most rows that a chart has."""


def comparison_summary(comparison: Comparison, a: str = "A", b: str = "B") -> Summary:
    """Return the verdict, the cards and the chart of a comparison of model `b` with model `a`."""
    overall = comparison.overall
    rows = comparison.by(comparison.finest) if comparison.finest else []
    fine = [row for row in rows if row.difference is not None]  # the others have no applicable case
    worse, better = _changed(fine, better=False), _changed(fine, better=True)
    verdict, tone = _verdict(comparison, worse, a, b)
    unusable = [finding.text for finding in comparison.findings]
    if unusable:
        verdict, tone = f"Not comparable: {unusable[0]}", "bad"
    cards = [_overall_card(overall, comparison.headline)]
    text = ""
    if fine:
        unclear = len(fine) - len(worse) - len(better)
        told = f"{counted(len(worse), comparison.finest)} got worse"
        counts = [] if told in verdict else [told]
        counts += [f"{len(better)} got better", f"{unclear} without a clear change"]
        text = f"{', '.join(counts)}."
        listed = _card_rows(worse) or [("none", "")]
        cards.append(Card(f"Got worse: {len(worse)} of {len(fine)}", rows=listed))
    if better:
        cards.append(Card(f"Got better: {len(better)}", rows=_card_rows(better)))
    return Summary(verdict, tone, text, cards, _chart(comparison, a, b))


def _changed(rows: Sequence[Row], *, better: bool) -> list[Row]:
    """Return the rows that changed significantly in one direction, the largest change first."""
    changed = [row for row in rows if row.change == ("good" if better else "bad")]
    return sorted(changed, key=lambda row: -abs(row.difference or 0.0))


def _verdict(comparison: Comparison, worse: Sequence[Row], a: str, b: str) -> tuple[str, Tone]:
    overall = comparison.overall
    if overall.difference is None:
        return f"{a} and {b} have no applicable case in common", "doubt"
    lost = f"{counted(len(worse), comparison.finest)} got worse"
    if contradiction := disagreement(comparison):
        return f"{b}: {contradiction[0].lower()}{contradiction[1:]}" + (f"; {lost}" if worse else ""), "doubt"
    verdict = overall_verdict(overall, a, b)
    if worse and overall.change != "bad":
        return f"{verdict}, but {lost}", "doubt"
    return verdict, overall.change


def _overall_card(row: Row, headline: Row) -> Card:
    lines = [both_sides(row)] if row.measure == "pass rate" and row.runs == (1, 1) else []
    if row.difference is not None:
        interval = f" (95 % CI {interval_text(row)})" if row.interval else ""
        lines.append(f"{difference_text(row)}{unit(row)}{interval}")
    if headline is not row and headline.difference is not None:
        change = f"{difference_text(headline)}{unit(headline)} {headline.mark}".strip()
        lines.append(f"{both_sides(headline)} ({change})")
    number = _both(row) + (" %" if quantity(row.measure).unit == "share" else "")
    return Card(f"Overall: {row.measure}", Words(number, row.change), lines)


def _both(row: Row, digits: int | None = None) -> str:
    what = quantity(row.measure)
    what = what if digits is None or what.unit != "share" else replace(what, digits=digits)
    a, b = (shown(rate, what) for rate in row.rates)
    return f"{a} → {b}"


def _card_rows(rows: Sequence[Row]) -> list[tuple[str, Cell]]:
    listed: list[tuple[str, Cell]] = [
        (row.name, Words(f"{_both(row, 0)} {row.mark}".strip(), row.change)) for row in rows[:LISTED]
    ]
    more = len(rows) - LISTED
    return [*listed, *([(f"{more} more", "")] if more > 0 else [])]


def _rate_of_b(row: Row) -> float:
    return 1.0 if row.rates[1] is None else row.rates[1]


def _chart(comparison: Comparison, a: str, b: str) -> Table | None:
    """Return both rates of each row of the coarsest level, worse ones first."""
    levels: dict[str, list[Row]] = {}
    for row in comparison.rows:
        if row.level and row.difference is not None and quantity(row.measure).unit == "share":
            levels.setdefault(row.level, []).append(row)
    fitting = {level: rows for level, rows in levels.items() if 2 <= len(rows) <= CHARTED}
    if not fitting:
        return None
    level = "capability" if "capability" in fitting else max(fitting, key=lambda name: len(fitting[name]))
    rows = sorted(fitting[level], key=lambda row: (row.change != "bad", _rate_of_b(row)))
    heads = [Column(level, "left"), Column(a, spare=True), Column(b, spare=True), Column("diff")]
    title = f"{rows[0].measure.capitalize()} by {level}, in % (○ {a}, ● {b})"
    return Table(
        [*heads, Column("", "left", scale=(0.0, 1.0))],
        [_chart_row(row, comparison) for row in rows],
        title=title,
        legend=["▲ ▼ significant after correction within the level."],
    )


def _chart_row(row: Row, comparison: Comparison) -> TableRow:
    old, new = (
        Measure(row.measure, rate, row.n, row.groups, basis=Basis(mean_over="cases")) for rate in row.rates
    )
    change = Number(difference_of(row, comparison), row.change, row.mark)
    dots = Dots([old, new], (0.0, 1.0), None, row.change or "third", True)
    return TableRow([row.name, Number(old), Number(new), change, dots])

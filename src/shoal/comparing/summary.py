"""The first screen of a page about two models: which is better, what got worse, fairness and safety, one chart."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.measures import SENSITIVE, quantity, shown
from ..core.records import Basis, Measure
from ..core.views import Card, Cell, Column, Dots, Number, Summary, Table, Tone, Words
from ..core.views import Row as TableRow
from .inference import Row
from .pairs import Comparison, difference_of
from .wording import both_sides, change_text, counted, disagreement, overall_verdict

LISTED = 4
"""The number of rows that a card lists."""
CHARTED = 20
"""The most rows that a chart has."""


def comparison_summary(comparison: Comparison, a: str = "A", b: str = "B") -> Summary:
    """Return the verdict, the cards and the chart of a comparison of model `b` with model `a`."""
    overall = comparison.overall
    rows = comparison.by(comparison.finest) if comparison.finest else []
    fine = [row for row in rows if row.difference is not None]  # the others have no applicable case
    fine = sorted(fine, key=lambda row: -abs(row.difference or 0.0))
    worse, better = ([row for row in fine if row.change == change] for change in ("bad", "good"))
    lost = f"{counted(len(worse), comparison.finest)} got worse"
    verdict, tone = _verdict(comparison, lost if worse else "", a, b)
    if unusable := comparison.findings:
        verdict, tone = f"Not comparable: {unusable[0].text}", "bad"
    cards, text = [_overall_card(overall, comparison.headline)], ""
    if fine:
        unclear = len(fine) - len(worse) - len(better)
        counts = [] if lost in verdict else [lost]
        counts += [f"{len(better)} got better", f"{unclear} without a clear change"]
        text = f"{', '.join(counts)}."
        cards.append(Card(f"Got worse: {len(worse)} of {len(fine)}", rows=_card_rows(worse)))
    names = [(row, " ".join([row.name, *row.groups.values()]).lower()) for row in fine]
    if sensitive := [row for row, name in names if any(word in name for word in SENSITIVE)]:
        lowest = sorted(sensitive, key=lambda row: row.rates[1] or 0.0)
        cards.append(Card("Fairness and safety", rows=_card_rows(lowest)))
    elif better:
        cards.append(Card(f"Got better: {len(better)}", rows=_card_rows(better)))
    return Summary(verdict, tone, text, cards, _chart(comparison, a, b))


def _verdict(comparison: Comparison, lost: str, a: str, b: str) -> tuple[str, Tone]:
    overall = comparison.overall
    if overall.difference is None:
        return f"{a} and {b} have no applicable case in common", "doubt"
    if contradiction := disagreement(comparison, b):
        return contradiction + (f"; {lost}" if lost else ""), "doubt"
    verdict = overall_verdict(overall, a, b)
    if lost and overall.change != "bad":
        return f"{verdict}, but {lost}", "doubt"
    return verdict, overall.change


def _overall_card(row: Row, headline: Row) -> Card:
    lines = [both_sides(row)] if row.measure == "pass rate" and row.runs == (1, 1) else []
    lines += [change_text(row)] if row.difference is not None else []
    if headline is not row and headline.difference is not None:
        lines.append(f"{both_sides(headline)} ({change_text(headline)})")
    number = _both(row) + (" %" if quantity(row.measure).unit == "share" else "")
    return Card(f"Overall: {row.measure}", Words(number, row.change), lines)


def _both(row: Row, digits: int | None = None) -> str:
    what = quantity(row.measure)
    what = what if digits is None or what.unit != "share" else replace(what, digits=digits)
    a, b = (shown(rate, what) for rate in row.rates)
    return f"{a} → {b}"


def _card_rows(rows: Sequence[Row]) -> list[tuple[str, Cell]]:
    listed: list[tuple[str, Cell]] = [
        (row.name, Words(f"{_both(row, 0)} {row.mark}", row.change)) for row in rows[:LISTED]
    ]
    more = len(rows) - LISTED
    return [*listed, (f"{more} more", "")] if more > 0 else listed or [("none", "")]


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
    rows = sorted(fitting[level], key=lambda row: (row.change != "bad", row.rates[1] or 0.0))
    heads = [Column(level, "left"), Column(a, spare=True), Column(b, spare=True), Column("diff")]
    title = f"{rows[0].measure.capitalize()} by {level}, in % (○ {a}, ● {b})"
    lines = []
    for row in rows:
        old, new = (
            Measure(row.measure, rate, row.n, row.groups, basis=Basis(mean_over="cases"))
            for rate in row.rates
        )
        change = Number(difference_of(row, comparison), row.change, row.mark)
        dots = Dots([old, new], (0.0, 1.0), None, row.change or "third", True)
        lines.append(TableRow([row.name, Number(old), Number(new), change, dots]))
    legend = ["▲ ▼ significant after correction within the level."]
    return Table([*heads, Column("", "left", scale=(0.0, 1.0))], lines, title=title, legend=legend)

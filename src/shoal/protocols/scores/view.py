"""The sections of a graded result: the answer, the groups worst first, a few failing samples, what is not graded."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.records import Finding, Measure, Result
from ...core.views import CaseList, Column, Number, Row, Section, Summary, Table, Words, shown_cases
from . import wording

EXAMPLES = 2


def view(
    settings: Any,
    results: Sequence[Result],
    measures: Sequence[Measure] = (),
    findings: Sequence[Finding] = (),
) -> list[Section]:
    """Return a section per result."""
    return [_section(result) for result in results]


def _section(result: Result) -> Section:
    whole = next(row for row in result.measures if not row.groups)
    about: Mapping[str, Any] = result.job["about"]
    answer = wording.mean_words(whole)
    heading = [
        Words(f"{result.job['model']}: ", "strong"),
        Words(answer, "strong"),
        Words(f"{wording.interval_words(whole)}\nMetric {about['metric']}\n", "quiet"),
    ]
    failing = result.failing()[:EXAMPLES] if result.outcomes else []
    blocks: list[Table | CaseList] = [_table(rows) for rows in _levels(result)]
    if failing:
        blocks.append(CaseList(shown_cases(result, failing), "Failing samples"))
    notes = wording.notes(result, whole)
    return Section("", heading, blocks, notes, summary=Summary(answer, "", " ".join(notes)))


def _levels(result: Result) -> list[list[Measure]]:
    """Return the measures of each group."""
    grouped = [row for row in result.measures if row.groups]
    levels = dict.fromkeys(next(iter(row.groups)) for row in grouped)
    return [[row for row in grouped if level in row.groups] for level in levels]


def _table(rows: Sequence[Measure]) -> Table:
    level = next(iter(rows[0].groups))
    columns = [Column(level, "left"), Column("n"), Column("errors"), Column(rows[0].name)]
    lines = [
        Row([row.groups[level], f"{row.n:,}", f"{row.errors:,}", Number(row)])
        for row in sorted(rows, key=_rate)
    ]
    return Table(columns, lines, name=level)


def _rate(row: Measure) -> float:
    return 1.0 if row.value is None else row.value

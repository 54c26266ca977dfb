"""The sections of a graded result: the answer, the groups worst first, a few failing samples, what is not graded."""

from collections.abc import Sequence
from typing import Any

from ...core.measures import quantity, shown, shown_interval, unit_word
from ...core.records import PARTLY, Finding, Measure, Result
from ...core.views import CaseList, Column, Number, Row, Section, Summary, Table, Words, shown_cases
from .read import NOT_IN_FILE

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
    answer = mean_words(whole)
    ends = shown_interval(whole)
    interval = f", 95 % CI {ends}" if ends else ""
    heading = [
        Words(f"{result.job['model']}: {answer}", "strong"),
        Words(f"{interval}\nMetric {result.job['about']['metric']}\n", "quiet"),
    ]
    failing = result.failing()[:EXAMPLES] if result.outcomes else []
    grouped = [row for row in result.measures if row.groups]
    levels = dict.fromkeys(next(iter(row.groups)) for row in grouped)
    blocks: list[Table | CaseList] = [
        _table(level, [row for row in grouped if level in row.groups]) for level in levels
    ]
    if failing:
        blocks.append(CaseList(shown_cases(result, failing), "Failing samples"))
    lines = notes(result, whole)
    return Section("", heading, blocks, lines, summary=Summary(answer, "", " ".join(lines)))


def _table(level: str, rows: Sequence[Measure]) -> Table:
    """Return the mean of each value of a group, the lowest first."""
    columns = [Column(level, "left"), Column("n"), Column("errors"), Column(rows[0].name)]
    lines = [
        Row([row.groups[level], f"{row.n:,}", f"{row.errors:,}", Number(row)])
        for row in sorted(rows, key=lambda row: 1.0 if row.value is None else row.value)
    ]
    return Table(columns, lines, name=level)


# Sentences


def counts(result: Result) -> str:
    """Return how many samples a file lacks, and how many answers have no score; empty if all have one."""
    about = result.job.get("about") or {}
    missing, errors = about.get("missing", 0), about.get("errors", 0)
    parts = [f"{errors:,} without a score"] if errors else []
    parts += [f"{missing:,} {NOT_IN_FILE}"] if missing else []
    return ", ".join(parts)


def mean_words(measure: Measure) -> str:
    """Return a mean as a count of passes, or with its unit."""
    if measure.value is None:
        return measure.reason
    passes = measure.value * measure.n
    rate = f"{shown(measure.value, quantity(measure))}{unit_word(measure)}"
    if measure.name == "pass rate" and not measure.basis.column:
        return f"{round(passes):,} of {measure.n:,} samples pass ({rate})"
    return f"{measure.name} {rate} over {measure.n:,} samples"


def notes(result: Result, measure: Measure) -> list[str]:
    """Return what is not graded, and what that could change."""
    lines = []
    if left := counts(result):
        ends = [measure.facts.get(f"if errors {end}") for end in ("fail", "pass")]
        low, high = (shown(end, quantity(measure)) for end in ends)
        bounds = f"; {low} % if they all fail, {high} % if they all pass" if ends[0] is not None else ""
        lines.append(f"! {left}{bounds}.")
    if partly := measure.facts.get(PARTLY):
        lines.append(f"! {partly:,} samples have a score in some epochs only; their mean is over those.")
    runs = result.job["about"]["runs"]
    if len(runs) > 1:
        lines.append(f"Each sample counts by its mean over {len(runs)} epochs.")
    return lines

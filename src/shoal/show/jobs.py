"""Jobs in the terminal: what a plan means, how far it is, and one job's cases row by row."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..records import Case, Result
from ..runs.estimate import Estimate
from ..runs.plan import Job
from ..runs.store import RunStore
from .behaviour import show_case

MANY = 40
STYLES = {"done": "green", "failed": "red", "to do": "dim"}


def state(job: Job, store: RunStore) -> tuple[str, str]:
    """done, failed, begun or to do; and what there is to say about it."""
    if store.is_done(job.id):
        failed = sum(bool(row.error) for row in store.read_answers(job.id))
        return "done", f"{failed:,} answers are errors: shoal run PLAN --retry-errors" if failed else ""
    if error := store.error(job.id):
        return "failed", error.strip().splitlines()[-1 if error.startswith("Traceback") else 0]
    kept = store.kept(job.id)
    return ("begun", f"{kept:,} answers kept") if kept else ("to do", "")


def print_jobs(jobs: Sequence[Job], store: RunStore | None = None) -> None:
    """A line per job, with its state if a store is given; of many, only those there is something to say about."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name in (["state"] if store else []) + ["job", "model"] + (["note"] if store else []):
        table.add_column(name, overflow="fold")
    counts: dict[str, int] = {}
    for job in jobs:
        row = [Text(job.id), Text(job.model)]
        if store:
            word, note = state(job, store)
            counts[word] = counts.get(word, 0) + 1
            if len(jobs) > MANY and word in ("done", "to do") and not note:
                continue
            row = [Text(word, STYLES.get(word, "yellow")), *row, Text(note, "dim")]
        table.add_row(*row)
    if table.row_count:
        console.print(table)
    summary = ", ".join(f"{count} {word}" for word, count in counts.items())
    console.print(Text(f"\n{len(jobs)} jobs" + (f": {summary}" if summary else "")))


def print_estimate(found: Estimate) -> None:
    """What a plan with trainings will take."""
    text = (
        f"{found.trainings:,} trainings, {found.steps:,} steps, {found.questions:,} questions: about "
        f"{duration(found.seconds)} in one process on this machine; --workers divides it by the cores there are"
    )
    Console(highlight=False).print(Text(text))


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(40), duration(700), duration(9000)
    ('40 seconds', '12 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def rows_of(result: Result) -> Iterator[dict[str, Any]]:
    """Every case with its outcome, passes included."""
    for case, outcome in zip(result.cases, result.outcomes, strict=True):
        verdict = "error" if outcome.error else {True: "pass", False: "fail", None: "n/a"}[outcome.passed]
        yield {
            "case_id": case.id,
            **case.groups,
            "outcome": verdict,
            "value": outcome.value,
            "error": outcome.error,
            "labels": None if case.labels is None else list(case.labels),
            "examples": [list(example) for example in case.examples],
        }


def as_csv(result: Result) -> str:
    """The rows as CSV; lists as JSON inside their field."""
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for row in rows_of(result):
        flat = {k: json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for k, v in row.items()}
        if writer is None:
            writer = csv.DictWriter(text, flat, lineterminator="\n")
            writer.writeheader()
        writer.writerow(flat)
    return text.getvalue()


def as_json_lines(result: Result) -> str:
    """The rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(result))


def _first_group(case: Case) -> str:
    return next(iter(case.groups.values()), "")


def print_failing(result: Result) -> None:
    """The cases that failed, by functionality (or whatever their first group is), worst first."""
    console = Console(highlight=False)
    by_id = {outcome.case_id: outcome for outcome in result.outcomes}
    last = ""
    for case in sorted(result.failing(), key=_first_group):
        if _first_group(case) != last:
            last = _first_group(case)
            console.print(Text(last, "bold"))
        console.print(Text("  ") + show_case(case, by_id[case.id]), soft_wrap=True)
    errors = [outcome for outcome in result.outcomes if outcome.error]
    for outcome in errors:
        console.print(Text.assemble((f"{outcome.case_id}: ", "bold"), (outcome.error, "red")), soft_wrap=True)
    console.print(Text(f"{len(result.failing()):,} cases fail, {len(errors):,} are errors", "dim"))

"""Jobs in the terminal: what a plan means and how far it is."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..runs.estimate import Estimate
from ..runs.plan import Job
from ..runs.store import RunStore
from .printable import printable

MANY = 40
STYLES = {"done": "green", "failed": "red", "to do": "dim"}


def state(job: Job, store: RunStore) -> tuple[str, str]:
    """done, failed, begun or to do; and what there is to say about it."""
    if store.is_done(job.id):
        failed = store.errors(job.id)
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
        row = [Text(job.id), Text(printable(job.model))]
        if store:
            word, note = state(job, store)
            counts[word] = counts.get(word, 0) + 1
            if len(jobs) > MANY and word in ("done", "to do") and not note:
                continue
            row = [Text(word, STYLES.get(word, "yellow")), *row, Text(printable(note), "dim")]
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


def as_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

"""Jobs in the terminal: what a plan means and how far it is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core.text import json_line
from ..models.prompted.spending import spec_price
from ..runs.plan import Job
from ..runs.store import RunStore
from .printable import printable

if TYPE_CHECKING:
    from ..runs.estimate import Bill, Estimate

MANY = 40
STYLES = {"done": "green", "failed": "red", "to do": "dim"}


def state(job: Job, store: RunStore) -> tuple[str, str]:
    """done, failed, begun or to do; and what there is to say about it."""
    word, note = _state(job, store)
    return word, "; ".join(filter(None, [note, _spent(job, store)]))


def _state(job: Job, store: RunStore) -> tuple[str, str]:
    if store.is_done(job.id):
        failed = store.errors(job.id)
        return "done", f"{failed:,} answers are errors: shoal run PLAN --retry-errors" if failed else ""
    if error := store.error(job.id):
        return "failed", error.strip().splitlines()[-1 if error.startswith("Traceback") else 0]
    kept = store.kept(job.id)
    return ("begun", f"{kept:,} answers kept") if kept else ("to do", "")


def _spent(job: Job, store: RunStore) -> str:
    """What asking a model over a network has cost; nothing of others."""
    spent = store.spent(job.id)
    if not spent["requests"]:
        return ""
    tokens = f"{spent['requests']:,} requests, {spent['input']:,} tokens read, {spent['output']:,} written"
    price = spec_price(job.model)
    return f"{tokens}: {price.cost(spent['input'], spent['output']):.4g} spent" if price else tokens


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


def print_estimate(found: "Estimate") -> None:
    """What a plan with trainings will take."""
    tries = f" and {found.tries:,} tries to find their settings" if found.tries else ""
    text = (
        f"{found.trainings:,} trainings{tries}, {found.steps:,} steps, {found.questions:,} questions: about "
        f"{duration(found.seconds)} in one process on this machine; --workers divides it by the cores there are"
    )
    Console(highlight=False).print(Text(text))


def print_bill(found: "Bill") -> None:
    """What asking over a network may cost."""
    text = (
        f"an estimate, rather too high: {found.requests:,} requests, {found.read:,} tokens to read, at most "
        f"{found.written:,} to write"
    )
    cost = (
        f": {found.cost:.4g}" if found.cost is not None else "; what that costs is not known without price="
    )
    Console(highlight=False).print(Text(text + cost))


def print_prompts(shown: Mapping[str, Sequence[str]]) -> None:
    """What would be sent, word by word."""
    console = Console(highlight=False, soft_wrap=True)
    for job_id, prompts in shown.items():
        for number, prompt in enumerate(prompts, start=1):
            console.print(Text(f"\n{job_id}, prompt {number}", "bold"))
            console.print(Text("\n".join(map(printable, prompt.split("\n")))))


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
    return "".join(json_line(row) for row in rows)

"""Sections for `status`, `check PLAN` and `reproduce`."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.views import Column, Row, Section, Table, Text, Tone, Words
from ..models import parse_spec
from ..models.prompted.spending import spec_price
from ..render.progress import duration
from ..runs.plan import Job
from ..runs.store import RunStore

if TYPE_CHECKING:
    from ..reproduce import Reproduction
    from ..runs.estimate import Bill, Estimate

MANY_JOBS = 40
"""Of more jobs than this, `status` lists only those with a note, and `check` only the first few."""
FIRST_JOBS = 10
LONGEST_NOTE = 300
"""Characters of an error that `status` shows; the job's error.txt has the rest."""
MISMATCHES = 20
"""The number of mismatches that `reproduce` lists; `--json` has all."""
TONES: dict[str, Tone] = {"done": "good", "failed": "bad", "to do": "quiet"}


def state(job: Job, store: RunStore) -> tuple[str, str]:
    """Return a job's state (done, failed, begun or to do) and a note about it."""
    if store.is_done(job.id):
        failed = store.errors(job.id)
        word, note = "done", f"{failed:,} answers are errors: shoal run PLAN --retry-errors" if failed else ""
    elif error := store.error(job.id).strip():
        word, note = "failed", error.splitlines()[-1 if error.startswith("Traceback") else 0]
        if len(note) > LONGEST_NOTE:
            note = f"{note[:LONGEST_NOTE]} … (the rest: error.txt in jobs/{job.id})"
    elif kept := store.kept(job.id):
        word, note = "begun", f"{kept:,} answers kept"
    else:
        word, note = "to do", ""
    return word, "; ".join(filter(None, [note, _spent(job, store)]))


def _spent(job: Job, store: RunStore) -> str:
    """Return the requests and tokens of a remote model; empty for others."""
    spent = store.spent(job.id)
    if not spent["requests"]:
        return ""
    tokens = "{requests:,} requests, {input:,} input tokens, {output:,} output tokens".format(**spent)
    price = spec_price(parse_spec(job.model))
    return f"{tokens}: {price.cost(spent['input'], spent['output']):.4g} spent" if price else tokens


def plan_sections(jobs: Sequence[Job], estimate: "Estimate | None", bill: "Bill | None") -> list[Section]:
    """Return the size of a plan, its expected time and cost, and its jobs."""
    lines = [f"The plan is valid: {_count(len(jobs), 'job')}."]
    lines += [_time(estimate)] if estimate else []
    lines += [_cost(bill)] if bill else []
    shown = jobs if len(jobs) <= MANY_JOBS else jobs[:FIRST_JOBS]
    more = [f"{len(jobs) - len(shown)} more; `--json` lists all."] if len(shown) < len(jobs) else []
    table = Table(_left("job", "model"), [Row([job.id, job.model]) for job in shown])
    return [*(Section(text=line) for line in lines), Section(blocks=[table], notes=more)]


def _left(*titles: str) -> list[Column]:
    return [Column(title, "left") for title in titles]


def job_sections(jobs: Sequence[Job], store: RunStore) -> list[Section]:
    """Return a line per job with its state."""
    states = [(job, *state(job, store)) for job in jobs]
    counts = Counter(word for _, word, _ in states)
    rows = [
        Row([Words(word, TONES.get(word, "doubt")), job.id, job.model, Words(note, "quiet")])
        for job, word, note in states
        if note or len(jobs) <= MANY_JOBS or word not in ("done", "to do")
    ]
    summary = ", ".join(f"{count} {word}" for word, count in counts.items())
    text = f"{_count(len(jobs), 'job')}: {summary}" if jobs else "0 jobs"
    return [Section(text=text, blocks=[Table(_left("state", "job", "model", "note"), rows)] if rows else [])]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _time(estimate: "Estimate") -> str:
    """Return the expected time of a plan with trainings."""
    tries = f", {_count(estimate.tries, 'tuning trial')}" if estimate.tries else ""
    return (
        f"{_count(estimate.trainings, 'training')}{tries}, {estimate.steps:,} steps, {estimate.questions:,} "
        f"questions: about {duration(estimate.seconds)} in one process on this machine."
    )


def _cost(bill: "Bill") -> str:
    """Return the expected cost of a plan with remote models."""
    cost = f"Cost: {bill.cost:.4g}." if bill.cost is not None else "Set price= to estimate the cost."
    return (
        f"Upper estimate: {_count(bill.requests, 'request')}, {bill.read:,} input tokens, at most "
        f"{bill.written:,} output tokens. {cost}"
    )


def reproduction_sections(reproduction: "Reproduction") -> list[Section]:
    """Return how many cells of a published table match, by column, and the mismatches."""
    total, missed = len(reproduction.cells), reproduction.mismatches
    text = f"{total - len(missed):,} of {total:,} cells match." if missed else f"All {total:,} cells match."
    answer = Words(text, ("strong", "bad" if missed else "good"))
    cells = Counter(cell.column for cell in reproduction.cells)
    wrong = Counter(cell.column for cell in missed)
    counts = [
        Row([column, f"{count:,}", Words(f"{count - wrong[column]:,}", "bad" if wrong[column] else "good")])
        for column, count in cells.items()
    ]
    blocks: list[Table | Text] = [Table([Column("", "left"), Column("cells"), Column("match")], counts)]
    if missed:
        rows = [
            Row([Words("✗", "bad"), cell.row, cell.column, cell.published, cell.found])
            for cell in missed[:MISMATCHES]
        ]
        blocks.append(Table([*_left("", "", ""), Column("published"), Column("found")], rows))
    if len(missed) > MISMATCHES:
        blocks.append(Text([Words(f"{len(missed) - MISMATCHES:,} more mismatches: --json", "quiet")]))
    return [Section(reproduction.title, [answer], blocks)]

"""Sections for `status`, `check PLAN` and `reproduce`."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.records import Result, verdicts_of
from ..core.text import printable
from ..core.views import Column, Row, Section, Table, Tone, Words
from ..models import parse_spec
from ..models.prompted.spending import spec_price
from ..render.naming import renamed, short_names
from ..render.progress import duration
from ..runs.plan import Job
from ..runs.store import RunStore

if TYPE_CHECKING:
    from ..reproduce import Reproduction
    from ..runs.estimate import Bill, Estimate

MANY_JOBS = 40
"""Of more jobs than this, `status` lists no waiting ones without a note, and `check` only the first few."""
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
        word, note = "failed", error.splitlines()[-1 if error.startswith("Traceback") else 0][:LONGEST_NOTE]
    elif kept := store.kept(job.id):
        word, note = "begun", f"{kept:,} answers kept"
    else:
        word, note = "to do", ""
    return word, "; ".join(filter(None, [note, spending_words([(job.model, store.spent(job.id))])]))


def spending_words(spent: Iterable[tuple[str, Mapping[str, int]]]) -> str:
    """Return the requests, tokens and cost of jobs by their model, self-checks included; empty for local models."""
    total, costs = Counter[str](), dict[str, float]()
    for model, own in spent:
        total.update(own)
        price = spec_price(parse_spec(model))
        if price and own["requests"]:
            cost = price.cost(own["input"], own["output"])
            costs[price.currency] = costs.get(price.currency, 0.0) + cost
    return _bill_words(total["requests"], total["input"], total["output"], costs) if total["requests"] else ""


def _bill_words(requests: int, read: int, written: int, costs: Mapping[str, float]) -> str:
    """Return requests, tokens and costs, the same for an estimate and for the actual numbers."""
    tokens = f"{_count(requests, 'request')}, {read:,} input tokens, {written:,} output tokens"
    return tokens + "".join(f", {cost_words(cost, currency)}" for currency, cost in costs.items())


def cost_words(cost: float, currency: str) -> str:
    """Return an amount in the currency that the price names.

    >>> cost_words(0.01234, "USD"), cost_words(1234.5, "EUR"), cost_words(0.00001, "")
    ('0.0123 USD', '1,234.50 EUR', 'less than 0.0001 in the currency of price=')
    """
    amount = (
        f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}" if cost >= 0.0001 or not cost else "less than 0.0001"
    )
    return f"{amount} {currency or 'in the currency of price='}"


def next_commands(results: Mapping[str, Sequence[Result]], plan: Path, into: Path) -> str:
    """Return the last line of `run`: the commands that show failing cases and write the page."""
    every = [result for rows in results.values() for result in rows]
    failing = next((result for result in every if "0" in verdicts_of(result.outcomes)), None)
    job = str((failing or every[0]).job["id"]).rpartition("-")[2]
    show = f"shoal show {job}{' --failing' if failing else ''}{into_words(into)}"
    return printable(f"\nNext: {show}\n      shoal report {shlex.quote(str(plan))}{into_words(into)}")


def finished_words(jobs: Sequence[Job], store: RunStore, plan: Path) -> str:
    """Return when the jobs of a plan finished, and how to query the models again."""
    days = sorted({store.answered_on(job.id) for job in jobs})
    when = f"on {days[0]}" if len(days) == 1 else f"between {days[0]} and {days[-1]}"
    return printable(
        f"Finished {when}. To query the models again: shoal run {shlex.quote(str(plan))} --again"
    )


def with_short_names(sections: Sequence[Section], jobs: Sequence[Job]) -> Sequence[Section]:
    """Return the sections of a plan with several models with a short name for each long spec."""
    models = list(dict.fromkeys(job.model for job in jobs))
    return renamed(sections, short_names(models)) if len(models) > 1 else sections


def into_words(into: Path) -> str:
    """Return the option of a store other than the usual one."""
    return "" if into == Path("runs") else f" --into {shlex.quote(str(into))}"


def plan_sections(jobs: Sequence[Job], estimate: "Estimate | None", bill: "Bill | None") -> list[Section]:
    """Return the size of a plan, its expected time and cost, and its jobs."""
    lines = [f"The plan is valid: {_count(len(jobs), 'job')}."]
    if estimate:
        tries = f", {_count(estimate.tries, 'tuning trial')}" if estimate.tries else ""
        lines.append(
            f"{_count(estimate.trainings, 'training run')}{tries}, {estimate.steps:,} steps, "
            f"{estimate.questions:,} questions to models: "
            f"about {duration(estimate.seconds)} in one process on this machine."
        )
    if bill:
        priced = "" if bill.costs else " Set price= to estimate the cost."
        lines.append(f"At most {_bill_words(bill.requests, bill.read, bill.written, bill.costs)}.{priced}")
    shown = jobs if len(jobs) <= MANY_JOBS else jobs[:FIRST_JOBS]
    more = [f"{len(jobs) - len(shown)} more jobs; `--json` lists all."] if len(shown) < len(jobs) else []
    table = Table(_left("job", "model"), [Row([job.id, job.model]) for job in shown])
    return [*(Section(text=line) for line in lines), Section(blocks=[table], notes=more)]


def _left(*titles: str) -> list[Column]:
    return [Column(title, "left") for title in titles]


def job_sections(jobs: Sequence[Job], store: RunStore, *, full: bool = False) -> list[Section]:
    """Return the number of jobs by state, and a line per unfinished job; in full per job."""
    states = [(job, *state(job, store)) for job in jobs]
    counts = Counter(word for _, word, _ in states)
    listed = () if full else ("done",) if len(jobs) <= MANY_JOBS else ("done", "to do")
    rows = [
        Row([Words(word, TONES.get(word, "doubt")), job.id, job.model, Words(note, "quiet")])
        for job, word, note in states
        if note or word not in listed
    ]
    summary = ", ".join(f"{count} {word}" for word, count in counts.items())
    text = f"{_count(len(jobs), 'job')}: {summary}" if jobs else "0 jobs"
    text += f" ({len(jobs) - len(rows)} not listed: --full)" if len(rows) < len(jobs) else ""
    return [Section(text=text, blocks=[Table(_left("state", "job", "model", "note"), rows)] if rows else [])]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
    blocks = [Table([*_left(""), Column("cells"), Column("match")], counts)]
    rows = [
        Row([Words("✗", "bad"), cell.row, cell.column, cell.published, cell.found])
        for cell in missed[:MISMATCHES]
    ]
    blocks += [Table([*_left("", "", ""), Column("published"), Column("found")], rows)] if rows else []
    return [Section(reproduction.title, [answer], blocks)]

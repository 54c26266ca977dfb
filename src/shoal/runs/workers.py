"""Jobs in several processes at a time, all of them on one store.

Results do not depend on how many there are: a job has its own seed and its own number of processor threads.
"""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..training.stage import Progress
from .auditing import silent
from .here import run_here
from .plan import Job
from .store import RunStore
from .training import shared_stages


def run_jobs(
    jobs: Sequence[Job],
    store: RunStore,
    progress: Progress = silent,
    *,
    retry_errors: bool = False,
    workers: int = 1,
) -> Iterator[tuple[Job, str | None]]:
    """As `run_here`, with so many processes."""
    if workers < 2 or len(jobs) < 2:
        yield from run_here(jobs, store, progress, retry_errors=retry_errors)
        return
    context = multiprocessing.get_context("spawn")
    tasks = [(job, store.folder, retry_errors, shared_stages(jobs)) for job in jobs]
    with context.Pool(min(workers, len(jobs)), initializer=_leave_interrupts_to_the_parent) as pool:
        for done, (number, problem) in enumerate(pool.imap_unordered(_run, enumerate(tasks)), start=1):
            progress("jobs", done, len(jobs))
            yield jobs[number], problem


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(task: tuple[int, tuple[Job, Path, bool, frozenset[str]]]) -> tuple[int, str | None]:
    number, (job, folder, retry_errors, shared) = task
    for _, problem in run_here([job], RunStore(folder), retry_errors=retry_errors, shared=shared):
        return number, problem
    raise AssertionError("a job always ends one way or the other")

"""Where tasks are done. Results do not depend on which: a job has its own seed and its own number of threads."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from ...core.errors import PlanError, nearest
from ...core.files import private_files
from ...models import is_remote
from ...training.stage import Progress, silent
from ..plan import Job
from ..resources import Resources
from ..store import RunStore
from ..tasks import Ended, Executor, tasks_of

EXECUTORS: dict[str, str] = {
    "here": "one after the other, in this process",
    "processes": "several processes on this machine: --workers N",
    "ray": "a Ray cluster that is there, or one started here; ray:auto, ray:HOST:PORT or ray://HOST:10001 name one",
}
"""Name to what it is for; each is the module of that name in this folder, with a function `execute`."""


def find_executor(on: str) -> Executor:
    """The executor of this name; behind a colon, or as `ray://HOST:PORT`, the address of a cluster."""
    name, _, address = on.partition(":")
    if name not in EXECUTORS or (address and name != "ray"):
        raise PlanError(
            f"--on {on}: not known",
            why=f"known: {', '.join(EXECUTORS)}",
            fix=nearest(name, EXECUTORS) or "one of those",
        )
    module: Any = import_module(f".{name}", __name__)
    executor: Executor = module.execute
    return partial(module.execute, address=on if "//" in address else address) if address else executor


def run_jobs(
    jobs: Sequence[Job],
    store: RunStore,
    progress: Progress = silent,
    *,
    retry_errors: bool = False,
    workers: int = 1,
    on: str = "",
    resources: Mapping[str, Resources] | None = None,
) -> Iterator[tuple[Job, str | None]]:
    """Do every job that is not done, and say how each went: None, or what it failed with."""
    executor = find_executor(on or ("processes" if workers > 1 and len(jobs) > 1 else "here"))
    # Counted apart: those that were done take no time, or that of scoring them again, and say nothing of the others.
    steps = {job.id: "jobs of before" if store.is_done(job.id) else "jobs" for job in jobs}
    total, count = Counter(steps.values()), Counter[str]()
    tasks = tasks_of(jobs, store, retry_errors=retry_errors, resources=resources)
    endings = executor(tasks, store, progress, workers)
    # What is sent to an endpoint and what it answers may be confidential.
    is_private = any(job.given is None and is_remote(job.model) for job in jobs)
    for ended in _privately(endings) if is_private else endings:
        if ended.task.stage is None:
            job, step = ended.task.job, steps[ended.task.job.id]
            count[step] += 1
            if len(jobs) > 1:
                progress(step, count[step], total[step])
            yield job, ended.problem


def _privately(endings: Iterator[Ended]) -> Iterator[Ended]:
    """Do the tasks with files that only their owner can read."""
    while True:
        with private_files():
            ended = next(endings, None)
        if ended is None:
            return
        yield ended


def run_here(
    jobs: Sequence[Job], store: RunStore, progress: Progress = silent, *, retry_errors: bool = False
) -> Iterator[tuple[Job, str | None]]:
    """`run_jobs` in this process."""
    return run_jobs(jobs, store, progress, retry_errors=retry_errors, on="here")

"""Executors: where tasks run. Results do not depend on it: a job has its own seed and number of threads."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ...core.errors import PlanError, nearest
from ...core.files import for_owner_only
from ...models import is_remote
from ...training.stage import Progress, silent
from ..plan import Job
from ..resources import Resources
from ..store import RunStore
from ..tasks import Ended, Executor, tasks_of
from . import local

EXECUTORS: dict[str, str] = {
    "here": "one job after the other, in this process",
    "processes": "several processes on this machine: --workers N",
    "ray": "a running Ray cluster, or a new local one; ray:auto, ray:HOST:PORT or ray://HOST:10001 name a cluster",
}
"""Name to description, for `shoal list executors`."""


def find_executor(on: str) -> Executor:
    """Return the executor of this name; a cluster's address may follow, as in `ray:HOST:PORT`."""
    name, _, address = on.partition(":")
    if name not in EXECUTORS or (address and name != "ray"):
        raise PlanError(
            f"--on {on}: unknown executor",
            why=f"known: {', '.join(EXECUTORS)}",
            fix=nearest(name, EXECUTORS) or "one of those",
        )
    if name != "ray":
        return local.here if name == "here" else local.processes
    from .ray import execute  # imports ray

    return partial(execute, address=on if "//" in address else address)


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
    """Run every job that is not done, and yield each with None or its error."""
    executor = find_executor(on or ("processes" if workers > 1 and len(jobs) > 1 else "here"))
    # Finished jobs are counted separately: they take no time and would spoil the estimate for the others.
    steps = {job.id: "finished jobs" if store.is_done(job.id) else "jobs" for job in jobs}
    total, count = Counter(steps.values()), Counter[str]()
    tasks = tasks_of(jobs, store, retry_errors=retry_errors, resources=resources)
    endings = executor(tasks, store, progress, workers)
    # Texts sent to an endpoint and its answers may be confidential.
    is_private = any(job.given is None and is_remote(job.model) for job in jobs)
    for ended in _privately(endings) if is_private else endings:
        if ended.task.stage is None:
            job, step = ended.task.job, steps[ended.task.job.id]
            count[step] += 1
            if len(jobs) > 1:
                progress(step, count[step], total[step])
            yield job, ended.problem


def _privately(endings: Iterator[Ended]) -> Iterator[Ended]:
    """Run the tasks with files that only their owner can read."""
    while True:
        with for_owner_only():  # not while the caller works with what is yielded
            ended = next(endings, None)
        if ended is None:
            return
        yield ended


def run_here(
    jobs: Sequence[Job], store: RunStore, progress: Progress = silent, *, retry_errors: bool = False
) -> Iterator[tuple[Job, str | None]]:
    """Run every job in this process; see `run_jobs`."""
    return run_jobs(jobs, store, progress, retry_errors=retry_errors, on="here")

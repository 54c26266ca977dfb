"""Turn jobs into tasks: first the stages of training that several jobs share, then the jobs.

A task is plain data and can be sent to any worker. An executor runs tasks whose dependencies have ended and reports
how each ended.
"""

import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter

from ..core.errors import ShoalError, StoreError
from ..core.files import sweep
from ..models.validate import exception_text
from ..training.stage import Progress, silent
from .execute import BatchDistributor, execute, retry_errors
from .plan import Job
from .settings import Resources
from .store import PATIENCE, RunStore, waiting_for
from .training import BusyError, is_trained, shared_stages, stage_names, train_shared, training_of

BUSY = "\0busy "
"""Prefix of the result of a task that another process works on, before the name of its lock."""
POLL_SECONDS = 0.2
LONGEST_TRACEBACK = 6_000
"""Characters of a traceback that are stored, from its end."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job, or a stage of training that several jobs share."""

    name: str
    job: Job
    stage: int | None = None
    """The number of the stage of the job's training; None for the job itself."""
    needs: tuple[str, ...] = ()
    """Tasks that must end first."""
    shared: frozenset[str] = frozenset()
    """The stages of the job's training whose weights are stored."""
    retry_errors: bool = False
    since: float = 0.0
    """The start of the run: a job that another process failed at later is not attempted again."""
    resources: Resources = Resources()


@dataclass(frozen=True, slots=True)
class Ended:
    task: Task
    problem: str | None = None
    """The error; None if the task succeeded."""


Executor = Callable[[Sequence[Task], RunStore, Progress, int], Iterator[Ended]]
"""Runs tasks with a number of workers, each after its dependencies, and yields the end of each."""


def tasks_of(
    jobs: Sequence[Job],
    store: RunStore,
    *,
    retry_errors: bool = False,
    resources: Mapping[str, Resources] | None = None,
) -> list[Task]:
    """Return a task for every shared stage that is not stored, and for every job; `resources` are by protocol."""
    shared, now = shared_stages(jobs), time.time()
    stages: dict[str, Task] = {}
    tasks = []
    for job in jobs:
        takes = (resources or {}).get(job.protocol, Resources())
        stored = shared.intersection(stage_names(job))
        needs = () if store.is_done(job.id) else _stage_tasks(job, store, stored, stages, takes)
        tasks.append(Task(job.id, job, None, needs, stored, retry_errors, now, takes))
    return [*stages.values(), *tasks]


def _stage_tasks(
    job: Job, store: RunStore, shared: frozenset[str], stages: dict[str, Task], takes: Resources
) -> tuple[str, ...]:
    """Add the shared stages of a job to `stages`, and return the last, which the job waits for."""
    if not shared:
        return ()
    training = training_of(job)
    assert training is not None
    needs: tuple[str, ...] = ()
    for number, (name, stage) in enumerate(zip(training.names, training.recipe.stages, strict=True)):
        # A frozen encoder is encoded together with the questions.
        if name not in shared or stage.frozen is not None or is_trained(store, name, stage):
            continue
        task = Task(name, job, number, needs, shared, resources=takes)
        if name not in stages or len(stage.marks) > _mark_count(stages[name]):
            stages[name] = task  # the job with the most marks also stores the weights that the others need
        needs = (name,)
    return needs


def _mark_count(task: Task) -> int:
    training = training_of(task.job)
    assert training is not None and task.stage is not None
    return len(training.recipe.stages[task.stage].marks)


def run_task(
    task: Task, store: RunStore, progress: Progress = silent, distribute: BatchDistributor | None = None
) -> str | None:
    """Run one task; return None, BUSY with the name of a lock, or the error."""
    minutes = task.resources.checkpoints
    store.between_checkpoints = type(store).between_checkpoints if minutes is None else 60 * minutes
    try:
        if task.stage is None:
            return _run_job(task, store, progress, distribute)
        training = training_of(task.job)
        assert training is not None
        train_shared(training, task.stage, store, progress)
        return None
    except BusyError as busy:
        return f"{BUSY}{busy}"
    except ShoalError as problem:
        return record_failure(task, store, str(problem))
    except Exception as problem:
        detail = traceback.format_exc()[-LONGEST_TRACEBACK:]
        return record_failure(task, store, f"{exception_text(problem)} (see error.txt)", detail)


def record_failure(task: Task, store: RunStore, problem: str, detail: str = "") -> str:
    """Write the error of a job; a stage has no folder, so the jobs that need it report its error."""
    if task.stage is None:
        with suppress(StoreError):  # a full disk has no room for error.txt either
            store.write_error(task.job.id, detail or f"{problem}\n")
    return problem


def _run_job(
    task: Task, store: RunStore, progress: Progress, distribute: BatchDistributor | None
) -> str | None:
    job = task.job
    if store.is_done(job.id) and not task.retry_errors and not os.access(store.folder, os.W_OK):
        execute(job, store, progress)  # reads the result; a finished store may be read-only
        return None
    with store.lock(job.id, wait=False) as is_ours:
        if not is_ours:
            return f"{BUSY}{job.id}"
        if (problem := failure_elsewhere(task, store)) is not None:
            return problem
        sweep(store.job_folder(job.id))
        if task.retry_errors and store.is_done(job.id):
            retry_errors(job, store, progress, shared=task.shared)
        execute(job, store, progress, shared=task.shared, distribute=distribute)
        (store.job_folder(job.id) / "error.txt").unlink(missing_ok=True)
    return None


def failure_elsewhere(task: Task, store: RunStore) -> str | None:
    """Return the error of another process that attempted this job since the run began."""
    if store.is_done(task.job.id) or not store.failed_since(task.job.id, task.since):
        return None
    return (store.error(task.job.id).strip() or "another process failed at it").splitlines()[-1]


class Queue:
    """The tasks that can run now; tasks that other processes work on are retried after the others."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks: Mapping[str, Task] = {task.name: task for task in tasks}
        self._order = TopologicalSorter({task.name: task.needs for task in tasks})
        self._order.prepare()
        self._ready: list[str] = []
        self._busy: list[str] = []
        self._put_back_at = 0.0
        self._blocked_since: float | None = None  # by a lock of another process
        self._lock, self._is_reported = "", False
        self._problems: dict[str, str] = {}
        self.left = len(self._tasks)

    def take(self) -> Task | None:
        """Return the next task; None if all that are left wait for others."""
        self._ready += self._order.get_ready()
        if not self._ready and self._busy and time.monotonic() - self._put_back_at > POLL_SECONDS:
            self._ready, self._busy = self._busy, []
        return self._tasks[self._ready.pop(0)] if self._ready else None

    def problem_before(self, task: Task) -> str | None:
        return next((self._problems[name] for name in task.needs if name in self._problems), None)

    def put_back(self, task: Task, lock: str = "") -> None:
        """Return a task to the queue; `lock` is the lock that another process holds."""
        self._busy.append(task.name)
        self._put_back_at = time.monotonic()
        if lock:
            self._lock, self._blocked_since = lock, self._blocked_since or self._put_back_at

    def report_waiting(self, progress: Progress) -> None:
        """Report, once in a run, that this process waits for another."""
        since = self._blocked_since
        if since and time.monotonic() - since > PATIENCE and not self._is_reported:
            self._is_reported = True
            progress(waiting_for(self._lock), 0, 0)

    def end(self, task: Task, problem: str | None) -> Ended:
        self._blocked_since = None
        if problem is not None:
            self._problems[task.name] = problem
        self._order.done(task.name)
        self.left -= 1
        return Ended(task, problem)

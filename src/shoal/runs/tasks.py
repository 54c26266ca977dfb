"""A plan's jobs as tasks: the stages that several jobs share first, each once, then the jobs that need them.

A task is plain data, so that it can be sent anywhere. An executor does tasks whose needs are met and says how each
ended; it knows nothing else.
"""

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Protocol

from ..core.errors import ShoalError, StoreError
from ..core.files import sweep
from ..models.validate import exception_text
from ..training.stage import Progress, silent
from .execute import ask_again, do
from .plan import Job
from .resources import Resources
from .store import PATIENCE, RunStore
from .training import BusyError, is_trained, shared_stages, stage_names, train_shared, training_of

BUSY = "\0busy "
"""How a task ends that another process is at, before the name of the lock: it is looked at again later."""
BETWEEN_LOOKS = 0.2
"""Seconds."""
KEPT = 6_000
"""Letters of a traceback, from its end."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: a stage of training that several jobs share, or a job."""

    name: str
    job: Job
    stage: int | None = None
    """Which stage of the job's training to keep the weights of; None: the job itself."""
    needs: tuple[str, ...] = ()
    """Tasks that must have ended before."""
    shared: frozenset[str] = frozenset()
    """The stages of the job's training whose weights are worth keeping."""
    retry_errors: bool = False
    since: float = 0.0
    """When the run began: what another process has tried since, and failed at, is not tried again."""
    resources: Resources = Resources()
    """What it takes of a machine, for executors that choose one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended."""

    task: Task
    problem: str | None = None
    """What it failed with; None if it did not."""


class Executor(Protocol):
    """Does tasks, each once what it needs has ended, and gives back how each ended."""

    def __call__(
        self, tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int
    ) -> Iterator[Ended]:
        """Do them all."""
        ...


def tasks_of(
    jobs: Sequence[Job],
    store: RunStore,
    *,
    retry_errors: bool = False,
    resources: Mapping[str, Resources] | None = None,
) -> list[Task]:
    """The stages that are shared and not kept yet, and every job; `resources` by protocol."""
    shared, now = shared_stages(jobs), time.time()
    stages: dict[str, Task] = {}
    tasks = []
    for job in jobs:
        takes = (resources or {}).get(job.protocol, Resources())
        own = shared.intersection(stage_names(job))
        needs = () if store.is_done(job.id) else _stage_tasks(job, store, own, stages, takes)
        tasks.append(Task(job.id, job, None, needs, own, retry_errors, now, takes))
    return [*stages.values(), *tasks]


def _stage_tasks(
    job: Job, store: RunStore, shared: frozenset[str], stages: dict[str, Task], takes: Resources
) -> tuple[str, ...]:
    """Adds the stages that this job shares; gives the last of them, which is all that the job waits for."""
    if not shared:
        return ()
    training = training_of(job)
    assert training is not None
    needs: tuple[str, ...] = ()
    for number, (name, stage) in enumerate(zip(training.names, training.recipe.stages, strict=True)):
        # A frozen encoder is encoded together with what is asked.
        if name not in shared or stage.frozen is not None or is_trained(store, name, stage):
            continue
        task = Task(name, job, number, needs, shared, resources=takes)
        if name not in stages or len(stage.marks) > _marks_of(stages[name]):
            stages[name] = task  # who asks most often on the way keeps what the others need too
        needs = (name,)
    return needs


def _marks_of(task: Task) -> int:
    training = training_of(task.job)
    assert training is not None and task.stage is not None
    return len(training.recipe.stages[task.stage].marks)


def run_task(task: Task, store: RunStore, progress: Progress = silent) -> str | None:
    """Do one task; gives None, BUSY with the name of a lock, or what it failed with."""
    minutes = task.resources.checkpoints
    store.between_checkpoints = type(store).between_checkpoints if minutes is None else 60 * minutes
    try:
        if task.stage is None:
            return _job(task, store, progress)
        _stage(task, store, progress)
        return None
    except BusyError as busy:
        return f"{BUSY}{busy}"
    except ShoalError as problem:
        return failed(task, store, str(problem))
    except Exception as problem:
        return failed(
            task, store, f"{exception_text(problem)} (see error.txt)", traceback.format_exc()[-KEPT:]
        )


def failed(task: Task, store: RunStore, problem: str, detail: str = "") -> str:
    """Keep what a job failed with; a stage has no folder of its own, the jobs that need it will say so."""
    if task.stage is None:
        with suppress(
            StoreError
        ):  # a full disk has no room for error.txt either; the problem itself matters more
            store.write_error(task.job.id, detail or f"{problem}\n")
    return problem


def _stage(task: Task, store: RunStore, progress: Progress) -> None:
    training = training_of(task.job)
    assert training is not None and task.stage is not None
    train_shared(training, task.stage, store, progress)


def _job(task: Task, store: RunStore, progress: Progress) -> str | None:
    job = task.job
    with store.lock(job.id, wait=False) as mine:
        if not mine:
            return f"{BUSY}{job.id}"
        if (problem := problem_elsewhere(task, store)) is not None:
            return problem
        sweep(store.job_folder(job.id))
        if task.retry_errors and store.is_done(job.id):
            ask_again(job, store, progress, task.shared)
        do(job, store, progress, task.shared)
        store.forget_error(job.id)
    return None


def problem_elsewhere(task: Task, store: RunStore) -> str | None:
    """What another process failed with that tried this job since the run began."""
    if store.is_done(task.job.id) or not store.failed_since(task.job.id, task.since):
        return None
    return (store.error(task.job.id).strip() or "another process failed at it").splitlines()[-1]


class Queue:
    """The tasks that may be done now; those that are busy elsewhere come again after the others."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks: Mapping[str, Task] = {task.name: task for task in tasks}
        self._order = TopologicalSorter({task.name: task.needs for task in tasks})
        self._order.prepare()
        self._ready: list[str] = []
        self._busy: list[str] = []
        self._waited = 0.0
        self._locks: dict[str, float] = {}  # that others hold, since when we know
        self._told: set[str] = set()
        self._problems: dict[str, str] = {}
        self.left = len(self._tasks)

    def take(self) -> Task | None:
        """The next task to do; None if all that are left wait for others."""
        self._ready += self._order.get_ready()
        if not self._ready and self._busy and time.monotonic() - self._waited > BETWEEN_LOOKS:
            self._ready, self._busy = self._busy, []
        return self._tasks[self._ready.pop(0)] if self._ready else None

    def problem_before(self, task: Task) -> str | None:
        """What a task failed with that this one needs."""
        return next((self._problems[name] for name in task.needs if name in self._problems), None)

    def put_back(self, task: Task, lock: str = "") -> None:
        """Another process is at it, and holds this lock."""
        self._busy.append(task.name)
        self._waited = time.monotonic()
        if lock:
            self._locks.setdefault(lock, self._waited)

    def say_for_whom(self, store: RunStore, progress: Progress) -> None:
        """There is nothing to do but wait: say for whom, once, where it takes longer than a moment."""
        now = time.monotonic()
        for lock, since in self._locks.items():
            if now - since > PATIENCE and lock not in self._told:
                self._told.add(lock)
                progress(store.waiting_for(lock), 0, 0)

    def end(self, task: Task, problem: str | None) -> Ended:
        """It has ended, well or not."""
        self._locks.clear()  # those that are still held are met again
        if problem is not None:
            self._problems[task.name] = problem
        self._order.done(task.name)
        self.left -= 1
        return Ended(task, problem)

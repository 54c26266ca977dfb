"""Executors: where tasks run. Results do not depend on it: a job has its own seed and number of threads.

Here: in this process, or in several processes that share the store. A worker gets one task at a time, so that none
waits while it holds another. A worker that is lost, for example to the kernel's out-of-memory killer, is replaced; its
task is attempted once more and then fails.

The parent never waits for a worker without a limit. It polls the pipe and the liveness of every busy worker, kills a
worker that closed its pipe and does not exit, and retries a task that another process holds every POLL_SECONDS. A run
therefore ends if its tasks do. A worker imports all libraries anew and derives the recipe of its task, so that on a
loaded machine minutes may pass before it creates the store.
"""

import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

from ..core.errors import PlanError, nearest
from ..core.files import for_owner_only
from ..models import is_remote
from ..training.stage import Progress, silent
from .plan import Job
from .settings import Resources
from .store import RunStore
from .tasks import BUSY, POLL_SECONDS, Ended, Executor, Queue, Task, record_failure, run_task, tasks_of

ATTEMPTS = 2
"""How often a task is started if its worker is lost."""
GRACE = 5.0
"""Seconds between terminating and killing a worker."""
BETWEEN_REPORTS = 1.0
"""Seconds between two progress reports of one worker."""

Report = tuple[str, int, int]
"""A step, how much of it is done, and its total; the total is 0 for a message."""

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
        return here if name == "here" else processes
    from .ray_cluster import execute  # imports ray

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
    with for_owner_only(is_private):
        for ended in endings:
            if ended.task.stage is None:
                job, step = ended.task.job, steps[ended.task.job.id]
                count[step] += 1
                if len(jobs) > 1:
                    progress(step, count[step], total[step])
                yield job, ended.problem


def run_here(
    jobs: Sequence[Job], store: RunStore, progress: Progress = silent, *, retry_errors: bool = False
) -> Iterator[tuple[Job, str | None]]:
    """Run every job in this process; see `run_jobs`."""
    return run_jobs(jobs, store, progress, retry_errors=retry_errors, on="here")


def here(tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 1) -> Iterator[Ended]:
    """Run the tasks one after the other in this process."""
    queue = Queue(tasks)
    while queue.left:
        task = queue.take()
        if task is None:
            queue.report_waiting(progress)
            time.sleep(POLL_SECONDS)
            continue
        before = queue.problem_before(task)
        problem = run_task(task, store, progress) if before is None else record_failure(task, store, before)
        if problem is not None and problem.startswith(BUSY):
            queue.put_back(task, problem.removeprefix(BUSY))
        else:
            yield queue.end(task, problem)


@dataclass(slots=True)
class Worker:
    process: BaseProcess
    pipe: "Connection[Task | None, Report | str | None]"
    task: Task | None = field(default=None)

    def give(self, task: Task) -> None:
        """Send a task; if the worker was lost while idle, the task counts as lost with it."""
        self.task = task
        with suppress(ConnectionError):
            self.pipe.send(task)

    def stop(self) -> None:
        """End the process, by force if it is busy."""
        if self.task is not None:
            self.process.terminate()
        with suppress(OSError):
            self.pipe.send(None)
        self.reap()
        self.pipe.close()

    def reap(self) -> None:
        """Wait for the end of the process, and kill it if that takes longer than GRACE.

        Model code may ignore SIGTERM, or leave a thread running that keeps the process alive after `sys.exit`.
        """
        self.process.join(GRACE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def processes(
    tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 2
) -> Iterator[Ended]:
    queue, lost = Queue(tasks), Counter[str]()
    count = min(workers, len(tasks))
    progress(f"starting {count} worker{'s' * (count > 1)}", 0, 0)
    team = [_start(store.folder) for _ in range(count)]
    try:
        while queue.left:
            yield from _give_out(queue, team, store)
            if all(worker.task is None for worker in team):
                queue.report_waiting(progress)
            for number, worker in _with_news(team):
                news = _receive(worker)
                if isinstance(news, tuple):
                    step, done, total = news
                    progress(f"worker {number + 1}: {step}" if total else step, done, total)
                    continue
                task, problem = worker.task, news
                assert task is not None
                if problem is not None and problem.startswith(BUSY):
                    queue.put_back(task, problem.removeprefix(BUSY))
                    worker.task = None
                    continue
                if problem is not None and not worker.process.is_alive():
                    worker.pipe.close()
                    team[number] = _start(store.folder)
                    lost[task.name] += 1
                    if lost[task.name] < ATTEMPTS:
                        queue.put_back(task)
                        continue
                    record_failure(task, store, problem)
                worker.task = None
                yield queue.end(task, problem)
    finally:
        for worker in team:
            worker.stop()


def _give_out(queue: Queue, team: Sequence[Worker], store: RunStore) -> Iterator[Ended]:
    """Give every idle worker a task, and yield the tasks that cannot run because one before them failed."""
    for worker in team:
        while worker.task is None and (task := queue.take()) is not None:
            problem = queue.problem_before(task)
            if problem is None:
                worker.give(task)
            else:
                yield queue.end(task, record_failure(task, store, problem))


def _with_news(team: Sequence[Worker]) -> list[tuple[int, Worker]]:
    """Return the workers that sent something or were lost, after at most POLL_SECONDS.

    A process that the model's code forked keeps the pipe and the sentinel of a lost worker open, so that only
    `is_alive` shows the loss.
    """
    pipes = [worker.pipe for worker in team if worker.task is not None]
    ready = wait(pipes, timeout=POLL_SECONDS)
    return [
        (number, worker)
        for number, worker in enumerate(team)
        if worker.task is not None and (worker.pipe in ready or not worker.process.is_alive())
    ]


def _receive(worker: Worker) -> Report | str | None:
    """Return a progress report, or the end of the task: None or an error."""
    try:
        if worker.process.is_alive() or worker.pipe.poll():
            return worker.pipe.recv()
    except (EOFError, ConnectionError):
        pass
    worker.reap()
    code = worker.process.exitcode or 0
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return (
        f"the worker process was lost twice ({how})\n"
        "  why: the kernel kills processes when memory is short\n"
        "  try: fewer --workers, or more memory"
    )


def _start(folder: Path) -> Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, folder), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _work(pipe: "Connection[Report | str | None, Task | None]", folder: Path) -> None:
    """Run tasks until there are no more; the parent handles interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    store, report = RunStore(folder), _reporter(pipe)
    with suppress(EOFError, ConnectionError):  # the parent has ended
        while (task := pipe.recv()) is not None:
            pipe.send(run_task(task, store, report))


def _reporter(pipe: "Connection[Report | str | None, Task | None]") -> Progress:
    """Return a progress function that sends every message, and counts once a second."""
    last, sending = 0.0, Lock()

    def report(step: str, done: int, total: int) -> None:
        nonlocal last
        if total and time.monotonic() - last < BETWEEN_REPORTS:
            return
        last = time.monotonic()
        try:
            with sending:
                pipe.send((step, done, total))
        except ConnectionError:
            sys.exit()  # the parent has ended; the next run resumes from the store

    return report

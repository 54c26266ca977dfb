"""Executors on this machine: in this process, or in several processes that share the store.

A worker gets one task at a time, so that none waits while it holds another. A worker that is lost, for example to the
kernel's out-of-memory killer, is replaced; its task is attempted once more and then fails.

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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

from ...training.stage import Progress
from ..store import RunStore
from ..tasks import BUSY, POLL_SECONDS, Ended, Queue, Task, record_failure, run_task

ATTEMPTS = 2
"""How often a task is started if its worker is lost."""
GRACE = 5.0
"""Seconds between terminating and killing a worker."""
BETWEEN_REPORTS = 1.0
"""Seconds between two progress reports of one worker."""

Report = tuple[str, int, int]
"""A step, how much of it is done, and its total; the total is 0 for a message."""


def here(tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 1) -> Iterator[Ended]:
    """Run the tasks one after the other in this process."""
    queue = Queue(tasks)
    while queue.left:
        task = queue.take()
        if task is None:
            queue.report_waiting(store, progress)
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

    def give(self, task: Task) -> bool:
        """Send a task; return False if the worker was lost while idle."""
        try:
            self.pipe.send(task)
        except ConnectionError:
            return False
        self.task = task
        return True

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
            yield from _give_out(queue, team, store, lost)
            if all(worker.task is None for worker in team):
                queue.report_waiting(store, progress)
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


def _give_out(queue: Queue, team: list[Worker], store: RunStore, lost: Counter[str]) -> Iterator[Ended]:
    """Give every idle worker a task, and yield the tasks that cannot run because one before them failed."""
    for number in range(len(team)):
        while team[number].task is None and (task := queue.take()) is not None:
            problem = queue.problem_before(task)
            if problem is None and not team[number].give(task):
                # An idle worker may be lost for any reason; one that is lost repeatedly cannot start.
                lost[task.name] += 1
                before, team[number] = team[number], _start(store.folder)
                if lost[task.name] <= ATTEMPTS:
                    queue.put_back(task)
                    continue
                before.reap()
                problem = _loss(before)
            if problem is not None:
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
    return _loss(worker)


def _loss(worker: Worker) -> str:
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

"""Several processes on this machine, all of them on one store.

A worker does one task at a time and is given the next when it has ended, so none holds a place while it waits for
another. A worker that is lost, as when the kernel kills it for want of memory, is replaced; its task is done again
once, and then counts as failed.
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
from ..tasks import BETWEEN_LOOKS, BUSY, Ended, Queue, Task, failed, run_task

TRIES = 2
"""How often a task is begun whose worker is lost."""
GRACE = 5.0
"""Seconds that a terminated worker gets to end before it is killed."""
BETWEEN_REPORTS = 1.0
"""Seconds between two progress reports of one worker."""

Report = tuple[str, int, int]
"""A step, how much of it is done, and its total; the total is 0 for a message."""


@dataclass(slots=True)
class Worker:
    """A process, and what it is at."""

    process: BaseProcess
    pipe: "Connection[Task | None, Report | str | None]"
    task: Task | None = field(default=None)

    def give(self, task: Task) -> bool:
        """Let it do a task; False where it was lost while it had none."""
        try:
            self.pipe.send(task)
        except ConnectionError:
            return False
        self.task = task
        return True

    def stop(self) -> None:
        """Let it end, or end it if it is at something."""
        if self.task is not None:
            self.process.terminate()
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(GRACE)
        if self.process.is_alive():  # the model's code ignores SIGTERM
            self.process.kill()
            self.process.join()
        self.pipe.close()


def execute(tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 2) -> Iterator[Ended]:
    """Do the tasks, so many at a time."""
    queue, lost = Queue(tasks), Counter[str]()
    count = min(workers, len(tasks))
    progress(f"starting {count} worker{'s' * (count > 1)}", 0, 0)
    team = [_start(store.folder) for _ in range(count)]
    try:
        while queue.left:
            yield from _give_out(queue, team, store, lost)
            if all(worker.task is None for worker in team):
                queue.say_for_whom(store, progress)
            for number, worker in _heard_from(team):
                answer = _receive(worker)
                if isinstance(answer, tuple):
                    step, done, total = answer
                    progress(f"worker {number + 1}: {step}" if total else step, done, total)
                    continue
                task, problem = worker.task, answer
                assert task is not None
                if problem is not None and problem.startswith(BUSY):
                    queue.put_back(task, problem.removeprefix(BUSY))
                    worker.task = None
                    continue
                if problem is not None and not worker.process.is_alive():
                    worker.pipe.close()
                    team[number] = _start(store.folder)
                    lost[task.name] += 1
                    if lost[task.name] < TRIES:
                        queue.put_back(task)
                        continue
                    failed(task, store, problem)
                worker.task = None
                yield queue.end(task, problem)
    finally:
        for worker in team:
            worker.stop()


def _give_out(queue: Queue, team: list[Worker], store: RunStore, lost: Counter[str]) -> Iterator[Ended]:
    """A task for every worker that has none; those that cannot be done any more end here."""
    for number in range(len(team)):
        while team[number].task is None and (task := queue.take()) is not None:
            problem = queue.problem_before(task)
            if problem is None and not team[number].give(task):
                # An idle worker may be lost for any reason; one that is lost again and again cannot start.
                lost[task.name] += 1
                before, team[number] = team[number], _start(store.folder)
                if lost[task.name] <= TRIES:
                    queue.put_back(task)
                    continue
                before.process.join()
                problem = _how_lost(before)
            if problem is not None:
                yield queue.end(task, failed(task, store, problem))


def _heard_from(team: Sequence[Worker]) -> list[tuple[int, Worker]]:
    """The workers that have something to say or were lost; none after a short while.

    A process that the model's code has forked keeps the pipe and the sentinel of a lost worker open, so only asking
    whether the worker is alive shows its loss.
    """
    pipes = [worker.pipe for worker in team if worker.task is not None]
    ready = wait(pipes, timeout=BETWEEN_LOOKS)
    return [
        (number, worker)
        for number, worker in enumerate(team)
        if worker.task is not None and (worker.pipe in ready or not worker.process.is_alive())
    ]


def _receive(worker: Worker) -> Report | str | None:
    """Progress, or how its task ended; of a lost worker, how it was lost."""
    try:
        if worker.process.is_alive() or worker.pipe.poll():
            return worker.pipe.recv()
    except (EOFError, ConnectionError):
        pass
    worker.process.join()
    return _how_lost(worker)


def _how_lost(worker: Worker) -> str:
    code = worker.process.exitcode or 0
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return (
        f"the process that did it was lost ({how})\n"
        "  why: the kernel ends a process so when memory is short; this was tried twice\n"
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
    """Do tasks until there are no more. Interrupts are the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    store, tell = RunStore(folder), _reporter(pipe)
    with suppress(EOFError, ConnectionError):  # the parent has ended
        while (task := pipe.recv()) is not None:
            pipe.send(run_task(task, store, tell))


def _reporter(pipe: "Connection[Report | str | None, Task | None]") -> Progress:
    """A progress function that reports to the parent: every message, and counts once a second."""
    last, one_at_a_time = 0.0, Lock()

    def tell(step: str, done: int, total: int) -> None:
        nonlocal last
        if total and time.monotonic() - last < BETWEEN_REPORTS:
            return
        last = time.monotonic()
        try:
            with one_at_a_time:
                pipe.send((step, done, total))
        except ConnectionError:
            sys.exit()  # the parent has ended: stop here, the next run goes on from what is kept

    return tell

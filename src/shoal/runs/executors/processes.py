"""Several processes on this machine, all of them on one store.

A worker does one task at a time and is given the next when it has ended, so none holds a place while it waits for
another. A worker that is lost, as when the kernel kills it for want of memory, is replaced; its task is done again
once, and then counts as failed.
"""

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from ...training.stage import Progress
from ..store import RunStore
from ..tasks import BETWEEN_LOOKS, BUSY, Ended, Queue, Task, failed, run_task

TRIES = 2
"""How often a task is begun whose worker is lost."""


@dataclass(slots=True)
class Worker:
    """A process, and what it is at."""

    process: BaseProcess
    pipe: "Connection[Task | None, str | None]"
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
        with suppress(ConnectionError):
            self.pipe.send(None)
        self.process.join()
        self.pipe.close()


def execute(tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 2) -> Iterator[Ended]:
    """Do the tasks, so many at a time."""
    queue, lost = Queue(tasks), Counter[str]()
    team = [_start(store.folder) for _ in range(min(workers, len(tasks)))]
    try:
        while queue.left:
            yield from _give_out(queue, team, store)
            if all(worker.task is None for worker in team):
                queue.say_for_whom(store, progress)
            for number, worker in _heard_from(team):
                task, problem = worker.task, _said(worker)
                assert task is not None
                if problem is not None and problem.startswith(BUSY):
                    queue.put_back(task, problem.removeprefix(BUSY))
                    worker.task = None
                    continue
                if problem is not None and not worker.process.is_alive():
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


def _give_out(queue: Queue, team: list[Worker], store: RunStore) -> Iterator[Ended]:
    """A task for every worker that has none; those that cannot be done any more end here."""
    for number in range(len(team)):
        while team[number].task is None and (task := queue.take()) is not None:
            problem = queue.problem_before(task)
            if problem is not None:
                yield queue.end(task, failed(task, store, problem))
            elif not team[number].give(task):
                team[number] = _start(store.folder)
                queue.put_back(task)


def _heard_from(team: Sequence[Worker]) -> list[tuple[int, Worker]]:
    """The workers that have ended a task or were lost; none after a short while."""
    signs = {worker.pipe: number for number, worker in enumerate(team) if worker.task is not None}
    ready = wait(list(signs), timeout=BETWEEN_LOOKS)
    return [(signs[pipe], team[signs[pipe]]) for pipe in ready]  # type: ignore[index]


def _said(worker: Worker) -> str | None:
    """How its task ended; of a lost worker, how it was lost."""
    try:
        return worker.pipe.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
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


def _work(pipe: "Connection[str | None, Task | None]", folder: Path) -> None:
    """Do tasks until there are no more. Interrupts are the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    store = RunStore(folder)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, ConnectionError):
            return
        if task is None:
            return
        pipe.send(run_task(task, store))

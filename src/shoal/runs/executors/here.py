"""One task after the other, in this process; several such processes may share a store."""

import time
from collections.abc import Iterator, Sequence

from ...training.stage import Progress
from ..store import RunStore
from ..tasks import BETWEEN_LOOKS, BUSY, Ended, Queue, Task, failed, run_task


def execute(tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 1) -> Iterator[Ended]:
    """Do the tasks in the order of their needs."""
    queue = Queue(tasks)
    while queue.left:
        task = queue.take()
        if task is None:
            queue.say_for_whom(store, progress)
            time.sleep(BETWEEN_LOOKS)
            continue
        before = queue.problem_before(task)
        problem = run_task(task, store, progress) if before is None else failed(task, store, before)
        if problem is not None and problem.startswith(BUSY):
            queue.put_back(task, problem.removeprefix(BUSY))
        else:
            yield queue.end(task, problem)

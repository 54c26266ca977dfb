"""Run tasks on a Ray cluster, an existing one or one started here; the only module that imports ray.

    driver                                     worker, on any node
    ──────                                     ───────────────────
    takes the locks of the task
    sends its stored files ──────────────────► writes them to a folder of its own
                                               run_task
    writes new files       ◄──── mailbox ───── new files, every few seconds
    writes the rest        ◄────────────────── remaining files, and the error if there is one

Only the driver writes the store, so nodes need no shared disk. A task that is lost with its worker or its node is
started again from the files sent so far. A large job is split into blocks of its batch plan.
"""

import logging
import os
import shutil
import socket
import tempfile
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from .. import __version__
from ..core.errors import MissingExtra, PlanError, ShoalError
from ..core.records import Answer
from ..training.stage import Progress, silent
from .execute import Ask, Batches, DirectAnswers
from .object_transfer import (
    Files,
    Workplace,
    files_in,
    inputs_of,
    kept_for,
    lock_for,
    put_in_place,
    tidy,
)
from .scoring import load_for
from .settings import Resources
from .store import RunStore
from .tasks import POLL_SECONDS, Ended, Queue, Task, failure_elsewhere, record_failure, run_task

try:
    import ray
    from ray.exceptions import NodeDiedError, ObjectLostError, RayError, RayTaskError, WorkerCrashedError
    from ray.util.queue import Queue as Mailbox
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ModuleNotFoundError as problem:
    if problem.name != "ray":
        raise
    raise MissingExtra("ray", needed_for="--on ray") from None

BETWEEN_MAILS = 2.0
"""Seconds between two looks for new files: the most work that a lost node costs, apart from its current batch."""
TRIES = 5
"""Attempts at a task whose worker or node is lost."""
REFERENCES = 32
"""Files kept in the object store for later tasks; files of running tasks stay anyway."""
BLOCK = 4
"""Batches that a copy of the model gets at a time."""
FOLDER = "shoal-ray"
LOSSES = (NodeDiedError, ObjectLostError, WorkerCrashedError)


def execute(
    tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int = 1, address: str = ""
) -> Iterator[Ended]:
    """Run the tasks on a cluster: at this address, where Ray finds one, or started here."""
    with _cluster(address):
        driver = _Driver(tasks, store, progress, workers)
        try:
            yield from driver.run()
        finally:
            driver.leave()


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """Connect to the cluster; a connection that the caller opened is used and left open."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    named = address or os.environ.get("RAY_ADDRESS", "")
    on = named if named.startswith("ray://") else f"ray:{named}".removesuffix(":")
    quiet: dict[str, Any] = (
        {} if named.startswith("ray://") else {"log_to_driver": False, "include_dashboard": False}
    )
    # Ray prints messages about lost nodes to standard output; the driver handles lost nodes itself.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    try:
        _knock(named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the error that follows says the same
            ray.init(address=address or None, logging_level=logging.ERROR, **quiet)
    except (OSError, RuntimeError, ValueError, OverflowError, ImportError) as trouble:
        raise PlanError(
            f"--on {on}: no cluster answers there",
            why=next(iter(str(trouble).strip().splitlines()), type(trouble).__name__),
            fix="ray start --head on that machine, with the Ray and Python of this one, then --on ray:HOST:6379 or "
            "ray://HOST:10001; --on ray:local starts a cluster here",
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise if no cluster answers at HOST:PORT; Ray would wait for minutes, or end the process."""
    if address in ("", "auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError(f"{address} is not HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


# The driver


@dataclass(slots=True)
class _Flight:
    task: Task
    attempt: int
    lock: ExitStack


class _Driver:
    """Sends tasks to workers and writes their files to the store."""

    def __init__(self, tasks: Sequence[Task], store: RunStore, progress: Progress, workers: int) -> None:
        self.store, self.progress, self.workers = store, progress, workers
        self.queue = Queue(tasks)
        self.run_name = uuid4().hex[:12]
        # On the cluster's head node; it lives as long as the cluster.
        self.mailbox: Any = Mailbox(
            actor_options={"num_cpus": 0, "resources": {"node:__internal_head__": 0.001}}
        )
        self.flights: dict[Any, _Flight] = {}  # by the reference to its result
        self.attempts = 0
        self.lost = Counter[str]()
        self.references: dict[tuple[str, object], Any] = {}
        self.looked, self.mailed = 0.0, time.monotonic()
        self.nodes: list[Mapping[str, float]] = []
        self.reported: set[Resources] = set()

    def run(self) -> Iterator[Ended]:
        """Yield the end of every task."""
        while self.queue.left:
            yield from (*self._give_out(), *self._landed())
            if time.monotonic() - self.mailed > BETWEEN_MAILS:
                self._read_mail()

    def leave(self) -> None:
        """Cancel running tasks and release their locks; files received so far stay."""
        with suppress(RayError):
            self._read_mail()
            for reference in self.flights:
                ray.cancel(reference, force=True)
            alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
            places = [NodeAffinitySchedulingStrategy(node, soft=False) for node in alive]
            swept = [sweep_node.options(scheduling_strategy=on).remote(self.run_name) for on in places]
            ray.wait(swept, num_returns=len(swept), timeout=10)
            ray.kill(self.mailbox.actor)
        for flight in self.flights.values():
            flight.lock.close()

    # Sending

    def _give_out(self) -> Iterator[Ended]:
        """Send tasks while there is room; yield those that end without a worker."""
        waiting = True
        while self.queue.left and (task := self._next()) is not None:
            waiting = False
            before = self.queue.problem_before(task) or failure_elsewhere(task, self.store)
            if before is not None:
                yield self.queue.end(task, record_failure(task, self.store, before))
            elif task.stage is None and self.store.is_done(task.job.id) and not task.retry_errors:
                yield self.queue.end(task, run_task(task, self.store))
            else:
                self._send(task)
        if waiting and not self.flights and self.queue.left:
            self.queue.report_waiting(self.progress)
            time.sleep(POLL_SECONDS)

    def _next(self) -> Task | None:
        """Return the next task if there is room: enough that no worker waits for the driver."""
        least = next(iter(self.flights.values())).task.resources if self.flights else Resources()
        room = self.workers if self.workers > 1 else max(1, 2 * self._places(least))
        return self.queue.take() if len(self.flights) < room else None

    def _send(self, task: Task) -> None:
        lock = ExitStack()
        if not lock.enter_context(self.store.lock(lock_for(task), wait=False)):
            self.queue.put_back(task, lock_for(task))
            return
        takes = task.resources
        if takes.cores is None:  # the threads of its training
            takes = replace(takes, cores=float(task.job.identity.get("training", {}).get("threads", 1)))
        places = self._places(takes)
        if not places and takes not in self.reported:
            self.reported.add(takes)
            wanted = f"{takes.cores:g} cores, {takes.gpus:g} GPUs, {takes.memory:,} bytes"
            self.progress(f"waiting for {wanted}: no node of the cluster has that much", 0, 0)
        self.attempts += 1
        reserved = {"num_cpus": takes.cores, "num_gpus": takes.gpus, "memory": takes.memory or None}
        order = Order(
            self.run_name,
            task,
            reserved,
            self.attempts,
            {name: self._kept(name) for name in kept_for(task, self.store)},
            str(Path.cwd()),
            {str(path): self._input(path) for path in inputs_of(task.job)},
            self.mailbox,
            places if len(self.flights) < places // 2 or places > self.queue.left else 1,
        )
        self.flights[work.options(**reserved).remote(order)] = _Flight(task, self.attempts, lock)

    def _kept(self, name: str) -> Any:
        """Return a reference to the content of a stored file."""
        path = self.store.folder / name
        if name.startswith(("jobs/", "midway/")):
            return ray.put(path.read_bytes())  # used by this task only
        status = path.stat()
        return self._held_reference(name, (status.st_mtime_ns, status.st_size), path.read_bytes)

    def _input(self, path: Path) -> tuple[object, Any]:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        version = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
        return hash(version), self._held_reference(str(path), version, partial(files_in, path))

    def _held_reference(self, name: str, version: object, read: Callable[[], object]) -> Any:
        """Return a reference to content in the object store, shared by all tasks that need it."""
        key = name, version
        if key not in self.references:
            if len(self.references) >= REFERENCES:
                self.references.clear()
            self.references[key] = ray.put(read())
        return self.references[key]

    def _places(self, takes: Resources) -> int:
        """Return how many such tasks the cluster can run at a time."""
        if time.monotonic() - self.looked > BETWEEN_MAILS:
            self.nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            self.looked = time.monotonic()
        wanted = {"CPU": takes.cores or 1, "GPU": takes.gpus, "memory": takes.memory}
        return sum(
            int(min(node.get(name, 0) / amount for name, amount in wanted.items() if amount))
            for node in self.nodes
        )

    # Receiving

    def _landed(self) -> Iterator[Ended]:
        """Yield the tasks that have ended, after at most POLL_SECONDS."""
        if not self.flights:
            return
        ready, _ = ray.wait(list(self.flights), num_returns=1, timeout=POLL_SECONDS)
        if ready:
            self._read_mail()
            ready, _ = ray.wait(list(self.flights), num_returns=len(self.flights), timeout=0)
        for reference in ready:
            flight = self.flights.pop(reference)
            try:
                yield from self._take_back(flight, reference)
            finally:
                flight.lock.close()

    def _take_back(self, flight: _Flight, reference: Any) -> Iterator[Ended]:
        task = flight.task
        try:
            problem, files = ray.get(reference)
        except RayError as trouble:
            if isinstance(trouble, RayTaskError) and not isinstance(trouble.cause, LOSSES):
                yield self.queue.end(task, record_failure(task, self.store, str(_not_begun(trouble.cause))))
            elif self.lost[task.name] + 1 >= TRIES:
                lost = ShoalError(
                    "its worker was lost several times",
                    why=f"{type(trouble).__name__}: {str(trouble).strip().splitlines()[0]}",
                    fix="reserve memory for it in [resources] of the plan; see ray logs",
                )
                yield self.queue.end(task, record_failure(task, self.store, str(lost)))
            else:
                self.lost[task.name] += 1
                self.references.clear()  # some may be lost too
                self.queue.put_back(task)
            return
        put_in_place(files, self.store)
        if problem is None:
            tidy(task, self.store)
        yield self.queue.end(task, problem)

    def _read_mail(self) -> None:
        """Write the files that running tasks have sent."""
        self.mailed = time.monotonic()
        flying = {flight.attempt for flight in self.flights.values()}
        for attempt, files in self.mailbox.get_nowait_batch(self.mailbox.qsize()):
            if attempt in flying:
                put_in_place(files, self.store)


def _not_begun(cause: Exception) -> ShoalError:
    if isinstance(cause, ShoalError):
        return cause
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return PlanError(
        f"a worker could not begin: {type(cause).__name__}: {lines[-1] if lines else ''}",
        why="a package is missing on that node, or has another version there",
        fix=f'pip install "shoal[ray]=={__version__}" on every node, with the extras that the plan needs',
    )


# The workers


@dataclass(frozen=True, slots=True)
class Order:
    """A task with everything a worker needs; content is fetched if the worker does not have it."""

    run: str
    task: Task
    reserved: Mapping[str, Any]
    """What Ray reserves for the task, and for each copy of its model."""
    attempt: int
    kept: Mapping[str, Any]
    folder: str
    inputs: Mapping[str, tuple[object, Any]]
    mailbox: Any
    copies: int
    """How many copies of the model may answer a large job; 1 if it is not split."""
    shoal: str = __version__


@ray.remote(max_retries=0)
def work(order: Order) -> tuple[str | None, Files]:
    """Run a task; return its error and the files not sent yet."""
    place = _prepared(order)
    distribute = partial(_distribute, order) if order.copies > 1 else None
    with _mailing(place, order):
        problem = run_task(order.task, place.store, distribute=distribute)
    return problem, place.news(done=True)


def _prepared(order: Order) -> Workplace:
    """Return the folder of this process, prepared for a task."""
    if order.shoal != __version__:
        raise PlanError(
            f"shoal {__version__} on a node, {order.shoal} where the plan is run",
            why="another version may compute other numbers",
            fix=f'pip install "shoal=={order.shoal}" on every node',
        )
    place = _workplace(order.run)
    inputs = {name: (version, _fetch(where)) for name, (version, where) in order.inputs.items()}
    place.go_to(order.folder, inputs)
    place.lay_out({name: _fetch(where) for name, where in order.kept.items()})
    place.refuse_other(order.task.job)
    return place


def _fetch(where: Any) -> Callable[[], Any]:
    return lambda: ray.get(where)


@lru_cache(maxsize=1)
def _workplace(run: str) -> Workplace:
    """Return the folder of this process for a run."""
    _sweep()
    return Workplace(Path(tempfile.gettempdir()) / f"{FOLDER}-{run}-{os.getpid()}")


@contextmanager
def _mailing(place: Workplace, order: Order) -> Iterator[None]:
    """Send new files every few seconds while the block runs."""
    over = Event()

    def mail() -> None:
        while not over.wait(BETWEEN_MAILS):
            if news := place.news(done=False):
                order.mailbox.put((order.attempt, news))

    thread = Thread(target=mail, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _sweep(ended: str = "") -> None:
    """Remove the folders of workers on this machine that are no more, or whose run has ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}-*-*"):
        run, _, process = folder.name.removeprefix(f"{FOLDER}-").rpartition("-")
        if process.isdecimal() and (run == ended or not _is_alive(int(process))):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@ray.remote(num_cpus=0, max_retries=0)
def sweep_node(run: str) -> None:
    """Remove the folders of a run's workers on this node."""
    _sweep(run)


# Large jobs


def _distribute(order: Order, local: Ask, batches: Batches) -> Iterator[Sequence[Answer]]:
    """Yield the answers to batches in their order, from several copies of the model; few batches are answered here.

    A worker that waits for a block holds no core: Ray lends it to another task.
    """
    blocks = [batches[start : start + BLOCK] for start in range(0, len(batches), BLOCK)]
    if len(blocks) < 2:
        yield from local(batches)
        return
    kept = {name: where for name, where in order.kept.items() if name.startswith("cases/")}
    lean = replace(order, kept=kept, mailbox=None, copies=1)
    ask = partial(ask_block.options(**order.reserved).remote, lean)
    ahead = 2 * order.copies
    waiting = deque(ask(block) for block in blocks[:ahead])
    for number, block in enumerate(blocks):
        reference = waiting.popleft()
        waiting.extend(ask(following) for following in blocks[number + ahead : number + ahead + 1])
        yield from _answered(reference, partial(ask, block))


def _answered(reference: Any, ask_again: Callable[[], Any]) -> list[Sequence[Answer]]:
    """Return the answers to a block; ask again if its node is lost."""
    for _ in range(TRIES):
        try:
            answers: list[Sequence[Answer]] = ray.get(reference)
            return answers
        except RayTaskError as trouble:
            if not isinstance(trouble.cause, LOSSES):
                raise
        except RayError:
            pass
        reference = ask_again()
    answers = ray.get(reference)
    return answers


_copies: dict[str, DirectAnswers] = {}


@ray.remote(max_retries=0)
def ask_block(order: Order, block: Batches) -> list[Sequence[Answer]]:
    """Return the answers to some batches of a job, from a copy of its model that this process keeps."""
    job = order.task.job
    if job.id not in _copies:
        place = _prepared(order)
        _copies.clear()
        _copies[job.id] = DirectAnswers(job, load_for(job), place.store.built(job, silent))
    return list(_copies[job.id].answer(block))

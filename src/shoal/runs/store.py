"""Results on disk, and what is done already.

    runs/
      cases/behaviour-sentiment-91be77d0.jsonl         what every model is shown
      jobs/behaviour-my-model-sentiment-3f9c1a2b/
          job.json                what was asked, in full, and which cases
          checks.json             whether the answers can be trusted, as far as a few questions told
          answers.partial.jsonl   while the model is being asked: whole batches, in the order of the batch plan
          answers.jsonl           what the model said; its presence means the slow part is done
          answers.digest          what its content was when it was put there, so that damage shows
          measures.json           rebuilt from cases and answers whenever scoring changes; no model needed
          error.txt               only if the last try failed
      checkpoints/, features/     what several jobs share of their trainings (`training.py`)

Nothing else is consulted: no database, no status field to go stale. Locks are the operating system's own and end with
the process that held them, however it ended.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from ..errors import DataError, StoreError
from ..files import digest, read_json_lines, sweep, writing
from ..protocols import find_protocol
from ..protocols.base import Built
from ..records import Answer
from ..training.stage import Progress
from .cases import DamagedError, load_built, save_built
from .plan import Job

if TYPE_CHECKING:
    from .remembering import Memory


class RunStore:
    """A folder that keeps the results of jobs."""

    memory: "Memory | None" = None
    """What models have said in this process, where that is to be used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"RunStore({str(self.folder)!r})"

    # Cases

    def cases_file(self, job: Job) -> Path:
        """Where the cases of a job are; jobs with the same cases share them."""
        return self.folder / "cases" / f"{job.cases}.jsonl"

    def built(self, job: Job, progress: Progress) -> Built:
        """The cases of a job, built unless they are kept, and read once for all jobs that share them."""
        path = self.cases_file(job)
        if path.exists():  # nothing is written then: a finished store may be read-only
            try:
                return _load_once(path, path.stat().st_mtime_ns)
            except DamagedError:
                pass  # it is built again, from the same settings
        with making(path.parent), self.lock(job.cases, wait=True):
            sweep(path.parent, path.name)
            if not path.exists() or not _is_whole(path):
                save_built(find_protocol(job.protocol).build(job.settings, progress), path)
        return _load_once(path, path.stat().st_mtime_ns)

    # Jobs

    def job_folder(self, job_id: str) -> Path:
        """Where a job's files are."""
        return self.folder / "jobs" / job_id

    def is_done(self, job_id: str) -> bool:
        """Whether the model has answered everything."""
        return (self.job_folder(job_id) / "answers.jsonl").exists()

    def error(self, job_id: str) -> str:
        """What the last try failed with; empty if it did not fail."""
        path = self.job_folder(job_id) / "error.txt"
        return path.read_text() if path.exists() else ""

    def kept(self, job_id: str) -> int:
        """How many answers of an unfinished job are there."""
        path = self.job_folder(job_id) / "answers.partial.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def find(self, name: str) -> str:
        """The id of the one job whose id holds this."""
        known = self.job_ids()
        matching = (
            [name] if name in known else [job_id for job_id in known if name.strip() and name in job_id]
        )
        if len(matching) != 1:
            what = "no job" if not matching else f"{len(matching)} jobs"
            raise StoreError(
                f"{self.folder}: {what} called {name!r}",
                why=("there are: " if known else "there are none") + ", ".join((matching or known)[:8]),
                fix="shoal status PLAN",
            )
        return matching[0]

    def job_ids(self) -> list[str]:
        """Every job that was ever started here."""
        return sorted(path.parent.name for path in self.folder.glob("jobs/*/job.json"))

    def read_job(self, job_id: str) -> dict[str, Any]:
        """What `job.json` says."""
        path = self.job_folder(job_id) / "job.json"
        try:
            job: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError) as problem:
            raise StoreError(
                f"{path}: cannot be read", why=str(problem), fix="remove its folder, and run the plan again"
            ) from None
        return job

    @contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold the lock of this name while the block runs; gives False at once if another has it and `wait` is off."""
        path = self.folder / "locks" / f"{name}.lock"
        with making(path.parent):
            lock = FileLock(path)
            try:
                lock.acquire(blocking=wait)
            except Timeout:
                yield False
                return
            try:
                yield True
            finally:
                lock.release()

    def write_job(self, job: Job) -> None:
        """Say what is being asked."""
        folder = self.job_folder(job.id)
        with making(folder), writing(folder / "job.json") as stream:
            json.dump(job.as_json(), stream, indent=1)

    def write_checks(self, job_id: str, checks: Sequence[dict[str, Any]]) -> None:
        """Keep what the model's self-check said before it was asked in earnest."""
        with writing(self.job_folder(job_id) / "checks.json") as stream:
            json.dump(checks, stream, indent=1)

    def has_checks(self, job_id: str) -> bool:
        """Whether the self-check was made, and what it said can be read."""
        return _read_json(self.job_folder(job_id) / "checks.json") is not None

    def read_checks(self, job_id: str) -> list[dict[str, Any]]:
        """What the self-check said."""
        checks = _read_json(self.job_folder(job_id) / "checks.json")
        return checks if isinstance(checks, list) else []

    def write_measures(self, job_id: str, scored: dict[str, Any]) -> None:
        """Keep the measures, with the scoring settings they were made under."""
        with writing(self.job_folder(job_id) / "measures.json") as stream:
            json.dump({"digest": _digest(scored), **scored}, stream, indent=1)

    def read_measures(self, job_id: str) -> dict[str, Any] | None:
        """The measures, unless there are none, the answers are newer, or the file is damaged: they are made again."""
        path, answers = (self.job_folder(job_id) / name for name in ("measures.json", "answers.jsonl"))
        if not path.exists() or path.stat().st_mtime_ns < answers.stat().st_mtime_ns:
            return None
        scored = _read_json(path)
        if not isinstance(scored, dict):
            return None
        return scored if scored.pop("digest", "") == _digest(scored) else None

    def write_error(self, job_id: str, text: str) -> None:
        """Keep what a job failed with."""
        with making(self.job_folder(job_id)), writing(self.job_folder(job_id) / "error.txt") as stream:
            stream.write(text)

    def failed_since(self, job_id: str, moment: float) -> bool:
        """Whether somebody tried this job after that moment, and failed."""
        path = self.job_folder(job_id) / "error.txt"
        return path.exists() and path.stat().st_mtime > moment

    def forget_error(self, job_id: str) -> None:
        """The job has succeeded after all."""
        (self.job_folder(job_id) / "error.txt").unlink(missing_ok=True)

    # Answers

    def partial(self, job_id: str, sizes: Sequence[int]) -> "PartialAnswers":
        """Somewhere to keep answers batch by batch, with those that are there already."""
        return PartialAnswers(self.job_folder(job_id), sizes)

    def read_answers(self, job_id: str) -> list[Answer]:
        """All that the model said."""
        path = self.job_folder(job_id) / "answers.jsonl"
        try:
            check_seal(path)
            return [Answer(**row) for _, row in read_json_lines(path)]
        except (DataError, TypeError) as problem:
            raise StoreError(
                f"{path}: damaged",
                why=str(problem).splitlines()[0],
                fix=f"rm {path}, then shoal run PLAN asks again",
            ) from None

    def replace_answers(self, job_id: str, rows: Sequence[Answer]) -> None:
        """Put other answers in the place of those that are there, all at once."""
        path = self.job_folder(job_id) / "answers.jsonl"
        seal(path).unlink(missing_ok=True)
        with writing(path) as stream:
            stream.writelines(line(row) for row in rows)
        write_seal(path, path)

    def forget_answers(self, job_id: str) -> None:
        """As if the model had not been asked."""
        (self.job_folder(job_id) / "answers.jsonl").unlink(missing_ok=True)


def _is_whole(path: Path) -> bool:
    try:
        load_built(path)
    except DamagedError:
        return False
    return True


@lru_cache(maxsize=2)
def _load_once(path: Path, _changed: int) -> Built:
    return load_built(path)


class ThrownAway(RunStore):
    """A store for this moment: the same steps, kept in memory; weights that jobs share go with its folder."""

    def __init__(self, memory: "Memory | None" = None) -> None:
        super().__init__(Path(tempfile.mkdtemp(prefix="shoal-")))
        self.memory = memory
        self._built: dict[str, Built] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._checks: dict[str, list[dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def built(self, job: Job, progress: Progress) -> Built:
        """The cases of a job, built once."""
        if job.cases not in self._built:
            self._built[job.cases] = find_protocol(job.protocol).build(job.settings, progress)
        return self._built[job.cases]

    def put_built(self, job: Job, built: Built) -> None:
        """Cases that are there already, such as those of a suite in memory."""
        self._built[job.cases] = built

    @contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Nobody else is here."""
        yield True

    def is_done(self, job_id: str) -> bool:
        """Whether the model has answered everything."""
        return job_id in self._answers

    def write_job(self, job: Job) -> None:
        """Nobody will look it up."""

    def write_checks(self, job_id: str, checks: Sequence[dict[str, Any]]) -> None:
        """Keep what the model's self-check said."""
        self._checks[job_id] = list(checks)

    def has_checks(self, job_id: str) -> bool:
        """Whether the self-check was made."""
        return job_id in self._checks

    def read_checks(self, job_id: str) -> list[dict[str, Any]]:
        """What the self-check said."""
        return self._checks.get(job_id, [])

    def read_measures(self, job_id: str) -> dict[str, Any] | None:
        """Scored anew every time."""
        return None

    def write_measures(self, job_id: str, scored: dict[str, Any]) -> None:
        """Nobody will read them."""

    def partial(self, job_id: str, sizes: Sequence[int]) -> "PartialAnswers":
        """Somewhere to gather the answers."""
        return AnswersInMemory(self._answers, job_id)

    def read_answers(self, job_id: str) -> list[Answer]:
        """All that the model said."""
        return self._answers[job_id]


class PartialAnswers:
    """Answers kept batch by batch, until all are there."""

    done: int
    """How many whole batches were there already."""

    def __init__(self, folder: Path, sizes: Sequence[int]) -> None:
        self.path = folder / "answers.partial.jsonl"
        self.final = folder / "answers.jsonl"
        self.done = self._cut(sizes)
        # Unbuffered: what could not be written must not be tried again behind our back when the file is closed.
        self._stream = self.path.open("ab", buffering=0)

    def _cut(self, sizes: Sequence[int]) -> int:
        """Cut off what a crash left of a batch; gives the number of whole ones before it."""
        if not self.path.exists():
            return 0
        done, kept = 0, 0
        with self.path.open("rb") as stream:
            for size in sizes:
                lines = [stream.readline() for _ in range(size)]
                if not all(map(_is_answer, lines)):
                    break
                done, kept = done + 1, stream.tell()
        os.truncate(self.path, kept)
        return done

    def read(self) -> list[Answer]:
        """The answers that were there already."""
        return [Answer(**json.loads(raw)) for raw in self.path.read_bytes().splitlines()]

    def begin_again(self) -> None:
        """As if nothing had been asked."""
        self._stream.truncate(0)
        self.done = 0

    def add(self, rows: Sequence[Answer]) -> None:
        """Keep a batch; a crash leaves at most a part of it at the very end."""
        content = memoryview("".join(map(line, rows)).encode())
        try:
            while content:
                content = content[self._stream.write(content) :]
        except OSError as problem:
            raise StoreError(
                f"{self.path}: cannot be written",
                why=problem.strerror or str(problem),
                fix="free some space; the same command then goes on from here",
            ) from None

    def finish(self) -> None:
        """All answers are there: put them in place."""
        try:
            os.fsync(self._stream.fileno())
            self._stream.close()
            write_seal(self.path, self.final)
            self.path.replace(self.final)
        except OSError as problem:
            raise StoreError(
                f"{self.final}: cannot be written",
                why=problem.strerror or str(problem),
                fix="free some space; the same command then goes on from here",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Leave off; what was kept stays."""
        self._stream.close()


class AnswersInMemory(PartialAnswers):
    """The same for a store that is thrown away."""

    def __init__(self, answers: dict[str, list[Answer]], job_id: str) -> None:
        self.done = 0
        self._rows: list[Answer] = []
        self._answers, self._job_id = answers, job_id

    def add(self, rows: Sequence[Answer]) -> None:
        """Keep a batch."""
        self._rows += rows

    def finish(self) -> None:
        """All answers are there."""
        self._answers[self._job_id] = self._rows

    def __exit__(self, *exception: object) -> None:
        """Nothing to close."""


def seal(path: Path) -> Path:
    """The file beside another that holds its digest."""
    return path.with_suffix(".digest")


def write_seal(content: Path, path: Path) -> None:
    """Say what the content of a file is, so that damage to it shows."""
    with writing(seal(path)) as stream:
        stream.write(f"{digest(content)}\n")


def check_seal(path: Path) -> None:
    """Refuse a file that is not what it was when it was put in place."""
    known = seal(path)
    if known.exists() and known.read_text().strip() != digest(path):
        raise DataError(
            "its content is not what it was when it was written", fix="remove it: the same command asks again"
        )


def _digest(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def _is_answer(raw: bytes) -> bool:
    """Whether this is a whole line of an answer."""
    if not raw.endswith(b"\n"):
        return False
    try:
        row = json.loads(raw)
    except ValueError:
        return False
    return isinstance(row, dict) and "example_id" in row


def _read_json(path: Path) -> Any:
    """What a file holds; None where it is not there or damaged: whoever asks makes it again."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def line(row: Answer) -> str:
    """An answer as it is kept; the mark only where there is one."""
    kept = asdict(row)
    return (
        json.dumps(kept if row.mark else {k: kept[k] for k in kept if k != "mark"}, ensure_ascii=False) + "\n"
    )


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """A folder that is there, or a clear error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = os.access(folder, os.W_OK)
    except OSError as problem:
        raise StoreError(
            f"{folder}: cannot be made", why=problem.strerror or str(problem), fix="--into another folder"
        ) from None
    if not probe:
        raise StoreError(
            f"{folder}: cannot be written", why="the folder is read-only", fix="--into another folder"
        )
    yield

"""A run store: the results of jobs in a folder.

    runs/
      cases/behaviour-sentiment-91be77d0.jsonl         the cases, shared by all jobs that use them
      cases/….partial.jsonl       a long build in progress
      jobs/behaviour-my-model-sentiment-3f9c1a2b/
          job.json                the job in full, with the format of the store and the name of its cases
          checks.json             self-checks of the model
          answers.partial.jsonl   while the model is queried: whole batches in the order of the batch plan, or, for
                                  remote models, answers in the order of arrival
          spent.jsonl             tokens of every response of a remote model
          answers.jsonl           all answers; if it exists, the model need not be queried again
          answers.digest          digest of the answers, number of errors, name of the job
          measures.json           scored again from cases and answers whenever scoring changes
          outcomes.jsonl          values by case, in blocks
          error.txt               only if the last attempt failed
      comparisons/                measures across the jobs of a plan, made again whenever one of the jobs changes
      checkpoints/, features/     stages of training that several jobs share (`training.py`)
      midway/                     trainings in progress
      again/                      new results of `run --again`, until they are complete (`again.py`)

The files are the only state: no database, no status field. Locks are those of the operating system and end with their
process.
"""

import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Self

from filelock import Timeout

from ..core.errors import StoreError
from ..core.files import digest, refusing, sweep, writing
from ..core.records import NAN, Answer, Lazy
from ..models.answer_rows import answer_line
from ..models.prompted.spending import read_spending
from ..protocols import find_protocol
from ..protocols.base import Built
from ..training.stage import Progress, silent
from .plan import Job
from .store_files import (
    VALUES,
    MemoryAnswers,
    PartialAnswers,
    acquire_lock,
    is_kept,
    load_built,
    make_folder,
    read_plain_json,
    read_seal,
    read_sealed_json,
    save_built,
    stored_column,
    write_columns,
    write_sealed_json,
)

FORMAT = 4
"""Format of a job's files. Raised when older files would be misread; reading them is then an error."""
JOB = {"format", "id", "protocol", "model", "settings", "identity", "cases"}
"""Keys of `job.json`."""
LONGEST_ERROR = 8_000
"""Characters of `error.txt` that are shown."""
PATIENCE = 2.0
"""Seconds of waiting for another process before the wait is reported."""


def waiting_for(lock: str) -> str:
    """Return a message that another process holds a lock."""
    return f"waiting for another process, which works on {lock}"


class RunStore:
    """A folder with the results of jobs."""

    between_checkpoints: float = 300.0
    """Seconds between two checkpoints of a training in progress; 0 for none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"RunStore({str(self.folder)!r})"

    # Cases

    def cases_file(self, job: Job) -> Path:
        return self.folder / "cases" / f"{job.cases}.jsonl"

    def built(self, job: Job, progress: Progress) -> Built:
        """Return the cases of a job, built if the store does not have them."""
        # Write nothing if they are there: a finished store may be read-only. The same settings build the same cases.
        built = load_built(self.cases_file(job))
        return self._build(job, progress) if built is None else built

    def _build(self, job: Job, progress: Progress) -> Built:
        path = self.cases_file(job)
        make_folder(path.parent)
        with self.lock(job.cases, wait=True, progress=progress):
            sweep(path.parent, f"{path.stem}.*")
            if load_built(path) is None:
                partial = path.with_suffix(".partial.jsonl")
                build: Callable[..., Built] = find_protocol(job.protocol).build
                is_resumable = "so_far" in signature(build).parameters
                built = build(job.settings, progress, **({"so_far": partial} if is_resumable else {}))
                save_built(built, path)
                partial.unlink(missing_ok=True)
        stored = load_built(path)
        assert stored is not None
        return stored

    # Jobs

    def job_folder(self, job_id: str) -> Path:
        return self.folder / "jobs" / job_id

    def is_done(self, job_id: str) -> bool:
        """Return whether the job has all its answers."""
        return (self.job_folder(job_id) / "answers.jsonl").exists()

    def error(self, job_id: str) -> str:
        path = self.job_folder(job_id) / "error.txt"
        return path.read_text(errors="replace")[:LONGEST_ERROR] if path.exists() else ""

    def kept(self, job_id: str) -> int:
        """Return the number of stored answers of an unfinished job."""
        path = self.job_folder(job_id) / "answers.partial.jsonl"
        return path.read_bytes().count(b"\n") if path.is_file() else 0

    def find(self, name: str) -> str:
        """Return the id of the only job whose id contains this name."""
        known = self.job_ids()
        matching = (
            [name] if name in known else [job_id for job_id in known if name.strip() and name in job_id]
        )
        if len(matching) != 1:
            longer = f"a longer part of the name, such as {matching[0][-8:]}" if matching else ""
            raise StoreError(
                f"{self.folder}: {len(matching) or 'no'} jobs called {name!r}",
                why=f"jobs: {', '.join((matching or known)[:8])}" if known else "the store has no jobs",
                fix=longer or "shoal status PLAN",
            )
        return matching[0]

    def job_ids(self) -> list[str]:
        return sorted(path.parent.name for path in self.folder.glob("jobs/*/job.json"))

    def answered_on(self, job_id: str) -> str:
        """Return the day of a job's last answer in UTC; empty if it has none."""
        path = self.job_folder(job_id) / "answers.jsonl"
        return time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime)) if path.exists() else ""

    def read_job(self, job_id: str) -> dict[str, Any]:
        path = self.job_folder(job_id) / "job.json"
        job = _intact_job(path)
        if job is None:
            why = "the content has changed since it was written" if path.exists() else "the file is missing"
            raise StoreError(f"{path}: damaged", why=why, fix="shoal run PLAN, which writes it again")
        return {name: value for name, value in job.items() if name != "format"}

    def write_job(self, job: Job) -> None:
        folder = self.job_folder(job.id)
        _intact_job(folder / "job.json")  # raises if it has another format
        make_folder(folder)
        write_sealed_json(folder / "job.json", {"format": FORMAT, **job.as_json()})

    def repair_job(self, job: Job) -> None:
        """Write `job.json` again if it is damaged."""
        if _intact_job(self.job_folder(job.id) / "job.json") is None:
            self.write_job(job)

    @contextmanager
    def lock(self, name: str, *, wait: bool, progress: Progress = silent) -> Iterator[bool]:
        """Hold a lock while the block runs; yield False at once if another process has it and `wait` is off."""
        path = self.folder / "locks" / f"{name}.lock"
        make_folder(path.parent)
        lock = None
        with refusing(path):
            try:
                lock = acquire_lock(path, PATIENCE if wait else 0)
            except Timeout:
                if wait:
                    progress(waiting_for(name), 0, 0)
                    lock = acquire_lock(path)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                lock.release()

    # Checks

    def write_checks(self, job_id: str, checks: Sequence[dict[str, Any]]) -> None:
        write_sealed_json(self.job_folder(job_id) / "checks.json", {"checks": list(checks)})

    def add_check(self, job_id: str, check: dict[str, Any]) -> None:
        """Add a check, in place of an earlier one of its name."""
        others = [other for other in self.read_checks(job_id) if other["name"] != check["name"]]
        self.write_checks(job_id, [*others, check])

    def has_checks(self, job_id: str) -> bool:
        return (self.job_folder(job_id) / "checks.json").exists()

    def read_checks(self, job_id: str) -> list[dict[str, Any]]:
        """Return the self-checks; a failed check if their file is damaged."""
        if not self.has_checks(job_id):
            return []
        damaged = {"name": "self-check", "ok": False, "detail": "checks.json is damaged"}
        stored = read_sealed_json(self.job_folder(job_id) / "checks.json")
        return [damaged] if stored is None else list(stored["checks"])

    # Measures

    def write_measures(
        self, job_id: str, scored: dict[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Write the measures with the settings of their scoring, and the columns by case."""
        folder = self.job_folder(job_id)
        write_columns(columns, folder / "outcomes.jsonl")
        beside = {"names": list(columns), "digest": digest(folder / "outcomes.jsonl")}
        answers = read_seal(folder / "answers.jsonl").get("digest")
        write_sealed_json(folder / "measures.json", {**scored, "beside": beside, "answers": answers})

    def read_columns(self, job_id: str, scored: Mapping[str, Any]) -> dict[str, Lazy[Any]] | None:
        """Return the columns that belong to these measures; None if they are missing or damaged."""
        path, known = self.job_folder(job_id) / "outcomes.jsonl", scored.get("beside")
        if known is None or not path.exists() or digest(path) != known["digest"]:
            return None
        length = len(scored["outcomes"])
        return {
            name: stored_column(path, number, length, NAN if name == VALUES else None)
            for number, name in enumerate(known["names"])
        }

    def read_measures(self, job_id: str) -> dict[str, Any] | None:
        """Return the measures; None if they are missing, damaged, or made from other answers."""
        path, answers = (self.job_folder(job_id) / name for name in ("measures.json", "answers.jsonl"))
        scored = read_sealed_json(path)
        sealed = read_seal(answers)
        is_current = scored is not None and scored.get("answers") == sealed.get("digest")
        return scored if is_current and sealed.get("job") == job_id else None

    # Errors

    def write_error(self, job_id: str, text: str) -> None:
        make_folder(self.job_folder(job_id))
        with writing(self.job_folder(job_id) / "error.txt") as stream:
            stream.write(text.encode(errors="backslashreplace").decode())  # it may quote half a character

    def failed_since(self, job_id: str, moment: float) -> bool:
        path = self.job_folder(job_id) / "error.txt"
        return path.exists() and path.stat().st_mtime > moment

    # Answers

    def partial(self, job_id: str, sizes: Iterable[int]) -> PartialAnswers:
        """Return the file that collects a job's answers, opened after the whole batches it already has."""
        return PartialAnswers(self.job_folder(job_id), sizes)

    def answers(self, job_id: str) -> Iterable[Answer]:
        """Yield all answers of a job."""
        path = self.job_folder(job_id) / "answers.jsonl"
        if not read_seal(path):
            raise StoreError(
                f"{path}: damaged",
                why="its digest is missing",
                # Resuming keeps the valid answers, which may have cost money.
                fix=f"mv {path} {path.with_name('answers.partial.jsonl')}, then shoal run PLAN, which resumes",
            )
        if not is_kept(path):
            raise _damaged_answers(path, "the content has changed since it was written")
        if read_seal(path).get("job") != job_id:
            raise _damaged_answers(path, "these are the answers of another job")
        with path.open("rb") as stream:
            for line in stream:
                yield Answer(**json.loads(line))

    def replace_answers(self, job_id: str, rows: Sequence[Answer]) -> None:
        """Replace all answers; after a crash the next run finds them complete."""
        self.reopen(job_id, rows)
        with self.partial(job_id, repeat(1)) as partial:
            partial.finish()

    def errors(self, job_id: str) -> int:
        """Return the number of answers that are errors."""
        count = read_seal(self.job_folder(job_id) / "answers.jsonl").get("errors")
        return count if isinstance(count, int) else 0

    def reopen(self, job_id: str, rows: Sequence[Answer]) -> None:
        """Return a finished job to the state in which it has only these answers."""
        folder = self.job_folder(job_id)
        with writing(folder / "answers.partial.jsonl") as stream:
            stream.writelines(map(answer_line, rows))
        (folder / "answers.jsonl").unlink(missing_ok=True)

    # Cost of remote models

    def spent(self, job_id: str) -> dict[str, int]:
        return read_spending(self.job_folder(job_id) / "spent.jsonl")

    def keep_spending(self, job_id: str, spending: Any) -> None:
        """Let a model continue the file with the tokens of each response to its job."""
        spending.keep_in(self.job_folder(job_id) / "spent.jsonl")


class MemoryStore(RunStore):
    """A temporary store that holds cases and answers in memory, and the rest in a temporary folder."""

    between_checkpoints = 0.0

    def __init__(self) -> None:
        super().__init__(Path(tempfile.mkdtemp(prefix="shoal-")))
        self._built: dict[str, Built] = {}
        self._answers: dict[str, list[Sequence[Answer]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def built(self, job: Job, progress: Progress) -> Built:
        if job.cases not in self._built:
            self._built[job.cases] = find_protocol(job.protocol).build(job.settings, progress)
        return self._built[job.cases]

    @contextmanager
    def lock(self, name: str, *, wait: bool, progress: Progress = silent) -> Iterator[bool]:
        yield True

    def is_done(self, job_id: str) -> bool:
        return job_id in self._answers

    def read_measures(self, job_id: str) -> dict[str, Any] | None:
        return None

    def write_measures(
        self, job_id: str, scored: dict[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Write nothing."""

    def partial(self, job_id: str, sizes: Iterable[int]) -> PartialAnswers:
        return MemoryAnswers(self._answers, job_id)

    def save_job(self, job: Job, store: RunStore) -> None:
        """Write the cases, answers and self-checks of a finished job to a store on disk."""
        save_built(self._built[job.cases], store.cases_file(job))
        store.write_job(job)
        store.write_checks(job.id, self.read_checks(job.id))
        with store.partial(job.id, repeat(1)) as partial:
            for rows in self._answers[job.id]:
                partial.add(rows)
            partial.finish()

    def answers(self, job_id: str) -> Iterable[Answer]:
        batches = self._answers[job_id]
        return batches[0] if len(batches) == 1 else chain.from_iterable(batches)


def _intact_job(path: Path) -> dict[str, Any] | None:
    """Return what `write_job` wrote; None if it is missing or damaged. Another format of the store is an error."""
    plain = read_plain_json(path)
    if isinstance(plain, dict) and plain.get("format") != FORMAT and JOB - {"format"} <= plain.keys():
        raise StoreError(
            f"{path.parent}: written by another version of shoal",
            why=f"its format is {plain.get('format', 'older than 3')}; this version reads format {FORMAT}",
            fix="run the plan again with --into another folder, or read this one with the version that wrote it",
        )
    job = read_sealed_json(path)
    if job is None or job.keys() != JOB or job["id"] != path.parent.name:
        return None
    # The name of the cases must stay inside the store.
    return job if re.fullmatch(r"[a-z0-9.-]{1,199}", str(job["cases"])) else None


def _damaged_answers(path: Path, why: str) -> StoreError:
    fix = f"rm {path}, then shoal run PLAN queries the model again"
    return StoreError(f"{path}: damaged", why=why, fix=fix)

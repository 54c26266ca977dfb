"""Results on disk, and what is done already.

    runs/
      cases/behaviour-sentiment-91be77d0.jsonl         what every model is shown
      jobs/behaviour-my-model-sentiment-3f9c1a2b/
          job.json                what was asked, in full, and which cases
          checks.json             whether the answers can be trusted, as far as a few questions told
          answers.partial.jsonl   while the model is being asked: whole batches, in the order of the batch plan
          answers.jsonl           what the model said; its presence means the slow part is done
          measures.json           rebuilt from cases and answers whenever scoring changes; no model needed
          error.txt               only if the last try failed
      checkpoints/, features/     what several jobs share of their trainings (`training.py`)

Nothing else is consulted: no database, no status field to go stale. Locks are the operating system's own and end with
the process that held them, however it ended.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from ..errors import StoreError
from ..files import read_json_lines, writing
from ..records import Answer
from .plan import Job


@dataclass(frozen=True, slots=True)
class RunStore:
    """A folder that keeps the results of jobs."""

    folder: Path

    def job_folder(self, job_id: str) -> Path:
        """Where a job's files are."""
        return self.folder / "jobs" / job_id

    def cases_file(self, job: Job) -> Path:
        """Where the cases of a job are; jobs with the same cases share them."""
        return self.folder / "cases" / f"{job.cases}.jsonl"

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
        matching = [name] if name in known else [one for one in known if name in one]
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
            found: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError) as problem:
            raise StoreError(f"{path}: cannot be read", why=str(problem)) from None
        return found

    @contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold the lock of this name while the block runs; gives False at once if another has it and `wait` is off."""
        path = self.folder / "locks" / f"{name}.lock"
        with making(path.parent), path.open("a") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    def write_job(self, job: Job) -> None:
        """Say what is being asked."""
        folder = self.job_folder(job.id)
        with making(folder), writing(folder / "job.json") as stream:
            json.dump(job.as_json(), stream, indent=1)

    def write_checks(self, job_id: str, checks: Sequence[dict[str, Any]]) -> None:
        """Keep what the model's self-check said before it was asked in earnest."""
        with writing(self.job_folder(job_id) / "checks.json") as stream:
            json.dump(checks, stream, indent=1)

    def read_checks(self, job_id: str) -> list[dict[str, Any]]:
        """What the self-check said."""
        path = self.job_folder(job_id) / "checks.json"
        checks: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        return checks

    def write_measures(self, job_id: str, found: dict[str, Any]) -> None:
        """Keep the measures, with the scoring settings they were made under."""
        with writing(self.job_folder(job_id) / "measures.json") as stream:
            json.dump(found, stream, indent=1)

    def write_error(self, job_id: str, text: str) -> None:
        """Keep what a job failed with."""
        with making(self.job_folder(job_id)), writing(self.job_folder(job_id) / "error.txt") as stream:
            stream.write(text)

    def read_answers(self, job_id: str) -> list[Answer]:
        """All that the model said."""
        return [Answer(**row) for _, row in read_json_lines(self.job_folder(job_id) / "answers.jsonl")]

    def replace_answers(self, job_id: str, rows: Sequence[Answer]) -> None:
        """Put other answers in the place of those that are there, all at once."""
        with writing(self.job_folder(job_id) / "answers.jsonl") as stream:
            stream.writelines(line(row) for row in rows)

    def forget_answers(self, job_id: str) -> None:
        """As if the model had not been asked."""
        (self.job_folder(job_id) / "answers.jsonl").unlink(missing_ok=True)


class PartialAnswers:
    """Answers kept batch by batch, until all are there."""

    def __init__(self, folder: Path, sizes: Sequence[int]) -> None:
        self.path = folder / "answers.partial.jsonl"
        self.final = folder / "answers.jsonl"
        self.done = self._cut(sizes)
        """How many whole batches were there already."""
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
                if not lines[-1].endswith(b"\n"):
                    break
                done, kept = done + 1, stream.tell()
        os.truncate(self.path, kept)
        return done

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
            self.path.replace(self.final)
        except OSError as problem:
            raise StoreError(
                f"{self.final}: cannot be written", why=problem.strerror or str(problem)
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Leave off; what was kept stays."""
        self._stream.close()


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

"""Results on disk, and what is done already.

    runs/
      cases/behaviour-sentiment-91be77d0.jsonl         what every model is shown
      cases/….partial.jsonl       while it is being built, where that takes long: what was found so far
      jobs/behaviour-my-model-sentiment-3f9c1a2b/
          job.json                what was asked, in full, and which cases
          checks.json             whether the answers can be trusted, as far as a few questions told
          answers.partial.jsonl   while the model is being asked: whole batches, in the order of the batch plan;
                                  of a remote model, answers in order of arrival
          spent.jsonl             tokens of every response of a remote model
          answers.jsonl           what the model said; its presence means the slow part is done
          answers.digest          digest of the answers, how many are errors, and the job they belong to
          measures.json           rebuilt from cases and answers whenever scoring changes; no model needed
          outcomes.jsonl          with it: values by case, in blocks that are read when they are asked for
          error.txt               only if the last try failed
      checkpoints/, features/     what several jobs share of their trainings (`training.py`)
      midway/                     trainings in their middle, while they go on

Nothing else is consulted: no database, no status field to go stale. Locks are the operating system's own and end with
the process that held them, however it ended.
"""

import errno
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from inspect import signature
from itertools import chain
from pathlib import Path
from platform import node
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from ..core.errors import DataError, StoreError
from ..core.files import digest, read_json_lines, refusing, replacing, settle, sweep, writing
from ..core.records import Answer, Case, CasesLater
from ..models.prompted.spending import read_spending
from ..protocols import find_protocol
from ..protocols.base import Built
from ..training.stage import Progress, silent
from .cases import DamagedError, is_whole, load_built, save_built
from .columns import KeptColumns, write_columns
from .plan import Job

if TYPE_CHECKING:
    from .answer_cache import Memory
    from .execute import Spread

WRITTEN_AT_ONCE = 10_000
"""Answers: stored predictions come as one batch, however many there are."""
ERRORS, JOB_OF = "errors", "job"
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system says that has no locks."""
ENCODER = json.JSONEncoder(ensure_ascii=False)
"""One for all lines: making one takes as long as writing a line."""
PLAIN = {"label", "probabilities"}
"""What most answers with probabilities say, and nothing else."""
JOB = {"id", "protocol", "model", "settings", "identity", "cases"}
CHECK = {"name", "ok", "detail"}
"""What `job.json`, and each of the checks, says."""
DAMAGED = "what it said is damaged (checks.json); it is made again when the model is asked again"
LONGEST_ERROR = 8_000
"""Bytes of `error.txt` that are read."""
PATIENCE = 2.0
"""Seconds of waiting for another process before it is said."""


class RunStore:
    """A folder that keeps the results of jobs."""

    memory: "Memory | None" = None
    """What models have said in this process, where that is to be used."""
    between_checkpoints: float = 300.0
    """Seconds after which a training is kept in its middle; 0: it is not."""
    spread: "Spread | None" = None
    """Who asks the batches of one very large job, where several copies of the model do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases: dict[tuple[str, int], CasesLater] = {}
        self._at_hand: dict[str, Sequence[Answer]] = {}

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
                return _load_once(path)
            except DamagedError:
                pass  # it is built again, from the same settings
        self._build(job, progress)
        return _load_once(path)

    def _build(self, job: Job, progress: Progress) -> None:
        path = self.cases_file(job)
        with making(path.parent), self.lock(job.cases, wait=True, progress=progress):
            sweep(path.parent, path.name)
            if not path.exists() or not is_whole(path):
                so_far = path.with_suffix(".partial.jsonl")
                build: Callable[..., Built] = find_protocol(job.protocol).build
                goes_on = {"so_far": so_far} if "so_far" in signature(build).parameters else {}
                built = build(job.settings, progress, **goes_on)
                save_built(built, path)
                so_far.unlink(missing_ok=True)
                _remember(path, built)

    def mend_cases(self, job: Job, progress: Progress) -> None:
        """Build the cases of a finished job again if their file is gone or damaged; they are not read otherwise."""
        path = self.cases_file(job)
        if not path.exists() or not _was_whole(path, path.stat().st_mtime_ns):
            self._build(job, progress)

    def cases_later(self, job: Job, length: int, progress: Progress) -> Sequence[Case]:
        """The cases of a finished job, the same object for all jobs that share them, read when they are looked at."""
        if (job.cases, length) not in self._cases:
            self._cases[job.cases, length] = CasesLater(length, lambda: self.built(job, progress).cases)
        return self._cases[job.cases, length]

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
        try:
            with path.open("rb") as stream:
                return stream.read(LONGEST_ERROR).decode(errors="replace")
        except OSError:
            return ""

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

    def answered_on(self, job_id: str) -> str:
        """The day on which the last answer of a job was put here, in UTC; empty where there is none."""
        path = self.job_folder(job_id) / "answers.jsonl"
        return time.strftime("%Y-%m-%d", time.gmtime(path.stat().st_mtime)) if path.exists() else ""

    def read_job(self, job_id: str) -> dict[str, Any]:
        """What `job.json` says."""
        path = self.job_folder(job_id) / "job.json"
        job = _read_sealed(path) or _read_json(path)  # without a digest in stores of before
        if not _is_job(job) or job["id"] != job_id:
            why = "it is not what was written there" if path.exists() else "it is gone"
            raise StoreError(f"{path}: damaged", why=why, fix="shoal run PLAN, which writes it again")
        return job

    def mend_job(self, job: Job) -> None:
        """Say again what was asked, where that is damaged."""
        try:
            self.read_job(job.id)
        except StoreError:
            self.write_job(job)

    @contextmanager
    def lock(self, name: str, *, wait: bool, progress: Progress = silent) -> Iterator[bool]:
        """Hold the lock of this name while the block runs; gives False at once if another has it and `wait` is off.

        Who waits says for whom. The holder writes beside the lock who it is; a lock itself says nothing.
        """
        path = self.folder / "locks" / f"{name}.lock"
        with making(path.parent):
            try:
                lock = _locked(path, PATIENCE if wait else 0)
            except Timeout:
                if not wait:
                    yield False
                    return
                progress(self.waiting_for(name), 0, 0)
                lock = _locked(path)
            holder = self._holder(name)
            try:
                with suppress(
                    OSError
                ):  # only those who wait read it: a full disk must not stop the holder here
                    holder.write_text(json.dumps({"pid": os.getpid(), "host": node(), "since": time.time()}))
                yield True
            finally:
                with suppress(OSError):
                    holder.unlink(missing_ok=True)
                lock.release()

    def _holder(self, name: str) -> Path:
        return self.folder / "locks" / f"{name}.holder"

    def waiting_for(self, name: str) -> str:
        """Who has the lock of this name, and since when, in words."""
        holder = _read_json(self._holder(name))
        if not isinstance(holder, dict) or not isinstance(holder.get("since"), float | int):
            return f"waiting for another process, which is at {name}"
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder["since"]))
        return f"waiting for process {holder.get('pid')} on {holder.get('host')}, which is at {name} since {since}"

    def write_job(self, job: Job) -> None:
        """Say what is being asked."""
        folder = self.job_folder(job.id)
        with making(folder):
            _write_sealed(folder / "job.json", job.as_json())

    def write_checks(self, job_id: str, checks: Sequence[dict[str, Any]]) -> None:
        """Keep what the model's self-check said before it was asked in earnest."""
        _write_sealed(self.job_folder(job_id) / "checks.json", {"checks": list(checks)})

    def add_check(self, job_id: str, check: dict[str, Any]) -> None:
        """Keep what was found out while the model was asked; it takes the place of an earlier one of its name."""
        others = [other for other in self.read_checks(job_id) if other["name"] != check["name"]]
        self.write_checks(job_id, [*others, check])

    def has_checks(self, job_id: str) -> bool:
        """Whether the self-check was made, and what it said can be read."""
        return self._checks_in(self.job_folder(job_id) / "checks.json") is not None

    def read_checks(self, job_id: str) -> list[dict[str, Any]]:
        """What the self-check said; where that is damaged, so much is said."""
        path = self.job_folder(job_id) / "checks.json"
        checks = self._checks_in(path)
        if checks is None and path.exists():
            return [{"name": "self-check", "ok": False, "detail": DAMAGED}]
        return checks or []

    def _checks_in(self, path: Path) -> list[dict[str, Any]] | None:
        kept = _read_sealed(path)
        checks = _read_json(path) if kept is None else kept["checks"]  # a list alone in stores of before
        known = isinstance(checks, list) and all(
            isinstance(check, dict) and check.keys() == CHECK for check in checks
        )
        return checks if known else None

    def write_measures(
        self, job_id: str, scored: dict[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Keep the measures, with the scoring settings they were made under, and beside them columns by case."""
        folder = self.job_folder(job_id)
        write_columns(columns, folder / "outcomes.jsonl")
        beside = {"names": list(columns), "digest": digest(folder / "outcomes.jsonl")}
        answers = _sealed_words(folder / "answers.jsonl")[:1]
        _write_sealed(folder / "measures.json", {**scored, "beside": beside, "answers": answers})

    def read_columns(self, job_id: str, scored: Mapping[str, Any]) -> KeptColumns | None:
        """The columns beside these measures; None where they are damaged or kept otherwise: made again then."""
        path, known = self.job_folder(job_id) / "outcomes.jsonl", scored.get("beside")
        if known is None or not path.exists() or digest(path) != known["digest"]:
            return None
        return KeptColumns(path, known["names"], len(scored["outcomes"]))

    def read_measures(self, job_id: str) -> dict[str, Any] | None:
        """The measures, unless there are none, the answers are newer, or the file is damaged: they are made again."""
        path, answers = (self.job_folder(job_id) / name for name in ("measures.json", "answers.jsonl"))
        if not path.exists() or path.stat().st_mtime_ns < answers.stat().st_mtime_ns:
            return None
        kept, sealed = _read_sealed(path), _sealed_words(answers)[:1]
        if not _is_owner(answers, job_id):
            return None
        # Those of another job do not fit these answers. Stores of before do not say which answers they were made of.
        return None if kept is None or kept.get("answers", sealed) != sealed else kept

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

    def partial(self, job_id: str, sizes: Iterable[int]) -> "PartialAnswers":
        """Somewhere to keep answers batch by batch, with those that are there already."""
        return PartialAnswers(self.job_folder(job_id), sizes)

    def read_answers(self, job_id: str) -> list[Answer]:
        """All that the model said."""
        return list(self.answers(job_id))

    def answers(self, job_id: str) -> Iterable[Answer]:
        """All that the model said; what was kept a moment ago is not read back."""
        at_hand = self._at_hand.pop(job_id, None)
        return self._read_answers(job_id) if at_hand is None else at_hand

    def at_hand(self, job_id: str, rows: Sequence[Answer]) -> None:
        """These are the answers that were kept: whoever looks next need not read them."""
        self._at_hand[job_id] = rows

    def _read_answers(self, job_id: str) -> Iterator[Answer]:
        path = self.job_folder(job_id) / "answers.jsonl"
        try:
            check_seal(path)
            if not _is_owner(path, job_id):
                raise DataError("it holds the answers of another job", fix="")
            is_sealed = seal(path).exists()
            for number, row in read_json_lines(path):
                if not is_sealed and not _is_answer(row):
                    raise DataError(f"line {number} is not an answer", fix="")
                yield Answer(**row)
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
        write_seal(path, path, sum(bool(row.error) for row in rows))

    def errors(self, job_id: str) -> int:
        """To how many examples the model gave no answer; the answers are read only where their seal does not say."""
        words = _sealed_words(self.job_folder(job_id) / "answers.jsonl")
        if len(words) >= 3 and words[1] == ERRORS and words[2].isdecimal() and len(words[2]) < 19:
            return int(words[2])
        return sum(bool(row.error) for row in self.answers(job_id))

    def reopen(self, job_id: str, rows: Sequence[Answer]) -> None:
        """As if the model had said only this so far."""
        folder = self.job_folder(job_id)
        with writing(folder / "answers.partial.jsonl") as stream:
            stream.writelines(line(row) for row in rows)
        self.forget_answers(job_id)

    def spending_file(self, job_id: str) -> Path:
        """Where it stands what asking has cost, a line per response."""
        return self.job_folder(job_id) / "spent.jsonl"

    def spent(self, job_id: str) -> dict[str, int]:
        """What asking has cost so far, in requests and tokens."""
        return read_spending(self.spending_file(job_id))

    def keep_spending(self, job_id: str, spending: Any) -> None:
        """Let a model write down what it spends, and know what it has spent."""
        spending.keep_in(self.spending_file(job_id))

    def forget_answers(self, job_id: str) -> None:
        """As if the model had not been asked."""
        (self.job_folder(job_id) / "answers.jsonl").unlink(missing_ok=True)


def _locked(path: Path, seconds: float = -1) -> BaseFileLock:
    """The operating system's own lock on a file; where the file system has none, a file whose presence is the lock.

    Such a file outlives a process that is killed: on the same machine the next process sees that and takes it over, a
    process on another machine waits, and says for whom.
    """
    try:
        lock: BaseFileLock = FileLock(path)
        lock.acquire(timeout=seconds)
    except Timeout:
        raise
    except OSError as problem:
        if problem.errno not in NO_LOCKS:
            with refusing(path):
                raise
        lock = SoftFileLock(path.with_suffix(".held"))
        lock.acquire(timeout=seconds)
    return lock


@lru_cache(maxsize=64)
def _was_whole(path: Path, _changed: int) -> bool:
    return is_whole(path)


REMEMBERED = 2
"""Files of cases whose content is held in memory."""
_built: dict[tuple[Path, int], Built] = {}


def _load_once(path: Path) -> Built:
    """What a file of cases holds, read again only where it has changed."""
    key = path, path.stat().st_mtime_ns
    if key not in _built:
        _remember(path, load_built(path))
    return _built[key]


def _remember(path: Path, built: Built) -> None:
    while len(_built) >= REMEMBERED:
        del _built[next(iter(_built))]
    _built[path, path.stat().st_mtime_ns] = built


class ThrownAway(RunStore):
    """A store for this moment: the same steps, kept in memory; weights that jobs share go with its folder."""

    between_checkpoints = 0.0

    def __init__(self, memory: "Memory | None" = None) -> None:
        super().__init__(Path(tempfile.mkdtemp(prefix="shoal-")))
        self.memory = memory
        self._built: dict[str, Built] = {}
        self._answers: dict[str, list[Sequence[Answer]]] = {}
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
    def lock(self, name: str, *, wait: bool, progress: Progress = silent) -> Iterator[bool]:
        """Nobody else is here."""
        yield True

    def is_done(self, job_id: str) -> bool:
        """Whether the model has answered everything."""
        return job_id in self._answers

    def write_job(self, job: Job) -> None:
        """Nobody will look it up."""

    def mend_job(self, job: Job) -> None:
        """Nor miss it."""

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

    def keep_spending(self, job_id: str, spending: Any) -> None:
        """Nobody will look it up."""

    def write_measures(
        self, job_id: str, scored: dict[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Nobody will read them."""

    def partial(self, job_id: str, sizes: Iterable[int]) -> "PartialAnswers":
        """Somewhere to gather the answers."""
        return AnswersInMemory(self._answers, job_id)

    def answers(self, job_id: str) -> Iterable[Answer]:
        """All that the model said."""
        batches = self._answers[job_id]
        return batches[0] if len(batches) == 1 else chain.from_iterable(batches)


class PartialAnswers:
    """Answers kept batch by batch, until all are there."""

    done: int
    """How many whole batches were there already."""

    def __init__(self, folder: Path, sizes: Iterable[int]) -> None:
        self.path = folder / "answers.partial.jsonl"
        self.final = folder / "answers.jsonl"
        self._errors = 0
        with refusing(self.path):
            self.done = self._cut(sizes)
            # Unbuffered: what could not be written must not be tried again behind our back when the file is closed.
            self._stream = self.path.open("ab", buffering=0)

    def _cut(self, sizes: Iterable[int]) -> int:
        """Cut off what a crash left of a batch; gives the number of whole ones before it."""
        if not self.path.exists():
            return 0
        done, kept = 0, 0
        with self.path.open("rb") as stream:
            for size in sizes:
                errors = [_error(stream.readline()) for _ in range(size)]
                if None in errors:
                    break
                self._errors += sum(map(bool, errors))
                done, kept = done + 1, stream.tell()
        os.truncate(self.path, kept)
        return done

    def read(self) -> list[Answer]:
        """The answers that were there already."""
        return [Answer(**json.loads(raw)) for raw in self.path.read_bytes().splitlines()]

    def begin_again(self) -> None:
        """As if nothing had been asked: another file, so that who follows this one sees that it is not going on."""
        before, beside = self._stream, self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        self._stream = beside.open("ab", buffering=0)
        beside.replace(self.path)
        before.close()
        self.done = self._errors = 0

    def add(self, rows: Sequence[Answer]) -> None:
        """Keep a batch; a crash leaves at most a part of it at the very end."""
        try:
            for start in range(0, len(rows), WRITTEN_AT_ONCE):
                self._write(rows[start : start + WRITTEN_AT_ONCE])
        except OSError as problem:
            raise StoreError(
                f"{self.path}: cannot be written",
                why=problem.strerror or str(problem),
                fix="free some space; the same command then goes on from here",
            ) from None

    def _write(self, rows: Sequence[Answer]) -> None:
        content = memoryview("".join(map(line, rows)).encode())
        while content:
            content = content[self._stream.write(content) :]
        self._errors += sum(bool(row.error) for row in rows)

    def arrange(self, rows: Sequence[Answer]) -> None:
        """Have these rows in the place of what was kept as it came."""
        self._stream.close()
        with writing(self.path) as stream:
            stream.writelines(map(line, rows))
        self._errors = sum(bool(row.error) for row in rows)
        self._stream = self.path.open("ab", buffering=0)

    def finish(self) -> None:
        """All answers are there: put them in place."""
        try:
            settle(self._stream)
            self._stream.close()
            write_seal(self.path, self.final, self._errors)
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

    def __init__(self, answers: dict[str, list[Sequence[Answer]]], job_id: str) -> None:
        self.done = 0
        self._batches: list[Sequence[Answer]] = []
        self._answers, self._job_id = answers, job_id

    def add(self, rows: Sequence[Answer]) -> None:
        """Keep a batch."""
        self._batches.append(rows)

    def read(self) -> list[Answer]:
        """Nothing was there before."""
        return []

    def arrange(self, rows: Sequence[Answer]) -> None:
        """Have these rows in the place of what was kept as it came."""
        self._batches = [rows]

    def finish(self) -> None:
        """All answers are there."""
        self._answers[self._job_id] = self._batches

    def __exit__(self, *exception: object) -> None:
        """Nothing to close."""


def seal(path: Path) -> Path:
    """The file beside another that holds its digest."""
    return path.with_suffix(".digest")


def write_seal(content: Path, path: Path, errors: int | None = None) -> None:
    """Write the digest of a file, so that damage to it shows; of answers also how many are errors, and of which job."""
    with writing(seal(path)) as stream:
        owner = f"{ERRORS} {errors}\n{JOB_OF} {path.parent.name}\n"
        stream.write(f"{digest(content)}\n" + ("" if errors is None else owner))


@contextmanager
def sealing(path: Path) -> Iterator[Path]:
    """The place beside a file where its content is to be written; it takes its place with its seal."""
    with making(path.parent), replacing(path) as beside:
        yield beside
        write_seal(beside, path)


def is_kept(path: Path) -> bool:
    """Whether a file is there as it was put there: what is not is made again. Without a seal it is taken as it is."""
    if not path.exists():
        return False
    return not seal(path).exists() or _fits(path, path.stat().st_mtime_ns, " ".join(_sealed_words(path)[:1]))


def _sealed_words(path: Path) -> list[str]:
    """What the seal of a file says: the digest, and of answers how many are errors; empty where it cannot be read."""
    try:
        return seal(path).read_text(errors="replace").split()
    except OSError:
        return []


@lru_cache(maxsize=1024)
def _fits(path: Path, _changed: int, known: str) -> bool:
    return known == digest(path)


def check_seal(path: Path) -> None:
    """Refuse a file that is not what it was when it was put in place."""
    if not is_kept(path):
        raise DataError(
            "its content is not what it was when it was written", fix="remove it: the same command asks again"
        )


def _is_job(job: Any) -> bool:
    """Whether this is what `write_job` writes; the name of the cases must stay inside the store."""
    return (
        isinstance(job, dict)
        and job.keys() == JOB
        and all(isinstance(job[name], str) for name in ("id", "protocol", "model", "cases"))
        and all(isinstance(job[name], dict) for name in ("settings", "identity"))
        and Path(job["cases"]).name == job["cases"]
        and "\0" not in job["cases"]
        and len(job["cases"]) < 200
    )


def _is_answer(row: dict[str, Any]) -> bool:
    """Whether a line that no seal vouches for can be an answer."""
    words = all(isinstance(row.get(name, ""), str) for name in ("example_id", "kind", "error", "mark"))
    if not words or row.get("error") or row.get("kind") not in ("label", "probabilities"):
        return words
    data = row.get("data")
    chances = data.get("probabilities", {}) if isinstance(data, dict) else None
    return (
        isinstance(data, dict)
        and isinstance(data.get("label"), str)
        and isinstance(chances, dict)
        and all(isinstance(chance, int | float) for chance in chances.values())
    )


def _is_owner(path: Path, job_id: str) -> bool:
    """Whether answers are those of this job; the seal does not say in stores of before."""
    return _sealed_words(path)[3:5] in ([], [JOB_OF, job_id])


def _digest(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def _error(raw: bytes) -> str | None:
    """The error on the line of an answer, mostly empty; None where this is no whole line of an answer."""
    if not raw.endswith(b"\n"):
        return None
    try:
        return Answer(**json.loads(raw)).error
    except (ValueError, TypeError, RecursionError):
        return None


def _read_json(path: Path) -> Any:
    """What a file holds; None where it is not there or damaged: whoever asks makes it again."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None


def _write_sealed(path: Path, plain: Mapping[str, Any]) -> None:
    """Write an object with a digest of what it says."""
    said = json.loads(json.dumps(plain))
    with writing(path) as stream:
        json.dump({"digest": _digest(said), **said}, stream, indent=1)


def _read_sealed(path: Path) -> dict[str, Any] | None:
    """What was written there; None where it is gone, damaged or without a digest."""
    said = _read_json(path)
    return said if isinstance(said, dict) and said.pop("digest", "") == _digest(said) else None


def line(row: Answer) -> str:
    """An answer as it is kept; the mark only where there is one."""
    if row.kind == "probabilities" and not row.error and not row.mark and row.data.keys() == PLAIN:
        # Most of a large store. What follows would write the same, in twice the time.
        label, chances = row.data["label"], row.data["probabilities"]
        vector = ", ".join([f"{_quoted(name)}: {chance!r}" for name, chance in chances.items()])
        begin = f'{{"example_id": {ENCODER.encode(row.example_id)}, "kind": "probabilities", "data": '
        return f'{begin}{{"label": {_quoted(label)}, "probabilities": {{{vector}}}}}, "error": ""}}\n'
    kept = {"example_id": row.example_id, "kind": row.kind, "data": row.data, "error": row.error}
    return ENCODER.encode({**kept, "mark": row.mark} if row.mark else kept) + "\n"


_quoted = lru_cache(maxsize=4096)(ENCODER.encode)
"""Names of labels, which come again and again."""


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

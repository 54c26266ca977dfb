"""The files of a run store: cases, answers, columns by case, and digests that show damage.

Cases     a header line and a line per case. A case repeats neither the groups nor the meta of the case before it, so
          that a large suite stays small and readable.
Answers   a line per answer, appended in blocks while the model is queried, and renamed when complete.
Columns   values by case, such as scores, a line per column.
"""

import errno
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

from filelock import BaseFileLock, FileLock, SoftFileLock

from ..core.case_table import CaseTable, Heading
from ..core.errors import StoreError
from ..core.files import (
    Alike,
    ResumableLines,
    collector_paused,
    digest,
    read_json_lines,
    refusing,
    replacing,
    settle,
    writing,
)
from ..core.records import Answer, Large, Lazy, as_json, from_json
from ..models.answer_rows import AnswerRows, answer_line, encoded
from ..protocols.base import Built

# Cases

CASES_FORMAT = 4
ASKED, WHOLE = "asked", "whole"
LONG_META = 16_384
"""Characters from which the meta of a case is held compressed in memory."""


def save_built(built: Built, path: Path) -> None:
    """Write built cases, with the cases they were chosen from."""
    head = {
        "shoal cases": CASES_FORMAT,
        "labels": built.labels,
        "asks": built.asks,
        "about": built.about,
        "measures": [as_json(measure) for measure in built.measures],
    }
    with sealing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in chain([encoded(head)], _case_lines(built)))
        settle(stream)


def _case_lines(built: Built) -> Iterator[str]:
    """Yield a line for every case, marked if it is only in `whole` or only in `cases`."""
    cases, marks = built.cases, [""] * len(built.cases)
    if built.chosen_from:
        asked = {case.id: case for case in built.cases}
        known = {case.id for case in built.whole}
        cases = [asked.get(case.id, case) for case in built.whole]
        cases += [case for case in built.cases if case.id not in known]
        marks = ["" if case.id in asked else WHOLE for case in built.whole]
        marks += [ASKED] * (len(cases) - len(marks))
    table, before = CaseTable.of(cases), Heading({}, {})
    columns = zip(table.ids, table.examples, table.labels, table.clusters, table.headings, marks, strict=True)
    for identity, examples, labels, cluster, heading, mark in columns:
        line: dict[str, Any] = {"id": identity, "examples": examples}
        line |= {"labels": labels} if labels is not None else {}
        line |= {"cluster": cluster} if cluster else {}
        line |= {"groups": dict(heading.groups)} if heading.groups != before.groups else {}
        line |= {"meta": dict(heading.meta)} if heading.meta != before.meta else {}
        yield encoded({**line, "only": mark} if mark else line)
        before = heading


def load_built(path: Path) -> Built | None:
    """Return the content of a file of cases, read again only if it has changed; None if it is missing or damaged."""
    if path.is_dir():
        raise StoreError(f"{path}: a folder, not a file of cases", fix=f"rm -r {path}: shoal builds it again")
    return _load(path, path.stat().st_mtime_ns) if path.exists() else None


@lru_cache(maxsize=2)
def _load(path: Path, _changed: int) -> Built | None:
    if not is_kept(path):
        return None
    rows = read_json_lines(path)
    head = next(rows)[1]
    if head["shoal cases"] != CASES_FORMAT:
        return None
    whole, asked, has_parts = CaseTable(), CaseTable(), False
    heading, headings, alike = Heading({}, {}), dict[tuple[int, int], Heading](), Alike()
    with collector_paused():
        for _, row in rows:
            groups = alike.groups(row["groups"]) if "groups" in row else heading.groups
            meta = row.get("meta", heading.meta)
            meta = Large(meta) if "meta" in row and len(str(meta)) > LONG_META else meta
            heading = headings.setdefault((id(groups), id(meta)), Heading(groups, meta))
            labels = alike.texts(tuple(row["labels"])) if "labels" in row else None
            examples = tuple([tuple(texts) for texts in row["examples"]])
            columns = (row["id"], examples, labels, heading, alike.text(row.get("cluster", "")))
            if (only := row.get("only")) != ASKED:
                whole.append(*columns)
            if only != WHOLE:
                asked.append(*columns)
            has_parts = has_parts or only is not None
    labels = None if head["labels"] is None else tuple(head["labels"])
    measures = [from_json(measure) for measure in head["measures"]]
    return Built(asked, labels, head["asks"], measures, head["about"], whole if has_parts else ())


# Answers

BLOCK = 1_000
"""Lines written at a time: stored predictions arrive as one batch."""


class PartialAnswers:
    """Answers stored batch by batch until all are there."""

    done: int
    """Number of whole batches that were stored before."""

    def __init__(self, folder: Path, sizes: Iterable[int]) -> None:
        self.path = folder / "answers.partial.jsonl"
        self.final = folder / "answers.jsonl"
        self._lines = ResumableLines(self.path, _is_answer, sizes)
        self.done = self._lines.blocks
        self._errors = sum(bool(row.error) for row in self.read()) if self.done else 0

    def read(self) -> list[Answer]:
        return [Answer(**json.loads(raw)) for raw in self._lines.lines()]

    def restart(self) -> None:
        self._lines.restart()
        self.done = self._errors = 0

    def add(self, rows: Sequence[Answer]) -> None:
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            if isinstance(rows, AnswerRows):
                self._lines.append(rows.lines(part))
            else:
                self._lines.append(map(answer_line, rows[part]))
                self._errors += sum(bool(row.error) for row in rows[part])
        if isinstance(rows, AnswerRows):
            self._errors += len(rows.answers.errors)

    def arrange(self, rows: Sequence[Answer]) -> None:
        """Replace the stored answers by these rows, which are the same answers in another order."""
        self._lines.close()
        with writing(self.path) as stream:
            stream.writelines(map(answer_line, rows))
        self._errors = sum(bool(row.error) for row in rows)
        self._lines = ResumableLines(self.path, _is_answer)

    def finish(self) -> None:
        """Rename the file: from now on the job has its answers."""
        with refusing(self.final):
            self._lines.settle()
            write_seal(self.path, self.final, self._errors)
            self.path.replace(self.final)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file; the stored answers stay."""
        self._lines.close()


class MemoryAnswers(PartialAnswers):
    """Answers of a store in memory."""

    def __init__(self, answers: dict[str, list[Sequence[Answer]]], job_id: str) -> None:
        self.done = 0
        self._batches: list[Sequence[Answer]] = []
        self._answers, self._job_id = answers, job_id

    def add(self, rows: Sequence[Answer]) -> None:
        self._batches.append(rows)

    def read(self) -> list[Answer]:
        return []

    def arrange(self, rows: Sequence[Answer]) -> None:
        self._batches = [rows]

    def finish(self) -> None:
        self._answers[self._job_id] = self._batches

    def __exit__(self, *exception: object) -> None:
        """Close nothing."""


def _is_answer(raw: bytes) -> bool:
    """Return whether a line of unfinished answers is one; someone may have edited the file."""
    try:
        row = Answer(**json.loads(raw))
        is_text = all(isinstance(word, str) for word in (row.example_id, row.kind, row.error, row.mark))
        if not is_text or row.error or row.kind not in ("label", "probabilities"):
            return is_text
        probabilities = row.data.get("probabilities", {})
        return isinstance(row.data["label"], str) and all(map(math.isfinite, probabilities.values()))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return False


# Columns

VALUES = "values"


def write_columns(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns of one length, a line each."""
    with writing(path) as stream:
        stream.writelines(f"{encoded(list(column))}\n" for column in columns.values())


def stored_column(path: Path, number: int, length: int, missing: float | None = None) -> Lazy[Any]:
    """Return a column that `write_columns` wrote, read at the first access; `missing` replaces null."""
    known = path.stat()

    def read() -> list[Any]:
        state = path.stat()
        if (state.st_mtime_ns, state.st_ino) != (known.st_mtime_ns, known.st_ino):
            raise StoreError(f"{path}: scored again by another process", fix="run the same command again")
        with path.open("rb") as stream:
            rows = json.loads(next(islice(stream, number, None)))
        return [missing if row is None else row for row in rows]

    return Lazy(length, read)


# Digests


def seal(path: Path) -> Path:
    return path.with_suffix(".digest")


def write_seal(content: Path, path: Path, errors: int | None = None) -> None:
    """Write the digest of a file; for answers also the number of errors and the job they belong to."""
    about = {} if errors is None else {"errors": errors, "job": path.parent.name}
    with writing(seal(path)) as stream:
        json.dump({"digest": digest(content), **about}, stream)


@contextmanager
def sealing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces the file, with its digest, when the block ends."""
    make_folder(path.parent)
    with replacing(path) as temporary:
        yield temporary
        write_seal(temporary, path)


def is_kept(path: Path) -> bool:
    """Return whether a file exists and matches its digest; other files are made again."""
    return path.exists() and _matches(path, path.stat().st_mtime_ns, str(read_seal(path).get("digest")))


def read_seal(path: Path) -> dict[str, Any]:
    """Return the content of a file's digest file; nothing if it cannot be read."""
    content = read_plain_json(seal(path))
    return content if isinstance(content, dict) else {}


@lru_cache(maxsize=1024)
def _matches(path: Path, _changed: int, known: str) -> bool:
    return known == digest(path)


def read_plain_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None


def write_sealed_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Write an object with a digest of its content."""
    content = json.loads(json.dumps(plain))
    with writing(path) as stream:
        json.dump({"digest": _digest_of(content), **content}, stream, indent=1)


def read_sealed_json(path: Path) -> dict[str, Any] | None:
    content = read_plain_json(path)
    return content if isinstance(content, dict) and content.pop("digest", "") == _digest_of(content) else None


def _digest_of(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def make_folder(folder: Path) -> None:
    """Create a folder; raise StoreError if that fails or the folder is read-only."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        why = "" if os.access(folder, os.W_OK) else "the folder is read-only"
    except OSError as problem:
        why = problem.strerror or str(problem)
    if why:
        raise StoreError(f"{folder}: cannot be created or written", why=why, fix="--into another folder")


# Locks

NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""Errors of file systems without locks."""


def acquire_lock(path: Path, seconds: float = -1) -> BaseFileLock:
    """Return an acquired lock of the operating system, or a lock file if the file system has no locks.

    A process on the same machine takes over the lock file of one that was killed; on another machine it waits.
    """
    try:
        return FileLock(path).acquire(timeout=seconds).lock
    except OSError as problem:  # among them Timeout, which has no number
        if problem.errno not in NO_LOCKS:
            raise
        return SoftFileLock(path.with_suffix(".held")).acquire(timeout=seconds).lock

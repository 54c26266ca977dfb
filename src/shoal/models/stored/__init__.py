"""Answers already computed, read from a predictions file and laid beside the cases they belong to.

    formats  ──►  columns  ──►  rows  ──►  meaning  ──►  answers
    a reader      what the      which row  what its      in the
    for each      file says     answers    labels mean   suite's
                                which      in the suite  labels
                                example

Nothing is guessed. Missing, extra and repeated ids are errors that name them; so are labels whose meaning cannot be
told, a label that its own probabilities contradict, and a text that is not the one its id names. `READERS` in
`formats` is the table of formats.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import DataError, nearest
from ...core.files import collector_paused, is_file, is_folder
from ...core.records import Answers, Case
from .. import ModelSpec, digest_file
from .answers import answers_of, texts_of
from .arrow import data_files
from .asked import OPTIONS, Request, read_options, suite_labels
from .columns import Columns
from .formats import READERS, read_file
from .rows import rows_of
from .stereoset import read_scores
from .texts import check_texts

__all__ = ["OPTIONS", "READERS", "StoredAnswers", "load", "read_scores"]

READING = 3
"""Raised when a file comes to be read otherwise than before, so that answers kept from then are not taken for new."""


def load(spec: ModelSpec) -> "StoredAnswers":
    """The predictions file that a spec names; it is read when the cases are known."""
    # `predictions:example` ships with the package: a word-counting model on the sentiment suite.
    shipped = Path(__file__).parents[1] / "example.jsonl.gz"
    return StoredAnswers(shipped if spec.name == "example" else Path(spec.name), spec.options)


class StoredAnswers:
    """A model that has answered already."""

    def __init__(self, path: Path, options: Mapping[str, str]) -> None:
        self.path = path
        self.options = options
        self._options = read_options(options, f"predictions:{path}")

    def __repr__(self) -> str:
        return f"predictions:{self.path}"

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on: the file's content, and how it is read."""
        return {"file": _digest(self.path), "options": dict(self.options), "reading": READING}

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """The answers to every example of `cases`, in order.

        `whole` is the suite they were chosen from: an id that is nowhere in it is an error, one that was merely not
        chosen is not.
        """
        request = Request(self.path, self._options, suite_labels(labels, whole, self._options.labels), whole)
        with collector_paused():
            columns = self.read(request)
            rows = rows_of(columns, cases, whole)
            check_texts(columns, rows, cases)
        if any(case.meta.get("labels") is None and _is_reading(case) for case in cases[:1]):
            return texts_of(columns, rows)
        return answers_of(request, columns, rows)

    def read(self, request: Request | None = None) -> Columns:
        """The whole file, checked line by line."""
        _check_there(self.path)
        return read_file(request or Request(self.path, self._options))


def _is_reading(case: Case) -> bool:
    return bool(case.meta.get("reading"))


def _check_there(path: Path) -> None:
    if not is_folder(path) and not is_file(path):
        beside = [file.name for file in path.parent.iterdir()] if is_folder(path.parent) else []
        raise DataError(
            f"{str(path)[:200]}: no such file",
            fix=nearest(path.name, beside) or f"paths count from {Path.cwd()}",
        )


def _digest(path: Path) -> str:
    _check_there(path)
    if not path.is_dir():
        return digest_file(path)
    parts = "".join(f"{file.name}:{digest_file(file)}\n" for file in data_files(path))
    return hashlib.sha256(parts.encode()).hexdigest()[:16]

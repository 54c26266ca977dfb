"""predictions:FILE: answers that were computed earlier, matched with the cases.

    readers  ──►  columns  ──►  matching  ──►  meaning
    one per       the file's    the row of     the suite's label
    format        content       each example   of each answer

Nothing is guessed. Missing, extra and repeated ids are errors that name them; so are labels without a clear meaning, a
label that its own probabilities contradict, and a text that is not its example's. `READERS` in `readers.py` is the
table of formats.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from ...core.errors import ModelError, some
from ...core.files import collector_paused, first_bytes, is_folder
from ...core.records import Answers, Case
from ...data.tables import read_table
from .. import ModelSpec, digest_file, parse_spec
from .columns import OPTIONS, Columns, Request, read_options, suite_labels
from .matching import match_rows
from .meaning import label_answers, text_answers
from .readers import READERS, read_file, read_scores

__all__ = ["OPTIONS", "READERS", "StoredAnswers", "every_model", "load", "read_scores"]

READING = 3
"""Increased when a file is read differently from before, so that answers stored earlier are not used."""
ANY = "*"


def load(spec: ModelSpec) -> "StoredAnswers":
    """Return the predictions file that a spec names; it is read when the cases are known."""
    # `predictions:example` ships with the package: a word-counting model on the sentiment suite.
    shipped = Path(__file__).parents[1] / "example.jsonl.gz"
    return StoredAnswers(shipped if spec.name == "example" else Path(spec.name), spec.options)


class StoredAnswers:
    """A model whose answers are in a file."""

    def __init__(self, path: Path, options: Mapping[str, str]) -> None:
        self.path = path
        self.options = options
        self._options = read_options(options, f"predictions:{path}")

    def __repr__(self) -> str:
        return f"predictions:{self.path}"

    def fingerprint(self) -> dict[str, Any]:
        """Return what the answers depend on: the file's content and its options."""
        return {"file": _digest(self.path), "options": dict(self.options), "reading": READING}

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """Return the answers to every example of `cases`, in order.

        `whole` is the suite that they were selected from: only ids outside of it are errors.
        """
        request = Request(self.path, self._options, suite_labels(labels, whole, self._options.labels), whole)
        with collector_paused():
            columns = self.read(request)
            rows = match_rows(columns, cases, whole)
        columns.identities.clear()  # a tenth of the memory of a large file
        if any(case.meta.get("labels") is None and case.meta.get("reading") for case in cases[:1]):
            return text_answers(columns, rows)
        return label_answers(request, columns, rows)

    def read(self, request: Request | None = None) -> Columns:
        """Return the whole file, checked line by line."""
        if not is_folder(self.path):
            first_bytes(self.path, 1)  # raises if there is no such file
        return read_file(request or Request(self.path, self._options), self.options)


def _digest(path: Path) -> str:
    if not is_folder(path):
        first_bytes(path, 1)  # raises if there is no such file
        return digest_file(path)
    files = sorted(path.rglob("*.arrow"))  # of a saved dataset
    parts = "".join(f"{file.name}:{digest_file(file)}\n" for file in files)
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


# Several models in one file


def every_model(specs: Sequence[str]) -> list[str]:
    """Return the specs; one with `label=preds-*` is repeated for every such column of its file.

    `*` matches the same text in all options of a spec: `label=*_label&probabilities=*_p` are pairs of columns.
    """
    return [name for spec in specs for name in _expanded(spec)]


def _expanded(spec: str) -> list[str]:
    head, _, query = spec.partition("?")
    parsed = parse_spec(spec)
    patterns = [value for value in parsed.options.values() if ANY in value]
    if parsed.scheme != "predictions" or not patterns:
        return [spec]
    path = Path(parsed.name)
    columns = read_table(path)[0]
    by_option = [_middles(pattern, columns) for pattern in patterns]
    names = [name for name in by_option[0] if all(name in others for others in by_option[1:])]
    if not names:
        raise ModelError(
            f"{path}: no columns {' and '.join(map(repr, patterns))}",
            why=f"found: {some(columns, 12)}",
            fix="names of columns, with * for the part that differs between models",
        )
    return [f"{head}?{query.replace(ANY, quote_plus(name))}" for name in names]


def _middles(pattern: str, columns: Sequence[str]) -> list[str]:
    before, _, after = pattern.partition(ANY)
    form = re.compile(re.escape(before) + "(.+)" + re.escape(after))
    return [match[1] for column in columns if (match := form.fullmatch(column))]

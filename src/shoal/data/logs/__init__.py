"""Logs of other tools: results that were graded elsewhere, recognised by their content.

    file ──► open_log ──► rows ──► Sample
             LOGS         a row per sample (and epoch, and filter)

`scores:` takes the scores of the samples, `predictions:` their answers, `import` their texts and labels. To add a
format: write a module with a `Log`, and add a line to LOGS.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import BOM, LONGEST_LINE, first_bytes, read_json, read_json_lines, read_lines
from . import eee, helm, inspect_ai, lm_eval, mlflow, promptfoo
from .archives import ZIP, is_inspect_archive
from .samples import Log, Sample

__all__ = ["LOGS", "Log", "OpenLog", "Sample", "open_log"]

LOGS: dict[str, Log] = {
    "lm-eval": lm_eval.LOG,
    "inspect": inspect_ai.LOG,
    "promptfoo": promptfoo.LOG,
    "eee": eee.LOG,
    "helm": helm.LOG,
    "mlflow": mlflow.LOG,
}
"""Name to format."""


class OpenLog:
    """A file that was recognised, and its samples."""

    def __init__(self, path: Path, name: str, document: Any) -> None:
        self.path, self.name, self.log = path, name, LOGS[name]
        self._document = document

    @property
    def unit(self) -> str:
        """The unit of the samples' numbers."""
        return "sample" if self.log.rows else "line"

    def rows(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows with their numbers from 1."""
        if self.log.rows is None:
            return read_json_lines(self.path)
        return enumerate(self.log.rows(self._document), start=1)

    def samples(self) -> Iterator[tuple[int, Any, Sample]]:
        """Yield number, row and sample; an error names its place."""
        for number, row in self.rows():
            try:
                yield number, row, self.log.sample(row)
            except DataError as problem:
                raise problem.at(f"{self.path}, {self.unit} {number}") from None
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
                raise DataError(
                    f"{self.path}, {self.unit} {number}: not a whole {self.log.title} sample",
                    why=f"{type(problem).__name__}: {problem}",
                    fix="write the file again; it was probably changed or cut short",
                ) from None


def open_log(path: Path) -> OpenLog | None:
    """Return a log that is recognised by its content; None for other files, an error for a summary without samples."""
    if path.is_dir():
        return None
    start = first_bytes(path, 512).removeprefix(BOM).lstrip()
    if start.startswith(ZIP):
        return OpenLog(path, "inspect", inspect_ai.Archive(path)) if is_inspect_archive(path) else None
    if start[:1] not in (b"{", b"["):
        return None
    content, is_line = _first_value(path)
    for name, log in LOGS.items():
        if log.summary and log.summary.fits(content):
            raise DataError(f"{path}: {log.summary.what}", fix=log.summary.fix)
        if log.fits(content) and (log.rows is None) == is_line:
            return OpenLog(path, name, content)
        if log.rows is not None and is_line and log.fits(content):  # a document written on one line
            return OpenLog(path, name, content)
    return None


def _first_value(path: Path) -> tuple[Any, bool]:
    """Return the first object of JSON Lines, or the whole document, and whether it stands on the first line."""
    first = first_bytes(path, LONGEST_LINE).removeprefix(BOM).lstrip()
    line = first.split(b"\n", 1)[0].rstrip()
    if len(line) < LONGEST_LINE and line.endswith(b"}") and line.startswith(b"{"):
        return next(read_json_lines(path), (0, {}))[1], True
    if first.startswith(b"{") and len(line) > 1 and b"\n" in first and not line.endswith((b"{", b"[", b",")):
        return next((text for _, text in read_lines(path)), ""), True
    return read_json(path), False

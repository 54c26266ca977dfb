"""Files in, rows out: one reader per format of suites that others wrote.

A reader turns a file into rows of our suite schema (`docs/method/glossary.md` 0.4, with `capability` for
`class`), so that everything downstream knows one form. To add a format: write `data/<name>.py` with `fits` and
`read`, and add a line to FORMATS.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..files import first_bytes, read_json_lines, read_lines, read_table

FORMATS: dict[str, str] = {
    "suite": "our own suite file: JSON Lines, one case per line",
    "checklist": "a released CheckList suite: JSON Lines, or the pickle as it comes, read without running any of it",
    "hatecheck": "HateCheck and Multilingual HateCheck CSV",
    "adatest": "AdaTest topics CSV",
    "columns": "any CSV, TSV or JSON Lines whose columns you name",
}


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """What a reader found: the suite's header, its rows with their line numbers, and what it left behind."""

    header: dict[str, Any]
    rows: Iterator[tuple[int, dict[str, Any]]]
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The first bytes, the column names of a table, and the first object of JSON Lines: enough to tell formats."""

    start: bytes
    columns: list[str]
    first_object: dict[str, Any]


def glimpse(path: Path) -> Glimpse:
    """A look at how a file begins."""
    start = first_bytes(path, 512)
    if is_pickle(start):
        return Glimpse(start, [], {})
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return Glimpse(start, [], next(read_json_lines(path))[1])
    return Glimpse(start, read_table(path)[0] if first else [], {})


def is_pickle(start: bytes) -> bool:
    """Whether a file that begins so is a binary pickle, or a tar that may hold one."""
    return start[:1] == b"\x80" or start[257:262] == b"ustar"


def read_suite_rows(path: Path) -> SuiteRows:
    """The rows of a suite in any format that can be told by looking."""
    look = glimpse(path)
    for name in FORMATS:
        module = import_module(f".{name}", __name__)
        if module.fits(look):
            rows: SuiteRows = module.read(path)
            return rows
    raise DataError(
        f"{path}: not a suite in a format that is known",
        why=f"known: {', '.join(FORMATS)}; the file begins {look.start[:40]!r}",
        fix="name its columns: shoal import FILE --out suite.jsonl --text COLUMN --label COLUMN …",
    )

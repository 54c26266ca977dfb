"""Files in, rows out: one reader per format of suites that others wrote.

A reader turns a file into rows of our suite schema (`docs/method/glossary.md` 0.4, with `capability` for
`class`), so that everything downstream knows one form. To add a format: write `data/<name>.py` with `fits` and
`read`, and add a line to FORMATS.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.errors import DataError, some
from ..core.files import first_bytes, is_json_array, read_json_array, read_json_lines, read_lines
from ..core.tables import read_table
from .missing import is_missing
from .tables import is_table, open_rows

FORMATS: dict[str, str] = {
    "suite": "our own suite file: JSON Lines, one case per line",
    "checklist": "a released CheckList suite: JSON Lines, or the pickle as it comes, read without running any of it",
    "hatecheck": "HateCheck and Multilingual HateCheck CSV",
    "adatest": "AdaTest topics CSV",
    "columns": "any table whose columns you name: CSV, TSV, JSON, Parquet, Arrow, xlsx, a saved Hugging Face dataset",
}


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """What a reader found: the suite's header, its rows with their line numbers, and what it left behind."""

    header: dict[str, Any]
    rows: Iterator[tuple[int, dict[str, Any]]]
    lost: list[str] = field(default_factory=list)
    unit: str = "line"
    """What the numbers count."""
    blank_texts: bool = False
    """Whether a blank text may be meant, as in a suite that was written as one."""
    templated: bool = False
    """Whether the cases are known to be fillings of templates that the file does not name."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The first bytes, the column names of a table, and the first object of JSON Lines: enough to tell formats."""

    start: bytes
    columns: list[str]
    first_object: dict[str, Any]


def glimpse(path: Path) -> Glimpse:
    """A look at how a file begins."""
    if is_table(path):
        return Glimpse(b"", open_rows(path).columns, {})
    start = first_bytes(path, 512)
    if is_pickle(start):
        return Glimpse(start, [], {})
    if is_json_array(path):
        return Glimpse(start, [], next(read_json_array(path), (0, {}))[1])
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
        if look.start and module.fits(look):
            rows: SuiteRows = module.read(path)
            return rows
    begins = f"its columns are {some(look.columns, 8)}" if look.columns else f"it begins {look.start[:40]!r}"
    raise DataError(
        f"{path}: not a suite in a format that is known",
        why=f"known: {', '.join(FORMATS)}; {begins}",
        fix="name its columns: shoal import FILE --out suite.jsonl --text COLUMN --label COLUMN …",
    )


def with_label_names(rows: SuiteRows, names: Mapping[str, str], path: Path) -> SuiteRows:
    """The same rows with their labels called by name; numbers are taken in their order, names in the order given."""
    numbers = all(key.isdecimal() for key in names)
    order = sorted(names, key=int) if numbers else list(names)
    called = list(dict.fromkeys(names[key] for key in order))
    keeps_numbers = (
        numbers and len(called) == len(order) and [int(key) for key in order] == [*range(len(order))]
    )
    header = {**rows.header, "label_names": called}

    def renamed() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in rows.rows:
            where = f"{path}, {rows.unit} {number}"
            if row.get("expect") is not None and numbers and not keeps_numbers:
                raise DataError(
                    f"{where}: the rules of this suite may name labels by number",
                    fix="--labels 0=NAME --labels 1=OTHER …, from 0 on, each its own name",
                )
            labels = row.get("labels")
            many = labels if isinstance(labels, list) else [labels]
            called_so = [
                label if is_missing(label) and label not in names else _called(label, names, where)
                for label in many
            ]
            yield number, {**row, "labels": called_so if isinstance(labels, list) else called_so[0]}

    return replace(rows, header=header, rows=renamed())


def _called(label: Any, names: Mapping[str, str], where: str) -> str:
    word = str(label)
    unlike = "not_" if word.startswith("not_") and word not in names else ""
    if word.removeprefix(unlike) not in names:
        raise DataError(
            f"{where}: label {label!r} has no name",
            why=f"--labels names {some(names, 12)}",
            fix=f"--labels {word.removeprefix(unlike)}=NAME",
        )
    return unlike + names[word.removeprefix(unlike)]

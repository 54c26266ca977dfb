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
from .cells import is_missing
from .invalid import InvalidRows
from .logs import OpenLog, open_log
from .tables import is_table, open_rows, read_table

FORMATS: dict[str, str] = {
    "log": "samples of lm-evaluation-harness (--log_samples), inspect, promptfoo, Every Eval Ever and MLflow",
    "suite": "our own suite file: JSON Lines, one case per line; also as a form of shoal export saves it",
    "checklist": "a released CheckList suite: JSON Lines, or the pickle as it comes, read without running any of it",
    "hatecheck": "HateCheck and Multilingual HateCheck CSV",
    "columns": "any table whose columns you name: CSV, TSV, JSON, Parquet, Arrow, xlsx, a saved Hugging Face dataset",
}


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """The content of a file: the suite's header, and its rows with their numbers."""

    header: dict[str, Any]
    rows: Iterator[tuple[int, dict[str, Any]]]
    lost: list[str] = field(default_factory=list)
    """Parts of the file that were not imported."""
    unit: str = "line"
    """The unit of the numbers."""
    stripped: list[int] = field(default_factory=list)
    """Rows whose label had white space at its edges."""
    blank_texts: bool = False
    """Whether a blank text is allowed, as in our own suite files."""
    templated: bool = False
    """Whether the cases were filled from templates that the file does not name."""
    invalid: InvalidRows = field(default_factory=InvalidRows)
    """Collects the rows that are not valid while the others are read."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The first bytes of a file, the columns of a table, and the first object of JSON Lines."""

    start: bytes
    columns: list[str] = field(default_factory=list)
    first_object: dict[str, Any] = field(default_factory=dict)
    log: OpenLog | None = None


def glimpse(path: Path) -> Glimpse:
    """Return the beginning of a file, from which its format is recognised."""
    if path.is_file() and (log := open_log(path)) is not None:
        return Glimpse(first_bytes(path, 512), log=log)
    if is_table(path):
        return Glimpse(b"", open_rows(path).columns)
    start = first_bytes(path, 512)
    if is_pickle(start):
        return Glimpse(start)
    if is_json_array(path):
        return Glimpse(start, first_object=next(read_json_array(path), (0, {}))[1])
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return Glimpse(start, first_object=next(read_json_lines(path))[1])
    return Glimpse(start, read_table(path)[0] if first else [])


def is_pickle(start: bytes) -> bool:
    """Return whether these are the first bytes of a binary pickle, or of a tar that may hold one."""
    return start[:1] == b"\x80" or start[257:262] == b"ustar"


def read_suite_rows(path: Path) -> SuiteRows:
    """Return the rows of a suite in any format that is recognised by its content."""
    look = glimpse(path)
    if {"case_id", "example_idx", "text"}.issubset(look.columns or look.first_object):
        raise DataError(
            f"{path}: has the texts of a suite without what they expect",
            fix=f"the suite that was exported; if the file has answers, use it as a model: predictions:{path}",
        )
    for name in FORMATS if look.start else ():
        module = import_module(f".{name}", __name__)
        if module.fits(look):
            rows: SuiteRows = module.read(path)
            return rows
    begins = f"its columns are {some(look.columns, 8)}" if look.columns else f"it begins {look.start[:40]!r}"
    raise DataError(
        f"{path}: not a suite in a format that is known",
        why=f"known: {', '.join(FORMATS)}; {begins}",
        fix="name its columns: shoal import FILE --out suite.jsonl --text COLUMN --label COLUMN …",
    )


def with_label_names(rows: SuiteRows, names: Mapping[str, str], path: Path) -> SuiteRows:
    """Return the rows with labels by name: numbers in their order, other values in the order given."""
    numbers = all(key.isdecimal() for key in names)
    order = sorted(names, key=int) if numbers else list(names)
    label_names = list(dict.fromkeys(names[key] for key in order))
    if len(label_names) < 2:
        raise DataError(
            f"--labels names one label only: {label_names[0]!r}",
            why="a suite names every label that a model may give",
            fix="--labels VALUE=NAME for each value of the label",
        )
    keeps_numbers = len(label_names) == len(order) and order == [str(number) for number in range(len(order))]

    def renamed() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in rows.rows:
            if row.get("expect") is not None and numbers and not keeps_numbers:
                raise DataError(
                    f"{path}, {rows.unit} {number}: the rules of this suite may name labels by number",
                    fix="--labels 0=NAME --labels 1=OTHER …, from 0 on, each its own name",
                )
            try:
                labels = _label_name(row.get("labels"), names)
            except DataError as problem:
                rows.invalid.add(number, problem)
            else:
                yield number, {**row, "labels": labels}

    return replace(rows, header={**rows.header, "label_names": label_names}, rows=renamed())


def _label_name(label: Any, names: Mapping[str, str]) -> Any:
    if isinstance(label, list):
        return [_label_name(part, names) for part in label]
    word = str(label)
    if is_missing(label) and label not in names:
        return label
    unlike = "not_" if word.startswith("not_") and word not in names else ""
    word = word.removeprefix(unlike)
    if word not in names:
        raise DataError(
            f"label {label!r} has no name",
            why=f"--labels names {some(names, 12)}",
            fix=f"--labels {word}=NAME",
        )
    return unlike + names[word]

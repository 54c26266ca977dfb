"""Rows of any table: CSV, TSV and JSON; with the extra `tables` also Parquet, Arrow, xlsx and saved datasets.

A reader streams rows as mappings by column name. Where the file's own format says what the numbers of a column stand
for (the class labels of a Hugging Face dataset), they are given by name.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from ..core.errors import DataError, MissingExtra, some
from ..core.files import (
    LARGEST_WHOLE,
    LONGEST_SHEET,
    Swelling,
    first_bytes,
    is_json_array,
    read_json_array,
    read_json_lines,
    read_lines,
    whole_bytes,
)
from ..core.tables import read_table

Numbered = Iterator[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns, its rows with their numbers, and what the numbers count."""

    columns: list[str]
    rows: Numbered
    unit: str = "line"
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column: what its values are called, in the order of the file's own numbers."""


ROWS_AT_ONCE = 500
MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "stream"),
    (b"PK\x03\x04", "xlsx"),
    (b"\xd0\xcf\x11\xe0", "xls"),
)
"""How files begin that are no text."""


def is_table(path: Path) -> bool:
    """Whether this is a table in a format that is no text, or a folder that may hold one."""
    return bool(_kind(path))


def open_rows(path: Path) -> Rows:
    """The rows of a table, whatever it is kept in."""
    kind = _kind(path)
    if kind:
        return READERS[kind](path)
    if is_json_array(path):
        first = next(read_json_array(path), (0, {}))[1]
        return Rows(list(first), iter(read_json_array(path)), "row")
    start = next((line.lstrip() for _, line in read_lines(path) if line.strip()), "")
    if start.startswith("{"):
        return Rows(list(next(read_json_lines(path))[1]), iter(read_json_lines(path)))
    columns, rows = read_table(path)
    return Rows(columns, iter(rows))


def _kind(path: Path) -> str:
    if path.is_dir():
        return "folder"
    start = first_bytes(path, 8)
    return next((kind for magic, kind in MAGIC if start.startswith(magic)), "")


# Arrow and Parquet


def _parquet(path: Path) -> Rows:
    parquet = _library("pyarrow.parquet", "pyarrow", "Parquet files")
    with _broken(path, "Parquet"):
        file = parquet.ParquetFile(path)
        return _arrow_rows(path, file.schema_arrow, lambda: file.iter_batches(ROWS_AT_ONCE))


def _arrow(path: Path) -> Rows:
    arrow = _library("pyarrow", "pyarrow", "Arrow files")
    with _broken(path, "Arrow"):
        file = arrow.ipc.open_file(arrow.OSFile(str(path)))
        return _arrow_rows(
            path, file.schema, lambda: (file.get_batch(at) for at in range(file.num_record_batches))
        )


def _arrow_stream(path: Path) -> Rows:
    arrow = _library("pyarrow", "pyarrow", "Arrow files")
    with _broken(path, "Arrow"):
        stream = arrow.ipc.open_stream(arrow.OSFile(str(path)))
        return _arrow_rows(path, stream.schema, lambda: iter(stream))


def _arrow_rows(path: Path, schema: Any, batches: Callable[[], Iterator[Any]]) -> Rows:
    names = _class_names(schema.metadata or {})
    _refuse_twice(path, schema.names)
    return Rows(list(schema.names), _numbered(path, batches, names), "row", names)


def _numbered(
    path: Path, batches: Callable[[], Iterator[Any]], names: Mapping[str, tuple[str, ...]]
) -> Numbered:
    number, swelling = 0, Swelling(path)
    with _broken(path, "table"):
        for row in chain.from_iterable(map(_few_at_a_time, batches())):
            swelling.take_row(row)
            number += 1
            yield number, {column: _named(value, names.get(column)) for column, value in row.items()}


def _few_at_a_time(batch: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a batch; a text that a dictionary holds once is copied for every row that names it."""
    batch.validate(full=True)  # a damaged file may point outside of its own data
    for start in range(0, batch.num_rows, ROWS_AT_ONCE):
        yield from batch.slice(start, ROWS_AT_ONCE).to_pylist()


def _named(value: Any, names: tuple[str, ...] | None) -> Any:
    """A class label by its name; -1 is the format's word for none."""
    if names is None or not isinstance(value, int):
        return value
    return names[value] if 0 <= value < len(names) else None


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    """The columns of class labels, as the `datasets` library writes them into the schema."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {
            column: tuple(map(str, feature["names"]))
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


# Folders


def _folder(path: Path) -> Rows:
    """A dataset that `save_to_disk` of the `datasets` library wrote."""
    if (path / "dataset_dict.json").is_file():
        splits = sorted(file.parent.name for file in path.glob("*/state.json"))
        if len(splits) != 1:
            raise DataError(
                f"{path}: a dataset of {len(splits)} splits: {some(splits)}",
                why="one of them makes a suite",
                fix=f"{path / splits[0]}" if splits else "save it again",
            )
        return _folder(path / splits[0])
    try:
        state = json.loads((path / "state.json").read_text(encoding="utf-8"))
        files = [path / Path(file["filename"]).name for file in state["_data_files"]]
    except FileNotFoundError:
        raise DataError(
            f"{path}: a folder, and no saved dataset",
            why="no state.json in it, as save_to_disk writes it",
            fix="name the file in it that holds the table",
        ) from None
    except (ValueError, KeyError, TypeError) as problem:
        raise DataError(
            f"{path / 'state.json'}: not the state of a saved dataset",
            why=repr(problem),
            fix="save the dataset again",
        ) from None
    if state.get("_indices_data_files"):
        raise DataError(
            f"{path}: a selection of a dataset, not its rows",
            why="its rows are named by a list of indices beside the data",
            fix="dataset.flatten_indices().save_to_disk(FOLDER)",
        )
    missing = [file for file in files if not file.is_file()]
    if missing or not files:
        raise DataError(f"{missing[0] if missing else path}: no such data file", fix="save the dataset again")
    first = _arrow_stream(files[0])

    def rows() -> Numbered:
        number = 0
        for file in files:
            for _, row in _arrow_stream(file).rows:
                number += 1
                yield number, row

    return Rows(first.columns, rows(), "row", first.names)


# Spreadsheets


def _xlsx(path: Path) -> Rows:
    """The only sheet of a workbook; its first row names the columns."""
    openpyxl = _library("openpyxl", "openpyxl", "xlsx files")
    with _broken(path, "xlsx"):
        content = BytesIO(whole_bytes(path))
        with zipfile.ZipFile(content) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise DataError(
                    f"{path}: a zip archive, not a table", fix="unzip it, and name the file in it"
                )
            if sum(part.file_size for part in archive.infolist()) > LARGEST_WHOLE:
                raise DataError(
                    f"{path}: unzipped, larger than {LARGEST_WHOLE // 2**20} MB", fix="save it as CSV"
                )
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    if len(book.sheetnames) != 1:
        raise DataError(
            f"{path}: {len(book.sheetnames)} sheets: {some(book.sheetnames)}",
            why="which of them is meant cannot be told",
            fix="save the one you mean by itself",
        )
    with _broken(path, "xlsx"):
        sheet = book[book.sheetnames[0]]
        sheet.reset_dimensions()  # what the sheet says of its size may be a lie of 16,384 columns
        lines = sheet.iter_rows(values_only=True)
        columns = [str(cell) if cell is not None else "" for cell in next(lines, ())]
    while columns and not columns[-1]:
        columns.pop()
    if not any(columns):
        raise DataError(
            f"{path}, line 1: no column names",
            why="the first row must name the columns",
            fix="write them into the first row",
        )
    _refuse_twice(path, [name for name in columns if name])
    return Rows(columns, _sheet_rows(path, columns, lines))


def _sheet_rows(path: Path, columns: list[str], lines: Iterator[tuple[Any, ...]]) -> Numbered:
    with _broken(path, "xlsx"):
        for number, cells in enumerate(lines, start=2):
            if number > LONGEST_SHEET:
                raise ValueError(f"a sheet has at most {LONGEST_SHEET:,} rows")
            if any(cell is not None for cell in cells):
                padded = [*cells, *[None] * (len(columns) - len(cells))]
                yield number, dict(zip(columns, padded, strict=False))


def _xls(path: Path) -> Rows:
    raise DataError(
        f"{path}: an old Excel file", why="it cannot be read safely", fix="save it as xlsx or CSV"
    )


READERS: dict[str, Callable[[Path], Rows]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "stream": _arrow_stream,
    "xlsx": _xlsx,
    "xls": _xls,
    "folder": _folder,
}


def _refuse_twice(path: Path, columns: list[str]) -> None:
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{path}: column {min(twice)!r} is there twice", fix="give each column a name of its own"
        )


def _library(module: str, library: str, needed_for: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(library, needed_for=needed_for) from None


@contextmanager
def _broken(path: Path, kind: str) -> Iterator[None]:
    """What a library stumbles over, in words: its errors have no class in common."""
    try:
        yield
    except (DataError, MissingExtra):
        raise
    except Exception as problem:
        raise DataError(
            f"{path}: not a whole {kind} file",
            why=str(problem).splitlines()[0] if str(problem) else type(problem).__name__,
            fix="fetch or write the file again; it was probably cut short",
        ) from None

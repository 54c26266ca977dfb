"""Rows of any table: CSV, TSV and JSON; with the extra `tables` also Parquet, Arrow, xlsx and saved datasets.

A reader streams rows as mappings by column name. Class labels of Hugging Face datasets are given by name.
"""

import csv
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..core.errors import DataError, MissingExtra, OnInvalid, import_library, nearest, some
from ..core.files import (
    LARGEST_WHOLE,
    LONGEST_LINE,
    LONGEST_SHEET,
    SPLIT,
    first_bytes,
    is_json_array,
    most_unzipped,
    read_json_array,
    read_json_lines,
    read_lines,
    split_name,
    swollen,
    valid_rows,
    whole_bytes,
)
from .cells import has_path, paths_in

csv.field_size_limit(LONGEST_LINE)  # the default, 131,072 characters, is too short for some texts

Numbered = Iterator[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its columns, and its rows with their numbers."""

    columns: list[str]
    rows: Numbered
    unit: str = "line"
    """The unit of the numbers."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the class labels, by column, in the order of their numbers."""
    head: Sequence[Mapping[str, Any]] = ()
    """The first rows."""

    def require(self, where: object, wanted: Iterable[str]) -> None:
        """Raise an error if a wanted column, or path in nested rows, does not exist."""
        if not self.columns:
            raise DataError(f"{where}: no rows", fix="check that this is the file you meant")
        missing = [name for name in wanted if not any(has_path(row, name) for row in self.head)]
        paths = (path for row in self.head for path in paths_in(row)) if missing else ()
        require_columns(where, list(dict.fromkeys([*self.columns, *paths])), missing)


HEAD = 20
"""Rows that name the columns of JSON."""
ROWS_AT_ONCE = 500
NEEDED_FOR = "tables in binary formats"


def is_table(path: Path) -> bool:
    """Return whether this is a table in a binary format, or a folder that may hold one."""
    return _binary_reader(path) is not None


def open_rows(path: Path, on_invalid: OnInvalid | None = None) -> Rows:
    """Return the rows of a table in any format; without `on_invalid`, the first invalid row is an error."""
    if reader := _binary_reader(path):
        return _peeked(reader(path))
    if is_json_array(path):
        return _peeked(Rows([], read_json_array(path, on_invalid), "row"))
    start = next((line.lstrip() for _, line in read_lines(path) if line.strip()), "")
    if start.startswith("{") or ".jsonl" in path.suffixes:
        return _peeked(Rows([], read_json_lines(path, on_invalid)))
    columns, rows = read_table(path, on_invalid)
    return Rows(columns, rows)


def _peeked(table: Rows) -> Rows:
    """Return a table with its first rows, which name the columns of JSON and the paths in nested rows."""
    head = list(islice(table.rows, HEAD))
    columns = table.columns or list(dict.fromkeys(name for _, row in head for name in row))
    return replace(table, columns=columns, rows=chain(head, table.rows), head=[row for _, row in head])


def require_columns(where: object, columns: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise if a wanted column does not exist."""
    for name in wanted:
        if name not in columns:
            raise DataError(
                f"{where}: no column {name!r}",
                why=f"found: {some(columns, 12)}",
                fix=nearest(name, columns) or "one of those",
            )


def _binary_reader(path: Path) -> Callable[[Path], Rows] | None:
    if path.is_dir() or split_name(path)[1]:
        return _folder
    start = first_bytes(path, 8)
    return next((reader for magic, reader in READERS.items() if start.startswith(magic)), None)


# CSV and TSV


def read_table(
    path: Path, on_invalid: OnInvalid | None = None
) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the column names of a CSV (comma or semicolon) or TSV file, and its rows with their line numbers."""
    lines = read_lines(path)
    first = next(lines, (1, ""))
    if not first[1].strip():
        raise DataError(
            f"{path}, line 1: no column names",
            why="the first line must name the columns",
            fix="a first line such as: id,label",
        )
    rows = _fields(path, chain([first], lines), delimiter_of(first[1]))
    columns = next(rows)[1]
    _refuse_twice(path, columns)
    return columns, valid_rows(rows, partial(_cells, columns), f"{path}, line", on_invalid)


def delimiter_of(first: str) -> str:
    """Return the separator of a table from its header line.

    >>> [delimiter_of(line) for line in ("id\\tlabel", "id;label", '"a;b;c",label')]
    ['\\t', ';', ',']
    """
    if "\t" in first:
        return "\t"
    bare = re.sub(r'"[^"]*"?', "", first)
    return ";" if bare.count(";") > bare.count(",") else ","


def _cells(columns: list[str], row: list[str]) -> dict[str, str]:
    if len(row) != len(columns):
        raise DataError(
            f"{len(row)} fields where the first line names {len(columns)}",
            fix="quote fields that hold the separator or a line end",
        )
    return dict(zip(columns, row, strict=True))


def _fields(path: Path, lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each non-blank row with the line it starts on.

    In TSV a quote is a plain character unless it wraps the whole field.
    """
    if delimiter == "\t":
        yield from ((number, list(map(_unwrap, line.split("\t")))) for number, line in lines if line)
        return
    reader = csv.reader((line + "\n" for _, line in lines), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1  # a quoted field may span several lines
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise DataError(
                f"{path}, line {start}: not a table row",
                why=str(problem),
                fix="quote fields that hold the separator, a quote or a line end; close and double the quotes",
            ) from None
        if row:
            yield start, row


def _unwrap(field: str) -> str:
    inner = field[1:-1]
    is_wrapped = len(field) > 1 and field == f'"{inner}"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if is_wrapped else field


# Arrow and Parquet: each opener returns the schema and the batches

Opener = Callable[[Path], tuple[Any, Iterator[Any]]]


def _parquet(path: Path) -> tuple[Any, Iterator[Any]]:
    file = import_library("pyarrow.parquet", NEEDED_FOR).ParquetFile(path)
    return file.schema_arrow, file.iter_batches(ROWS_AT_ONCE)


def _arrow(path: Path) -> tuple[Any, Iterator[Any]]:
    arrow = import_library("pyarrow", NEEDED_FOR)
    file = arrow.ipc.open_file(arrow.OSFile(str(path)))
    return file.schema, (file.get_batch(at) for at in range(file.num_record_batches))


def _stream(path: Path) -> tuple[Any, Iterator[Any]]:
    arrow = import_library("pyarrow", NEEDED_FOR)
    stream = arrow.ipc.open_stream(arrow.OSFile(str(path)))
    return stream.schema, iter(stream)


def _arrow_rows(path: Path, files: Sequence[Path], opener: Opener) -> Rows:
    with named_errors(path):
        schema, _ = opener(files[0])
    _refuse_twice(path, schema.names)
    names = _class_names(schema.metadata or {})

    def numbered() -> Numbered:
        with named_errors(path):
            rows = (row for file in files for batch in opener(file)[1] for row in _rows_of(batch))
            size, most = 0, most_unzipped(*files)
            for number, row in enumerate(rows, start=1):
                size += sum(len(value) if isinstance(value, str | bytes) else 1 for value in row.values())
                if size > most:
                    raise swollen(path)
                yield number, {column: _class_name(value, names.get(column)) for column, value in row.items()}

    return Rows(list(schema.names), numbered(), "row", names)


def _rows_of(batch: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a batch, a few at a time: dictionary encoding lets a small batch unfold to any size."""
    batch.validate(full=True)  # a damaged file may point outside of its own data
    for start in range(0, batch.num_rows, ROWS_AT_ONCE):
        yield from batch.slice(start, ROWS_AT_ONCE).to_pylist()


def _class_name(value: Any, names: tuple[str, ...] | None) -> Any:
    """Return a class label by its name; -1 means a missing one."""
    if names is None or not isinstance(value, int):
        return value
    return names[value] if 0 <= value < len(names) else None


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    """Return the names of class labels by column, as the `datasets` library writes them into the schema."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {
            column: tuple(map(str, feature["names"]))
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


# Folders of Hugging Face datasets

SHARD = re.compile(r"(?P<split>[\w.]+?)(-(?P<number>\d{5})-of-(?P<count>\d{5}))?(-[0-9a-f]{16})?\.parquet")
"""The name of a Parquet file of a split: `test.parquet`, `train-00000-of-00002.parquet`."""


def _folder(name: Path) -> Rows:
    """Read a split of a dataset: as `save_to_disk` writes it, or as Parquet files in the folder or in its `data`."""
    path, split = split_name(name)
    if not path.is_dir():
        raise DataError(
            f"{path}: no such folder", fix=f"?split= chooses a split of a dataset's folder; {path}"
        )
    if (path / "state.json").is_file():
        if split:
            raise DataError(f"{path}: a single split", fix=f"{path}, without ?split={split}")
        return _saved(path)
    saved = {file.parent.name: [file.parent] for file in sorted(path.glob("*/state.json"))}
    splits = saved or _shards(path)
    if not splits:
        raise DataError(
            f"{path}: not a saved dataset",
            why="neither state.json nor Parquet files with the names of splits",
            fix="name the file in it that holds the table",
        )
    if split not in splits and (split or len(splits) > 1):
        raise DataError(
            f"{path}: {f'no split {split!r} among' if split else 'a dataset of'} {len(splits)} splits: {some(splits)}",
            fix=f"{path}{SPLIT}{(nearest(split, splits) or next(iter(splits))).strip(chr(34))}",
        )
    files = splits[split or next(iter(splits))]
    return _saved(files[0]) if saved else _arrow_rows(path, files, _parquet)


def _shards(path: Path) -> dict[str, list[Path]]:
    """Return the Parquet files of each split; raise if one of them is missing."""
    splits: dict[str, list[Path]] = {}
    counts: dict[str, int] = {}
    for file in sorted([*path.glob("*.parquet"), *path.glob("data/*.parquet")]):
        if match := SHARD.fullmatch(file.name):
            splits.setdefault(match["split"], []).append(file)
            counts[match["split"]] = int(match["count"] or 1)
    for name, files in splits.items():
        if len(files) != counts[name]:
            raise DataError(
                f"{path}: {len(files)} of {counts[name]} files of split {name!r}",
                why=f"found: {some(file.name for file in files)}",
                fix="fetch the dataset again",
            )
        # The cache of the Hugging Face hub links the files of a snapshot to its own folder of blobs.
        blobs = [path.parents[1] / "blobs"] if path.resolve().parent.name == "snapshots" else []
        _refuse_outside(path, files, [path, *blobs])
    return splits


def _refuse_outside(path: Path, files: Iterable[Path], roots: Iterable[Path]) -> None:
    """Raise if a file of a dataset is a link out of its folder."""
    inside = [root.resolve() for root in roots]
    for file in files:
        if not any(file.resolve().is_relative_to(root) for root in inside):
            raise DataError(f"{file}: a link out of {path}", fix="copy the file into the folder")


def _saved(path: Path) -> Rows:
    """Read a dataset that `Dataset.save_to_disk` of Hugging Face's datasets wrote."""
    try:
        state = json.loads((path / "state.json").read_text(encoding="utf-8"))
        files = [path / Path(file["filename"]).name for file in state["_data_files"]]
        is_selection = any(state.get(name) for name in ("_indices_data_files", "_indices_files")) or not files
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DataError(
            f"{path}: not a saved dataset",
            why=f"state.json: {problem!r}",
            fix="name the file in it that holds the table",
        ) from None
    if is_selection:
        raise DataError(
            f"{path}: a selection of a dataset, without its rows",
            fix="dataset.flatten_indices().save_to_disk(FOLDER)",
        )
    _refuse_outside(path, files, [path])
    return _arrow_rows(path, files, _stream)


# Spreadsheets


def _xlsx(path: Path) -> Rows:
    """Read the only sheet of a workbook; its first row names the columns."""
    openpyxl = import_library("openpyxl", NEEDED_FOR)
    with named_errors(path):
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
                fix="save the one you mean by itself",
            )
        sheet = book[book.sheetnames[0]]
        sheet.reset_dimensions()  # a damaged sheet may claim 16,384 columns
        lines = sheet.iter_rows(values_only=True)
        columns = [str(cell) if cell is not None else "" for cell in next(lines, ())]
    while columns and not columns[-1]:
        columns.pop()
    if not columns:
        raise DataError(f"{path}, line 1: no column names", fix="write them into the first row")
    _refuse_twice(path, [name for name in columns if name])
    return Rows(columns, _sheet_rows(path, columns, lines))


def _sheet_rows(path: Path, columns: list[str], lines: Iterator[tuple[Any, ...]]) -> Numbered:
    with named_errors(path):
        for number, cells in enumerate(lines, start=2):
            if number > LONGEST_SHEET:
                raise ValueError(f"a sheet has at most {LONGEST_SHEET:,} rows")
            if any(cell is not None for cell in cells):
                padded = [*cells, *[None] * (len(columns) - len(cells))]
                yield number, dict(zip(columns, padded, strict=False))


READERS: dict[bytes, Callable[[Path], Rows]] = {
    b"PAR1": lambda path: _arrow_rows(path, [path], _parquet),
    b"ARROW1": lambda path: _arrow_rows(path, [path], _arrow),
    b"\xff\xff\xff\xff": lambda path: _arrow_rows(path, [path], _stream),
    b"PK\x03\x04": _xlsx,
}
"""First bytes of a binary format to its reader."""


def _refuse_twice(path: Path, columns: list[str]) -> None:
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{path}: column {min(twice)!r} occurs twice", fix="give each column a name of its own"
        )


@contextmanager
def named_errors(path: Path, what: str = "table", otherwise: str = "save it as CSV") -> Iterator[None]:
    """Turn any error of a library into a DataError: they have no class in common."""
    try:
        yield
    except (DataError, MissingExtra):
        raise
    except Exception as problem:
        raise DataError(
            f"{path}: not a whole {what}",
            why=str(problem).splitlines()[0] if str(problem) else type(problem).__name__,
            fix=f"fetch or write the file again, or {otherwise}",
        ) from None

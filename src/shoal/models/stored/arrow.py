"""Parquet, Arrow and Feather files, and folders written by `Dataset.save_to_disk` of Hugging Face's datasets."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import DataError, MissingExtra
from ...core.files import Swelling, read_json, whole_bytes
from .columns import Columns
from .records import Records, read_records
from .request import Request

STATE = "state.json"
ROWS_AT_ONCE = 500


def read_parquet(request: Request) -> Columns:
    """Read a Parquet file."""
    return _read(request, [_open(request.path, "parquet")])


def read_arrow(request: Request) -> Columns:
    """Read an Arrow or Feather file, or an Arrow stream."""
    return _read(request, [_open(request.path, "arrow")])


def read_dataset(request: Request) -> Columns:
    """Read a saved dataset: its Arrow files in the order in which they were written."""
    return _read(request, [_open(path, "arrow") for path in data_files(request.path)])


def data_files(folder: Path) -> list[Path]:
    """Return the files of a saved dataset that hold rows."""
    if not (folder / STATE).is_file():
        splits = sorted(path.parent.name for path in folder.glob(f"*/{STATE}"))
        raise DataError(
            f"{folder}: not a folder that Dataset.save_to_disk wrote",
            why=f"it has the splits {', '.join(splits)}" if splits else "",
            fix=f"predictions:{folder / splits[0]}" if splits else "the file with the predictions inside it",
        )
    state = read_json(folder / STATE)
    listed = state.get("_data_files") if isinstance(state, dict) else None
    names = [str(row.get("filename")) if isinstance(row, dict) else "" for row in listed or []]
    if not names or not all(name and Path(name).name == name for name in names):
        raise DataError(f"{folder / STATE}: names no data files", fix="save the dataset again")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise DataError(
            f"{folder}: its rows were selected without being copied",
            fix="dataset.flatten_indices().save_to_disk(…)",
        )
    return [folder / name for name in names]


def _open(path: Path, kind: str) -> Any:
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise MissingExtra("pyarrow", needed_for="Parquet and Arrow files") from None
    content = whole_bytes(path)
    source = pyarrow.BufferReader(content)
    try:
        if kind == "parquet":
            table = _unpacked(path, parquet.ParquetFile(source))
        elif content.startswith(b"ARROW1"):
            table = ipc.open_file(source).read_all()
        else:
            table = ipc.open_stream(source).read_all()
        table.validate(full=True)
        twice = [name for name, times in Counter(table.schema.names).items() if times > 1]
        if twice:
            raise ValueError(f"column {twice[0]!r} occurs twice")
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as problem:
        raise DataError(
            f"{path}: cannot be read as {kind}",
            why=" ".join(str(problem).split())[:200],
            fix="write or download the file again",
        ) from None
    return table


def _unpacked(path: Path, file: Any) -> Any:
    """Return a Parquet file as a table, within a size limit: 800 bytes can hold a text 3,000 times."""
    import pyarrow

    swelling, batches = Swelling(path), []
    for batch in file.iter_batches(ROWS_AT_ONCE):
        plain = [column for column in batch.columns if not pyarrow.types.is_dictionary(column.type)]
        swelling.take(sum(column.nbytes for column in plain))
        batches.append(batch)
    return pyarrow.Table.from_batches(batches, file.schema_arrow)


def _read(request: Request, tables: Sequence[Any]) -> Columns:
    schema = tables[0].schema
    rows = _rows(request.path, tables)
    return read_records(request, Records("row", rows, tuple(schema.names), _class_names(schema)))


def _rows(path: Path, tables: Sequence[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    number, swelling = 0, Swelling(path)
    for batch in (batch for table in tables for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE)):
        try:
            rows = batch.to_pylist()
        except (ValueError, OverflowError) as problem:  # text that is not UTF-8, a date outside the calendar
            raise DataError(
                f"{path}, after row {number}: a value cannot be read",
                why=str(problem)[:200],
                fix="keep only the columns of ids and answers in the file",
            ) from None
        for row in rows:
            swelling.take_row(row)
            number += 1
            yield number, row


def _class_names(schema: Any) -> dict[str, tuple[str, ...]]:
    """Return the names of a column's numbers, which datasets writes into the schema."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        columns = {name: feature["names"] for name, feature in features.items() if feature.get("names")}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: tuple(map(str, names)) for name, names in columns.items() if isinstance(names, list)}

"""Write a table as other programs do, in the format that the file's name promises."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Table = Mapping[str, Sequence[Any]]


def write_table(path: Path, columns: Table, class_names: Sequence[str] | None = None) -> None:
    """Write columns as CSV with semicolons, JSON, xlsx, Parquet, Feather, an Arrow stream or a dataset's folder."""
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".csv":
        lines = [";".join(map(str, row)) for row in (columns, *rows)]
        path.write_text("\r\n".join(lines))
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]))
    elif path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in (list(columns), *rows):
            book.active.append(row)
        book.save(path)
    else:
        _write_arrow(path, columns, class_names)


def _write_arrow(path: Path, columns: Table, class_names: Sequence[str] | None) -> None:
    import pyarrow
    from pyarrow import feather, ipc, parquet

    table = pyarrow.table(columns)
    if class_names:
        features = {"info": {"features": {"label": {"names": list(class_names), "_type": "ClassLabel"}}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(features)})
    if path.suffix == ".parquet":
        return parquet.write_table(table, path)  # type: ignore[no-any-return]
    if path.suffix == ".feather":
        return feather.write_feather(table, str(path))  # type: ignore[no-any-return]
    if not path.suffix:  # a folder, as Dataset.save_to_disk writes it
        path.mkdir()
        (path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
        path = path / "data.arrow"
    with ipc.new_stream(path, table.schema) as out:
        out.write_table(table)
    return None

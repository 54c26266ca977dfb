"""Tables in every form that people keep them in: the same rows, or words."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.core.errors import DataError, MissingExtra
from shoal.data.tables import open_rows

ROWS: list[dict[str, Any]] = [{"text": "Too salty.", "y": 0}, {"text": "Quiet, clean!", "y": 1}]
NAMES = {"info": {"features": {"y": {"names": ["negative", "positive"], "_type": "ClassLabel"}}}}


def as_csv(path: Path) -> None:
    path.write_text('text,y\nToo salty.,0\n"Quiet, clean!",1\n')


def as_semicolons(path: Path) -> None:
    path.write_text("text;y\r\nToo salty.;0\r\nQuiet, clean!;1\r\n")


def as_lines(path: Path) -> None:
    path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in ROWS))


def as_array(path: Path) -> None:
    path.write_text(json.dumps(ROWS, indent=2))


def arrow_table(metadata: object = None) -> Any:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pylist(ROWS)
    return table.replace_schema_metadata({"huggingface": json.dumps(metadata)}) if metadata else table


def as_parquet(path: Path, metadata: object = None) -> None:
    pytest.importorskip("pyarrow.parquet").write_table(arrow_table(metadata), path)


def as_arrow(path: Path, metadata: object = None) -> None:
    table = arrow_table(metadata)
    with pytest.importorskip("pyarrow.ipc").new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def as_stream(path: Path, metadata: object = None) -> None:
    table = arrow_table(metadata)
    with pytest.importorskip("pyarrow.ipc").new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def as_xlsx(path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for line in (("text", "y"), *(tuple(row.values()) for row in ROWS)):
        book.active.append(line)
    book.save(path)


def as_folder(path: Path, metadata: object = None) -> None:
    """As the `datasets` library saves a dataset, in two files."""
    path.mkdir()
    table = arrow_table(metadata)
    names = [f"data-{at:05d}-of-00002.arrow" for at in range(2)]
    for at, name in enumerate(names):
        with pytest.importorskip("pyarrow.ipc").new_stream(str(path / name), table.schema) as writer:
            writer.write_table(table.slice(at, 1))
    (path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))


FORMS: dict[str, Any] = {
    "t.csv": as_csv,
    "semicolons.csv": as_semicolons,
    "t.jsonl": as_lines,
    "t.json": as_array,
    "t.parquet": as_parquet,
    "t.arrow": as_arrow,
    "t.feather": as_stream,
    "t.xlsx": as_xlsx,
    "saved": as_folder,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_rows(tmp_path, name):
    FORMS[name](tmp_path / name)
    table = open_rows(tmp_path / name)
    assert table.columns == ["text", "y"]
    assert [{**row, "y": int(row["y"])} for _, row in table.rows] == ROWS
    assert table.unit == ("line" if name.endswith(("csv", "jsonl", "xlsx")) else "row")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "saved"])
def test_class_labels_go_by_their_names(tmp_path, name):
    FORMS[name](tmp_path / name, NAMES)
    table = open_rows(tmp_path / name)
    assert [row["y"] for _, row in table.rows] == ["negative", "positive"]
    assert table.names == {"y": ("negative", "positive")}


def test_a_class_label_below_zero_is_none(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"y": [-1, 7]}).replace_schema_metadata({"huggingface": json.dumps(NAMES)})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "t.parquet")
    assert [row["y"] for _, row in open_rows(tmp_path / "t.parquet").rows] == [None, None]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "t.xlsx"])
def test_a_file_that_was_cut_is_said_to_be(tmp_path, name):
    path = tmp_path / name
    FORMS[name](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(DataError, match=r"not a whole table[\s\S]*try: fetch or write"):
        list(open_rows(path).rows)


@pytest.mark.parametrize(
    ("library", "name"),
    [("pyarrow.parquet", "t.parquet"), ("openpyxl", "t.xlsx"), ("pyarrow", "saved")],
)
def test_a_missing_reader_of_a_format_is_named(tmp_path, library, name, monkeypatch):
    FORMS[name](tmp_path / name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=f"pip install {library.partition('.')[0]}"):
        open_rows(tmp_path / name)


def test_a_workbook_of_several_sheets_or_without_names_is_refused(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    book.create_sheet("notes")
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(DataError, match="2 sheets: Sheet, notes"):
        open_rows(tmp_path / "two.xlsx")
    book = pytest.importorskip("openpyxl").Workbook()
    book.save(tmp_path / "empty.xlsx")
    with pytest.raises(DataError, match="no column names"):
        open_rows(tmp_path / "empty.xlsx")
    book.active.append(("a", "a"))
    book.save(tmp_path / "twice.xlsx")
    with pytest.raises(DataError, match="column 'a' is there twice"):
        open_rows(tmp_path / "twice.xlsx")


def test_other_archives_and_old_workbooks_are_told_apart(tmp_path):
    import zipfile

    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "a,b\n")
    with pytest.raises(DataError, match=r"a zip archive, not a table[\s\S]*try: unzip it"):
        open_rows(tmp_path / "t.zip")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    with pytest.raises(DataError, match="an old Excel file"):
        open_rows(tmp_path / "t.xls")


def test_of_a_dataset_with_splits_one_is_to_be_named(tmp_path):
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    as_folder(tmp_path / "both" / "train")
    assert len(list(open_rows(tmp_path / "both").rows)) == 2
    as_folder(tmp_path / "both" / "test")
    with pytest.raises(DataError, match=rf"2 splits: test, train[\s\S]*try: {tmp_path / 'both' / 'test'}"):
        open_rows(tmp_path / "both")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, "not a saved dataset"),
        ("{}", "not a saved dataset"),
        ('{"_data_files": []}', "flatten_indices"),
        ('{"_data_files": [{"filename": "gone.arrow"}]}', r"not a whole table[\s\S]*gone.arrow"),
        ('{"_data_files": [{"filename": "x"}], "_indices_data_files": [1]}', "flatten_indices"),
        ('{"_data_files": [{"filename": "x"}], "_indices_files": [1]}', "flatten_indices"),
    ],
)
def test_a_folder_that_is_no_saved_dataset_is_refused(tmp_path, state, message):
    if state is not None:
        (tmp_path / "state.json").write_text(state)
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path)

"""Tables in every form that people keep them in: the same rows, or words."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from table_files import write_table

from shoal.core.errors import DataError, MissingExtra
from shoal.data.tables import open_rows

COLUMNS: dict[str, list[Any]] = {"text": ["Too salty!", "Quiet, clean!"], "label": [0, 1]}
ROWS = [dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*COLUMNS.values(), strict=True)]
NAMES = ("negative", "positive")
FORMS = (
    *("commas.csv", "semicolons.csv", "t.jsonl", "t.json"),
    *("t.parquet", "t.arrow", "t.feather", "t.xlsx", "saved"),
)


def write(path: Path, names: Sequence[str] | None = None) -> None:
    if path.name == "commas.csv":
        path.write_text('text,label\nToo salty!,0\n"Quiet, clean!",1\n')
    elif path.suffix == ".jsonl":
        path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in ROWS))
    elif path.suffix:
        write_table(path, COLUMNS, names)
    else:
        as_folder(path, names)


def as_folder(path: Path, names: Sequence[str] | None = None) -> None:
    """As the `datasets` library saves a dataset, in two files."""
    write_table(path, {name: cells[:1] for name, cells in COLUMNS.items()}, names)
    write_table(path / "more.arrow", {name: cells[1:] for name, cells in COLUMNS.items()}, names)
    files = [{"filename": name} for name in ("data.arrow", "more.arrow")]
    (path / "state.json").write_text(json.dumps({"_data_files": files}))


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_rows(tmp_path, name):
    write(tmp_path / name)
    table = open_rows(tmp_path / name)
    assert table.columns == ["text", "label"]
    assert [{**row, "label": int(row["label"])} for _, row in table.rows] == ROWS
    assert table.unit == ("line" if name.endswith(("csv", "jsonl", "xlsx")) else "row")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "saved"])
def test_class_labels_go_by_their_names(tmp_path, name):
    write(tmp_path / name, NAMES)
    table = open_rows(tmp_path / name)
    assert [row["label"] for _, row in table.rows] == ["negative", "positive"]
    assert table.names == {"label": NAMES}


def test_a_class_label_below_zero_is_none(tmp_path):
    write_table(tmp_path / "t.parquet", {"label": [-1, 7]}, NAMES)
    assert [row["label"] for _, row in open_rows(tmp_path / "t.parquet").rows] == [None, None]


@pytest.mark.parametrize(
    ("library", "name"),
    [("pyarrow.parquet", "t.parquet"), ("openpyxl", "t.xlsx"), ("pyarrow", "saved")],
)
def test_a_missing_reader_of_a_format_is_named(tmp_path, library, name, monkeypatch):
    write(tmp_path / name)
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
    with pytest.raises(DataError, match="column 'a' occurs twice"):
        open_rows(tmp_path / "twice.xlsx")


def test_a_zip_archive_is_no_table(tmp_path):
    import zipfile

    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "a,b\n")
    with pytest.raises(DataError, match=r"a zip archive, not a table[\s\S]*try: unzip it"):
        open_rows(tmp_path / "t.zip")


MADE = Path(__file__).parents[1] / "support" / "made_elsewhere" / "datasets"


@pytest.mark.parametrize("folder", ["saved", "hub"])
def test_splits_that_the_datasets_library_wrote_are_read_with_their_label_names(folder):
    table = open_rows(Path(f"{MADE / folder}?split=train"))
    rows = [(row["text"], row["label"]) for _, row in table.rows]
    assert rows == [("A dull film.", "negative"), ("A fine film.", "positive"), ("A long film.", "negative")]
    assert table.names == {"label": NAMES}
    assert len(list(open_rows(Path(f"{MADE / folder}?split=test")).rows)) == 2
    with pytest.raises(DataError, match=r"no split 'tset' among \d splits: .*train[\s\S]*\?split=test"):
        open_rows(Path(f"{MADE / folder}?split=tset"))
    with pytest.raises(DataError, match="splits: test, train"):
        open_rows(MADE / folder)


def test_a_dataset_that_lacks_a_file_or_links_out_of_its_folder_is_refused(tmp_path):
    hub, saved = tmp_path / "hub", tmp_path / "saved"
    shutil.copytree(MADE / "hub", hub)
    (hub / "data" / "train-00001-of-00002.parquet").rename(tmp_path / "elsewhere.parquet")
    with pytest.raises(DataError, match="1 of 2 files of split 'train'"):
        open_rows(Path(f"{hub}?split=test"))
    (hub / "data" / "train-00001-of-00002.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(DataError, match="train-00001-of-00002.parquet: a link out of"):
        open_rows(Path(f"{hub}?split=train"))
    shutil.copytree(MADE / "saved" / "test", saved)
    (saved / "data-00000-of-00001.arrow").rename(tmp_path / "elsewhere.arrow")
    (saved / "data-00000-of-00001.arrow").symlink_to(tmp_path / "elsewhere.arrow")
    with pytest.raises(DataError, match=r"data-00000-of-00001.arrow: a link out of"):
        open_rows(saved)
    (saved / "state.json").write_text('{"_data_files": [{"filename": "../elsewhere.arrow"}]}')
    with pytest.raises(DataError, match="not a whole table"):  # by its name alone, inside the folder
        open_rows(saved)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, "not a saved dataset"),
        ('{"_data_files": [{"filename": "gone.arrow"}]}', r"not a whole table[\s\S]*gone.arrow"),
        ('{"_data_files": [{"filename": "x"}], "_indices_data_files": [1]}', "flatten_indices"),
    ],
)
def test_a_folder_that_is_no_saved_dataset_is_refused(tmp_path, state, message):
    if state is not None:
        (tmp_path / "state.json").write_text(state)
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path)

"""Parquet, Arrow and xlsx files that lie, swell or are damaged: refused in words, in time and within memory."""

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from small_world import run_shoal as shoal
from small_world import write_world
from table_files import write_table

pytest.importorskip("openpyxl", reason="needs shoal[tables]")
pytest.importorskip("pyarrow", reason="needs shoal[tables]")

SHEET = "xl/worksheets/sheet1.xml"
ANSWERS = ("--set", "suite=suite.jsonl", "--set", "resamples=10")


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)


def read_by_both(file: str) -> list[Result]:
    """What `import` and `predictions:` make of a file."""
    return [
        shoal("import", file, "--text", "text", "--label", "label", "--out", "out.jsonl"),
        shoal("try", "behaviour", f"predictions:{file}", *ANSWERS),
    ]


def whole(name: str) -> bytes:
    rows = {"text": [f"text {n}" for n in range(20)], "label": ["positive", "negative"] * 10}
    write_table(Path(name), rows)
    return Path(name).read_bytes()


@pytest.mark.parametrize("name", ["table.xlsx", "table.parquet"])
def test_a_damaged_table_is_refused_or_read(name):
    content, rng = whole(name), random.Random(name)
    for attempt in range(25):
        damaged, place = bytearray(content), rng.randrange(len(content))
        if attempt % 3:
            damaged[place] ^= 1 << rng.randrange(8)
        else:
            del damaged[place:]
        Path(name).write_bytes(damaged)
        for done in read_by_both(name):
            assert done.exit_code == 0 or "\n  try: " in done.output, done.output


@pytest.mark.parametrize("typed", ["text", "dictionary"])
def test_a_parquet_file_of_one_long_text_a_thousand_times_is_refused(typed):
    arrow = pytest.importorskip("pyarrow", reason="needs shoal[tables]")
    from pyarrow import parquet as tables

    texts = arrow.DictionaryArray.from_arrays(arrow.array([0] * 1_000, arrow.int32()), ["x" * 100_000])
    rows = {"text": texts if typed == "dictionary" else texts.cast("string"), "label": ["positive"] * 1_000}
    tables.write_table(arrow.table(rows), "bomb.parquet", compression="zstd")
    assert Path("bomb.parquet").stat().st_size < 5_000
    imported, tried = read_by_both("bomb.parquet")
    assert imported.exit_code == tried.exit_code == 1 and "200 times as large" in imported.output, (
        imported.output
    )
    assert not Path("out.jsonl").exists()


def rewritten(change: Callable[[bytes], bytes]) -> None:
    parts = zipfile.ZipFile(io.BytesIO(whole("table.xlsx")))
    with zipfile.ZipFile("table.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in parts.namelist():
            archive.writestr(name, change(parts.read(name)) if name == SHEET else parts.read(name))


def test_a_sheet_that_claims_every_column_and_row_is_read_in_time():
    def huge(sheet: bytes) -> bytes:
        return sheet.replace(b'ref="A1:B21"', b'ref="A1:XFD1048576"').replace(b'21"', b'5021"')

    rewritten(huge)
    done = shoal("import", "table.xlsx", "--text", "text", "--label", "label", "--out", "out.jsonl")
    assert done.exit_code == 0 and "20 cases" in done.output, done.output
    assert "try: " in shoal("try", "behaviour", "predictions:table.xlsx", *ANSWERS).output

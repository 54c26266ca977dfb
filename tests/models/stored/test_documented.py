"""The table "What you bring, what happens" of docs/models.md, row by row."""

import re
from pathlib import Path
from typing import Any

import pytest

from shoal import Suite, case
from shoal.core.errors import DataError
from shoal.protocols.behaviour.expect import Expect

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
SAYS = ["positive", "negative", "neutral"]
TABLE = PAGE.read_text().partition("### What you bring, what happens")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in TABLE.splitlines() if line.startswith("| `")
]


@pytest.fixture(scope="module")
def suite() -> Suite:
    made = Suite("toy", labels=("negative", "neutral", "positive"))
    for number, (name, label) in enumerate(zip(("praise", "insult", "fact"), SAYS, strict=True), start=1):
        made.add_functionality(name, "v", "MFT", Expect("pred_equals_label"))
        made.add_case(name, str(number), case(f"text {number}", label=label))
    return made


def write(path: Path, lines: list[str]) -> Any:
    """The lines as they are, or as the table that the file's name promises."""
    if path.suffix in (".csv", ".txt", ".json", ".jsonl"):
        path.write_text("\n".join(lines) + "\n")
        return None
    names, *rows = (line.split(",") for line in lines)
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in (names, *rows):
            book.active.append(row)
        return book.save(path)
    import pyarrow
    from pyarrow import feather, ipc, parquet

    table = pyarrow.table(columns)
    if path.suffix == ".parquet":
        return parquet.write_table(table, path)
    if path.suffix == ".feather":
        return feather.write_feather(table, str(path))
    path.mkdir()
    (path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    with ipc.new_stream(path / "data.arrow", table.schema) as out:
        out.write_table(table)
    return None


def test_the_table_is_there():
    assert len(ROWS) > 20 and all(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize(("file", "options", "happens"), ROWS)
def test_what_the_page_says_happens(tmp_path, suite, ask, named, file, options, happens):
    name, *lines = re.findall("`([^`]*)`", file)
    write(tmp_path / name, lines)
    if happens.startswith("refused, try "):
        with pytest.raises(DataError) as caught:
            ask(tmp_path / name, suite, options.strip("`"))
        (remedy,) = re.findall("`([^`]*)`", happens)
        assert remedy in str(caught.value).partition("\n  try: ")[2]
        return
    answers = ask(tmp_path / name, suite, options.strip("`"))
    assert happens == ("read through the neutral band" if answers.band else "read")
    assert named(answers)[:2] == SAYS[:2] and (answers.band or named(answers) == SAYS)

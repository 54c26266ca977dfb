"""The table "What you bring, what happens" of support/models-read.md, row by row."""

import re
from pathlib import Path

import pytest
from table_files import write_table

from shoal import Suite, case
from shoal.core.errors import DataError
from shoal.protocols.behaviour.expect import Expect

PAGE = Path(__file__).parents[2] / "support" / "models-read.md"
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


def write(path: Path, lines: list[str]) -> None:
    """Write the lines as they are, or as the table that the file's name promises."""
    if path.suffix in (".csv", ".txt", ".json", ".jsonl"):
        path.write_text("\n".join(lines) + "\n")
    else:
        names, *rows = (line.split(",") for line in lines)
        write_table(path, dict(zip(names, zip(*rows, strict=True), strict=True)))


def test_what_the_page_says_happens(tmp_path, suite, ask, named):
    assert len(ROWS) > 20
    for number, (file, options, happens) in enumerate(ROWS):
        name, *lines = re.findall("`([^`]*)`", file)
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        write(path, lines)
        if happens.startswith("refused, try "):
            with pytest.raises(DataError) as caught:
                ask(path, suite, options.strip("`"))
            (remedy,) = re.findall("`([^`]*)`", happens)
            assert remedy in str(caught.value).partition("\n  try: ")[2], file
            continue
        answers = ask(path, suite, options.strip("`"))
        assert happens == ("read through the neutral band" if answers.band else "read"), file
        assert named(answers)[:2] == SAYS[:2] and (answers.band or named(answers) == SAYS), file

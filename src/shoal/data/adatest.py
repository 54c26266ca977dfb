"""AdaTest topics: a table of inputs, a model's output for each, and a person's judgement, pass or fail.

A pass gives the label; a fail gives a label to avoid. The topic is the functionality, its first step the capability.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..core.tables import read_table
from . import Glimpse, SuiteRows
from .invalid import InvalidRows
from .missing import is_missing

COLUMNS = ("topic", "input", "output", "label")
EXPECTED = {"pass": "", "fail": "not_"}


def fits(look: Glimpse) -> bool:
    """Return whether a table has AdaTest's columns."""
    return set(COLUMNS) <= set(look.columns)


def read(path: Path) -> SuiteRows:
    """Return the judged tests as cases of one text each; other rows are counted in `lost`."""
    invalid = InvalidRows()
    columns, rows = read_table(path, invalid.add)
    lost = [f"column {name!r}" for name in columns if name and name not in COLUMNS]
    header = {"suite": path.name.split(".")[0]}
    return SuiteRows(header, _cases(rows, lost), lost, templated=True, invalid=invalid)


def _cases(
    rows: Iterator[tuple[int, dict[str, str]]], lost: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    unjudged = 0
    for line, row in rows:
        if row["label"] not in EXPECTED or is_missing(row["output"]):
            unjudged += 1
            continue
        topic = unquote(row["topic"]).strip("/") or "no topic"
        case = {
            "functionality": topic,
            "capability": topic.split("/")[0],
            "type": "MFT",
            "case_id": str(line),
            "examples": [{"text": row["input"]}],
            "labels": EXPECTED[row["label"]] + row["output"].strip(),
        }
        yield line, case
    if unjudged:
        lost.append(f"{unjudged:,} rows that are topic markers or were never judged")

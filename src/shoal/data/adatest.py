"""AdaTest topics: a table of inputs, the output a model gave, and whether a person called that a pass or a fail.

A pass says what the label is; a fail says what it is not. The topic's first step becomes the capability, the whole
topic the functionality. Topic markers, and tests that nobody judged, are left behind and counted. Tests are varied from
one another, and which belong together is told by their texts.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..core.tables import read_table
from . import Glimpse, SuiteRows
from .missing import is_missing

EXPECTED = {"pass": "", "fail": "not_"}


def fits(look: Glimpse) -> bool:
    """Whether a table with these columns is an AdaTest tree."""
    return {"topic", "input", "output", "label"} <= set(look.columns)


def read(path: Path) -> SuiteRows:
    """The judged tests as cases of one text each."""
    columns, rows = read_table(path)
    lost = [
        f"column {name!r}" for name in columns if name and name not in ("topic", "input", "output", "label")
    ]
    return SuiteRows({"suite": path.name.split(".")[0]}, _cases(rows, lost), lost, templated=True)


def _cases(
    rows: Iterator[tuple[int, dict[str, str]]], lost: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    unjudged = 0
    for line, row in rows:
        if row["label"] not in EXPECTED or is_missing(row["output"]):
            unjudged += 1
            continue
        topic = unquote(row["topic"]).strip("/") or "no topic"
        yield (
            line,
            {
                "functionality": topic,
                "capability": topic.split("/")[0],
                "type": "MFT",
                "case_id": str(line),
                "examples": [{"text": row["input"]}],
                "labels": EXPECTED[row["label"]] + row["output"].strip(),
            },
        )
    if unjudged:
        lost.append(f"{unjudged:,} rows that are topic markers or were never judged")

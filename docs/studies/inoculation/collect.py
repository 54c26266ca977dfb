"""Convert the results of a ranking study to a small CSV file.

    shoal run verb.toml --into runs --json > verb.json
    python collect.py verb.json verb.csv

Values are shares, not per cent.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = ["measure", "factor or model", "t", "value", "low", "high"]


def line(row: dict[str, Any]) -> list[str] | None:
    """Return a measure as a row, or None if the study does not use it."""
    groups, name = row["groups"], row["name"]
    who = groups.get("factor") or groups.get("model", "")
    if name == "p value":
        name = f"p value: {groups['test']}"
    elif name == "completeness gap":
        who = f"{who} ({groups['explainer']})"
    elif name not in ("accuracy", "few-shot accuracy", "difference") or "than" in groups:
        return None
    between = row.get("interval") or ["", ""]
    return [name, who, groups.get("probe size", ""), *map(_rounded, (row["value"], *between))]


def _rounded(number: float | str) -> str:
    return number if isinstance(number, str) else str(round(number, 4))


def main() -> None:
    """Read the JSON file and write the CSV file."""
    read, written = map(Path, sys.argv[1:])
    lines = [line(row) for row in json.loads(read.read_text(encoding="utf-8"))["measures"]]
    with written.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([COLUMNS, *filter(None, lines)])


if __name__ == "__main__":
    main()

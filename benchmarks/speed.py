"""The table of docs/speed.md: the other scripts record their rows in speed.csv, and each record writes the table.

python benchmarks/speed.py
"""

import csv
import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

HERE = Path(__file__).parent
ROWS, PAGE = HERE / "speed.csv", HERE.parent / "docs" / "speed.md"


@dataclass(frozen=True, slots=True)
class Row:
    """One work, by the best way by hand and by shoal; seconds are minimum and median."""

    script: str
    work: str
    by_hand: str = ""
    hand_seconds: str = ""
    shoal_seconds: str = ""
    ratio: str = ""
    """The time by hand, divided by shoal's: below 1 shoal is slower."""
    memory: str = ""
    machine: str = ""
    day: str = ""


def record(
    script: str,
    work: str,
    shoal: Sequence[float],
    by_hand: str = "",
    hand: Sequence[float] = (),
    memory: str = "",
    versions: str = "",
) -> Row:
    """Return a measured row and put it into speed.csv, in place of the earlier one."""
    row = Row(
        script,
        work,
        by_hand,
        seconds(hand),
        seconds(shoal),
        f"{min(hand) / min(shoal):.2f}" if hand else "",
        memory,
        ", ".join(filter(None, [f"Python {platform.python_version()}", versions, processor()])),
        time.strftime("%Y-%m-%d"),
    )
    rows = {(known.work, known.by_hand): known for known in read_rows()} | {(work, by_hand): row}
    with ROWS.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(map(asdict, rows.values()))
    main()
    print(" | ".join(filter(None, asdict(row).values())), flush=True)
    return row


def seconds(values: Sequence[float]) -> str:
    return f"{min(values):.3g} / {statistics.median(values):.3g}" if values else ""


def processor() -> str:
    """Return the processor's name and the number of cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def read_rows() -> list[Row]:
    if not ROWS.exists():
        return []
    with ROWS.open(newline="") as stream:
        return [Row(**row) for row in csv.DictReader(stream)]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, ratios first, and where they were measured."""
    about = "Seconds are minimum / median. Ratio: the time by hand, divided by shoal's. Scripts: `benchmarks/`.\n\n"
    head = "| ratio | work | by hand, s | shoal, s | memory |\n| --- | --- | --- | --- | --- |\n"
    rows = sorted(rows, key=lambda row: (not row.ratio, float(row.ratio or 0)))
    lines = [
        f"| {row.ratio} | {row.work} | {' '.join(filter(None, [row.by_hand, row.hand_seconds]))} "
        f"| {row.shoal_seconds} | {row.memory} |\n"
        for row in rows
    ]
    by_day: dict[str, dict[str, None]] = {}
    for row in rows:
        by_day.setdefault(row.day, {}).update(dict.fromkeys(row.machine.split(", ")))
    machines = [f"Measured on {day}: {', '.join(parts)}.\n" for day, parts in by_day.items()]
    return "".join([about, head, *lines, "\n", *machines])


def main() -> None:
    PAGE.write_text(f"# Speed\n\n{table(read_rows())}")


if __name__ == "__main__":
    main()

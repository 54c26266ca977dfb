"""What the checkpoints of masked.toml say together, as a small file.

    shoal status docs/studies/bias/masked.toml --into runs/bias --json | python docs/studies/bias/measures.py

It writes measures.csv beside itself; single clusters and effect sizes are left to the store.
"""

import csv
import json
import sys
from pathlib import Path

GROUPS = (
    "category", "checkpoint", "checkpoints against the majority", "diagnostic", "of", "recipe", "representation",
    "source", "task", "test",
)  # fmt: skip
LEFT = ("cluster accuracy", "effect size", "temperature")


def rounded(number: float | None) -> str:
    """Six digits, or nothing."""
    return "" if number is None else f"{number:.6g}"


def main() -> None:
    """From the JSON on standard input."""
    with Path(__file__).with_name("measures.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["name", *GROUPS, "value", "low", "high", "n"])
        for measure in json.load(sys.stdin)["measures"]:
            if measure["name"] not in LEFT:
                groups = [measure["groups"].get(name, "") for name in GROUPS]
                ends = measure["interval"] or (None, None)
                rows.writerow(
                    [
                        measure["name"],
                        *groups,
                        rounded(measure["value"]),
                        *map(rounded, ends),
                        measure["n"] or "",
                    ]
                )


if __name__ == "__main__":
    main()

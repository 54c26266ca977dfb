"""Convert the output of `shoal status PLAN --json` or `shoal show JOB --json` to a small CSV file.

    shoal status docs/studies/bias/masked.toml --into runs/bias --json > all.json
    python docs/studies/bias/measures.py docs/studies/bias/measures.csv all.json

Single clusters and effect sizes stay in the store.
"""

import csv
import json
import sys
from pathlib import Path

GROUPS = (
    "category", "checkpoint", "checkpoints against the majority", "diagnostic", "of", "recipe", "representation",
    "source", "task", "test",
)  # fmt: skip
LEFT = ("cluster accuracy", "effect size")


def rounded(number: float | None) -> str:
    """Return a number with six digits, or nothing."""
    return "" if number is None else f"{number:.6g}"


def main(out: str, *printed: str) -> None:
    """Read JSON files and write one CSV file."""
    found = [json.loads(Path(name).read_text(encoding="utf-8"))["measures"] for name in printed]
    with Path(out).open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["name", *GROUPS, "value", "low", "high", "n"])
        for measure in (measure for measures in found for measure in measures):
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
    main(*sys.argv[1:])

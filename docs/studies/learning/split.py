"""Write a smaller split of a suite: 40 training and 25 test cases per functionality by default, seed 0.

    python docs/studies/learning/split.py SUITE OUT.csv [40 25]

Training and test cases are drawn from the corresponding parts of the suite's own split. The rest becomes the
validation split, which the study does not use.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from shoal.protocols.behaviour.build import edited, split_cases
from shoal.protocols.behaviour.settings import Settings


def main(suite: str, out: str, train: str = "40", test: str = "25") -> None:
    """Write the split."""
    sizes = {"train": int(train), "test": int(test)}
    rng = np.random.default_rng(0)
    rows: dict[tuple[str, str], list[str]] = {}
    cases = edited(Settings(suite=suite))
    parts = split_cases(cases, "content")
    for case in cases:
        rows.setdefault((case.groups["functionality"], parts[case.id]), []).append(case.id)
    with Path(out).open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["functionality", "case_id", "split"])
        for (name, part), ids in rows.items():
            kept = set(rng.permutation(len(ids))[: sizes.get(part, 0)].tolist())
            for position, case_id in enumerate(ids):
                table.writerow(
                    [name, case_id.removeprefix(f"{name}/"), part if position in kept else "validation"]
                )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The item-by-run matrix (`docs/method/glossary.md` 0.4): what several runs of one recipe did on the same items.

A long table with columns `run_id, item_id, outcome` (1, 0, or empty/NA for a tie or a missing answer), and perhaps
`group`, `score_a`, `score_b`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError
from ..core.files import read_table

OUTCOMES = {"1": 1.0, "0": 0.0, "": np.nan, "NA": np.nan, "na": np.nan, "nan": np.nan, "tie": np.nan}


@dataclass(frozen=True, slots=True)
class RunMatrix:
    """Outcomes of items (rows) in runs (columns), and the group of each item."""

    runs: tuple[str, ...]
    items: tuple[str, ...]
    groups: tuple[str, ...]  # (items,)
    outcomes: NDArray[np.float64]  # (items, runs), NaN where undecided or missing
    scores: NDArray[np.float64] | None  # (items, runs), score_a - score_b where given


def read_matrix(path: Path) -> RunMatrix:
    """A matrix from its long table."""
    columns, rows = read_table(path)
    missing = {"run_id", "item_id", "outcome"} - set(columns)
    if missing:
        why = f"found: {', '.join(columns)}"
        raise DataError(
            f"{path}, line 1: no column {', '.join(sorted(missing))}",
            why=why,
            fix="columns run_id, item_id, outcome; perhaps group, score_a, score_b",
        )
    scored = {"score_a", "score_b"} <= set(columns)
    runs: dict[str, int] = {}
    items: dict[str, int] = {}
    groups: dict[str, str] = {}
    cells: dict[tuple[int, int], tuple[float, float]] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        if row["outcome"] not in OUTCOMES:
            raise DataError(
                f"{where}: outcome {row['outcome']!r} is not 1, 0 or NA",
                fix="1 for right, 0 for wrong, NA for undecided",
            )
        item, run = row["item_id"], row["run_id"]
        key = items.setdefault(item, len(items)), runs.setdefault(run, len(runs))
        if key in cells:
            raise DataError(
                f"{where}: item {item!r} of run {run!r} is there twice",
                fix="keep one row for each item and run",
            )
        if groups.setdefault(item, row.get("group", "")) != row.get("group", ""):
            raise DataError(
                f"{where}: item {item!r} changes its group from {groups[item]!r} to {row['group']!r}",
                fix="give an item one group in all runs",
            )
        difference = np.nan
        if scored and row["score_a"] and row["score_b"]:
            try:
                difference = float(row["score_a"]) - float(row["score_b"])
            except ValueError:
                raise DataError(
                    f"{where}: score_a and score_b must be numbers",
                    fix="leave both empty where there is no score",
                ) from None
        cells[key] = OUTCOMES[row["outcome"]], difference
    if not cells:
        raise DataError(f"{path}: no rows", fix="check that this is the file you meant")
    table = np.full((2, len(items), len(runs)), np.nan)
    for (at, run_at), both in cells.items():
        table[:, at, run_at] = both
    _refuse_undecided_runs(path, table[0], tuple(runs), tuple(groups.values()))
    return RunMatrix(
        tuple(runs), tuple(items), tuple(groups.values()), table[0], table[1] if scored else None
    )


def _refuse_undecided_runs(
    path: Path, outcomes: NDArray[np.float64], runs: Sequence[str], groups: Sequence[str]
) -> None:
    """Raise where a run has no outcome for any item, or for any item of a group."""
    for name in dict.fromkeys(groups):
        own = np.array([group == name for group in groups])
        for run, is_undecided in zip(runs, np.isnan(outcomes[own]).all(axis=0), strict=True):
            if is_undecided:
                where = f" of group {name!r}" if len(set(groups)) > 1 else ""
                raise DataError(
                    f"{path}: run {run!r} has no outcome for any item{where}",
                    why="its pass rate is undefined",
                    fix="leave the run out, or add its outcomes",
                )

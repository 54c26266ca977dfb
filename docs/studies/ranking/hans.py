"""How many HANS examples it takes to order 100 fine-tunings of one recipe.

    python docs/studies/ranking/hans.py DATA

DATA is the folder with `hans/berts_of_a_feather_accuracies_by_run.csv`: what each run gets right of each of 30
subcases, not which examples. So answers are drawn: a subcase, and then right or wrong with the run's rate there,
**independently across runs**. Real runs are likely to be right and wrong together more often than that.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from shoal.stats.ranking import accuracy_by_set

SIZES = (5, 10, 20, 50, 100, 200, 500)
SETS = 500


def rates_of(path: Path) -> np.ndarray:
    """Accuracy by run and subcase."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Run"].startswith("Run ")]
    names = [name for name in rows[0] if name[:3] in ("ln_", "le_", "sn_", "se_", "cn_", "ce_")]
    return np.array([[float(row[name]) for name in names] for row in rows])


def main(path: Path) -> None:
    """Print few-shot accuracy by the number of examples, over all subcases and over those that are not entailed."""
    rates = rates_of(path)
    rng = np.random.default_rng(0)
    print("| t | all 30 subcases | 15 non-entailed |\n| --- | --- | --- |")
    hard = rates[:, rates.mean(axis=0) < 0.5]
    for size in SIZES:
        shares = []
        for table in (rates, hard):
            subcases = rng.integers(table.shape[1], size=(SETS, size))
            means = np.stack(
                [(rng.random(subcases.shape) < row[subcases]).mean(axis=1) for row in table], axis=1
            )
            shares.append(accuracy_by_set(means, np.round(table.mean(axis=1), 12)).mean())
        print(f"| {size} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)
    print(
        f"\n{len(rates)} runs; accuracy {rates.mean(axis=1).min():.3f} to {rates.mean(axis=1).max():.3f} over all, "
        f"{hard.mean(axis=1).min():.3f} to {hard.mean(axis=1).max():.3f} over {hard.shape[1]}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) / "hans" / "berts_of_a_feather_accuracies_by_run.csv")

"""How fast a ranking study is: 500 probe sets, 100 models, 5 factors, beside a plain loop.

    python benchmarks/ranking.py [--models 100]

Seconds of processor time, so that a busy machine changes little. The loop takes a tenth of the probe sets, its time is
multiplied by ten, and both take turns. Both must give the same accuracies on the probe sets that the loop took.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from shoal.stats.ranking import (
    few_shot_accuracy,
    order_of,
    over_models,
    probe_means,
    probe_sets,
)

SETS, SIZE, POPULATION, FACTORS, SHARE = 500, 10, 600, 5, 10

Table = NDArray[np.float64]


def by_loop(tables: list[Table], truth: Table, probes: NDArray[np.int64]) -> list[float]:
    """Pair by pair and set by set, as one would write it down."""
    accuracies = []
    for table in tables:
        right = pairs = 0.0
        for probe in probes:
            means = [sum(row[place] for place in probe) / len(probe) for row in table]
            for i in range(len(truth)):
                for j in range(len(truth)):
                    if truth[i] > truth[j]:
                        pairs += 1
                        right += 1.0 if means[i] > means[j] else 0.5 if means[i] == means[j] else 0.0
        accuracies.append(right / pairs)
    return accuracies


def by_shoal(tables: list[Table], truth: Table, probes: NDArray[np.int64]) -> list[float]:
    """The same as a study does it, intervals over models included."""
    accuracies = []
    for table in tables:
        order = order_of(probe_means(table, probes))
        over_models(order, truth)
        accuracies.append(few_shot_accuracy(order, truth))
    return accuracies


def main() -> None:
    """Take turns and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=100)
    models = parser.parse_args().models
    rng = np.random.default_rng(0)
    truth = np.sort(rng.uniform(0.3, 0.9, models))
    right = (rng.random((models, POPULATION)) < truth[:, None]).astype(np.float64)
    tables = [right, *(right + rng.random(right.shape) for _ in range(FACTORS - 1))]
    probes = probe_sets(POPULATION, SIZE, SETS, rng)
    few = probes[: SETS // SHARE]
    ratios = []
    for _ in range(3):
        start = time.process_time()
        by_shoal(tables, truth, probes)
        shoal_took = time.process_time() - start
        start = time.process_time()
        looped = by_loop(tables, truth, few)
        loop_took = (time.process_time() - start) * SHARE
        ratios.append(loop_took / shoal_took)
        np.testing.assert_allclose(by_shoal(tables, truth, few), looped)
    print(f"{SETS} probe sets of {SIZE}, {models} models, {FACTORS} factors: {shoal_took:.2f} s")
    print(
        f"a plain loop takes {np.median(ratios):.0f} times as long ({min(ratios):.0f} to {max(ratios):.0f})"
    )


if __name__ == "__main__":
    main()

"""What the intervals cover: populations where the truth is known, drawn again and again.

    python benchmarks/coverage.py                   measured coverage at 20, 100 and 1,000 clusters

It prints the numbers of docs/studies/interval-coverage.md; tests/stats/test_coverage.py runs the same populations.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.stats.intervals import (
    Interval,
    cluster_wilson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    sd_interval,
    wilson,
)
from shoal.stats.resampling import (
    ClusterTable,
    cluster_table,
    degrees_of_freedom,
    macro_difference_replicates,
    macro_mean_replicates,
    paired_table,
)

Floats = NDArray[np.float64]

CLUSTERS = (20, 100, 1000)
RESAMPLES = 999
"""Enough for the ends of a 95 % interval, small enough to repeat 2,000 times."""

Covered = Iterator[tuple[str, bool]]


def one_proportion(n: int, rng: Generator, textbook: bool) -> Covered:
    """Independent cases that pass with a probability between .6 and .98."""
    # Not one fixed probability: the coverage for a given one jumps with n, because counts are whole.
    truth = rng.uniform(0.6, 0.98)
    passes = int(rng.binomial(n, truth))
    yield "wilson", covers(wilson(passes, n), truth)


def clustered_rate(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Clusters of 1 to 4 cases that pass eight times in ten and resemble each other (ρ = .3)."""
    table = simulated_table(clusters, 0.8, rng)
    replicates = macro_mean_replicates([table], RESAMPLES, rng)
    yield "cluster_wilson", covers(cluster_wilson(table), 0.8)
    yield "percentile", covers(percentile_interval(replicates, degrees=clusters - 1), 0.8)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(all_drawn([table], rng)), 0.8)
        yield "wilson, clusters ignored", covers(wilson(*table.totals), 0.8)


def paired_difference(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Two models on the same clustered cases, ten points apart."""
    names, passes_a = simulated_cases(clusters, 0.8, rng)
    passes_b = rng.random(len(names)) < np.where(passes_a, 0.85, 0.10)  # .8 × .85 + .2 × .10 = .7
    table = paired_table(passes_a, passes_b, names)
    replicates = macro_difference_replicates([table], RESAMPLES, rng)
    yield "paired_difference_interval", covers(paired_difference_interval(table), 0.1)
    yield "percentile", covers(percentile_interval(replicates, degrees=clusters - 1), 0.1)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(all_drawn([table], rng)), 0.1)


def macro_mean_of_four(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Four functionalities of unlike difficulty share the clusters evenly."""
    truths = (0.9, 0.8, 0.7, 0.4)
    truth = sum(truths) / 4
    tables = [simulated_table(clusters // 4, each, rng) for each in truths]
    replicates = macro_mean_replicates(tables, RESAMPLES, rng)
    yield "percentile", covers(percentile_interval(replicates, degrees=degrees_of_freedom(tables)), truth)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(all_drawn(tables, rng)), truth)


def normal_scores(runs: int, rng: Generator, textbook: bool) -> Covered:
    """Scores over runs, normal with mean 0 and SD 1."""
    scores = rng.normal(size=runs)
    yield "mean_t_interval", covers(mean_t_interval(scores), 0.0)
    yield "sd_interval", covers(sd_interval(float(scores.std(ddof=1)), runs), 1.0)


Population = Callable[[int, Generator, bool], Covered]

POPULATIONS: tuple[Population, ...] = (
    one_proportion,
    clustered_rate,
    paired_difference,
    macro_mean_of_four,
    normal_scores,
)


def measured_coverage(
    population: Population, clusters: int, repetitions: int = 2000, seed: int = 0, textbook: bool = False
) -> dict[str, float]:
    """The share of repetitions in which each interval held the truth."""
    rng = np.random.default_rng([seed, clusters])
    held: dict[str, int] = {}
    for _ in range(repetitions):
        for method, covered in population(clusters, rng, textbook):
            held[method] = held.get(method, 0) + covered
    return {method: count / repetitions for method, count in held.items()}


def all_drawn(tables: Sequence[ClusterTable], rng: Generator) -> Floats:
    """The textbook bootstrap of a macro mean of rates or differences: as many clusters drawn as there are."""
    total = np.zeros(RESAMPLES)
    for table in tables:
        drawn = rng.multinomial(table.clusters, table.counts / table.clusters, size=RESAMPLES) @ table.rows
        sums = drawn[:, 0] - drawn[:, 1] if drawn.shape[1] == 3 else drawn[:, 0]
        total += np.divide(sums, drawn[:, -1], out=np.full(RESAMPLES, np.nan), where=drawn[:, -1] > 0)
    return total / len(tables)


def covers(interval: Interval, truth: float) -> bool:
    low, high = interval
    return low <= truth <= high


def simulated_cases(
    clusters: int, mean: float, rng: Generator, correlation: float = 0.3
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cluster numbers and passes of cases whose clusters have beta-distributed rates."""
    sizes = rng.integers(1, 5, size=clusters)
    spread = (1 - correlation) / correlation
    rates = rng.beta(mean * spread, (1 - mean) * spread, size=clusters)
    names = np.repeat(np.arange(clusters), sizes)
    return names, rng.random(len(names)) < rates[names]


def simulated_table(clusters: int, mean: float, rng: Generator) -> ClusterTable:
    names, passes = simulated_cases(clusters, mean, rng)
    return cluster_table(passes, names)


def print_coverage(repetitions: int) -> None:
    print(f"Coverage of 95 % intervals in percent, {repetitions:,} repetitions\n")
    header = " | ".join(f"{clusters:,}" for clusters in CLUSTERS)
    print(f"| population | interval | {header} |\n| --- | --- | --: | --: | --: |")
    for population in POPULATIONS:
        columns = [
            measured_coverage(population, clusters, repetitions, textbook=True) for clusters in CLUSTERS
        ]
        for method in columns[0]:
            cells = " | ".join(f"{100 * column[method]:.1f}" for column in columns)
            print(f"| {population.__name__.replace('_', ' ')} | {method} | {cells} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000)
    print_coverage(parser.parse_args(arguments).repetitions)


if __name__ == "__main__":
    main()

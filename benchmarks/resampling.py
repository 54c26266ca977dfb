"""Speed of the resampling statistics, what their intervals cover, and a study of a hundred real runs.

    python benchmarks/resampling.py                 time and memory; a table
    python benchmarks/resampling.py --coverage      measured coverage at 20, 100 and 1,000 clusters
    python benchmarks/resampling.py --hans DIR      reliability of the 100 fine-tunings on HANS in DIR

The last two print the numbers of docs/studies/interval-coverage.md and docs/studies/hans-reliability.md.
"""

import argparse
import csv
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.stats.intervals import (
    Interval,
    anytime_interval,
    bca_interval,
    cluster_wilson,
    clopper_pearson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    sd_interval,
    wilson,
)
from shoal.stats.paired import generalization_score, randomise_generalization, sign_test
from shoal.stats.reliability import (
    icc,
    runs_needed,
    score_spread,
    spearman_brown,
    variance_components,
)
from shoal.stats.resampling import (
    ClusterTable,
    acceleration,
    cluster_table,
    degrees_of_freedom,
    difference,
    macro_mean,
    macro_mean_replicates,
    multi_bootstrap,
    paired_difference_replicates,
    paired_table,
    rate,
    resample_rates,
)

Floats = NDArray[np.float64]

CLUSTERS = (20, 100, 1000)
RESAMPLES = 999  # of the simulation: enough for the ends of a 95 % interval, small enough to repeat 2,000 times

# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────


def one_proportion(n: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Independent cases that pass nine times in ten."""
    passes = int(rng.binomial(n, 0.9))
    yield "wilson", covers(wilson(passes, n), 0.9)
    yield "clopper_pearson", covers(clopper_pearson(passes, n), 0.9)
    yield "anytime_interval", covers(anytime_interval(passes, n), 0.9)


def clustered_rate(clusters: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Clusters of 1 to 9 cases that pass eight times in ten and resemble each other (ρ = .3)."""
    table = simulated_table(clusters, 0.8, rng)
    textbook = resample_rates(table, RESAMPLES, rng, draw_all=True)
    replicates = resample_rates(table, RESAMPLES, rng)
    degrees, pull = clusters - 1, acceleration([table])
    yield "wilson, clusters ignored", covers(wilson(*table.totals), 0.8)
    yield "cluster_wilson", covers(cluster_wilson(table), 0.8)
    yield "percentile, textbook", covers(percentile_interval(textbook), 0.8)
    yield "percentile, as we do it", covers(percentile_interval(replicates, degrees=degrees), 0.8)
    yield "BCa, textbook", covers(bca_interval(rate(table), textbook, pull), 0.8)
    yield "BCa, as we do it", covers(bca_interval(rate(table), replicates, pull, degrees=degrees), 0.8)


def paired_difference(clusters: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Two models on the same clustered cases, ten points apart."""
    names, passes_a = simulated_cases(clusters, 0.8, rng)
    passes_b = rng.random(len(names)) < np.where(passes_a, 0.85, 0.10)  # .8 × .85 + .2 × .10 = .7
    table = paired_table(passes_a, passes_b, names)
    textbook = paired_difference_replicates(table, RESAMPLES, rng, draw_all=True)
    replicates = paired_difference_replicates(table, RESAMPLES, rng)
    degrees, pull = clusters - 1, acceleration([table])
    yield "paired_difference_interval", covers(paired_difference_interval(table), 0.1)
    yield "percentile, textbook", covers(percentile_interval(textbook), 0.1)
    yield "percentile, as we do it", covers(percentile_interval(replicates, degrees=degrees), 0.1)
    yield "BCa, as we do it", covers(bca_interval(difference(table), replicates, pull, degrees=degrees), 0.1)


def macro_mean_of_four(clusters: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Four functionalities of unlike difficulty share the clusters evenly."""
    truth = (0.9, 0.8, 0.7, 0.4)
    tables = [simulated_table(clusters // 4, each, rng) for each in truth]
    textbook = macro_mean_replicates(tables, RESAMPLES, rng, draw_all=True)
    replicates = macro_mean_replicates(tables, RESAMPLES, rng)
    degrees, pull = degrees_of_freedom(tables), acceleration(tables)
    middle = sum(truth) / 4
    yield "percentile, textbook", covers(percentile_interval(textbook), middle)
    yield "percentile, as we do it", covers(percentile_interval(replicates, degrees=degrees), middle)
    yield (
        "BCa, as we do it",
        covers(bca_interval(macro_mean(tables), replicates, pull, degrees=degrees), middle),
    )


def runs_and_items(items: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Five runs that shift by up to ten points, on easy and hard items; every run sees every item."""
    runs = 5
    chance = 0.7 + rng.choice([-0.2, 0.2], size=(items, 1)) + rng.uniform(-0.1, 0.1, size=runs)
    outcomes = rng.random((items, runs)) < chance
    textbook = multi_bootstrap([outcomes], RESAMPLES, rng, draw_all=True)
    replicates = multi_bootstrap([outcomes], RESAMPLES, rng)
    yield "multi-bootstrap, textbook", covers(percentile_interval(textbook), 0.7)
    yield "multi-bootstrap, as we do it", covers(percentile_interval(replicates, degrees=runs - 1), 0.7)


def normal_scores(runs: int, rng: Generator) -> Iterator[tuple[str, bool]]:
    """Scores over runs, normal with mean 0 and SD 1."""
    scores = rng.normal(size=runs)
    yield "mean_t_interval", covers(mean_t_interval(scores), 0.0)
    yield "sd_interval", covers(sd_interval(float(scores.std(ddof=1)), runs), 1.0)


POPULATIONS: tuple[Callable[[int, Generator], Iterator[tuple[str, bool]]], ...] = (
    one_proportion,
    clustered_rate,
    paired_difference,
    macro_mean_of_four,
    runs_and_items,
    normal_scores,
)


def measured_coverage(
    population: Callable[[int, Generator], Iterator[tuple[str, bool]]],
    clusters: int,
    repetitions: int = 2000,
    seed: int = 0,
) -> dict[str, float]:
    """The share of repetitions in which each interval held the truth."""
    rng = np.random.default_rng([seed, clusters])
    held: dict[str, int] = {}
    for _ in range(repetitions):
        for method, covered in population(clusters, rng):
            held[method] = held.get(method, 0) + covered
    return {method: count / repetitions for method, count in held.items()}


def covers(interval: Interval, truth: float) -> bool:
    low, high = interval
    return low <= truth <= high


def simulated_cases(
    clusters: int, mean: float, rng: Generator, correlation: float = 0.3
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cluster numbers and passes of cases whose clusters have beta-distributed rates."""
    sizes = rng.integers(1, 10, size=clusters)
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
        columns = [measured_coverage(population, clusters, repetitions) for clusters in CLUSTERS]
        for method in columns[0]:
            cells = " | ".join(f"{100 * column[method]:.1f}" for column in columns)
            print(f"| {population.__name__.replace('_', ' ')} | {method} | {cells} |", flush=True)
if __name__ == "__main__":
    import sys
    print_coverage(int(sys.argv[1]))

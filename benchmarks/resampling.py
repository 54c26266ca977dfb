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
    clopper_pearson,
    cluster_wilson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    sd_interval,
    t_quantile,
    wilson,
)
from shoal.stats.paired import generalization_score, randomise_generalization
from shoal.stats.reliability import (
    grand_mean_interval,
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
    macro_difference_replicates,
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
RESAMPLES = (
    999  # of the simulation: enough for the ends of a 95 % interval, small enough to repeat 2,000 times
)

# ── coverage ───────────────────────────────────────────────────────────────────────────


Covered = Iterator[tuple[str, bool]]


def one_proportion(n: int, rng: Generator, textbook: bool) -> Covered:
    """Independent cases that pass with a probability between .6 and .98."""
    # Not one fixed probability: the coverage for a given one jumps with n, because counts are whole.
    truth = rng.uniform(0.6, 0.98)
    passes = int(rng.binomial(n, truth))
    yield "wilson", covers(wilson(passes, n), truth)
    if textbook:
        yield "clopper_pearson", covers(clopper_pearson(passes, n), truth)
        yield "anytime_interval", covers(anytime_interval(passes, n), truth)


def clustered_rate(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Clusters of 1 to 4 cases that pass eight times in ten and resemble each other (ρ = .3)."""
    table = simulated_table(clusters, 0.8, rng)
    replicates = resample_rates(table, RESAMPLES, rng)
    degrees, pull = clusters - 1, acceleration([table])
    yield "cluster_wilson", covers(cluster_wilson(table), 0.8)
    yield "percentile", covers(percentile_interval(replicates, degrees=degrees), 0.8)
    yield "BCa", covers(bca_interval(rate(table), replicates, pull, degrees=degrees), 0.8)
    if textbook:
        replicates = resample_rates(table, RESAMPLES, rng, draw_all=True)
        yield "percentile, textbook", covers(percentile_interval(replicates), 0.8)
        yield "BCa, textbook", covers(bca_interval(rate(table), replicates, pull), 0.8)
        yield "wilson, clusters ignored", covers(wilson(*table.totals), 0.8)


def paired_difference(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Two models on the same clustered cases, ten points apart."""
    names, passes_a = simulated_cases(clusters, 0.8, rng)
    passes_b = rng.random(len(names)) < np.where(passes_a, 0.85, 0.10)  # .8 × .85 + .2 × .10 = .7
    table = paired_table(passes_a, passes_b, names)
    replicates = paired_difference_replicates(table, RESAMPLES, rng)
    degrees, pull = clusters - 1, acceleration([table])
    yield "paired_difference_interval", covers(paired_difference_interval(table), 0.1)
    yield "percentile", covers(percentile_interval(replicates, degrees=degrees), 0.1)
    yield "BCa", covers(bca_interval(difference(table), replicates, pull, degrees=degrees), 0.1)
    if textbook:
        replicates = paired_difference_replicates(table, RESAMPLES, rng, draw_all=True)
        yield "percentile, textbook", covers(percentile_interval(replicates), 0.1)


def macro_mean_of_four(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Four functionalities of unlike difficulty share the clusters evenly."""
    truths = (0.9, 0.8, 0.7, 0.4)
    truth = sum(truths) / 4
    tables = [simulated_table(clusters // 4, each, rng) for each in truths]
    replicates = macro_mean_replicates(tables, RESAMPLES, rng)
    degrees, pull = degrees_of_freedom(tables), acceleration(tables)
    yield "percentile", covers(percentile_interval(replicates, degrees=degrees), truth)
    yield "BCa", covers(bca_interval(macro_mean(tables), replicates, pull, degrees=degrees), truth)
    if textbook:
        replicates = macro_mean_replicates(tables, RESAMPLES, rng, draw_all=True)
        yield "percentile, textbook", covers(percentile_interval(replicates), truth)


def runs_and_items(items: int, rng: Generator, textbook: bool) -> Covered:
    """Five runs that shift by up to ten points, on easy and hard items; every run sees every item."""
    chance = 0.7 + rng.choice([-0.2, 0.2], size=(items, 1)) + rng.uniform(-0.1, 0.1, size=5)
    outcomes = rng.random((items, 5)) < chance
    degrees = variance_components(outcomes).degrees
    yield "grand_mean_interval", covers(grand_mean_interval(outcomes), 0.7)
    replicates = multi_bootstrap([outcomes], RESAMPLES, rng)
    yield "multi_bootstrap, percentile", covers(percentile_interval(replicates, degrees=degrees), 0.7)
    if textbook:
        replicates = multi_bootstrap([outcomes], RESAMPLES, rng, draw_all=True)
        yield "multi_bootstrap, textbook", covers(percentile_interval(replicates), 0.7)


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
    runs_and_items,
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


# ── speed ──────────────────────────────────────────────────────────────────────────────

Hits = list[Floats]


def print_speed() -> None:
    print("| what | seconds | peak MB |\n| --- | --: | --: |")
    rng = np.random.default_rng(0)
    names = rng.integers(40_000, size=200_000)  # clusters of about five cases
    passes_a = rng.random(200_000) < rng.beta(4, 1, size=40_000)[names]
    passes_b = rng.random(200_000) < np.where(passes_a, 0.95, 0.2)

    def pairs(clusters: NDArray[np.int64] | None) -> Interval:
        table = paired_table(passes_a, passes_b, clusters)
        return percentile_interval(paired_difference_replicates(table, 10_000, rng))

    def functionalities() -> Interval:
        parts = np.split(np.arange(200_000), 40)
        tables = [paired_table(passes_a[part], passes_b[part], names[part]) for part in parts]
        return percentile_interval(macro_difference_replicates(tables, 10_000, rng))

    what = "two models, 200,000 cases, 10,000 resamples"
    print_cost(f"{what}, every case its own cluster", lambda: pairs(None))
    print_cost(f"{what}, 40,000 clusters", lambda: pairs(names))
    print_cost(f"{what}, macro mean of 40 functionalities", functionalities)

    baseline, scenarios, baseline_iid, method_iid = sentiment_sized_hits(rng)
    counted = print_cost(
        "randomisation, 4 G scores, 10,000 shuffles, 22,000 cases, 436 i.i.d. items",
        lambda: randomise_generalization(baseline, scenarios, baseline_iid, method_iid, rng),
    )
    few = 100
    start = time.perf_counter()
    plain_randomisation(baseline, scenarios, baseline_iid, method_iid, few, rng)
    looped = (time.perf_counter() - start) * 10_000 / few
    print(f"| the same by a loop over shuffles ({few} timed, scaled) | {looped:.1f} | |")
    print(f"\nThe loop takes {looped / counted:.0f} times as long.")


def print_cost(what: str, work: Callable[[], object]) -> float:
    """Time and memory are measured apart: tracing memory slows the work down."""
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print(f"| {what} | {seconds:.2f} | {peak:.0f} |", flush=True)
    return seconds


def sentiment_sized_hits(rng: Generator) -> tuple[Hits, list[Hits], Floats, Floats]:
    """Hits the size of BELUGA's SENT test split: 38 functionalities, some cases not applicable."""

    def hits(rate: float) -> Hits:
        vectors = [(rng.random(579) < rate).astype(np.float64) for _ in range(38)]
        for vector in vectors[::5]:
            vector[rng.random(579) < 0.1] = np.nan
        return vectors

    baseline_iid, method_iid = ((rng.random(436) < p).astype(np.float64) for p in (0.92, 0.90))
    return hits(0.7), [hits(p) for p in (0.95, 0.8, 0.75, 0.7)], baseline_iid, method_iid


def plain_randomisation(
    baseline: Hits,
    scenarios: list[Hits],
    baseline_iid: Floats,
    method_iid: Floats,
    shuffles: int,
    rng: Generator,
) -> Floats:
    """ΔG of each shuffle, exchanging outcomes one by one: what the binomial counts replace."""
    found = np.empty((shuffles, len(scenarios)))
    for shuffle in range(shuffles):
        iid = exchange(baseline_iid, method_iid, rng)
        for number, method in enumerate(scenarios):
            pairs = [exchange(old, new, rng) for old, new in zip(baseline, method, strict=True)]
            suite = [np.nanmean([np.nanmean(pair[side]) for pair in pairs]) for side in (0, 1)]
            g = [float(generalization_score(suite[side], iid[side].mean())) for side in (0, 1)]
            found[shuffle, number] = g[1] - g[0]
    return found


def exchange(old: Floats, new: Floats, rng: Generator) -> tuple[Floats, Floats]:
    swap = rng.random(len(old)) < 0.5
    return np.where(swap, new, old), np.where(swap, old, new)


# ── a hundred fine-tunings ─────────────────────────────────────────────────────────────

HANS_ITEMS = 1000
"""Every subcase of HANS has a thousand sentence pairs."""


def read_hans(folder: Path) -> tuple[list[str], Floats]:
    """The 30 subcases, and their accuracies as subcases × runs."""
    path = folder / "berts_of_a_feather_accuracies_by_run.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Run"].startswith("Run ")]
    subcases = [name for name in rows[0] if name[:3] in {"ln_", "le_", "sn_", "se_", "cn_", "ce_"}]
    return subcases, np.array([[float(row[name]) for row in rows] for name in subcases])


def print_hans(folder: Path) -> None:
    subcases, accuracies = read_hans(folder)
    print("| subcase | mean | SD over runs | 95 % of SD | binomial SD | ratio |")
    print("| --- | --: | --: | --: | --: | --: |")
    spreads = [score_spread(row, HANS_ITEMS) for row in accuracies]
    for name, spread in sorted(zip(subcases, spreads, strict=True), key=lambda pair: -pair[1].sd):
        low, high = (100 * end for end in spread.sd_interval)
        ratio = "–" if math.isnan(spread.ratio) else f"{spread.ratio:.1f}"
        cells = f"{100 * spread.mean:.1f} | {100 * spread.sd:.2f} | {low:.2f}–{high:.2f}"
        print(f"| {name} | {cells} | {100 * spread.floor_sd:.2f} | {ratio} |")

    print("\n| subcases as items | run | subcase | both | ICC(2,1) | runs for .8 | runs for .9 |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    entailed = np.array([name[1] == "e" for name in subcases])
    for what, rows in (("all 30", entailed | True), ("entailed", entailed), ("non-entailed", ~entailed)):
        print_shares(what, accuracies[rows])

    print("\n| runs as items, subcases as raters | ICC(3,1) | mean of all | subcases for .8 | for .9 |")
    print("| --- | --: | --: | --: | --: |")
    for what, rows in (("all 30", entailed | True), ("entailed", entailed), ("non-entailed", ~entailed)):
        one = icc(accuracies[rows].T).consistency
        together = spearman_brown(one, int(rows.sum()))
        cells = f"{one:.3f} | {together:.3f} | {runs_needed(one, 0.8)} | {runs_needed(one, 0.9)}"
        print(f"| {what} | {cells} |")

    widest = max(range(len(subcases)), key=lambda at: spreads[at].sd)
    lowest, highest = 100 * accuracies[widest].min(), 100 * accuracies[widest].max()
    print(f"\n{subcases[widest]} goes from {lowest:.0f} to {highest:.0f} % over the runs;")
    sd = 100 * spreads[widest].sd
    five = t_quantile(0.95, 4) * sd / math.sqrt(5)
    wanted = next(n for n in range(2, 1000) if t_quantile(0.95, n - 1) * sd / math.sqrt(n) <= 5)
    print(f"the mean of five runs is known to ±{five:.0f} points, and it takes {wanted} to know it to ±5")
    r = np.corrcoef(accuracies[entailed].mean(axis=0), accuracies[~entailed].mean(axis=0))[0, 1]
    print(f"mean of entailed with mean of non-entailed subcases over runs: r = {r:.2f}")


def print_shares(what: str, accuracies: Floats) -> None:
    shares = " | ".join(f"{100 * share:.1f} %" for share in variance_components(accuracies).shares)
    one = icc(accuracies).agreement
    print(f"| {what} | {shares} | {one:.3f} | {runs_needed(one, 0.8)} | {runs_needed(one, 0.9)} |")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--coverage", action="store_true", help="measure what the intervals cover")
    parser.add_argument("--repetitions", type=int, default=2000, help="of the coverage simulation")
    parser.add_argument("--hans", type=Path, metavar="DIR", help="folder with the accuracies by run")
    chosen = parser.parse_args(arguments)
    if chosen.hans:
        print_hans(chosen.hans)
    elif chosen.coverage:
        print_coverage(chosen.repetitions)
    else:
        print_speed()


if __name__ == "__main__":
    main()

"""Speed of the resampling statistics, and a study of a hundred real runs.

    python benchmarks/resampling.py                 time and memory; a table
    python benchmarks/resampling.py --hans DIR      reliability of the 100 fine-tunings on HANS in DIR

The last prints the numbers of docs/studies/hans-reliability.md; what intervals cover is in coverage.py.
"""

import argparse
import csv
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.stats.generalization import Pair, exchange_test, pair
from shoal.stats.intervals import (
    Interval,
    macro_difference_interval,
    sd_interval,
    t_quantile,
)
from shoal.stats.paired import generalization_score
from shoal.stats.reliability import SHEPPARD
from shoal.stats.resampling import paired_table

Floats = NDArray[np.float64]

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
        return macro_difference_interval([table])

    def functionalities() -> Interval:
        parts = np.split(np.arange(200_000), 40)
        tables = [paired_table(passes_a[part], passes_b[part], names[part]) for part in parts]
        return macro_difference_interval(tables)

    what = "two models, 200,000 cases, interval of the difference"
    print_cost(f"{what}, every case its own cluster", lambda: pairs(None))
    print_cost(f"{what}, 40,000 clusters", lambda: pairs(names))
    print_cost(f"{what}, macro mean of 40 functionalities", functionalities)

    baseline, scenarios, baseline_iid, method_iid = sentiment_sized_hits(rng)

    def pairs_of_g(methods: list[Hits]) -> list[Pair]:
        old, old_iid = [hits[:, None] for hits in baseline], baseline_iid[:, None]
        return [pair(old, [hits[:, None] for hits in new], old_iid, method_iid[:, None]) for new in methods]

    counted = print_cost(
        "randomisation, 4 G scores, 10,000 shuffles, 22,000 cases, 436 i.i.d. items",
        lambda: [exchange_test(both, 10_000, rng) for both in pairs_of_g(scenarios)],
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


def read_hans(folder: Path) -> tuple[list[str], Floats, Floats]:
    """The 30 subcases, their accuracies as subcases × runs, and those on MNLI."""
    path = folder / "berts_of_a_feather_accuracies_by_run.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Run"].startswith("Run ")]
    subcases = [name for name in rows[0] if name[:3] in {"ln_", "le_", "sn_", "se_", "cn_", "ce_"}]
    accuracies = np.array([[float(row[name]) for row in rows] for name in subcases])
    return subcases, accuracies, np.array([float(row["MNLI dev acc."]) for row in rows])


def print_hans(folder: Path) -> None:
    subcases, accuracies, home = read_hans(folder)
    print(f"on MNLI: {100 * home.mean():.1f} %, SD {100 * home.std(ddof=1):.2f} points\n")
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
        between, _, residual = mean_squares(accuracies[rows].T)
        one = (between - residual) / (between + (int(rows.sum()) - 1) * residual)
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


@dataclass(frozen=True)
class RunSpread:
    """The SD of a rate over runs, beside that of independent items."""

    mean: float
    sd: float
    sd_interval: tuple[float, float]
    floor_sd: float
    ratio: float


def score_spread(scores: Floats, items: int) -> RunSpread:
    """The spread over runs when only each run's rate is known, beside the binomial floor sqrt(p(1-p)/N).

    That floor takes every item for as uncertain as the average one. It is at or above the floor from items, so the
    ratio here is the cautious one.
    """
    mean, sd = float(scores.mean()), float(scores.std(ddof=1))
    floor = math.sqrt(mean * (1 - mean) / items)
    ratio = sd / floor if floor > 0 else math.nan
    # Runs that tie may differ by what a step of one item hides.
    of_sd = sd_interval(sd, len(scores)) if sd else (0.0, sd_interval(SHEPPARD / items, len(scores))[1])
    return RunSpread(mean, sd, of_sd, floor, ratio)


def runs_needed(reliability: float, target: float) -> int:
    """How many runs make their mean as reliable as the target."""
    return max(1, math.ceil(target * (1 - reliability) / (reliability * (1 - target)) - 1e-9))


def spearman_brown(reliability: float, runs: int) -> float:
    """Reliability of the mean of several runs, from that of one (Brown 1910; Spearman 1910)."""
    return runs * reliability / (1 + (runs - 1) * reliability)


def mean_squares(matrix: Floats) -> tuple[float, float, float]:
    """The mean squares of items, runs and residuals."""
    items, runs = matrix.shape
    grand, by_item, by_run = matrix.mean(), matrix.mean(axis=1), matrix.mean(axis=0)
    residuals = matrix - by_item[:, None] - by_run + grand
    return (
        float(runs * ((by_item - grand) ** 2).sum() / (items - 1)),
        float(items * ((by_run - grand) ** 2).sum() / (runs - 1)),
        float((residuals**2).sum() / ((items - 1) * (runs - 1))),
    )


def print_shares(what: str, accuracies: Floats) -> None:
    items, runs = accuracies.shape
    of_items, of_runs, residual = mean_squares(accuracies)
    parts = [max(0.0, (of_runs - residual) / items), max(0.0, (of_items - residual) / runs), residual]
    shares = " | ".join(f"{100 * part / sum(parts):.1f} %" for part in parts)
    # ICC(2,1) of Shrout & Fleiss (1979).
    whole = of_items + (runs - 1) * residual + runs * (of_runs - residual) / items
    one = (of_items - residual) / whole
    print(f"| {what} | {shares} | {one:.3f} | {runs_needed(one, 0.8)} | {runs_needed(one, 0.9)} |")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hans", type=Path, metavar="DIR", help="folder with the accuracies by run")
    chosen = parser.parse_args(arguments)
    if chosen.hans:
        print_hans(chosen.hans)
    else:
        print_speed()


if __name__ == "__main__":
    main()

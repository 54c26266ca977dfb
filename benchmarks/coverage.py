"""Coverage of the intervals in `shoal.stats`, and power, on populations where the truth is known.

    python benchmarks/coverage.py                   coverage at 20, 100 and 1,000 clusters
    python benchmarks/coverage.py --small           few cases and templates
    python benchmarks/coverage.py --small SEAT      only the rows whose name contains "SEAT"

It prints tables of docs/studies/interval-coverage.md; tests/stats/ runs quick versions of the same populations.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import brentq

from shoal.stats.association import effect_size_interval, permutation_p
from shoal.stats.intervals import (
    Interval,
    cluster_wilson,
    macro_difference_interval,
    macro_wilson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    replicate_t_interval,
    sd_interval,
    wilson,
)
from shoal.stats.paired import sign_test
from shoal.stats.power import sign_test_power
from shoal.stats.reliability import (
    item_floor,
    ratio_interval,
)
from shoal.stats.resampling import (
    ClusterTable,
    cluster_table,
    degrees_of_freedom,
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
    replicates = drawn_again([table], rng)
    yield "cluster_wilson", covers(cluster_wilson(table), 0.8)
    yield "percentile", covers(percentile_interval(replicates, degrees=clusters - 1), 0.8)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(drawn_again([table], rng, 0)), 0.8)
        yield "wilson, clusters ignored", covers(wilson(*table.totals), 0.8)


def paired_difference(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Two models on the same clustered cases, ten points apart."""
    names, passes_a = simulated_cases(clusters, 0.8, rng)
    passes_b = rng.random(len(names)) < np.where(passes_a, 0.85, 0.10)  # .8 × .85 + .2 × .10 = .7
    table = paired_table(passes_a, passes_b, names)
    replicates = drawn_again([table], rng)
    yield "paired_difference_interval", covers(paired_difference_interval(table), 0.1)
    yield "percentile", covers(percentile_interval(replicates, degrees=clusters - 1), 0.1)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(drawn_again([table], rng, 0)), 0.1)


def macro_mean_of_four(clusters: int, rng: Generator, textbook: bool) -> Covered:
    """Four functionalities of unlike difficulty share the clusters evenly."""
    truths = (0.9, 0.8, 0.7, 0.4)
    truth = sum(truths) / 4
    tables = [simulated_table(clusters // 4, each, rng) for each in truths]
    replicates = drawn_again(tables, rng)
    yield "percentile", covers(percentile_interval(replicates, degrees=degrees_of_freedom(tables)), truth)
    if textbook:
        yield "percentile, textbook", covers(percentile_interval(drawn_again(tables, rng, 0)), truth)


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


def drawn_again(tables: Sequence[ClusterTable], rng: Generator, fewer: int = 1) -> Floats:
    """A bootstrap of a macro mean of rates or differences: one cluster fewer drawn than there are; the textbook's 0."""
    total = np.zeros(RESAMPLES)
    for table in tables:
        share = table.counts / table.clusters
        drawn = rng.multinomial(table.clusters - fewer, share, size=RESAMPLES) @ table.rows
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


# ── small sizes ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Promise:
    """Something that should hold in a share of repetitions: an interval's coverage, a test's error, a power."""

    what: str
    size: str
    promised: str
    holds: Callable[[Generator], bool]
    """One repetition: whether the interval covered, the test erred, the effect was found."""
    repetitions: float = 1.0
    """Where one repetition is slow, the share of them that is made."""


COVERS, ERRS, FINDS = "95", "at most 5", "80"


def templates(rng: Generator, rate: float, number: int, size: int, alike: float) -> ClusterTable:
    """Templates of so many cases; `alike` is the correlation of two cases of one template."""
    spread = (1 - alike) / alike
    chances = rng.beta(rate * spread, (1 - rate) * spread, number)
    return cluster_table(
        (rng.random((number, size)) < chances[:, None]).ravel(), np.arange(number).repeat(size)
    )


def changes(rng: Generator, cases: int, worse: float, better: float) -> ClusterTable:
    """Two models on the same cases, new and old, of which so many got worse and better."""
    kind = rng.choice(3, size=cases, p=[worse, better, 1 - worse - better])
    return paired_table(kind == 1, kind == 0)


def rates_and_means() -> Iterator[Promise]:
    for number, size in ((3, 20), (5, 5), (5, 20), (10, 20), (20, 5), (20, 20)):
        for rate in (0.5, 0.8, 0.95):

            def rate_covers(
                rng: Generator, number: int = number, size: int = size, rate: float = rate
            ) -> bool:
                return covers(cluster_wilson(templates(rng, rate, number, size, 0.4)), rate)

            yield Promise("rate, cluster_wilson", f"{number} templates x {size}, {rate}", COVERS, rate_covers)
    for functionalities, cases in ((3, 5), (3, 20), (30, 5), (30, 20), (100, 20)):
        for rate in (0.8, 0.95):

            def mean_covers(
                rng: Generator, functionalities: int = functionalities, cases: int = cases, rate: float = rate
            ) -> bool:
                tables = [cluster_table(rng.random(cases) < rate) for _ in range(functionalities)]
                return covers(macro_wilson(tables), rate)

            sizes = f"{functionalities} x {cases}, {rate}"
            yield Promise(
                "suite score, macro_wilson", sizes, COVERS, mean_covers, 1 / max(1, functionalities // 25)
            )
    for functionalities, cases in ((3, 5), (10, 3), (30, 4)):

        def templated_mean_covers(
            rng: Generator, functionalities: int = functionalities, cases: int = cases
        ) -> bool:
            return covers(
                macro_wilson([templates(rng, 0.9, cases, 10, 0.3) for _ in range(functionalities)]), 0.9
            )

        sizes = f"{functionalities} x {cases} templates x 10, .9"
        yield Promise("suite score, macro_wilson", sizes, COVERS, templated_mean_covers, 0.5)
    for functionalities, cases in ((1, 5), (1, 20), (1, 80), (3, 20), (30, 5)):

        def difference_covers(
            rng: Generator, functionalities: int = functionalities, cases: int = cases
        ) -> bool:
            tables = [changes(rng, cases, 0.03, 0.07) for _ in range(functionalities)]
            return covers(macro_difference_interval(tables), 0.04)

        sizes = f"{functionalities} x {cases}, one case in ten changed"
        yield Promise("difference, paired t", sizes, COVERS, difference_covers)

    def three_terms(rng: Generator) -> bool:
        terms = rng.beta(6, 4, 3)
        shares = rng.binomial(10, terms) / 10
        drawn = shares[rng.integers(3, size=(400, 2))].mean(axis=1)
        return covers(replicate_t_interval(float(shares.mean()), drawn, degrees=2), 0.6)

    yield Promise("StereoSet, replicate_t_interval", "3 terms x 10", COVERS, three_terms)


def associations() -> Iterator[Promise]:
    def sentences(rng: Generator, words: int, each: int, difference: float) -> tuple[Floats, Floats, Floats]:
        means = rng.normal(0, 0.7, (2, words, 1)) + np.array([difference, 0.0])[:, None, None]
        x, y = (means + rng.normal(0, math.sqrt(1 - 0.49), (2, words, each))).reshape(2, -1)
        return x, y, np.arange(float(words)).repeat(each)

    for words, each in ((3, 1), (5, 1), (8, 1), (8, 6), (15, 4)):
        for difference in (0.0, 0.8, 2.0):

            def effect_covers(
                rng: Generator, words: int = words, each: int = each, difference: float = difference
            ) -> bool:
                x, y, names = sentences(rng, words, each, difference)
                truth = difference / math.sqrt(1 + difference**2 / 4)
                return covers(effect_size_interval(x, y, (names, names)), truth)

            size = f"{words} words x {each}, d {difference / math.sqrt(1 + difference**2 / 4):.2f}"
            yield Promise("SEAT, effect size", size, COVERS, effect_covers)

        def is_small(rng: Generator, words: int = words, each: int = each) -> bool:
            x, y, names = sentences(rng, words, each, 0.0)
            return permutation_p(x, y, rng, 1000, units=(names, names)).p <= 0.05

        yield Promise("SEAT, p by words", f"{words} words x {each}", ERRS, is_small)


def reliabilities() -> Iterator[Promise]:
    def shifting(rng: Generator, items: int, runs: int, sd: float) -> Floats:
        chances = np.clip(rng.beta(2, 2, (items, 1)) + sd * rng.normal(size=runs), 0, 1)
        return (rng.random((items, runs)) < chances).astype(np.float64)

    def ratio_of(outcomes: Floats) -> float:
        return float(outcomes.mean(axis=0).std(ddof=1)) / item_floor(outcomes)

    rng = np.random.default_rng(0)
    for items, runs in ((20, 5), (100, 3), (100, 5)):
        many = [shifting(rng, items, 40, 0.05) for _ in range(200)]
        scores = np.mean([table.mean(axis=0).var(ddof=1) for table in many])
        ratio = math.sqrt(scores / np.mean([item_floor(table) ** 2 for table in many]))

        def ratio_covers(rng: Generator, items: int = items, runs: int = runs, ratio: float = ratio) -> bool:
            outcomes = shifting(rng, items, runs, 0.05)
            return covers(ratio_interval(ratio_of(outcomes), outcomes), ratio)

        size = f"{items} items x {runs} runs, {ratio:.1f}"
        yield Promise("reliability, over-dispersion ratio", size, COVERS, ratio_covers, 0.2)


def powers() -> Iterator[Promise]:
    for n, discordance, tests in ((20, 0.05, 1), (60, 1.0, 1), (436, 0.08, 1), (40, 0.1, 30)):
        alpha = 0.05 / tests

        def missing_power(
            difference: float, n: int = n, share: float = discordance, alpha: float = alpha
        ) -> float:
            return sign_test_power(n, max(share, difference), difference, alpha) - 0.8

        smallest = float(brentq(missing_power, 0.0, 1.0))
        differing = max(discordance, smallest)
        shares = [(differing + smallest) / 2, (differing - smallest) / 2, 1 - differing]

        def is_found(
            rng: Generator, n: int = n, shares: list[float] = shares, alpha: float = 0.05 / tests
        ) -> bool:
            only_a, only_b, _ = rng.multinomial(n, shares).tolist()
            return sign_test(only_a, only_b) <= alpha

        size = f"{n} cases, {discordance} differ, {tests} tests"
        yield Promise("smallest difference, sign test", size, FINDS, is_found)


SMALL = (rates_and_means, associations, reliabilities, powers)


def print_promises(repetitions: int, wanted: str) -> None:
    print(f"Percent of {repetitions:,} repetitions, fewer where one is slow\n")
    print("| what | size | promised | measured |\n| --- | --- | --: | --: |")
    for group in SMALL:
        for promise in group():
            if wanted not in promise.what:
                continue
            times = max(100, round(repetitions * promise.repetitions))
            rng = np.random.default_rng(0)
            held = sum(promise.holds(rng) for _ in range(times))
            error = 100 * math.sqrt(held * (times - held) / times) / times
            measured = f"{100 * held / times:.1f} ± {error:.1f}"
            print(f"| {promise.what} | {promise.size} | {promise.promised} | {measured} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--small", nargs="?", const="", metavar="NAME", help="few cases and templates")
    chosen = parser.parse_args(arguments)
    if chosen.small is not None:
        print_promises(chosen.repetitions, chosen.small)
    else:
        print_coverage(chosen.repetitions)


if __name__ == "__main__":
    main()

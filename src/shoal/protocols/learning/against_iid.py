"""Each row of a behavioural-learning table against the model trained on i.i.d. data only.

`docs/method/beluga.md` 1.9, `docs/method/beyond.md` 7.3 to 7.5.

    score       one or two seeds, in profiles paper and reference any   three seeds and more
    iid score   exact sign test, or sign flips of both runs             Welch's t over seeds
    G           cases exchanged between the two at random,              Welch's t over seeds
                the i.i.d. exchanges shared by the scenarios

By case, the claim is about these checkpoints; by seed, about the recipe. Seeds that all agree have no variance: then
the test is the one by case. p is adjusted by Holm within a column, except in profiles paper and reference.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.claims import reach
from ...core.records import Measure
from ...stats.generalization import DIFFERENCE, ESTIMABLE_SEEDS, Draws, Estimate, estimate, exchange_test
from ...stats.intervals import Interval, in_agreement, paired_t
from ...stats.multiplicity import holm
from ...stats.paired import generalization_score, sign_flip_test, sign_test
from ...stats.resampling import paired_table
from ...stats.seeds import SeedError, composed, error_of_difference, error_of_mean
from . import wording
from .settings import Settings
from .trainings import HOLD_OUTS, Floats, Scenario

PAIRED = "paired t, two clusters added"
BOOTSTRAP = "cluster bootstrap"


@dataclass(frozen=True, slots=True)
class Contest:
    """One comparison with the iid row."""

    groups: Mapping[str, str]
    n: int
    difference: Estimate
    method: str
    """Method of the interval."""
    seeds: int
    p: float
    test: str
    """What p is the p of."""
    shuffled: Floats | None = None
    """The difference in each shuffle, where p comes from those."""
    by_seed: Floats | None = None
    """The scores of baseline and row in each seed, (2, seeds), where p comes from those."""


def common_seeds(scenario: Scenario, base: Scenario) -> tuple[list[int], list[int]]:
    """The columns of the seeds that both have."""
    both = [seed for seed in scenario.seeds if seed in base.seeds]
    return [scenario.seeds.index(seed) for seed in both], [base.seeds.index(seed) for seed in both]


def common_rows(scenario: Scenario, base: Scenario) -> tuple[Floats, Floats]:
    """Return the i.i.d. outcomes of both in the seeds that both have, on the rows that both answered in every run."""
    ours, theirs = common_seeds(scenario, base)
    new, old = scenario.iid[:, ours], base.iid[:, theirs]
    known = ~np.isnan(new - old).any(axis=1)
    return new[known], old[known]


def iid_test(settings: Settings, scenario: Scenario, base: Scenario) -> Contest | None:
    """Return the test of a scenario's i.i.d. score against its baseline; None without a common seed."""
    new, old = common_rows(scenario, base)
    if not new.size:
        return None
    n, seeds = new.shape
    groups = {"score": "iid score", **scenario.groups}
    by_seed = np.array([old.mean(axis=0), new.mean(axis=0)])
    if contest := _over_seeds(settings, groups, n, by_seed):
        return contest
    p, test = change_test(settings, new - old)
    changes = (new - old).mean(axis=0)
    value = math.fsum(changes) / seeds
    # A t interval over cases and, from three seeds on, over those too.
    over_cases = paired_t([paired_table(new.mean(axis=1), old.mean(axis=1))])
    error = error_of_mean(changes) if seeds >= ESTIMABLE_SEEDS else SeedError()
    difference = Estimate(value, _clipped(composed(value, over_cases.interval, error)))
    return Contest(groups, n, _in_agreement(difference, p), PAIRED + over_seeds(seeds), seeds, p, test)


def change_test(settings: Settings, changes: Floats) -> tuple[float, str]:
    """Return the p of changes (cases, seeds), and the name of the test."""
    flips, seeds = changes.sum(axis=1), changes.shape[1]
    if seeds == 1:
        return sign_test(int((flips > 0).sum()), int((flips < 0).sum())), "exact sign test"
    p = sign_flip_test(flips, np.random.default_rng(settings.seed), settings.shuffles)
    return p, f"sign flips of each case's outcomes in {seeds} runs"


def g_test(settings: Settings, scenario: Scenario, base: Scenario, draws: Draws) -> Contest:
    """Test G (`docs/method/beluga.md` 1.9); `draws` are of the row and the baseline on common seeds.

    The claim is about these functionalities, also where they are a sample.
    """
    ours, _ = common_seeds(scenario, base)
    groups = {"score": "G", **scenario.groups}
    units = draws.pair.iid.clusters + sum(table.clusters for table in draws.pair.suite)
    if contest := _over_seeds(settings, groups, units, generalization_score(*draws.pair.scores)):
        return contest
    test = exchange_test(
        draws.pair,
        settings.shuffles,
        np.random.default_rng([settings.seed, 2 + HOLD_OUTS.index(scenario.hold_out)]),
        np.random.default_rng(settings.seed),  # the i.i.d. exchanges are shared by a row's scenarios
    )
    seeds = len(ours)
    runs = f", each with its {seeds} runs" if seeds > 1 else ""
    name = f"randomisation: {settings.shuffles:,} exchanges of cases{runs}"
    difference = _in_agreement(estimate(draws, generalization_score, DIFFERENCE), test.p)
    return Contest(
        groups, units, difference, BOOTSTRAP + over_seeds(seeds), seeds, test.p, name, test.shuffled
    )


def _over_seeds(settings: Settings, groups: Mapping[str, str], n: int, by_seed: Floats) -> Contest | None:
    """Compare two recipes with the seed as the unit, as `compare` does; None where the case is the unit."""
    seeds = by_seed.shape[1]
    if seeds < ESTIMABLE_SEEDS or settings.profile != "recommended":
        return None
    error = error_of_difference(by_seed[1], by_seed[0])
    if error.error <= 1e-12:
        return None
    value, p = welch(by_seed, error)
    margin = error.reach(0.95)
    difference = Estimate(value, _clipped((value - margin, value + margin)))
    test = f"Welch's t over {seeds} seeds"
    return Contest(groups, n, difference, "t over seeds", seeds, p, test, by_seed=by_seed)


def welch(by_seed: Floats, error: SeedError) -> tuple[float, float]:
    """Return the difference of two recipes' mean scores, and the p of Welch's t test."""
    old, new = (math.fsum(side) / len(side) for side in by_seed.tolist())
    value = new - old
    return value, error.p(value)


def _clipped(interval: Interval) -> Interval:
    return max(-1.0, interval[0]), min(1.0, interval[1])


def _in_agreement(difference: Estimate, p: float) -> Estimate:
    if difference.interval is None:
        return difference
    return replace(difference, interval=in_agreement(difference.interval, p))


def contest_measures(tests: Sequence[Contest], settings: Settings) -> Iterator[Measure]:
    """Return each test as measures, p adjusted within its column (`docs/method/beyond.md` 7.5)."""
    columns: dict[tuple[str, str], list[Contest]] = {}
    for test in tests:
        score = test.groups["score"]
        columns.setdefault((score, test.groups["hold out"] if score == "G" else ""), []).append(test)
    is_adjusted = settings.profile == "recommended"
    for (of, _), family in columns.items():
        raw = [test.p for test in family]
        note = wording.adjustment(len(family), is_adjusted=is_adjusted)
        for test, p in zip(family, holm(raw).tolist() if is_adjusted else raw, strict=True):
            interval, about = test.difference.interval, (test.n, test.groups)
            difference = Measure("difference", test.difference.value, *about, note=reach(test.seeds), of=of)
            yield replace(difference, interval=interval, interval_method=test.method if interval else "")
            yield Measure("p value", test.p, *about, note=test.test)
            yield Measure("adjusted p value", p, *about, note=note)


def with_interval(row: Measure, figure: Estimate, seeds: int) -> Measure:
    """Return a measure with an estimate's interval."""
    method = BOOTSTRAP + over_seeds(seeds) if figure.interval else ""
    return replace(row, interval=figure.interval, interval_method=method)


def over_seeds(seeds: int) -> str:
    """How the seeds enter an interval, in the words of its method."""
    return ", t over seeds" if seeds >= ESTIMABLE_SEEDS else ", these runs" if seeds > 1 else ""

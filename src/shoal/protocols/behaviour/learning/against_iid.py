"""Each row of a behavioural-learning table against the model trained on i.i.d. data only.

`docs/method/beluga.md` 1.9, `docs/method/beyond.md` 7.3 to 7.5.

    score       test                                              with several seeds
    iid score   exact sign test                                   sign flips of a case's outcomes in all runs together
    G           cases exchanged between the two at random,        a case is exchanged with its outcomes in all runs
                the i.i.d. exchanges shared by the scenarios

Both tests speak of new cases for these runs. What speaks of the recipe is the interval of the difference, which knows
how the runs differ: five pairs of runs exchanged as wholes could never give a p below 1/16.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....claims import ALPHA, POWER, POWER_AND_LEVEL
from ....records import Measure
from ....stats.generalization import (
    DIFFERENCE,
    Draws,
    Estimate,
    draw_functionalities,
    estimate,
    exchange_test,
)
from ....stats.intervals import paired_difference_interval, t_quantile, wilson
from ....stats.multiplicity import holm
from ....stats.paired import generalization_score, sign_flip_test, sign_test
from ....stats.power import mde_paired
from ....stats.resampling import paired_table
from ..settings import Settings
from .notes import NO_EFFECT, with_facts
from .trainings import HOLD_OUTS, Floats, Scenario

NEW_FUNCTIONALITIES = "new functionalities"
PAIRED = "paired t, two clusters added"
FIXED, RANDOM = "cluster bootstrap", "functionalities and cases bootstrap"
OVER_SEEDS = ", t over seeds"


@dataclass(frozen=True, slots=True)
class Contest:
    """One comparison with the iid row."""

    groups: Mapping[str, str]
    n: int
    difference: Estimate
    method: str
    """Of the difference's interval."""
    anew: Estimate | None
    """The difference for new functionalities."""
    seeds: int
    p: float
    test: str
    """What p is the p of."""
    mde: float | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else a reader should know: seeds or functionalities that only one of the two has."""
    shuffled: Floats | None = None
    """The difference in each shuffle, where p comes from those."""


def common_seeds(scenario: Scenario, base: Scenario) -> tuple[list[int], list[int]]:
    """The columns of the seeds that both have."""
    both = [seed for seed in scenario.seeds if seed in base.seeds]
    return [scenario.seeds.index(seed) for seed in both], [base.seeds.index(seed) for seed in both]


def iid_test(settings: Settings, scenario: Scenario, base: Scenario) -> Iterator[Contest]:
    """Of the i.i.d. score, on the cases that both answered in every run; none without a seed in common."""
    ours, theirs = common_seeds(scenario, base)
    new, old = scenario.iid[:, ours], base.iid[:, theirs]
    known = ~np.isnan(new - old).any(axis=1)
    n, seeds = int(known.sum()), len(ours)
    if not n or not seeds:
        return
    flips = (new - old)[known].sum(axis=1)
    if seeds == 1:
        gained, lost = int((flips > 0).sum()), int((flips < 0).sum())
        p, test = sign_test(gained, lost), "exact sign test"
        mde = mde_paired(n, (gained + lost) / n or wilson(0, n)[1])
    else:
        p = sign_flip_test(flips, np.random.default_rng(settings.seed), settings.shuffles)
        test = f"sign flips of each case's outcomes in {seeds} runs"
        mde = _smallest(math.sqrt(float(flips @ flips)) / (n * seeds))
    difference = _iid_difference(new[known], old[known])
    groups = {"score": "iid score", **_groups(scenario)}
    yield Contest(groups, n, difference, PAIRED, None, seeds, p, test, mde, _unequal(scenario, ours))


def _iid_difference(new: Floats, old: Floats) -> Estimate:
    """Mean over seeds, with a t interval over cases and, for several seeds, over those too."""
    by_seed = (new - old).mean(axis=0)
    value, seeds = math.fsum(by_seed) / len(by_seed), len(by_seed)
    low, high = paired_difference_interval(paired_table(new.mean(axis=1), old.mean(axis=1)))
    spread = t_quantile(0.95, seeds - 1) * float(by_seed.std(ddof=1)) / math.sqrt(seeds) if seeds > 1 else 0.0
    below, above = math.hypot(max(0.0, value - low), spread), math.hypot(max(0.0, high - value), spread)
    return Estimate(value, (max(-1.0, value - below), min(1.0, value + above)))


def g_test(
    settings: Settings, scenario: Scenario, base: Scenario, draws: Draws, population: int, unit: str
) -> Iterator[Contest]:
    """Of G, by shuffles (`docs/method/beluga.md` 1.9); `draws` are of the row and the baseline on common seeds."""
    ours, _ = common_seeds(scenario, base)
    shuffled = exchange_test(
        draws.pair,
        settings.shuffles,
        np.random.default_rng([settings.seed, 2 + HOLD_OUTS.index(scenario.hold_out)]),
        np.random.default_rng(settings.seed),  # the i.i.d. exchanges are shared by a row's scenarios
    )
    anew = draw_functionalities(draws, np.random.default_rng([settings.seed, 1]))
    drawn = {"both on": len(draws.suite)} if population else {}
    runs = f", each with its {len(ours)} runs" if len(ours) > 1 else ""
    yield Contest(
        {"score": "G", **_groups(scenario)},
        draws.pair.iid.clusters + sum(table.clusters for table in draws.pair.suite),
        estimate(draws, generalization_score, DIFFERENCE, population=population),
        FIXED,
        estimate(anew, generalization_score, DIFFERENCE),
        len(ours),
        float(shuffled.p[0]),
        f"randomisation: {settings.shuffles:,} exchanges of {unit}{runs}",
        _smallest(float(np.nanstd(shuffled.shuffled))),
        _unequal(scenario, ours) | drawn,
        shuffled.shuffled[:, 0],
    )


def contest_measures(tests: Sequence[Contest], shuffles: int) -> Iterator[Measure]:
    """Each test as measures, p adjusted over all of them: the family is the table (`docs/method/beyond.md` 7.5)."""
    if not tests:
        return
    family: dict[str, Any] = {"adjustment": "Holm", "tests": len(tests)}
    if len(tests) / (shuffles + 1) > ALPHA:
        family["too few shuffles"] = shuffles
    for test, adjusted in zip(tests, holm([test.p for test in tests]).tolist(), strict=True):
        of = {"of": test.groups["score"]}
        difference = Measure("difference", test.difference.value, test.n, test.groups)
        difference = with_facts(difference, {**of, **test.facts, "runs": test.seeds})
        yield with_interval(difference, test.difference, test.method, test.seeds)
        if test.anew:
            new = replace(difference, groups={**test.groups, "estimand": NEW_FUNCTIONALITIES})
            yield with_interval(new, test.anew, RANDOM, test.seeds)
        yield with_facts(Measure("p value", test.p, test.n, test.groups), {"test": test.test})
        yield with_facts(Measure("adjusted p value", adjusted, test.n, test.groups), family)
        reach = {"power": POWER} if test.mde is not None else {"undefined": NO_EFFECT}
        yield with_facts(Measure("minimum detectable effect", test.mde, test.n, test.groups), of | reach)


def with_interval(row: Measure, figure: Estimate, method: str, seeds: int) -> Measure:
    """A measure with an estimate's interval, and what part of its variance is due to seeds."""
    named = method + (OVER_SEEDS if seeds > 1 else "")
    row = replace(row, interval=figure.interval, interval_method=named if figure.interval else "")
    return with_facts(row, {} if figure.seed_share is None else {"seed share": figure.seed_share})


def _groups(scenario: Scenario) -> dict[str, str]:
    return {"config": scenario.row[0], "method": scenario.row[1], "hold out": scenario.hold_out}


def _unequal(scenario: Scenario, ours: Sequence[int]) -> dict[str, Any]:
    return {} if len(ours) == len(scenario.seeds) else {"common seeds": len(ours)}


def _smallest(spread: float) -> float | None:
    """The difference found 8 times in 10 by a test at 5 %, from the spread that chance alone gives."""
    effect = POWER_AND_LEVEL * spread
    return effect if 0 < effect <= 1 else None

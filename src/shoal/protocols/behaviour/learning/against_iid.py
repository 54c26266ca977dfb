"""Each row of a behavioural-learning table against the model trained on i.i.d. data only.

`docs/method/beluga.md` 1.9, `docs/method/beyond.md` 7.3 to 7.5.

    score       test                                              with several seeds
    iid score   exact sign test                                   sign flips of a case's outcomes in all runs together
    G           cases exchanged between the two at random,        a case is exchanged with its outcomes in all runs
                the i.i.d. exchanges shared by the scenarios

Both tests speak of new cases for these runs. What speaks of the recipe is the interval of the difference, which knows
how the runs differ: five pairs of runs exchanged as wholes could never give a p below 1/16. Its level is that of one
row; a mark counts for the recipe only where the p of that interval holds for the whole table too. Two seeds say next to
nothing of that: then the interval is for these runs as well.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ....claims import ALPHA, POWER
from ....records import Measure
from ....stats.generalization import (
    DIFFERENCE,
    ESTIMABLE_SEEDS,
    Draws,
    Estimate,
    draw_functionalities,
    estimate,
    exchange_test,
)
from ....stats.intervals import paired_t, wilson
from ....stats.multiplicity import holm, holm_level
from ....stats.paired import generalization_score, sign_flip_test, sign_test, smallest_sign_flip_p
from ....stats.power import smallest_difference, smallest_mean_difference
from ....stats.resampling import paired_table
from ....stats.seeds import SeedError, composed, composed_p, error_of_mean
from ..settings import Settings
from .notes import NO_EFFECT, with_facts
from .trainings import HOLD_OUTS, Floats, Scenario

NEW_FUNCTIONALITIES = "new functionalities"
PAIRED = "paired t, two clusters added"
FIXED, RANDOM = "cluster bootstrap", "functionalities and cases bootstrap"
OVER_SEEDS, THESE_RUNS = ", t over seeds", ", these runs"
RECIPE_P, DRAWN_P = "adjusted p over seeds", "adjusted p over functionalities"
"""Facts of a difference: the p of its interval, adjusted over the table, where that knows the seeds (and the draw of
functionalities, if they are a sample), or the draw alone."""
ONE_OF_SEVERAL = "one of several seeds"
"""A fact of a difference of one seed: how many another row is compared on."""
SAMPLED = "both on"
"""A fact of a difference on functionalities that were drawn: how many."""


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
    smallest: Callable[[float], float | None]
    """The smallest difference found 8 times in 10 by a test at a level; None where none could be."""
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
        smallest = partial(smallest_difference, n, (gained + lost) / n)
    else:
        p = sign_flip_test(flips, np.random.default_rng(settings.seed), settings.shuffles)
        test = f"sign flips of each case's outcomes in {seeds} runs"
        squares = float(flips @ flips) / seeds**2 or n * wilson(0, n)[1]
        smallest = partial(_smallest, math.sqrt(squares) / n, n)
    difference = _iid_difference(new[known], old[known])
    groups = {"score": "iid score", **scenario.groups}
    yield Contest(
        groups, n, difference, PAIRED, None, seeds, p, test, smallest, _unequal(scenario, base, ours)
    )


def _iid_difference(new: Floats, old: Floats) -> Estimate:
    """Mean over seeds, with a t interval over cases and, for several seeds, over those too."""
    by_seed = (new - old).mean(axis=0)
    value, seeds = math.fsum(by_seed) / len(by_seed), len(by_seed)
    over_cases = paired_t([paired_table(new.mean(axis=1), old.mean(axis=1))])
    error = error_of_mean(by_seed) if seeds >= ESTIMABLE_SEEDS else SeedError()
    low, high = composed(value, over_cases.interval, error)
    p = composed_p(value, over_cases.interval, error)
    return Estimate(value, (max(-1.0, low), min(1.0, high)), p=p)


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
    drawn = {SAMPLED: len(draws.suite)} if population else {}
    runs = f", each with its {len(ours)} runs" if len(ours) > 1 else ""
    units = draws.pair.iid.clusters + sum(table.clusters for table in draws.pair.suite)
    yield Contest(
        {"score": "G", **scenario.groups},
        units,
        estimate(draws, generalization_score, DIFFERENCE, population=population),
        FIXED,
        estimate(anew, generalization_score, DIFFERENCE),
        len(ours),
        float(shuffled.p[0]),
        f"randomisation: {settings.shuffles:,} exchanges of {unit}{runs}",
        partial(_smallest, float(np.nanstd(shuffled.shuffled)), units),
        _unequal(scenario, base, ours) | drawn,
        shuffled.shuffled[:, 0],
    )


def contest_measures(tests: Sequence[Contest], shuffles: int) -> Iterator[Measure]:
    """Each test as measures, p adjusted over all of them: the family is the table (`docs/method/beyond.md` 7.5)."""
    if not tests:
        return
    family: dict[str, Any] = {"adjustment": "Holm", "tests": len(tests)}
    if len(tests) / (shuffles + 1) > ALPHA:
        family["too few shuffles"] = shuffles
    raw, most = [test.p for test in tests], max(test.seeds for test in tests)
    level = holm_level(raw)
    over_recipe = holm([_recipe_p(test) for test in tests]).tolist()
    for test, adjusted, recipe in zip(tests, holm(raw).tolist(), over_recipe, strict=True):
        of = {"of": test.groups["score"]}
        difference = Measure("difference", test.difference.value, test.n, test.groups)
        over = RECIPE_P if test.seeds >= ESTIMABLE_SEEDS else DRAWN_P
        held: dict[str, Any] = {over: recipe} if _reaches_further(test) else {}
        held |= {ONE_OF_SEVERAL: most} if test.seeds == 1 < most else {}
        difference = with_facts(difference, {**of, **test.facts, "runs": test.seeds, **held})
        yield with_interval(difference, test.difference, test.method, test.seeds)
        if test.anew:
            new = replace(difference, groups={**test.groups, "estimand": NEW_FUNCTIONALITIES})
            yield with_interval(new, test.anew, RANDOM, test.seeds)
        yield with_facts(Measure("p value", test.p, test.n, test.groups), {"test": test.test})
        yield with_facts(Measure("adjusted p value", adjusted, test.n, test.groups), family)
        smallest = test.smallest(level)
        reach = {"power": POWER, "level": level} if smallest is not None else {"undefined": NO_EFFECT}
        yield with_facts(Measure("minimum detectable effect", smallest, test.n, test.groups), of | reach)


def _recipe_p(test: Contest) -> float:
    """Of new seeds and of all functionalities as well, where the interval tells of those."""
    of_interval = test.difference.p if _reaches_further(test) else None
    return test.p if of_interval is None else of_interval


def _reaches_further(test: Contest) -> bool:
    """Whether the interval of a difference knows more than its test, which speaks of new cases only."""
    return test.seeds >= ESTIMABLE_SEEDS or SAMPLED in test.facts


def with_interval(row: Measure, figure: Estimate, method: str, seeds: int) -> Measure:
    """A measure with an estimate's interval, and what part of its variance is due to seeds."""
    named = method + over_seeds(seeds)
    row = replace(row, interval=figure.interval, interval_method=named if figure.interval else "")
    facts: dict[str, Any] = {} if figure.seed_share is None else {"seed share": figure.seed_share}
    return with_facts(row, facts | for_these_runs(seeds))


def over_seeds(seeds: int) -> str:
    """How the seeds enter an interval, in the words of its method."""
    return OVER_SEEDS if seeds >= ESTIMABLE_SEEDS else THESE_RUNS if seeds > 1 else ""


def for_these_runs(seeds: int) -> dict[str, Any]:
    """The fact of an interval that is not about the recipe, though there are several seeds."""
    return {"interval for these runs": seeds} if 1 < seeds < ESTIMABLE_SEEDS else {}


def _unequal(scenario: Scenario, base: Scenario, ours: Sequence[int]) -> dict[str, Any]:
    """How many seeds are compared, where one of the two has more."""
    return {} if len(ours) == len(scenario.seeds) == len(base.seeds) else {"common seeds": len(ours)}


def _smallest(spread: float, units: int, alpha: float) -> float | None:
    """The difference found 8 times in 10 at a level, from the spread that chance alone gives; None if none could be."""
    return (
        smallest_mean_difference(spread, units - 1, alpha) if smallest_sign_flip_p(units) <= alpha else None
    )

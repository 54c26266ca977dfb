"""Level and power of `try`, `compare` and `gate`, simulated where the truth is known.

    python benchmarks/level_and_power.py                   print the tables from the stored counts
    python benchmarks/level_and_power.py --run             simulate everything again (about 20 minutes of one core)
    python benchmarks/level_and_power.py --run gates mde   simulate only these parts again

The claim is the default one: new cases from the same templates. Every template has its own pass rate, and the cases of
a template are independent draws. The functions behind the verbs run on the outcomes; `tests/test_promises.py` checks
that the command line prints the same numbers. Each test runs next to a textbook test written here, on the same draws:
the exact sign test for one run a side, Welch's t test for several, both with Holm's correction.

Repetition k of a world is seeded with the world's name and k, so counts do not depend on the order of the worlds.
"""

import argparse
import csv
import math
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special, stats

from shoal import Case, Measures, Outcome, Result
from shoal.comparing.gate import judge
from shoal.comparing.pairs import Choices, Comparison, compare
from shoal.comparing.power import plan_size
from shoal.comparing.rules import Rule
from shoal.core.errors import PlanError
from shoal.core.records import Answer, Answers
from shoal.protocols import bias, cood, merge
from shoal.protocols.base import Built
from shoal.protocols.behaviour.score import measure
from shoal.protocols.cood.grid import CELLS, KINDS, target
from shoal.runs.settings import make_settings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

STUDY = Path(__file__).parents[1] / "docs" / "studies"
COUNTS = STUDY / "coverage" / "level-and-power.csv"

TEMPLATES = (2, 3, 5, 8, 20)
SIZES = (20, 81, 200, 500)
DROPS = (0.0, 0.05, 0.10, 0.20, 0.50, 0.96)
SPREADS = ("even", "uneven")
RUN_SD = 0.25
"""Standard deviation of a run on the logit scale: five points at a rate of .7."""
QUICK = Choices(shuffles=1000, power=False)
LEVELS = ("overall", "capability", "test type", "functionality")


@dataclass(frozen=True)
class Count:
    """How often something happened in one world."""

    part: str
    world: str
    what: str
    bound: str
    """The promise: "<= 5", ">= 95", "75 to 90", "= 0", "= 100", "by hand ± 5", or empty for information."""
    functionalities: int = 1
    cases: int = 0
    templates: int = 0
    runs: int = 1
    drop: float = 0.0
    spread: str = ""
    held: int = 0
    repetitions: int = 0
    by_hand: int | None = None


# Suites, results and draws


class Suite:
    """The cases of a suite, with both outcomes of each case made once."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.outcomes = [(Outcome(case.id, False), Outcome(case.id, True)) for case in cases]
        self.measures = Measures(measure(cases, [passed for _, passed in self.outcomes]))

    def result(self, hits: Bools, *, scored: bool = False) -> Result:
        """Return a result; `compare` reads only the names of its measures, gates need their values (`scored`)."""
        outcomes = [both[hit] for both, hit in zip(self.outcomes, hits.ravel().tolist(), strict=True)]
        measures = Measures(measure(self.cases, outcomes)) if scored else self.measures
        return Result({"model": "m"}, self.cases, outcomes, measures)


@lru_cache(maxsize=64)
def suite(functionalities: int, cases: int, templates: int, per_capability: int = 6) -> Suite:
    """Return a suite whose functionalities have equally large templates of their own."""
    return Suite(
        [
            Case(
                f"f{f}/{n}",
                ((f"text {f} {n}",),),
                None,
                {"functionality": f"f{f}", "capability": f"c{f // per_capability}", "test type": "MFT"},
                f"f{f} t{n % templates}" if templates else "",
            )
            for f in range(functionalities)
            for n in range(cases)
        ]
    )


def with_mean(shares: Floats, mean: float | Floats) -> Floats:
    """Return the shares shifted on the logit scale, row by row, until each row has this mean."""
    logits = special.logit(np.clip(shares, 1e-9, 1 - 1e-9))
    low, high = np.full(len(logits), -30.0), np.full(len(logits), 30.0)
    for _ in range(40):
        middle = (low + high) / 2
        below = special.expit(logits + middle[:, None]).mean(axis=1) < mean
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    shifted: Floats = special.expit(logits + low[:, None])
    return shifted


def template_rates(rows: int, cases: int, templates: int, mean: float, rng: Generator) -> Floats:
    """Return the pass rate of each case, (rows, cases): that of its template; the mean of a row is `mean`."""
    if not 0 < mean < 1:
        return np.full((rows, cases), mean)
    effects = rng.normal(0, 0.7, (rows, templates))[:, np.arange(cases) % templates]
    return with_mean(special.expit(effects), mean)


def drops_of(drop: float, spread: str, cases: int, templates: int) -> Floats:
    """Return how much worse B is on each case, by its template.

    Even: the same everywhere. Uneven: the drop fills one template, then the next, up to 96 points each. An uneven drop
    of 0 makes one template worse by 20 points and another better by as much.
    """
    if spread == "even":
        return np.full(cases, drop)
    sizes = np.bincount(np.arange(cases) % templates, minlength=templates)
    by_template, left = np.zeros(templates), drop * cases
    if not drop:
        by_template[0], by_template[1] = 0.2, -0.2 * sizes[0] / sizes[1]
    for template in range(templates):
        if left > 1e-9:
            by_template[template] = min(left / sizes[template], 0.96)
            left -= by_template[template] * sizes[template]
    each: Floats = by_template[np.arange(cases) % templates]
    return each


def paired(
    rows: int, cases: int, templates: int, drops: Floats, churn: float, rate: float, rng: Generator
) -> tuple[Bools, Bools]:
    """Return the outcomes of A and B, (rows, cases) each; `drops` is (rows, cases) or (cases,).

    A passes at `rate`. A share `churn` of the cases changes anyway, half of them each way, in some templates more
    often than in others.
    """
    weights = rng.exponential(1.0, (rows, templates))[:, np.arange(cases) % templates]
    weights = np.minimum(weights / weights.mean(axis=1, keepdims=True), 2.0)
    room = np.minimum(churn * weights, 1 - np.abs(np.broadcast_to(drops, (rows, cases))))
    fails = np.maximum(drops, 0) + room / 2
    fixed = np.maximum(-drops, 0) + room / 2
    kept = np.clip((rate - fails.mean()) / max(1e-9, 1 - fails.mean() - fixed.mean()), 0, 1)
    both = template_rates(rows, cases, templates, float(kept), rng)
    drawn = rng.random((rows, cases))
    newly_failing, newly_fixed = drawn < fails, (drawn >= fails) & (drawn < fails + fixed)
    unchanged = rng.random((rows, cases)) < both
    return newly_failing | (~newly_fixed & unchanged), newly_fixed | (~newly_failing & unchanged)


def runs_of(
    rows: int,
    cases: int,
    templates: int,
    drops: Floats,
    runs: tuple[int, int],
    rate: float,
    rng: Generator,
    own_sd: Floats | None = None,
) -> tuple[Bools, Bools]:
    """Return the outcomes of several runs a side, (runs, rows, cases) each, on cases of different difficulty.

    A run shifts all rows alike. With `own_sd` it shifts each row by itself instead, by that standard deviation.
    """
    easy = special.expit(
        special.logit(template_rates(rows, cases, templates, rate, rng)) + rng.normal(0, 1, (rows, cases))
    )
    worse = np.clip(easy * (1 - np.clip(drops / rate, -1, 1)), 1e-9, 1 - 1e-9)
    if (drops != 0).any() and abs(
        drops.sum()
    ) < 1e-9:  # changes by template that must leave the mean as it is
        worse = with_mean(worse, easy.mean(axis=1))
    sides = []
    for chance, number in zip((easy, worse), runs, strict=True):
        shifts = rng.normal(0, RUN_SD, (number, 1, 1))
        if own_sd is not None:
            shifts = rng.normal(0, 1, (number, rows, 1)) * own_sd[:, None]
        sides.append(rng.random((number, rows, cases)) < special.expit(special.logit(chance) + shifts))
    return sides[0], sides[1]


# Textbook tests, independent of shoal


def holm(p: Floats) -> Floats:
    """Return Holm's adjusted p values."""
    order = np.argsort(p)
    steps = np.minimum(1, p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def sign_tests(a: Bools, b: Bools) -> Floats:
    """Return the exact two-sided sign test of each row, adjusted by Holm."""
    lost, fixed = (a & ~b).sum(axis=1), (b & ~a).sum(axis=1)
    return holm(np.minimum(1, 2 * stats.binom.cdf(np.minimum(lost, fixed), lost + fixed, 0.5)))


def welch_tests(a: Bools, b: Bools) -> Floats:
    """Return Welch's t test over runs of each row, adjusted by Holm; p = 1 where no run varies."""
    with np.errstate(all="ignore"):
        p = stats.ttest_ind(a.mean(axis=2), b.mean(axis=2), equal_var=False, axis=0).pvalue
    varies = a.mean(axis=2).std(axis=0) + b.mean(axis=2).std(axis=0) > 1e-12
    return holm(np.where(varies, np.nan_to_num(p, nan=1.0), 1.0))


# Counting


class Tally:
    """Counts of one part, world by world."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.rows: dict[Count, list[int | None]] = {}

    def add(self, key: Count, held: bool, by_hand: bool | None = None) -> None:
        row = self.rows.setdefault(replace(key, part=self.part), [0, 0, None if by_hand is None else 0])
        row[0] = (row[0] or 0) + bool(held)
        row[1] = (row[1] or 0) + 1
        if by_hand is not None:
            row[2] = (row[2] or 0) + bool(by_hand)

    def counts(self) -> list[Count]:
        return [
            replace(key, held=row[0] or 0, repetitions=row[1] or 0, by_hand=row[2])
            for key, row in self.rows.items()
        ]


def generator(*names: object) -> Generator:
    """Return the generator of one repetition of a world."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def covers(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def marked(comparison: Comparison, level: str) -> bool:
    return any(row.significant for row in comparison.by("" if level == "overall" else level))


# Part 1: marks of `compare`, level and power


def marks(tally: Tally) -> None:
    """Count marks of one run a side, with and without a drop in the first functionality."""
    for functionalities, cases, templates, spread, drop in _grid():
        times = _times(functionalities, cases, drop)
        for number in range(times):
            _one_run(tally, functionalities, cases, templates, spread, drop, number)


OWN_SD = {
    "runs differ by functionality": np.full(23, 0.3),
    "some functionalities vary ten times as much": np.geomspace(0.1, 1.0, 23),
    "one functionality varies five times as much": np.array([1.0] + [0.2] * 22),
}
"""Standard deviations of runs, a row each, on the logit scale."""


def marks_of_runs(tally: Tally) -> None:
    """Count marks of several runs a side, with and without a drop in the first functionality."""
    for functionalities, cases, templates, spread, drop in _grid(sizes=(20, 81)):
        for runs in (2, 3, 4, 5):
            times = (100 if drop == 0 else 8) if functionalities == 1 else (8 if drop == 0 else 2)
            for number in range(times):
                _several_runs(tally, functionalities, cases, templates, spread, drop, runs, number)
    for world in OWN_SD:
        for sides in ((2, 2), (3, 3), (5, 5), (2, 5)):
            for cases in (20, 81):
                for number in range(60):
                    _own_runs(tally, world, cases, sides, number)


def _own_runs(tally: Tally, world: str, cases: int, runs: tuple[int, int], number: int) -> None:
    """Compare recipes whose runs move each functionality by itself."""
    rng, tests = generator("own runs", world, cases, runs, number), suite(23, cases, 5)
    a, b = runs_of(23, cases, 5, np.zeros((23, cases)), runs, 0.8, rng, OWN_SD[world])
    comparison = compare([tests.result(hits) for hits in a], [tests.result(hits) for hits in b], QUICK)
    key = Count("", f"{world}, {runs[0]} against {runs[1]} runs", "", "<= 5", 23, cases, 5, max(runs))
    what = "equal models, any mark at level functionality"
    tally.add(
        replace(key, what=what), marked(comparison, "functionality"), bool((welch_tests(a, b) <= 0.05).any())
    )


def _grid(sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, int, int, str, float]]:
    for functionalities in (1, 23):
        for cases in sizes:
            for templates in TEMPLATES:
                for spread in SPREADS:
                    for drop in DROPS:
                        yield functionalities, cases, templates, spread, drop


def _times(functionalities: int, cases: int, drop: float) -> int:
    if functionalities == 1:
        return 200 if drop == 0 else 60
    return (30 if cases < 100 else 16) if drop == 0 else {500: 16, 200: 4}.get(cases, 6)


CHURN = {"few changes": (0.04, 0.96), "many changes": (0.3, 0.7)}
"""The share of cases that changes anyway, and the pass rate of A."""


def _one_run(
    tally: Tally, functionalities: int, cases: int, templates: int, spread: str, drop: float, number: int
) -> None:
    rng = generator("one run", functionalities, cases, templates, spread, drop, number)
    # Equal models alternate between the two amounts of change; a drop is planted into the first.
    name = list(CHURN)[number % 2 if drop == 0 else 0]
    churn, rate = CHURN[name]
    planted = np.zeros((functionalities, cases))
    planted[0] = drops_of(drop, spread, cases, templates)
    a, b = paired(functionalities, cases, templates, planted, churn, rate, rng)
    tests = suite(functionalities, cases, templates)
    comparison = compare([tests.result(a)], [tests.result(b)], QUICK)
    key = Count("", "one run a side", "", "", functionalities, cases, templates, 1, drop, spread)
    _count_marks(tally, key, comparison, sign_tests(a, b), drop)


def _several_runs(
    tally: Tally, functionalities: int, cases: int, templates: int, spread: str, drop: float, runs: int,
    number: int,
) -> None:  # fmt: skip
    rng = generator("runs", functionalities, cases, templates, spread, drop, runs, number)
    planted = np.zeros((functionalities, cases))
    planted[0] = drops_of(drop, spread, cases, templates)
    rate = 0.96 if drop else 0.8
    a, b = runs_of(functionalities, cases, templates, planted, (runs, runs), rate, rng)
    tests = suite(functionalities, cases, templates)
    comparison = compare([tests.result(hits) for hits in a], [tests.result(hits) for hits in b], QUICK)
    key = Count("", "several runs a side", "", "", functionalities, cases, templates, runs, drop, spread)
    _count_marks(tally, key, comparison, welch_tests(a, b), drop)


def _count_marks(tally: Tally, key: Count, comparison: Comparison, by_hand: Floats, drop: float) -> None:
    rows = {row.name: row for row in comparison.by("functionality")}
    if drop == 0:
        for level in LEVELS:
            what = f"equal models, any mark at level {level}"
            hand = bool((by_hand <= 0.05).any()) if level == "functionality" else None
            tally.add(replace(key, what=what, bound="<= 5"), marked(comparison, level), hand)
        anywhere = any(row.significant for row in comparison.rows)
        tally.add(replace(key, what="equal models, any mark in the table"), anywhere)
    else:
        row = rows["f0"]
        found = row.significant and not row.is_better
        tally.add(
            replace(key, what="the drop is marked", bound="by hand ± 5"), found, bool(by_hand[0] <= 0.05)
        )
        if len(rows) > 1:
            false = any(row.significant for name, row in rows.items() if name != "f0")
            hand = bool((by_hand[1:] <= 0.05).any())
            tally.add(
                replace(key, what="another functionality is marked beside it", bound="<= 5"), false, hand
            )
    if key.runs == 1:
        what = "interval of a difference covers"
        tally.add(replace(key, what=what, bound=">= 95"), covers(rows["f0"].interval, -drop))
        pooled = -drop / len(rows)
        what = "interval of the difference of suite scores covers"
        tally.add(replace(key, what=what, bound=">= 95"), covers(comparison.headline.interval, pooled))


# Part 2: minimum detectable drop


def mde(tally: Tally) -> None:
    """Print the minimum detectable drop of a pilot, plant a drop of that size, and count how often it is marked."""
    for functionalities, cases, pilots in (
        (1, 20, 60),
        (1, 81, 60),
        (1, 500, 30),
        (23, 20, 12),
        (23, 81, 12),
    ):
        for churn, rate in CHURN.values():
            key = Count("", f"churn {churn:g}", "", "75 to 90", functionalities, cases, 5)
            for number in range(pilots):
                _detectable(tally, key, churn, rate, number)
    for churn, rate in CHURN.values():
        for number in range(80):
            _planned(tally, churn, rate, number)
    for functionalities, cases, runs in ((1, 81, 3), (1, 81, 5), (23, 81, 5)):
        key = Count("", f"{runs} runs a side", "", "75 to 90", functionalities, cases, 5, runs)
        for number in range(60 if functionalities == 1 else 20):
            _detectable_by_runs(tally, key, number)


def _planned(tally: Tally, churn: float, rate: float, number: int) -> None:
    """Ask `plan-size` for a drop of ten points from a pilot of 81 cases, and compare at the size that it names."""
    rng = generator("plan-size", churn, number)

    def drawn(cases: int, drop: float) -> tuple[Result, Result]:
        uniform, both = rng.random(cases), rng.random(cases) < rate
        lost, won = uniform < drop + churn / 2, uniform > 1 - churn / 2
        tests = suite(1, cases, 5)
        return tests.result(lost | (~won & both)), tests.result(won | (~lost & both))

    old, new = drawn(81, 0.0)
    needed = plan_size(old, new, 0.1, row="f0").needed or 1
    for _ in range(5):
        before, after = drawn(needed, 0.1)
        row = compare([before], [after], QUICK).by("functionality")[0]
        what = "a drop of 10 points is marked at the number of cases that plan-size names"
        tally.add(Count("", f"churn {churn:g}", what, "75 to 90", 1, 81, 5), row.significant)


def _detectable(tally: Tally, key: Count, churn: float, rate: float, number: int) -> None:
    rng = generator("mde", key, number)
    shape = (key.functionalities, key.cases)
    tests = suite(*shape, key.templates)

    def drawn(drops: Floats, choices: Choices) -> Comparison:
        # Homogeneous churn: the printed number is for a drop spread evenly over cases.
        fails, fixed = drops + churn / 2, churn / 2
        uniform = rng.random(shape)
        lost, won = uniform < fails, (uniform >= fails) & (uniform < fails + fixed)
        both = rng.random(shape) < rate
        a, b = lost | (~won & both), won | (~lost & both)
        return compare([tests.result(a)], [tests.result(b)], choices)

    pilot = drawn(np.zeros(shape), Choices(shuffles=1000))
    fine, whole = pilot.detectable("functionality"), pilot.by("")[0].mde
    for _ in range(10):
        if fine is not None and fine + churn <= 1:
            drops = np.zeros(shape)
            drops[0] = fine
            row = drawn(drops, QUICK).by("functionality")[0]
            what = "a drop as large as the minimum detectable drop of a functionality is marked"
            tally.add(replace(key, what=what), row.significant and not row.is_better)
        if whole is not None and whole + churn <= 1 and key.functionalities > 1:
            row = drawn(np.full(shape, whole), QUICK).by("")[0]
            what = "a drop as large as the overall minimum detectable drop is marked"
            tally.add(replace(key, what=what), row.significant and not row.is_better)


def _detectable_by_runs(tally: Tally, key: Count, number: int) -> None:
    rng = generator("mde", key, number)
    shape = (key.functionalities, key.cases)
    tests = suite(*shape, key.templates)
    easy = special.expit(special.logit(np.full(shape, 0.8)) + rng.normal(0, 1, shape))

    def drawn(chance: Floats, choices: Choices) -> Comparison:
        sides = []
        for share in (easy, chance):
            shifts = rng.normal(0, RUN_SD, (key.runs, 1, 1))
            hits = rng.random((key.runs, *shape)) < special.expit(special.logit(share) + shifts)
            sides.append([tests.result(each) for each in hits])
        return compare(sides[0], sides[1], choices)

    fine = drawn(easy, Choices(shuffles=1000)).detectable("functionality")
    if fine is None or fine >= float(easy[0].mean()) - 0.02:
        return
    worse = easy.copy()
    worse[0] = with_mean(easy[:1], float(easy[0].mean()) - fine)[0]
    for _ in range(4):
        row = drawn(worse, QUICK).by("functionality")[0]
        what = "a drop as large as the minimum detectable drop of a functionality is marked"
        tally.add(replace(key, what=what), row.significant and not row.is_better)


# Part 3: gates


NAMED, EVERY = {"functionality": "f0"}, {"functionality": "*"}
JUDGES: tuple[Any, ...] = ("observed", "lower bound", "upper bound")


def gates(tally: Tally) -> None:
    """Count wrong verdicts and missed failures of every kind of rule."""
    for cases in SIZES:
        for templates in TEMPLATES:
            for number in range(3):
                _collapse(tally, cases, templates, number)
    for cases in (20, 81, 200):
        for number in range(1200):
            _at_the_limit(tally, cases, TEMPLATES[number % len(TEMPLATES)], number)
        for number in range(200):
            _regressions(tally, cases, TEMPLATES[number % len(TEMPLATES)], number)


def is_met(rule: Rule, new: Result, old: Result | None = None) -> bool:
    return all(verdict.is_met for verdict in judge([rule], new, old))


def _collapse(tally: Tally, cases: int, templates: int, number: int) -> None:
    """Drop the first of five functionalities from 96 % to 0: every rule fails, and `compare` marks it."""
    rng = generator("collapse", cases, templates, number)
    tests = suite(5, cases, templates)
    a, b = paired(5, cases, templates, np.zeros((5, cases)), 0.04, 0.96, rng)
    a[0] = np.arange(cases) >= round(0.04 * cases)
    b[0] = False
    old, new = (tests.result(hits, scored=True) for hits in (a, b))
    key = Count("", "96 to 0", "", "= 100", 5, cases, templates, 1, 0.96)
    for how in JUDGES:
        for groups, what in ((NAMED, "one functionality"), (EVERY, "every functionality")):
            absolute = Rule(groups, at_least=0.5, judge=how)
            relative = Rule(groups, no_worse_than_baseline_by=0.02, judge=how)
            tally.add(replace(key, what=f"{what}, at_least, {how}: fails"), not is_met(absolute, new))
            tally.add(replace(key, what=f"{what}, baseline, {how}: fails"), not is_met(relative, new, old))
    row = compare([old], [new], QUICK).by("functionality")[0]
    tally.add(replace(key, what="compare marks it"), row.significant and not row.is_better)


def _at_the_limit(tally: Tally, cases: int, templates: int, number: int) -> None:
    """Judge one functionality just below, at, and 20 points below its limit."""
    limit = (0.8, 0.9, 0.95)[number % 3]
    rng = generator("limit", cases, templates, number)
    tests = suite(1, cases, templates)
    key = Count("", f"limit {limit:g}", "", "", 1, cases)
    for rate, how, what, bound in (
        (limit - 0.001, "lower bound", "just below the limit, passes", "<= 2.5"),
        (limit, "upper bound", "at the limit, fails", "<= 2.5"),
        (limit - 0.2, "upper bound", "20 points below the limit, fails", "by hand ± 5"),
        (1 - (1 - limit) / 4, "lower bound", "a quarter of the allowed failures, passes", "by hand ± 5"),
    ):
        hits = rng.random(cases) < template_rates(1, cases, templates, rate, rng)[0]
        rule = Rule(EVERY if how == "lower bound" else NAMED, at_least=limit, judge=how)  # type: ignore[arg-type]
        met = is_met(rule, tests.result(hits, scored=True))
        # By hand: exact one-sided binomial test at 2.5 %.
        count, against = int(hits.sum()), how == "upper bound"
        p = stats.binom.cdf(count, cases, limit) if against else stats.binom.sf(count - 1, cases, limit)
        by_hand = bool(p <= 0.025)
        tally.add(replace(key, what=what, bound=bound), (not met) if against else met, by_hand)


def _regressions(tally: Tally, cases: int, templates: int, number: int) -> None:
    """Judge 23 functionalities against a baseline: equal models, and one that is worse."""
    rng = generator("regressions", cases, templates, number)
    tests = suite(23, cases, templates)
    name = list(CHURN)[number % 2]
    churn, rate = CHURN[name]
    key = Count("", name, "", "", 23, cases)
    a, b = paired(23, cases, templates, np.zeros((23, cases)), churn, rate, rng)
    old, new = tests.result(a, scored=True), tests.result(b, scored=True)
    for margin in (0.0, 0.02):
        rule = Rule(EVERY, no_worse_than_baseline_by=margin, judge="upper bound")
        what = f'equal models, "*" with no_worse_than_baseline_by = {margin:g}, upper bound: fails'
        tally.add(replace(key, what=what, bound="<= 5"), not is_met(rule, new, old))
    absolute = Rule(EVERY, at_least=rate, judge="upper bound")
    what = 'every rate at its limit, "*" with at_least, upper bound: fails'
    tally.add(replace(key, what=what, bound="<= 5"), not is_met(absolute, new))
    if cases > 100:
        return
    planted = np.zeros((23, cases))
    planted[0] = 0.2
    c, d = paired(23, cases, templates, planted, churn, rate, rng)
    rule = Rule(EVERY, no_worse_than_baseline_by=0.0, judge="upper bound")
    verdicts = judge([rule], tests.result(d, scored=True), tests.result(c, scored=True))
    failed = {verdict.name for verdict in verdicts if not verdict.is_met}
    lost, fixed = (c & ~d).sum(axis=1), (d & ~c).sum(axis=1)
    one_sided = holm(stats.binom.cdf(fixed, lost + fixed, 0.5))
    what = '20 points worse in one of 23, "*" with no_worse_than_baseline_by = 0, upper bound: that one fails'
    tally.add(
        replace(key, what=what, bound="by hand ± 5", drop=0.2), "f0" in failed, bool(one_sided[0] <= 0.05)
    )


# Part 4: margins


def margins(tally: Tally) -> None:
    """Count how often a model that is worse by the margin passes a `lower bound` rule."""
    for cases in SIZES:
        for margin in (0.05, 0.1):
            for number in range(400):
                _by_the_margin(tally, cases, TEMPLATES[number % len(TEMPLATES)], margin, number)


def _by_the_margin(tally: Tally, cases: int, templates: int, margin: float, number: int) -> None:
    rng = generator("margin", cases, templates, margin, number)
    name, spread = list(CHURN)[number % 2], SPREADS[number // 2 % 2]
    churn, rate = CHURN[name]
    drops = drops_of(margin, spread, cases, templates)[None]
    a, b = paired(1, cases, templates, drops, churn, rate, rng)
    tests = suite(1, cases, templates)
    old, new = tests.result(a), tests.result(b)
    key = Count("", f"margin {margin:g}", "", "<= 2.5", 1, cases, 0, 1, margin)
    rule = Rule(EVERY, no_worse_than_baseline_by=margin, judge="lower bound")
    what = "worse by the margin, passes no_worse_than_baseline_by with lower bound"
    tally.add(replace(key, what=what), is_met(rule, new, old))


# Part 5: the number of templates changes nothing


def invariance(tally: Tally) -> None:
    """Give the same outcomes other templates: every number and every verdict stays the same."""
    rules = [
        rule
        for groups in (NAMED, EVERY, {})
        for how in JUDGES
        for rule in (
            Rule(groups, at_least=0.5, judge=how),
            Rule(groups, at_least=0.9, judge=how),
            Rule(groups, no_worse_than_baseline_by=0.02, judge=how),
        )
    ]
    for cases in (20, 60, 81):
        for number in range(8):
            rng = generator("invariance", cases, number)
            planted = np.zeros((5, cases))
            planted[0] = (0.0, 0.1, 0.5, 0.96)[number % 4]
            a, b = paired(5, cases, 5, planted, 0.04, 0.96, rng)
            reference: list[Any] = []
            for templates in (0, 1, *TEMPLATES):
                tests = suite(5, cases, templates)
                old, new = (tests.result(hits, scored=True) for hits in (a, b))
                rows = compare([old], [new], Choices(shuffles=1000)).rows
                numbers = [(row.interval, row.p, row.adjusted, row.mde) for row in rows]
                verdicts = [_verdicts(rule, new, old) for rule in rules]
                found = [numbers, verdicts]
                reference = reference or found
                key = Count("", "same outcomes", "", "= 0", 5, cases, templates)
                if templates:
                    tally.add(replace(key, what="a number of compare differs"), found[0] != reference[0])
                    tally.add(replace(key, what="a verdict of gate differs"), found[1] != reference[1])


def _verdicts(rule: Rule, new: Result, old: Result) -> object:
    """Return the verdicts of a rule, or the error of a rule that cannot be decided at this size."""
    try:
        return [(verdict.status, verdict.judged) for verdict in judge([rule], new, old)]
    except PlanError as problem:
        return str(problem)


# Part 6: intervals of rates and means


def intervals(tally: Tally) -> None:
    """Count how often the intervals of `try` cover the rate that new cases of the same templates have."""
    for cases in SIZES:
        for templates in TEMPLATES:
            for rate in (0.5, 0.8, 0.95):
                for number in range(60):
                    rng = generator("rate", cases, templates, rate, number)
                    hits = rng.random(cases) < template_rates(1, cases, templates, rate, rng)[0]
                    rows = suite(1, cases, templates).result(hits, scored=True).measures
                    (row,) = rows.where("pass rate", functionality="f0")
                    key = Count("", f"rate {rate:g}", "pass rate", ">= 93", 1, cases, templates)
                    tally.add(key, covers(row.interval, rate))
    for functionalities, cases in ((23, 20), (23, 81), (40, 20)):
        for number in range(150):
            templates = TEMPLATES[number % len(TEMPLATES)]
            rng = generator("score", functionalities, cases, number)
            means = special.expit(rng.normal(1.5, 1.0, functionalities))
            chances = np.concatenate(
                [template_rates(1, cases, templates, float(mean), rng) for mean in means]
            )
            hits = rng.random(chances.shape) < chances
            rows = suite(functionalities, cases, templates).result(hits, scored=True).measures
            key = Count("", "rates of .5 to .95", "", ">= 93", functionalities, cases)
            (score,), plain = rows.where("suite score"), [m for m in rows.where("pass rate") if not m.groups]
            tally.add(replace(key, what="suite score"), covers(score.interval, float(means.mean())))
            tally.add(replace(key, what="plain pass rate"), covers(plain[0].interval, float(means.mean())))
            capability = rows.where("pass rate", capability="c0")
            (mean_row,) = [row for row in capability if "functionality" not in row.groups]
            tally.add(
                replace(key, what="mean over a capability"),
                covers(mean_row.interval, float(means[:6].mean())),
            )


# Part 7: `--over templates`


def over_templates(tally: Tally) -> None:
    """Draw new templates each time: level and coverage of `--over templates` from six templates on."""
    for templates, each in ((6, 10), (8, 10), (20, 5), (20, 20)):
        for number in range(300):
            rng = generator("over templates", templates, each, number)
            cases = templates * each
            tests = suite(3, cases, templates)
            easy = rng.normal(1.2, 0.8, (3, templates))
            # Templates differ between the models too; both have the same distribution over templates.
            sides = []
            for _ in range(2):
                logits = (easy + rng.normal(0, 0.8, easy.shape))[:, np.arange(cases) % templates]
                sides.append(rng.random((3, cases)) < special.expit(logits))
            choices = replace(QUICK, over="templates")
            comparison = compare([tests.result(sides[0])], [tests.result(sides[1])], choices)
            key = Count("", f"{templates} templates of {each}", "", "<= 5", 3, cases, templates)
            for level in ("overall", "functionality"):
                what = f"equal models, any mark at level {level}"
                tally.add(replace(key, what=what), marked(comparison, level))
            row = comparison.by("functionality")[0]
            what = "interval of a difference covers"
            tally.add(replace(key, what=what, bound=">= 93"), covers(row.interval, 0.0))
            truth = _mean_rate(1.2, math.hypot(0.8, 0.8))
            rows = tests.result(sides[0], scored=True).measures
            (rate,) = rows.where("pass rate", functionality="f0")
            interval = rate.facts.get("interval over templates")
            what = "interval of a rate covers"
            tally.add(replace(key, what=what, bound=">= 93"), covers(interval, truth))
            by_case = compare([tests.result(sides[0])], [tests.result(sides[1])], QUICK)
            what = "equal only over new templates: any mark by case at level functionality"
            tally.add(replace(key, what=what, bound=""), marked(by_case, "functionality"))


@lru_cache
def _mean_rate(mean: float, sd: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(special.expit(mean + sd * nodes) @ weights / weights.sum())


# Part 8: the same fillers in every template


def crossed(tally: Tally) -> None:
    """Fill every template with the same fillers, some of which are hard: what the default claim misses then."""
    for templates in (3, 5, 8):
        for fillers in (10, 20):
            for sd in (0.5, 1.0, 2.0):
                for number in range(250):
                    _crossed(tally, templates, fillers, sd, number)


def _crossed(tally: Tally, templates: int, fillers: int, sd: float, number: int) -> None:
    rng = generator("crossed", templates, fillers, sd, number)
    cases, position = templates * fillers, np.arange(templates * fillers)
    tests = suite(1, cases, templates)
    effects = rng.normal(0, 0.5, templates)
    key = Count("", f"fillers differ by {sd:g}", "", "", 1, cases, templates)

    def drawn(mean: float) -> tuple[Bools, float]:
        base = mean + effects
        filler = rng.normal(0, sd, fillers)
        logits = base[position % templates] + filler[position // templates]
        truth = float(np.mean([_mean_rate(float(value), sd) for value in base]))
        return rng.random(cases) < special.expit(logits), truth

    hits, truth = drawn(1.5)
    scored = tests.result(hits, scored=True)
    (row,) = scored.measures.where("pass rate", functionality="f0")
    tally.add(replace(key, what="interval of a rate covers", bound=">= 93"), covers(row.interval, truth))
    rule = Rule(EVERY, at_least=min(0.999, truth + 0.001), judge="lower bound")
    tally.add(
        replace(key, what="just below the limit, passes lower bound", bound="<= 2.5"), is_met(rule, scored)
    )
    # Two models that find different fillers hard, and are equal over new fillers.
    other, _ = drawn(1.5)
    comparison = compare([tests.result(hits)], [tests.result(other)], QUICK)
    what = "models with hard fillers of their own, equal over new fillers: marked"
    tally.add(replace(key, what=what, bound="<= 5"), marked(comparison, "functionality"))


# Part 9: other shapes


def shapes(tally: Tally) -> None:
    """Count marks of equal models in a large table, with few cases, unequal sizes, ties and unequal runs."""
    for cases, times in ((5, 120), (20, 120), (81, 60)):
        for number in range(times):
            rng = generator("forty", cases, number)
            templates = TEMPLATES[number % len(TEMPLATES)]
            churn, rate = list(CHURN.values())[number % 2]
            a, b = paired(40, cases, templates, np.zeros((40, cases)), churn, rate, rng)
            tests = suite(40, cases, templates)
            comparison = compare([tests.result(a)], [tests.result(b)], QUICK)
            key = Count("", "40 functionalities", "", "<= 5", 40, cases)
            for level in LEVELS:
                tally.add(
                    replace(key, what=f"equal models, any mark at level {level}"), marked(comparison, level)
                )
    for runs in ((1, 3), (1, 5), (2, 5), (3, 5), (2, 2), (3, 3), (5, 5)):
        for cases in (20, 80):
            for number in range(120):
                _few_runs(tally, cases, runs, number)


def _few_runs(tally: Tally, cases: int, runs: tuple[int, int], number: int) -> None:
    """Compare recipes whose runs differ or hardly differ (ties); one run against many is tested by case."""
    rng = generator("runs", cases, runs, number)
    tests = suite(3, cases, 5)
    a, b = runs_of(3, cases, 5, np.zeros((3, cases)), runs, 0.8, rng)
    tied = number % 2 == 1 and min(runs) > 1
    if tied:  # every run repeats the first but for a few cases
        a, b = (np.where(rng.random(side.shape) < 0.95, side[:1], side) for side in (a, b))
    comparison = compare([tests.result(hits) for hits in a], [tests.result(hits) for hits in b], QUICK)
    world = f"{runs[0]} against {runs[1]} runs" + (", runs nearly alike" if tied else "")
    # Runs that repeat each other are not independent draws of the recipe: for information only.
    key = Count("", world, "", "" if tied or 1 in runs else "<= 5", 3, cases, 5, max(runs))
    for level in ("overall", "functionality"):
        tally.add(replace(key, what=f"equal models, any mark at level {level}"), marked(comparison, level))


# Part 10: `compare` in other protocols


def protocols(tally: Tally) -> None:
    """Compare equal models on StereoSet, CrowS-Pairs, COOD and MERGE, whose units are terms, pairs, texts, premises."""
    for terms, each in ((8, 10), (20, 4), (40, 4)):
        for number in range(100):
            _stereoset(tally, terms, each, number)
    for pairs in (20, 80):
        for number in range(100):
            _crows(tally, pairs, number)
    for texts in (20, 80):
        for number in range(80):
            _cood(tally, texts, number)
    for problems in (20, 80):
        for number in range(80):
            _merge(tally, problems, number)


BIAS = {
    name: make_settings(bias.Settings, {"data": "example", "diagnostic": name}, "simulation")
    for name in ("crows", "stereoset")
}
COOD, MERGE = cood.Settings(), make_settings(merge.Settings, {"data": "example"}, "simulation")


def _scored(protocol: Any, settings: Any, cases: Sequence[Case], asks: Any, answers: Any) -> Result:
    scored = protocol.score(settings, Built(cases, None, asks), {"": answers})
    return Result(
        {"model": "m"},
        cases,
        scored.outcomes,
        Measures(scored.measures),
        columns=scored.columns,
        settings=settings,
    )


def _count_levels(tally: Tally, key: Count, a: Result, b: Result) -> None:
    comparison = compare([a], [b], QUICK)
    for level in dict.fromkeys(row.level for row in comparison.rows):
        what = f"equal models, any mark at level {level or 'overall'}"
        tally.add(replace(key, what=what, bound="<= 5"), marked(comparison, level or "overall"))
    what = "interval of the headline difference covers"
    tally.add(replace(key, what=what, bound=">= 93"), covers(comparison.headline.interval, 0.0))


def _preferences(scores: Iterable[tuple[float, ...]]) -> list[list[Answer]]:
    return [[Answer("", "tokens", {"score": score}) for score in each] for each in scores]


def _stereoset(tally: Tally, terms: int, each: int, number: int) -> None:
    """Draw how often each model prefers the stereotype of a term, alike for both."""
    rng = generator("stereoset", terms, each, number)
    owners = np.arange(terms * each) // each
    cases = [
        Case(
            str(n),
            tuple((f"BLANK {n}", f"{word} {n}") for word in "sau"),
            None,
            {
                "diagnostic": "stereoset",
                "task": "intrasentence",
                "category": ("race", "gender", "profession", "religion")[owner % 4],
                "target": f"t{owner}",
            },
            f"t{owner}",
        )
        for n, owner in enumerate(owners.tolist())
    ]
    sides = []
    for _ in range(2):
        prefers = rng.random(len(cases)) < rng.beta(6, 4, terms)[owners]
        scores = [(2.0, 1.0, 0.0) if prefer else (1.0, 2.0, 0.0) for prefer in prefers.tolist()]
        sides.append(_scored(bias, BIAS["stereoset"], cases, "tokens", _preferences(scores)))
    key = Count("", f"StereoSet, {terms} terms of {each}", "", "", terms, each)
    _count_levels(tally, key, sides[0], sides[1])


def _crows(tally: Tally, pairs: int, number: int) -> None:
    rng = generator("crows", pairs, number)
    cases = [
        Case(
            str(n),
            ((f"more {n}",), (f"less {n}",)),
            None,
            {"diagnostic": "crows", "category": f"c{n % 9}", "direction": "stereo"},
        )
        for n in range(9 * pairs)
    ]
    easy = rng.beta(3, 2, len(cases))
    sides = []
    for _ in range(2):
        prefers = rng.random(len(cases)) < easy
        scores = [(1.0, 0.0) if prefer else (0.0, 1.0) for prefer in prefers.tolist()]
        sides.append(_scored(bias, BIAS["crows"], cases, "tokens", _preferences(scores)))
    _count_levels(tally, Count("", "CrowS-Pairs, 9 categories", "", "", 9, pairs), sides[0], sides[1])


def _cood(tally: Tally, texts: int, number: int) -> None:
    """Draw answers that depend on the text: a model that misreads a text is wrong in ID and right in COOD."""
    rng = generator("cood", texts, number)
    cases = [
        Case(
            f"{cell}/{n}",
            ((f"{cell} {n}",),),
            (target(cell),),
            {"cell": cell, "kind": kind, "split": "test"},
            f"{cell.partition('/')[0]}{n}",
            {"text": f"{cell.partition('/')[0]}{n}"},
        )
        for cell, kind in CELLS.items()
        for n in range(texts)
    ]
    labels = tuple(dict.fromkeys(str(label) for case in cases for label in case.labels or ()))
    wanted = np.array([labels.index(str((case.labels or ("",))[0])) for case in cases])
    names = {text: place for place, text in enumerate(dict.fromkeys(case.cluster for case in cases))}
    owners = np.array([names[case.cluster] for case in cases])
    kinds = np.array([KINDS.index(case.groups["kind"]) for case in cases])
    rates = special.logit(np.array([{"ID": 0.85, "COOD": 0.4, "OOD": 0.3}[kind] for kind in KINDS]))[kinds]
    sign = np.where(kinds == KINDS.index("COOD"), -1, 1)
    shared = rng.normal(0, 0.7, len(names))
    sides = []
    for _ in range(2):
        effects = (shared + rng.normal(0, 0.7, len(names)))[owners]
        right = rng.random(len(cases)) < special.expit(rates + sign * effects)
        predictions = np.where(right, wanted, (wanted + 1) % len(labels))
        sides.append(_scored(cood, COOD, cases, "labels", Answers(labels, predictions)))
    _count_levels(tally, Count("", "COOD", "", "", 3, texts), sides[0], sides[1])


def _merge(tally: Tally, problems: int, number: int) -> None:
    """Draw premises of two problems each, with ten variants that go right together."""
    rng, variants = generator("merge", problems, number), 10
    draws = [{"groups": {}, "draws": [list(range(1, variants + 1))]}]
    cases = [
        Case(
            str(n),
            tuple(("p", f"h {n} {place}") for place in range(variants + 1)),
            ("entailment",) * (variants + 1),
            {"part of speech": "all", "filter": "all"},
            f"premise {n // 2}",
            {"patterns": draws},
        )
        for n in range(problems)
    ]
    sides = []
    for _ in range(2):
        easy = rng.beta(4, 1, problems // 2).repeat(2)
        wrong = rng.random((problems, variants + 1)) >= easy[:, None]
        answers = Answers(("entailment", "neutral"), wrong.ravel().astype(np.int64))
        sides.append(_scored(merge, MERGE, cases, "labels", answers))
    _count_levels(tally, Count("", "MERGE", "", "", 1, problems), sides[0], sides[1])


PARTS: Mapping[str, Callable[[Tally], None]] = {
    "marks": marks,
    "marks of runs": marks_of_runs,
    "mde": mde,
    "gates": gates,
    "margins": margins,
    "invariance": invariance,
    "intervals": intervals,
    "over templates": over_templates,
    "crossed fillers": crossed,
    "shapes": shapes,
    "other protocols": protocols,
}


# Storing and showing


def stored(path: Path = COUNTS) -> list[Count]:
    """Return the stored counts."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return [_count_from(row) for row in csv.DictReader(stream)]


def _count_from(row: Mapping[str, str]) -> Count:
    whole = ("functionalities", "cases", "templates", "runs", "held", "repetitions")
    values: dict[str, Any] = {name: int(row[name]) if name in whole else row[name] for name in row}
    values["drop"] = float(row["drop"])
    values["by_hand"] = int(row["by_hand"]) if row["by_hand"] else None
    return Count(**values)


def store(counts: Iterable[Count], path: Path = COUNTS) -> None:
    """Write the counts."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.DictWriter(stream, [field.name for field in fields(Count)], lineterminator="\n")
        rows.writeheader()
        for count in counts:
            rows.writerow({name: "" if value is None else value for name, value in asdict(count).items()})


def error(held: int, of: int) -> float:
    """Return the standard error of a share in points; of 0 and all, that of one count."""
    return 100 * math.sqrt(max(held * (of - held), of - 1) / of) / of


def percent(held: int, of: int) -> str:
    return f"{100 * held / of:.1f} ± {error(held, of):.1f}" if of else "–"


def pooled(counts: Iterable[Count]) -> tuple[int, int, int | None]:
    """Return how often something happened in all these worlds, of how many, and by hand."""
    rows = list(counts)
    hands = [row.by_hand for row in rows if row.by_hand is not None]
    return sum(row.held for row in rows), sum(row.repetitions for row in rows), sum(hands) if hands else None


def main_table(counts: Sequence[Count]) -> Iterator[str]:
    """Yield level and power of the marks of functionalities: share marked / share marked by hand."""
    drops = [f"{100 * drop:g}" for drop in DROPS]
    yield f"| runs a side | functionalities | cases | drop | {' | '.join(drops)} |"
    yield f"| --: | --: | --: | --- |{' --: |' * len(drops)}"
    for key, rows in _grouped(_main(counts), "runs", "functionalities", "cases", "spread"):
        cells = [_cell(row for row in rows if row.drop == drop) for drop in DROPS]
        yield f"| {' | '.join(map(str, key))} | {' | '.join(cells)} |"


def templates_table(counts: Sequence[Count]) -> Iterator[str]:
    """Yield the same by number of templates, over all sizes."""
    drops = [f"{100 * drop:g}" for drop in DROPS]
    yield f"| templates | drop | {' | '.join(drops)} |"
    yield f"| --: | --- |{' --: |' * len(drops)}"
    one_run = [row for row in _main(counts) if row.runs == 1]
    for key, rows in _grouped(one_run, "templates", "spread"):
        cells = [_cell(row for row in rows if row.drop == drop) for drop in DROPS]
        yield f"| {' | '.join(map(str, key))} | {' | '.join(cells)} |"


def _main(counts: Sequence[Count]) -> list[Count]:
    shown = ("equal models, any mark at level functionality", "the drop is marked")
    parts = ("marks", "marks of runs")
    return [row for row in counts if row.part in parts and row.what in shown and row.spread]


def _grouped(counts: Sequence[Count], *names: str) -> list[tuple[tuple[Any, ...], list[Count]]]:
    groups: dict[tuple[Any, ...], list[Count]] = defaultdict(list)
    for row in counts:
        groups[tuple(getattr(row, name) for name in names)].append(row)
    return list(groups.items())


def _cell(counts: Iterable[Count]) -> str:
    held, of, by_hand = pooled(counts)
    return f"{100 * held / of:.1f} / {100 * (by_hand or 0) / of:.1f}" if of else "–"


def promises_table(counts: Sequence[Count]) -> Iterator[str]:
    """Yield every other promise: measured over all worlds, and in the worst group of worlds."""
    yield "| part | what | promised | measured | by hand | repetitions | worst world |"
    yield "| --- | --- | --: | --: | --: | --: | --- |"
    for (part, what, bound), rows in _grouped([row for row in counts if row.bound], "part", "what", "bound"):
        if part.startswith("marks") and what == "the drop is marked":
            continue
        held, of, by_hand = pooled(rows)
        hand = f"{100 * by_hand / of:.1f}" if by_hand is not None else ""
        yield (
            f"| {part} | {what} | {_promised(bound)} | {percent(held, of)} | {hand} | {of:,} | {_worst(rows, bound)} |"
        )


def _promised(bound: str) -> str:
    return bound.replace("<=", "≤").replace(">=", "≥").replace("= ", "")


def _worst(rows: Sequence[Count], bound: str) -> str:
    """Return the worst world, templates and spread pooled."""
    worlds = [
        (*pooled(group), key)
        for key, group in _grouped(rows, "world", "functionalities", "cases", "runs", "drop")
    ]
    worlds = [world for world in worlds if world[1] >= 100] or worlds

    def away(world: tuple[int, int, int | None, Any]) -> float:
        held, of, by_hand, _ = world
        share = held / of
        if bound.startswith("by hand"):
            return abs(held - (by_hand or 0)) / of
        if bound == "75 to 90":
            return abs(share - 0.825)
        return -share if bound.startswith(">=") or bound == "= 100" else share

    held, of, by_hand, (world, functionalities, cases, runs, _) = max(worlds, key=away)
    shape = f"{functionalities} × {cases} cases" + (f", {runs} runs" if runs > 1 else "")
    hand = (
        f" (by hand {100 * by_hand / of:.1f})" if bound.startswith("by hand") and by_hand is not None else ""
    )
    return f"{percent(held, of)}{hand}: {world}, {shape}"


WORLD = ("part", "what", "bound", "world", "functionalities", "cases", "runs", "drop")


def broken(counts: Sequence[Count]) -> list[str]:
    """Return the promises that the counts contradict by more than three standard errors of the simulation."""
    faults = []
    for key, rows in _grouped([row for row in counts if row.bound], *WORLD):
        held, of, by_hand = pooled(rows)
        if not _is_kept(key[2], held, of, by_hand):
            hand = "" if by_hand is None else f", by hand {100 * by_hand / of:.1f}"
            faults.append(f"{' | '.join(map(str, key))}: {percent(held, of)}{hand}, {of} repetitions")
    return faults


def _is_kept(bound: str, held: int, of: int, by_hand: int | None) -> bool:
    share = 100 * held / of
    if bound.startswith("by hand"):
        return 100 * ((by_hand or 0) - held) / of <= 5
    if bound == "75 to 90":
        return 75 - 3 * error(held, of) <= share <= 90 + 3 * error(held, of)
    relation, limit = bound.split()[0], float(bound.split()[1])
    # The standard error of a share that is exactly at its bound.
    slack = 3 * 100 * math.sqrt(limit / 100 * (1 - limit / 100) / of)
    return {"<=": share <= limit + slack, ">=": share >= limit - slack, "=": share == limit}[relation]


TABLES: Sequence[Callable[[Sequence[Count]], Iterator[str]]] = (main_table, templates_table, promises_table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", nargs="*", metavar="PART", help="simulate these parts again, or all")
    chosen = parser.parse_args()
    counts = stored()
    for part in (chosen.run or PARTS) if chosen.run is not None else ():
        tally, start = Tally(part), time.process_time()
        PARTS[part](tally)
        by_part = {name: [row for row in counts if row.part == name] for name in PARTS}
        by_part[part] = tally.counts()
        counts = [row for rows in by_part.values() for row in rows]
        store(counts)
        print(f"{part}: {time.process_time() - start:.0f} s of processor time")
    print("\n".join(line for table in TABLES for line in (*table(counts), "")))
    print("\n".join(broken(counts)) or "No promise is broken.")


if __name__ == "__main__":
    main()

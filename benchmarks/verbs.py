"""What the verbs promise and what they keep: error rates of intervals, p and verdicts, through the verbs themselves.

    python benchmarks/verbs.py                   the table, from the repetitions that are kept
    python benchmarks/verbs.py --seconds 150     more repetitions first, those with the fewest before the others
    python benchmarks/verbs.py --only gate       of the worlds whose name has "gate" in it

A world is a population where the truth is known: a verb on so many cases, with or without templates, with so many
seeds. What a verb promises of it is counted in as many cells as there are promises. Two models are equally good where
templates are many: each has templates that it does well and others, drawn alike for both. Fewer than three templates
are the population themselves: what is promised then is promised of new fillings of these.

The functions behind the verbs are called, without files and terminals between: tests/test_promises.py holds what they
say against what the command line prints of the same answers, and runs some of every world. Repetition k of a world
draws with its name and k, so that the counts in docs/studies/coverage/verbs.csv do not depend on how the work was cut.
All repetitions that are wanted take about 25 minutes of one processor.
"""

import argparse
import csv
import importlib.util
import math
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special, stats

from shoal import Case, Measure, Measures, Outcome, Result
from shoal.claims import ENOUGH_TEMPLATES
from shoal.comparing.judge import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule
from shoal.comparing.sizing import make_pilot, plan_size
from shoal.protocols import bias, merge, ranking
from shoal.protocols.base import Built
from shoal.protocols.behaviour.iid import IID
from shoal.protocols.behaviour.learning import compare_trainings
from shoal.protocols.behaviour.learning.conclusions import asked_column
from shoal.protocols.behaviour.learning.table3 import rows_of_table3
from shoal.protocols.behaviour.score import measure
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.protocols.bias.concepts import between_diagnostics
from shoal.protocols.bias.family import Family
from shoal.protocols.ranking.order import put_in_order
from shoal.records import Answer, Answers
from shoal.runs.settings import make_settings

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Kept = Mapping[str, bool]
"""By promise: whether an interval covered, a test erred, a verdict was wrong."""
Counts = dict[str, tuple[int, int]]
"""By cell: how often it held, of how many."""
KEPT = Path(__file__).parents[1] / "docs" / "studies" / "coverage" / "verbs.csv"

SIZES, SEEDS = (5, 20, 80), (2, 3, 5)
RUN_SD = 0.25
"""Of a run, on the logit scale: five points at a rate of .7."""
ALIKE, EACH = 0.3, 5
"""Correlation of two cases of one template, and how many each has."""
OWN = 1.0
"""How far the templates that one model does well are others than those of another, on the logit scale."""
QUICK = Choices(shuffles=200, could_see=False)
COVERS, ERRS, HALF, FINDS = "95 or more", "5 or less", "2.5 or less", "80 or more"
ALLOWED = {COVERS: 0.05, ERRS: 0.05, HALF: 0.025, FINDS: 0.2, "0": 0.0}
"""How often each may be broken."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One promise at one size."""

    verb: str
    what: str
    size: str
    promised: str

    @property
    def name(self) -> str:
        return f"{self.verb}, {self.what}, {self.size}"


@dataclass(frozen=True, slots=True)
class World:
    """A verb at one size, and what it promises."""

    verb: str
    size: str
    promises: Mapping[str, str]
    repeat: Callable[[Generator], Kept]
    most: int = 400
    """Repetitions that are enough."""

    @property
    def name(self) -> str:
        return f"{self.verb}, {self.size}"

    @property
    def cells(self) -> list[Cell]:
        return [Cell(self.verb, what, self.size, promised) for what, promised in self.promises.items()]


def worlds() -> Iterator[World]:
    """Every promise, verb by verb."""
    yield from _of_try()
    yield from _of_compare()
    yield from _of_margin()
    yield from _of_plan_size()
    yield from _of_gate()
    yield from _of_learning()
    yield from _of_cood()
    yield from _of_bias()
    yield from _of_diagnostics()
    yield from _of_seat()
    yield from _of_stereoset()
    yield from _of_merge()
    yield from _of_contrasts()
    yield from _of_accuracy()
    yield from _of_ranking()
    yield from _of_probability()


def cells() -> Iterator[Cell]:
    for world in worlds():
        yield from world.cells


# Populations


def cases_of(functionalities: int, size: int, templates: bool, *, shared: bool = False) -> list[Case]:
    """Cases of templates of five, which functionalities have each for itself, or share."""
    return [
        Case(
            f"f{f}/{n}",
            ((f"text {f} {n}",),),
            None,
            {"functionality": f"f{f}", "capability": "c", "test type": "MFT"},
            ("" if shared else f"f{f} ") + f"t{n // EACH}" if templates else "",
        )
        for f in range(functionalities)
        for n in range(size)
    ]


def result(cases: Sequence[Case], hits: Bools, like: Result | None = None) -> Result:
    """Outcomes with measures, its own or those of another run: `compare` reads from them only what can be compared."""
    outcomes = [Outcome(case.id, bool(hit)) for case, hit in zip(cases, hits.tolist(), strict=True)]
    measures = like.measures if like else Measures(measure(cases, outcomes))
    return Result({"model": "m"}, cases, outcomes, measures)


def owners_of(cases: Sequence[Case]) -> NDArray[np.int64]:
    """The template of each case, or the case itself, as a number."""
    names: dict[str, int] = {}
    return np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])


def chances(cases: Sequence[Case], rate: float, rng: Generator) -> Floats:
    """How likely each case passes: the cases of a template alike, others each by itself."""
    spread, owners = (1 - ALIKE) / ALIKE, owners_of(cases)
    drawn: Floats = rng.beta(rate * spread, (1 - rate) * spread, owners.max() + 1)[owners]
    return np.clip(drawn, 1e-9, 1 - 1e-9)


def few(cases: Sequence[Case]) -> Iterator[list[int]]:
    """The places of the cases of each functionality that has too few templates to tell of others."""
    for name in dict.fromkeys(case.groups["functionality"] for case in cases):
        members = [place for place, case in enumerate(cases) if case.groups["functionality"] == name]
        templates = {cases[place].cluster for place in members}
        if "" not in templates and len(templates) < min(len(members), ENOUGH_TEMPLATES):
            yield members


def chances_by_functionality(cases: Sequence[Case], rate: float, rng: Generator) -> Floats:
    """The same; where a functionality has too few templates to tell of others, their own mean is the rate."""
    drawn = chances(cases, rate, rng)
    for members in few(cases):
        drawn[members] = with_mean(drawn[members], rate)
    return drawn


def with_mean(shares: Floats, mean: float) -> Floats:
    """The shares moved on the logit scale, all by as much, until this is their mean."""
    logits = special.logit(np.clip(shares, 1e-9, 1 - 1e-9))
    low, high = -40.0, 40.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if float(special.expit(logits + middle).mean()) < mean else (low, middle)
    moved: Floats = special.expit(logits + low)
    return moved


def of_another(cases: Sequence[Case], easy: Floats, rng: Generator) -> Floats:
    """Another model that is as good: some templates (or cases) lie better with it and some worse.

    On average over new templates it is as good as any model drawn so; where there are too few, on these very ones.
    """
    owners = owners_of(cases)
    drawn: Floats = special.expit(special.logit(easy) + rng.normal(0, OWN, owners.max() + 1)[owners])
    for members in few(cases):
        drawn[members] = with_mean(drawn[members], float(easy[members].mean()))
    return drawn


def run_of(chance: Floats, rng: Generator, seeds: int = 2, shift: float | None = None) -> Bools:
    """The outcomes of one run of a recipe; with a single run, of that checkpoint."""
    shift = (rng.normal(0, RUN_SD) if seeds > 1 else 0.0) if shift is None else shift
    outcomes: Bools = rng.random(len(chance)) < special.expit(special.logit(chance) + shift)
    return outcomes


def covered(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def told(measure: Measure, truth: float) -> bool:
    """Whether an interval covers; where none is printed nothing is promised."""
    return measure.interval is None or covered(measure.interval, truth)


def sizes() -> Iterator[tuple[int, bool, str]]:
    for size in SIZES:
        for templates in (False, True):
            yield size, templates, f"{size} cases" + (", templates of 5" if templates else "")


# try


def _of_try() -> Iterator[World]:
    rate_what, score_what = "pass rate, interval", "suite score, interval"
    for size, templates, words in sizes():
        for rate in (0.8, 0.95):

            def rate_covered(
                rng: Generator, size: int = size, templates: bool = templates, rate: float = rate
            ) -> Kept:
                cases = cases_of(1, size, templates)
                audited = result(cases, rng.random(size) < chances_by_functionality(cases, rate, rng))
                (row,) = audited.measures.where("pass rate", functionality="f0")
                return {rate_what: covered(row.interval, rate)}

            yield World("try", f"{words}, {rate}", {rate_what: COVERS}, rate_covered, 600)
        for shared in (False, True) if templates else (False,):
            number = 20 if size < 80 else 8

            def score_covered(
                rng: Generator, size: int = size, templates: bool = templates, shared: bool = shared,
                number: int = number,
            ) -> Kept:  # fmt: skip
                cases = cases_of(number, size, templates, shared=shared)
                hits = rng.random(len(cases)) < chances(cases, 0.9, rng)
                (row,) = result(cases, hits).measures.where("suite score")
                return {score_what: covered(row.interval, 0.9)}

            if shared and size < EACH * ENOUGH_TEMPLATES:
                continue  # fewer than three templates in all
            which = f"{number} x {words}" + (" that all share" if shared else "") + ", 0.9"
            yield World("try", which, {score_what: COVERS}, score_covered)


# compare


def two_sides(
    cases: Sequence[Case], seeds: tuple[int, int], rng: Generator, *, paired: bool = False
) -> tuple[list[Result], list[Result]]:
    """Two recipes that are equally good, on the same cases; with one run each, two such checkpoints."""
    common = chances(cases, 0.7, rng)
    easy = of_another(cases, common, rng)
    as_good = of_another(cases, common, rng)
    for members in few(cases):
        as_good[members] = with_mean(as_good[members], float(easy[members].mean()))
    shared = rng.normal(0, RUN_SD * math.sqrt(0.5), max(seeds))
    sides: tuple[list[Result], list[Result]] = ([], [])
    like = None
    for side, chance, runs in zip(sides, (easy, as_good), seeds, strict=True):
        for number in range(runs):
            shift = shared[number] + rng.normal(0, RUN_SD * math.sqrt(0.5)) if paired else None
            side.append(result(cases, run_of(chance, rng, max(seeds), shift), like))
            like = side[-1]
    return sides


def _of_compare() -> Iterator[World]:
    marked, mean, one = "any row marked, equal models", "mean difference, interval", "difference, interval"

    def world(
        size: int, templates: bool, words: str, seeds: tuple[int, int], *, paired: bool = False,
        shared: bool = False,
    ) -> World:  # fmt: skip
        def repeat(rng: Generator) -> Kept:
            a, b = two_sides(cases_of(3, size, templates, shared=shared), seeds, rng, paired=paired)
            comparison = compare(a, b, replace(QUICK, paired_seeds=paired))
            row = comparison.by("functionality")[0]
            return {
                marked: any(row.significant for row in comparison.rows),
                mean: covered(comparison.headline.interval, 0.0),
                one: covered(row.interval, 0.0),
            }

        how = f"{seeds[0]} v. {seeds[1]}{' paired' if paired else ''}, 3 x {words}"
        how += " that all share" if shared else ""
        return World("compare", how, {marked: ERRS, mean: COVERS, one: COVERS}, repeat, 150)

    for seeds in (1, *SEEDS):
        for size, templates, words in sizes():
            yield world(size, templates, words, (seeds, seeds))
    for size, templates, words in list(sizes())[2:]:
        yield world(size, templates, words, (2, 5))
        yield world(size, templates, words, (3, 3), paired=True)
    *_, (size, templates, words) = sizes()
    for seeds in (1, 3):
        yield world(size, templates, words, (seeds, seeds), shared=True)
    yield from _of_could_see()


def _of_could_see() -> Iterator[World]:
    found = "a difference as large as it could see, found"
    for size, templates, words in list(sizes())[2:]:
        if templates and size < 80:
            continue  # four templates show no difference, and nothing is printed

        def repeat(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            """Two models that differ in whole templates (or cases), at least as often as by how much."""
            cases = cases_of(1, size, templates)
            owners = owners_of(cases)

            def comparison(difference: float, *, could_see: bool) -> Any:
                differing = max(0.2, difference)
                worse = (differing - difference) / 2
                kinds = rng.choice(3, owners.max() + 1, p=[worse, differing - worse, 1 - differing])[owners]
                sides = [result(cases, kinds != better) for better in (1, 0)]
                choices = Choices("none", shuffles=1000, could_see=could_see)
                return compare(sides[:1], sides[1:], choices).headline

            pilot = comparison(0.0, could_see=True).mde or 1.0
            return {found: comparison(pilot, could_see=False).significant}

        yield World("compare", f"1 v. 1, {words}", {found: FINDS}, repeat)
    for seeds in SEEDS[1:]:

        def of_recipes(rng: Generator, seeds: int = seeds) -> Kept:
            cases = cases_of(1, 80, templates=False)
            alone, level = Choices("none"), chances(cases, 0.6, rng)

            def runs(chance: Floats) -> list[Result]:
                one = result(cases, run_of(chance, rng))
                return [one, *(result(cases, run_of(chance, rng), one) for _ in range(seeds - 1))]

            pilot = compare(runs(level), runs(level), alone).headline.mde or 0.39
            better = with_mean(level, min(0.99, float(level.mean()) + pilot))
            comparison = compare(runs(level), runs(better), replace(alone, could_see=False))
            return {found: comparison.headline.significant}

        yield World("compare", f"{seeds} v. {seeds}, 80 cases", {found: FINDS}, of_recipes)


def _of_plan_size() -> Iterator[World]:
    found, wanted, differing = "the difference asked for, found at the size named", 0.15, 0.3

    def pair(cases: Sequence[Case], difference: float, rng: Generator) -> tuple[list[Result], list[Result]]:
        """Two models that differ in whole templates (or cases), B better by so much on average."""
        owners, worse = owners_of(cases), (differing - difference) / 2
        chances_of = [worse, differing - worse, 1 - differing]
        kinds = rng.choice(3, owners.max() + 1, p=chances_of)[owners]
        return [result(cases, kinds != 1)], [result(cases, kinds != 0)]

    for templates in (False, True):

        def one_each(rng: Generator, templates: bool = templates) -> Kept:
            pilot = make_pilot(*pair(cases_of(1, 80, templates), 0.0, rng), adjust=False)
            named = plan_size(pilot, wanted, rng, simulations=100).by_cases
            a, b = pair(cases_of(1, named.cases if named else 1, templates), wanted, rng)
            headline = compare(a, b, replace(QUICK, adjust="none", shuffles=1000)).headline
            return {found: headline.significant}

        where = "pilot of 80 cases" + (", templates of 5" if templates else "")
        yield World("plan-size", where, {found: FINDS}, one_each, 900)

    def several(rng: Generator) -> Kept:
        cases = cases_of(1, 80, templates=False)
        level = chances(cases, 0.6, rng)
        pilot = make_pilot([result(cases, run_of(level, rng)) for _ in range(5)], adjust=False)
        named = plan_size(pilot, wanted, rng, simulations=50).by_seeds
        again = cases_of(1, 80, templates=False)
        level = chances(again, 0.6, rng)
        better = with_mean(level, float(level.mean()) + wanted)
        a, b = (
            [result(again, run_of(chance, rng)) for _ in range(named.seeds if named else 1)]
            for chance in (level, better)
        )
        return {found: compare(a, b, replace(QUICK, adjust="none")).headline.significant}

    yield World("plan-size", "pilot of 5 seeds, 80 cases", {found: FINDS}, several, 300)


def _of_margin() -> Iterator[World]:
    inferior, all_of, agree = (
        "worse by the margin, shown not to be",
        "all intervals together",
        "a mark and its interval disagree",
    )
    for size, templates, words in sizes():

        def worse_by_ten(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            cases = cases_of(1, size, templates)
            if next(few(cases), None):  # these templates, of which some got worse in more fillings
                kinds = np.where(rng.random(size) < chances_by_functionality(cases, 0.1, rng), 0, 2)
            else:
                owners = owners_of(cases)
                kinds = rng.choice(3, owners.max() + 1, p=[0.12, 0.02, 0.86])[owners]
            sides = [result(cases, kinds != better) for better in (1, 0)]
            row = compare(sides[:1], sides[1:], Choices(margin=0.1, could_see=False)).headline
            return {inferior: (row.inferior_p or 0.0) <= 0.025}

        yield World("compare --margin", words, {inferior: HALF}, worse_by_ten)

        def together(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            a, b = two_sides(cases_of(4, size, templates), (1, 1), rng)
            rows = compare(a, b, Choices("bonferroni", shuffles=2000, could_see=False)).rows
            return {
                all_of: all(covered(row.interval, 0.0) for row in rows),
                agree: any(row.significant == covered(row.interval, 0.0) for row in rows),
            }

        which = f"4 x {words}"
        yield World("compare --adjust bonferroni", which, {all_of: COVERS, agree: "0"}, together, 100)


# gate


def _of_gate() -> Iterator[World]:
    passes, fails = "just below the limit, passes", "at its limit, fails"
    any_fails, worse, margin, ever = (
        "ten at their limit, any fails",
        "ten as good as the baseline, any fails",
        "worse than the baseline by the margin, passes",
        "as good as the baseline, fails in 100 looks",
    )
    for size, templates, words in sizes():
        for limit in (0.8, 0.95):

            def one(
                rng: Generator, size: int = size, templates: bool = templates, limit: float = limit
            ) -> Kept:
                cases = cases_of(1, size, templates)
                drawn = rng.random(size)
                verdicts = {}
                for what, rate, end in (
                    (passes, limit - 0.01, "lower bound"),
                    (fails, limit, "upper bound"),
                ):
                    easy = chances_by_functionality(cases, rate, rng)
                    rule = Rule(at_least=limit, judge=end)  # type: ignore[arg-type]
                    verdicts[what] = all(
                        verdict.is_met for verdict in judge([rule], result(cases, drawn < easy))
                    )
                return {passes: verdicts[passes], fails: not verdicts[fails]}

            yield World("gate", f"{words}, {limit}", {passes: HALF, fails: HALF}, one, 600)

        def of_ten(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            cases = cases_of(10, size, templates)
            easy = chances_by_functionality(cases, 0.8, rng)
            old, new = (result(cases, rng.random(len(cases)) < easy) for _ in range(2))
            absolute = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
            relative = Rule({"functionality": "*"}, no_worse_than_baseline_by=0.0, judge="upper bound")
            return {
                any_fails: not all(verdict.is_met for verdict in judge([absolute], new)),
                worse: not all(verdict.is_met for verdict in judge([relative], new, old)),
            }

        yield World('gate "*"', f"10 x {words}", {any_fails: ERRS, worse: ERRS}, of_ten, 120)

        def worse_by_ten(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            cases = cases_of(1, size, templates)
            if next(few(cases), None):
                kinds = np.where(rng.random(size) < chances_by_functionality(cases, 0.1, rng), 0, 2)
            else:
                owners = owners_of(cases)
                kinds = rng.choice(3, owners.max() + 1, p=[0.12, 0.02, 0.86])[owners]
            old, new = (result(cases, kinds != better) for better in (1, 0))
            rule = Rule(no_worse_than_baseline_by=0.1)
            return {margin: all(verdict.is_met for verdict in judge([rule], new, old))}

        yield World("gate --baseline", words, {margin: HALF}, worse_by_ten)

        def ever_fails(rng: Generator, size: int = size, templates: bool = templates) -> Kept:
            cases = cases_of(1, size, templates)
            easy = chances(cases, 0.7, rng)
            baseline, *commits = (result(cases, rng.random(size) < easy) for _ in range(101))
            rule = Rule(no_worse_than_baseline_by=0.0, judge="anytime")
            failed = any(
                not all(verdict.is_met for verdict in judge([rule], commit, baseline, look))
                for look, commit in enumerate(commits, start=1)
            )
            return {ever: failed}

        if (size, templates) in ((20, False), (80, True)):
            yield World("gate, anytime", words, {ever: ERRS}, ever_fails, 60)


# run


def trained(cases: Sequence[Case], row: tuple[str, str], seed: int, hits: Bools) -> Result:
    config, method = row
    settings = {
        "train": {"on": [config], "method": [method]},
        "hold_out": ["none" if config == "iid" else "seen"],
        "fold": "",
        "seed": seed,
    }
    outcomes = [Outcome(case.id, bool(hit)) for case, hit in zip(cases, hits.tolist(), strict=True)]
    job = {"id": f"{config} {method} {seed}", "model": "m", "settings": settings}
    return Result(job, cases, outcomes, Measures([]))


def _of_learning() -> Iterator[World]:
    iid = {"functionality": IID, "capability": IID, "test type": "MFT"}
    methods, told, between = (
        ("vanilla", "l2", "irm"),
        "helps or hurts, equal recipes",
        "difference of G, interval",
    )
    table = Settings(train=Train(on=("iid", "iid>suite"), method=methods), resamples=200, shuffles=500)

    def repeat(rng: Generator, seeds: int, size: int, templates: bool) -> Kept:
        cases = [
            *cases_of(5, size, templates),
            *(Case(f"iid/{n}", ((f"i {n}",),), None, iid) for n in range(60)),
        ]
        easy = chances(cases, 0.7, rng)
        results = []
        for row in [("iid", "vanilla"), *(("iid>suite", method) for method in methods)]:
            # The suite of a hold-out is these functionalities; enough templates are new ones for each recipe.
            chance = easy if next(few(cases), None) else of_another(cases, easy, rng)
            for seed in range(seeds):
                results.append(trained(cases, row, seed, run_of(chance, rng, seeds)))
        measures = Measures(compare_trainings(table, results))
        rows = rows_of_table3(measures)
        column = asked_column(rows)
        differences = measures.where("difference", score="G", method="l2")
        (difference,) = [row for row in differences if "estimand" not in row.groups]
        return {
            told: any(row.cells[column].shown for row in rows if not row.is_baseline),
            between: covered(difference.interval, 0.0),
        }

    for seeds in (1, *SEEDS):
        for size, templates, words in sizes():

            def of_size(
                rng: Generator, seeds: int = seeds, size: int = size, templates: bool = templates
            ) -> Kept:
                return repeat(rng, seeds, size, templates)

            where = f"{seeds} seed{'s' if seeds > 1 else ''}, 3 rows, 5 x {words}"
            # With two seeds the interval is for these runs, and nothing is promised of the recipe.
            promises = {told: ERRS} if seeds == 2 else {told: ERRS, between: COVERS}
            yield World("run, learning", where, promises, of_size, 150)


def study(name: str) -> Any:
    """The simulation that a study keeps for itself."""
    path = KEPT.parents[1] / name
    spec = importlib.util.spec_from_file_location(path.parent.name + path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def _of_cood() -> Iterator[World]:
    simulation = study("cood/coverage.py")
    unseen, beyond, both, p = (
        "COOD, interval",
        "beyond the shortcut, interval",
        "difference of equal setups, interval",
        "COOD of equal setups, p",
    )

    def repeat(rng: Generator, world: str, seeds: int, texts: int) -> Kept:
        shares = simulation.coverage(simulation.WORLDS[world], seeds, texts, 1, int(rng.integers(2**31)))
        return {
            unseen: bool(shares["COOD"]),
            beyond: bool(shares["beyond the shortcut"]),
            both: bool(shares["difference, paired: COOD"]),
            p: bool(shares["p, paired: COOD"]),
        }

    for world, seeds in (
        ("seeds alike", 1),
        *((w, s) for w in ("seeds differ", "seeds decide") for s in SEEDS),
    ):
        for texts in SIZES:

            def of_size(rng: Generator, world: str = world, seeds: int = seeds, texts: int = texts) -> Kept:
                return repeat(rng, world, seeds, texts)

            where = f"{world}, {seeds} seed{'s' if seeds > 1 else ''}, 3 x {texts} texts"
            promises = {unseen: COVERS, beyond: COVERS, both: COVERS, p: ERRS}
            yield World("run, cood", where, promises, of_size, 150)


ITEM_SD, OF_RUN, REST = 1.0, 0.25, 1.0
"""Of the scores of pairs: how far pairs, checkpoints and single answers vary."""
PREFERS = 0.3


@lru_cache
def agreement_of_checkpoints() -> tuple[float, float]:
    """Kappa of two checkpoints' preferences, and ICC(2,1) of their scores, in the population."""
    total = ITEM_SD**2 + OF_RUN**2 + REST**2
    correlation, middle = ITEM_SD**2 / total, PREFERS / math.sqrt(total)
    share = stats.norm.cdf(middle)
    both = stats.multivariate_normal([-middle] * 2, [[1, correlation], [correlation, 1]]).cdf([0, 0])
    same, by_chance = 1 - 2 * share + 2 * both, share**2 + (1 - share) ** 2
    return float((same - by_chance) / (1 - by_chance)), float(correlation)


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def spread_of_runs(items: Floats) -> tuple[float, float]:
    """The SD over checkpoints of the share of these pairs, and what it would be if pairs flipped independently."""
    shares = stats.norm.cdf((items[:, None] + OF_RUN * NODES) / REST)
    weights, number = WEIGHTS / WEIGHTS.sum(), len(items)
    overall, middle = shares.mean(axis=0), shares @ weights
    of_flips = float((shares * (1 - shares) @ weights).sum()) / number**2
    of_runs = float((overall - overall @ weights) ** 2 @ weights)
    return math.sqrt(of_runs + of_flips), math.sqrt(float((middle * (1 - middle)).sum())) / number


def first(measures: Measures, name: str, **groups: str) -> Measure:
    """The first measure of a name whose groups agree with these."""
    rows = measures.where(name)
    return next(row for row in rows if all(row.groups.get(key) == value for key, value in groups.items()))


def _of_bias() -> Iterator[World]:
    one, mean, sd, ratio, kappa, alpha, icc, recipes, p = (
        "stereotype score, interval",
        "mean over checkpoints, interval",
        "SD over checkpoints, interval",
        "over-dispersion ratio, interval",
        "Fleiss kappa, interval",
        "Krippendorff alpha, interval",
        "ICC(2,1), interval",
        "difference between recipes, interval",
        "equal recipes, p",
    )
    groups = {"diagnostic": "crows", "category": "age", "direction": "stereo"}
    chosen = make_settings(bias.Settings, {"data": "example"}, "simulation")

    def checkpoint(name: str, recipe: str, scores: Floats) -> Result:
        cases = [Case(str(place), (("a",), ("b",)), None, groups) for place in range(len(scores))]
        answers = [
            [Answer("", "tokens", {"score": score}) for score in (value, 0.0)] for value in scores.tolist()
        ]
        scored = bias.score(chosen, Built(cases, None, "tokens"), {"": answers})
        job = {"model": f"{recipe} {name}", "settings": asdict(chosen), "group": recipe}
        measures = Measures(scored.measures)
        return Result(job, cases, scored.outcomes, measures, columns=scored.columns)

    for pairs in SIZES:

        def single(rng: Generator, pairs: int = pairs) -> Kept:
            scores = np.where(rng.random(pairs) < 0.6, 1.0, -1.0)
            (row,) = checkpoint("0", "r", scores).measures.where("stereotype score", category="age")
            return {one: covered(row.interval, 0.6)}

        yield World("try, bias", f"{pairs} pairs", {one: COVERS}, single, 600)
        for seeds in SEEDS:

            def several(rng: Generator, pairs: int = pairs, seeds: int = seeds) -> Kept:
                items = PREFERS + rng.normal(0, ITEM_SD, pairs)
                runs = [
                    checkpoint(str(run), recipe, items + rng.normal(0, OF_RUN) + rng.normal(0, REST, pairs))
                    for recipe in "rs"
                    for run in range(seeds)
                ]
                measures = Measures(bias.compare(chosen, runs).measures)
                truth = float(stats.norm.cdf(items / math.hypot(OF_RUN, REST)).mean())  # these pairs

                def of_score(name: str) -> Measure:
                    return first(measures, name, of="stereotype score")

                same, correlation = agreement_of_checkpoints()
                spread, by_flips = spread_of_runs(items)
                difference = of_score("difference between recipes")
                return {
                    mean: covered(of_score("mean over checkpoints").interval, truth),
                    sd: told(of_score("sd over checkpoints"), spread),
                    ratio: told(of_score("over-dispersion ratio"), spread / by_flips),
                    kappa: told(first(measures, "Fleiss kappa"), same),
                    alpha: told(first(measures, "Krippendorff alpha"), same),
                    icc: told(first(measures, "ICC(2,1)"), correlation),
                    recipes: covered(difference.interval, 0.0),
                    p: difference.facts["p"] is not None and difference.facts["p"] <= 0.05,
                }

            where = f"{seeds} checkpoints, {pairs} pairs"
            promises = {mean: COVERS, sd: COVERS, ratio: COVERS, recipes: COVERS, p: ERRS}
            if seeds > 2:  # of two checkpoints no interval is given
                promises |= {kappa: COVERS, alpha: COVERS, icc: COVERS}
            yield World("run, bias", where, promises, several, 200)


BOTH = 0.6
"""Correlation of what two diagnostics of one concept say of a checkpoint."""


def _of_diagnostics() -> Iterator[World]:
    together, apart = "correlation between diagnostics, interval", "difference between diagnostics, interval"
    for runs in (4, 5, 10):

        def repeat(rng: Generator, runs: int = runs) -> Kept:
            """Scores of checkpoints by two diagnostics, normal."""
            scores = rng.multivariate_normal([0.6, 0.55], 0.05**2 * np.array([[1, BOTH], [BOTH, 1]]), runs)
            families = []
            for diagnostic, column in zip(("crows", "stereoset"), scores.T.tolist(), strict=True):
                rows = [Measure("stereotype score", score, 80, {"category": "gender"}) for score in column]
                results = {str(run): Result({}, (), (), Measures([row])) for run, row in enumerate(rows)}
                families.append(Family("r", diagnostic, "", results))
            measures = Measures(between_diagnostics(*families))
            return {
                together: told(first(measures, "correlation between diagnostics"), BOTH),
                apart: covered(first(measures, "difference between diagnostics").interval, 0.05),
            }

        yield World(
            "run, bias", f"{runs} checkpoints, two diagnostics", {together: COVERS, apart: COVERS}, repeat
        )


def _of_seat() -> Iterator[World]:
    p, effect = "SEAT, p of no association", "SEAT, effect size, interval"
    seat = make_settings(
        bias.Settings, {"data": "example", "diagnostic": "seat", "n_samples": 500}, "simulation"
    )
    for words, each in ((5, 1), (8, 1), (8, 5)):

        def tested(rng: Generator, words: int = words, each: int = each) -> Kept:
            rows = []
            for side in "xy":
                for word, mean in enumerate(rng.normal(0, math.sqrt(0.5), words).tolist()):
                    for sentence in range(each):
                        cosine = 0.02 * (mean + rng.normal(0, math.sqrt(0.5)))
                        vector = [cosine, 0.0, math.sqrt(1 - cosine**2)]
                        rows.append(((f"{side}{word} {sentence}", f"{side}{word}"), vector))
            rows += [(("a", "a"), [1.0, 0.0, 0.0]), (("b", "b"), [0.0, 1.0, 0.0])]
            sizes = {"sizes": [words * each, words * each, 1, 1]}
            case = Case("t", tuple(example for example, _ in rows), None, {}, "", sizes)
            answers = [Answer("", "vector", {"vector": vector}) for _, vector in rows]
            measures = Measures(bias.score(seat, Built([case], None, "vectors"), {"": [answers]}).measures)
            return {
                p: (measures.where("p value")[0].value or 0.0) <= 0.05,
                effect: covered(measures.where("effect size")[0].interval, 0.0),
            }

        where = f"{words} words, {each} sentence{'s' if each > 1 else ''} each"
        yield World("try, bias", where, {p: ERRS, effect: COVERS}, tested, 600)


def _of_stereoset() -> Iterator[World]:
    preferred, related, both = (
        "StereoSet, stereotype score, interval",
        "StereoSet, language modelling score, interval",
        "StereoSet, icat, interval",
    )
    chosen = make_settings(bias.Settings, {"data": "example", "diagnostic": "stereoset"}, "simulation")
    for terms, each in ((3, 10), (8, 10), (20, 4)):

        def repeat(rng: Generator, terms: int = terms, each: int = each) -> Kept:
            """Terms of which some are answered by stereotype more than others, and some more often by sense."""
            cases, answers = [], []
            for term in range(terms):
                prefers, makes_sense = rng.beta(6, 4), rng.beta(8, 2)
                for number in range(each):
                    groups = {"task": "intrasentence", "category": "race", "target": f"t{term}"}
                    texts = tuple((f"BLANK {term}", f"{word} {term} {number}") for word in "sau")
                    cases.append(Case(f"{term}/{number}", texts, None, groups, f"t{term}"))
                    scores = (2.0, 1.0) if rng.random() < prefers else (1.0, 2.0)
                    sense = [*scores, 0.0] if rng.random() < makes_sense else [*scores, 3.0]
                    answers.append([Answer("", "tokens", {"score": score}) for score in sense])
            measures = Measures(bias.score(chosen, Built(cases, None, "tokens"), {"": answers}).measures)
            return {
                what: covered(first(measures, name, category="race").interval, truth)
                for what, name, truth in (
                    (preferred, "stereotype score", 0.6),
                    (related, "language modelling score", 0.8),
                    (both, "icat", 0.8 * 0.4 / 0.5),
                )
            }

        where = f"{terms} terms x {each}"
        yield World("try, bias", where, dict.fromkeys((preferred, related, both), COVERS), repeat, 400)


def _of_merge() -> Iterator[World]:
    originals, drop, sample, pattern, rest, between, p = (
        "seed accuracy, interval",
        "drop from seeds, interval",
        "sample accuracy, interval",
        "pattern accuracy, interval",
        "intra-problem correlation, interval",
        "difference of equal models, interval",
        "equal models, p",
    )
    variants, chosen = 10, make_settings(merge.Settings, {"data": "example"}, "simulation")
    draws = [{"groups": {}, "draws": [list(range(1, variants + 1))]}]
    whole = float(stats.betabinom.pmf(variants, variants, 4, 1))

    def scored(name: str, cases: Sequence[Case], easy: Floats, rng: Generator) -> Result:
        wrong = rng.random((len(cases), variants + 1)) >= easy[:, None]
        answers = Answers(("entailment", "neutral"), wrong.ravel().astype(np.int64))
        found = merge.score(chosen, Built(cases, None, "labels"), {"": answers})
        job = {"model": name, "settings": asdict(chosen)}
        return Result(
            job, cases, found.outcomes, Measures(found.measures), columns=found.columns, settings=chosen
        )

    for problems in SIZES:

        def repeat(rng: Generator, problems: int = problems) -> Kept:
            """Premises of two problems, with a chance that variants go right; two models' chances are drawn alike."""
            groups = {"part of speech": "all", "filter": "all"}
            cases = [
                Case(
                    str(number),
                    tuple(("p", f"h {place}") for place in range(variants + 1)),
                    ("entailment",) * (variants + 1),
                    groups,
                    f"premise {number // 2}",
                    {"patterns": draws},
                )
                for number in range(problems)
            ]
            models = [
                scored(name, cases, rng.beta(4, 1, (problems + 1) // 2).repeat(2)[:problems], rng)
                for name in "ab"
            ]
            measures = models[0].measures
            compared = Measures(merge.compare(chosen, models).measures)

            def of_sample(name: str) -> Measure:
                return next(row for row in compared.where(name) if row.facts["of"] == "sample accuracy")

            whole_row = next(
                row
                for row in measures.where("pattern accuracy")
                if row.groups["threshold"] == "1" and "seed" not in row.groups
            )
            kept = {
                originals: covered(measures.where("seed accuracy")[0].interval, 0.8),
                drop: covered(measures.where("drop from seeds")[0].interval, 0.0),
                sample: covered(measures.where("sample accuracy")[0].interval, 0.8),
                pattern: covered(whole_row.interval, whole),
                between: covered(of_sample("difference").interval, 0.0),
                p: (of_sample("p value").value or 0.0) <= 0.05,
            }
            if problems > SIZES[0]:
                (row,) = measures.where("intra-problem correlation")
                kept[rest] = told(row, 1 / 6)
            return kept

        where = f"{problems} problems, two of a premise"
        promises = dict.fromkeys((originals, drop, sample, pattern, between), COVERS) | {p: ERRS}
        promises |= {rest: COVERS} if problems > SIZES[0] else {}
        yield World("run, merge", where, promises, repeat, 300)


def _of_contrasts() -> Iterator[World]:
    sample, pattern = (
        "word classes alike, sample accuracy, interval",
        "word classes alike, pattern accuracy, interval",
    )
    classes, each = ("noun", "verb"), 5
    chosen = make_settings(merge.Settings, {"data": "example"}, "simulation")
    draws: list[dict[str, Any]] = [{"groups": {}, "draws": [list(range(1, 2 * each + 1))]}]
    for place, name in enumerate(classes):
        variants = list(range(1 + place * each, 1 + (place + 1) * each))
        draws.append({"groups": {"word class": name}, "draws": [variants]})
    for problems in SIZES:

        def repeat(rng: Generator, problems: int = problems) -> Kept:
            """Premises of two problems; of each problem as many variants of either class, that go right alike."""
            texts = 2 * each + 1
            cases = [
                Case(
                    str(number),
                    tuple(("p", f"h {place}") for place in range(texts)),
                    ("entailment",) * texts,
                    {"part of speech": "all", "filter": "all"},
                    f"premise {number // 2}",
                    {"patterns": draws},
                )
                for number in range(problems)
            ]
            easy = rng.beta(4, 1, (problems + 1) // 2).repeat(2)[:problems]
            wrong = rng.random((problems, texts)) >= easy[:, None]
            answers = Answers(("entailment", "neutral"), wrong.ravel().astype(np.int64))
            measures = Measures(merge.score(chosen, Built(cases, None, "labels"), {"": answers}).measures)
            rows = measures.where("difference between splits")
            whole = next(row for row in rows if row.groups.get("threshold") == "1")
            (mean,) = [row for row in rows if "threshold" not in row.groups]
            return {sample: covered(mean.interval, 0.0), pattern: covered(whole.interval, 0.0)}

        where = f"{problems} problems, two of a premise, five variants of either class"
        yield World("run, merge", where, {sample: COVERS, pattern: COVERS}, repeat, 300)


def _of_accuracy() -> Iterator[World]:
    one, between, unlike = (
        "accuracy, interval",
        "difference of equal models, interval",
        "disagreement, interval",
    )
    simulation = study("ranking/simulate.py")
    chosen = make_settings(ranking.Settings, {"data": "example"}, "simulation")
    for size in SIZES:

        def repeat(rng: Generator, size: int = size) -> Kept:
            """Two models, hard examples hard for both, so many of them labelled."""
            sheets = simulation.rotated(simulation.answer_sheets(np.full(2, 0.7), 1000, rng))
            drawn = sheets[:, rng.choice(2000, size, replace=False)]
            field = simulation.field_of_pool(drawn)
            for place in range(size):
                simulation.label(field, drawn, place, None)
            built = Built(field.cases, None, simulation.LABELS)
            for sheet in drawn:
                scored = ranking.score(chosen, built, {"": Answers(simulation.LABELS, sheet)})
                field.results.append(Result({}, field.cases, scored.outcomes, Measures(scored.measures)))
            measures = Measures(put_in_order(field)[0])
            differing = float((sheets[0] != sheets[1]).mean())
            # Models that answer all of few examples alike are put in no order, and nothing is said of two.
            return {
                one: covered(
                    first(measures, "accuracy", model="m0").interval, float((sheets[0] == 0).mean())
                ),
                between: all(covered(row.interval, 0.0) for row in measures.where("difference")),
                unlike: all(covered(row.interval, differing) for row in measures.where("disagreement")),
            }

        yield World("rank", f"2 models, {size} labels", dict.fromkeys((one, between, unlike), COVERS), repeat)


def _of_ranking() -> Iterator[World]:
    simulation, decided = study("ranking/simulate.py"), "equal models, any pair decided"
    for models in (2, 5):
        for how in ("uniform", "disagreement"):

            def repeat(rng: Generator, models: int = models, how: str = how) -> Kept:
                equal = np.full(models, 0.7)
                sheets = simulation.rotated(
                    simulation.answer_sheets(equal, simulation.POOL_SIZE // models, rng)
                )
                return {decided: bool(simulation.one_run(sheets, how, rng)[2])}

            where = f"{models} models, drawn by {how}, 12 looks"
            yield World("rank", where, {decided: ERRS}, repeat)


def _of_probability() -> Iterator[World]:
    simulation = study("ranking/simulate.py")
    right = "better with a probability of .8 to .9, and is"
    for models in (2, 8):

        def repeat(rng: Generator, models: int = models) -> Kept:
            """Models of all kinds on twenty labels, until two neighbours are told apart so surely."""
            while True:
                sheets = simulation.answer_sheets(rng.uniform(0.1, 0.9, models), 2000, rng)
                field = simulation.field_of_pool(sheets[:, :20])
                for place in range(20):
                    simulation.label(field, sheets, place, None)
                draws = simulation.draws_of(field.cases)
                order, _ = simulation.order_by(field, draws)
                pairs = {(pair.first, pair.second): pair for pair in simulation.pairs_of(field, draws, order)}
                sure = [
                    (first, second)
                    for first, second in pairwise(order)
                    if 0.8 <= pairs[first, second].probability <= 0.9
                ]
                if sure:
                    first, second = sure[int(rng.integers(len(sure)))]
                    accuracies = (sheets == 0).mean(axis=1)
                    return {right: bool(accuracies[first] > accuracies[second])}

        yield World("rank", f"{models} models of 10 to 90 %, 20 labels", {right: FINDS}, repeat)


# Keeping and showing


def kept(path: Path) -> Counts:
    """What was counted before."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["cell"]: (int(row["held"]), int(row["repetitions"])) for row in csv.DictReader(stream)}


def keep(path: Path, counts: Counts) -> None:
    """Written beside it first: a run that is killed loses nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    with beside.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["cell", "held", "repetitions"])
        rows.writerows([name, held, times] for name, (held, times) in counts.items())
    beside.replace(path)


def repeated(world: World, first: int, times: int) -> dict[str, int]:
    """How often each of its cells held in some repetitions, from the first."""
    name, held = zlib.crc32(world.name.encode()), {cell.name: 0 for cell in world.cells}
    for number in range(first, first + times):
        outcome = world.repeat(np.random.default_rng([name, number]))
        for cell in world.cells:
            held[cell.name] += bool(outcome[cell.what])
    return held


def simulate(every: Sequence[World], counts: Counts, seconds: float) -> Iterator[None]:
    """Add repetitions, five at a time, where there are the fewest of those wanted, until the time is up."""
    until = time.process_time() + seconds

    def times(world: World) -> list[int]:
        return [counts.get(cell.name, (0, 0))[1] for cell in world.cells]

    while time.process_time() < until:
        world = min(every, key=lambda world: min(times(world)) / world.most)
        if min(times(world)) >= world.most:
            return
        for name, held in repeated(world, max(times(world)), 5).items():
            before, of = counts.get(name, (0, 0))
            counts[name] = before + held, of + 5
        yield


ENOUGH = 30
"""Repetitions without which a size does not count as the worst."""


def summary(every: Sequence[World], counts: Counts) -> Iterator[str]:
    """Each promise over all its sizes, with the size at which it is kept worst."""
    yield "| verb | what | promised | measured | of | worst size |"
    yield "| --- | --- | --: | --: | --: | --: |"
    cells = [cell for world in every for cell in world.cells]
    for verb, what, promised in dict.fromkeys((cell.verb, cell.what, cell.promised) for cell in cells):
        known = [counts.get(cell.name, (0, 0)) for cell in cells if (cell.verb, cell.what) == (verb, what)]
        shares = [(own / of, own, of) for own, of in known if of >= ENOUGH]
        worst = (min if promised in (COVERS, FINDS) else max)(shares, default=(0.0, 0, 0))
        held, times = together(known)
        yield f"| {verb} | {what} | {promised} | {percent(held, times)} | {times:,} | {percent(*worst[1:])} |"


def together(known: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """How often all of them held, of how many."""
    return sum(held for held, _ in known), sum(times for _, times in known)


def size_by_size(every: Sequence[World], counts: Counts) -> Iterator[str]:
    """A table per verb: a row per size, a column per promise."""
    for block in blocks(every):
        promises = {what: promised for world in block for what, promised in world.promises.items()}
        yield ""
        yield f"| {block[0].verb} | {' | '.join(promises)} | of |"
        yield f"| --- |{' --: |' * (len(promises) + 1)}"
        yield f"| *promised* | {' | '.join(f'*{promised}*' for promised in promises.values())} | |"
        for world in block:
            measured = {cell.what: counts.get(cell.name, (0, 0)) for cell in world.cells}
            shown = " | ".join(percent(*measured[what]) if what in measured else "" for what in promises)
            least, most = (end(times for _, times in measured.values()) for end in (min, max))
            yield f"| {world.size} | {shown} | {least:,}{f' to {most:,}' if most > least else ''} |"


def blocks(every: Sequence[World]) -> list[list[World]]:
    """Worlds of one verb that promise the same things, some of them or all."""
    found: list[list[World]] = []
    for world in every:
        for block in found:
            if block[0].verb == world.verb and world.promises.keys() & {
                what for other in block for what in other.promises
            }:
                block.append(world)
                break
        else:
            found.append([world])
    return found


def percent(held: int, times: int) -> str:
    if not times:
        return ""
    error = 100 * math.sqrt(max(held * (times - held), times - 1) / times) / times
    return f"{100 * held / times:.1f} ± {error:.1f}"


def write_pages(every: Sequence[World], counts: Counts) -> None:
    """The tables of the study, and the numbers beside promises in docs/comparing.md: "0.3 ± 0.1 of 400 (what)"."""
    page = KEPT.parents[1] / "interval-coverage.md"
    text = page.read_text(encoding="utf-8")
    for name, lines in (("summary", summary(every, counts)), ("sizes", size_by_size(every, counts))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    page.write_text(text, encoding="utf-8")
    page = KEPT.parents[2] / "comparing.md"
    text = page.read_text(encoding="utf-8")
    for what in {cell.what for world in every for cell in world.cells}:
        known = [
            counts.get(cell.name, (0, 0)) for world in every for cell in world.cells if cell.what == what
        ]
        held, times = together(known)
        told = f"{percent(held, times)} of {times:,} ({what})"
        text = re.sub(rf"[\d.]* ± [\d.]* of [\d,]* \({re.escape(what)}\)", told, text)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time for more repetitions")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--page", action="store_true", help="write the tables into the pages under docs/")
    chosen = parser.parse_args()
    every = [world for world in worlds() if any(name in world.name for name in chosen.only)]
    counts = kept(chosen.kept)
    order = [cell.name for cell in cells()]
    for _ in simulate(every, counts, chosen.seconds):
        keep(chosen.kept, {name: counts[name] for name in order if name in counts})
    print("\n".join([*summary(every, counts), *size_by_size(every, counts)]))
    if chosen.page:
        write_pages(list(worlds()), counts)


if __name__ == "__main__":
    main()

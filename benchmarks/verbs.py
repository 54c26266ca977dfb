"""Intervals, p values and verdicts of learning, COOD, bias, MERGE and rank, simulated where the truth is known.

    python benchmarks/verbs.py                   the table, from the repetitions that are kept
    python benchmarks/verbs.py --seconds 150     more repetitions first, those with the fewest before the others
    python benchmarks/verbs.py --only merge      only the worlds whose name contains "merge"

A world is a population where the truth is known, at one size and number of seeds. A cell counts one promise there.
`level_and_power.py` has the worlds of `try`, `compare` and `gate`.

The functions behind the verbs run on drawn outcomes. Repetition k of a world is seeded with the world's name and k, so
the counts in docs/studies/coverage/verbs.csv do not depend on how the work was split. All wanted repetitions take about
20 minutes of one core.
"""

import argparse
import csv
import importlib.util
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special, stats

from shoal import Case, Measure, Measures, Outcome, Result
from shoal.core.records import Answer, Answers
from shoal.protocols import bias, merge, ranking
from shoal.protocols.base import Built
from shoal.protocols.bias.checkpoints import between_diagnostics
from shoal.protocols.bias.family import Family
from shoal.protocols.learning.comparison import compare_trainings
from shoal.protocols.learning.iid import IID
from shoal.protocols.learning.settings import Settings, Train
from shoal.protocols.learning.table3 import rows_of_table3
from shoal.protocols.ranking.order import order_models
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
    yield from _of_learning()
    yield from _of_cood()
    yield from _of_bias()
    yield from _of_diagnostics()
    yield from _of_seat()
    yield from _of_stereoset()
    yield from _of_merge()
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


def owners_of(cases: Sequence[Case]) -> NDArray[np.int64]:
    """The template of each case, or the case itself, as a number."""
    names: dict[str, int] = {}
    return np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])


def chances(cases: Sequence[Case], rate: float, rng: Generator) -> Floats:
    """How likely each case passes: the cases of a template alike, others each by itself."""
    spread, owners = (1 - ALIKE) / ALIKE, owners_of(cases)
    drawn: Floats = rng.beta(rate * spread, (1 - rate) * spread, owners.max() + 1)[owners]
    return np.clip(drawn, 1e-9, 1 - 1e-9)


def templated(cases: Sequence[Case]) -> Iterator[list[int]]:
    """Yield the places of the cases of each functionality that names its templates."""
    for name in dict.fromkeys(case.groups["functionality"] for case in cases):
        members = [place for place, case in enumerate(cases) if case.groups["functionality"] == name]
        if cases[members[0]].cluster:
            yield members


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
    """Return the chances of an equally good model that finds other templates (or cases) easy.

    On the templates of a functionality it has the same mean; cases without templates are new draws.
    """
    owners = owners_of(cases)
    drawn: Floats = special.expit(special.logit(easy) + rng.normal(0, OWN, owners.max() + 1)[owners])
    for members in templated(cases):
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
    methods: Any
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
            chance = of_another(cases, easy, rng)
            for seed in range(seeds):
                results.append(trained(cases, row, seed, run_of(chance, rng, seeds)))
        measures = Measures(compare_trainings(table, results))
        rows = rows_of_table3(measures)
        differences = measures.where("difference", score="G", method="l2")
        (difference,) = differences
        return {
            told: any(row.cells["seen"].verdict for row in rows if not row.is_baseline),
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
    unseen, beyond = "COOD, interval", "beyond the shortcut, interval"

    def repeat(rng: Generator, world: str, seeds: int, texts: int) -> Kept:
        shares = simulation.coverage(simulation.WORLDS[world], seeds, texts, 1, int(rng.integers(2**31)))
        return {
            unseen: bool(shares["COOD"]),
            beyond: bool(shares["beyond the shortcut"]),
        }

    for world, seeds in (
        ("seeds alike", 1),
        *((w, s) for w in ("seeds differ", "seeds decide") for s in SEEDS),
    ):
        for texts in SIZES:

            def of_size(rng: Generator, world: str = world, seeds: int = seeds, texts: int = texts) -> Kept:
                return repeat(rng, world, seeds, texts)

            where = f"{world}, {seeds} seed{'s' if seeds > 1 else ''}, 3 x {texts} texts"
            promises = {unseen: COVERS, beyond: COVERS}
            yield World("run, cood", where, promises, of_size, 150)


ITEM_SD, OF_RUN, REST = 1.0, 0.25, 1.0
"""Of the scores of pairs: how far pairs, checkpoints and single answers vary."""
PREFERS = 0.3


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
    one, mean, sd, ratio = (
        "stereotype score, interval",
        "mean over checkpoints, interval",
        "SD over checkpoints, interval",
        "over-dispersion ratio, interval",
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
                    checkpoint(str(run), "r", items + rng.normal(0, OF_RUN) + rng.normal(0, REST, pairs))
                    for run in range(seeds)
                ]
                measures = Measures(bias.compare(chosen, runs).measures)
                truth = float(stats.norm.cdf(items / math.hypot(OF_RUN, REST)).mean())  # these pairs

                def of_score(name: str) -> Measure:
                    return first(measures, name, of="stereotype score")

                spread, by_flips = spread_of_runs(items)
                return {
                    mean: covered(of_score("mean over checkpoints").interval, truth),
                    sd: told(of_score("sd over checkpoints"), spread),
                    ratio: told(of_score("over-dispersion ratio"), spread / by_flips),
                }

            where = f"{seeds} checkpoints, {pairs} pairs"
            promises = {mean: COVERS, sd: COVERS, ratio: COVERS}
            yield World("run, bias", where, promises, several, 200)


BOTH = 0.6
"""Correlation of what two diagnostics of one concept say of a checkpoint."""


def _of_diagnostics() -> Iterator[World]:
    apart = "difference between diagnostics, interval"
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
                apart: covered(first(measures, "difference between diagnostics").interval, 0.05),
            }

        yield World("run, bias", f"{runs} checkpoints, two diagnostics", {apart: COVERS}, repeat)


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
    originals, drop, sample, pattern = (
        "seed accuracy, interval",
        "drop from seeds, interval",
        "sample accuracy, interval",
        "pattern accuracy, interval",
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
            """Premises of two problems, with a chance that variants go right."""
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
            chances = rng.beta(4, 1, (problems + 1) // 2).repeat(2)[:problems]
            measures = scored("a", cases, chances, rng).measures
            whole_row = next(
                row
                for row in measures.where("pattern accuracy")
                if row.groups["threshold"] == "1" and "seed" not in row.groups
            )
            return {
                originals: covered(measures.where("seed accuracy")[0].interval, 0.8),
                drop: covered(measures.where("drop from seeds")[0].interval, 0.0),
                sample: covered(measures.where("sample accuracy")[0].interval, 0.8),
                pattern: covered(whole_row.interval, whole),
            }

        where = f"{problems} problems, two of a premise"
        promises = dict.fromkeys((originals, drop, sample, pattern), COVERS)
        yield World("run, merge", where, promises, repeat, 300)


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
            measures = Measures(order_models(field)[0])
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
                draws = simulation.labelled_draws(field.cases)
                order, _ = simulation.rank_models(field, draws)
                pairs = {
                    (pair.first, pair.second): pair for pair in simulation.model_pairs(field, draws, order)
                }
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


def percent(held: int, times: int) -> str:
    if not times:
        return ""
    error = 100 * math.sqrt(max(held * (times - held), times - 1) / times) / times
    return f"{100 * held / times:.1f} ± {error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time for more repetitions")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME")
    parser.add_argument("--kept", type=Path, default=KEPT)
    chosen = parser.parse_args()
    every = [world for world in worlds() if any(name in world.name for name in chosen.only)]
    counts = kept(chosen.kept)
    order = [cell.name for cell in cells()]
    for _ in simulate(every, counts, chosen.seconds):
        keep(chosen.kept, {name: counts[name] for name in order if name in counts})
    print("\n".join(summary(every, counts)))


if __name__ == "__main__":
    main()

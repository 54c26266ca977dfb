"""What the verbs promise and what they keep: error rates of intervals, p and verdicts, through the verbs themselves.

    python benchmarks/verbs.py                   the table, from the repetitions that are kept
    python benchmarks/verbs.py --seconds 150     more repetitions first, those with the fewest before the others
    python benchmarks/verbs.py --only gate       of the cells whose name has "gate" in it

A cell is a population where the truth is known: a verb on so many cases, with or without templates, with so many seeds.
Fewer than three templates are the population themselves: what is promised then is promised of new fillings of these.
Repetition k of a cell draws with the cell's name and k, so that the counts in docs/studies/coverage/verbs.csv do not
depend on how the work was cut into pieces. tests/test_promises.py runs some of every cell.
"""

import argparse
import csv
import importlib.util
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from shoal import Case, Measures, Outcome, Result
from shoal.claims import ENOUGH_TEMPLATES
from shoal.comparing.judge import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule
from shoal.protocols import bias, merge
from shoal.protocols.base import Built
from shoal.protocols.behaviour.iid import IID
from shoal.protocols.behaviour.learning import compare_trainings
from shoal.protocols.behaviour.learning.conclusions import asked_column
from shoal.protocols.behaviour.learning.table3 import rows_of_table3
from shoal.protocols.behaviour.score import measure
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.records import Answer, Answers
from shoal.runs.settings import make_settings

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
KEPT = Path(__file__).parents[1] / "docs" / "studies" / "coverage" / "verbs.csv"

SIZES, SEEDS = (5, 20, 80), (2, 3, 5)
RUN_SD = 0.05
ALIKE, EACH = 0.3, 5
"""Correlation of two cases of one template, and how many each has."""
QUICK = Choices(shuffles=200, could_see=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """One promise at one size; `repeat` says whether an interval covered, a test erred, a verdict was wrong."""

    verb: str
    what: str
    size: str
    promised: str
    repeat: Callable[[Generator], bool]
    most: int = 400
    """Repetitions that are enough."""

    @property
    def name(self) -> str:
        return f"{self.verb}, {self.what}, {self.size}"


COVERS, ERRS, HALF = "95 or more", "5 or less", "2.5 or less"


def cells() -> Iterator[Cell]:
    """Every promise, verb by verb."""
    yield from _of_try()
    yield from _of_compare()
    yield from _of_gate()
    yield from _of_learning()
    yield from _of_cood()
    yield from _of_bias()
    yield from _of_merge()
    yield from _of_ranking()


# Populations


def cases_of(functionalities: int, size: int, templates: bool) -> list[Case]:
    return [
        Case(
            f"f{f}/{n}",
            ((f"text {f} {n}",),),
            None,
            {"functionality": f"f{f}", "capability": "c", "test type": "MFT"},
            f"f{f} t{n // EACH}" if templates else "",
        )
        for f in range(functionalities)
        for n in range(size)
    ]


def result(cases: Sequence[Case], hits: Bools) -> Result:
    outcomes = [Outcome(case.id, bool(hit)) for case, hit in zip(cases, hits.tolist(), strict=True)]
    return Result({"model": "m"}, cases, outcomes, Measures(measure(cases, outcomes)))


def chances(cases: Sequence[Case], rate: float, rng: Generator) -> Floats:
    """How likely each case passes: the cases of a template alike, others each by itself."""
    spread = (1 - ALIKE) / ALIKE
    owners = [case.cluster or case.id for case in cases]
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    drawn = rng.beta(rate * spread, (1 - rate) * spread, len(numbers))
    return np.array([drawn[numbers[owner]] for owner in owners])


def chances_by_functionality(cases: Sequence[Case], rate: float, rng: Generator) -> Floats:
    """The same; where a functionality has too few templates to tell of others, their own mean is the rate."""
    drawn = chances(cases, rate, rng)
    for name in dict.fromkeys(case.groups["functionality"] for case in cases):
        members = [place for place, case in enumerate(cases) if case.groups["functionality"] == name]
        templates = {cases[place].cluster for place in members}
        if len(templates) < min(len(members), ENOUGH_TEMPLATES):
            drawn[members] = with_mean(drawn[members], rate)
    return drawn


def with_mean(shares: Floats, mean: float) -> Floats:
    """The shares moved on the logit scale, all by as much, until this is their mean."""
    logits = np.log(np.clip(shares, 1e-9, 1 - 1e-9)) - np.log1p(-np.clip(shares, 1e-9, 1 - 1e-9))
    low, high = -40.0, 40.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if float(expit(logits + middle).mean()) < mean else (low, middle)
    found: Floats = expit(logits + low)
    return found


def covered(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] <= truth <= interval[1]


def sizes() -> Iterator[tuple[int, bool, str]]:
    for size in SIZES:
        for templates in (False, True):
            yield size, templates, f"{size} cases" + (", templates of 5" if templates else "")


# try


def _of_try() -> Iterator[Cell]:
    for size, templates, words in sizes():
        for rate in (0.8, 0.95):

            def rate_covered(
                rng: Generator, size: int = size, templates: bool = templates, rate: float = rate
            ) -> bool:
                cases = cases_of(1, size, templates)
                audited = result(cases, rng.random(size) < chances_by_functionality(cases, rate, rng))
                (row,) = audited.measures.where("pass rate", functionality="f0")
                return covered(row.interval, rate)

            yield Cell("try", "pass rate, interval", f"{words}, {rate}", COVERS, rate_covered)
        if size < 80:

            def score_covered(rng: Generator, size: int = size, templates: bool = templates) -> bool:
                cases = cases_of(20, size, templates)
                hits = rng.random(len(cases)) < chances(cases, 0.9, rng)
                (row,) = result(cases, hits).measures.where("suite score")
                return covered(row.interval, 0.9)

            yield Cell("try", "suite score, interval", f"20 x {words}, 0.9", COVERS, score_covered, 600)


# compare


def two_sides(
    cases: Sequence[Case], seeds: int, rng: Generator, difference: float = 0.0
) -> tuple[list[Result], list[Result]]:
    """Recipes on the same cases, B better by so much; with one run each, checkpoints that differ by chance."""
    easy = chances(cases, 0.7, rng)
    sides: tuple[list[Result], list[Result]] = ([], [])
    for side, shift in zip(sides, (0.0, difference), strict=True):
        for _ in range(seeds):
            moved = np.clip(easy + shift + (rng.normal(0, RUN_SD) if seeds > 1 else 0.0), 0, 1)
            side.append(result(cases, rng.random(len(cases)) < moved))
    return sides


def _of_compare() -> Iterator[Cell]:
    for seeds in (1, *SEEDS):
        for size, templates, words in sizes():

            def false_alarm(
                rng: Generator, seeds: int = seeds, size: int = size, templates: bool = templates
            ) -> bool:
                a, b = two_sides(cases_of(3, size, templates), seeds, rng)
                return any(row.significant for row in compare(a, b, QUICK).rows)

            where = f"{seeds} v. {seeds}, 3 x {words}"
            yield Cell("compare", "any row marked, equal models", where, ERRS, false_alarm, 200)

            def difference_covered(
                rng: Generator, seeds: int = seeds, size: int = size, templates: bool = templates
            ) -> bool:
                a, b = two_sides(cases_of(1, size, templates), seeds, rng)
                return covered(compare(a, b, QUICK).headline.interval, 0.0)

            yield Cell(
                "compare", "difference, interval", where.replace("3 x ", ""), COVERS, difference_covered, 200
            )
    for size, templates, words in sizes():

        def wrongly_not_inferior(rng: Generator, size: int = size, templates: bool = templates) -> bool:
            cases = cases_of(1, size, templates)
            if (
                templates and size < EACH * ENOUGH_TEMPLATES
            ):  # these, of which some got worse in more fillings
                kinds = np.where(rng.random(size) < chances_by_functionality(cases, 0.1, rng), 0, 2)
            else:
                worse = {case.cluster or case.id: rng.choice(3, p=[0.12, 0.02, 0.86]) for case in cases}
                kinds = np.array([worse[case.cluster or case.id] for case in cases])
            comparison = compare(
                [result(cases, kinds != 1)], [result(cases, kinds != 0)], Choices(margin=0.1, could_see=False)
            )
            return (comparison.headline.inferior_p or 0.0) <= 0.025

        yield Cell(
            "compare --margin", "worse by the margin, shown not to be", words, HALF, wrongly_not_inferior, 400
        )

        def all_covered(rng: Generator, size: int = size, templates: bool = templates) -> bool:
            a, b = two_sides(cases_of(4, size, templates), 1, rng)
            rows = compare(a, b, Choices("bonferroni", shuffles=200, could_see=False)).rows
            return all(covered(row.interval, 0.0) for row in rows)

        yield Cell(
            "compare --adjust bonferroni", "all intervals together", f"4 x {words}", COVERS, all_covered, 200
        )


# gate


def _of_gate() -> Iterator[Cell]:
    for size, templates, words in sizes():

        def passes(rng: Generator, size: int = size, templates: bool = templates) -> bool:
            cases = cases_of(1, size, templates)
            easy = chances_by_functionality(cases, 0.79, rng)
            judged = judge([Rule(at_least=0.8)], result(cases, rng.random(size) < easy))
            return all(verdict.is_met for verdict in judged)

        yield Cell("gate, lower bound", "a model at .79 passes .8", words, HALF, passes)

        def fails(rng: Generator, size: int = size, templates: bool = templates) -> bool:
            cases = cases_of(10, size, templates)
            rule = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
            easy = chances_by_functionality(cases, 0.8, rng)
            judged = judge([rule], result(cases, rng.random(len(cases)) < easy))
            return not all(verdict.is_met for verdict in judged)

        yield Cell("gate, upper bound", "ten at their limit, any fails", f"10 x {words}", ERRS, fails, 200)

        def ever_fails(rng: Generator, size: int = size, templates: bool = templates) -> bool:
            cases = cases_of(1, size, templates)
            easy = chances(cases, 0.7, rng)
            baseline, *commits = (result(cases, rng.random(size) < easy) for _ in range(101))
            rule = Rule(no_worse_than_baseline_by=0.0, judge="anytime")
            return any(
                not all(verdict.is_met for verdict in judge([rule], commit, baseline, look))
                for look, commit in enumerate(commits, start=1)
            )

        if (size, templates) in ((20, False), (80, True)):
            yield Cell(
                "gate, anytime", "as good as the baseline, fails in 100 looks", words, ERRS, ever_fails, 100
            )


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


def _of_learning() -> Iterator[Cell]:
    iid = {"functionality": IID, "capability": IID, "test type": "MFT"}
    methods = ("vanilla", "l2", "irm")
    table = Settings(train=Train(on=("iid", "iid>suite"), method=methods), resamples=200, shuffles=500)

    def measured(rng: Generator, seeds: int, size: int, templates: bool) -> Measures:
        cases = [
            *cases_of(5, size, templates),
            *(Case(f"iid/{n}", ((f"i {n}",),), None, iid) for n in range(60)),
        ]
        easy = chances(cases, 0.7, rng)
        rows = [("iid", "vanilla"), *(("iid>suite", method) for method in methods)]
        results = []
        for row in rows:
            for seed in range(seeds):
                moved = np.clip(easy + (rng.normal(0, RUN_SD) if seeds > 1 else 0.0), 0, 1)
                results.append(trained(cases, row, seed, rng.random(len(cases)) < moved))
        return Measures(compare_trainings(table, results))

    for seeds in (1, *SEEDS):
        for size, templates in ((20, False), (20, True)):
            where = f"{seeds} seeds, 3 rows, 5 x {size} cases" + (", templates of 5" if templates else "")

            def told(
                rng: Generator, seeds: int = seeds, size: int = size, templates: bool = templates
            ) -> bool:
                rows = rows_of_table3(measured(rng, seeds, size, templates))
                column = asked_column(rows)
                return any(row.cells[column].shown for row in rows if not row.is_baseline)

            yield Cell("run, learning", "helps or hurts, equal recipes", where, ERRS, told, 200)

            def g_covered(
                rng: Generator, seeds: int = seeds, size: int = size, templates: bool = templates
            ) -> bool:
                measures = measured(rng, seeds, size, templates)
                rows = measures.where("difference", score="G", method="l2")
                (row,) = [row for row in rows if "estimand" not in row.groups]
                return covered(row.interval, 0.0)

            if seeds != 2:  # with two seeds the interval is for these runs
                yield Cell("run, learning", "difference of G, interval", where, COVERS, g_covered, 200)


def study(name: str) -> Any:
    """The simulation that a study keeps for itself."""
    path = KEPT.parents[1] / name
    spec = importlib.util.spec_from_file_location(path.parent.name + path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def _of_cood() -> Iterator[Cell]:
    simulation = study("cood/coverage.py")
    for world in ("seeds differ", "seeds decide"):
        for seeds in SEEDS:
            for texts in SIZES:

                def shares(rng: Generator, world: str = world, seeds: int = seeds, texts: int = texts) -> Any:
                    start = int(rng.integers(2**31))
                    return simulation.coverage(simulation.WORLDS[world], seeds, texts, 1, start)

                def beyond(rng: Generator, shares: Callable[[Generator], Any] = shares) -> bool:
                    return bool(shares(rng)["beyond the shortcut"])

                def alarm(rng: Generator, shares: Callable[[Generator], Any] = shares) -> bool:
                    return bool(shares(rng).get("p, paired: COOD", 0.0))

                where = f"{world}, {seeds} seeds, 3 x {texts} texts"
                yield Cell("run, cood", "beyond the shortcut, interval", where, COVERS, beyond, 200)
                yield Cell("run, cood", "COOD of equal setups, p", where, ERRS, alarm, 200)


def _of_bias() -> Iterator[Cell]:
    groups = {"diagnostic": "crows", "category": "age", "direction": "stereo"}
    chosen = make_settings(bias.Settings, {"data": "example"}, "simulation")

    def checkpoint(number: int, prefers: Bools) -> Result:
        cases = [Case(str(place), (("a",), ("b",)), None, groups) for place in range(len(prefers))]
        answers = [
            [Answer("", "tokens", {"score": score}) for score in ((1.0, 0.0) if one else (0.0, 1.0))]
            for one in prefers.tolist()
        ]
        scored = bias.score(chosen, Built(cases, None, "tokens"), {"": answers})
        job = {"model": f"checkpoint {number}", "settings": asdict(chosen), "group": "recipe"}
        return Result(job, cases, scored.outcomes, Measures(scored.measures))

    for pairs in SIZES:

        def score_covered(rng: Generator, pairs: int = pairs) -> bool:
            (row,) = checkpoint(0, rng.random(pairs) < 0.6).measures.where("stereotype score", category="age")
            return covered(row.interval, 0.6)

        yield Cell("try, bias", "stereotype score, interval", f"{pairs} pairs", COVERS, score_covered)
        for seeds in SEEDS:

            def mean_covered(rng: Generator, pairs: int = pairs, seeds: int = seeds) -> bool:
                easy = rng.uniform(0.35, 0.85, pairs)  # these pairs, new checkpoints
                shift = np.clip(rng.normal(0, RUN_SD, seeds), -0.15, 0.15)
                runs = [checkpoint(run, rng.random(pairs) < easy + shift[run]) for run in range(seeds)]
                compared = bias.compare(chosen, runs)
                rows = Measures(compared.measures).where("mean over checkpoints", category="age")
                (row,) = [row for row in rows if row.groups["of"] == "stereotype score"]
                return covered(row.interval, float(easy.mean()))

            where = f"{seeds} checkpoints, {pairs} pairs"
            yield Cell("run, bias", "mean over checkpoints, interval", where, COVERS, mean_covered, 200)
    for words, each in ((5, 1), (8, 1), (8, 5)):

        def tested(rng: Generator, words: int = words, each: int = each) -> Measures:
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
            seat = make_settings(
                bias.Settings, {"data": "example", "diagnostic": "seat", "n_samples": 500}, "simulation"
            )
            return Measures(bias.score(seat, Built([case], None, "vectors"), {"": [answers]}).measures)

        def is_small(rng: Generator, tested: Callable[..., Measures] = tested) -> bool:
            return (tested(rng).where("p value")[0].value or 0.0) <= 0.05

        def effect_covered(rng: Generator, tested: Callable[..., Measures] = tested) -> bool:
            return covered(tested(rng).where("effect size")[0].interval, 0.0)

        where = f"{words} words, {each} sentence{'s' if each > 1 else ''} each"
        yield Cell("try, bias", "SEAT, p of no association", where, ERRS, is_small)
        yield Cell("try, bias", "SEAT, effect size, interval", where, COVERS, effect_covered)


def _of_merge() -> Iterator[Cell]:
    variants, chosen = 10, make_settings(merge.Settings, {"data": "example"}, "simulation")
    draws = [{"groups": {}, "draws": [list(range(1, variants + 1))]}]

    def measured(rng: Generator, problems: int) -> Measures:
        """Problems of premises of two; each problem has a chance of its own that its variants go right."""
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
        easy = rng.beta(4, 1, (problems + 1) // 2).repeat(2)[:problems]
        wrong = rng.random((problems, variants + 1)) >= easy[:, None]
        answers = Answers(("entailment", "neutral"), wrong.ravel().astype(np.int64))
        return Measures(merge.score(chosen, Built(cases, None, "labels"), {"": answers}).measures)

    for problems in SIZES:

        def sample_covered(rng: Generator, problems: int = problems) -> bool:
            return covered(measured(rng, problems).where("sample accuracy")[0].interval, 0.8)

        where = f"{problems} problems, two of a premise"
        yield Cell("try, merge", "sample accuracy, interval", where, COVERS, sample_covered)


def _of_ranking() -> Iterator[Cell]:
    simulation = study("ranking/simulate.py")
    for models in (2, 5):
        for how in ("uniform", "disagreement"):

            def decided(rng: Generator, models: int = models, how: str = how) -> bool:
                equal = np.full(models, 0.7)
                sheets = simulation.rotated(
                    simulation.answer_sheets(equal, simulation.POOL_SIZE // models, rng)
                )
                return bool(simulation.one_run(sheets, how, rng)[2])

            where = f"{models} models, drawn by {how}, 12 looks"
            yield Cell("rank", "equal models, any pair decided", where, ERRS, decided, 200)


# Keeping and showing


def kept(path: Path) -> dict[str, tuple[int, int]]:
    """By cell: how often it held, of how many."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["cell"]: (int(row["held"]), int(row["repetitions"])) for row in csv.DictReader(stream)}


def keep(path: Path, counts: dict[str, tuple[int, int]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["cell", "held", "repetitions"])
        rows.writerows([name, held, times] for name, (held, times) in counts.items())


def repeated(cell: Cell, first: int, times: int) -> int:
    """How often it held in some repetitions, from the first."""
    name = zlib.crc32(cell.name.encode())
    return sum(cell.repeat(np.random.default_rng([name, number])) for number in range(first, first + times))


def simulate(every: Sequence[Cell], counts: dict[str, tuple[int, int]], seconds: float) -> None:
    """Add repetitions, five at a time, where there are the fewest of those wanted, until the time is up."""
    until = time.process_time() + seconds

    def share(cell: Cell) -> float:
        return counts.get(cell.name, (0, 0))[1] / cell.most

    while time.process_time() < until and (cell := min(every, key=share)) and share(cell) < 1:
        held, times = counts.get(cell.name, (0, 0))
        counts[cell.name] = held + repeated(cell, times, 5), times + 5


def print_table(every: Sequence[Cell], counts: dict[str, tuple[int, int]]) -> None:
    """Each promise over all its sizes, then size by size."""
    print("| verb | what | promised | measured | of |\n| --- | --- | --: | --: | --: |")
    for verb, what, promised in dict.fromkeys((cell.verb, cell.what, cell.promised) for cell in every):
        known = [counts.get(cell.name, (0, 0)) for cell in every if (cell.verb, cell.what) == (verb, what)]
        held, times = (sum(column) for column in zip(*known, strict=True))
        print(f"| {verb} | {what} | {promised} | {_percent(held, times)} | {times} |")
    print("\n| verb | what | size | promised | measured | of |\n| --- | --- | --- | --: | --: | --: |")
    for cell in every:
        held, times = counts.get(cell.name, (0, 0))
        print(
            f"| {cell.verb} | {cell.what} | {cell.size} | {cell.promised} | {_percent(held, times)} | {times} |"
        )


def _percent(held: int, times: int) -> str:
    if not times:
        return ""
    error = 100 * math.sqrt(max(held * (times - held), times - 1) / times) / times
    return f"{100 * held / times:.1f} ± {error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time for more repetitions")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--kept", type=Path, default=KEPT)
    chosen = parser.parse_args()
    every, counts = [cell for cell in cells() if chosen.only in cell.name], kept(chosen.kept)
    if chosen.seconds:
        try:
            simulate(every, counts, chosen.seconds)
        finally:
            keep(chosen.kept, {cell.name: counts[cell.name] for cell in cells() if cell.name in counts})
    print_table(every, counts)


if __name__ == "__main__":
    main()

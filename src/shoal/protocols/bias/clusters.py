"""Do the vectors of two concepts fall into two clusters? (`docs/method/bias.md` 5.6, Figure 2 of the paper)

k-means with k = 2 on the raw vectors; accuracy under the better of the two ways to match clusters to concepts. Its
chance level is above one half and stands beside it.
"""

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import some
from ...core.measures import FEW_CASES, SHARE, shown
from ...core.records import Answer, Case, Measure, Measures, Outcome
from ...core.views import Block, Column, Dots, Number, Row, Table
from ...data.seat import WordSet
from ...stats import clusters as stats
from ..base import Scored
from .family import Family, Line, axes, first, measure, several, spread_measures
from .notes import UNDEFINED, WHY, Phrases, noted
from .settings import Settings
from .vectors import ASKS, FILES, FOLDER, ask, find_tests, representation_of, split

Floats = NDArray[np.float64]

SEEDS = 5
"""Clusterings from different starts, over which the numbers are means."""

CASES = "pairs of concepts"
CONCEPTS: dict[str, str] = {}
SCALE = (0.4, 1.0)
"""The ends of a strip of accuracies, which are never below one half."""
NAMES = ("cluster accuracy", "chance accuracy", "adjusted rand index", "silhouette", "p value")
BELOW: Phrases = {
    "no vector": lambda facts: f"no vector for {some(facts['no vector'])}: left out",
    **UNDEFINED,
}
BESIDE: Phrases = {
    "chance": lambda facts: (
        f"chance {facts['chance']:.3f}, and 95 % of random labels below {facts['chance, highest']:.3f}; "
        f"mean of {SEEDS} clusterings"
    ),
}
HOW = {
    "chance accuracy": "labels put on the same clusters at random",
    "p value": "over all orders of the labels",
}

__all__ = [
    "ASKS", "BELOW", "CASES", "CONCEPTS", "FILES", "FOLDER",
    "across", "ask", "blocks", "conclude", "files", "make_cases", "score", "table",
]  # fmt: skip


def make_cases(path: Path | None, tests: Sequence[str] = ()) -> list[Case]:
    """A case per pair of concepts, targets and attributes of each test; a pair that came before is left out."""
    cases: list[Case] = []
    seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for test in find_tests(path, tests):
        for what, one, two in (("targets", test.targ1, test.targ2), ("attributes", test.attr1, test.attr2)):
            if (one.examples, two.examples) not in seen:
                seen.add((one.examples, two.examples))
                cases.append(_case(test.name, what, one, two))
    return cases


def _case(test: str, what: str, one: WordSet, two: WordSet) -> Case:
    pairs = tuple(pair for side in (one, two) for pair in zip(side.examples, side.words, strict=True))
    groups = {"diagnostic": "clusters", "test": test, "category": f"{one.category}/{two.category}"}
    return Case(f"{test}/{what}", pairs, None, groups, "", {"sizes": [len(one.examples), len(two.examples)]})


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    """Accuracy, its chance level, adjusted Rand index and silhouette for every pair of concepts."""
    outcomes, measures = [], []
    for case, rows in zip(cases, answered, strict=True):
        numbers = _separability(settings, case, rows)
        measures += numbers
        accuracy, chance, p = numbers[0].value, numbers[1].value, numbers[-1].value
        known = accuracy is not None and chance is not None
        error = "" if known or not numbers[0].errors else f"{numbers[0].errors} texts without a vector"
        above = accuracy - chance if accuracy is not None and chance is not None else None
        outcomes.append(Outcome(case.id, p < 0.05 if known and p is not None else None, above, error))
    phrases = {**BESIDE, "how": lambda facts: str(facts["how"]), **BELOW}
    return Scored(outcomes, noted(measures, phrases))


def _separability(settings: Settings, case: Case, rows: Sequence[Answer]) -> list[Measure]:
    groups = {**case.groups, "representation": representation_of(settings, rows)}
    sets, missing, errors = split(case, rows)
    sizes = [len(vectors) for vectors, _ in sets]
    facts: dict[str, Any] = {"no vector": missing} if missing else {}
    counts: dict[str, Any] = {"na": len(missing), "errors": errors}
    too_few = min(sizes) == 0 or sum(sizes) < 3
    points = np.empty((0, 0)) if too_few else np.concatenate([vectors for vectors, _ in sets])
    if too_few or np.ptp(points, axis=0).max() == 0:
        why = {WHY: "too few vectors are left" if too_few else "all vectors are the same"}
        return [Measure(name, None, sum(sizes), groups, **counts, facts=facts | why) for name in NAMES]
    means, high = _clusterings(case.id, points, np.repeat([0, 1], sizes))
    about: dict[str, dict[str, Any]] = {name: {"how": how} for name, how in HOW.items()}
    about["cluster accuracy"] = {"compare": "runs", "chance": means[1], "chance, highest": high, **facts}
    return [
        Measure(name, value, sum(sizes), groups, **counts, facts=about.get(name, {}))
        for name, value in zip(NAMES, means, strict=True)
    ]


def _clusterings(name: str, points: Floats, labels: NDArray[np.int64]) -> tuple[list[float], float]:
    """The numbers of `NAMES` over several starts, and below which accuracy 95 % of random labels stay."""
    table, high = [], []
    for number in range(SEEDS):
        codes = stats.two_means(points, np.random.default_rng([number, zlib.crc32(name.encode())]))
        chance = stats.chance_accuracy(labels, codes)
        high.append(chance.high)
        accuracy, rand = stats.cluster_accuracy(labels, codes), stats.adjusted_rand(labels, codes)
        table.append((accuracy, chance.mean, rand, stats.silhouette(points, codes), chance.p))
    return np.nanmean(np.array(table), axis=0).tolist(), float(np.mean(high))


# Several checkpoints


def across(settings: Settings, families: Sequence[Family]) -> list[Measure]:
    """Figure 2: accuracy of clusters per pair of concepts beside its chance level."""
    return [row for family in families for row in _spread(family)]


def _spread(family: Family) -> Iterator[Measure]:
    for slice_, n in family.final_slices("cluster accuracy"):
        accuracies = family.values("cluster accuracy", slice_)
        chances = [value for value in family.values("chance accuracy", slice_) if value is not None]
        groups = {**family.groups, **slice_}
        for name, accuracy in zip(family.names, accuracies, strict=True):
            yield Measure("cluster accuracy", accuracy, n, {**groups, "checkpoint": name})
        yield from spread_measures("cluster accuracy", accuracies, n, groups)
        if chances:
            yield measure("chance accuracy", float(np.mean(chances)), n, groups, "labels put on at random")
            yield spread_measures("chance accuracy", chances, n, groups)[0]


def conclude(measures: Measures, runs: int) -> Iterator[str]:
    """How far the accuracy spreads at the most."""
    pairs = {row.groups["category"] for row in measures.where("chance accuracy")}
    spreads = [
        row for row in measures.where("sd over checkpoints") if row.value is not None and row.n >= FEW_CASES
    ]
    if not spreads:
        yield f"No pair of concepts with {FEW_CASES} items or more is defined in several checkpoints."
        return
    widest = max(spreads, key=lambda row: row.value or 0.0)
    yield (
        f"Over {several(runs)} the accuracy of {several(len(pairs), 'pair')} of concepts spreads by up to "
        f"{shown(widest.value, SHARE)} points ({widest.groups['category']})."
    )


# To show


def table(measures: Measures) -> Table:
    """A row per pair of concepts."""
    columns = [Column("concepts", "left"), Column("accuracy"), Column("chance"), Column("n")]
    columns += [Column("", "left", spare=True, scale=SCALE), Column("rand"), Column("silhouette")]
    rows = []
    for row in measures.where("cluster accuracy"):
        about = {key: row.groups[key] for key in ("test", "category")}
        chance, rand, width = (first(measures, name, **about) for name in NAMES[1:4])
        rows.append(
            Row([
                _name(row), Number(row), Number(chance, "quiet"), Number(row, part="n"),
                Dots([row], SCALE, _middle(chance)), Number(rand), Number(width),
            ])
        )  # fmt: skip
    return Table(columns, rows)


def _name(row: Measure) -> str:
    return f"{row.groups['category']} ({row.groups['test']})"


def _middle(chance: Measure | None) -> float:
    return 0.5 if chance is None or chance.value is None else chance.value


def blocks(measures: Measures) -> list[Block]:
    """Figure 2 of the paper at its end: accuracy of clusters beside its chance level."""
    columns = [Column("concepts", "left"), *map(Column, ("mean", "SD", "chance", "n"))]
    columns.append(Column("", "left", spare=True, scale=SCALE))
    rows = []
    for row in measures.where("mean over checkpoints", of="cluster accuracy"):
        about = {key: row.groups.get(key) for key in ("test", "category")}
        same = Measures(other for other in measures if about == {key: other.groups.get(key) for key in about})
        sd, chance = first(same, "sd over checkpoints"), first(same, "chance accuracy")
        dots = [dot for dot in same.where("cluster accuracy") if "checkpoint" in dot.groups]
        numbers = [Number(row), Number(sd), Number(chance, "quiet"), Number(row, part="n")]
        rows.append(Row([_name(row), *numbers, Dots(dots, SCALE, _middle(chance))]))
    return [Table(columns, rows)]


# For computing


def files(families: Sequence[Family], measures: Measures) -> dict[str, list[Line]]:
    """Accuracy beside chance by pair of concepts, representation and checkpoint."""
    return {"clusters": [line for family in families for line in _each_checkpoint(family)]}


def _each_checkpoint(family: Family) -> Iterator[Line]:
    for slice_, _ in family.slices("cluster accuracy"):
        rows = [family.rows(name, slice_) for name in NAMES[:2]]
        for name, accuracy, chance in zip(family.names, *rows, strict=True):
            yield {
                "test": slice_["test"], "category": slice_["category"], "size": family.recipe, "run": name,
                "representation": family.representation, **axes(slice_),
                "accuracy": Number(accuracy), "chance": Number(chance),
            }  # fmt: skip

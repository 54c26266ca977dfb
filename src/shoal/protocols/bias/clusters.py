"""Clusters: whether the vectors of two concepts form two clusters (`docs/method/bias.md` 5.6, Figure 2 of the paper).

k-means with k = 2 on the raw vectors; accuracy under the better of the two ways to match clusters to concepts. Its
chance level is above one half and is reported with it.
"""

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Answer, Basis, Case, Finding, Measure, Outcome
from ...data.seat import WordSet
from ...stats import clusters
from ..base import Asks, Scored
from . import wording
from .asking import Floats, find_tests, representation_name, split_sets
from .asking import ask_vectors as ask
from .family import Family, number, over_checkpoints
from .settings import Settings

FOLDER, FILES = "seat", ()
ASKS: Asks = "vectors"
CASES = "pairs of concepts"
CONCEPTS: dict[str, str] = {}
STARTS = 5
"""Clusterings over which the numbers are means."""
ACCURACY, CHANCE = "cluster accuracy", "chance accuracy"
NAMES = (ACCURACY, CHANCE, "p value")

__all__ = ["ASKS", "CASES", "CONCEPTS", "FILES", "FOLDER", "across", "ask", "make_cases", "score"]


def make_cases(path: Path | None, tests: Sequence[str] = ()) -> list[Case]:
    """Return a case per pair of concepts, targets and attributes of each test, without repeated pairs."""
    cases: list[Case] = []
    seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for test in find_tests(path, tests):
        for kind, first, second in (
            ("targets", test.targ1, test.targ2),
            ("attributes", test.attr1, test.attr2),
        ):
            if (first.examples, second.examples) not in seen:
                seen.add((first.examples, second.examples))
                cases.append(_case(test.name, kind, first, second))
    return cases


def _case(test: str, kind: str, first: WordSet, second: WordSet) -> Case:
    pairs = tuple(pair for side in (first, second) for pair in zip(side.examples, side.words, strict=True))
    groups = {"diagnostic": "clusters", "test": test, "category": f"{first.category}/{second.category}"}
    sizes = [len(first.examples), len(second.examples)]
    return Case(f"{test}/{kind}", pairs, None, groups, "", {"sizes": sizes})


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    """Return accuracy, chance level and p for every pair of concepts."""
    outcomes, measures = [], []
    for case, rows in zip(cases, answered, strict=True):
        accuracy, chance, p = _separability(settings, case, rows)
        measures += [accuracy, chance, p]
        if accuracy.value is None or chance.value is None or p.value is None:
            error = f"{accuracy.errors} texts without a vector" if accuracy.errors else ""
            outcomes.append(Outcome(case.id, None, None, error))
        else:
            outcomes.append(Outcome(case.id, p.value < 0.05, accuracy.value - chance.value))
    separable = [outcome.passed for outcome in outcomes if outcome.passed is not None]
    text = wording.separable_pairs(sum(separable), len(separable))
    return Scored(outcomes, measures, findings=[Finding("conclusion", text)])


def _separability(settings: Settings, case: Case, rows: Sequence[Answer]) -> list[Measure]:
    groups = {**case.groups, "representation": representation_name(settings, rows)}
    sets, missing, errors = split_sets(case, rows)
    sizes = [len(set_.words) for set_ in sets]
    counts: dict[str, Any] = {"na": len(missing), "errors": errors}
    too_few = min(sizes) == 0 or sum(sizes) < 3
    points = np.empty((0, 0)) if too_few else np.concatenate([set_.vectors for set_ in sets])
    if too_few or np.ptp(points, axis=0).max() == 0:
        reason = "too few vectors" if too_few else "all vectors are the same"
        return [Measure(name, None, sum(sizes), groups, **counts, reason=reason) for name in NAMES]
    (accuracy, chance, p), high = _clusterings(case.id, points, np.repeat([0, 1], sizes))
    note = wording.chance_level(chance, high, STARTS)
    lacking = wording.no_vector(missing)
    n = sum(sizes)
    return [
        Measure(
            ACCURACY, accuracy, n, groups, **counts, note="; ".join(filter(None, [lacking, note])),
            basis=Basis(runs=True),
        ),
        Measure(CHANCE, chance, n, groups, **counts),
        Measure("p value", p, n, groups, **counts, note="over all permutations of the labels"),
    ]  # fmt: skip


def _clusterings(name: str, points: Floats, labels: NDArray[np.int64]) -> tuple[list[float], float]:
    """Return mean accuracy, chance level and p over several starts, and the 95th percentile of chance."""
    table, high = [], []
    for start in range(STARTS):
        codes = clusters.two_means(points, np.random.default_rng([start, zlib.crc32(name.encode())]))
        chance = clusters.chance_accuracy(labels, codes)
        high.append(chance.high)
        table.append((clusters.cluster_accuracy(labels, codes), chance.mean, chance.p))
    return np.mean(np.array(table), axis=0).tolist(), float(np.mean(high))


# Several checkpoints


def across(settings: Settings, families: Sequence[Family]) -> list[Measure]:
    """Return the accuracy of each pair of concepts over checkpoints, with its chance level."""
    return [row for family in families for row in _spread(family)]


def _spread(family: Family) -> Iterator[Measure]:
    for slice_, n in family.final_slices(ACCURACY):
        accuracies = family.values(ACCURACY, slice_)
        chances = [value for value in family.values(CHANCE, slice_) if value is not None]
        groups = {**family.groups, **slice_}
        for name, accuracy in zip(family.names, accuracies, strict=True):
            yield Measure(ACCURACY, accuracy, n, {**groups, "checkpoint": name})
        yield from over_checkpoints(ACCURACY, accuracies, n, groups)
        if chances:
            yield number(CHANCE, float(np.mean(chances)), n, groups)
            yield over_checkpoints(CHANCE, chances, n, groups)[0]

"""Clusters: whether the vectors of two concepts form two clusters (`docs/method/bias.md` 5.6, Figure 2 of the paper).

k-means with k = 2 on the raw vectors; accuracy under the better of the two ways to match clusters to concepts. Its
chance level is above one half and depends on the sizes: for random labels the number of one label in one cluster is
hypergeometric.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from ...core.records import Answer, Basis, Case, Finding, Measure, Outcome
from ..base import Asks, Scored
from . import wording
from .asking import Floats, find_tests, representation_name, split_sets
from .asking import ask as ask
from .family import Family, over_checkpoints
from .settings import Settings

FOLDER, FILES = "seat", ()
ASKS: Asks = "vectors"
CONCEPTS: dict[str, str] = {}
STARTS = 5
"""Clusterings over which the numbers are means."""
RESTARTS = 10
"""Of k-means."""
Codes = NDArray[np.integer]
ACCURACY, CHANCE = "cluster accuracy", "chance accuracy"
NAMES = (ACCURACY, CHANCE, "p value")


def make_cases(path: Path | None, settings: Settings) -> list[Case]:
    """Return a case per pair of concepts, targets and attributes of each test, without repeated pairs."""
    cases: dict[tuple[tuple[str, ...], ...], Case] = {}
    for test in find_tests(path, settings.tests):
        for kind, sides in (("targets", test.sets[:2]), ("attributes", test.sets[2:])):
            pairs = tuple(pair for side in sides for pair in zip(side.examples, side.words, strict=True))
            category = "/".join(side.category for side in sides)
            groups = {"diagnostic": "clusters", "test": test.name, "category": category}
            sizes = {"sizes": [len(side.examples) for side in sides]}
            case = Case(f"{test.name}/{kind}", pairs, None, groups, "", sizes)
            cases.setdefault(tuple(side.examples for side in sides), case)
    return list(cases.values())


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


def _separability(settings: Settings, case: Case, answers: Sequence[Answer]) -> list[Measure]:
    groups = {**case.groups, "representation": representation_name(settings, answers)}
    sets, missing, errors = split_sets(case, answers)
    sizes = [len(set_.words) for set_ in sets]
    rows = [Measure(name, None, sum(sizes), groups, na=len(missing), errors=errors) for name in NAMES]
    if min(sizes) == 0 or sum(sizes) < 3:
        return [replace(row, reason="too few vectors") for row in rows]
    points = np.concatenate([set_.vectors for set_ in sets])
    if np.ptp(points, axis=0).max() == 0:
        return [replace(row, reason="all vectors are the same") for row in rows]
    labels, table = np.repeat([0, 1], sizes), []
    for start in range(STARTS):
        codes = two_means(points, np.random.default_rng([start, zlib.crc32(case.id.encode())]))
        table.append((cluster_accuracy(labels, codes), *chance_accuracy(labels, codes)))
    values = np.mean(table, axis=0).tolist()
    accuracy, chance, p = (replace(row, value=value) for row, value in zip(rows, values, strict=True))
    accuracy = replace(accuracy, note=wording.no_vector(missing), basis=Basis(runs=True))
    return [accuracy, chance, replace(p, note="over all permutations of the labels")]


# k-means and its chance level


def two_means(vectors: ArrayLike, rng: Generator) -> Codes:
    """Return the cluster, 0 or 1, of each vector (a row): k-means with k-means++ starts, the tightest of several."""
    points = np.asarray(vectors, dtype=np.float64)
    points = points - points.mean(axis=0)
    clusterings = [_lloyd(points, _plus_plus(points, rng)) for _ in range(RESTARTS)]
    return min(clusterings, key=lambda clustering: clustering[1])[0]


def _plus_plus(points: Floats, rng: Generator) -> Floats:
    """Return two centres: a point at random, and another the likelier the farther away."""
    first = points[int(rng.integers(len(points)))]
    away = ((points - first) ** 2).sum(axis=1)  # never all 0, as not all vectors are the same
    return np.stack([first, points[int(rng.choice(len(points), p=away / away.sum()))]])


def _lloyd(points: Floats, centres: Floats) -> tuple[Codes, float]:
    """Return the cluster of each point, and the sum of squared distances to the centres."""
    centres, _ = scipy.cluster.vq.kmeans(points, centres, thresh=0)
    clusters, distances = scipy.cluster.vq.vq(points, centres)
    return clusters, float((distances**2).sum())


def cluster_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share right under the better of the two ways to match two clusters to two labels."""
    right = float((np.asarray(labels) == np.asarray(clusters)).mean())
    return max(right, 1 - right)


def chance_accuracy(labels: ArrayLike, clusters: ArrayLike) -> tuple[float, float]:
    """Return the mean accuracy over all permutations of the labels, and the share with at least the observed one."""
    a, b = np.asarray(labels, np.int64), np.asarray(clusters, np.int64)
    n, ones, in_cluster = len(a), int(a.sum()), int(b.sum())
    both = np.arange(max(0, ones + in_cluster - n), min(ones, in_cluster) + 1)
    chances = scipy.stats.hypergeom.pmf(both, n, ones, in_cluster)
    right = (2 * both + n - ones - in_cluster) / n
    accuracy = np.maximum(right, 1 - right)
    seen = cluster_accuracy(a, b)
    return float(accuracy @ chances), min(1.0, float(chances[accuracy >= seen - 1e-12].sum()))


# Several checkpoints


def across(family: Family) -> list[Measure]:
    """Return the accuracy of each pair of concepts over checkpoints, with its chance level."""
    measures: list[Measure] = []
    for slice_, n in family.final_slices(ACCURACY):
        measures += family.spread(ACCURACY, slice_, n)
        groups = {**family.groups, **slice_}
        if chances := list(family.defined_values(CHANCE, slice_).values()):
            measures.append(Measure(CHANCE, float(np.mean(chances)), n, groups))
            measures += over_checkpoints(CHANCE, chances, n, groups)[:1]
    return measures

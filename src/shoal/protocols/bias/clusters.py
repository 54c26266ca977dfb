"""Do the vectors of two concepts fall into two clusters? (`docs/method/bias.md` 5.6, Figure 2 of the paper)

k-means with k = 2 on the raw vectors; accuracy under the better of the two ways to match clusters to concepts. Its
chance level is above one half and stands beside it.
"""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...data.seat import WordSet
from ...errors import some
from ...records import Answer, Case, Measure, Outcome
from ...stats import clusters as stats
from .seat import ASKS, FILES, FOLDER, ask, find_tests, representation_of, split
from .settings import Settings
from .shares import joined

SEEDS = 5
"""Clusterings from different starts, over which the numbers are means."""

__all__ = ["ASKS", "FILES", "FOLDER", "ask", "make_cases", "score"]


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


def score(
    settings: Settings, cases: Sequence[Case], said: Sequence[Sequence[Answer]]
) -> tuple[list[Outcome], list[Measure]]:
    """Accuracy, its chance level, adjusted Rand index and silhouette for every pair of concepts."""
    outcomes, measures = [], []
    for case, rows in zip(cases, said, strict=True):
        found = _separability(settings, case, rows)
        measures += found
        accuracy, chance = found[0].value, found[1].value
        known = accuracy is not None and chance is not None
        error = "" if known or not found[0].errors else f"{found[0].errors} texts without a vector"
        outcomes.append(
            Outcome(
                case.id,
                found[-1].value < 0.05 if known and found[-1].value is not None else None,
                accuracy - chance if accuracy is not None and chance is not None else None,
                error,
            )
        )
    return outcomes, measures


def _separability(settings: Settings, case: Case, rows: Sequence[Answer]) -> list[Measure]:
    groups = {**case.groups, "representation": representation_of(settings, rows)}
    sets, missing, errors = split(case, rows)
    sizes = [len(vectors) for vectors, _ in sets]
    note = f"no vector for {some(missing)}: left out" if missing else ""
    names = ("cluster accuracy", "chance accuracy", "adjusted rand index", "silhouette", "p value")
    if min(sizes) == 0 or sum(sizes) < 3:
        words = joined(note, "too few vectors are left")
        return [
            Measure(name, None, sum(sizes), groups, na=len(missing), errors=errors, note=words)
            for name in names
        ]
    points = np.concatenate([vectors for vectors, _ in sets])
    if np.ptp(points, axis=0).max() == 0:
        words = joined(note, "all vectors are the same")
        return [
            Measure(name, None, sum(sizes), groups, na=len(missing), errors=errors, note=words)
            for name in names
        ]
    labels = np.repeat([0, 1], sizes)
    table, high = [], []
    for number in range(SEEDS):
        rng = np.random.default_rng([number, zlib.crc32(case.id.encode())])
        codes = stats.two_means(points, rng)
        chance = stats.chance_accuracy(labels, codes)
        high.append(chance.high)
        table.append(
            (
                stats.cluster_accuracy(labels, codes),
                chance.mean,
                stats.adjusted_rand(labels, codes),
                stats.silhouette(points, codes),
                chance.p,
            )
        )
    means = np.nanmean(np.array(table), axis=0)
    beside = f"chance {means[1]:.3f}, and 95 % of random labels below {np.mean(high):.3f}; mean of {SEEDS} clusterings"
    notes = (
        joined(beside, note),
        "labels put on the same clusters at random",
        "",
        "",
        "over all orders of the labels",
    )
    return [
        Measure(name, float(value), sum(sizes), groups, na=len(missing), errors=errors, note=words)
        for name, value, words in zip(names, means, notes, strict=True)
    ]

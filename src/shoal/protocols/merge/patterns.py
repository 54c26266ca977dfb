"""Patterns of right and wrong variants, by filter, word class and source."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.records import Answers, Case
from ...stats.patterns import is_solved
from .settings import HEADLINE, Settings

Floats = NDArray[np.float64]
Groups = tuple[tuple[str, str], ...]

GRID = tuple(number / 20 for number in range(1, 21))
"""Thresholds of the curve."""
SEED = "seed right"
"""Column: whether the original is right."""


def correctness(cases: Sequence[Case], answers: Answers) -> list[Floats]:
    """Return 1, 0 or, without an answer, NaN for each example of each case."""
    names = np.array(answers.labels)
    row = 0
    correct = []
    for case in cases:
        rows = range(row, row + len(case.examples))
        labels = np.array([str(label) for label in case.labels or ()])
        hits = (names[answers.predictions[row : row + len(rows)]] == labels).astype(np.float64)
        for position in (number for number in rows if number in answers.errors):
            hits[position - row] = np.nan
        correct.append(hits)
        row += len(case.examples)
    return correct


@dataclass(frozen=True, slots=True)
class Condition:
    """The patterns of a filter condition, a word class or a source; those without answers in a draw are left out."""

    groups: Mapping[str, str]
    only: Mapping[str, str]
    """Restriction of the cases."""
    errors: int
    """Variants without an answer."""
    right: Floats  # (patterns, draws)
    n: Floats  # (patterns, draws)
    places: NDArray[np.int64]  # (patterns,) positions of their cases
    clusters: NDArray[np.int64]  # (patterns,)

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(np.unique(self.places))

    @property
    def suffix(self) -> str:
        """The groups as part of a column name; the filter is a group of the case."""
        return "".join(f", {value}" for key, value in self.groups.items() if key != "filter")

    def solved(self, threshold: float) -> Floats:
        """Return how often each pattern is solved, as a mean over draws."""
        shares: Floats = is_solved(self.right, self.n, threshold).mean(axis=1)
        return shares


class PatternTable:
    """All patterns of a result by condition, and the columns derived from them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], right: Sequence[Floats]) -> None:
        self.settings, self.cases, self.right = settings, cases, right
        names: dict[str, int] = {}
        self.clusters = np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])
        self.seeds = np.array([hits[0] for hits in right])
        pairs = any(len(case.examples[0]) > 1 for case in cases)
        self.unit = "premises" if pairs else "groups" if settings.counts_seed else "texts"
        """The sampling unit of all intervals."""
        self.columns: dict[str, list[float | None]] = {SEED: as_list(self.seeds)}
        self.filters = list(dict.fromkeys(case.groups["filter"] for case in cases if "filter" in case.groups))
        one_filter = self.filters in ([], ["default"])
        self.base: dict[str, str] = {} if one_filter else {"filter": self.filters[0]}
        """Groups of the measures over all word classes under the first filter condition."""
        self.conditions = list(self._conditions())
        shown = {*HEADLINE, settings.threshold}
        self.thresholds = tuple(sorted({*GRID, *shown}))
        self.headline = tuple(sorted(shown))

    def first_filter(self) -> Iterator[tuple[Case, Floats]]:
        """Yield the cases of the first filter condition, each with its correctness."""
        for case, hits in zip(self.cases, self.right, strict=True):
            if not self.filters or case.groups.get("filter") == self.filters[0]:
                yield case, hits

    def fill(self, name: str, condition: Condition, values: Floats) -> None:
        """Write the values of a condition's problems into a column."""
        column = self.columns.setdefault(name, [None] * len(self.cases))
        for place, value in zip(condition.places.tolist(), values.tolist(), strict=True):
            column[place] = value

    def _conditions(self) -> Iterator[Condition]:
        """Yield the conditions by filter: all patterns, then word classes, then sources."""
        parts: dict[tuple[str, Groups], list[tuple[int, list[list[int]]]]] = {}
        for position, case in enumerate(self.cases):
            name = case.groups.get("filter", "")
            for pattern in case.meta.get("patterns", ()):
                if pattern["groups"] and name not in self.filters[:1]:
                    continue  # word classes and sources are split under the first filter only
                key = (name, tuple(pattern["groups"].items()))
                draws = pattern["draws"]
                if self.settings.counts_seed:
                    draws = [[0, *draw] for draw in draws]
                parts.setdefault(key, []).append((position, draws))
        for name in self.filters or [""]:
            for key in sorted((key for key in parts if key[0] == name), key=lambda key: _order(key[1])):
                groups = {**dict(key[1]), **({"filter": name} if self.base else {})}
                yield self._condition(groups, {"filter": name} if name else {}, parts[key])

    def _condition(
        self,
        groups: Mapping[str, str],
        only: Mapping[str, str],
        patterns: Sequence[tuple[int, list[list[int]]]],
    ) -> Condition:
        errors, right, n, places = 0, [], [], []
        for position, draws in patterns:
            drawn = [self.right[position][draw] for draw in draws]
            used = sorted({place for draw in draws for place in draw})
            errors += int(np.isnan(self.right[position][used]).sum())
            known = [float((~np.isnan(hits)).sum()) for hits in drawn]
            if min(known) > 0:
                right.append([float(np.nansum(hits)) for hits in drawn])
                n.append(known)
                places.append(position)
        at = np.array(places, np.int64)
        return Condition(groups, only, errors, np.array(right), np.array(n), at, self.clusters[at])


def _order(groups: Groups) -> tuple[int, Groups]:
    kinds = ["", "word class", "source"]
    return (kinds.index(groups[0][0]) if groups else 0, groups)


def as_list(values: Floats) -> list[float | None]:
    """Return the values with None instead of NaN, for JSON."""
    return [None if math.isnan(value) else value for value in values.tolist()]

"""Patterns of right and wrong variants, by filter, word class and source.

PatternTable ──► Condition ──► Counts      all patterns; those of one condition; the same as arrays
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Answers, Case
from ...stats.patterns import is_solved, solved_shares
from .settings import HEADLINE, Settings

Floats = NDArray[np.float64]

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
class Pattern:
    """Right variants of one problem: a number per draw, or the pools from which all draws come."""

    case: int
    right: Floats  # (draws,)
    n: Floats  # (draws,)
    pools: tuple[tuple[int, int, int], ...] = ()
    """(right, total, drawn) of each pool, if all variants were queried."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Patterns measured together: a filter condition, with a word class or a source."""

    groups: Mapping[str, str]
    only: Mapping[str, str]
    """Restriction of the cases."""
    patterns: Sequence[Pattern] = field(repr=False)
    errors: int = 0
    """Variants without an answer."""

    @property
    def suffix(self) -> str:
        """The groups as part of a column name; the filter is a group of the case."""
        return "".join(f", {value}" for key, value in self.groups.items() if key != "filter")


class PatternTable:
    """All patterns of a result by condition, and the columns derived from them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], right: Sequence[Floats]) -> None:
        self.settings, self.cases, self.right = settings, cases, right
        names: dict[str, int] = {}
        self.clusters = np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])
        self.seeds = np.array([hits[0] for hits in right])
        pairs = any(len(case.examples[0]) > 1 for case in cases)
        self.unit = "premises" if pairs else "groups" if settings.group or settings.paraphrase else "texts"
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

    def _conditions(self) -> Iterator[Condition]:
        """Yield the conditions by filter: all patterns, then word classes, then sources."""
        parts: dict[tuple[str, tuple[tuple[str, str], ...]], list[Pattern]] = {}
        errors: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        for position, case in enumerate(self.cases):
            for entry in case.meta.get("patterns", ()):
                key = (case.groups.get("filter", ""), tuple(entry["groups"].items()))
                pattern, missing = self._pattern(position, entry)
                parts.setdefault(key, []).append(pattern)
                errors[key] = errors.get(key, 0) + missing
        for name in self.filters or [""]:
            for key in sorted((key for key in parts if key[0] == name), key=lambda key: _order(key[1])):
                groups = {**dict(key[1]), **({"filter": name} if self.base else {})}
                yield Condition(groups, {"filter": name} if name else {}, parts[key], errors[key])

    def _pattern(self, position: int, entry: Mapping[str, Any]) -> tuple[Pattern, int]:
        """Return the pattern of a case and its number of variants without an answer."""
        hits = self.right[position]
        if "pools" in entry:
            counts = [_pool(hits[pool["of"]], pool["drawn"]) for pool in entry["pools"]]
            known = tuple(count for count in counts if count[1])
            size = float(sum(drawn for _, _, drawn in known))
            expected = sum(drawn * right / total for right, total, drawn in known)
            missing = sum(int(np.isnan(hits[pool["of"]]).sum()) for pool in entry["pools"])
            return Pattern(position, np.array([expected]), np.array([size]), known), missing
        draws = [[0, *draw] if self.settings.counts_seed else draw for draw in entry["draws"]]
        drawn = [hits[draw] for draw in draws]
        right = np.array([float(np.nansum(part)) for part in drawn])
        n = np.array([float((~np.isnan(part)).sum()) for part in drawn])
        used = sorted({place for draw in draws for place in draw})
        return Pattern(position, right, n), int(np.isnan(hits[used]).sum())


def _order(groups: tuple[tuple[str, str], ...]) -> tuple[int, tuple[tuple[str, str], ...]]:
    kinds = ["", "word class", "source"]
    return (kinds.index(groups[0][0]) if groups else 0, groups)


def _pool(hits: Floats, drawn: int) -> tuple[int, int, int]:
    known = hits[~np.isnan(hits)]
    return int(known.sum()), len(known), min(drawn, len(known))


def as_list(values: Floats) -> list[float | None]:
    """Return the values with None instead of NaN, for JSON."""
    return [None if math.isnan(value) else value for value in values.tolist()]


@dataclass(frozen=True, slots=True)
class Counts:
    """The patterns of a condition as arrays, without those that lack answers in some draw."""

    condition: Condition
    patterns: Sequence[Pattern]
    right: Floats  # (patterns, draws)
    n: Floats  # (patterns, draws)
    places: NDArray[np.int64]  # (patterns,) positions of their cases
    clusters: NDArray[np.int64]  # (patterns,)

    @property
    def pooled(self) -> bool:
        """Whether all variants were queried instead of drawn."""
        return bool(self.patterns[0].pools)

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(np.unique(self.places))

    def solved(self, thresholds: Sequence[float]) -> Floats:
        """Return how often each pattern is solved at each threshold, as a mean over draws: (patterns, thresholds)."""
        if self.pooled:
            return np.array([solved_shares(pattern.pools, thresholds) for pattern in self.patterns])
        return np.column_stack(
            [is_solved(self.right, self.n, threshold).mean(axis=1) for threshold in thresholds]
        )

    def draw_facts(self, by_draw: Floats) -> dict[str, Any]:
        """Return the number of draws behind a mean and its SD over them; empty without several draws."""
        if self.pooled or len(by_draw) < 2:
            return {}
        return {"draws": len(by_draw), "sd over draws": float(np.std(by_draw, ddof=1))}


def count_patterns(table: PatternTable, condition: Condition) -> Counts | None:
    """Return the counts of a condition, or None if no pattern has answers in every draw."""
    patterns = [pattern for pattern in condition.patterns if pattern.n.min() > 0]
    if not patterns:
        return None
    places = np.array([pattern.case for pattern in patterns])
    right, n = (np.array([getattr(pattern, name) for pattern in patterns]) for name in ("right", "n"))
    return Counts(condition, patterns, right, n, places, table.clusters[places])

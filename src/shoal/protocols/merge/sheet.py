"""Which variants of which problems are measured together, and how they went: patterns, by filter, class and source.

Sheet ──► Condition ──► Counted      all patterns; those of one condition; the same as arrays
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
"""A column: whether the original is right."""


def rights_of(cases: Sequence[Case], answers: Answers) -> list[Floats]:
    """For each example of each case 1, 0 or, without an answer, NaN."""
    names = np.array(answers.labels)
    row = 0
    rights = []
    for case in cases:
        rows = range(row, row + len(case.examples))
        labels = np.array([str(label) for label in case.labels or ()])
        hits = (names[answers.predictions[row : row + len(rows)]] == labels).astype(np.float64)
        for position in (number for number in rows if number in answers.errors):
            hits[position - row] = np.nan
        rights.append(hits)
        row += len(case.examples)
    return rights


@dataclass(frozen=True, slots=True)
class Pattern:
    """How the variants of one problem went: a number per draw, or pools that all draws come from."""

    case: int
    right: Floats  # (draws,)
    n: Floats  # (draws,)
    pools: tuple[tuple[int, int, int], ...] = ()
    """(right, in all, drawn) of each, where all variants were asked."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Patterns that are measured together: a filter condition with a class of words or a source."""

    groups: Mapping[str, str]
    only: Mapping[str, str]
    """Which cases they are of."""
    patterns: Sequence[Pattern] = field(repr=False)
    errors: int = 0
    """Variants without an answer."""

    @property
    def words(self) -> str:
        """For the names of columns; the filter is the case's."""
        return "".join(f", {value}" for key, value in self.groups.items() if key != "filter")


class Sheet:
    """All patterns of a result by condition, and the columns that grow out of them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], right: Sequence[Floats]) -> None:
        self.settings, self.cases, self.right = settings, cases, right
        names: dict[str, int] = {}
        self.clusters = np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])
        self.seeds = np.array([hits[0] for hits in right])
        pairs = any(len(case.examples[0]) > 1 for case in cases)
        self.over = "premises" if pairs else "groups" if settings.group or settings.paraphrase else "texts"
        """What intervals are over: what stands and falls together."""
        self.columns: dict[str, list[float | None]] = {SEED: plain(self.seeds)}
        self.filters = list(dict.fromkeys(case.groups["filter"] for case in cases if "filter" in case.groups))
        one_filter = self.filters in ([], ["default"])
        self.base: dict[str, str] = {} if one_filter else {"filter": self.filters[0]}
        """The groups of what is measured over all classes, under the first filter condition."""
        self.conditions = list(self._conditions())
        shown = {*HEADLINE, settings.threshold}
        self.thresholds = tuple(sorted({*GRID, *shown}))
        self.headline = tuple(sorted(shown))

    def _conditions(self) -> Iterator[Condition]:
        """Conditions in the order of the cases: filters, and in each all patterns, then classes, then sources."""
        parts: dict[tuple[str, tuple[tuple[str, str], ...]], list[Pattern]] = {}
        errors: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        for position, case in enumerate(self.cases):
            by_unit = self.settings.patterns == "unit"
            for made in case.meta.get("patterns", ()):
                key = (case.groups.get("filter", ""), tuple(made["groups"].items()))
                if by_unit and not made["groups"] and _has_classes(case):
                    continue
                pattern, missing = self._pattern(position, made)
                keys = [key, (key[0], ())] if by_unit and "word class" in made["groups"] else [key]
                for each in keys:
                    parts.setdefault(each, []).append(pattern)
                    errors[each] = errors.get(each, 0) + missing
        for name in self.filters or [""]:
            for key in sorted((key for key in parts if key[0] == name), key=lambda key: _order(key[1])):
                groups = {**dict(key[1]), **({"filter": name} if self.base else {})}
                yield Condition(groups, {"filter": name} if name else {}, parts[key], errors[key])

    def _pattern(self, position: int, made: Mapping[str, Any]) -> tuple[Pattern, int]:
        hits = self.right[position]
        if "pools" in made:
            counts = [_pool(hits[pool["of"]], pool["drawn"]) for pool in made["pools"]]
            if self.settings.counts_seed and not np.isnan(hits[0]):
                counts.append((int(hits[0]), 1, 1))
            known = [count for count in counts if count[1]]
            size = float(sum(drawn for _, _, drawn in known))
            expected = sum(drawn * right / total for right, total, drawn in known)
            missing = sum(int(np.isnan(hits[pool["of"]]).sum()) for pool in made["pools"])
            return Pattern(position, np.array([expected]), np.array([size]), tuple(known)), missing
        draws = [[0, *draw] if self.settings.counts_seed else draw for draw in made["draws"]]
        drawn = [hits[draw] for draw in draws]
        right = np.array([float(np.nansum(part)) for part in drawn])
        n = np.array([float((~np.isnan(part)).sum()) for part in drawn])
        asked = sorted({place for draw in draws for place in draw})
        return Pattern(position, right, n), int(np.isnan(hits[asked]).sum())


def _has_classes(case: Case) -> bool:
    return any("word class" in made["groups"] for made in case.meta["patterns"])


def _order(groups: tuple[tuple[str, str], ...]) -> tuple[int, tuple[tuple[str, str], ...]]:
    kinds = ["", "word class", "source"]
    return (kinds.index(groups[0][0]) if groups else 0, groups)


def _pool(hits: Floats, drawn: int) -> tuple[int, int, int]:
    known = hits[~np.isnan(hits)]
    return int(known.sum()), len(known), min(drawn, len(known))


def plain(values: Floats) -> list[float | None]:
    """As JSON takes them."""
    return [None if math.isnan(value) else value for value in values.tolist()]


@dataclass(frozen=True, slots=True)
class Counted:
    """The patterns of a condition as arrays, those without an answer in some draw left out."""

    condition: Condition
    patterns: Sequence[Pattern]
    right: Floats  # (patterns, draws)
    n: Floats  # (patterns, draws)
    places: NDArray[np.int64]  # (patterns,) of their cases
    clusters: NDArray[np.int64]  # (patterns,)

    @property
    def pooled(self) -> bool:
        """Whether all variants were asked, so that there are no draws."""
        return bool(self.patterns[0].pools)

    @property
    def problems(self) -> int:
        """How many problems they are of."""
        return len(np.unique(self.places))

    def solved(self, thresholds: Sequence[float]) -> Floats:
        """How often each is solved at each threshold, a mean over draws: (patterns, thresholds)."""
        if self.pooled:
            return np.array([solved_shares(pattern.pools, thresholds) for pattern in self.patterns])
        return np.column_stack(
            [is_solved(self.right, self.n, at_least).mean(axis=1) for at_least in thresholds]
        )

    def over_draws(self, by_draw: Floats) -> dict[str, Any]:
        """Facts on the draws that a mean was taken over."""
        if self.pooled or len(by_draw) < 2:
            return {}
        return {"draws": len(by_draw), "sd over draws": float(np.std(by_draw, ddof=1))}


def counted_of(sheet: Sheet, condition: Condition) -> Counted | None:
    patterns = [pattern for pattern in condition.patterns if pattern.n.min() > 0]
    if not patterns:
        return None
    places = np.array([pattern.case for pattern in patterns])
    right, n = (np.array([getattr(pattern, name) for pattern in patterns]) for name in ("right", "n"))
    return Counted(condition, patterns, right, n, places, sheet.clusters[places])

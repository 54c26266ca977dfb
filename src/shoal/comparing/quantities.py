"""What of a result can be compared: its measures, each with the cases that it is made of.

A measure says so by its facts; `pairs` lists them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Case, Measure, Result
from .rows import CASES, RUNS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measure, and the cases it is made of."""

    measure: Measure
    level: str
    name: str
    groups: Mapping[str, str]
    """Those of the measure's groups that choose cases."""
    parts: Sequence[tuple[str, Integers]] = ()
    """Positions of the cases of each group that it is a mean over; one part where it is a mean over cases."""
    weights: Sequence[float] = ()
    """A weight per part, where they are not all alike."""

    @property
    def column(self) -> str:
        """The column of the results that it is a mean of; empty where it is one of passes."""
        return str(self.measure.facts.get("column", ""))

    @property
    def over_runs(self) -> bool:
        """Whether only several runs tell how far it varies."""
        return not self.parts

    @property
    def has_templates(self) -> bool:
        """Whether the clusters of its cases are templates, which are the unit on request only."""
        return "templates" in self.measure.facts

    def templates(self, clusters: Integers | None, values: Floats) -> int:
        """Return the number of templates with a value."""
        if clusters is None:
            return 0
        known = [members[~np.isnan(values[members])] for _, members in self.parts]
        return len(np.unique(clusters[np.concatenate(known)])) if known else 0


def comparable(result: Result, cases: Sequence[Case]) -> list[Quantity]:
    """The measures of a result that say how they can be compared, the whole first, then level by level."""
    measures = [
        row for row in result.measures if "mean over" in row.facts or row.facts.get("compare") == RUNS
    ]
    # What all measures say of themselves alike, such as the diagnostic, tells none of them from the others.
    alike = {key for key in _keys(measures) if len({row.groups.get(key) for row in measures}) == 1}
    choosing = [
        {key: value for key, value in row.groups.items() if value != "all" and key not in alike}
        for row in measures
    ]
    firsts = [next(iter(groups), "") for groups in choosing]
    times = Counter(
        (row.name, level, groups.get(level, ""))
        for row, level, groups in zip(measures, firsts, choosing, strict=True)
    )
    quantities, index = [], CaseIndex(cases)
    for row, level, groups in zip(measures, firsts, choosing, strict=True):
        alone = times[row.name, level, groups.get(level, "")] == 1
        name = row.name if not level else groups[level] if alone else " · ".join(groups.values())
        quantities.append(_quantity(row, level, name, groups, index))
    order = {level: number for number, level in enumerate(_levels(quantities))}
    return sorted(quantities, key=lambda quantity: order[quantity.level])


def _keys(measures: Sequence[Measure]) -> list[str]:
    return list(dict.fromkeys(key for row in measures for key in row.groups))


def _levels(quantities: Sequence[Quantity]) -> list[str]:
    """The whole first, then the levels with the fewest rows: the finest comes last."""
    counts = Counter(quantity.level for quantity in quantities)
    return sorted(counts, key=lambda level: (level != "", counts[level]))


def _quantity(
    measure: Measure, level: str, name: str, groups: Mapping[str, str], index: "CaseIndex"
) -> Quantity:
    over = measure.facts.get("mean over")
    if over is None:
        return Quantity(measure, level, name, groups)
    members = index.members({**measure.groups, **measure.facts.get("only", {})})
    if without := measure.facts.get("without"):
        members = np.setdiff1d(members, index.members(without))
    if over == CASES:
        return Quantity(measure, level, name, groups, [(name, members)])
    parts, weights = index.parts(over, members), measure.facts.get("weights")
    if weights is not None:
        parts = {part: parts.get(part, np.array([], np.int64)) for part in weights}
    return Quantity(
        measure, level, name, groups, list(parts.items()), list(weights.values()) if weights else ()
    )


def members_of(cases: Sequence[Case], groups: Mapping[str, str]) -> Integers:
    """The cases whose groups agree with these; groups that cases do not have, and "all", restrict nothing."""
    return CaseIndex(cases).members(groups)


class CaseIndex:
    """Which cases have which value of a group, looked up once for all that ask."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self._known: dict[str, tuple[Integers, dict[str | None, int]]] = {}

    def members(self, groups: Mapping[str, str]) -> Integers:
        """The positions of the cases whose groups agree with these."""
        agree = np.ones(len(self.cases), bool)
        for key, value in groups.items():
            if value != "all":
                found, numbers = self._numbered(key)
                agree &= (found == numbers.get(value, -1)) | (found == numbers.get(None, -1))
        return np.flatnonzero(agree)

    def parts(self, key: str, members: Integers) -> dict[Any, Integers]:
        """Of these cases, ascending, those with each value of a group, in the order in which the values come first."""
        found, numbers = self._numbered(key)
        own = found[members]
        order, values = np.argsort(own, kind="stable"), list(numbers)
        pieces = np.split(members[order], np.flatnonzero(np.diff(own[order])) + 1)
        return {
            values[found[piece[0]]]: piece
            for piece in sorted(pieces, key=lambda piece: piece[:1].tolist())
            if len(piece)
        }

    def _numbered(self, key: str) -> "tuple[Integers, dict[str | None, int]]":
        """The value of a group for each case as a number, and the number of each; None where a case has no value."""
        if key not in self._known:
            numbers: dict[str | None, int] = {}
            each = (numbers.setdefault(case.groups.get(key), len(numbers)) for case in self.cases)
            self._known[key] = np.fromiter(each, np.int64, len(self.cases)), numbers
        return self._known[key]

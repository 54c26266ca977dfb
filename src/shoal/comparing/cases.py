"""The cases of a comparison: what of a result can be compared, and both sides on one list of cases.

A measure says by its `Basis` which cases it is a mean of. Sides that were tested on other cases, or scored under other
settings, are an error that names the difference.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.case_table import CaseTable, unwrapped
from ..core.errors import DataError, some
from ..core.records import Case, Finding, Measure, Result, verdicts_of
from ..models import variant_of
from ..protocols.base import identity
from ..stats.resampling import errors_of, hits_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CASES, TEMPLATES = "cases", "templates"


# What can be compared


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measure, and the cases from which it is computed."""

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
        """Return the name of the result column that the measure averages; empty if it counts passes."""
        return self.measure.basis.column

    def template_sizes(self, clusters: Integers | None, values: Floats) -> Integers:
        """Return the number of cases with a value, per template."""
        if clusters is None:
            return np.zeros(0, np.int64)
        members = np.unique(np.concatenate([positions for _, positions in self.parts]))
        return np.unique(clusters[members[~np.isnan(values[members])]], return_counts=True)[1]


def judgeable(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that are computed from cases or runs, so that they can be compared and judged."""
    return [row for row in measures if row.basis.mean_over or row.basis.runs]


def comparable(result: Result, cases: Sequence[Case]) -> list[Quantity]:
    """Return the measures of a result that can be compared: the whole first, the finest level last."""
    measures = judgeable(result.measures)
    keys = dict.fromkeys(key for row in measures for key in row.groups)
    # A group with the same value in all measures, such as the diagnostic, does not tell them apart.
    alike = {key for key in keys if len({row.groups.get(key) for row in measures}) == 1}
    choosing = [
        {key: value for key, value in row.groups.items() if value != "all" and key not in alike}
        for row in measures
    ]
    firsts = [next(iter(groups), "") for groups in choosing]
    labels = [
        (row.name, level, groups.get(level, ""))
        for row, level, groups in zip(measures, firsts, choosing, strict=True)
    ]
    times, quantities, index = Counter(labels), [], CaseIndex(cases)
    for row, label, groups in zip(measures, labels, choosing, strict=True):
        own = label[2] if times[label] == 1 else " · ".join(groups.values())
        quantities.append(_quantity(row, label[1], own if label[1] else row.name, groups, index))
    counts = Counter(firsts)
    order = sorted(counts, key=lambda level: (level != "", counts[level]))
    return sorted(quantities, key=lambda quantity: order.index(quantity.level))


def _quantity(
    measure: Measure, level: str, name: str, groups: Mapping[str, str], index: "CaseIndex"
) -> Quantity:
    basis = measure.basis
    if not basis.mean_over:
        return Quantity(measure, level, name, groups)
    members = index.members({**measure.groups, **basis.only})
    if basis.without:
        members = np.setdiff1d(members, index.members(basis.without))
    if basis.mean_over == CASES:
        return Quantity(measure, level, name, groups, [(name, members)])
    parts, weights = index.parts(basis.mean_over, members), basis.weights
    if weights is not None:
        parts = {part: parts.get(part, np.array([], np.int64)) for part in weights}
    return Quantity(
        measure, level, name, groups, list(parts.items()), list(weights.values()) if weights else ()
    )


class CaseIndex:
    """An index of the cases by the value of each group."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self._known: dict[str, tuple[Integers, dict[str | None, int]]] = {}

    def members(self, groups: Mapping[str, str]) -> Integers:
        """Return the positions of the cases whose groups agree with these."""
        agree = np.ones(len(self.cases), bool)
        for key, value in groups.items():
            if value != "all":
                found, numbers = self._numbered(key)
                agree &= (found == numbers.get(value, -1)) | (found == numbers.get(None, -1))
        return np.flatnonzero(agree)

    def parts(self, key: str, members: Integers) -> dict[Any, Integers]:
        """Return the members with each value of a group, in the order in which the values first occur."""
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
        """Return the group value of each case as a code, and the code of each value; None for cases without one."""
        if key not in self._known:
            numbers: dict[str | None, int] = {}
            values = CaseTable.of(self.cases).group_values(key)
            each = (numbers.setdefault(value, len(numbers)) for value in values)
            self._known[key] = np.fromiter(each, np.int64, len(self.cases)), numbers
        return self._known[key]


# Both sides on the same cases


class Sides:
    """The outcomes of both sides as arrays over the same cases, a column per run."""

    def __init__(
        self,
        hits: Sequence[Floats],
        clusters: Integers | None = None,
        failed: Sequence[NDArray[np.bool_]] | None = None,
        *,
        by_prompt: bool = False,
    ) -> None:
        self.hits, self.by_prompt = hits, by_prompt
        self.failed = failed or [np.zeros(side.shape, bool) for side in hits]
        self.runs = hits[0].shape[1], hits[1].shape[1]
        common = np.logical_not(np.isnan(np.column_stack(self.hits)).any(axis=1))
        # Only what every run of both sides has an outcome for (7.7).
        self.common = [np.where(common[:, None], side, np.nan) for side in self.hits]
        self.means = [side.mean(axis=1) for side in self.common]
        self.changes: Floats = self.means[1] - self.means[0]
        self.clusters = clusters

    @cached_property
    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest score; without scores, those of a share."""
        known = np.concatenate([side[~np.isnan(side)] for side in self.common])
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)

    @property
    def several(self) -> bool:
        """Return whether the run is the sampling unit; if both sides have the same prompts, the case is."""
        return sum(self.runs) > 2 and not self.by_prompt


def sides_of(a: Sequence[Result], b: Sequence[Result], column: str = "") -> Sides:
    """Return the outcomes of A and B, or a column of scores, on the cases of A; raise if B has other cases."""
    _same_settings(a, b)
    cases, hits, failed = a[0].cases, [], []
    for side, results in (("A", a), ("B", b)):
        orders = [
            _order_of(a[0], result, side, len(results), number) for number, result in enumerate(results)
        ]
        runs = list(zip(results, orders, strict=True))
        hits.append(np.column_stack([_hits(run, column)[order] for run, order in runs]))
        failed.append(np.column_stack([errors_of(verdicts_of(run.outcomes))[order] for run, order in runs]))
    return Sides(hits, clusters_of(cases), failed, by_prompt=same_prompts(a, b))


def same_prompts(a: Sequence[Result], b: Sequence[Result]) -> bool:
    """Return whether both sides are one model each under the same prompts; raise if only some are the same."""
    sides = [[variant_of(str(result.job.get("model", ""))) for result in side] for side in (a, b)]
    prompts = [{variant[0] for variant in side if variant} for side in sides]
    if max(map(len, prompts)) < 2:
        return False
    if sorted(sides[0]) != sorted(sides[1]):
        raise DataError(
            "A and B were not asked with the same prompts",
            why=f"A: {some(sorted(prompts[0]), 5)}; B: {some(sorted(prompts[1]), 5)}",
            fix="the same prompts, orders and seeds on both sides",
        )
    return len(set(sides[0])) == len(sides[0])


def _same_settings(a: Sequence[Result], b: Sequence[Result]) -> None:
    """Refuse results that were scored by different rules: their difference is not the models'."""
    protocol, first = a[0].job.get("protocol"), scoring_of(a[0])
    for side, result in [*(("A", result) for result in a), *(("B", result) for result in b)]:
        if (other := result.job.get("protocol")) != protocol:
            raise DataError(
                f"A is a result of {protocol}, {side} of {other}", fix="two results of one protocol"
            )
        scoring = scoring_of(result)
        # A setting that only one of them has decides on the cases, which are checked later.
        differing = [
            f"{key}: {first[key]!r} for A, {scoring[key]!r} for {side}"
            for key in first.keys() & scoring.keys()
            if scoring[key] != first[key]
        ]
        if differing:
            raise DataError(
                f"{'A and B' if side == 'B' else 'the seeds of A'} were scored under different settings",
                why="; ".join(sorted(differing)),
                fix="score both under the same settings; it takes seconds and asks no model",
            )


EXCUSED_CHECKS = ("every example is answered", "known by what it reads", "same answer when asked again")
"""Self-checks whose failure does not fail a gate: unanswered cases have a rule of their own, the others are notes."""


def unusable(result: Result) -> list[Finding]:
    """Return the findings that make every number of a result unusable; if there are none, the failed self-checks."""
    findings = [finding for finding in result.findings if finding.disqualifies]
    # A constant answer is both a finding and a failed self-check: one line is enough.
    return findings or [
        Finding(check["name"], f"{check['name']}: {check['detail']}", disqualifies=True)
        for check in result.job.get("checks", ())
        if check["ok"] is False and check["name"] not in EXCUSED_CHECKS
    ]


RESAMPLING = ("seed", "resamples", "shuffles")
"""Settings that decide how intervals are drawn, not how an answer is judged."""


def scoring_of(result: Result) -> dict[str, Any]:
    """Return the settings of a result that decide how an answer is judged, as the profile resolves them."""
    if result.settings is None:
        return {}
    scoring = identity(result.settings, "scoring")
    return {name: value for name, value in scoring.items() if name not in RESAMPLING}


def _order_of(first: Result, result: Result, side: str, runs: int, number: int) -> Integers:
    """Return where in a result each of these cases is; an error that names what differs if its cases are others."""
    who = f"{side} (seed {number + 1})" if runs > 1 else side
    cases = first.cases
    if unwrapped(result.cases) is unwrapped(cases):
        return np.arange(len(cases))
    place = {case.id: position for position, case in enumerate(result.cases)}
    missing = [case.id for case in cases if case.id not in place]
    extra = place.keys() - {case.id for case in cases}
    if missing or extra:
        parts = [f"only A has {some(missing, 3)}"] if missing else []
        parts += [f"only {who} has {some(sorted(extra), 3)}"] if extra else []
        raise DataError(
            f"A and {who} were not asked the same cases: {len(cases):,} and {len(result.cases):,}",
            why="; ".join(parts),
            fix="the same suite, split, profile, limit and only on both sides",
        )
    order = [place[case.id] for case in cases]
    for case, position in zip(cases, order, strict=True):
        other = result.cases[position]
        if other is not case and (what := _what_differs(case, other)):
            from .wording import differing_settings

            differing = differing_settings(first, result)
            raise DataError(
                f"case {case.id!r} is not the same for A and {who}",
                why=f"{what}; their settings differ in {differing}" if differing else what,
                fix="the same suite and settings on both sides",
            )
    return np.array(order, np.int64)


def _what_differs(case: Case, other: Case) -> str:
    for what in ("examples", "labels", "groups", "cluster"):
        if getattr(case, what) != getattr(other, what):
            return f"{what} differ: {getattr(case, what)!r:.80} and {getattr(other, what)!r:.80}"
    return "expectations differ" if case.meta.get("expect") != other.meta.get("expect") else ""


def _hits(result: Result, column: str = "") -> Floats:
    """Passes, or the numbers of a column, as 1, 0 or any; NaN where a case does not apply."""
    if not column:
        return hits_of(verdicts_of(result.outcomes))
    values = result.columns.get(column) or [None] * len(result.cases)
    return np.array([math.nan if value is None else float(value) for value in values], np.float64)


def clusters_of(cases: Sequence[Case]) -> NDArray[np.int64] | None:
    """Return clusters as numbers; None where every case is its own. A case without one is its own cluster."""
    table = CaseTable.of(cases)
    return table.cluster_codes() if any(table.clusters) else None

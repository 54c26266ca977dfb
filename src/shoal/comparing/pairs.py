"""Two models on the same cases: what differs, how sure that is, and what could not have been seen.

`docs/method/beyond.md` 7.2 to 7.7.

    Results of A, Results of B ──► Comparison ──► a Row for every measure that the protocol says can be compared
                                                  the cases that changed, both ways
                                                  measures, as `--json` shows them

For any protocol. A measure with the fact `mean over` is a mean over cases, or over the groups of cases that the fact
names, with its `weights` where they are not all alike and a `constant` where one stands beside them; its cases are
those whose groups agree with its own (and with the fact `only`), but for those that agree with the fact `without`. With
the fact `column` it is a mean of that column of the results, not of passes. With the fact `templates`
its clusters are templates, and where fewer than `claims.ENOUGH_TEMPLATES` have a common case it does not speak of
others: cases are drawn again, templates are not. One
with the fact `compare` = "runs" has no cases to pair, and only several runs a side tell how far it varies.

Every difference is B minus A on the cases that apply to both. One result a side is one checkpoint, and the claim is
about "this checkpoint on new cases of these groups"; several a side are seeds of one recipe, and the claim is about the
recipe.

    what                   interval                                       test
    a mean over cases      t over cases or clusters, two added            exact sign test; sign flips by cluster
                           (Bonett & Price 2012)
    the same of a column   the same                                       sign flips
    a mean over groups     the same, variances added                      sign flips, by the weight each case has
    a weighted sum         t over clusters, each with all its cases       sign flips of clusters
    several seeds          the interval over cases and Student's or       the level at which that interval
                           Welch's t over seeds, squares added            reaches 0
    one run against many   for these very runs                            none: nothing is known of the one recipe

An interval reaches to 0 where the test beside it does not reject. Each interval is of its row alone, but with `adjust`
"bonferroni": then all hold together, and leave out 0 exactly where a row is marked. What could have been seen is asked
at the level that the table uses, exactly where cases are independent.

With a `margin`, each row has a second question: is B shown to be worse by less than that (non-inferiority)? One-sided,
at half of the level, so that the answer is that of the lower end of a 95 % interval.

Exchanging A and B flips every sign and changes no p. Pure: nothing here asks a model or reads a file.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..claims import ALPHA, ENOUGH_TEMPLATES, FLAGGED, ONE_CHECKPOINT, THESE_TEMPLATES, for_templates
from ..errors import DataError, PlanError, some
from ..measures import FEW_CASES
from ..measures import quantity as describe
from ..protocols.base import identity
from ..records import Case, Finding, Measure, Measures, Result, verdicts_of
from ..stats.hits import errors_of, hits_of
from ..stats.intervals import (
    Interval,
    Student,
    in_agreement,
    macro_difference_interval,
    p_where,
    paired_t,
    wilson,
)
from ..stats.limits import Side, difference_p
from ..stats.multiplicity import benjamini_hochberg, holm, holm_level, max_t
from ..stats.paired import sign_flip_test, sign_test
from ..stats.power import smallest_difference, smallest_mean_difference, smallest_recipe_difference
from ..stats.resampling import ClusterTable, difference, paired_table, sharing
from ..stats.seeds import (
    SeedError,
    composed,
    composed_p,
    error_of_difference,
    error_of_mean,
    recipe_difference,
)
from ..stats.sums import sum_t
from .reach import on_few_templates

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Adjust = Literal["holm", "bonferroni", "bh", "max-t", "none"]

ONE_INTERVAL = "paired t, two clusters added"
MEAN_INTERVAL = "paired t"
SUM_INTERVAL = "t over clusters"
AND_SEEDS = " and over seeds"
OVER_SEEDS = "t over seeds and cases"
CASES, RUNS = "cases", "runs"

ADJUSTMENTS: dict[str, str] = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "max-t": "max-T",
    "none": "no adjustment",
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How two sides are compared."""

    adjust: Adjust = "holm"
    """How p is adjusted over all rows of the comparison: holm, bonferroni, bh, max-t or none."""
    margin: float | None = None
    """How much worse B may be and still pass for not inferior; None: not asked."""
    paired_seeds: bool = False
    """Seed k of A and seed k of B started from the same checkpoint: they are drawn together."""
    shuffles: int = 10_000
    """Random sign flips behind the tests of means."""
    seed: int = 0
    """Of every random draw here."""
    could_see: bool = True
    """Work out the smallest difference that would have been found; most of the time of a small comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing compared."""

    measure: str
    """What it is: pass rate, suite score, accuracy."""
    level: str
    """What it is one of: functionality, capability, cell; empty for the whole."""
    name: str
    """Which of them; of the whole, the measure's own name."""
    groups: Mapping[str, str]
    n: int
    """Cases that apply to both; the difference rests on these."""
    rates: tuple[float | None, float | None]
    """Of A and of B, on those cases; means of functionalities where there are several."""
    difference: float | None
    interval: Interval | None
    interval_method: str
    p: float | None
    test: str
    """What p is the p of."""
    mde: float | None
    """The smallest difference that would have been found 8 times in 10 by one test at 5 %."""
    gained: int
    """Cases that only B passes."""
    lost: int
    """Cases that only A passes."""
    applicability: tuple[float | None, float | None]
    na: int
    """Cases that do not apply to one of them, or to both."""
    errors: tuple[int, int]
    """Cases that A, or B, gave no answer to; left out of the difference, never out of sight."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    adjusted: float | None = None
    inferior_p: float | None = None
    """One-sided p of "B is worse by the margin or more"; None where that is not asked or has no meaning."""
    inferior_adjusted: float | None = None

    @property
    def not_inferior(self) -> bool:
        """Whether B is shown to be worse by less than the margin."""
        return self.inferior_adjusted is not None and self.inferior_adjusted <= ALPHA / 2

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most 5 %."""
        return self.adjusted is not None and self.adjusted <= ALPHA

    @property
    def applicability_differs(self) -> bool:
        """Whether one model is asked much more of this than the other."""
        a, b = self.applicability
        return a is not None and b is not None and abs(a - b) > FLAGGED + 1e-9


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides compared."""

    a: Sequence[Result]
    b: Sequence[Result]
    choices: Choices
    rows: Sequence[Row]
    changes: Floats = field(repr=False)  # (cases,) B minus A, NaN where the two have no common outcome

    @property
    def cases(self) -> Sequence[Case]:
        """The cases that both were asked."""
        return self.a[0].cases

    @property
    def several_seeds(self) -> bool:
        """Whether a side has more than one checkpoint."""
        return len(self.a) + len(self.b) > 2

    @property
    def headline(self) -> Row:
        """What the protocol is about, in one row."""
        marked = [row for row in self.rows if row.facts.get("headline")]
        return (marked or self.by("") or list(self.rows))[0]

    @property
    def finest(self) -> str:
        """The level with the most rows: functionality, cell, category."""
        levels = [row.level for row in self.rows if row.level]
        return max(dict.fromkeys(levels), key=levels.count, default="")

    def by(self, level: str) -> list[Row]:
        """The rows of one level, such as capability; of the whole, where it is empty."""
        return [row for row in self.rows if row.level == level]

    def changed(self, row: Row | None = None) -> list[tuple[Case, bool]]:
        """The cases that changed, and whether for the better; those that B newly fails come first."""
        changes = np.nan_to_num(self.changes)
        positions = np.flatnonzero(np.abs(changes) >= 0.5)
        if row is not None:
            positions = np.intersect1d(positions, members_of(self.cases, row.groups))
        changed = [(self.cases[position], bool(changes[position] > 0)) for position in positions.tolist()]
        return sorted(changed, key=lambda change: change[1])

    @property
    def findings(self) -> list[Finding]:
        """What a reader of the marks must know."""
        return on_few_templates(
            {row.name: row.facts for row in self.rows if row.significant or row.not_inferior}
        )

    @property
    def measures(self) -> Measures:
        """Everything as measures, with the groups of what is compared."""
        rows = [measure for row in self.rows for measure in _row_measures(row, self)]
        return Measures([*_side_measures(self), *rows])


def compare(a: Sequence[Result], b: Sequence[Result], choices: Choices | None = None) -> Comparison:
    """Compare two models on the same cases, B against A; several results a side are seeds of one recipe."""
    choices = choices or Choices()
    if not a or not b:
        raise PlanError(
            "a comparison needs a result on each side", fix="give the results of A and those of B"
        )
    if not all(result.outcomes for result in (*a, *b)):
        raise DataError(
            "a result without outcomes cannot be compared: how each case went is not in it",
            fix="the model itself, or the job of a store",
        )
    if choices.paired_seeds and len(a) != len(b):
        raise PlanError(
            f"paired seeds need as many of A as of B; there are {len(a)} and {len(b)}",
            fix="leave out --paired-seeds, or give the missing ones",
        )
    if choices.margin is not None and not choices.margin > 0:
        raise PlanError(
            f"a margin of {choices.margin:g}: it says how much worse B may be",
            fix="--margin 0.02 for two points",
        )
    if choices.adjust == "max-t" and len(a) + len(b) > 2:
        raise PlanError("max-T works with one checkpoint a side", fix="--adjust holm")
    sides = sides_of(a, b)
    wanted = _of_the_fewest(comparable(a[0], a[0].cases), [*a, *b])
    if not wanted:
        raise DataError(
            "there is nothing to compare",
            why="no measure of these results says how it rests on cases or runs",
            fix="a protocol whose measures are means over cases",
        )
    by_column = {"": sides} | {
        quantity.column: sides_of(a, b, quantity.column) for quantity in wanted if quantity.column
    }
    made = [
        _row_over_runs(quantity, a, b)
        if quantity.over_runs
        else _row(quantity, by_column[quantity.column], choices)
        for quantity in wanted
    ]
    estimates = [estimate for _, estimate in made]
    rows = _adjusted([row for row, _ in made], wanted, sides, choices)
    if choices.adjust == "bonferroni":
        rows = _all_together(rows, estimates)
    if choices.could_see:
        level = _level(rows, choices)
        smallest = [_smallest(estimate, level) for estimate in estimates]
        rows = [replace(row, mde=mde) for row, mde in zip(rows, smallest, strict=True)]
    if choices.margin is not None:
        rows = _with_margin(rows, estimates, choices.margin, choices.adjust)
    return Comparison(a, b, choices, rows, sides.changes)


# What can be compared


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

    def few_templates(self, clusters: Integers | None, values: Floats) -> int | None:
        """The number of templates with a value, where they are too few to speak of others; else None."""
        if clusters is None or "templates" not in self.measure.facts:
            return None
        known = [members[~np.isnan(values[members])] for _, members in self.parts]
        templates = len(np.unique(clusters[np.concatenate(known)])) if known else 0
        return templates if templates < min(ENOUGH_TEMPLATES, sum(map(len, known))) else None


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


def _of_the_fewest(quantities: Sequence[Quantity], results: Sequence[Result]) -> list[Quantity]:
    """With what any of the results says of templates, the fewest where several do: either side decides for both.

    A result says nothing of them where each of its own applicable cases has one to itself.
    """
    fewest: dict[tuple[str, frozenset[tuple[str, str]]], dict[str, int]] = {}
    for row in (row for result in results for row in result.measures):
        said = fewest.setdefault((row.name, frozenset(row.groups.items())), {})
        for fact in {"templates", THESE_TEMPLATES} & row.facts.keys():
            said[fact] = min(said.get(fact, row.facts[fact]), row.facts[fact])
    found = []
    for quantity in quantities:
        said = fewest[quantity.measure.name, frozenset(quantity.measure.groups.items())]
        facts = {**quantity.measure.facts, **said}
        found.append(replace(quantity, measure=replace(quantity.measure, facts=facts)))
    return found


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


# Both sides on one list of cases


class Sides:
    """The outcomes of both sides as arrays over the same cases, a column per run."""

    def __init__(
        self,
        hits: Sequence[Floats],
        clusters: Integers | None = None,
        failed: Sequence[NDArray[np.bool_]] | None = None,
    ) -> None:
        self.hits = hits
        self.failed = failed or [np.zeros(side.shape, bool) for side in hits]
        self.runs = hits[0].shape[1], hits[1].shape[1]
        common: NDArray[np.bool_] = np.logical_not(_in_any(np.isnan(np.column_stack(self.hits))))
        # Only what every run of both sides has an outcome for (7.7).
        self.common = [np.where(common[:, None], side, np.nan) for side in self.hits]
        self.means = [side.mean(axis=1) for side in self.common]
        self.changes: Floats = self.means[1] - self.means[0]
        self.clusters = clusters

    @property
    def several(self) -> bool:
        return sum(self.runs) > 2

    def case_by_case(self) -> "Sides":
        """The same, every case by itself."""
        return Sides(self.hits, None, self.failed)


def sides_of(a: Sequence[Result], b: Sequence[Result], column: str = "") -> Sides:
    """Both sides on the cases of A, their outcomes or a column; an error that says what differs where it cannot be."""
    _same_settings(a, b)
    cases, hits, failed = a[0].cases, [], []
    for side, results in (("A", a), ("B", b)):
        orders = [
            _order_of(cases, result, side, len(results), number) for number, result in enumerate(results)
        ]
        runs = list(zip(results, orders, strict=True))
        hits.append(np.column_stack([_hits(run, column)[order] for run, order in runs]))
        failed.append(np.column_stack([_failed(run)[order] for run, order in runs]))
    return Sides(hits, _clusters(cases), failed)


def p_of(
    parts: Sequence[tuple[str, Integers]], weights: Sequence[float], sides: Sides, choices: Choices
) -> float | None:
    """The p of one row, by the test that a comparison makes of it; None where it makes none."""
    known = [part for name, members in parts if (part := _Part(sides, name, members)).n]
    return _inference(known, list(weights), sides, choices).p


def _same_settings(a: Sequence[Result], b: Sequence[Result]) -> None:
    """Refuse results that were scored by different rules: their difference is not the models'."""
    first = scoring_of(a[0])
    for side, results in (("A", a), ("B", b)):
        for result in results:
            if result.job.get("protocol") != a[0].job.get("protocol"):
                raise DataError(
                    f"A is a result of {a[0].job.get('protocol')}, {side} of {result.job.get('protocol')}",
                    fix="two results of one protocol",
                )
            scoring = scoring_of(result)
            differing = [
                f"{key}: {first[key]!r} for A, {scoring[key]!r} for {side}"
                for key in first
                if key in scoring
                and scoring[key] != first[key]  # else it decides on the cases, which are looked at
            ]
            if differing:
                raise DataError(
                    "A and B were scored under different settings"
                    if side == "B"
                    else "the seeds of A were scored under different settings",
                    why="; ".join(differing),
                    fix="score both under the same settings; it takes seconds and asks no model",
                )


RESAMPLING = ("seed", "resamples", "shuffles")
"""Settings that decide how intervals are drawn, not how an answer is judged."""


def scoring_of(result: Result) -> dict[str, Any]:
    """The settings of a result that decide how an answer is judged, as the profile resolves them."""
    if result.settings is None:
        return {}
    scoring = identity(result.settings, "scoring")
    return {name: value for name, value in scoring.items() if name not in RESAMPLING}


def _order_of(cases: Sequence[Case], result: Result, side: str, runs: int, number: int) -> Integers:
    """Where in a result each of these cases is; an error that names what differs if its cases are others."""
    who = f"{side} (seed {number + 1})" if runs > 1 else side
    if result.cases is cases:
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
            raise DataError(
                f"case {case.id!r} is not the same for A and {who}",
                why=f"{what} differ: {_shown(case, what)} and {_shown(other, what)}",
                fix="score both on one version of the suite",
            )
    return np.array(order, np.int64)


def _what_differs(case: Case, other: Case) -> str:
    for what in ("examples", "labels", "groups", "cluster"):
        if getattr(case, what) != getattr(other, what):
            return what
    return "expectations" if case.meta.get("expect") != other.meta.get("expect") else ""


def _shown(case: Case, what: str) -> str:
    text = repr(case.meta.get("expect") if what == "expectations" else getattr(case, what))
    return text if len(text) < 80 else text[:77] + "…"


def _hits(result: Result, column: str = "") -> Floats:
    """Passes, or the numbers of a column, as 1, 0 or any; NaN where a case does not apply."""
    if not column:
        return hits_of(verdicts_of(result.outcomes))
    values = result.columns.get(column) or [None] * len(result.cases)
    return np.array([math.nan if value is None else float(value) for value in values], np.float64)


def _failed(result: Result) -> NDArray[np.bool_]:
    return errors_of(verdicts_of(result.outcomes))


def _in_any(runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which cases it holds for in at least one run."""
    found: NDArray[np.bool_] = np.logical_or.reduce(runs, axis=1)
    return found


def _clusters(cases: Sequence[Case]) -> NDArray[np.int64] | None:
    """Clusters as numbers; None where every case is its own. A case without one stands alone."""
    if not any(case.cluster for case in cases):
        return None
    codes: dict[str | int, int] = {}
    numbers = (codes.setdefault(case.cluster or at, len(codes)) for at, case in enumerate(cases))
    return np.fromiter(numbers, np.int64, len(cases))


class _Part:
    """The cases of one group of both sides."""

    def __init__(self, sides: Sides, name: str, members: Integers) -> None:
        self.name, self.members = name, members
        self.clusters = None if sides.clusters is None else sides.clusters[members]
        self.table: ClusterTable = paired_table(
            sides.means[1][members], sides.means[0][members], self.clusters
        )
        self.n = int(self.table.totals[-1])

    @property
    def is_clustered(self) -> bool:
        """Whether some of its cases stand or fall together."""
        return bool(self.table.rows[:, -1].max() > 1)

    @property
    def is_counted(self) -> bool:
        """Whether each cluster is a case that A or B passes, or both, or neither."""
        return not self.is_clustered and bool(np.isin(self.table.rows, (0.0, 1.0)).all())

    @property
    def flips(self) -> Floats:
        """Passes of B minus passes of A, a number per cluster: what may change sign if the two are alike."""
        return np.repeat(self.table.rows[:, 0] - self.table.rows[:, 1], self.table.counts)

    @property
    def rates(self) -> tuple[float, float]:
        """Of A and of B, on the common cases."""
        b, a, n = self.table.totals
        return float(a / n), float(b / n)


# A row


@dataclass(frozen=True, slots=True)
class _Estimate:
    difference: float | None = None
    interval: Interval | None = None
    method: str = ""
    p: float | None = None
    test: str = ""
    cases: Student | None = None
    """How well it is known over cases."""
    seeds: SeedError | None = None
    """And over seeds, where there are several."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    part: _Part | None = None
    """The one group of independent cases that it rests on, whose exact test is known."""
    tables: Sequence[ClusterTable] = ()
    """Both sides on each group of cases, for a mean of one checkpoint a side."""
    bounds: Interval = (-math.inf, math.inf)
    """What the difference cannot leave."""
    shared: float = 1.0
    """How many times more it varies because groups share clusters."""

    def at(self, level: float) -> Interval | None:
        """The interval at a level; None where there is none."""
        if self.tables:
            return _defined(macro_difference_interval(self.tables, level, self.shared))
        if self.difference is None or self.p is None:
            return None
        value = self.difference
        cases = self.cases.interval if self.cases else lambda _: (value, value)
        low, high = composed(value, cases, self.seeds or SeedError(), level)
        return max(self.bounds[0], low), min(self.bounds[1], high)


def _row(quantity: Quantity, sides: Sides, choices: Choices) -> tuple[Row, _Estimate]:
    templates = quantity.few_templates(sides.clusters, sides.changes)
    sides = sides if templates is None else sides.case_by_case()
    parts = [_Part(sides, name, members) for name, members in quantity.parts]
    known = [part for part in parts if part.n]
    members = np.unique(np.concatenate([part.members for part in parts]))
    changes = sides.changes[members]
    weights = list(quantity.weights)
    missing = bool(weights) and len(known) < len(parts)
    estimate = _Estimate() if missing else _inference(known, weights, sides, choices)
    applicability = _applicability(sides, members)
    facts: dict[str, Any] = {"headline": True} if quantity.measure.facts.get("headline") else {}
    facts |= estimate.facts if known else {"none in common": _why_none(sides, members)}
    absent = [part.name for part in parts if not part.n]
    facts |= {"left out": absent} if known and absent else {}
    facts |= {THESE_TEMPLATES: templates} if templates is not None else {}
    row = Row(
        measure=quantity.measure.name,
        level=quantity.level,
        name=quantity.name,
        groups=quantity.measure.groups,
        n=int((~np.isnan(changes)).sum()),
        rates=(None, None)
        if missing
        else _mean_rates(known, weights, quantity.measure.facts.get("constant", 0.0)),
        difference=estimate.difference,
        interval=estimate.interval,
        interval_method=estimate.method,
        p=estimate.p,
        test=estimate.test,
        mde=None,
        gained=int((changes >= 0.5).sum()),
        lost=int((changes <= -0.5).sum()),
        applicability=applicability,
        na=int((np.isnan(changes) & ~_any_failed(sides, members)).sum()),
        errors=_errors(sides, members),
        facts=facts,
    )
    return row, estimate


def _mean_rates(
    known: Sequence[_Part], weights: Sequence[float], constant: float
) -> tuple[float | None, float | None]:
    if not known:
        return None, None
    rates = np.array([part.rates for part in known])
    a, b = np.array(weights) @ rates if weights else rates.mean(axis=0)
    return float(a) + constant, float(b) + constant


def _applicability(sides: Sides, members: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """The share of answered cases that each side's tests apply to."""
    shares: list[float | None] = []
    for hits, failed in zip(sides.hits, sides.failed, strict=True):
        answered = int((~failed[members]).sum())
        shares.append(float((~np.isnan(hits[members])).sum() / answered) if answered else None)
    return shares[0], shares[1]


def _any_failed(sides: Sides, members: NDArray[np.int64]) -> NDArray[np.bool_]:
    return _in_any(np.column_stack([side[members] for side in sides.failed]))


def _errors(sides: Sides, members: NDArray[np.int64]) -> tuple[int, int]:
    a, b = (int(_in_any(side[members]).sum()) for side in sides.failed)
    return a, b


def _why_none(sides: Sides, members: NDArray[np.int64]) -> str:
    return "no common applicable case" if not _any_failed(sides, members).all() else "no common answered case"


def _inference(known: Sequence[_Part], weights: Sequence[float], sides: Sides, choices: Choices) -> _Estimate:
    if not known:
        return _Estimate()
    if weights:
        return _of_sum(known, weights, sides, choices)
    # fsum: the same number, up to its sign, whatever the order of groups and of the two models.
    observed = math.fsum(difference(part.table) for part in known) / len(known) + 0.0
    if sides.several:
        return _over_seeds(known, observed, sides, choices)
    shared = _shared(known, sides)
    interval, method = _interval(known, shared)
    p, test = _test(known, choices, sides, shared)
    interval = None if interval is None else in_agreement(interval, p)
    facts = {"few cases": known[0].n} if len(known) == 1 and known[0].n < FEW_CASES else {}
    alone = known[0] if len(known) == 1 and known[0].is_counted else None
    tables = [part.table for part in known]
    cases = paired_t(tables, shared)
    return _Estimate(observed, interval, method, p, test, cases, None, facts, alone, tables, shared=shared)


def _shared(known: Sequence[_Part], sides: Sides) -> float:
    """How many times more a mean over these groups varies because they share clusters."""
    clusters = [part.clusters for part in known if part.clusters is not None]
    if len(known) == 1 or not clusters:
        return 1.0
    return sharing(clusters, [sides.changes[part.members] for part in known])


def _of_sum(known: Sequence[_Part], weights: Sequence[float], sides: Sides, choices: Choices) -> _Estimate:
    """A weighted sum over groups that share their clusters: what each cluster adds to it, and a t over clusters.

    Over seeds, what each seed says varies too: the squares of the two add up.
    """
    cases = _cases_of_sum(known, weights, sides)
    observed = cases.middle
    if sides.several:
        seeds = _seed_error(known, weights, sides, choices)
        if seeds is None:
            return _Estimate(
                observed, cases.interval(), "these runs", facts=_seeds(sides, one_against_many=True)
            )
        interval = composed(observed, cases.interval, seeds)
        p = composed_p(observed, cases.interval, seeds)
        return _Estimate(
            observed, interval, SUM_INTERVAL + AND_SEEDS, p, OVER_SEEDS, cases, seeds, _seeds(sides)
        )
    added = _added(known, weights, sides.changes, sides.clusters)
    p = sign_flip_test(added, np.random.default_rng(choices.seed), choices.shuffles)
    interval = in_agreement(cases.interval(), p)
    return _Estimate(observed, interval, SUM_INTERVAL, p, f"sign flips of {len(added):,} clusters", cases)


def _cases_of_sum(known: Sequence[_Part], weights: Sequence[float], sides: Sides) -> Student:
    """The difference, and what its t interval over clusters is made of."""
    defined = [part.members[~np.isnan(sides.changes[part.members])] for part in known]
    clusters = defined if sides.clusters is None else [sides.clusters[members] for members in defined]
    return sum_t([sides.changes[members] for members in defined], clusters, weights)


def _seeds(sides: Sides, *, one_against_many: bool = False) -> dict[str, Any]:
    facts: dict[str, Any] = {"seeds of A": sides.runs[0], "seeds of B": sides.runs[1]}
    return facts | ({"one against many": True} if one_against_many else {})


def _added(
    known: Sequence[_Part], weights: Sequence[float], changes: Floats, clusters: Integers | None
) -> Floats:
    """What each cluster adds to the sum."""
    count = len(changes) if clusters is None else int(clusters.max()) + 1
    added, used = np.zeros(count), np.zeros(count, bool)
    for weight, part in zip(weights, known, strict=True):
        defined = part.members[~np.isnan(changes[part.members])]
        owners = defined if clusters is None else clusters[defined]
        np.add.at(added, owners, weight * changes[defined] / part.n)
        used[owners] = True
    return added[used]


def _seed_error(
    known: Sequence[_Part], weights: Sequence[float], sides: Sides, choices: Choices
) -> SeedError | None:
    """How well the sum is known over seeds: paired, or Welch's; None for one run against several."""
    values = []
    for side in sides.common:
        rates = [np.nanmean(side[part.members], axis=0) for part in known]
        values.append(np.array(weights) @ np.array(rates))
    if choices.paired_seeds:
        return error_of_mean(values[1] - values[0])
    return error_of_difference(values[1], values[0]) if min(map(len, values)) > 1 else None


def _interval(known: Sequence[_Part], shared: float) -> tuple[Interval | None, str]:
    """A t interval, clusters of cases its units, with two clusters added so that it never collapses to a point."""
    return _defined(macro_difference_interval([part.table for part in known], shared=shared)), (
        ONE_INTERVAL if len(known) == 1 else MEAN_INTERVAL
    )


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


def _test(known: Sequence[_Part], choices: Choices, sides: Sides, shared: float) -> tuple[float, str]:
    """A paired test: by case where cases are independent, by cluster where they are not."""
    rng = np.random.default_rng(choices.seed)
    if len(known) == 1:
        (part,) = known
        flips = part.flips
        if not part.is_counted:
            what = "clusters" if part.is_clustered else "cases"
            return sign_flip_test(flips, rng, choices.shuffles), f"sign flips of {len(flips):,} {what}"
        gained, lost = int((flips > 0).sum()), int((flips < 0).sum())
        return sign_test(gained, lost), "sign test"
    if shared > 1:  # a cluster that stands in several groups flips in all of them
        flips = _added(known, [1 / len(known)] * len(known), sides.changes, sides.clusters)
        return sign_flip_test(flips, rng, choices.shuffles), f"sign flips of {len(flips):,} clusters"
    # Each case by its weight in the mean of functionalities.
    flips = np.concatenate([part.flips / part.n for part in known])
    return sign_flip_test(flips, rng, choices.shuffles), "sign flips"


def _smallest(estimate: _Estimate, alpha: float) -> float | None:
    """The minimum detectable effect at the level of the table; None where even the largest would be missed."""
    if estimate.part is not None:
        part = estimate.part
        return smallest_difference(part.n, _discordance(part), alpha)
    if estimate.cases is None or not estimate.cases.error > 0:
        return None
    if estimate.seeds is not None and estimate.seeds.parts:
        return smallest_recipe_difference(estimate.cases, estimate.seeds, alpha)
    return smallest_mean_difference(estimate.cases.error, estimate.cases.degrees, alpha)


def _discordance(part: _Part) -> float:
    """The share of cases on which the two differ; where none does, the most that is compatible with that."""
    changed = float(np.abs(part.flips).sum())
    return min(1.0, changed / part.n) if changed else wilson(0, len(part.flips))[1]


def _over_seeds(known: Sequence[_Part], observed: float, sides: Sides, choices: Choices) -> _Estimate:
    """Student's or Welch's t over seeds beside the interval over cases: for this training recipe."""
    a, b = ([side[part.members] for part in known] for side in sides.common)
    clusters = None if sides.clusters is None else [c for part in known if (c := part.clusters) is not None]
    recipe = recipe_difference(b, a, clusters, paired_seeds=choices.paired_seeds)
    if recipe.interval is None or recipe.p is None:
        facts = _seeds(sides, one_against_many=True)
        return _Estimate(observed, recipe.these_runs, "these runs", facts=facts)
    cases = paired_t([part.table for part in known], _shared(known, sides))
    method = MEAN_INTERVAL + AND_SEEDS
    return _Estimate(
        observed,
        recipe.interval,
        method,
        recipe.p,
        OVER_SEEDS,
        cases,
        recipe.seeds,
        _seeds(sides),
        bounds=(-1.0, 1.0),
    )


def _row_over_runs(quantity: Quantity, a: Sequence[Result], b: Sequence[Result]) -> tuple[Row, _Estimate]:
    """A measure that rests on no cases that could be paired: only several runs a side tell how far it varies."""
    measure = quantity.measure
    known = [[value for result in side if (value := _value(result, measure)) is not None] for side in (a, b)]
    means = [math.fsum(side) / len(side) if side else None for side in known]
    observed = None if None in means else (means[1] or 0.0) - (means[0] or 0.0)
    interval, p, seeds = None, None, None
    if observed is not None and min(map(len, known)) > 1:
        seeds = error_of_difference(known[1], known[0])
        if seeds.error > 0:
            reach = seeds.reach(0.95)
            interval = (observed - reach, observed + reach)
            p = composed_p(observed, lambda level: (observed, observed), seeds)
    estimate = _Estimate(observed, interval, "welch t over runs" if interval else "", p, seeds=seeds)
    row = Row(
        measure=measure.name,
        level=quantity.level,
        name=quantity.name,
        groups=measure.groups,
        n=measure.n,
        rates=(means[0], means[1]),
        difference=observed,
        interval=interval,
        interval_method=estimate.method,
        p=p,
        test="Welch's t over runs" if p is not None else "",
        mde=None,
        gained=0,
        lost=0,
        applicability=(None, None),
        na=measure.na,
        errors=(0, 0),
        facts={"over": RUNS},
    )
    return row, estimate


def _value(result: Result, measure: Measure) -> float | None:
    rows = [row for row in result.measures.where(measure.name) if dict(row.groups) == dict(measure.groups)]
    return rows[0].value if rows else None


# Many tests at once


def _adjusted(
    rows: Sequence[Row], quantities: Sequence[Quantity], sides: Sides, choices: Choices
) -> list[Row]:
    """The rows with p adjusted over all of them: the family is the table."""
    raw = np.array([math.nan if row.p is None else row.p for row in rows])
    if choices.adjust == "max-t":
        adjusted = _max_t(rows, quantities, sides, choices)
    elif choices.adjust == "none":
        adjusted = raw
    elif choices.adjust == "bonferroni":
        adjusted = np.minimum(1.0, raw * np.sum(~np.isnan(raw)))
    else:
        adjusted = holm(raw) if choices.adjust == "holm" else benjamini_hochberg(raw)
    return [
        replace(row, adjusted=None if row.p is None else float(value))
        for row, value in zip(rows, adjusted, strict=True)
    ]


def _level(rows: Sequence[Row], choices: Choices) -> float:
    """The level at which a row without a mark was tested."""
    raw = [row.p for row in rows if row.p is not None]
    if choices.adjust == "bonferroni":
        return ALPHA / max(1, len(raw))
    return holm_level(raw) if choices.adjust == "holm" else ALPHA


def _all_together(rows: Sequence[Row], estimates: Sequence[_Estimate]) -> list[Row]:
    """The rows with intervals that hold all together (Bonferroni), and marks that agree with them.

    A row is marked where both its test and its interval leave out 0; elsewhere the interval reaches to 0.
    """
    tests = sum(row.p is not None for row in rows)
    together = []
    for row, estimate in zip(rows, estimates, strict=True):
        interval = estimate.at(1 - ALPHA / tests) if row.adjusted is not None else None
        if interval is None or row.adjusted is None:
            together.append(row)
            continue
        low, high = interval
        adjusted = row.adjusted if low > 0 or high < 0 else max(row.adjusted, _of_interval(estimate, tests))
        method = f"{row.interval_method}, {tests} rows together"
        interval = in_agreement(interval, adjusted)
        together.append(replace(row, adjusted=adjusted, interval=interval, interval_method=method))
    return together


def _of_interval(estimate: _Estimate, tests: int) -> float:
    """The p of the test that the interval makes, adjusted."""
    return min(1.0, tests * p_where(lambda level: _leaves_out(estimate.at(level), 0.0)))


def _leaves_out(interval: Interval | None, null: float) -> bool:
    return interval is not None and not interval[0] <= null <= interval[1]


# Not worse by more than a margin


def _with_margin(
    rows: Sequence[Row], estimates: Sequence[_Estimate], margin: float, adjust: Adjust
) -> list[Row]:
    raw = [_inferior_p(row, estimate, margin) for row, estimate in zip(rows, estimates, strict=True)]
    known = sum(p is not None for p in raw)
    if not known:
        raise PlanError(
            "no row can be held against a margin",
            why="a margin needs an interval, and a measure of which more, or less, is better",
            fix="leave out --margin",
        )
    values = np.array([math.nan if p is None else p for p in raw])
    adjusted = (
        values
        if adjust == "none"
        else np.minimum(1.0, known * values)
        if adjust == "bonferroni"
        else holm(values)
    )
    return [
        replace(row, inferior_p=p, inferior_adjusted=None if p is None else float(value))
        for row, p, value in zip(rows, raw, adjusted, strict=True)
    ]


def _inferior_p(row: Row, estimate: _Estimate, margin: float) -> float | None:
    """One-sided p of "worse by the margin or more", where more or less is better; None elsewhere."""
    direction = describe(row.measure).direction
    if row.p is None or row.difference is None or direction not in ("higher", "lower"):
        return None
    limit = -margin if direction == "higher" else margin
    if estimate.tables:
        side: Side = "above" if direction == "higher" else "below"
        return difference_p(estimate.tables, limit, side, estimate.shared)
    two_sided = p_where(lambda level: _leaves_out(estimate.at(level), limit))
    is_better = row.difference > limit if direction == "higher" else row.difference < limit
    return two_sided / 2 if is_better else 1 - two_sided / 2


def _max_t(rows: Sequence[Row], quantities: Sequence[Quantity], sides: Sides, choices: Choices) -> Floats:
    """Westfall and Young's, from sign flips that all rows share: every row is a mean over the same groups."""
    finest = {
        name: members
        for quantity in quantities
        if len(quantity.parts) == 1
        for name, members in quantity.parts
    }
    means = [quantity for quantity in quantities if len(quantity.parts) > 1]
    if any(q.weights or q.column or q.over_runs for q in quantities) or any(
        part not in finest for quantity in means for part, _ in quantity.parts
    ):
        raise PlanError("max-T needs rows that are all means over the same groups", fix="--adjust holm")
    known = [part for name, members in finest.items() if (part := _Part(sides, name, members)).n]
    if not known:
        return np.full(len(rows), np.nan)
    rng = np.random.default_rng(choices.seed)
    # By content: neither the order nor, but for ties, the names of groups decide what is drawn.
    order = sorted(known, key=lambda part: (sorted(np.abs(part.flips)), part.n, part.name))
    drawn = {part.name: _flipped(part, rng, choices.shuffles) for part in order}
    observed, shuffled = [], []
    for row, quantity in zip(rows, quantities, strict=True):
        columns = [drawn[name] for name, _ in quantity.parts if name in drawn]
        shuffled.append(np.mean(columns, axis=0) if columns else np.zeros(choices.shuffles))
        observed.append(row.difference or 0.0)
    return max_t(observed, np.column_stack(shuffled))


def _flipped(part: _Part, rng: np.random.Generator, shuffles: int) -> Floats:
    """The difference of one functionality in each shuffle: one binomial count per size of a flip."""
    sizes, clusters = np.unique(np.abs(part.flips[part.flips != 0]), return_counts=True)
    total = np.zeros(shuffles)
    for size, number in zip(sizes.tolist(), clusters.tolist(), strict=True):
        total += size * (2 * rng.binomial(number, 0.5, size=shuffles) - number)
    return total / part.n


# Measures


def _side_measures(comparison: Comparison) -> Iterator[Measure]:
    """Each side's measures on its own applicable cases, as an audit gives them; with several seeds also their mean."""
    wanted = {(row.measure, _key(row.groups)) for row in comparison.rows}
    for side, results in (("A", comparison.a), ("B", comparison.b)):
        each = [[row for row in run.measures if (row.name, _key(row.groups)) in wanted] for run in results]
        if len(each) > 1:
            for rows in zip(*each, strict=True):
                yield _mean_of_seeds(rows, side)
        for number, run in enumerate(each, start=1):
            seed = {"seed": str(number)} if len(each) > 1 else {}
            for row in run:
                yield replace(row, groups={**row.groups, "model": side, **seed})


def _key(groups: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(groups.items())


def _mean_of_seeds(rows: Sequence[Measure], side: str) -> Measure:
    values = [row.value for row in rows if row.value is not None]
    value = float(np.mean(values)) if len(values) == len(rows) else None
    first = rows[0]
    return Measure(
        first.name,
        value,
        first.n,
        {**first.groups, "model": side},
        na=max(row.na for row in rows),
        errors=max(row.errors for row in rows),
        note=f"mean of {len(rows)} seeds" if value is not None else "undefined for some seeds",
        facts={"seeds": len(rows)},
    )


def note_of(row: Row) -> str:
    """What a reader of a row should know, in words."""
    facts = row.facts
    if "none in common" in facts:
        return str(facts["none in common"])
    notes = [f"few cases ({facts['few cases']})"] if "few cases" in facts else []
    if "seeds of A" in facts:
        notes.append(f"seeds: {facts['seeds of A']} of A, {facts['seeds of B']} of B")
    if "one against many" in facts:
        notes.append(
            "one run against several: nothing is known of its recipe, the interval is for these runs"
        )
    if THESE_TEMPLATES in facts:
        notes.append(for_templates(facts[THESE_TEMPLATES]))
    if "left out" in facts:
        notes.append(f"left out, no common applicable case: {', '.join(facts['left out'])}")
    if facts.get("over") == RUNS and row.interval is None:
        notes.append("not paired by case: two runs a side or more would tell how far it varies")
    if row.applicability_differs:
        notes.append("applies to {:.0%} of the cases for A and to {:.0%} for B".format(*row.applicability))
    return "; ".join(notes)


def difference_of(row: Row, comparison: Comparison) -> Measure:
    """The difference of a row, with what it rests on."""
    return next(_row_measures(row, comparison))


def _row_measures(row: Row, comparison: Comparison) -> Iterator[Measure]:
    errors, note = max(row.errors), note_of(row)
    scope = "" if comparison.several_seeds else ONE_CHECKPOINT
    tests = sum(other.p is not None for other in comparison.rows)
    adjustment = f"{ADJUSTMENTS[comparison.choices.adjust]} over {tests} comparisons"
    undetectable = "" if row.mde is not None else "no difference could have been found" if row.n else note
    facts = {"of": row.measure, **row.facts}
    yield Measure(
        "difference",
        row.difference,
        row.n,
        row.groups,
        row.interval,
        row.interval_method if row.interval else "",
        row.na,
        errors,
        "; ".join(filter(None, [note, scope if row.difference is not None else ""])),
        facts=facts,
    )
    for name, value, words, about in (
        ("p value", row.p, row.test or note, {"test": row.test}),
        ("adjusted p value", row.adjusted, adjustment if row.p is not None else note, {"tests": tests}),
        ("minimum detectable effect", row.mde, undetectable, {}),
    ):
        of = {"of": row.measure} if name == "minimum detectable effect" else {}
        yield Measure(name, value, row.n, row.groups, na=row.na, errors=errors, note=words, facts=about | of)
    if row.inferior_p is not None:
        question = {"margin": comparison.choices.margin, "of": row.measure}
        words = f"worse by {comparison.choices.margin:g} or more; one-sided"
        for name, value in (
            ("non-inferiority p value", row.inferior_p),
            ("adjusted non-inferiority p value", row.inferior_adjusted),
        ):
            yield Measure(
                name, value, row.n, row.groups, na=row.na, errors=errors, note=words, facts=question
            )
    for number, side in enumerate("AB"):
        groups = {**row.groups, "model": side}
        name = f"{row.measure} on common cases"
        yield Measure(name, row.rates[number], row.n, groups, na=row.na, errors=row.errors[number], note=note)
        if row.facts.get("over") == RUNS:
            continue
        applies = row.applicability[number]
        why = "" if applies is not None else "the model answered no case"
        yield Measure("applicability", applies, row.n + row.na, groups, errors=row.errors[number], note=why)
    if row.facts.get("over") != RUNS:
        for change, count in (("fail to pass", row.gained), ("pass to fail", row.lost)):
            yield Measure("changed cases", float(count), row.n, {**row.groups, "change": change})

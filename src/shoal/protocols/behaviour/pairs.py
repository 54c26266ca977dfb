"""Two models on the same cases: what differs, how sure that is, and what could not have been seen.

`docs/method/beyond.md` 7.2 to 7.7.

    Results of A, Results of B ──► Comparison ──► a Row for the suite, each test type, capability, functionality
                                                  the cases that changed, both ways
                                                  measures, as `--json` shows them

Every difference is B minus A on the cases that apply to both. One result a side is one checkpoint, and the claim is
about "this checkpoint on new cases of these functionalities"; several a side are seeds of one recipe, and seeds are
drawn again together with cases.

    what                   interval                                       test
    a functionality        t over cases or clusters, two added            exact sign test; sign flips by cluster
                           (Bonett & Price 2012)
    a mean over them       clusters drawn again inside each functionality sign flips, by the weight each case has
    several seeds          seeds and cases drawn again together           from the same draws

Exchanging A and B flips every sign and changes no p. Pure: nothing here asks a model or reads a file.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, PlanError, some
from ...records import Case, Measure, Measures, Outcome, Result
from ...stats.intervals import Interval, paired_difference_interval, percentile_interval, wilson
from ...stats.multiplicity import benjamini_hochberg, holm, max_t
from ...stats.paired import sign_flip_test, sign_test
from ...stats.power import mde_paired
from ...stats.resampling import (
    ClusterTable,
    degrees_of_freedom,
    difference,
    macro_difference_replicates,
    multi_bootstrap_difference,
    paired_table,
    sampling_variance,
)
from .score import by_functionality
from .settings import Settings

Floats = NDArray[np.float64]
Adjust = Literal["holm", "bh", "max-t", "none"]

ALPHA = 0.05
POWER_AND_LEVEL = 2.801585
"""z of 97.5 % plus z of 80 %: a normal statistic is found with power .8 at this many standard errors."""
FLAGGED = 0.10
"""Applicability that differs by more is flagged: a model can raise its rate by what it is not asked (7.7)."""
ENOUGH_SEEDS = 5
"""Fewer a side and a claim about the recipe is not well supported (7.3)."""
ONE_INTERVAL = "paired t, two clusters added"
MEAN_INTERVAL = "cluster bootstrap"
ONE_CHECKPOINT = "this checkpoint only"

ADJUSTMENTS: dict[str, str] = {
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "max-t": "max-T",
    "none": "no adjustment",
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How two sides are compared."""

    adjust: Adjust = "holm"
    """How p is adjusted over all rows of the comparison: holm, bh, max-t or none."""
    paired_seeds: bool = False
    """Seed k of A and seed k of B started from the same checkpoint: they are drawn together."""
    resamples: int = 10_000
    shuffles: int = 10_000
    seed: int = 0
    """Of every random draw here."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing compared: the suite (no groups), a test type, a capability or a functionality."""

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
    note: str = ""
    adjusted: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most 5 %."""
        return self.adjusted is not None and self.adjusted <= ALPHA

    @property
    def level(self) -> str:
        """suite, test type, capability or functionality."""
        return "functionality" if "functionality" in self.groups else next(iter(self.groups), "suite")

    @property
    def name(self) -> str:
        """What the row is called."""
        return self.groups.get(self.level, "suite score")

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

    def by(self, level: str) -> list[Row]:
        """The rows of one level: suite, test type, capability or functionality."""
        return [row for row in self.rows if row.level == level]

    def changed(self, functionality: str | None = None) -> list[tuple[Case, bool]]:
        """The cases that changed, and whether for the better; those that B newly fails come first."""
        found = [
            (self.cases[at], bool(self.changes[at] > 0))
            for at in np.flatnonzero(np.abs(np.nan_to_num(self.changes)) >= 0.5).tolist()
        ]
        own = [change for change in found if functionality in (None, change[0].groups.get("functionality"))]
        return sorted(own, key=lambda change: change[1])

    @property
    def measures(self) -> Measures:
        """Everything as measures, with the groups of what is compared."""
        return Measures([*_own_rates(self), *(one for row in self.rows for one in _row_measures(row, self))])


def compare(a: Sequence[Result], b: Sequence[Result], choices: Choices | None = None) -> Comparison:
    """Compare two models on the same cases, B against A; several results a side are seeds of one recipe."""
    choices = choices or Choices()
    if not a or not b:
        raise PlanError("a comparison needs a result on each side")
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
    if choices.adjust == "max-t" and len(a) + len(b) > 2:
        raise PlanError("max-T works with one checkpoint a side", fix="--adjust holm")
    sides = _Sides(a, b)
    parts = [_Part(sides, members) for members in by_functionality(sides.cases).values()]
    functionalities = [_row([part], part.groups, sides, choices) for part in parts]
    means = []
    for group in ("test type", "capability"):
        for value in dict.fromkeys(part.groups[group] for part in parts):
            members = [part for part in parts if part.groups[group] == value]
            means.append(_row(members, {group: value}, sides, choices))
    rows = [_row(parts, {}, sides, choices), *means, *functionalities]
    return Comparison(a, b, choices, _adjusted(rows, parts, choices), sides.changes)


# Both sides on one list of cases


class _Sides:
    """The outcomes of both sides as arrays over the same cases."""

    def __init__(self, a: Sequence[Result], b: Sequence[Result]) -> None:
        self.cases = a[0].cases
        _same_settings(a, b)
        self.hits: list[Floats] = []
        self.failed: list[NDArray[np.bool_]] = []
        for side, results in (("A", a), ("B", b)):
            outcomes = [
                _in_order_of(self.cases, result, side, len(results), at) for at, result in enumerate(results)
            ]
            self.hits.append(np.column_stack([_hits(run) for run in outcomes]))
            self.failed.append(np.column_stack([_failed(run) for run in outcomes]))
        self.runs = (len(a), len(b))
        common: NDArray[np.bool_] = np.logical_not(_in_any(np.isnan(np.column_stack(self.hits))))
        # Only what every run of both sides has an outcome for (7.7).
        self.common = [np.where(common[:, None], side, np.nan) for side in self.hits]
        self.means = [side.mean(axis=1) for side in self.common]
        self.changes: Floats = self.means[1] - self.means[0]
        self.clusters = _clusters(self.cases)

    @property
    def several(self) -> bool:
        return sum(self.runs) > 2


def _same_settings(a: Sequence[Result], b: Sequence[Result]) -> None:
    """Refuse results that were scored by different rules: their difference is not the models'."""
    first = scoring_of(a[0].job)
    for side, results in (("A", a), ("B", b)):
        for result in results:
            own = scoring_of(result.job)
            differing = [
                f"{key}: {first[key]!r} for A, {own[key]!r} for {side}"
                for key in first
                if own[key] != first[key]
            ]
            if differing:
                raise DataError(
                    "A and B were scored under different settings"
                    if side == "B"
                    else "the seeds of A were scored under different settings",
                    why="; ".join(differing),
                    fix="score both under the same settings; it takes seconds and asks no model",
                )


def scoring_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a job that decide how an answer is judged, as the profile resolves them."""
    given = job.get("settings") or {}
    names = ("profile", "tolerance", "slack", "directional", "band")
    settings = Settings(**{name: given[name] for name in names if name in given})
    return {name: settings.resolved(name) if name != "profile" else settings.profile for name in names}


def _in_order_of(cases: Sequence[Case], result: Result, side: str, runs: int, at: int) -> Sequence[Outcome]:
    """A result's outcomes in the order of these cases; an error that names what differs if they are others."""
    who = f"{side} (seed {at + 1})" if runs > 1 else side
    if result.cases is cases:
        return result.outcomes
    place = {case.id: position for position, case in enumerate(result.cases)}
    missing = [case.id for case in cases if case.id not in place]
    extra = place.keys() - {case.id for case in cases}
    if missing or extra:
        parts = [f"only A has {some(missing, 3)}"] if missing else []
        parts += [f"only {who} has {some(sorted(extra), 3)}"] if extra else []
        raise DataError(
            f"A and {who} were not asked the same cases: {len(cases):,} and {len(result.cases):,}",
            why="; ".join(parts),
            fix="the same suite, split, profile and limit on both sides",
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
    return [result.outcomes[position] for position in order]


def _what_differs(case: Case, other: Case) -> str:
    for what in ("examples", "labels", "groups", "cluster"):
        if getattr(case, what) != getattr(other, what):
            return what
    return "expectations" if case.meta.get("expect") != other.meta.get("expect") else ""


def _shown(case: Case, what: str) -> str:
    text = repr(case.meta.get("expect") if what == "expectations" else getattr(case, what))
    return text if len(text) < 80 else text[:77] + "…"


def _hits(outcomes: Sequence[Outcome]) -> Floats:
    values = (math.nan if outcome.passed is None else float(outcome.passed) for outcome in outcomes)
    return np.fromiter(values, np.float64, len(outcomes))


def _failed(outcomes: Sequence[Outcome]) -> NDArray[np.bool_]:
    return np.fromiter((bool(outcome.error) for outcome in outcomes), np.bool_, len(outcomes))


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
    """One functionality of both sides."""

    def __init__(self, sides: _Sides, members: NDArray[np.int64]) -> None:
        self.members = members
        self.groups = dict(sides.cases[members[0]].groups)
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
    def flips(self) -> Floats:
        """Passes of B minus passes of A, a number per cluster: what may change sign if the two are alike."""
        return np.repeat(self.table.rows[:, 0] - self.table.rows[:, 1], self.table.counts)

    @property
    def rates(self) -> tuple[float, float]:
        """Of A and of B, on the common cases."""
        b, a, n = self.table.totals
        return float(a / n), float(b / n)


# A row


def _row(parts: Sequence[_Part], groups: Mapping[str, str], sides: _Sides, choices: Choices) -> Row:
    known = [part for part in parts if part.n]
    members = np.concatenate([part.members for part in parts])
    changes = sides.changes[members]
    found = _inference(known, sides, choices)
    absent = [part.groups["functionality"] for part in parts if not part.n]
    row = Row(
        groups=groups,
        n=sum(part.n for part in known),
        rates=_mean_rates(known),
        difference=found.difference,
        interval=found.interval,
        interval_method=found.method,
        p=found.p,
        test=found.test,
        mde=found.mde,
        gained=int((changes >= 0.5).sum()),
        lost=int((changes <= -0.5).sum()),
        applicability=_applicability(sides, members),
        na=int((np.isnan(changes) & ~_any_failed(sides, members)).sum()),
        errors=_errors(sides, members),
        note=found.note if known else _why_none(sides, members),
    )
    notes = [row.note]
    if known and absent:
        notes.append(f"left out, no common applicable case: {', '.join(absent)}")
    if row.applicability_differs:
        notes.append("applies to {:.0%} of the cases for A and to {:.0%} for B".format(*row.applicability))
    return replace(row, note="; ".join(filter(None, notes)))


def _mean_rates(known: Sequence[_Part]) -> tuple[float | None, float | None]:
    if not known:
        return None, None
    a, b = np.array([part.rates for part in known]).mean(axis=0)
    return float(a), float(b)


def _applicability(sides: _Sides, members: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """The share of answered cases that each side's tests apply to."""
    shares: list[float | None] = []
    for hits, failed in zip(sides.hits, sides.failed, strict=True):
        answered = int((~failed[members]).sum())
        shares.append(float((~np.isnan(hits[members])).sum() / answered) if answered else None)
    return shares[0], shares[1]


def _any_failed(sides: _Sides, members: NDArray[np.int64]) -> NDArray[np.bool_]:
    return _in_any(np.column_stack([side[members] for side in sides.failed]))


def _errors(sides: _Sides, members: NDArray[np.int64]) -> tuple[int, int]:
    a, b = (int(_in_any(side[members]).sum()) for side in sides.failed)
    return a, b


def _why_none(sides: _Sides, members: NDArray[np.int64]) -> str:
    return "no common applicable case" if not _any_failed(sides, members).all() else "no common answered case"


@dataclass(frozen=True, slots=True)
class _Found:
    difference: float | None = None
    interval: Interval | None = None
    method: str = ""
    p: float | None = None
    test: str = ""
    mde: float | None = None
    note: str = ""


def _inference(known: Sequence[_Part], sides: _Sides, choices: Choices) -> _Found:
    if not known:
        return _Found()
    # fsum: the same number, up to its sign, whatever the order of functionalities and of the two models.
    observed = math.fsum(difference(part.table) for part in known) / len(known) + 0.0
    if sides.several:
        return _over_seeds(known, observed, sides, choices)
    interval, method = _interval(known, choices)
    p, test = _test(known, choices)
    note = f"few cases ({known[0].n})" if len(known) == 1 and known[0].n < 20 else ""
    return _Found(observed, interval, method, p, test, _smallest(known), note)


def _interval(known: Sequence[_Part], choices: Choices) -> tuple[Interval | None, str]:
    """A t interval for one functionality; for a mean, clusters drawn again inside each functionality.

    Drawing again says nothing of a functionality whose cases all went the same way: it would pass for known exactly.
    Such ones bring their t intervals, whose distances add up with the rest as variances do.
    """
    tables = [part.table for part in known]
    if len(tables) == 1:
        return _defined(paired_difference_interval(tables[0])), ONE_INTERVAL
    varying = [table for table in tables if sampling_variance(table) > 0]
    still = [table for table in tables if not sampling_variance(table) > 0]
    distances = [_distances(difference(table), paired_difference_interval(table)) for table in still]
    if varying:
        replicates = macro_difference_replicates(
            varying, choices.resamples, np.random.default_rng(choices.seed)
        )
        drawn = percentile_interval(replicates, degrees=degrees_of_freedom(varying))
        middle = math.fsum(difference(table) for table in varying) / len(varying)
        distances.append(_distances(middle, drawn) * len(varying))
    below, above = np.sqrt((np.array(distances) ** 2).sum(axis=0)) / len(tables)
    middle = math.fsum(difference(table) for table in tables) / len(tables)
    low, high = max(-1.0, middle - float(below)), min(1.0, middle + float(above))
    return _defined((low, high)), MEAN_INTERVAL if varying else ONE_INTERVAL


def _distances(middle: float, interval: Interval) -> Floats:
    """From an estimate down and up to the ends of its interval; never negative."""
    return np.maximum(0.0, [middle - interval[0], interval[1] - middle])


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


def _test(known: Sequence[_Part], choices: Choices) -> tuple[float, str]:
    """A paired test: by case where cases are independent, by cluster where they are not."""
    rng = np.random.default_rng(choices.seed)
    if len(known) == 1:
        (part,) = known
        flips = part.flips
        if part.is_clustered:
            return sign_flip_test(flips, rng, choices.shuffles), f"sign flips of {len(flips):,} clusters"
        gained, lost = int((flips > 0).sum()), int((flips < 0).sum())
        return sign_test(gained, lost), "sign test"
    # Each case by its weight in the mean of functionalities.
    flips = np.concatenate([part.flips / part.n for part in known])
    return sign_flip_test(flips, rng, choices.shuffles), "sign flips"


def _smallest(known: Sequence[_Part]) -> float | None:
    """The minimum detectable effect; None where even the largest difference would be missed."""
    if len(known) == 1:
        (part,) = known
        return _smallest_paired(_independent_cases(part), _discordance(part))
    effect = POWER_AND_LEVEL * math.sqrt(math.fsum(_variance(part) for part in known)) / len(known)
    return effect if effect <= 1 else None


def _independent_cases(part: _Part) -> int:
    """As many independent cases as tell as much as these clusters do."""
    variance = sampling_variance(part.table)
    if not part.is_clustered:
        return part.n
    if not variance > 0:
        return len(part.flips)
    return max(1, round(part.n * min(1.0, _discordance(part) / part.n / variance)))


def _smallest_paired(n: int, discordance: float) -> float | None:
    """As `mde_paired`; where so few cases differ that nothing would be found, the least that would, all one way."""
    found = mde_paired(n, discordance)
    if found is not None or mde_paired(n, 1.0) is None:
        return found
    below, above = discordance, 1.0
    while above - below > 1e-6:
        middle = (below + above) / 2
        below, above = (middle, above) if mde_paired(n, middle) is None else (below, middle)
    return above


def _variance(part: _Part) -> float:
    variance = sampling_variance(part.table)
    return variance if variance > 0 else _discordance(part) / len(part.flips)


def _discordance(part: _Part) -> float:
    """The share of cases on which the two differ; where none does, the most that is compatible with that."""
    changed = float(np.abs(part.flips).sum())
    return min(1.0, changed / part.n) if changed else wilson(0, len(part.flips))[1]


def _over_seeds(known: Sequence[_Part], observed: float, sides: _Sides, choices: Choices) -> _Found:
    """Seeds and cases drawn again together: for this training recipe (`docs/method/beyond.md` 7.3)."""
    a, b = ([side[part.members] for part in known] for side in sides.common)
    clusters = None if sides.clusters is None else [c for part in known if (c := part.clusters) is not None]
    replicates = multi_bootstrap_difference(
        b,
        a,
        choices.resamples,
        np.random.default_rng(choices.seed),
        paired_runs=choices.paired_seeds,
        clusters=clusters,
    )
    defined = replicates[~np.isnan(replicates)]
    seeds = f"seeds: {sides.runs[0]} of A, {sides.runs[1]} of B"
    if not len(defined):
        return _Found(observed, note=seeds)
    if not defined.any():
        interval, method = _interval(known, choices)
    else:
        interval, method = _defined(percentile_interval(defined)), "seeds and cases bootstrap"
    # A recipe is no better when about half of the draws say otherwise; not exact, and coherent with the interval.
    beyond = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    p = min(1.0, 2 * (1 + beyond) / (1 + len(defined))) if observed else 1.0
    effect = POWER_AND_LEVEL * float(defined.std())
    mde = effect if 0 < effect <= 1 else None
    return _Found(observed, interval, method, p, "seeds and cases bootstrap", mde, seeds)


# Many tests at once


def _adjusted(rows: Sequence[Row], parts: Sequence[_Part], choices: Choices) -> list[Row]:
    """The rows with p adjusted over all of them: the family is the table (`docs/method/beyond.md` 7.5)."""
    raw = np.array([math.nan if row.p is None else row.p for row in rows])
    if choices.adjust == "max-t":
        adjusted = _max_t(rows, parts, choices)
    elif choices.adjust == "none":
        adjusted = raw
    else:
        adjusted = holm(raw) if choices.adjust == "holm" else benjamini_hochberg(raw)
    return [
        replace(row, adjusted=None if row.p is None else float(value))
        for row, value in zip(rows, adjusted, strict=True)
    ]


def _max_t(rows: Sequence[Row], parts: Sequence[_Part], choices: Choices) -> Floats:
    """Westfall and Young's, from sign flips that all rows share."""
    known = [part for part in parts if part.n]
    if not known:
        return np.full(len(rows), np.nan)
    rng = np.random.default_rng(choices.seed)
    # By content: neither the order nor, but for ties, the names of functionalities decide what is drawn.
    order = sorted(known, key=lambda part: (sorted(np.abs(part.flips)), part.n, part.groups["functionality"]))
    drawn = {part.groups["functionality"]: _flipped(part, rng, choices.shuffles) for part in order}
    observed, shuffled = [], []
    for row in rows:
        columns = [
            drawn[part.groups["functionality"]]
            for part in known
            if all(part.groups.get(key) == value for key, value in row.groups.items())
        ]
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


def _own_rates(found: Comparison) -> Iterator[Measure]:
    """Each side's rates on its own applicable cases, as an audit gives them; with several seeds also their mean."""
    for side, results in (("A", found.a), ("B", found.b)):
        each = [[row for row in run.measures if row.name in ("pass rate", "suite score")] for run in results]
        if len(each) > 1:
            for rows in zip(*each, strict=True):
                yield _mean_of_seeds(rows, side)
        for number, run in enumerate(each, start=1):
            seed = {"seed": str(number)} if len(each) > 1 else {}
            for row in run:
                yield replace(row, groups={**row.groups, "model": side, **seed})


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
    )


def _row_measures(row: Row, found: Comparison) -> Iterator[Measure]:
    errors = max(row.errors)
    scope = "" if found.several_seeds else ONE_CHECKPOINT
    notes = "; ".join(filter(None, [row.note, scope if row.difference is not None else ""]))
    yield Measure(
        "difference",
        row.difference,
        row.n,
        row.groups,
        row.interval,
        row.interval_method if row.interval else "",
        row.na,
        errors,
        notes,
    )
    tests = sum(one.p is not None for one in found.rows)
    adjustment = f"{ADJUSTMENTS[found.choices.adjust]} over {tests} comparisons"
    undetectable = "" if row.mde is not None else "no difference could have been found" if row.n else row.note
    for name, value, note in (
        ("p value", row.p, row.test or row.note),
        ("adjusted p value", row.adjusted, adjustment if row.p is not None else row.note),
        ("minimum detectable effect", row.mde, undetectable),
    ):
        yield Measure(name, value, row.n, row.groups, na=row.na, errors=errors, note=note)
    for at, side in enumerate("AB"):
        groups = {**row.groups, "model": side}
        rate = Measure("pass rate on common cases", row.rates[at], row.n, groups, note=row.note)
        yield replace(rate, na=row.na, errors=row.errors[at])
        applies = row.applicability[at]
        why = "" if applies is not None else "the model answered no case"
        yield Measure("applicability", applies, row.n + row.na, groups, errors=row.errors[at], note=why)
    for change, count in (("fail to pass", row.gained), ("pass to fail", row.lost)):
        yield Measure("changed cases", float(count), row.n, {**row.groups, "change": change})

"""Two models on the same cases: what differs, and how sure that is (`docs/method/beyond.md` 7.2 to 7.7).

Every difference is B minus A on the cases that apply to both. The population is new cases of the same templates; with
`over="templates"` it is new templates, from six templates on. Premises and texts are always the unit. If either side
has several runs, the run is the unit.

`docs/comparing.md` has the interval and test of each kind of difference. A weighted sum takes t and sign flips over
clusters; one run against several is tested by case, on the mean outcomes. A result file has rates only (`unpaired`).

If the unadjusted test does not reject, the interval reaches zero. p is adjusted within a level. Exchanging A and B
flips every sign and changes no p. Pure: nothing here queries a model or reads a file.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.claims import ENOUGH_TEMPLATES, ONE_CHECKPOINT
from ..core.display import frame
from ..core.errors import DataError, PlanError
from ..core.measures import quantity as kind_of
from ..core.records import Basis, Case, Finding, Measure, Measures, Result, ShownInNotebook
from ..stats.intervals import within
from ..stats.seeds import SeedError, error_of_difference
from .cases import (
    TEMPLATES,
    CaseIndex,
    Quantity,
    Sides,
    comparable,
    sides_of,
    unusable,
)
from .inference import (
    WELCH,
    Choices,
    Estimate,
    Part,
    Row,
    detectable_drop,
    inference,
    level_of,
    pooled_errors,
    tests_in,
    with_adjusted_p,
)
from .unpaired import check_same_origin, for_claim, independent, key_of, unpaired_estimate
from .wording import row_note

__all__ = ["Choices", "Comparison", "Row", "compare"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison(ShownInNotebook):
    """The result of a comparison of two models."""

    a: Sequence[Result]
    b: Sequence[Result]
    choices: Choices
    rows: Sequence[Row]
    changes: Floats = field(repr=False)  # (cases,) B minus A, NaN where the two have no common outcome

    def __repr__(self) -> str:
        from .view import comparison_text

        return f"{comparison_text(self)}\nLook at: .changed(), .measures, .to_pandas()"

    def to_pandas(self) -> Any:
        """Return a pandas table with a row per compared measure: A, B, difference, interval, p, changed cases."""
        from .view import rows_for_csv

        return frame(rows_for_csv(self))

    @property
    def cases(self) -> Sequence[Case]:
        """Return the cases, which are the same on both sides."""
        return self.a[0].cases

    @property
    def several_seeds(self) -> bool:
        """Return whether a side has more than one run."""
        return len(self.a) + len(self.b) > 2

    @property
    def has_rates_only(self) -> bool:
        """Return whether a side has rates without outcomes by case, so that cases cannot be paired."""
        return not all(result.outcomes for result in (*self.a, *self.b))

    @property
    def headline(self) -> Row:
        """Return the row of the main measure, such as suite score in `behaviour`."""
        marked = [row for row in self.rows if row.is_headline]
        return (marked or self.by("") or list(self.rows))[0]

    @property
    def overall(self) -> Row:
        """Return the row of the pass rate over all cases; without one, the row of the main measure."""
        plain = [row for row in self.by("") if row.measure == "pass rate"]
        return (plain or [self.headline])[0]

    @property
    def finest(self) -> str:
        """Return the level with the most rows: functionality, cell or category."""
        levels = [row.level for row in self.rows if row.level]
        return max(dict.fromkeys(levels), key=levels.count, default="")

    def by(self, level: str) -> list[Row]:
        """Return the rows of one level, such as capability; an empty level means all cases."""
        return [row for row in self.rows if row.level == level]

    def changed(self, row: Row | None = None) -> list[tuple[Case, bool]]:
        """Return each case that changed with True if it is fixed; newly failing cases come first."""
        changes = np.nan_to_num(self.changes)
        positions = np.flatnonzero(np.abs(changes) >= 0.5)
        if row is not None:
            positions = np.intersect1d(positions, CaseIndex(self.cases).members(row.groups))
        changed = [(self.cases[position], bool(changes[position] > 0)) for position in positions.tolist()]
        return sorted(changed, key=lambda change: change[1])

    def detectable(self, level: str) -> float | None:
        """Return the median minimum detectable drop of a level; None where no row has one."""
        drops = [row.mde for row in self.by(level) if row.mde is not None]
        return float(np.median(drops)) if drops else None

    @property
    def error_bounds(self) -> tuple[float, float, float, float] | None:
        """Return the overall difference with the unanswered cases; None if it is not a mean of them.

        All fail, all pass, only B's fail, only A's fail.
        """
        row = self.overall
        if not any(row.errors) or not row.is_paired or kind_of(row.measure).unit != "share":
            return None
        column = next(
            measure.basis.column
            for measure in self.a[0].measures
            if (measure.name, measure.groups) == (row.measure, row.groups)
        )
        sides = sides_of(self.a, self.b, column)
        (a_fail, a_pass), (b_fail, b_pass) = (
            [float(np.nanmean(np.where(failed, end, hits), axis=0).mean()) for end in (0.0, 1.0)]
            for hits, failed in zip(sides.hits, sides.failed, strict=True)
        )
        return b_fail - a_fail, b_pass - a_pass, b_fail - a_pass, b_pass - a_fail

    @property
    def findings(self) -> list[Finding]:
        """Return the findings and failed self-checks of either side that make its numbers unusable."""
        return [
            replace(finding, text=f"{side}: {finding.text}", groups={**finding.groups, "side": side})
            for side, results in (("A", self.a), ("B", self.b))
            for result in results
            for finding in unusable(result)
        ]

    @property
    def measures(self) -> Measures:
        """Return all numbers of the comparison as measures."""
        rows = [measure for row in self.rows for measure in _row_measures(row, self)]
        return Measures([*_side_measures(self), *rows])


def compare(a: Sequence[Result], b: Sequence[Result], choices: Choices | None = None) -> Comparison:
    """Compare model B with model A on the same cases; several results of a side are seeds of one recipe."""
    choices = choices or Choices()
    if not a or not b:
        raise PlanError("a comparison needs a result on each side", fix="give results for both A and B")
    if not all(result.outcomes for result in (*a, *b)):
        check_same_origin(a, b)
        rows = _rows_of_rates(for_claim(a[0], choices), for_claim(b[0], choices))
        return Comparison(a, b, replace(choices, power=False), with_adjusted_p(rows), np.zeros(0))
    sides = sides_of(a, b)
    wanted = comparable(a[0], a[0].cases)
    if not wanted:
        raise DataError(
            "these results have nothing to compare",
            why="none of their measures is computed from cases or runs",
            fix="results of a protocol whose measures are means over cases",
        )
    by_column = {"": sides} | {
        quantity.column: sides_of(a, b, quantity.column) for quantity in wanted if quantity.column
    }
    # A side on which no case of a measure applies does not tell whether they come from templates.
    templated = {
        key_of(row) for result in (*a, *b) for row in result.measures if row.basis.templates is not None
    }
    pooled = _pooled_over_rows(wanted, sides) if sides.several else {}
    rows = [
        _row_over_runs(quantity, a, b)
        if not quantity.parts
        else _row(
            quantity,
            by_column[quantity.column],
            choices,
            pooled.get(place),
            has_templates=key_of(quantity.measure) in templated,
        )
        for place, quantity in enumerate(wanted)
    ]
    rows = with_adjusted_p(rows)
    if choices.power:
        levels = {row.level: level_of(rows, row.level) for row in rows}
        rows = [replace(row, mde=detectable_drop(row, levels[row.level])) for row in rows]
    return Comparison(a, b, choices, rows, sides.changes)


def _pooled_over_rows(wanted: Sequence[Quantity], sides: Sides) -> dict[int, SeedError]:
    """Return the error over runs of each pass rate, by its place; rows of one level share what they know of it."""
    levels: dict[str, dict[int, Part]] = {}
    for place, quantity in enumerate(wanted):
        if quantity.level and not quantity.column and len(quantity.parts) == 1 and not quantity.weights:
            part = Part(sides, *quantity.parts[0])
            if part.n:
                levels.setdefault(quantity.level, {})[place] = part
    errors: dict[int, SeedError] = {}
    for parts in levels.values():
        errors |= zip(parts, pooled_errors(list(parts.values()), sides), strict=False)
    return errors


def _row(
    quantity: Quantity, sides: Sides, choices: Choices, pooled: SeedError | None, *, has_templates: bool
) -> Row:
    over_templates = has_templates and choices.over == TEMPLATES
    sizes = quantity.template_sizes(sides.clusters, sides.changes) if over_templates else None
    if has_templates and not over_templates:
        sides = Sides(sides.hits, None, sides.failed, by_prompt=sides.by_prompt)
    parts = [Part(sides, name, members) for name, members in quantity.parts]
    known = [part for part in parts if part.n]
    members = np.unique(np.concatenate([part.members for part in parts]))
    changes = sides.changes[members]
    failed = [side[members].any(axis=1) for side in sides.failed]
    failed_in_any = failed[0] | failed[1]
    weights = list(quantity.weights)
    missing = bool(weights) and len(known) < len(parts)
    estimate = Estimate() if missing else inference(known, weights, sides, choices, pooled)
    if sizes is not None and not sides.several and len(sizes) < ENOUGH_TEMPLATES:
        estimate = Estimate(estimate.difference)
    rates = (None, None) if missing else _mean_rates(known, weights, quantity.measure.basis.constant)
    return _row_of(
        quantity,
        estimate,
        n=int((~np.isnan(changes)).sum()),
        rates=rates,
        gained=int((changes >= 0.5).sum()),
        lost=int((changes <= -0.5).sum()),
        applicability=_applicability(sides, members),
        na=int((np.isnan(changes) & ~failed_in_any).sum()),
        errors=(int(failed[0].sum()), int(failed[1].sum())),
        reason="" if known else f"no common {'answered' if failed_in_any.all() else 'applicable'} case",
        is_headline=quantity.measure.headline,
        runs=sides.runs,
        absent=tuple(part.name for part in parts if not part.n) if known else (),
        templates=None if sizes is None else len(sizes),
        effective_templates=0.0 if sizes is None or not len(sizes) else sizes.sum() ** 2 / (sizes**2).sum(),
    )


def _row_of(quantity: Quantity, estimate: Estimate, **about: Any) -> Row:
    """Return the row of a quantity with its estimate."""
    inferred = {part.name: getattr(estimate, part.name) for part in fields(Estimate)}
    measure = quantity.measure
    return Row(
        measure=measure.name,
        level=quantity.level,
        name=quantity.name,
        groups=measure.groups,
        **inferred,
        **about,
    )


def _mean_rates(
    known: Sequence[Part], weights: Sequence[float], constant: float
) -> tuple[float | None, float | None]:
    if not known:
        return None, None
    rates = np.array([(a / n, b / n) for b, a, n in (part.table.totals for part in known)])
    a, b = np.array(weights) @ rates if weights else rates.mean(axis=0)
    return float(a) + constant, float(b) + constant


def _applicability(sides: Sides, members: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """Return the share of answered cases that each side's tests apply to."""
    shares: list[float | None] = []
    for hits, failed in zip(sides.hits, sides.failed, strict=True):
        answered = int((~failed[members]).sum())
        shares.append(float((~np.isnan(hits[members])).sum() / answered) if answered else None)
    return shares[0], shares[1]


def _row_over_runs(quantity: Quantity, a: Sequence[Result], b: Sequence[Result]) -> Row:
    """Return a measure that rests on no cases that could be paired: only several runs a side tell how far it varies."""
    measure = quantity.measure
    known = [
        [
            row.value
            for result in side
            for row in result.measures
            if (row.name, row.groups) == (measure.name, measure.groups) and row.value is not None
        ]
        for side in (a, b)
    ]
    means = [math.fsum(side) / len(side) if side else None for side in known]
    observed = None if None in means else (means[1] or 0.0) - (means[0] or 0.0)
    estimate = Estimate(observed)
    if observed is not None and min(map(len, known)) > 1:
        seeds = error_of_difference(known[1], known[0])
        if seeds.error > 0:
            reach, kind = seeds.reach(0.95), kind_of(measure)
            most = 1.0 if kind.unit == "share" and not kind.signed else math.inf
            interval = within((observed - reach, observed + reach), -most, most)
            estimate = Estimate(
                observed, interval, "welch t over runs", seeds.p(observed), WELCH, over_runs=seeds
            )
    return _row_of(
        quantity,
        estimate,
        n=measure.n,
        rates=(means[0], means[1]),
        na=measure.na,
        is_paired=False,
        runs=(len(a), len(b)),
    )


def _rows_of_rates(a: Result, b: Result) -> list[Row]:
    """Return the unpaired difference of each measure, p not yet adjusted."""
    later, rows = {key_of(row): row for row in b.measures}, []
    for quantity in comparable(a, ()):
        old = quantity.measure
        absent = Measure(old.name, None, 0, old.groups, reason="B does not have it")
        new = later.get(key_of(old), absent)
        difference = independent(new, old, "A")
        row = _row_of(
            quantity,
            unpaired_estimate(difference, old, new),
            n=min(old.n, new.n),
            rates=(old.value, new.value),
            na=max(old.na, new.na),
            errors=(old.errors, new.errors),
            reason=difference.reason,
            is_headline=old.headline,
            is_paired=False,
        )
        rows.append(row)
    return rows


def _side_measures(comparison: Comparison) -> Iterator[Measure]:
    """Yield each side's measures on its own applicable cases, as an audit gives them."""
    wanted = {(row.measure, frozenset(row.groups.items())) for row in comparison.rows}
    for side, results in (("A", comparison.a), ("B", comparison.b)):
        for number, run in enumerate(results, start=1):
            seed = {"seed": str(number)} if len(results) > 1 else {}
            for row in run.measures:
                if (row.name, frozenset(row.groups.items())) in wanted:
                    yield replace(row, groups={**row.groups, "model": side, **seed})


def difference_of(row: Row, comparison: Comparison) -> Measure:
    """Return the difference of a row as a measure."""
    return next(_row_measures(row, comparison))


def _row_measures(row: Row, comparison: Comparison) -> Iterator[Measure]:
    errors, note = max(row.errors), row_note(row)
    scope = ONE_CHECKPOINT if row.difference is not None and not comparison.several_seeds else ""
    yield Measure(
        "difference",
        row.difference,
        row.n,
        row.groups,
        row.interval,
        row.method if row.interval else "",
        row.na,
        errors,
        "; ".join(filter(None, [note, scope])),
        of=row.measure,
        reason=row.reason,
        headline=row.is_headline,
        basis=Basis(templates=row.templates),
    )
    adjustment = f"Holm over {tests_in(comparison.rows, row.level)} tests"
    undetectable = "no drop is detected with 80 % power" if row.n and not comparison.has_rates_only else note
    undetectable = "" if row.mde is not None else undetectable
    tests = [
        ("p value", row.p, row.test or note),
        ("adjusted p value", row.adjusted, adjustment if row.p is not None else note),
        ("minimum detectable effect", row.mde, undetectable),
    ]
    for name, value, words in tests:
        yield Measure(name, value, row.n, row.groups, na=row.na, errors=errors, note=words, of=row.measure)
    if not comparison.has_rates_only:
        yield from _common_measures(row, note)


def _common_measures(row: Row, note: str) -> Iterator[Measure]:
    """Yield both sides on the common cases, and how many cases changed."""
    for number, side in enumerate("AB"):
        groups, errors = {**row.groups, "model": side}, row.errors[number]
        name = f"{row.measure} on common cases"
        yield Measure(name, row.rates[number], row.n, groups, na=row.na, errors=errors, note=note)
        if row.is_paired:
            applies = row.applicability[number]
            why = "" if applies is not None else "the model answered no case"
            yield Measure("applicability", applies, row.n + row.na, groups, errors=errors, note=why)
    if row.is_paired:
        for change, count in (("fail to pass", row.gained), ("pass to fail", row.lost)):
            yield Measure("changed cases", float(count), row.n, {**row.groups, "change": change})

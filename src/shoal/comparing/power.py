"""Sample size of a comparison: the smallest number of cases, or of runs, that detects a drop with a given power.

The formulas are those of `stats.power`, at the level that `compare` uses for the row. A pilot gives the number of
cases, the share of cases that change anyway, and the spread of runs. Pure: nothing here queries a model.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..core.claims import POWER
from ..core.errors import DataError, PlanError, nearest
from ..core.measures import MEASURES, quantity, shown
from ..core.records import Measure, Result
from ..core.views import Column, Number, Section, Table, Words
from ..core.views import Row as TableRow
from ..stats.power import Cases, even_drop_power, welch_power
from .inference import Estimate, churn, level_of
from .pairs import Choices, compare
from .rows import Row

MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """The power of a few sizes for a drop in one row of a comparison."""

    row: Row
    drop: float
    power: float
    level: float
    by_runs: bool
    """Whether the run is the unit; else the case."""
    pilot: int
    needed: int | None
    """None if more than a million."""
    powers: dict[int, float]
    premise: str
    """The spread that the powers rest on."""

    @property
    def measures(self) -> list[Measure]:
        """Return the plan as measures, as `--json` shows it."""
        about = {"difference": self.drop, "power": self.power, "level": self.level}
        unit, n = "seeds" if self.by_runs else "cases", self.row.n
        rows = [
            Measure("power", share, n, {unit: str(size)}, facts=about) for size, share in self.powers.items()
        ]
        reason = "" if self.needed else f"more than {MOST:,}"
        needed = Measure(f"{unit} needed", self.needed and float(self.needed), n, reason=reason, facts=about)
        return [*rows, needed]


def plan_size(
    a: Sequence[Result],
    b: Sequence[Result],
    drop: float,
    power: float = POWER,
    differing: float | None = None,
    row: str = "",
) -> PowerPlan:
    """Return the size at which `compare` detects a drop with this power, from one model, two, or several runs."""
    if not (0 < drop < 1 and 0.5 <= power <= 0.99):
        why = "a difference lies between 0 and 1, a power between 0.5 and 0.99"
        raise PlanError(f"difference {drop:g}, power {power:g}", why=why, fix="--difference 0.05 --power 0.8")
    if b and (len(a) > 1) != (len(b) > 1):
        raise PlanError(
            f"A has {len(a)} runs, B has {len(b)}", fix="one run on each side, or several on both"
        )
    if differing is not None and not 0 <= differing <= 1:
        raise PlanError(f"--differing {differing:g}: not a share of cases", fix="--differing 0.1")
    if not b and len(a) == 1 and differing is None:
        raise PlanError("one model does not show how often two differ", fix="--differing 0.1, or add model B")
    comparison = compare(a, b or a, Choices(power=False))
    names = [candidate.name for candidate in comparison.rows]
    if row and row not in names:
        raise PlanError(f"compare has no row {row!r}", fix=nearest(row, names) or f"--row {names[0]!r}")
    place = names.index(row) if row else list(comparison.rows).index(comparison.headline)
    chosen, estimate = comparison.rows[place], comparison.estimates[place]
    level, by_runs = level_of(comparison.rows, chosen.level), estimate.runs is not None
    pilot = min(len(a), len(b or a)) if by_runs else chosen.n
    if estimate.runs is not None:
        power_at, premise = _power_of_runs(estimate.runs.error, len(a), len(b), drop, level)
    else:
        power_at, premise = _power_of_cases(estimate, chosen, drop, level, differing)
    sizes = {wanted: _smallest_size(power_at, wanted, 2 if by_runs else 1) for wanted in (0.5, 0.9, power)}
    powers = {size: power_at(size) for size in sorted({pilot, *filter(None, sizes.values())})}
    return PowerPlan(chosen, drop, power, level, by_runs, pilot, sizes[power], powers, premise)


def _power_of_runs(
    error: float, a: int, b: int, drop: float, level: float
) -> tuple[Callable[[int], float], str]:
    sd = error / math.sqrt(1 / a + 1 / (b or a))
    degrees = a - 1 + max(0, b - 1)
    premise = f"SD of runs: {100 * sd:.1f} points, estimated from {a + b} runs on the pilot's cases."
    return partial(welch_power, sd=sd, degrees=degrees, difference=drop, alpha=level), premise


def _power_of_cases(
    estimate: Estimate, row: Row, drop: float, level: float, differing: float | None
) -> tuple[Callable[[int], float], str]:
    if estimate.flips is None or drop >= (total := math.fsum(estimate.flips[1])):
        raise DataError(f"{row.name}: compare cannot detect a drop of {drop:g}", fix="--row with another row")
    share, cases = drop / total, Cases.weighted(estimate.flips[1][estimate.flips[1] > 0])
    changing = churn(estimate) if differing is None else max(0.0, differing - share)
    premise = f"{100 * changing:.1f} % of cases change besides the drop, half of them each way."
    return lambda size: even_drop_power(cases.times(size / row.n), changing, share, level), premise


def _smallest_size(power_at: Callable[[int], float], power: float, least: int) -> int | None:
    """Return the smallest size with this power, to 1 in 500; None if it is beyond a million."""
    below, above = least - 1, least
    while power_at(above) < power:
        below, above = above, 2 * above
        if above > MOST:
            return None
    while above - below > max(1, above // 500):
        middle = (below + above) // 2
        below, above = (below, middle) if power_at(middle) >= power else (middle, above)
    return above


def plan_sections(plan: PowerPlan) -> list[Section]:
    """Return the answer in one sentence, then the power of a few sizes."""
    what, unit = quantity(plan.row.measure), "runs a side" if plan.by_runs else "cases"
    drop = shown(plan.drop, what, signed=False) + (" points" if what.unit == "share" else "")
    needed = f"{plan.needed:,}" if plan.needed else f"more than {MOST:,}"
    answer = (
        f"To detect a drop of {drop} in {plan.row.name} with {100 * plan.power:.0f} % power you need {needed} {unit}; "
        f"the pilot has {plan.pilot:,} (power {shown(plan.powers[plan.pilot], MEASURES['power'])} %).\n"
    )
    powers = [Number(row) for row in plan.measures if row.name == "power"]
    rows = [TableRow([f"{size:,}", power]) for size, power in zip(plan.powers, powers, strict=True)]
    table = Table([Column(unit), Column("power %")], rows, "sizes")
    notes = [f"Two-sided test at level {plan.level:.2g}, as in compare.", plan.premise]
    return [Section(text=[Words(answer, "strong")], blocks=[table], notes=notes)]

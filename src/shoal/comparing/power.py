"""Sample size of a comparison: the smallest number of cases at which `compare` detects a drop.

A pilot gives the number of cases and the share of cases that change anyway; `stats.power` has the formulas.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..core.claims import POWER
from ..core.errors import DataError, PlanError, nearest
from ..core.measures import MEASURES, quantity, shown
from ..core.records import Measure, Result
from ..core.views import Column, Number, Section, Table, Words
from ..core.views import Row as TableRow
from ..stats.power import Cases, even_drop_power
from .inference import churn, level_of
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
    changing: float
    """The share of cases that change besides the drop."""
    needed: int | None
    """None if more than a million."""
    powers: Mapping[int, float]

    @property
    def measures(self) -> list[Measure]:
        """Return the plan as measures, as `--json` shows it."""
        about, n = {"difference": self.drop, "power": self.power, "level": self.level}, self.row.n
        rows = [
            Measure("power", share, n, {"cases": str(size)}, facts=about)
            for size, share in self.powers.items()
        ]
        reason = "" if self.needed else f"more than {MOST:,}"
        needed = self.needed and float(self.needed)
        return [*rows, Measure("cases needed", needed, n, reason=reason, facts=about)]


def plan_size(
    a: Result,
    b: Result | None,
    drop: float,
    power: float = POWER,
    differing: float | None = None,
    row: str = "",
) -> PowerPlan:
    """Return the size at which `compare` detects a drop with this power, from a pilot of one model or two."""
    if not (0 < drop < 1 and 0.5 <= power <= 0.99):
        why = "a difference lies between 0 and 1, a power between 0.5 and 0.99"
        raise PlanError(f"difference {drop:g}, power {power:g}", why=why, fix="--difference 0.05 --power 0.8")
    if differing is not None and not 0 <= differing <= 1:
        raise PlanError(f"--differing {differing:g}: not a share of cases", fix="--differing 0.1")
    if b is None and differing is None:
        raise PlanError("one model does not show how often two differ", fix="--differing 0.1, or add model B")
    comparison = compare([a], [b or a], Choices(power=False))
    names = [candidate.name for candidate in comparison.rows]
    if row and row not in names:
        raise PlanError(f"compare has no row {row!r}", fix=nearest(row, names) or f"--row {names[0]!r}")
    place = names.index(row) if row else list(comparison.rows).index(comparison.headline)
    chosen = comparison.rows[place]
    estimate = chosen.estimate
    if estimate.flips is None or drop >= (total := math.fsum(estimate.flips[1])):
        raise DataError(
            f"{chosen.name}: compare cannot detect a drop of {drop:g}", fix="--row with another row"
        )
    share, cases = drop / total, Cases.weighted(estimate.flips[1][estimate.flips[1] > 0])
    changing = churn(estimate) if differing is None else max(0.0, differing - share)
    level = level_of(comparison.rows, chosen.level)

    def power_at(size: int) -> float:
        return even_drop_power(cases.times(size / chosen.n), changing, share, level)

    sizes = {wanted: _smallest_size(power_at, wanted) for wanted in (0.5, 0.9, power)}
    powers = {size: power_at(size) for size in sorted({chosen.n, *filter(None, sizes.values())})}
    return PowerPlan(chosen, drop, power, level, changing, sizes[power], powers)


def _smallest_size(power_at: Callable[[int], float], power: float) -> int | None:
    """Return the smallest size with this power, to 1 in 500; None if it is beyond a million."""
    below, above = 0, 1
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
    what, pilot = quantity(plan.row.measure), plan.row.n
    drop = shown(plan.drop, what, signed=False) + (" points" if what.unit == "share" else "")
    needed = f"{plan.needed:,}" if plan.needed else f"more than {MOST:,}"
    answer = (
        f"To detect a drop of {drop} in {plan.row.name} with {100 * plan.power:.0f} % power you need {needed} cases.\n"
        f"The pilot has {pilot:,} (power {shown(plan.powers[pilot], MEASURES['power'])} %)."
    )
    powers = [Number(row) for row in plan.measures if row.name == "power"]
    rows = [TableRow([f"{size:,}", power]) for size, power in zip(plan.powers, powers, strict=True)]
    table = Table([Column("cases"), Column("power %")], rows, "sizes")
    notes = [
        f"Two-sided test at level {plan.level:.2g}, as in compare.",
        f"{100 * plan.changing:.1f} % of cases change besides the drop, half of them each way.",
    ]
    return [Section(text=[Words(answer, "strong")], blocks=[table], notes=notes)]

"""Sample size of a comparison: the smallest number of cases at which `compare` detects a drop.

A pilot gives the number of cases and the share of cases that change anyway; `stats.power` has the formulas.
"""

import math
from dataclasses import dataclass

from ..core.claims import ALPHA, POWER
from ..core.errors import DataError, PlanError, nearest
from ..core.measures import MEASURES, quantity, shown
from ..core.records import Measure, Result
from ..core.views import Section, Words
from ..stats.power import Cases, even_drop_power
from .inference import Row, churn, level_of, tests_in
from .pairs import Choices, compare

MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """The number of cases at which a drop in one row of a comparison is detected."""

    row: Row
    drop: float
    level: float
    tests: int
    """The number of rows that share this level."""
    changing: float
    """The share of cases that change besides the drop."""
    needed: int | None
    """None if more than a million."""
    pilot_power: float
    """The power at the size of the pilot."""

    @property
    def measures(self) -> list[Measure]:
        """Return the plan as measures, as `--json` shows it."""
        about, n = {"difference": self.drop, "power": POWER, "level": self.level}, self.row.n
        reason = "" if self.needed else f"more than {MOST:,}"
        needed = self.needed and float(self.needed)
        return [
            Measure("power", self.pilot_power, n, {"cases": str(n)}, facts=about),
            Measure("cases needed", needed, n, reason=reason, facts=about),
        ]


def plan_size(
    a: Result, b: Result | None, drop: float, differing: float | None = None, row: str = ""
) -> PowerPlan:
    """Return the number of cases at which `compare` detects a drop with 80 % power, from a pilot."""
    for name, share in (("difference", drop), ("differing", differing)):
        if share is not None and not 0 <= share <= 1:
            raise PlanError(f"--{name} {share:g}: not a share of cases", fix=f"--{name} 0.1")
    if b is None and differing is None:
        raise PlanError("one model does not show how often two differ", fix="--differing 0.1, or add model B")
    comparison = compare([a], [b or a], Choices(power=False))
    names = [candidate.name for candidate in comparison.rows]
    if row and row not in names:
        raise PlanError(f"no row {row!r} in the comparison", fix=nearest(row, names) or f"--row {names[0]!r}")
    place = names.index(row) if row else list(comparison.rows).index(comparison.headline)
    chosen = comparison.rows[place]
    if chosen.flips is None or not 0 < drop < (total := math.fsum(chosen.flips[1])):
        raise DataError(
            f"{chosen.name}: compare cannot detect a drop of {drop:g}", fix="--row with another row"
        )
    share, cases = drop / total, Cases.weighted(chosen.flips[1][chosen.flips[1] > 0])
    if differing is not None and differing < share:
        raise PlanError(
            f"--differing {differing:g}: too small for this drop",
            why=f"a drop of {drop:g} in {chosen.name} alone changes {100 * share:.1f} % of the cases",
            fix=f"--differing {share:.2g} or more",
        )
    changing = churn(chosen) if differing is None else max(0.0, differing - share)
    level = level_of(comparison.rows, chosen.level)

    def power_at(size: int) -> float:
        return even_drop_power(cases.times(size / chosen.n), changing, share, level)

    needed = 1
    while needed <= MOST and power_at(needed) < POWER:
        needed *= 2
    below = needed // 2
    while needed <= MOST and needed - below > max(1, needed // 500):
        middle = (below + needed) // 2
        below, needed = (below, middle) if power_at(middle) >= POWER else (middle, needed)
    found = needed if needed <= MOST else None
    tests = tests_in(comparison.rows, chosen.level)
    return PowerPlan(chosen, drop, level, tests, changing, found, power_at(chosen.n))


def plan_sections(plan: PowerPlan) -> list[Section]:
    """Return the text of a plan: the cases needed, the power of the pilot, and the test."""
    what = quantity(plan.row.measure)
    drop = shown(plan.drop, what, signed=False) + (" points" if what.unit == "share" else "")
    needed = f"{plan.needed:,}" if plan.needed else f"more than {MOST:,}"
    answer = (
        f"To detect a drop of {drop} in {plan.row.name} with {100 * POWER:.0f} % power you need {needed} cases.\n"
        f"The pilot has {plan.row.n:,} (power {shown(plan.pilot_power, MEASURES['power'])} %)."
    )
    open_tests = max(1, round(ALPHA / plan.level))
    rows = f"{plan.row.level or 'overall'} row{'' if plan.tests == 1 else 's'}"
    divided = f": 5 % / {open_tests} (Holm), as {open_tests} of {plan.tests} {rows} are not significant"
    notes = [
        f"Two-sided test at level {plan.level:.2g}, as in `shoal compare`{divided if open_tests > 1 else ''}.",
        f"Another {100 * plan.changing:.1f} % of the cases are assumed to change too: half newly fail, half are fixed.",
    ]
    return [Section(text=[Words(answer, "strong")], notes=notes)]

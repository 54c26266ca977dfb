"""How large a comparison must be, as sections: the answer in a sentence, then the sizes that were tried."""

from collections.abc import Sequence

from ..measures import MEASURES, quantity, shown
from ..views import Column, Number, Section, Table, Tone, Words
from ..views import Row as TableRow
from .sizing import MOST_CASES, MOST_SEEDS, Pilot, Size, Sizing


def sizing_sections(sizing: Sizing) -> list[Section]:
    """The whole answer."""
    title = [
        Words(f"{sizing.pilot.name}, a difference of {_points(sizing)}\n", "strong"),
        Words(f"pilot: {_size_words(sizing.pilot, sizing.as_pilot)}\n", "quiet"),
    ]
    return [Section(title, _sentence(sizing), [_table(sizing)], _notes(sizing))]


def _sentence(sizing: Sizing) -> list[Words]:
    often = f"{sizing.power:.0%}".replace("%", " %")
    found = shown(sizing.as_pilot.power, MEASURES["power"])
    words = [Words(f"A comparison as large as the pilot finds it in {found} % of cases. ")]
    if sizing.by_cases:
        size = _size_words(sizing.pilot, sizing.by_cases)
        words.append(Words(f"To find it in {often}: about {size}", "strong"))
    else:
        why = "more cases no longer help" if sizing.pilot.seeds > 1 else f"up to {MOST_CASES:,} were tried"
        words.append(Words(f"No number of cases finds it in {often}: {why}", "doubt"))
    if sizing.pilot.seeds > 1:
        seeds = (
            f"{sizing.by_seeds.seeds} seeds a side"
            if sizing.by_seeds
            else f"more than {MOST_SEEDS} seeds a side"
        )
        words.append(Words(f"; with the pilot's cases: {seeds}", "strong"))
    return [*words, Words(".\n")]


def _size_words(pilot: Pilot, size: Size) -> str:
    words = f"{size.cases:,} cases"
    words += f" in {size.clusters:,} templates" if size.clusters < size.cases else ""
    return words + (f", {size.seeds} seeds a side" if pilot.seeds > 1 else "")


def _table(sizing: Sizing) -> Table:
    measures = [row for row in sizing.measures if row.name == "power"]
    templates = any(size.clusters < size.cases for size in sizing.tried)
    several = sizing.pilot.seeds > 1
    heads = [
        Column("cases"),
        *([Column("templates")] if templates else []),
        *([Column("seeds a side")] if several else []),
    ]
    rows = []
    for size, power in zip(sizing.tried, measures, strict=True):
        cells = [
            f"{size.cases:,}",
            *([f"{size.clusters:,}"] if templates else []),
            *([str(size.seeds)] if several else []),
        ]
        tone: Tone = "good" if size.power >= sizing.power else ""
        rows.append(TableRow([*cells, Number(power, tone), Number(power, "quiet", part="interval")]))
    return Table([*heads, Column("found in %"), Column("simulation error")], rows, "sizes")


def _points(sizing: Sizing) -> str:
    what = quantity(sizing.pilot.measure)
    unit = " points" if what.unit == "share" else ""
    return shown(sizing.difference, what, signed=False) + unit


def _notes(sizing: Sizing) -> Sequence[str]:
    pilot, simulations = sizing.pilot, sizing.as_pilot.simulations
    level = (
        "the only test" if pilot.tests == 1 else f"one of {pilot.tests} rows, at the level of the strictest"
    )
    notes = [
        f"{simulations:,} simulated comparisons per size, by the test that compare makes; {level}: "
        f"p at most {sizing.level:.2g}"
    ]
    if pilot.differing is not None:
        notes.append(
            f"two models taken to differ on {pilot.differing:.0%} of the cases, whole templates at a time"
        )
    elif pilot.seeds == 1:
        notes.append("two models taken to differ on as many cases as the pilot's do")
    if sizing.run_sd is not None and sizing.run_sd_interval is not None:
        sd, (low, high) = sizing.run_sd, sizing.run_sd_interval
        notes.append(
            f"runs of a recipe taken to vary by an SD of {100 * sd:.1f} points, known from {pilot.seeds} seeds only "
            f"({100 * low:.1f} to {100 * high:.1f})"
        )
    return [*notes, "all groups taken to differ alike; new cases are like the pilot's, as many of each group"]

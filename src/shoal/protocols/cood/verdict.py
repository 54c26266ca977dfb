"""The verdict on one model, or on the seeds of one recipe: does it combine, or use the shortcut? OOD is not used."""

from collections.abc import Mapping, Sequence

from ...core.measures import quantity, shown
from ...core.records import Finding, Measure, Measures
from .cells import cells_of

HEADS = {
    "shortcut": "It uses the shortcut",
    "combines": "It combines text and template",
    "between": "Undecided between combining and the shortcut",
    "not learnt": "It has hardly learnt the trained combinations",
    "no answer": "Some cells have no answers",
}
"""Kind of finding to how its sentence begins."""
WEIGHTS = {"shortcut": 1.0, "no answer": 0.9, "not learnt": 0.8, "between": 0.6, "combines": 0.4}
"""What calls for a reader's attention first."""
A_CONTROL = 0.1
"""How much less what is said of a control matters: it is there to read the others by."""
MOSTLY = 0.9
"""A model that combines is right on this share of COOD; below it, it combines in part."""
LEARNT = 0.7
"""Below this on ID, where a constant answer gets half, what is wrong on COOD says little about combining."""


def verdict(measures: Measures, groups: Mapping[str, str]) -> Finding:
    """The finding of the measures that have these groups and no epoch.

    The verdict depends on how much of COOD is right beyond what the shortcut alone gets: more than half of what is
    possible is combining, less is the shortcut, and an interval that includes halfway decides nothing.
    """
    seen, unseen = (named(measures, "accuracy", groups, kind=kind) for kind in ("ID", "COOD"))
    gap, beyond = (named(measures, name, groups) for name in ("gap", "beyond the shortcut"))
    if seen.value is None or unseen.value is None or "over half" not in beyond.facts:
        return _finding("no answer", ": combining cannot be judged.", groups)
    if not learnt(measures, groups):
        worst = min(
            (_cell(measures, cell, groups) for cell in cells_of("ID")), key=lambda row: row.value or 0
        )
        cell = worst.groups["cell"]
        rest = f": {_value(seen)} % are right, {_value(worst)} % in {cell}; a constant answer gets 50 %. "
        return _finding("not learnt", f"{rest}Its COOD score cannot be interpreted.", groups, seen, worst)
    low, high = beyond.facts["over half"]
    kind = "shortcut" if high < 0 else "combines" if low > 0 else "between"
    most = _mean([_cell(measures, cell, groups).value for cell in ("fst/fst", "sec/sec")])
    halfway = (beyond.value or 0.0) - most / 2
    points = quantity(beyond)
    ends = " to ".join(shown(end, points, signed=True) for end in (low, high))
    partly = ", but only in part" if kind == "combines" and unseen.value < MOSTLY else ""
    most_points, above = shown(most, points, signed=False), "above" if halfway >= 0 else "below"
    text = (
        f"{partly}: {_value(unseen)} % of unseen combinations are right, {_value(seen)} % of seen ones. It gets "
        f"{_value(beyond)} of {most_points} possible points beyond the shortcut, "
        f"{shown(abs(halfway), points, signed=False)} {above} halfway (95 % CI {ends})."
    )
    return _finding(kind, text, groups, unseen, gap, beyond)


def _mean(values: Sequence[float | None]) -> float:
    return sum(value or 0.0 for value in values) / len(values)


def learnt(measures: Measures, groups: Mapping[str, str]) -> bool:
    """Whether the trained combinations were learnt, all four: only then do mistakes on COOD say something.

    Who says "inconsistent" too often, for want of training, is right on COOD for nothing.
    """
    mean = named(measures, "accuracy", groups, kind="ID")
    cells = [_cell(measures, cell, groups).value or 0.0 for cell in cells_of("ID")]
    return (mean.value or 0.0) >= LEARNT and min(cells) > 0.5


def named(measures: Measures, name: str, setup: Mapping[str, str], **groups: str) -> Measure:
    """The measure with this name and exactly these groups; one without a value where there is none."""
    wanted = {**setup, **groups}
    rows = (row for row in measures if row.name == name and dict(row.groups) == wanted)
    return next(rows, Measure(name, None, 0, wanted))


def _cell(measures: Measures, cell: str, groups: Mapping[str, str]) -> Measure:
    return named(measures, "accuracy", groups, cell=cell, kind="ID")


def _finding(kind: str, rest: str, groups: Mapping[str, str], *measures: Measure) -> Finding:
    less = A_CONTROL if groups.get("control", "none") != "none" else 1.0
    unusable = kind in ("not learnt", "no answer")
    return Finding(
        kind, HEADS[kind] + rest, measures, less * WEIGHTS[kind], groups, disqualifies=unusable and less == 1
    )


def _value(row: Measure) -> str:
    return shown(row.value, quantity(row), signed=False)

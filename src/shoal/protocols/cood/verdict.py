"""What the numbers of one model, or of the seeds of one recipe, say in words; OOD has no part in it."""

from collections.abc import Mapping

from ...measures import quantity, shown, shown_interval
from ...records import Finding, Measure, Measures
from .cells import cells_of

HEADS = {
    "shortcut": "It takes the shortcut",
    "combines": "It combines text and template",
    "between": "Between combining and the shortcut",
    "not learnt": "It has hardly learnt the trained combinations",
    "no answer": "Some cells have no answer at all",
}
"""Kind of finding to how its sentence begins."""
WEIGHTS = {"shortcut": 1.0, "no answer": 0.9, "not learnt": 0.8, "between": 0.6, "combines": 0.4}
"""What calls for a reader's attention first."""
A_CONTROL = 0.1
"""How much less what is said of a control matters: it is there to read the others by."""
LEARNT = 0.7
"""Below this on ID, where a constant answer gets half, what is wrong on COOD says little about combining."""
MOSTLY = 0.9


def verdict(measures: Measures, groups: Mapping[str, str]) -> Finding:
    """The finding of the measures that have these groups and no epoch.

    By how much more of COOD is right than the shortcut alone gets: half of what could be is where the words change.
    """
    seen, unseen = (named(measures, "accuracy", groups, kind=kind) for kind in ("ID", "COOD"))
    gap, beyond = (named(measures, name, groups) for name in ("gap", "beyond the shortcut"))
    if seen.value is None or unseen.value is None or "over half" not in beyond.facts:
        return _finding("no answer", ": nothing can be said of combining.", groups)
    if not learnt(measures, groups):
        worst = min(
            (_cell(measures, cell, groups) for cell in cells_of("ID")), key=lambda row: row.value or 0
        )
        rest = (
            f": {_value(seen)} % right, {worst.groups['cell']} {_value(worst)} %; a constant answer gets 50. "
        )
        return _finding("not learnt", f"{rest}COOD cannot be read yet.", groups, seen, worst)
    low, high = beyond.facts["over half"]
    told = f": {_value(unseen)} % of unseen combinations are right ({shown_interval(unseen)}), {_less(gap)}"
    told += f"; {_more(beyond)}."
    mostly = ", mostly" if low > 0 and unseen.value < MOSTLY else ""
    kind = "shortcut" if high < 0 else "combines" if low > 0 else "between"
    return _finding(kind, mostly + told, groups, unseen, gap, beyond)


def _less(gap: Measure) -> str:
    return (
        f"{_value(gap)} points less than of seen ones"
        if (gap.value or 0) > 0
        else "no less than of seen ones"
    )


def _more(beyond: Measure) -> str:
    """How much more is right than the shortcut alone would get, if it is more at all."""
    between = f"({shown_interval(beyond, between=' to ')})"
    if beyond.interval is not None and beyond.interval[0] > 0:
        return f"{_value(beyond)} points more than the shortcut alone would get {between}"
    return f"beyond what the shortcut alone would get {shown(beyond.value, quantity(beyond))} {between}"


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
    return Finding(kind, HEADS[kind] + rest, measures, less * WEIGHTS[kind], groups)


def _value(row: Measure) -> str:
    return shown(row.value, quantity(row), signed=False)

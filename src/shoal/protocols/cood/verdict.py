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
LEARNT = 0.7
"""Below this on ID, where a constant answer gets half, what is wrong on COOD says little about combining."""
MOSTLY = 0.9


def verdict(measures: Measures, groups: Mapping[str, str]) -> Finding:
    """The finding of the measures that have these groups and no epoch."""
    seen, unseen = (named(measures, "accuracy", groups, kind=kind) for kind in ("ID", "COOD"))
    gap = named(measures, "gap", groups)
    if seen.value is None or unseen.value is None or seen.interval is None or unseen.interval is None:
        return _finding("no answer", ": nothing can be said of combining.", groups)
    if not learnt(measures, groups):
        worst = min(
            (_cell(measures, cell, groups) for cell in cells_of("ID")), key=lambda row: row.value or 0
        )
        rest = (
            f": {_value(seen)} % right, {worst.groups['cell']} {_value(worst)} %; a constant answer gets 50. "
        )
        return _finding("not learnt", f"{rest}COOD cannot be read yet.", groups, seen, worst)
    told = f": {_value(unseen)} % of unseen combinations are right ({shown_interval(unseen)})"
    less = (gap.value or 0) > 0
    told += f", {_value(gap)} points less than of seen ones" if less else ", no less than of seen ones"
    if unseen.interval[1] < 0.5:
        rest = "; the others it answers as the label of the text alone would have it"
        return _finding("shortcut", f"{told}{rest}.", groups, unseen, gap)
    if unseen.interval[0] > 0.5:
        mostly = ", mostly" if unseen.value < MOSTLY else ""
        return _finding("combines", f"{mostly}{told}.", groups, unseen, gap)
    return _finding("between", f"{told}.", groups, unseen, gap)


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
    return Finding(kind, HEADS[kind] + rest, measures, WEIGHTS[kind], groups)


def _value(row: Measure) -> str:
    return shown(row.value, quantity(row), signed=False)

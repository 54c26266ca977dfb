"""Sentences of COOD: the verdict, findings, notes, legends and captions, from typed values."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.claims import ENOUGH_SEEDS
from ...core.errors import some
from ...core.measures import quantity, shown
from ...core.records import Finding, Measure, Measures
from ...stats.intervals import Interval
from .grid import CELLS, cells_of
from .settings import SLOT

HEADS = {
    "shortcut": "It uses the shortcut",
    "combines": "It combines text and statement",
    "between": "Unclear whether it combines text and statement or uses the shortcut",
    "not learnt": "It has hardly learnt the trained combinations, so ignore its COOD score",
    "not solved": "It does not solve the demonstrated (ID) combinations, so ignore its COOD score",
    "no answer": "Combining cannot be judged, because some cells have no answers",
}
"""Kind of finding to its first sentence."""
OUTCOMES = {"combines": "combines", "shortcut": "uses the shortcut", "between": "unclear"}
MOSTLY = 0.9
"""COOD accuracy of a model that combines; below it, it combines in part."""
LEARNT = 0.7
"""Below this on ID, where a constant answer gets half, errors on COOD are not evidence of a shortcut."""


# The verdict


def cell_names(template: str, about: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each cell: class of the text and statement, "positive / It is great"."""
    parts = {cell: cell.split("/") for cell in CELLS}
    words = {t: template.replace(SLOT, word) for t, word in about["words"].items()}
    return {cell: f"{about['roles'][y]} / {words[t]}" for cell, (y, t) in parts.items()}


def verdict(
    measures: Measures,
    groups: Mapping[str, str],
    over_half: Interval | None,
    shots: Sequence[int],
    names: Mapping[str, str],
) -> Finding:
    """Return the verdict on the measures with these groups and no epoch; `shots` as in the settings.

    `names` are those of the cells.

    It depends on how much of COOD is right beyond what the shortcut alone gets, minus half of the maximum
    (`over_half`): above 0 is combining, below 0 is the shortcut, and an interval that includes 0 is undecided.
    """
    seen, unseen = (find_measure(measures, "accuracy", groups, kind=kind) for kind in ("ID", "COOD"))
    gap, beyond = (find_measure(measures, name, groups) for name in ("gap", "beyond the shortcut"))
    if seen.value is None or unseen.value is None or over_half is None:
        return _finding("no answer", ".", groups)
    if not has_learnt(measures, groups):
        cells = [cell_accuracy(measures, groups, cell) for cell in cells_of("ID")]
        worst = min(cells, key=lambda row: row.value or 0)
        text = (
            f'. {_value(seen)} % are right, {_value(worst)} % in "{names[worst.groups["cell"]]}"; '
            "a constant answer gets 50 %."
        )
        return _finding("not solved" if shots else "not learnt", text, groups, seen, worst)
    low, high = over_half
    kind = "shortcut" if high < 0 else "combines" if low > 0 else "between"
    largest = sum(cell_accuracy(measures, groups, cell).value or 0.0 for cell in ("fst/fst", "sec/sec")) / 2
    above = (beyond.value or 0.0) - largest / 2
    points = quantity(beyond)
    ends = " to ".join(shown(end, points, signed=True) for end in (low, high))
    partly = ", but only in part" if kind == "combines" and unseen.value < MOSTLY else ""
    ones = ("COOD", "ID") if shots and not any(shots) else ("unseen", "seen")
    text = (
        f"{partly}. {_value(unseen)} % of {ones[0]} combinations are right, {_value(seen)} % of {ones[1]} ones. "
        f"Beyond the shortcut it gets {_value(beyond)} of {shown(largest, points, signed=False)} possible points. "
        f"That is {shown(above, points, signed=True)} from the threshold, half of them (95 % CI {ends})."
    )
    return _finding(kind, text, groups, unseen, gap, beyond)


def overall(kinds: Sequence[str]) -> str:
    """Return the answer of several setups from the kinds of their findings."""
    counts = ", ".join(f"{OUTCOMES.get(kind, kind)} in {kinds.count(kind)}" for kind in dict.fromkeys(kinds))
    start = "No clear answer on combining: " if {"combines", "shortcut"}.isdisjoint(kinds) else "It "
    return f"{start}{counts} of {len(kinds)} setups."


def has_learnt(measures: Measures, groups: Mapping[str, str]) -> bool:
    """Return whether all four trained combinations were learnt.

    A model that answers "inconsistent" too often, for lack of training, is right on COOD by accident.
    """
    mean = find_measure(measures, "accuracy", groups, kind="ID")
    cells = [cell_accuracy(measures, groups, cell).value or 0.0 for cell in cells_of("ID")]
    return (mean.value or 0.0) >= LEARNT and min(cells) > 0.5


def find_measure(measures: Measures, name: str, setup: Mapping[str, str], **groups: str) -> Measure:
    """Return the measure with this name and exactly these groups; one without a value if there is none."""
    wanted = {**setup, **groups}
    rows = (row for row in measures if row.name == name and dict(row.groups) == wanted)
    return next(rows, Measure(name, None, 0, wanted))


def cell_accuracy(measures: Measures, setup: Mapping[str, str], cell: str) -> Measure:
    """Return the accuracy of a cell."""
    return find_measure(measures, "accuracy", setup, cell=cell, kind=CELLS[cell])


def _finding(kind: str, text: str, groups: Mapping[str, str], *measures: Measure) -> Finding:
    is_probe = groups.get("control", "none") == "none"
    unusable = is_probe and kind in ("not learnt", "not solved", "no answer")
    weight = 1.0 if is_probe else 0.1
    return Finding(kind, HEADS[kind] + text, measures, weight, groups, disqualifies=unusable)


def _value(row: Measure) -> str:
    return shown(row.value, quantity(row), signed=False)


# Notes and reasons


NO_ANSWER_IN_CELL = "no answer in one of its cells"
NO_VALIDATION = "no validation texts"
LAST_EPOCH = "the last"
BEST_EPOCH = "the best on validation texts in trained combinations"


def dropped_texts(counts: Mapping[str, int]) -> str:
    return some([f"{count:,} {reason}" for reason, count in counts.items()]) or "none"


def excluded_texts_note(row: Measure) -> str:
    return f"! Excluded from {row.n:,} texts: {row.note}."


def unanswered_note(errors: int) -> str:
    return f"! {errors:,} inputs have no answer; no rate includes them."


def seed_claim(seeds: Sequence[int], shots: Sequence[int]) -> str:
    """Return the population that the numbers of these seeds support (`docs/method/beyond.md` 7.19)."""
    if shots:
        return f"{len(seeds)} choices of demonstrations." if any(shots) and len(seeds) > 1 else ""
    if len(seeds) == 1:
        return "Rows with one seed: results hold for this checkpoint only."
    several = f"{len(seeds)} seeds ({', '.join(map(str, seeds))})"
    if len(seeds) < ENOUGH_SEEDS:
        return f"{several}: a claim about new trainings needs {ENOUGH_SEEDS}."
    return f"{several}: results hold for this training recipe."


def about_texts(job: Mapping[str, Any], tested: int) -> str:
    """Return how many texts a job used."""
    settings = job["settings"]
    if settings.get("shots"):
        used = f"{settings['shots'][0]:,} demonstrations of each ID combination"
    elif settings["trained"] or str(job["model"]).startswith("predictions:"):
        used = "trained elsewhere"
    else:
        used = f"K = {settings['per_label'][0]:,} training texts per class"
    return f"data {settings['data']}: {used}, {tested:,} test texts per class"


def interval_note(several_seeds: bool) -> str:
    return "95 % intervals cover texts" + (" and seeds (Student's t)." if several_seeds else ".")


# Legends and captions


MEANING = {
    "ID": "combinations that were trained or demonstrated",
    "COOD": "new combinations of their parts",
    "OOD": "a new word in the statement; not part of the verdict",
    "gap": "ID minus COOD, in points",
    "beyond the shortcut": "COOD above a model that ignores the statement, in points",
}
BEYOND = f"beyond: {MEANING['beyond the shortcut']}"
BRACKETS = f"COOD in brackets: ignore it (ID below {100 * LEARNT:.0f} %, or an ID combination at most 50 %)"
BY_SIZE = "by number of training texts"

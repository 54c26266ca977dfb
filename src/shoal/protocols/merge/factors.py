"""What goes with a variant being right, within problems: class, source and how probable the replacement is (7.15).

The poster asks whether these matter. Every variant of the first filter condition counts once, whatever draws it is in;
a problem is compared with itself only.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...records import Measure
from ...stats.within import within_effects
from .draws import source_name
from .sheet import Sheet

Made = Mapping[str, Any]
TWICE = "twice as probable"


def factor_measures(sheet: Sheet, suggesters: Sequence[str]) -> Iterator[Measure]:
    """By how many points variants are right more often than others of their problem, by factor."""
    rows = list(_rows(sheet))
    columns = dict(_factors([made for *_, made in rows], suggesters))
    if not columns:
        return
    places, outcomes, made = (list(column) for column in zip(*rows, strict=True))
    pairs: dict[tuple[str, str], int] = {}
    replaced = [pairs.setdefault((row["word"], row["replacement"]), len(pairs)) for row in made]
    effects = within_effects(
        outcomes, np.column_stack(list(columns.values())), places, sheet.clusters[places], replaced
    )
    for (factor, against), effect in zip(columns, effects, strict=True):
        if math.isnan(effect.value):
            continue
        groups = {"factor": factor} | ({"against": against} if against else {})
        yield Measure(
            "within-problem effect", effect.value, effect.problems, groups, effect.interval,
            f"t over {sheet.over} and replacements",
        )  # fmt: skip


def _rows(sheet: Sheet) -> Iterator[tuple[int, float, Made]]:
    """Of each variant that has an answer: its case, whether it is right, and what is known of it."""
    for place, case in enumerate(sheet.cases):
        if sheet.filters and case.groups.get("filter") != sheet.filters[0]:
            continue
        for hit, made in zip(sheet.right[place][1:].tolist(), case.meta.get("made", ()), strict=False):
            if not math.isnan(hit) and "word" in made and "replacement" in made:
                yield place, hit, made


def _factors(
    made: Sequence[Made], suggesters: Sequence[str]
) -> Iterator[tuple[tuple[str, str], list[float]]]:
    """A column of numbers for each factor that is known of every variant, by its name and what it is held against."""
    if all("word class" in row for row in made):
        yield from _against_first([str(row["word class"]) for row in made], "noun")
    if len(suggesters) > 1 and all(row.get("source") for row in made):
        names = [source_name(row["source"], suggesters) for row in made]
        yield from _against_first(names, source_name(suggesters, suggesters))
    ratios = [_doublings(row) for row in made]
    if ratios and None not in ratios:
        yield (TWICE, ""), [ratio for ratio in ratios if ratio is not None]


def _against_first(values: Sequence[str], first: str) -> Iterator[tuple[tuple[str, str], list[float]]]:
    known = sorted(set(values), key=lambda value: (value != first, value))
    for value in known[1:]:
        yield (value, known[0]), [float(each == value) for each in values]


def _doublings(made: Made) -> float | None:
    """How often the probability of the word is to be doubled for that of its replacement, by those who suggest it."""
    chances, originals = made.get("p"), made.get("p of word")
    if not isinstance(chances, Mapping) or not isinstance(originals, Mapping):
        return None
    ratios = [
        math.log2(chance / original)
        for model in made.get("source") or chances
        for chance, original in zip(chances.get(model, ()), originals.get(model, ()), strict=False)
        if chance and original
    ]
    return math.fsum(ratios) / len(ratios) if ratios else None

"""What goes with a variant being right, within problems: class, source and how probable the replacement is (7.15).

The poster asks whether these matter. Every variant of the first filter condition counts once, whatever draws it is in;
a problem is compared with itself only.
"""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Measure
from ...stats.within import within_effects
from .draws import source_name
from .sheet import Sheet

Codes = NDArray[np.int64]
TWICE = "twice as probable"


def factor_measures(sheet: Sheet, suggesters: Sequence[str]) -> Iterator[Measure]:
    """By how many points variants are right more often than others of their problem, by factor."""
    variants = _Variants(sheet, suggesters)
    factors = dict(variants.factors(source_name(suggesters, suggesters) if len(suggesters) > 1 else ""))
    if not factors:
        return
    places = np.frombuffer(variants.places, np.int64)
    effects = within_effects(
        np.frombuffer(variants.outcomes),
        np.column_stack(list(factors.values())),
        places,
        sheet.clusters[places],
        variants.replaced.codes,
    )
    for (factor, against), effect in zip(factors, effects, strict=True):
        if not math.isnan(effect.value):
            groups = {"factor": factor} | ({"against": against} if against else {})
            known = not math.isnan(effect.interval[0])
            yield Measure(
                "within-problem effect", effect.value, effect.problems, groups, effect.interval if known else None,
                f"t over {sheet.over} and replacements" if known else "",
                note="" if known else "nothing is left to vary: no interval",
            )  # fmt: skip


class _Names:
    """Words as numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}
        self._codes = array("q")

    def add(self, name: Any) -> None:
        self._codes.append(self.known.setdefault(name, len(self.known)))

    @property
    def codes(self) -> Codes:
        return np.frombuffer(self._codes, np.int64)

    def against(self, first: str) -> Iterator[tuple[tuple[str, str], Codes]]:
        """For every name but one a column that says where it stands; none where it is not known of every variant."""
        if None in self.known:
            return
        names = sorted(self.known, key=lambda name: (name != first, name))
        for name in names[1:]:
            yield (name, names[0]), self.codes == self.known[name]


class _Variants:
    """What is known of the variants that have an answer, in numbers: there may be a million."""

    def __init__(self, sheet: Sheet, suggesters: Sequence[str]) -> None:
        self.places, self.outcomes, self.doublings = array("q"), array("d"), array("d")
        self.replaced, self.classes, self.sources = _Names(), _Names(), _Names()
        for place, case in enumerate(sheet.cases):
            if sheet.filters and case.groups.get("filter") != sheet.filters[0]:
                continue
            for hit, made in zip(sheet.right[place][1:].tolist(), case.meta.get("made", ()), strict=False):
                if not math.isnan(hit) and "word" in made and "replacement" in made:
                    self.places.append(place)
                    self.outcomes.append(hit)
                    self.replaced.add((str(made["word"]), str(made["replacement"])))
                    self.classes.add(made.get("word class"))
                    self.sources.add(source_name(made["source"], suggesters) if made.get("source") else None)
                    self.doublings.append(_doublings(made))

    def factors(self, both: str) -> Iterator[tuple[tuple[str, str], NDArray[Any]]]:
        """A column for each factor that is known of every variant, by its name and what it is held against."""
        yield from self.classes.against("noun")
        if both:
            yield from self.sources.against(both)
        doublings = np.frombuffer(self.doublings)
        if len(doublings) and not np.isnan(doublings).any():
            yield (TWICE, ""), doublings


def _doublings(made: Mapping[str, Any]) -> float:
    """How often the probability of the word is to be doubled for that of its replacement, by those who suggest it."""
    chances, originals = made.get("p"), made.get("p of word")
    if not isinstance(chances, Mapping) or not isinstance(originals, Mapping):
        return math.nan
    ratios = [
        math.log2(chance) - math.log2(original)
        for model in made.get("source") or chances
        for chance, original in zip(
            _numbers(chances.get(model)), _numbers(originals.get(model)), strict=False
        )
        if chance > 0 and original > 0
    ]
    return math.fsum(ratios) / len(ratios) if ratios else math.nan


def _numbers(values: Any) -> list[float]:
    """A list of probabilities, 0 where one is not known; empty if it is none, as a file made elsewhere may have it."""
    if not isinstance(values, list | tuple):
        return []
    return [value if isinstance(value, int | float) and math.isfinite(value) else 0.0 for value in values]

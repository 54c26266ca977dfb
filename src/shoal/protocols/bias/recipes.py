"""Compare two recipes, such as base and large: every score, for new checkpoints of both and for new items.

The interval combines Student's t over checkpoints with the variance over items (`stats.seeds`). Holm adjusts the p
values of one pair of recipes. If the models of one group were made from another's (`before`: mitigation, distillation),
the differences are those of pairs, after minus before. A single pair generalises to new items only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...core.records import Case, Measure
from ...stats.intervals import Interval, within
from ...stats.multiplicity import holm
from ...stats.seeds import composed, composed_p, error_of_difference, error_of_mean, recipe_difference
from .family import RANGES, SCORE, Family, Floats, case_table, is_in, shared_cases

DIFFERENCE = "difference between recipes"
ITEM_COLUMNS = {SCORE: "preferred", "language modelling score": "related"}
"""Scores that are means over items, and the column of a result that holds the items' values."""
CHECKPOINT_SCORES = ("effect size", "cluster accuracy")
"""Scores of which every checkpoint has one value per test or pair of concepts."""

Tested = tuple[Measure, float | None]
"""A difference and its p value."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Two families to compare, their checkpoints in matching order if they are paired."""

    first: Family
    second: Family
    paired: bool = False
    """Each checkpoint of the first was made from the one of the second in the same place."""

    @property
    def families(self) -> tuple[Family, Family]:
        return self.first, self.second

    @property
    def name(self) -> str:
        if self.paired:
            return f"{self.second.recipe} to {self.first.recipe}"
        return f"{self.first.recipe} and {self.second.recipe}"


def all_sides(every: Sequence[Family]) -> list[Sides]:
    """Return every two recipes that can be compared under the same diagnostic."""
    same = [
        pair
        for pair in combinations(every, 2)
        if len({(family.diagnostic, family.representation) for family in pair}) == 1
    ]
    return [sides for pair in same if (sides := _sides(*pair)) is not None]


def between_recipes(every: Sequence[Family]) -> list[Measure]:
    """Return the differences between recipes, with p values and Holm's adjustment for each pair of recipes."""
    measures: list[Measure] = []
    for sides in all_sides(every):
        tested = [*_over_items(sides), *_over_checkpoints(sides)]
        measures += [row for row, _ in tested]
        measures += _p_values([(row, p) for row, p in tested if p is not None])
    return measures


def _sides(first: Family, second: Family) -> Sides | None:
    """Return the pairs before and after, otherwise two recipes of several checkpoints each."""
    for after, before in ((first, second), (second, first)):
        sources = {str(result.job["model"]): name for name, result in before.results.items()}
        pairs = {
            name: sources[result.job["before model"]]
            for name, result in after.results.items()
            if result.job.get("before") == before.recipe and result.job["before model"] in sources
        }
        if pairs:
            sides = ((after, pairs), (before, pairs.values()))
            return Sides(
                *(
                    replace(side, results={name: side.results[name] for name in names})
                    for side, names in sides
                ),
                paired=True,
            )
    return Sides(first, second) if min(len(first.results), len(second.results)) > 1 else None


def _groups(sides: Sides, slice_: Mapping[str, str], score: str) -> dict[str, str]:
    return {**sides.first.groups, "recipe": sides.name, **slice_, "of": score}


def _p_values(tested: Sequence[tuple[Measure, float]]) -> list[Measure]:
    adjusted = holm([p for _, p in tested]).tolist()
    rows = [Measure("p value", p, row.n, row.groups) for row, p in tested]
    return [
        *rows,
        *(replace(row, name="adjusted p value", value=p) for row, p in zip(rows, adjusted, strict=True)),
    ]


# Means over items


def _over_items(sides: Sides) -> Iterator[Tested]:
    """Yield differences of means over the pairs or clusters that all checkpoints of both recipes have."""
    first = sides.first
    sides_of = [list(family.results.values()) for family in sides.families]
    results = [*sides_of[0], *sides_of[1]]
    cases = shared_cases(results)
    for score, column in ITEM_COLUMNS.items():
        if any(column not in result.columns for result in results):
            continue
        tables = [case_table(side, cases, [result.columns[column] for result in side]) for side in sides_of]
        for slice_, _ in first.final_slices(score):
            parts = [part for part in _parts(first, slice_, cases) if _complete(tables, part).any()]
            if not parts:
                continue
            clusters = [[cases[place].cluster or cases[place].id for place in part] for part in parts]
            new, old = ([table[part] for part in parts] for table in tables)
            estimate = recipe_difference(new, old, clusters, paired_seeds=sides.paired)
            n = sum(int(_complete(tables, part).sum()) for part in parts)
            over = "pairs of checkpoints and items" if sides.paired else "checkpoints and items"
            method = f"t over {over if len(first.results) > 1 else 'items'}"
            groups = _groups(sides, slice_, score)
            yield (
                Measure(DIFFERENCE, estimate.value, n, groups, estimate.interval, method, of=score),
                estimate.p,
            )


def _complete(tables: Sequence[Floats], part: Sequence[int]) -> "np.typing.NDArray[np.bool_]":
    """Return for each case of a part whether every checkpoint of both recipes answered it."""
    table: Floats = np.hstack([table[part] for table in tables])
    return np.asarray(~np.isnan(table).any(axis=1))


def _parts(family: Family, slice_: Mapping[str, str], cases: Sequence[Case]) -> list[list[int]]:
    """Return the positions of a score's cases: in one list, or by group if the score is a mean over groups."""
    score = next(row for row in family.rows(SCORE, slice_) if row is not None)
    over = score.basis.mean_over or "cases"
    parts: dict[str, list[int]] = {}
    for place, case in enumerate(cases):
        if is_in(case, slice_):
            parts.setdefault("" if over == "cases" else case.groups[over], []).append(place)
    return list(parts.values())


# One value per checkpoint


def _over_checkpoints(sides: Sides) -> Iterator[Tested]:
    """Yield differences of scores that are not means over items; a single pair has no interval."""
    for score in CHECKPOINT_SCORES:
        for slice_, n in sides.first.final_slices(score):
            known = _known(sides, score, slice_)
            fewest = min(map(len, known), default=0)
            if not fewest or (fewest < 2 and not sides.paired):
                continue
            value = float(np.mean(known[0]) - np.mean(known[1]))
            interval, p = _t_test(value, known, sides, score) if fewest > 1 else (None, None)
            method = "t over pairs of checkpoints" if sides.paired else "t over checkpoints"
            groups = _groups(sides, slice_, score)
            row = Measure(DIFFERENCE, value, n, groups, interval, method if interval else "", of=score)
            yield row, p


def _known(sides: Sides, score: str, slice_: Mapping[str, str]) -> list[list[float]]:
    """Return the defined values of both families; for pairs, only those defined on both sides."""
    values = [family.values(score, slice_) for family in sides.families]
    if sides.paired:
        both = [pair for pair in zip(*values, strict=True) if None not in pair]
        values = [list(side) for side in zip(*both, strict=True)]
    return [[value for value in side if value is not None] for side in values]


def _t_test(
    value: float, known: Sequence[Sequence[float]], sides: Sides, score: str
) -> tuple[Interval, float]:
    first, second = known
    seeds = error_of_mean(np.subtract(first, second)) if sides.paired else error_of_difference(first, second)

    def point(_: float) -> Interval:
        return value, value

    low, high = RANGES.get(score, (0.0, 1.0))
    interval = within(composed(value, point, seeds), low - high, high - low)
    return interval, composed_p(value, point, seeds)

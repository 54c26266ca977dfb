"""Two recipes side by side, BASE against LARGE: every score, for new checkpoints of both and for new items.

Student's t over checkpoints beside the variance over items (`stats.seeds`); a test of association or a pair of concepts
is one item, so there only checkpoints are new. p values of one table are adjusted by Holm.

Where a group's models were made of another's (`before`: mitigation, distillation), each is held against its own: the
differences are of pairs, after less before. One model and its copy are one pair, for new items alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ...core.measures import FEW_CASES
from ...core.records import Case, Measure, Measures
from ...core.views import Block, Column, Number, Row, Table, Words
from ...stats.intervals import Interval, within
from ...stats.multiplicity import holm
from ...stats.seeds import composed, composed_p, error_of_difference, error_of_mean, recipe_difference
from .family import Family, Floats, Line, several

COLUMNS = {"stereotype score": "preferred", "language modelling score": "related"}
"""Scores that are means over items, and the column of a result that holds what each item adds."""
OVER_CHECKPOINTS = {
    "effect size": "difference of effect sizes",
    "cluster accuracy": "difference between recipes",
}
"""Scores that every checkpoint has once, and the name of their difference."""
DIFFERENCES = ("difference between recipes", "difference of effect sizes")
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Sides:
    """What is held against what: the results of the checkpoints of two families, in pairs where they have them."""

    first: Family
    second: Family
    paired: bool = False
    """Each checkpoint of the first was made of that of the second in the same place."""

    @property
    def families(self) -> tuple[Family, Family]:
        """Both."""
        return self.first, self.second

    @property
    def shown(self) -> tuple[Family, Family]:
        """In the order in which they stand in the table: before and after; else as in the plan."""
        return (self.second, self.first) if self.paired else (self.first, self.second)


def between_recipes(every: Sequence[Family]) -> list[Measure]:
    """What two recipes, or one before and after, say differently under the same diagnostic."""
    measures: list[Measure] = []
    for first, second in combinations(every, 2):
        same = (first.diagnostic, first.representation) == (second.diagnostic, second.representation)
        sides = _sides(first, second) if same and first.recipe != second.recipe else None
        if sides is not None:
            measures += _adjusted([*_over_items(sides), *_over_checkpoints(sides)])
    return measures


def _sides(first: Family, second: Family) -> Sides | None:
    """The pairs of one model before and after; else two recipes of several checkpoints each."""
    for after, before in ((first, second), (second, first)):
        made_of = {str(result.job["model"]): name for name, result in before.results.items()}
        pairs = {
            name: made_of[result.job["before model"]]
            for name, result in after.results.items()
            if result.job.get("before") == before.recipe and result.job["before model"] in made_of
        }
        if pairs:
            return Sides(_only(after, list(pairs)), _only(before, list(pairs.values())), paired=True)
    return Sides(first, second) if min(len(first.results), len(second.results)) > 1 else None


def _only(family: Family, names: Sequence[str]) -> Family:
    return replace(family, results={name: family.results[name] for name in names})


def _over_items(sides: Sides) -> Iterator[Measure]:
    """Means over pairs or clusters that all checkpoints of both were asked."""
    first, second = sides.families
    results = [*first.results.values(), *second.results.values()]
    shared = set.intersection(*({case.id for case in result.cases} for result in results))
    cases = [case for case in results[0].cases if case.id in shared]
    for score, column in COLUMNS.items():
        if any(column not in result.columns for result in results):
            continue
        tables = [_matrix(family, column, cases) for family in sides.families]
        for slice_, _ in first.final_slices(score):
            parts = [
                part
                for part in _parts(first, slice_, cases)
                if not np.isnan(_rows(tables, part)).any(axis=1).all()
            ]
            if not parts:
                continue
            clusters = [[cases[place].cluster or cases[place].id for place in part] for part in parts]
            new, old = ([table[part] for part in parts] for table in tables)
            estimate = recipe_difference(new, old, clusters, paired_seeds=sides.paired)
            known = np.concatenate([_rows(tables, part) for part in parts])
            n = int((~np.isnan(known).any(axis=1)).sum())
            about = {**_groups(sides), **slice_, "of": score}
            yield Measure(
                "difference between recipes", estimate.value, n, about, estimate.interval, _how(sides),
                facts=_facts(sides, score, slice_, estimate.p),
            )  # fmt: skip


def _how(sides: Sides) -> str:
    if not sides.paired:
        return "t over checkpoints beside items"
    return "t over pairs of checkpoints beside items" if len(sides.first.results) > 1 else "t over items"


def _rows(sides: Sequence[Floats], part: Sequence[int]) -> Floats:
    return np.hstack([side[part] for side in sides])


def _matrix(family: Family, column: str, cases: Sequence[Case]) -> Floats:
    """Cases × checkpoints; NaN where there is no answer."""
    columns = []
    for result in family.results.values():
        values = dict(zip((case.id for case in result.cases), result.columns[column], strict=True))
        columns.append([np.nan if values[case.id] is None else values[case.id] for case in cases])
    return np.array(columns, dtype=np.float64).T


def _parts(family: Family, slice_: Mapping[str, str], cases: Sequence[Case]) -> list[list[int]]:
    """The places of the cases that a score is about: all in one, or parted where it is a mean over their means."""
    score = next(row for row in family.rows("stereotype score", slice_) if row is not None)
    over = score.facts.get("mean over", "cases")
    parts: dict[str, list[int]] = {}
    for place, case in enumerate(cases):
        if all(value in ("all", case.groups.get(name)) for name, value in slice_.items()):
            parts.setdefault("" if over == "cases" else case.groups[over], []).append(place)
    return list(parts.values())


def _over_checkpoints(sides: Sides) -> Iterator[Measure]:
    """Scores that are no mean over items: checkpoints alone are drawn anew; of one pair only the difference is told."""
    for score, name in OVER_CHECKPOINTS.items():
        for slice_, n in sides.first.final_slices(score):
            values = [family.values(score, slice_) for family in sides.families]
            if sides.paired:
                values = [list(side) for side in zip(*_both_known(*values), strict=True)]
            known = [[value for value in side if value is not None] for side in values]
            fewest = min(map(len, known), default=0)
            if not fewest or (fewest < 2 and not sides.paired):
                continue
            value = float(np.mean(known[0]) - np.mean(known[1]))
            interval, p = _of_checkpoints(value, known, sides) if fewest > 1 else (None, None)
            if interval and score != "effect size":  # a difference of shares
                interval = within(interval, -1.0, 1.0)
            about = {**_groups(sides), **slice_, "of": score}
            how = "t over pairs of checkpoints" if sides.paired else "t over checkpoints"
            facts = _facts(sides, score, slice_, p)
            yield Measure(name, value, n, about, interval, how if interval else "", facts=facts)


def _both_known(
    first: Sequence[float | None], second: Sequence[float | None]
) -> list[tuple[float | None, float | None]]:
    return [pair for pair in zip(first, second, strict=True) if None not in pair]


def _of_checkpoints(value: float, known: Sequence[Sequence[float]], sides: Sides) -> tuple[Interval, float]:
    seeds = (
        error_of_mean(np.subtract(known[0], known[1]))
        if sides.paired
        else error_of_difference(known[0], known[1])
    )
    return composed(value, lambda _: (value, value), seeds), composed_p(
        value, lambda _: (value, value), seeds
    )


def _groups(sides: Sides) -> dict[str, str]:
    names = [family.recipe for family in sides.shown]
    return {**sides.first.groups, "recipe": f"{names[0]} {'to' if sides.paired else 'and'} {names[1]}"}


def _facts(sides: Sides, score: str, slice_: Mapping[str, str], p: float | None) -> dict[str, Any]:
    means = {}
    for family in sides.shown:
        values = [value for value in family.values(score, slice_) if value is not None]
        means[family.recipe] = float(np.mean(values))
    counts = [len(family.results) for family in sides.shown]
    return {"p": p, "means": means, "checkpoints": counts, "paired": sides.paired}


def _adjusted(rows: Sequence[Measure]) -> list[Measure]:
    """The differences of one table, each with its p adjusted for all of them; those without a p as they are."""
    untested = [replace(row, note="one pair of checkpoints") for row in rows if row.facts["p"] is None]
    rows = [row for row in rows if row.facts["p"] is not None]
    if not rows:
        return untested
    adjusted = holm([row.facts["p"] for row in rows]).tolist()
    told = [
        replace(row, facts={**row.facts, "adjusted p": p}, note=f"p = {row.facts['p']:.4g}, {p:.4g} by Holm")
        for row, p in zip(rows, adjusted, strict=True)
    ]
    tests = {"tests": len(rows)}
    ps = [
        Measure("adjusted p value", p, row.n, row.groups, facts=tests)
        for row, p in zip(rows, adjusted, strict=True)
    ]
    return told + untested + ps


# To show


def blocks(measures: Measures) -> list[Block]:
    """A table for each pair of recipes and diagnostic."""
    together: dict[tuple[str, str, str], list[Measure]] = {}
    for row in measures:
        if row.name in DIFFERENCES:
            key = (row.groups["diagnostic"], row.groups.get("representation", ""), row.groups["recipe"])
            together.setdefault(key, []).append(row)
    return [_table(" ".join(filter(None, key[:2])), rows, measures) for key, rows in together.items()]


def _table(diagnostic: str, rows: Sequence[Measure], measures: Measures) -> Table:
    first, second = rows[0].facts["means"]
    paired = rows[0].facts["paired"]
    titles = (first, second, _direction(rows[0]), "95 % interval", "adj. p")
    heading = f"{diagnostic} {'before and after' if paired else 'between recipes'}"
    columns = [Column(heading, "left"), *map(Column, titles)]
    lines = []
    for row in rows:
        enough = row.groups["of"] == "effect size" or row.n >= FEW_CASES
        differs = enough and row.facts.get("adjusted p", 1.0) <= LEVEL
        means = [
            Number(replace(row, name=row.groups["of"], value=mean)) for mean in row.facts["means"].values()
        ]
        p = next(iter(measures.where("adjusted p value", **row.groups)), None)
        name = Words(_title(row), "strong" if differs else "")
        lines.append(Row([name, *means, Number(row), Number(row, part="interval"), Number(p)]))
    counts = rows[0].facts["checkpoints"]
    over = (
        f"{several(counts[0], 'pair')} of checkpoints"
        if paired
        else f"{counts[0]} and {counts[1]} checkpoints"
    )
    beside = " beside items" if any(row.groups["of"] in COLUMNS for row in rows) else ""
    legend = [
        f"{over}; p by Student's t over {'pairs' if paired else 'checkpoints'}{beside}, Holm over the table"
    ]
    if paired and counts[0] == 1:
        legend = [
            "1 pair of checkpoints: for new items, and for no other checkpoint; p by Holm over the table"
        ]
    return Table(columns, lines, legend=legend)


def _direction(row: Measure) -> str:
    """What is taken from what."""
    first, second = row.facts["means"]
    return f"{second} − {first}" if row.facts["paired"] else f"{first} − {second}"


def _title(row: Measure) -> str:
    groups = row.groups
    words = [groups.get(key, "") for key in ("task", "test", "category")]
    named = " ".join(word for word in words if word and word != "all") or "all"
    return named if groups["of"] == "stereotype score" else f"{named}, {groups['of']}"


def file(measures: Measures) -> list[Line]:
    """The same for computing."""
    return [
        {
            "test": row.groups.get("test", row.groups["diagnostic"]), "task": row.groups.get("task", ""),
            "category": row.groups.get("category", ""), "representation": row.groups.get("representation", ""),
            "recipes": row.groups["recipe"], "score": row.groups["of"], "less": _direction(row),
            "difference": Number(row),
            "adjusted_p": Number(next(iter(measures.where("adjusted p value", **row.groups)), None)),
        }
        for row in measures
        if row.name in DIFFERENCES
    ]  # fmt: skip

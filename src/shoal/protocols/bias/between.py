"""Two recipes side by side, BASE against LARGE: every score, for new checkpoints of both and for new items.

Student's t over checkpoints beside the variance over items (`stats.seeds`); a test of association or a pair of concepts
is one item, so there only checkpoints are new. p values of one table are adjusted by Holm.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...records import Case, Measure, Measures
from ...stats.multiplicity import holm
from ...stats.seeds import composed, composed_p, error_of_difference, recipe_difference
from ...views import Block, Column, Number, Row, Table, Words
from .family import Family, Floats, Line

COLUMNS = {"stereotype score": "preferred", "language modelling score": "related"}
"""Scores that are means over items, and the column of a result that holds what each item adds."""
OVER_CHECKPOINTS = {
    "effect size": "difference of effect sizes",
    "cluster accuracy": "difference between recipes",
}
"""Scores that every checkpoint has once, and the name of their difference."""
DIFFERENCES = ("difference between recipes", "difference of effect sizes")
LEVEL = 0.05


def between_recipes(every: Sequence[Family]) -> list[Measure]:
    """What two recipes with several checkpoints each say differently under the same diagnostic."""
    measures: list[Measure] = []
    for pair in combinations([family for family in every if len(family.results) > 1], 2):
        first, second = pair
        same = (first.diagnostic, first.representation) == (second.diagnostic, second.representation)
        if same and first.recipe != second.recipe:
            measures += _adjusted([*_over_items(first, second), *_over_checkpoints(first, second)])
    return measures


def _over_items(first: Family, second: Family) -> Iterator[Measure]:
    """Means over pairs or clusters that all checkpoints of both were asked."""
    results = [*first.results.values(), *second.results.values()]
    shared = set.intersection(*({case.id for case in result.cases} for result in results))
    cases = [case for case in results[0].cases if case.id in shared]
    for score, column in COLUMNS.items():
        if any(column not in result.columns for result in results):
            continue
        sides = [_matrix(family, column, cases) for family in (first, second)]
        for slice_, _ in first.final_slices(score):
            parts = [
                part
                for part in _parts(first, slice_, cases)
                if not np.isnan(_rows(sides, part)).any(axis=1).all()
            ]
            if not parts:
                continue
            clusters = [[cases[place].cluster or cases[place].id for place in part] for part in parts]
            estimate = recipe_difference(
                [sides[0][part] for part in parts], [sides[1][part] for part in parts], clusters
            )
            known = np.concatenate([_rows(sides, part) for part in parts])
            n = int((~np.isnan(known).any(axis=1)).sum())
            about = {**_groups(first, second), **slice_, "of": score}
            yield Measure(
                "difference between recipes", estimate.value, n, about, estimate.interval,
                "t over checkpoints beside items", facts=_facts(first, second, score, slice_, estimate.p),
            )  # fmt: skip


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


def _over_checkpoints(first: Family, second: Family) -> Iterator[Measure]:
    """Scores that are no mean over items: checkpoints alone are drawn anew."""
    for score, name in OVER_CHECKPOINTS.items():
        for slice_, n in first.final_slices(score):
            sides = [
                [value for value in family.values(score, slice_) if value is not None]
                for family in (first, second)
            ]
            if min(map(len, sides)) < 2:
                continue
            value = float(np.mean(sides[0]) - np.mean(sides[1]))
            seeds = error_of_difference(sides[0], sides[1])
            interval = composed(value, lambda level, value=value: (value, value), seeds)  # type: ignore[misc]
            p = composed_p(value, lambda level, value=value: (value, value), seeds)  # type: ignore[misc]
            about = {**_groups(first, second), **slice_, "of": score}
            facts = _facts(first, second, score, slice_, p)
            yield Measure(name, value, n, about, interval, "t over checkpoints", facts=facts)


def _groups(first: Family, second: Family) -> dict[str, str]:
    return {**first.groups, "recipe": f"{first.recipe} and {second.recipe}"}


def _facts(
    first: Family, second: Family, score: str, slice_: Mapping[str, str], p: float | None
) -> dict[str, Any]:
    means = {}
    for family in (first, second):
        values = [value for value in family.values(score, slice_) if value is not None]
        means[family.recipe] = float(np.mean(values))
    return {"p": p, "means": means, "checkpoints": [len(first.results), len(second.results)]}


def _adjusted(rows: Sequence[Measure]) -> list[Measure]:
    """The differences of one table, each with its p adjusted for all of them."""
    if not rows:
        return []
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
    return told + ps


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
    titles = (first, second, "difference", "95 % interval", "adj. p")
    columns = [Column(f"{diagnostic} between recipes", "left"), *map(Column, titles)]
    lines = []
    for row in rows:
        differs = row.facts["adjusted p"] <= LEVEL
        means = [
            Number(replace(row, name=row.groups["of"], value=mean)) for mean in row.facts["means"].values()
        ]
        (p,) = measures.where("adjusted p value", **row.groups)
        name = Words(_title(row), "strong" if differs else "")
        lines.append(Row([name, *means, Number(row), Number(row, part="interval"), Number(p)]))
    runs = " and ".join(map(str, rows[0].facts["checkpoints"]))
    legend = [f"{runs} checkpoints; p by Student's t over checkpoints beside items, Holm over the table"]
    return Table(columns, lines, legend=legend)


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
            "recipes": row.groups["recipe"], "score": row.groups["of"], "difference": Number(row),
            "adjusted_p": Number(measures.where("adjusted p value", **row.groups)[0]),
        }
        for row in measures
        if row.name in DIFFERENCES
    ]  # fmt: skip

"""Is it the same model downstream? (`docs/method/bias.md` 5.7, `docs/method/beyond.md` 7.18)

"Not significantly different" is no proof of being the same. Two recipes are called equivalent where the 90 % interval
of their difference lies inside the margin: two one-sided tests at 5 %. The checkpoints of one recipe are called alike
where the upper 95 % limit of their SD is below the margin; that they lie near their own mean is no such claim.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from ...errors import DataError
from ...files import read_table
from ...records import Measure
from ...stats import reliability as r
from ...views import Column, Number, Row, Table, Words
from .family import OVER_RUNS, Line, by_groups, columns_of, measure, sound, spread_measures


def read_downstream(path: Path) -> dict[str, dict[str, list[float]]]:
    """Task to checkpoint to its scores: a checkpoint may have been fine-tuned several times."""
    columns, rows = read_table(path)
    missing = {"checkpoint", "task", "score"} - set(columns)
    if missing:
        raise DataError(
            f"{path}, line 1: no column {sorted(missing)[0]!r}",
            why=f"found: {', '.join(columns)}",
            fix="name that column in the first line",
        )
    scores: dict[str, dict[str, list[float]]] = {}
    for line, row in rows:
        try:
            score = float(row["score"])
        except ValueError:
            score = float("nan")
        if not 0 <= score <= 1:
            raise DataError(
                f"{path}, line {line}: score {row['score']!r}",
                why="a fraction between 0 and 1 is expected: 0.912",
                fix="divide percentages by 100",
            )
        scores.setdefault(row["task"], {}).setdefault(row["checkpoint"], []).append(score)
    return scores


def equivalence(path: Path, recipes: dict[str, list[str]], margin: float) -> list[Measure]:
    """Table 2: downstream scores of each recipe's checkpoints, and whether these and those of others are equivalent."""
    tasks = read_downstream(path)
    known = {name for names in recipes.values() for name in names}
    strangers = sorted({name for scores in tasks.values() for name in scores if _full(name) not in known})
    if strangers:
        raise DataError(
            f"{path}: checkpoint {strangers[0]!r} is not one of this plan",
            why=f"it has {', '.join(sorted(known))}",
            fix="the model's spec, or the seed of one that is pre-trained here",
        )
    measures: list[Measure] = []
    for task, scores in tasks.items():
        means = {_full(name): float(np.mean(values)) for name, values in scores.items()}
        by_recipe = {
            recipe: [means[name] for name in names if name in means] for recipe, names in recipes.items()
        }
        for recipe, values in by_recipe.items():
            measures += _within(task, recipe, values, margin) if values else []
        for pair in combinations(by_recipe, 2):
            first, second = (by_recipe[recipe] for recipe in pair)
            if min(len(first), len(second)) > 1:
                measures.append(_between(task, pair, (first, second), margin))
    return measures


def _full(name: str) -> str:
    """A seed may be given as a bare number."""
    return f"seed {name}" if name.isdecimal() else name


def _within(task: str, recipe: str, values: Sequence[float], margin: float) -> Iterator[Measure]:
    groups = {"recipe": recipe, "task": task}
    yield from spread_measures("downstream score", list(values), len(values), groups)
    if len(values) < 2:
        return
    apart = max(values) - min(values)
    yield measure("largest difference", apart, len(values), groups, "between two checkpoints")
    test = r.sd_below(values, margin)
    words = (
        f"the SD over new checkpoints is below {test.limit:.4f} (95 %), "
        f"{'inside' if test.below else 'not inside'} the margin of {margin:g}; "
        f"the largest difference of these is {apart:.4f}"
    )
    yield Measure(
        "equivalence p value", test.p, len(values), groups, (0.0, test.limit), "95 % limit of the SD", note=words,
        facts={"equivalent": test.below, "margin": margin, "words": words},
    )  # fmt: skip


def _between(
    task: str, recipes: tuple[str, str], values: tuple[Sequence[float], Sequence[float]], margin: float
) -> Measure:
    test = r.tost_two_samples(*values, margin)
    groups = {"recipe": " and ".join(recipes), "task": task}
    words = (
        f"difference {test.difference:+.4f}: {'' if test.equivalent else 'not '}equivalent within {margin:g}"
    )
    n = len(values[0]) + len(values[1])
    return Measure(
        "equivalence p value", test.p, n, groups, sound(test.interval), "90 % t interval", note=words,
        facts={"equivalent": test.equivalent, "margin": margin, "difference": test.difference, "words": words},
    )  # fmt: skip


# To show


def table(measures: Sequence[Measure]) -> Table:
    """What may be said of each task."""
    columns = [Column("downstream", "left"), Column("", "left"), Column("p"), Column("", "left")]
    rows = [
        Row(
            [
                row.groups["task"],
                Words(row.groups["recipe"], "quiet"),
                Number(row),
                Words(row.facts["words"], "quiet"),
            ]
        )
        for row in measures
    ]
    return Table(columns, rows)


def file(measures: Sequence[Measure]) -> list[Line]:
    """Fine-tuned scores, and whether they are equivalent."""
    names = ("downstream score", None)
    rows = [row for row in measures if "diagnostic" not in row.groups and row.groups.get("of") in names]
    together = by_groups([row for row in rows if "task" in row.groups], leave_out=("of",))
    return [
        {
            "task": groups["task"], "size": groups["recipe"], **columns_of(named, OVER_RUNS),
            "equivalence_p": Number(named.get("equivalence p value")),
        }
        for groups, named in together
    ]  # fmt: skip

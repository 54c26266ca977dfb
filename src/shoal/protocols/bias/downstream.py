"""Is it the same model downstream, and do two diagnostics of one concept agree?

`docs/method/bias.md` 5.7, `docs/method/beyond.md` 7.18.

"Not significantly different" is no proof of being the same. Equivalence is claimed only where the 90 % interval lies
inside the margin: two one-sided tests at 5 %.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from ...errors import DataError
from ...files import read_table
from ...records import Measure
from ...stats import reliability as r
from ...stats.intervals import mean_t_interval
from .family import Family, measure, several, sound, spread_measures

CONCEPTS = {
    "religion": ("religion", "religion"),
    "race": ("race-color", "race"),
    "gender": ("gender", "gender"),
    "occupation": ("socioeconomic", "profession"),
}
"""A concept, and what CrowS-Pairs and StereoSet call it."""


def read_downstream(path: Path) -> dict[str, dict[str, list[float]]]:
    """Task to checkpoint to its scores: a checkpoint may have been fine-tuned several times."""
    columns, rows = read_table(path)
    missing = {"checkpoint", "task", "score"} - set(columns)
    if missing:
        raise DataError(
            f"{path}, line 1: no column {sorted(missing)[0]!r}", why=f"found: {', '.join(columns)}"
        )
    found: dict[str, dict[str, list[float]]] = {}
    for line, row in rows:
        try:
            score = float(row["score"])
        except ValueError:
            score = float("nan")
        if not 0 <= score <= 1:
            raise DataError(
                f"{path}, line {line}: score {row['score']!r}",
                why="a fraction between 0 and 1 is expected: 0.912",
            )
        found.setdefault(row["task"], {}).setdefault(row["checkpoint"], []).append(score)
    return found


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
    found: list[Measure] = []
    for task, scores in tasks.items():
        means = {_full(name): float(np.mean(values)) for name, values in scores.items()}
        by_recipe = {
            recipe: [means[name] for name in names if name in means] for recipe, names in recipes.items()
        }
        for recipe, values in by_recipe.items():
            found += _within(task, recipe, values, margin) if values else []
        for one, two in combinations(by_recipe, 2):
            if min(len(by_recipe[one]), len(by_recipe[two])) > 1:
                found.append(_between(task, (one, two), (by_recipe[one], by_recipe[two]), margin))
    return found


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
    test = r.tost(np.asarray(values) - np.mean(values), margin)
    low, high = mean_t_interval(values, 0.9)
    words = (
        f"the recipe's mean is known within ±{(high - low) / 2:.4f} (90 %), "
        f"{'inside' if test.equivalent else 'not inside'} the margin of {margin:g}"
    )
    yield Measure(
        "equivalence p value",
        test.p,
        len(values),
        groups,
        sound(test.interval),
        "90 % t interval",
        note=words,
    )


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
        "equivalence p value", test.p, n, groups, sound(test.interval), "90 % t interval", note=words
    )


def across_diagnostics(crows: Family, stereoset: Family) -> Iterator[Measure]:
    """The same concept by CrowS-Pairs and by StereoSet: how far apart, and whether they move together."""
    task = (
        "all"
        if any(slice_.get("task") == "all" for slice_, _ in stereoset.slices("stereotype score"))
        else None
    )
    names = [name for name in crows.names if name in stereoset.results]
    for concept, (ours, theirs) in CONCEPTS.items():
        tasks = [task] if task else sorted({s["task"] for s, _ in stereoset.slices("stereotype score")})
        one = dict(zip(crows.names, crows.values("stereotype score", {"category": ours}), strict=True))
        two = dict(
            zip(
                stereoset.names,
                stereoset.values("stereotype score", {"task": str(tasks[0]), "category": theirs}),
                strict=True,
            )
        )
        both = [(one[name], two[name]) for name in names]
        pairs = np.array([(a, b) for a, b in both if a is not None and b is not None], dtype=np.float64)
        if not len(pairs):
            continue
        groups = {"recipe": crows.recipe, "diagnostic": "crows and stereoset", "category": concept}
        apart = pairs[:, 0] - pairs[:, 1]
        means = f"crows {pairs[:, 0].mean():.3f}, stereoset {pairs[:, 1].mean():.3f}; {several(len(pairs))}"
        interval = sound(mean_t_interval(apart)) if len(apart) > 1 else None
        yield Measure(
            "difference between diagnostics", float(apart.mean()), len(pairs), groups, interval,
            "t over checkpoints" if interval else "", note=means,
        )  # fmt: skip
        if len(pairs) > 2:
            together = r.disattenuated_correlation(pairs[:, 0], pairs[:, 1], 1.0, 1.0)
            note = f"over {several(len(pairs))}: do the two rise and fall together"
            yield measure("correlation between diagnostics", together, len(pairs), groups, note)

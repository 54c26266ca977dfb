"""Checkpoints of one recipe: which results belong together, and the small pieces that comparing them needs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...records import Measure, Result
from ...stats.intervals import Interval, mean_t_interval, sd_interval

Floats = NDArray[np.float64]
Groups = Mapping[str, str]

LIKELIHOOD = ("crows", "stereoset")
WANTED = 5
"""Checkpoints that a claim about a recipe needs at the least (`docs/method/beyond.md` 7.3)."""


@dataclass(frozen=True, slots=True)
class Family:
    """The results of all checkpoints of one recipe under one diagnostic and one representation."""

    recipe: str
    diagnostic: str
    representation: str
    """Empty for diagnostics that look at no vectors."""
    results: dict[str, Result] = field(default_factory=dict)
    """By the name of the checkpoint."""

    @property
    def groups(self) -> dict[str, str]:
        """What every measure of the family says of itself."""
        own = {"recipe": self.recipe, "diagnostic": self.diagnostic}
        return own | ({"representation": self.representation} if self.representation else {})

    @property
    def names(self) -> list[str]:
        """The checkpoints."""
        return list(self.results)

    def values(self, name: str, groups: Groups) -> list[float | None]:
        """A measure's value in every checkpoint; None where it is not there or undefined."""
        found = []
        for result in self.results.values():
            rows = [row for row in result.measures if row.name == name and _same(row.groups, groups)]
            found.append(rows[0].value if rows else None)
        return found

    def slices(self, name: str) -> list[tuple[dict[str, str], int]]:
        """The groups of a measure, in the order of the first checkpoint that has them, with their n."""
        found: dict[tuple[tuple[str, str], ...], int] = {}
        for result in self.results.values():
            for row in result.measures:
                if row.name == name:
                    own = {
                        key: value
                        for key, value in row.groups.items()
                        if key not in ("diagnostic", "representation")
                    }
                    found.setdefault(tuple(own.items()), row.n)
        return [(dict(key), n) for key, n in found.items()]


def _same(groups: Groups, wanted: Groups) -> bool:
    own = {key: value for key, value in groups.items() if key not in ("diagnostic", "representation")}
    return own == dict(wanted)


def families(results: Sequence[Result]) -> list[Family]:
    """The results, sorted by recipe, diagnostic and representation.

    Checkpoints of one recipe are the models of one of the plan's groups, or the seeds of one model that is pre-trained
    here. Two models that the plan merely lists are two recipes.
    """
    found: dict[tuple[str, str, str], Family] = {}
    for result in results:
        settings = result.job["settings"]
        diagnostic, model = settings["diagnostic"][0], str(result.job["model"])
        representation = _representation(result) if diagnostic not in LIKELIHOOD else ""
        recipe = result.job.get("group") or model
        name = f"seed {settings['seed']}" if settings.get("pretrain") else model
        key = (recipe, diagnostic, representation)
        found.setdefault(key, Family(*key)).results[name] = result
    return list(found.values())


def _representation(result: Result) -> str:
    """What the vectors were: word vectors have only one kind, whatever the settings say."""
    named = (row.groups["representation"] for row in result.measures if "representation" in row.groups)
    return next(named, result.job["settings"]["representation"][0])


def several(n: int, one: str = "checkpoint", more: str = "") -> str:
    """So many of something.

    >>> several(1), several(5), several(2, "category", "categories")
    ('1 checkpoint', '5 checkpoints', '2 categories')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def spread_measures(
    of: str, values: Sequence[float | None], n: int, groups: Groups, flags: str = ""
) -> list[Measure]:
    """Mean, SD, lowest and highest over checkpoints; the SD with its own interval and its flags."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    missing = len(values) - len(known)
    own = {**groups, "of": of}
    note = f"{several(len(known))}" + (f"; undefined in {missing}" if missing else "")
    if len(known) < 2:
        value = float(known[0]) if len(known) else None
        return [
            Measure("mean over checkpoints", value, n, own, na=missing, note=f"{note}: this checkpoint only")
        ]
    sd = float(known.std(ddof=1))
    middle = sound(mean_t_interval(known))
    if middle and of != "effect size":  # a share
        middle = max(0.0, middle[0]), min(1.0, middle[1])
    return [
        Measure(
            "mean over checkpoints", float(known.mean()), n, own, middle, "t over checkpoints",
            missing, note=note,
        ),
        Measure(
            "sd over checkpoints", sd, n, own, sound(sd_interval(sd, len(known))), "chi-square", missing,
            note="; ".join(filter(None, [note, flags])),
        ),
        Measure("lowest checkpoint", float(known.min()), n, own, na=missing),
        Measure("highest checkpoint", float(known.max()), n, own, na=missing),
    ]  # fmt: skip


def sound(interval: Interval) -> Interval | None:
    """An interval, unless it is undefined."""
    return None if math.isnan(interval[0]) or math.isnan(interval[1]) else interval


def measure(name: str, value: float, n: int, groups: Groups, note: str = "", na: int = 0) -> Measure:
    """A measure that is undefined where its value is not a number."""
    return Measure(name, None if math.isnan(value) else float(value), n, groups, na=na, note=note)

"""Checkpoints of one recipe: which results belong together, and the small pieces that comparing them needs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Measure, Measures, Result
from ...core.views import Cell, Number
from ...stats.intervals import Interval, largest_sd, sd_interval, t_quantile, within
from ...stats.reliability import SHEPPARD, TIED
from .build import has_vectors
from .notes import Facts

Floats = NDArray[np.float64]
Groups = Mapping[str, str]
Line = dict[str, Cell]
"""A line of a file for computing: columns by their names."""

FLAGS = "flags"
"""The fact of an SD over checkpoints: what to look at twice."""
WANTED = 5
"""Checkpoints that a claim about a recipe needs at the least (`docs/method/beyond.md` 7.3)."""
MOMENTS = ("epoch", "step")
"""Groups of a measure that is about an earlier moment of the training: made here, or of checkpoints that were given."""


@dataclass(frozen=True, slots=True)
class Family:
    """The results of all checkpoints of one recipe under one diagnostic and one representation."""

    recipe: str
    diagnostic: str
    """Empty for the scores of downstream tasks."""
    representation: str
    """Empty for diagnostics that look at no vectors."""
    results: dict[str, Result] = field(default_factory=dict)
    """By the name of the checkpoint: its last moment, with the measures of earlier ones."""
    last: float = 0.0
    """The last epoch or step, where there are earlier ones."""

    @property
    def groups(self) -> dict[str, str]:
        """What every measure of the family says of itself."""
        groups = {"recipe": self.recipe} | ({"diagnostic": self.diagnostic} if self.diagnostic else {})
        return groups | ({"representation": self.representation} if self.representation else {})

    @property
    def names(self) -> list[str]:
        """The checkpoints."""
        return list(self.results)

    def rows(self, name: str, groups: Groups) -> list[Measure | None]:
        """A measure of every checkpoint; None where it is not there."""
        return [
            next((row for row in result.measures.where(name) if _slice(row) == dict(groups)), None)
            for result in self.results.values()
        ]

    def values(self, name: str, groups: Groups) -> list[float | None]:
        """A measure's value in every checkpoint; None where it is not there or undefined."""
        return [row.value if row else None for row in self.rows(name, groups)]

    def slices(self, name: str) -> list[tuple[dict[str, str], int]]:
        """The groups of a measure, in the order of the first checkpoint that has them, with their n."""
        counts: dict[tuple[tuple[str, str], ...], int] = {}
        for result in self.results.values():
            for row in result.measures.where(name):
                counts.setdefault(tuple(_slice(row).items()), row.n)
        return [(dict(key), n) for key, n in counts.items()]

    def final_slices(self, name: str) -> list[tuple[dict[str, str], int]]:
        """The same at the end of the training."""
        return [(slice_, n) for slice_, n in self.slices(name) if not moment(slice_)]


def moment(groups: Groups) -> str:
    """The epoch or step that a measure is about; empty at the end of the training."""
    return next((groups[axis] for axis in MOMENTS if axis in groups), "")


def axes(groups: Groups) -> Line:
    """Epoch and step as columns of a file; empty at the end of the training."""
    return {axis: groups.get(axis, "") for axis in MOMENTS}


def at_moment(row: Measure, axis: str, when: str) -> Measure:
    """A measure of an earlier moment; only the end of the training is compared."""
    facts = {
        name: fact for name, fact in row.facts.items() if name not in ("mean over", "compare", "headline")
    }
    return replace(row, groups={**row.groups, axis: when}, facts=facts)


def _slice(row: Measure) -> dict[str, str]:
    """What a measure is about, inside its family."""
    return {key: value for key, value in row.groups.items() if key not in ("diagnostic", "representation")}


def families(results: Sequence[Result]) -> list[Family]:
    """The results, sorted by recipe, diagnostic and representation.

    Checkpoints of one recipe are the models of one of the plan's groups, or the seeds of one model that is pre-trained
    here. Two models that the plan merely lists are two recipes. Of a group with steps, a checkpoint is a run at its
    last step.
    """
    together: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if is_downstream(result):
            continue
        diagnostic = result.job["settings"]["diagnostic"][0]
        representation = _representation(result) if has_vectors(diagnostic) else ""
        key = (recipe_of(result), diagnostic, representation)
        together.setdefault(key, []).append(result)
    return [Family(*key, *last_moments(members)) for key, members in together.items()]


def is_downstream(result: Result) -> bool:
    """Whether a result is of a downstream task, not of a diagnostic."""
    return not result.job["settings"]["diagnostic"]


def recipe_of(result: Result) -> str:
    """The group of checkpoints; a model that the plan merely lists is a recipe by itself."""
    return str(result.job.get("group") or result.job["model"])


def last_moments(results: Sequence[Result]) -> tuple[dict[str, Result], float]:
    """The last moment of every run by its name, and when that is."""
    steps = [result.job["step"] for result in results if "step" in result.job]
    last = max(steps, default=0)
    named: dict[str, Result] = {}
    for result in results:
        if result.job.get("step", last) == last:
            named[name_of(result)] = result
            last = last or _epochs(result)
    for result in results:
        name = name_of(result)
        if result.job.get("step", last) < last and name in named:
            earlier = [at_moment(row, "step", str(result.job["step"])) for row in result.measures]
            named[name] = replace(named[name], measures=Measures([*named[name].measures, *earlier]))
    return named, float(last)


def name_of(result: Result) -> str:
    """What a checkpoint is called: its training's seed, or its model."""
    settings = result.job["settings"]
    if "run" in result.job:
        return f"seed {result.job['run']}"
    return f"seed {settings['seed']}" if settings.get("pretrain") else str(result.job["model"])


def _epochs(result: Result) -> int:
    """How many epochs a model was trained here."""
    pretrain = result.job["settings"].get("pretrain")
    return math.ceil(pretrain["epochs"]) if pretrain else 0


def _representation(result: Result) -> str:
    """What the vectors were: word vectors have only one kind, whatever the settings say."""
    named = (row.groups["representation"] for row in result.measures if "representation" in row.groups)
    return next(named, result.job["settings"]["representation"][0])


def several(n: int, singular: str = "checkpoint", plural: str = "") -> str:
    """So many of something.

    >>> several(1), several(5), several(2, "category", "categories")
    ('1 checkpoint', '5 checkpoints', '2 categories')
    """
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


# Measures over checkpoints


COUNTED = (
    "stereotype score",
    "stereotype score of decided pairs",
    "language modelling score",
    "cluster accuracy",
)
"""Shares of so many items, as n says."""


def spread_measures(
    of: str,
    values: Sequence[float | None],
    n: int,
    groups: Groups,
    flags: Sequence[str] = (),
    step: float | None = None,
) -> list[Measure]:
    """Mean, SD, lowest and highest over checkpoints; the SD with its own interval and its flags.

    Scores come in steps: a share of n items in steps of 1/n. Checkpoints that tie may differ by what a step hides
    (Sheppard); where no step is known, a tie says nothing of new ones.
    """
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    missing = len(values) - len(known)
    about = {**groups, "of": of}
    facts = {"of": of, "checkpoints": len(known)}
    note = several(len(known)) + (f"; undefined in {missing}" if missing else "")
    if len(known) < 2:
        value = float(known[0]) if len(known) else None
        only = f"{note}: this checkpoint only"
        return [Measure("mean over checkpoints", value, n, about, na=missing, note=only, facts=facts)]
    tie = float(np.ptp(known)) < TIED
    mean, sd = float(known.mean()), 0.0 if tie else float(known.std(ddof=1))
    if step is None:
        step = 1 / n if of in COUNTED and n else 0.0
    widest = math.hypot(sd, step * SHEPPARD)
    if not widest:
        note += "; all alike: of new ones nothing can be said"
    reach = t_quantile(0.95, len(known) - 1) * widest / math.sqrt(len(known))
    middle = (mean - reach, mean + reach)
    of_sd = sd_interval(sd, len(known)) if sd else (0.0, sd_interval(widest, len(known))[1])
    if of != "effect size":  # a share
        middle, of_sd = within(middle, 0.0, 1.0), within(of_sd, 0.0, largest_sd(len(known)))
    return [
        Measure(
            "mean over checkpoints", mean, n, about, middle if widest else None,
            "t over checkpoints" if widest else "", missing, note=note, facts=facts,
        ),
        Measure(
            "sd over checkpoints", sd, n, about, sound(of_sd) if widest else None,
            "chi-square" if widest else "", missing,
            note="; ".join(filter(None, [note, ", ".join(flags)])), facts={**facts, FLAGS: list(flags)},
        ),
        Measure("lowest checkpoint", float(known.min()), n, about, na=missing, facts=facts),
        Measure("highest checkpoint", float(known.max()), n, about, na=missing, facts=facts),
    ]  # fmt: skip


def sound(interval: Interval) -> Interval | None:
    """An interval, unless it is undefined."""
    return None if math.isnan(interval[0]) or math.isnan(interval[1]) else interval


def measure(
    name: str,
    value: float,
    n: int,
    groups: Groups,
    note: str = "",
    na: int = 0,
    facts: Facts | None = None,
) -> Measure:
    """A measure that is undefined where its value is not a number."""
    known: dict[str, Any] = dict(facts or {})
    return Measure(
        name, None if math.isnan(value) else float(value), n, groups, na=na, note=note, facts=known
    )


# Choosing measures


def first(rows: Measures, name: str, **groups: str) -> Measure | None:
    """The first measure of a name and groups; None where there is none."""
    return next(iter(rows.where(name, **groups)), None)


def by_groups(
    rows: Sequence[Measure], leave_out: Sequence[str] = ()
) -> Iterator[tuple[dict[str, str], dict[str, Measure]]]:
    """Measures about the same thing together, by name."""
    together: dict[tuple[tuple[str, str], ...], dict[str, Measure]] = {}
    for row in rows:
        key = tuple((name, value) for name, value in row.groups.items() if name not in leave_out)
        together.setdefault(key, {})[row.name] = row
    for key, named in together.items():
        yield dict(key), named


OVER_RUNS = {
    "mean over checkpoints": "mean",
    "sd over checkpoints": "sd",
    "lowest checkpoint": "min",
    "highest checkpoint": "max",
}


def columns_of(named: Mapping[str, Measure], titles: Mapping[str, str]) -> Line:
    """Measures as columns, by the titles that their names have there."""
    return {title: Number(named.get(name)) for name, title in titles.items()}

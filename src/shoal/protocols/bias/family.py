"""Group results by recipe, diagnostic and representation, and build measures over the checkpoints of a group."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...core.records import Basis, Case, Measure, Measures, Result
from ...models import VARIED
from ...stats.intervals import Interval, largest_sd, sd_interval, t_quantile, wilson, within
from ...stats.reliability import SHEPPARD, TIED
from ..variation import Variants, variants
from . import wording
from .build import has_vectors

Floats = NDArray[np.float64]
Groups = Mapping[str, str]

SCORE = "stereotype score"
DECIDED = "stereotype score of decided pairs"
"""The share among the items that prefer a side, for diagnostics that keep neutral items in the denominator."""
ACCURACY, BIAS, REFUSALS = "accuracy", "bias score", "refusal rate"
"""The scores of diagnostics that ask questions."""
LEVEL = 0.01
"""p values below are significant, as in Figure 3 of the paper."""
SHARES_OF_ITEMS = (ACCURACY, SCORE, DECIDED, "language modelling score", "cluster accuracy")
"""Scores that change in steps of 1/n."""
RANGES: Mapping[str, Interval] = {"effect size": (-2.0, 2.0), BIAS: (-1.0, 1.0)}
"""Scores that are not shares, and the range that they cannot leave."""


@dataclass(frozen=True, slots=True)
class Family:
    """The results of all checkpoints of one recipe under one diagnostic and one representation."""

    recipe: str
    diagnostic: str
    representation: str
    """Empty for diagnostics that do not use vectors."""
    results: dict[str, Result] = field(default_factory=dict)
    """By checkpoint name: the result at the end of training, with the measures of earlier points."""
    last: float = 0.0
    """The last step, if there are earlier ones."""
    variants: Variants | None = None
    """One checkpoint under several prompts, orders or seeds, if those are the members."""

    @property
    def unit(self) -> str:
        """Return the noun for a member."""
        return wording.unit_of(self.variants.factors) if self.variants else wording.CHECKPOINT

    @property
    def usable(self) -> "Family":
        """Return the family without the members whose answers do not depend on the options."""
        results = {
            name: result
            for name, result in self.results.items()
            if not any(finding.disqualifies for finding in result.findings)
        }
        return replace(self, results=results)

    @property
    def groups(self) -> dict[str, str]:
        groups = {"recipe": self.recipe, "diagnostic": self.diagnostic}
        return groups | ({"representation": self.representation} if self.representation else {})

    def rows(self, name: str, groups: Groups) -> list[Measure | None]:
        """Return a measure of every checkpoint, None if a checkpoint lacks it."""
        return [
            next((row for row in result.measures.where(name) if _slice(row) == dict(groups)), None)
            for result in self.results.values()
        ]

    def values(self, name: str, groups: Groups) -> list[float | None]:
        """Return a measure's value in every checkpoint, None if it is missing or undefined."""
        return [row.value if row else None for row in self.rows(name, groups)]

    def defined_values(self, name: str, groups: Groups) -> dict[str, float]:
        """Return a measure's value by checkpoint, without undefined ones."""
        values = zip(self.results, self.values(name, groups), strict=True)
        return {checkpoint: value for checkpoint, value in values if value is not None}

    def slices(self, name: str) -> list[tuple[dict[str, str], int]]:
        """Return the groups of a measure with their n, in the order of the first checkpoint that has them."""
        counts: dict[tuple[tuple[str, str], ...], int] = {}
        for result in self.results.values():
            for row in result.measures.where(name):
                if "direction" in row.groups:  # a part of the pairs that only one checkpoint's table shows
                    continue
                counts.setdefault(tuple(_slice(row).items()), row.n)
        return [(dict(key), n) for key, n in counts.items()]

    def final_slices(self, name: str) -> list[tuple[dict[str, str], int]]:
        """Return the slices at the end of training."""
        return [(slice_, n) for slice_, n in self.slices(name) if "step" not in slice_]

    def measures(self, measures: Sequence[Measure], *, final: bool = True) -> Measures:
        """Return the measures about this family, by default only those at the end of training."""
        rows = [row for row in measures if self.groups.items() <= row.groups.items()]
        return Measures(row for row in rows if not (final and "step" in row.groups))

    def spread(self, name: str, slice_: Groups, n: int, flags: Sequence[str] = ()) -> list[Measure]:
        """Return a measure of each checkpoint, and its mean and SD over them."""
        groups = {**self.groups, **slice_}
        each = [
            replace(row, groups={**groups, "checkpoint": checkpoint})
            for checkpoint, row in zip(self.results, self.rows(name, slice_), strict=True)
            if row
        ]
        values = self.values(name, slice_)
        return each + over_checkpoints(name, values, n, groups, flags=flags, unit=self.unit)


def _slice(row: Measure) -> dict[str, str]:
    return {key: value for key, value in row.groups.items() if key not in ("diagnostic", "representation")}


def families(results: Sequence[Result]) -> list[Family]:
    """Group results by recipe, diagnostic and representation.

    The checkpoints of one recipe are the models of one of the plan's groups, or the seeds of one model that is
    pre-trained here. Two models that the plan merely lists are two recipes, but prompts, orders and seeds of one
    model are members of one. In a group with steps, a checkpoint is a training run at its last step.
    """
    prompted = variants([result for result in results if not result.job.get("group")])
    varied = {id(result) for group in prompted for result in group.results.values()}
    together: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if is_downstream(result) or id(result) in varied:
            continue
        diagnostic = result.job["settings"]["diagnostic"][0]
        representation = _representation(result) if has_vectors(diagnostic) else ""
        together.setdefault((recipe_name(result), diagnostic, representation), []).append(result)
    checkpoints = [Family(*key, *_final_results(members)) for key, members in together.items()]
    return [*checkpoints, *map(_prompted_family, prompted)]


def _prompted_family(group: Variants) -> Family:
    """Return the results of one model by the option that differs: its prompt, or `order 1`."""
    factors = group.factors
    results = {}
    for levels, result in group.results.items():
        named = [(name, level) for name, level in zip(VARIED, levels, strict=True) if name in factors]
        words = [level if name == "prompt" else f"{name} {level}" for name, level in named]
        results[", ".join(words)] = result
    (diagnostic,) = next(iter(results.values())).job["settings"]["diagnostic"]
    return Family(group.name, diagnostic, "", results, variants=group)


def is_downstream(result: Result) -> bool:
    return not result.job["settings"]["diagnostic"]


def recipe_name(result: Result) -> str:
    """Return the group of checkpoints; a model outside the groups is a recipe of its own."""
    return str(result.job.get("group") or result.job["model"])


def checkpoint_name(result: Result) -> str:
    settings = result.job["settings"]
    if "run" in result.job:
        return f"seed {result.job['run']}"
    return f"seed {settings['seed']}" if settings.get("pretrain") else str(result.job["model"])


def _final_results(results: Sequence[Result]) -> tuple[dict[str, Result], float]:
    """Return the last result of every training run by its name, and its step."""
    last = max((result.job["step"] for result in results if "step" in result.job), default=0)
    named = {checkpoint_name(result): result for result in results if result.job.get("step", last) == last}
    for result in results:
        name, step = checkpoint_name(result), result.job.get("step", last)
        if step < last and name in named:
            rows = list(named[name].measures)
            for row in result.measures:
                groups = {**row.groups, "step": str(step)}
                # Without a basis, `compare` and `gate` ignore earlier points of training.
                rows.append(replace(row, groups=groups, basis=Basis(), headline=False, facts={}))
            named[name] = replace(named[name], measures=Measures(rows))
    return named, float(last)


def _representation(result: Result) -> str:
    """Return the kind of vectors; word vectors have only one, whatever the settings say."""
    named = (row.groups["representation"] for row in result.measures if "representation" in row.groups)
    return next(named, result.job["settings"]["representation"][0])


def slice_title(groups: Groups) -> str:
    """Return the name of a slice: its task, test, category or context."""
    words = [groups.get(key, "") for key in ("task", "test", "category", "context")]
    return " ".join(word for word in words if word and word != "all") or "all"


def is_in(case: Case, slice_: Groups) -> bool:
    return all(value in ("all", case.groups.get(name)) for name, value in slice_.items())


# Measures


def share(name: str, counts: Sequence[float], groups: Groups, *, na: int = 0, errors: int = 0) -> Measure:
    """Return the mean of counts between 0 and 1 with Wilson's interval, undefined for no counts."""
    n = len(counts)
    if not n:
        return Measure(name, None, 0, groups, na=na, errors=errors, reason=wording.NO_CASE)
    total = float(np.sum(counts))
    return Measure(name, total / n, n, groups, wilson(total, n), "wilson", na, errors)


def defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) or math.isnan(interval[1]) else interval


def first(rows: Measures, name: str, **groups: str) -> Measure | None:
    return next(iter(rows.where(name, **groups)), None)


def over_checkpoints(
    of: str,
    values: Sequence[float | None],
    n: int,
    groups: Groups,
    *,
    flags: Sequence[str] = (),
    step: float | None = None,
    unit: str = wording.CHECKPOINT,
) -> list[Measure]:
    """Return mean and SD of a score over checkpoints, each with an interval for new checkpoints of the recipe.

    A share of n items comes in steps of 1/n, so tied checkpoints may still differ by less than a step: step²/12 is
    added to their variance (Sheppard). Without a known step, ties give no interval.
    """
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    runs, missing = len(known), len(values) - len(known)
    note = wording.count_of(unit, runs, missing)
    row = Measure("mean over checkpoints", None, n, {**groups, "of": of}, na=missing, note=note, of=of)
    if runs < 2:
        return [replace(row, value=float(known[0]) if runs else None)]
    mean, sd = float(known.mean()), 0.0 if np.ptp(known) < TIED else float(known.std(ddof=1))
    if step is None:
        step = 1 / n if of in SHARES_OF_ITEMS and n else 0.0
    widest = math.hypot(sd, step * SHEPPARD)
    low, high = RANGES.get(of, (0.0, 1.0))
    reach = t_quantile(0.95, runs - 1) * widest / math.sqrt(runs)
    of_mean = within((mean - reach, mean + reach), low, high)
    of_sd = sd_interval(sd, runs) if sd else (0.0, sd_interval(widest, runs)[1])
    of_sd = within(of_sd, 0.0, (high - low) * largest_sd(runs))
    ends = {"lowest": float(known.min()), "highest": float(known.max())}
    average = replace(row, value=mean, facts=ends)
    spread = replace(row, name="sd over checkpoints", value=sd, verdict=", ".join(flags))
    if widest:
        note = f"{note}; {wording.OUTLIERS}" if unit == wording.CHECKPOINT else note
        average = replace(average, interval=of_mean, interval_method=f"t over {unit}s", note=note)
        spread = replace(spread, interval=defined(of_sd), interval_method="chi-square")
    return [average, spread]

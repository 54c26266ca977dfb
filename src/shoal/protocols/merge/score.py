"""From answers to outcomes and measures: seeds, samples, patterns and their references (4.4, 4.7, 4.8).

Pure. A case is a problem under one filter condition: the original and all variants that any draw has of it. The case
lists which examples form which pattern (`meta["patterns"]`, written by `build`):

    {"groups": {"word class": "noun"}, "draws": [[3, 7, …], …]}               positions of the variants of each draw

The first, without groups, is the pattern over all classes. Values per problem are columns, so that models are compared
problem by problem.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.measures import FEW_CASES
from ...core.records import Answers, Basis, Case, Finding, Measure, Measures, Outcome
from ...stats.intervals import cluster_wilson
from ...stats.patterns import drop_interval, independence_reference, needed
from ...stats.resampling import ClusterTable, cluster_table, distinct_rows, sum_by_cluster
from ..base import Built, Scored
from ..degeneracy import degenerate
from . import wording
from .audit import audit_measures
from .settings import HEADLINE, Settings

Floats = NDArray[np.float64]
Groups = tuple[tuple[str, str], ...]

GRID = tuple(number / 20 for number in range(1, 21))
"""Thresholds of the curve."""
SEED, RIGHT, SAID = "seed right", "right", "said"
"""Columns: whether the original is right; whether each example is, the original first; the answers."""
SOLVED, SHARE = "solved at", "right variants"
"""Columns: how often a problem is solved; its contribution to the sample accuracy."""
WORST_WORDS = 3
"""Replacement words that the headline names."""


# Patterns of right and wrong variants, by filter, word class and source


@dataclass(frozen=True, slots=True)
class Condition:
    """The patterns of a filter condition, a word class or a source; those without answers in a draw are left out."""

    groups: Mapping[str, str]
    only: Mapping[str, str]
    """Restriction of the cases."""
    errors: int
    """Variants without an answer."""
    right: Floats  # (patterns, draws)
    n: Floats  # (patterns, draws)
    places: NDArray[np.int64]  # (patterns,) positions of their cases
    clusters: NDArray[np.int64]  # (patterns,)

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(self.places)

    def column(self, name: str) -> str:
        """Return the name of a column of this condition; the filter is a group of the case."""
        return name + "".join(f", {value}" for key, value in self.groups.items() if key != "filter")

    def at(self, threshold: float) -> dict[str, str]:
        """Return the groups of a measure at a threshold."""
        return {**self.groups, "threshold": f"{threshold:g}"}


class PatternTable:
    """All patterns of a result by condition, and the columns derived from them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], answers: Answers) -> None:
        self.settings, self.cases = settings, cases
        self.right = _correctness(cases, answers)
        names: dict[str, int] = {}
        self.clusters = np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])
        self.seeds = np.array([hits[0] for hits in self.right])
        pairs = any(len(case.examples[0]) > 1 for case in cases)
        self.unit = "premises" if pairs else "groups" if settings.counts_seed else "texts"
        """The sampling unit of all intervals."""
        self.columns: dict[str, list[float | None]] = {SEED: _as_list(self.seeds)}
        self.filters = list(dict.fromkeys(case.groups["filter"] for case in cases if "filter" in case.groups))
        one_filter = self.filters in ([], ["default"])
        self.base: dict[str, str] = {} if one_filter else {"filter": self.filters[0]}
        """Groups of the measures over all word classes under the first filter condition."""
        shown = {*HEADLINE, settings.threshold}
        self.thresholds, self.headline = sorted({*GRID, *shown}), sorted(shown)

    def fill(self, column: str, condition: Condition, values: Floats) -> Basis:
        """Write values of a condition's problems into a column, scaled to the mean `values.sum()`; return its basis."""
        cells = self.columns.setdefault(column, [None] * len(self.cases))
        for place, value in zip(condition.places.tolist(), values.tolist(), strict=True):
            cells[place] = value * condition.problems
        return Basis("cases", only=condition.only, column=column)

    def rate(
        self, name: str, values: Floats, clusters: NDArray[np.int64], groups: Mapping[str, str], **typed: Any
    ) -> Measure:
        """Return the mean of a value per problem, with an interval over the sampling unit."""
        known = values[~np.isnan(values)]
        if not len(known):
            return Measure(name, None, 0, groups, **typed)
        interval = cluster_wilson(cluster_table(values, clusters))
        method = f"wilson over {self.unit}"
        return Measure(name, float(known.mean()), len(known), groups, interval, method, **typed)

    def conditions(self) -> Iterator[Condition]:
        """Yield the conditions by filter: all patterns, then word classes, then sources."""
        parts: dict[tuple[str, Groups], list[tuple[int, list[list[int]]]]] = {}
        for position, case in enumerate(self.cases):
            name = case.groups.get("filter", "")
            for pattern in case.meta.get("patterns", ()):
                # Word classes and sources are split under the first filter only.
                if not pattern["groups"] or name in self.filters[:1]:
                    key = name, tuple(pattern["groups"].items())
                    parts.setdefault(key, []).append((position, pattern["draws"]))
        for name, groups in sorted(parts, key=self._reading_order):
            shown = {**dict(groups), **({"filter": name} if self.base else {})}
            yield self._condition(shown, {"filter": name} if name else {}, parts[name, groups])

    def _reading_order(self, key: tuple[str, Groups]) -> tuple[int, int, Groups]:
        name, groups = key
        kind = ["", "word class", "source"].index(groups[0][0] if groups else "")
        return self.filters.index(name) if name else 0, kind, groups

    def _condition(
        self,
        groups: Mapping[str, str],
        only: Mapping[str, str],
        patterns: Sequence[tuple[int, list[list[int]]]],
    ) -> Condition:
        original = [0] if self.settings.counts_seed else []
        errors, right, n, places = 0, [], [], []
        for position, draws in patterns:
            drawn = [self.right[position][[*original, *draw]] for draw in draws]
            used = sorted({*original}.union(*draws))
            errors += int(np.isnan(self.right[position][used]).sum())
            known = [float((~np.isnan(hits)).sum()) for hits in drawn]
            if min(known) > 0:
                right.append([float(np.nansum(hits)) for hits in drawn])
                n.append(known)
                places.append(position)
        at = np.array(places, np.int64)
        return Condition(groups, only, errors, np.array(right), np.array(n), at, self.clusters[at])


def _correctness(cases: Sequence[Case], answers: Answers) -> list[Floats]:
    """Return 1, 0 or, without an answer, NaN for each example of each case."""
    expected = np.array([str(label) for case in cases for label in case.labels or ()])
    hits = (np.array(answers.labels)[answers.predictions] == expected).astype(np.float64)
    hits[list(answers.errors)] = np.nan
    return np.split(hits, np.cumsum([len(case.examples) for case in cases])[:-1])


def _as_list(values: Floats) -> list[float | None]:
    """Return the values with None instead of NaN, for JSON."""
    return [None if math.isnan(value) else value for value in values.tolist()]


# One job


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return the outcome of every problem, and the measures of every filter, word class and source."""
    final = list(answers.values())[-1]
    table = PatternTable(settings, built.cases, final)
    measures = list(_seed_measures(table))
    for condition in table.conditions():
        measures += _condition_measures(table, condition)
    measures += audit_measures(settings, built.cases, final.labels)
    columns: dict[str, Sequence[Any]] = {**table.columns, SAID: _answer_texts(built.cases, final)}
    columns[RIGHT] = [_as_list(hits) for hits in table.right]
    findings = [
        *degenerate(built.cases, final),
        *_patterns_finding(table, Measures(measures)),
        *_copied_labels(settings, built),
    ]
    return Scored(_outcomes(table, final), measures, columns, findings)


def _answer_texts(cases: Sequence[Case], answers: Answers) -> list[list[str]]:
    """Return the answer to each example, with its probability where there is one."""
    texts = []
    for row in range(len(answers.predictions)):
        if row in answers.errors:
            texts.append("no answer")
            continue
        label = answers.labels[answers.predictions[row]]
        top = math.nan if answers.probabilities is None else float(np.max(answers.probabilities[row]))
        texts.append(label if math.isnan(top) else f"{label} {top:.2f}".replace(" 0.", " ."))
    remaining = iter(texts)
    return [[next(remaining) for _ in case.examples] for case in cases]


def _outcomes(table: PatternTable, answers: Answers) -> list[Outcome]:
    """Return a pass for each problem with enough right variants; a problem without variants is not applicable.

    A group of one row is a whole pattern, since the original counts as one of its variants there.
    """
    outcomes = []
    first = 0
    for case, hits in zip(table.cases, table.right, strict=True):
        counted = hits if table.settings.counts_seed else hits[1:]
        known = counted[~np.isnan(counted)]
        if not len(counted) or not case.meta.get("patterns"):
            outcomes.append(Outcome(case.id, None, None, answers.errors.get(first, "")))
        elif not len(known):
            outcomes.append(Outcome(case.id, None, None, answers.errors[first + len(hits) - 1]))
        else:
            lacking = float(needed(table.settings.threshold, len(known)) - known.sum()) / len(known)
            outcomes.append(Outcome(case.id, lacking <= 0, max(-lacking, 1e-9) if lacking <= 0 else -lacking))
        first += len(hits)
    return outcomes


# Measures


def _seed_measures(table: PatternTable) -> Iterator[Measure]:
    """Yield accuracy on the originals of problems with variants, and on all originals if some have none."""
    first = table.filters[:1]
    is_first = np.array(
        [case.groups.get("filter", "default") in (first or ["default"]) for case in table.cases]
    )
    varied = np.array([len(case.examples) > 1 for case in table.cases])
    only = {"filter": first[0]} if first else {}
    parts: list[tuple[NDArray[np.bool_], dict[str, str], dict[str, str]]] = [
        (is_first & varied, {}, {**only, "variants": "some"})
    ]
    if not varied.all():
        parts.append(((is_first & varied) | ~varied, {"seeds": "every problem"}, only))
    for chosen, groups, restriction in parts:
        values = table.seeds[chosen]
        errors, basis = int(np.isnan(values).sum()), Basis("cases", only=restriction, column=SEED)
        yield table.rate("seed accuracy", values, table.clusters[chosen], groups, errors=errors, basis=basis)


def _condition_measures(table: PatternTable, condition: Condition) -> Iterator[Measure]:
    """Yield sample and pattern accuracy of one condition, both over thresholds and if independent, and the drop."""
    groups, errors = condition.groups, condition.errors
    if not condition.problems:
        yield Measure("sample accuracy", None, 0, groups, errors=errors)
        return
    right, n = condition.right.mean(axis=1), condition.n.mean(axis=1)
    basis = table.fill(condition.column(SHARE), condition, right / n.sum())
    interval = cluster_wilson(ClusterTable(*distinct_rows(sum_by_cluster([right, n], condition.clusters))))
    yield Measure(
        "sample accuracy", float(right.sum() / n.sum()), condition.problems, groups, interval,
        f"wilson over {table.unit}", errors=errors, basis=basis, facts={"variants": float(n.sum())},
    )  # fmt: skip
    for threshold in table.thresholds:
        solved = (condition.right >= needed(threshold, condition.n)).mean(axis=1)
        basis, at = Basis(), condition.at(threshold)
        if threshold in table.headline:
            basis = table.fill(condition.column(f"{SOLVED} {threshold:g}"), condition, solved / len(solved))
        more = {"errors": errors, "basis": basis}
        headline = threshold == table.settings.threshold and dict(groups) == table.base
        yield table.rate("pattern accuracy", solved, condition.clusters, at, headline=headline, **more)
    accuracies = condition.right.sum(axis=0) / condition.n.sum(axis=0)
    for threshold in table.thresholds:
        shares = [independence_reference(condition.n[:, 0], each, threshold) for each in accuracies]
        at = condition.at(threshold)
        yield Measure("independence reference", float(np.mean(shares)), condition.problems, at)
    yield from _drop(table, condition)


def _drop(table: PatternTable, condition: Condition) -> Iterator[Measure]:
    """Yield accuracy on originals minus accuracy on their variants, the plain difference of the poster's table.

    The original is not one of its variants here, even where it counts as one in patterns.
    """
    seeds, counted_seeds = table.seeds[condition.places], float(table.settings.counts_seed)
    right = condition.right.mean(axis=1) - counted_seeds * seeds
    n = condition.n.mean(axis=1) - counted_seeds
    known = ~np.isnan(seeds) & (n > 0)
    if known.any():
        value, interval = drop_interval(seeds[known], right[known], n[known], condition.clusters[known])
        method = f"linearised over {table.unit}"
        yield Measure("drop from seeds", value, int(known.sum()), condition.groups, interval, method)


# Findings


def _patterns_finding(table: PatternTable, measures: Measures) -> list[Finding]:
    """Return the headline: share solved when all variants must be right, lowest word class, worst words."""
    every = find_measure(measures, "pattern accuracy", {**table.base, "threshold": "1"})
    seeds = find_measure(measures, "seed accuracy", {})
    if every is None or seeds is None or every.value is None:
        return []
    by_class = [
        row
        for row in measures.where("pattern accuracy", threshold="1")
        if row.groups.keys() == {*table.base, "word class", "threshold"} and row.n >= FEW_CASES
    ]
    lowest = min(by_class, key=lambda row: row.value or 0.0) if len(by_class) > 1 else None
    words = _worst_words(table)
    text = wording.headline(every, seeds, lowest, words)
    facts = {"threshold": 1.0, "worst words": [list(row) for row in words]}
    return [Finding("patterns", text, (every, seeds), 10.0, facts=facts)]


def _worst_words(table: PatternTable) -> list[tuple[str, int, int]]:
    """Return the words that fail most often, above the rate of all words, each with its wrong and all variants."""
    wrong: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case, hits in zip(table.cases, table.right, strict=True):
        if not table.filters or case.groups.get("filter") == table.filters[0]:
            for hit, provenance in zip(hits[1:].tolist(), case.meta.get("made", ()), strict=False):
                if not math.isnan(hit):
                    total[provenance["replacement"]] += 1
                    wrong[provenance["replacement"]] += hit == 0
    rates = {word: wrong[word] / n for word, n in total.items() if n >= FEW_CASES}
    above = [word for word in rates if rates[word] > wrong.total() / total.total()]
    ranked = sorted(above, key=lambda word: (-rates[word], -total[word], word))
    return [(word, wrong[word], total[word]) for word in ranked[:WORST_WORDS]]


def _copied_labels(settings: Settings, built: Built) -> Iterator[Finding]:
    if not settings.audited and built.about.get("suggesters"):
        pairs = any(len(case.examples[0]) > 1 for case in built.cases)
        text = wording.COPIED_LABELS + ("" if pairs else wording.NO_SHARED_WORDS)
        yield Finding("assumed", text, (), 0.5)


def find_measure(measures: Measures, name: str, groups: Mapping[str, str]) -> Measure | None:
    """Return the measure of this name with exactly these groups."""
    return next((row for row in measures if row.name == name and dict(row.groups) == dict(groups)), None)

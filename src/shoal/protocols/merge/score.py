"""From answers to outcomes and measures: seeds, samples, patterns and their references (4.4, 4.7, 4.8).

Pure. A case is a problem under one filter condition: the original and all variants that any draw has of it. The case
lists which examples form which pattern (`meta["patterns"]`, written by `build`):

    {"groups": {"word class": "noun"}, "draws": [[3, 7, …], …]}               positions of the variants of each draw
    {"groups": {}, "pools": [{"of": [1, 2, …], "drawn": 20}, …]}              all variants: the mean over all draws

The first, without groups, is the pattern over all classes. Values per problem are columns, so that models are compared
problem by problem.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.measures import FEW_CASES
from ...core.records import Answers, Case, Finding, Measure, Measures, Outcome
from ...stats.intervals import Interval, cluster_wilson
from ...stats.patterns import (
    Split,
    correlation_interval,
    independence_reference,
    is_solved,
    needed,
    sample_accuracy,
    split_difference,
    variant_table,
)
from ...stats.resampling import cluster_table
from ..base import Built, Scored
from ..degeneracy import degenerate
from . import wording
from .audit import audit_measures, unsettled
from .patterns import SEED, Condition, Counts, Floats, PatternTable, as_list, correctness, count_patterns
from .settings import Settings

WORST_WORDS = 3
"""Replacement words that the headline names."""
FEWEST_TRIALS = 3
"""Trials that a replacement word needs to be named."""
RIGHT = "right"
"""Column: whether each example is right, the original first."""
SOLVED, SHARE = "solved at", "right variants"
"""Columns: how often a problem is solved; its contribution to the sample accuracy."""
SPLITS = ("word class", "source", "filter")
"""Groups that variants are split by."""


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return the outcome of every problem, and the measures of every filter, word class and source."""
    final = list(answers.values())[-1]
    right = correctness(built.cases, final)
    table = PatternTable(settings, built.cases, right)
    measures = list(seed_measures(table))
    counted = [(condition, count_patterns(table, condition)) for condition in table.conditions]
    for condition, counts in counted:
        measures += condition_measures(table, condition, counts)
    measures += split_measures(table, [counts for _, counts in counted if counts is not None])
    measures += audit_measures(settings, built.cases, final.labels)
    columns: dict[str, Sequence[Any]] = {**table.columns, "said": _answer_texts(built.cases, final)}
    columns[RIGHT] = [as_list(hits) for hits in right]
    findings = [
        *degenerate(built.cases, final),
        *patterns_finding(table, Measures(measures)),
        *unsettled(settings, built.cases, final.labels),
        *_copied_labels(settings, built),
    ]
    return Scored(_outcomes(settings, built.cases, right, final), measures, columns, findings)


# Outcomes


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


def _outcomes(
    settings: Settings, cases: Sequence[Case], right: Sequence[Floats], answers: Answers
) -> list[Outcome]:
    """Return a pass for each problem with enough right variants; a problem without variants is not applicable.

    A group of one row is a whole pattern, since the original counts as one of its variants there.
    """
    outcomes = []
    first = 0
    for case, hits in zip(cases, right, strict=True):
        counted = hits if settings.counts_seed else hits[1:]
        known = counted[~np.isnan(counted)]
        if not len(counted) or not case.meta.get("patterns"):
            outcomes.append(Outcome(case.id, None, None, answers.errors.get(first, "")))
        elif not len(known):
            outcomes.append(Outcome(case.id, None, None, answers.errors[first + len(hits) - 1]))
        else:
            lacking = float(needed(settings.threshold, len(known)) - known.sum()) / len(known)
            outcomes.append(Outcome(case.id, lacking <= 0, max(-lacking, 1e-9) if lacking <= 0 else -lacking))
        first += len(hits)
    return outcomes


# Measures


def seed_measures(table: PatternTable) -> Iterator[Measure]:
    """Yield accuracy on the originals with variants, and on all originals if some have none."""
    first = table.filters[:1]
    is_first = np.array(
        [case.groups.get("filter", "default") in (first or ["default"]) for case in table.cases]
    )
    varied = np.array([len(case.examples) > 1 for case in table.cases])
    only = {"filter": first[0]} if first else {}
    yield _seed_accuracy(table, is_first & varied, {}, {**only, "variants": "some"})
    if not varied.all():
        yield _seed_accuracy(table, (is_first & varied) | ~varied, {"seeds": "every problem"}, only)


def _seed_accuracy(
    table: PatternTable, chosen: NDArray[np.bool_], groups: Mapping[str, str], only: Mapping[str, str]
) -> Measure:
    values = table.seeds[chosen]
    n = int((~np.isnan(values)).sum())
    facts = _case_mean(SEED, only)
    if not n:
        return Measure("seed accuracy", None, 0, groups, errors=len(values), facts=facts)
    interval = cluster_wilson(cluster_table(values, table.clusters[chosen]))
    return Measure(
        "seed accuracy", float(np.nanmean(values)), n, groups, interval, f"wilson over {table.unit}",
        errors=int(np.isnan(values).sum()), facts=facts,
    )  # fmt: skip


def _case_mean(column: str, only: Mapping[str, str]) -> dict[str, Any]:
    """Return the basis of a measure that is the mean of a column over cases."""
    return {"mean over": "cases", "column": column, "only": dict(only)}


def condition_measures(table: PatternTable, condition: Condition, counts: Counts | None) -> list[Measure]:
    """Return sample and pattern accuracy of one condition, the curve, the reference and the correlation."""
    if counts is None:
        return [Measure("sample accuracy", None, 0, condition.groups, errors=condition.errors)]
    solved = counts.solved(table.thresholds)
    return [
        _sample_accuracy(table, counts),
        *(
            _pattern_accuracy(table, counts, threshold, solved[:, number])
            for number, threshold in enumerate(table.thresholds)
        ),
        *_solved_given_seed(table, counts, solved),
        *_references(table, counts),
        *_drop(table, counts),
    ]


def _sample_accuracy(table: PatternTable, counts: Counts) -> Measure:
    right, n = counts.right.mean(axis=1), counts.n.mean(axis=1)
    column = f"{SHARE}{counts.condition.suffix}"
    # Scaled so that its mean over problems is the share of variants, whatever their numbers.
    _fill(table, column, counts, right / n.sum() * counts.problems)
    draws = counts.draw_facts(counts.right.sum(axis=0) / counts.n.sum(axis=0))
    facts = {**_case_mean(column, counts.condition.only), **draws, "variants": float(n.sum())}
    interval = cluster_wilson(variant_table([right], n, counts.clusters))
    return Measure(
        "sample accuracy", float(right.sum() / n.sum()), counts.problems, counts.condition.groups, interval,
        f"wilson over {table.unit}", errors=counts.condition.errors, note=_draws_note(draws), facts=facts,
    )  # fmt: skip


def _pattern_accuracy(table: PatternTable, counts: Counts, threshold: float, solved: Floats) -> Measure:
    draws = counts.draw_facts(is_solved(counts.right, counts.n, threshold).mean(axis=0))
    facts = dict(draws)
    if threshold in table.headline:
        column = f"{SOLVED} {threshold:g}{counts.condition.suffix}"
        _fill(table, column, counts, solved / len(solved) * counts.problems)
        facts |= _case_mean(column, counts.condition.only)
    if threshold == table.settings.threshold and dict(counts.condition.groups) == table.base:
        facts["headline"] = True
    return Measure(
        "pattern accuracy", float(solved.mean()), counts.problems,
        {**counts.condition.groups, "threshold": f"{threshold:g}"},
        cluster_wilson(cluster_table(np.clip(solved, 0.0, 1.0), counts.clusters)),
        f"wilson over {table.unit}", errors=counts.condition.errors, note=_draws_note(draws),
        facts=facts,
    )  # fmt: skip


def _solved_given_seed(table: PatternTable, counts: Counts, solved: Floats) -> Iterator[Measure]:
    """Yield pattern accuracy over the problems whose original is answered correctly."""
    chosen = table.seeds[counts.places] == 1
    for number, threshold in enumerate(table.thresholds):
        if threshold not in table.headline:
            continue
        values = np.clip(solved[chosen, number], 0.0, 1.0)
        groups = {**counts.condition.groups, "seed": "right", "threshold": f"{threshold:g}"}
        if not len(values):
            yield Measure("pattern accuracy", None, 0, groups, reason=wording.NO_SEED_RIGHT)
            continue
        yield Measure(
            "pattern accuracy", float(values.mean()), len(values), groups,
            cluster_wilson(cluster_table(values, counts.clusters[chosen])), f"wilson over {table.unit}",
            errors=counts.condition.errors,
        )  # fmt: skip


def _references(table: PatternTable, counts: Counts) -> Iterator[Measure]:
    """Yield the correlation within problems, and pattern accuracy if variants were independent."""
    right, n, groups = list(counts.right.T), list(counts.n.T), counts.condition.groups
    if counts.pooled:  # the whole pool is more informative than an expected draw
        right = [np.array([float(sum(pool[0] for pool in p.pools)) for p in counts.patterns])]
        n = [np.array([float(sum(pool[1] for pool in p.pools)) for p in counts.patterns])]
    correlation, interval = correlation_interval(right, n, counts.clusters)
    known = not math.isnan(correlation)
    yield Measure(
        "intra-problem correlation", correlation if known else None, counts.problems, groups,
        _defined(interval), f"jackknife over {table.unit}" if _defined(interval) else "",
        reason="" if known else wording.NO_CORRELATION,
    )  # fmt: skip
    accuracies = [sample_accuracy(c, sizes) for c, sizes in zip(right, n, strict=True)]
    drawn = counts.n[:, 0]
    for threshold in table.thresholds:
        independent = [independence_reference(drawn, accuracy, threshold) for accuracy in accuracies]
        at_threshold = {**groups, "threshold": f"{threshold:g}"}
        yield Measure("independence reference", float(np.mean(independent)), counts.problems, at_threshold)


def _drop(table: PatternTable, counts: Counts) -> Iterator[Measure]:
    """Yield accuracy on originals minus accuracy on their variants, the plain difference of the poster's table.

    The original is not one of its variants here, even where it counts as one in patterns.
    """
    seeds, counted_seeds = table.seeds[counts.places], float(table.settings.counts_seed)
    right, n = counts.right.mean(axis=1) - counted_seeds * seeds, counts.n.mean(axis=1) - counted_seeds
    known = ~np.isnan(seeds) & (n > 0)
    if not known.any():
        return
    places = counts.places[known]
    originals = Split(table.seeds[places], np.ones(len(places)), table.clusters[places])
    variants = Split(right[known], n[known], counts.clusters[known])
    value, interval = split_difference(originals, variants)
    facts = {
        "originals": float(table.seeds[places].mean()),
        "variants": float(right[known].sum() / n[known].sum()),
    }
    yield Measure(
        "drop from seeds", value, len(places), counts.condition.groups,
        interval, f"linearised over {table.unit}", facts=facts,
    )  # fmt: skip


def _fill(table: PatternTable, name: str, counts: Counts, values: Floats) -> None:
    """Write the values of a condition's problems into a column."""
    column = table.columns.setdefault(name, [None] * len(table.cases))
    for place, value in zip(counts.places.tolist(), values.tolist(), strict=True):
        column[place] = value


def _draws_note(draws: Mapping[str, Any]) -> str:
    return wording.draws_note(draws["draws"]) if draws else ""


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


# Differences between classes, sources and filters


def split_measures(table: PatternTable, counted: Sequence[Counts]) -> Iterator[Measure]:
    """Yield differences of sample accuracy, and of pattern accuracy at the shown thresholds, within one model.

    Filters and sources share their problems; word classes share some. Each interval is of a single difference.
    """
    for key in SPLITS:
        for first, second in _split_pairs([part for part in counted if _is_split(table, part, key)], key):
            groups = {key: first.condition.groups[key], "against": second.condition.groups[key]}
            for threshold in (None, *table.headline):
                yield _split_difference(table, groups, first, second, threshold)


def _is_split(table: PatternTable, counts: Counts, key: str) -> bool:
    """Return whether these are the patterns of one class or source under the first filter, or of one filter."""
    groups = counts.condition.groups
    return key in groups and all(
        table.base.get(name) == value for name, value in groups.items() if name != key
    )


def _split_pairs(parts: Sequence[Counts], key: str) -> Iterator[tuple[Counts, Counts]]:
    """Yield every pair; each other filter against the first."""
    for first, second in combinations(parts, 2):
        if key != "filter":
            yield first, second
        elif first is parts[0]:
            yield second, first


def _split_difference(
    table: PatternTable, groups: dict[str, str], first: Counts, second: Counts, threshold: float | None
) -> Measure:
    value, interval = split_difference(_split(first, threshold), _split(second, threshold))
    at_threshold = {} if threshold is None else {"threshold": f"{threshold:g}"}
    return Measure(
        "difference between splits", value, first.problems + second.problems, {**groups, **at_threshold},
        interval, f"t over {table.unit}",
        facts={"of": "sample accuracy" if threshold is None else "pattern accuracy"},
    )  # fmt: skip


def _split(counts: Counts, threshold: float | None) -> Split:
    if threshold is None:
        return Split(counts.right.mean(axis=1), counts.n.mean(axis=1), counts.clusters)
    solved = counts.solved([threshold])[:, 0]
    return Split(solved, [1.0] * len(solved), counts.clusters)


# Findings


def patterns_finding(table: PatternTable, measures: Measures) -> list[Finding]:
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
    words = worst_words(table)
    text = wording.headline(every, seeds, lowest, words)
    facts = {"threshold": 1.0, "worst words": [list(row) for row in words]}
    return [Finding("patterns", text, (every, seeds), 10.0, facts=facts)]


def worst_words(table: PatternTable) -> list[tuple[str, int, int]]:
    """Return the replacement words with the most failures, each with its wrong and all variants."""
    wrong: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case, hits in table.first_filter():
        for hit, provenance in zip(hits[1:].tolist(), case.meta.get("made", ()), strict=False):
            if not math.isnan(hit) and "replacement" in provenance:
                total[str(provenance["replacement"])] += 1
                wrong[str(provenance["replacement"])] += hit == 0
    tried = [word for word in wrong if wrong[word] and total[word] >= FEWEST_TRIALS]
    ranked = sorted(tried, key=lambda word: (-wrong[word], total[word], word))
    return [(word, wrong[word], total[word]) for word in ranked[:WORST_WORDS]]


def _copied_labels(settings: Settings, built: Built) -> Iterator[Finding]:
    if settings.audited or not built.about.get("suggesters"):
        return
    pairs = any(len(case.examples[0]) > 1 for case in built.cases)
    text = wording.copied_labels(shared_words=pairs and settings.targets != "any")
    yield Finding("assumed", text, (), 0.5)


def find_measure(measures: Measures, name: str, groups: Mapping[str, str]) -> Measure | None:
    """Return the measure of this name with exactly these groups."""
    return next((row for row in measures if row.name == name and dict(row.groups) == dict(groups)), None)

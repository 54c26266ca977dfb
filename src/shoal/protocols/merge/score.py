"""Answers to outcomes and measures: seeds, samples, patterns, and what patterns are compared with (4.4, 4.7, 4.8).

Pure. A case is a problem under one filter condition: the original and all variants that any draw has of it. Which
examples make which pattern is on the case (`meta["patterns"]`, made by `build`):

    {"groups": {"word class": "noun"}, "draws": [[3, 7, …], …]}               positions of a draw's variants
    {"groups": {}, "pools": [{"of": [1, 2, …], "drawn": 20}, …]}              all were asked: the mean over all draws

The first, with no groups, is the pattern over all classes. Per-problem numbers are columns, so that two models are
compared problem by problem.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.measures import FEW_CASES, quantity, shown, shown_interval
from ...core.records import Answers, Case, Finding, Measure, Measures, Outcome
from ...stats.intervals import Interval, cluster_wilson
from ...stats.patterns import (
    Split,
    beta_binomial,
    correlated_reference,
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
from .audit import audit_measures, unsettled
from .contrasts import contrast_measures
from .factors import factor_measures
from .references import HARD
from .settings import Settings
from .sheet import SEED, Condition, Counted, Floats, Sheet, counted_of, plain, rights_of

WORST = 3
"""How many replacement words the finding names."""
FEWEST = 3
"""A replacement word that was tried less often leads no headline."""
RIGHT = "right"
"""A column: whether each of the examples is right, the original first."""
WITHOUT = "pattern accuracy without hard variants"
"""A measure: hard variants are those that all references fail."""
SOLVED, SHARE = "solved at", "right variants"
"""Columns: whether a problem is solved, a mean over draws; what it adds to the sample accuracy."""


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """The outcome of every problem, and the measures of every condition, class of words and source."""
    given = list(answers.values())[-1]
    right = rights_of(built.cases, given)
    sheet = Sheet(settings, built.cases, right)
    measures = [*seed_measures(sheet)]
    counted = [counted_of(sheet, condition) for condition in sheet.conditions]
    for condition, part in zip(sheet.conditions, counted, strict=True):
        measures += condition_measures(sheet, condition, part)
    measures += contrast_measures(sheet, [part for part in counted if part is not None])
    measures += factor_measures(sheet, built.about.get("suggesters", ()))
    measures += _without_hard(sheet) if settings.references else ()
    measures += audit_measures(settings, built.cases, given, Measures(measures))
    columns: dict[str, Sequence[Any]] = {**sheet.columns, "said": _said(built.cases, given)}
    columns[RIGHT] = [plain(hits) for hits in right]
    return Scored(
        _outcomes(settings, built.cases, right, given),
        measures,
        columns,
        [
            *degenerate(built.cases, given),
            *findings(sheet, Measures(measures)),
            *sensitivity(settings, Measures(measures), sheet.base),
            *unsettled(settings, built.cases, given.labels),
            *_assumed(settings, built),
        ],
    )


# What was right


def _said(cases: Sequence[Case], answers: Answers) -> list[list[str]]:
    words = []
    for row in range(len(answers.predictions)):
        if row in answers.errors:
            words.append("no answer")
            continue
        label = answers.labels[answers.predictions[row]]
        sure = None if answers.probabilities is None else float(np.max(answers.probabilities[row]))
        words.append(
            label if sure is None or math.isnan(sure) else f"{label} {sure:.2f}".replace(" 0.", " .")
        )
    spoken = iter(words)
    return [[next(spoken) for _ in case.examples] for case in cases]


def _outcomes(
    settings: Settings, cases: Sequence[Case], right: Sequence[Floats], answers: Answers
) -> list[Outcome]:
    """A problem passes where enough of all its variants are right; one without variants is not applicable.

    A row of the user's own that is alone in its group is a whole pattern, where the original counts as one of it.
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


def seed_measures(sheet: Sheet) -> Iterator[Measure]:
    """Accuracy on the originals that have variants, and on every original where some have none."""
    firsts = np.array([case.groups.get("filter", "default") == sheet.filters[0] if sheet.filters else True
                       for case in sheet.cases])  # fmt: skip
    varied = np.array([len(case.examples) > 1 for case in sheet.cases])
    single = ~varied
    only = {"filter": sheet.filters[0]} if sheet.filters else {}
    yield _seed_accuracy(sheet, firsts & varied, {}, {**only, "variants": "some"})
    if single.any():
        yield _seed_accuracy(sheet, (firsts & varied) | single, {"seeds": "every problem"}, only)


def _seed_accuracy(
    sheet: Sheet, chosen: NDArray[np.bool_], groups: Mapping[str, str], only: Mapping[str, str]
) -> Measure:
    values = sheet.seeds[chosen]
    n = int((~np.isnan(values)).sum())
    facts: dict[str, Any] = {"mean over": "cases", "column": SEED, "only": dict(only)}
    if not n:
        return Measure("seed accuracy", None, 0, groups, errors=len(values), facts=facts)
    interval = cluster_wilson(cluster_table(values, sheet.clusters[chosen]))
    return Measure(
        "seed accuracy", float(np.nanmean(values)), n, groups, interval, f"wilson over {sheet.over}",
        errors=int(np.isnan(values).sum()), facts=facts,
    )  # fmt: skip


def condition_measures(sheet: Sheet, condition: Condition, counted: Counted | None) -> list[Measure]:
    """Sample and pattern accuracy of one condition, with the curve, the references and the correlation."""
    if counted is None:
        return [Measure("sample accuracy", None, 0, condition.groups, errors=condition.errors)]
    solved = counted.solved(sheet.thresholds)
    curve = [
        _pattern_accuracy(sheet, counted, threshold, solved[:, number])
        for number, threshold in enumerate(sheet.thresholds)
    ]
    return [
        _sample(sheet, counted),
        *curve,
        *_of_solved_seeds(sheet, counted, solved),
        *_references(sheet, counted),
        *_drop(sheet, counted),
        *_parity(sheet, counted, curve),
    ]


def _sample(sheet: Sheet, counted: Counted) -> Measure:
    right, n = counted.right.mean(axis=1), counted.n.mean(axis=1)
    column = f"{SHARE}{counted.condition.words}"
    # Scaled so that its mean over problems is the share of variants, whatever their numbers.
    _fill(sheet, column, counted, right / n.sum() * counted.problems)
    draws = counted.over_draws(counted.right.sum(axis=0) / counted.n.sum(axis=0))
    facts = {"mean over": "cases", "column": column, "only": dict(counted.condition.only), **draws}
    facts |= {"whole": True} if dict(counted.condition.groups) == sheet.base else {}
    interval = cluster_wilson(variant_table([right], n, counted.clusters))
    return Measure(
        "sample accuracy", float(right.sum() / n.sum()), counted.problems, counted.condition.groups, interval,
        f"wilson over {sheet.over}", errors=counted.condition.errors,
        note=_in_words(draws), facts={**facts, "variants": float(n.sum())},
    )  # fmt: skip


def _pattern_accuracy(sheet: Sheet, counted: Counted, threshold: float, solved: Floats) -> Measure:
    shown_threshold = f"{threshold:g}"
    draws = counted.over_draws(is_solved(counted.right, counted.n, threshold).mean(axis=0))
    facts: dict[str, Any] = dict(draws)
    if threshold in sheet.headline:
        column = f"{SOLVED} {shown_threshold}{counted.condition.words}"
        _fill(sheet, column, counted, solved / len(solved) * counted.problems)
        facts |= {"mean over": "cases", "column": column, "only": dict(counted.condition.only)}
        if dict(counted.condition.groups) == sheet.base:
            facts["whole"] = True
            if threshold == sheet.settings.threshold:
                facts["headline"] = True
    return Measure(
        "pattern accuracy", float(solved.mean()), counted.problems,
        {**counted.condition.groups, "threshold": shown_threshold},
        cluster_wilson(cluster_table(np.clip(solved, 0.0, 1.0), counted.clusters)),
        f"wilson over {sheet.over}", errors=counted.condition.errors, note=_in_words(draws), facts=facts,
    )  # fmt: skip


def _of_solved_seeds(sheet: Sheet, counted: Counted, solved: Floats) -> Iterator[Measure]:
    """Pattern accuracy over the problems whose original is answered right."""
    chosen = sheet.seeds[counted.places] == 1
    for number, threshold in enumerate(sheet.thresholds):
        if threshold not in sheet.headline:
            continue
        values = np.clip(solved[chosen, number], 0.0, 1.0)
        groups = {**counted.condition.groups, "seed": "right", "threshold": f"{threshold:g}"}
        if not len(values):
            yield Measure("pattern accuracy", None, 0, groups, note="no original is answered right")
            continue
        yield Measure(
            "pattern accuracy", float(values.mean()), len(values), groups,
            cluster_wilson(cluster_table(values, counted.clusters[chosen])), f"wilson over {sheet.over}",
            errors=counted.condition.errors,
        )  # fmt: skip


def _references(sheet: Sheet, counted: Counted) -> Iterator[Measure]:
    """The correlation within problems, and what pattern accuracy would be without it and with it alone."""
    right, n, groups = list(counted.right.T), list(counted.n.T), counted.condition.groups
    if counted.pooled:  # the whole pool tells more than an expected draw
        right = [np.array([float(sum(pool[0] for pool in p.pools)) for p in counted.patterns])]
        n = [np.array([float(sum(pool[1] for pool in p.pools)) for p in counted.patterns])]
    correlation, interval = correlation_interval(right, n, counted.clusters)
    known = not math.isnan(correlation)
    yield Measure(
        "intra-problem correlation", correlation if known else None, counted.problems, groups,
        _defined(interval), f"jackknife over {sheet.over}" if _defined(interval) else "",
        note="" if known else "all variants are right, all wrong, or each problem has one",
    )  # fmt: skip
    fits = [beta_binomial(c, sizes) for c, sizes in zip(right, n, strict=True)]
    accuracies = [sample_accuracy(c, sizes) for c, sizes in zip(right, n, strict=True)]
    drawn = counted.n[:, 0]
    for threshold in sheet.thresholds:
        named_so = {**groups, "threshold": f"{threshold:g}"}
        independent = [independence_reference(drawn, accuracy, threshold) for accuracy in accuracies]
        yield Measure("independence reference", float(np.mean(independent)), counted.problems, named_so)
        if threshold in sheet.headline and not any(math.isnan(mean) for mean, _ in fits):
            fitted = [correlated_reference(drawn, mean, rho, threshold) for mean, rho in fits]
            facts = {"correlation": float(np.mean([rho for _, rho in fits]))}
            value = float(np.mean(fitted))
            yield Measure("beta-binomial reference", value, counted.problems, named_so, facts=facts)


def _drop(sheet: Sheet, counted: Counted) -> Iterator[Measure]:
    """Accuracy of the originals minus that of their variants, the plain difference of the poster's table.

    The original is not one of its variants here, also where it counts as one in patterns.
    """
    seeds, own = sheet.seeds[counted.places], float(sheet.settings.counts_seed)
    right, n = counted.right.mean(axis=1) - own * seeds, counted.n.mean(axis=1) - own
    known = ~np.isnan(seeds) & (n > 0)
    if not known.any():
        return
    once = np.unique(counted.places[known])  # a problem with several patterns has one original
    originals = Split(sheet.seeds[once], np.ones(len(once)), sheet.clusters[once])
    variants = Split(right[known], n[known], counted.clusters[known])
    value, interval = split_difference(originals, variants)
    facts = {
        "originals": float(sheet.seeds[once].mean()),
        "variants": float(right[known].sum() / n[known].sum()),
    }
    yield Measure(
        "drop from seeds", value, len(once), counted.condition.groups,
        interval, f"linearised over {sheet.over}", facts=facts,
    )  # fmt: skip


def _parity(sheet: Sheet, counted: Counted, curve: Sequence[Measure]) -> Iterator[Measure]:
    """The largest threshold at which patterns do as well as the same originals."""
    seeds = sheet.seeds[counted.places]
    if np.isnan(seeds).all():
        return
    enough = float(np.nanmean(seeds)) - 1e-12
    reached = [
        threshold
        for threshold, row in zip(sheet.thresholds, curve, strict=True)
        if row.value is not None and row.value >= enough
    ]
    note = "" if reached else "at no threshold"
    groups = counted.condition.groups
    yield Measure("parity threshold", max(reached, default=None), counted.problems, groups, note=note)


def _without_hard(sheet: Sheet) -> Iterator[Measure]:
    """Pattern accuracy over all classes, the variants that all references fail left out of the patterns."""
    right, facts = [], {"left out": 0, "variants": 0}
    for case, hits in zip(sheet.cases, sheet.right, strict=True):
        hard = [place for place in case.meta.get(HARD, ()) if place or sheet.settings.counts_seed]
        if case.groups.get("filter") in (None, *sheet.filters[:1]) and len(hits) > 1:
            facts["left out"] += len(hard)
            facts["variants"] += len(hits) - (not sheet.settings.counts_seed)
        known = hits.copy()
        known[hard] = np.nan
        right.append(known)
    left, errors = Sheet(sheet.settings, sheet.cases, right), _of_all(sheet).errors
    counted = counted_of(left, _of_all(left))
    for threshold in sheet.headline:
        groups = {**sheet.base, "threshold": f"{threshold:g}"}
        if counted is None:
            yield Measure(WITHOUT, None, 0, groups, errors=errors, note="no variant is left", facts=facts)
            continue
        solved = counted.solved([threshold])[:, 0]
        yield Measure(
            WITHOUT, float(solved.mean()), counted.problems, groups,
            cluster_wilson(cluster_table(np.clip(solved, 0.0, 1.0), counted.clusters)), f"wilson over {sheet.over}",
            errors=errors, facts=facts,
        )  # fmt: skip


def _of_all(sheet: Sheet) -> Condition:
    """All patterns under the first filter."""
    return next(condition for condition in sheet.conditions if dict(condition.groups) == sheet.base)


def _fill(sheet: Sheet, name: str, counted: Counted, values: Floats) -> None:
    """Add values to a column, those of several patterns of a problem together."""
    column = sheet.columns.setdefault(name, [None] * len(sheet.cases))
    for place, value in zip(counted.places.tolist(), values.tolist(), strict=True):
        column[place] = (column[place] or 0.0) + value


def _in_words(draws: Mapping[str, Any]) -> str:
    return f"mean of {draws['draws']} draws" if draws else ""


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


# In words


def findings(sheet: Sheet, measures: Measures) -> list[Finding]:
    """Return the share of problems solved when all variants must be right, and where the failures are."""
    every = named(measures, "pattern accuracy", {**sheet.base, "threshold": "1"})
    seeds = named(measures, "seed accuracy", {})
    if every is None or seeds is None or every.value is None:
        return []
    between = f", 95 % CI {shown_interval(every)}" if every.interval else ""
    text = (
        f"The model solves {_solved(every)} problems with all their variants{between}. "
        f"It solves {_solved(seeds)} originals alone."
    )
    by_class = [
        row
        for row in measures.where("pattern accuracy", threshold="1")
        if row.groups.keys() == {*sheet.base, "word class", "threshold"} and row.n >= FEW_CASES
    ]
    if len(by_class) > 1:
        lowest = min(by_class, key=lambda row: row.value or 0.0)
        text += f" Lowest word class: {lowest.groups['word class']}, {_per_cent(lowest)} of {lowest.n:,}."
    words = worst_words(sheet)
    if words:
        counts = [f"{word} ({wrong:,} of {total:,} wrong)" for word, wrong, total in words]
        text += f" Most failures after inserting {', '.join(counts)}."
    facts = {"threshold": 1.0, "worst words": [list(row) for row in words]}
    return [Finding("patterns", text, (every, seeds), 10.0, facts=facts)]


def worst_words(sheet: Sheet) -> list[tuple[str, int, int]]:
    """Return the replacement words with the most failures, each with its wrong and all variants."""
    wrong: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for place, case in enumerate(sheet.cases):
        if sheet.filters and case.groups.get("filter") != sheet.filters[0]:
            continue
        for hit, made in zip(sheet.right[place][1:].tolist(), case.meta.get("made", ()), strict=False):
            if not math.isnan(hit) and "replacement" in made:
                total[str(made["replacement"])] += 1
                wrong[str(made["replacement"])] += hit == 0
    tried = [word for word in wrong if wrong[word] and total[word] >= FEWEST]
    ranked = sorted(tried, key=lambda word: (-wrong[word], total[word], word))
    return [(word, wrong[word], total[word]) for word in ranked[:WORST]]


def sensitivity(settings: Settings, measures: Measures, base: Mapping[str, str]) -> Iterator[Finding]:
    """What becomes of the number above without the variants that all references fail."""
    threshold = {**base, "threshold": f"{settings.threshold:g}"}
    left, patterns = named(measures, WITHOUT, threshold), named(measures, "pattern accuracy", threshold)
    if left is None or patterns is None or left.value is None:
        return
    hard, variants = left.facts["left out"], left.facts["variants"]
    text = (
        f"Without the {hard:,} of {variants:,} variants that all {len(settings.references)} references fail, "
        f"{_per_cent(left)} of {left.n:,} problems are solved instead of {_per_cent(patterns)}. "
        "These variants may have lost their label, or be hard."
    )
    yield Finding("sensitivity", text, (left, patterns), 1.0, facts={"left out": hard, "variants": variants})


def _assumed(settings: Settings, built: Built) -> Iterator[Finding]:
    """That labels were copied, and how good the reason for it is."""
    if settings.audited or not built.about.get("suggesters"):
        return
    pairs = any(len(case.examples[0]) > 1 for case in built.cases)
    shared = pairs and settings.targets != "any"
    text = "Variants keep the label of their original; nobody checked them."
    if not shared:
        text += " Any open-class word was replaced, so a variant may have lost its label."
    yield Finding(
        "assumed",
        text,
        (),
        0.5,
        facts={"labels": "copied", "replaced": "shared words" if shared else "any words"},
    )


def named(measures: Measures, name: str, groups: Mapping[str, str]) -> Measure | None:
    """The measure of this name with these groups and no others."""
    return next((row for row in measures if row.name == name and dict(row.groups) == dict(groups)), None)


def _solved(row: Measure) -> str:
    """Return a share with its count; of a mean over draws, which need not be a whole number, with its n."""
    count = (row.value or 0.0) * row.n
    if abs(count - round(count)) > 1e-9:
        return f"{_per_cent(row)} of {row.n:,}"
    return f"{round(count):,} of {row.n:,} ({_per_cent(row)})"


def _per_cent(row: Measure) -> str:
    return f"{shown(row.value, quantity(row))} %"

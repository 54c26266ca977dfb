"""Answers to outcomes and measures: seeds, samples, patterns, and what patterns are compared with (4.4, 4.7, 4.8).

Pure. A case is a problem under one filter condition: the original and all variants that any draw has of it. Which
examples make which pattern is on the case (`meta["patterns"]`, made by `build`):

    {"groups": {"word class": "noun"}, "draws": [[3, 7, …], …]}               positions of a draw's variants
    {"groups": {}, "pools": [{"of": [1, 2, …], "drawn": 20}, …]}              all were asked: the mean over all draws

The first, with no groups, is the pattern over all classes. Per-problem numbers are columns, so that two models are
compared problem by problem.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...measures import quantity, shown
from ...records import Answers, Case, Finding, Measure, Measures, Outcome
from ...stats.intervals import Interval, cluster_wilson, paired_difference_interval
from ...stats.patterns import (
    beta_binomial,
    correlated_reference,
    correlation_interval,
    independence_reference,
    is_solved,
    needed,
    sample_accuracy,
    solved_shares,
    variant_table,
)
from ...stats.resampling import cluster_table
from ..base import Built, Scored
from .audit import audit_measures
from .settings import HEADLINE, Settings

Floats = NDArray[np.float64]

GRID = tuple(number / 20 for number in range(1, 21))
"""Thresholds of the curve."""
SEED = "seed right"
SOLVED, SHARE = "solved at", "right variants"
"""Columns: whether a problem is solved, a mean over draws; what it adds to the sample accuracy."""
METHOD = "premises"


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """The outcome of every problem, and the measures of every condition, class of words and source."""
    given = list(answers.values())[-1]
    right = _right_of(built.cases, given)
    sheet = Sheet(settings, built.cases, right)
    measures = [*seed_measures(sheet)]
    for condition in sheet.conditions:
        measures += condition_measures(sheet, condition)
    measures += audit_measures(settings, built.cases, given, Measures(measures))
    columns: dict[str, Sequence[Any]] = {**sheet.columns, "said": _said(built.cases, given)}
    return Scored(
        _outcomes(settings, built.cases, right, given),
        measures,
        columns,
        findings(settings, Measures(measures)),
    )


# What was right


def _right_of(cases: Sequence[Case], answers: Answers) -> list[Floats]:
    """For each example of each case 1, 0 or, without an answer, NaN."""
    names = np.array(answers.labels)
    row = 0
    rights = []
    for case in cases:
        rows = range(row, row + len(case.examples))
        labels = np.array([str(label) for label in case.labels or ()])
        hits = (names[answers.predictions[row : row + len(rows)]] == labels).astype(np.float64)
        for position in (number for number in rows if number in answers.errors):
            hits[position - row] = np.nan
        rights.append(hits)
        row += len(case.examples)
    return rights


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
    """A problem passes where enough of all its variants are right; one without variants is not applicable."""
    outcomes = []
    first = 0
    for case, hits in zip(cases, right, strict=True):
        counted = hits if settings.counts_seed else hits[1:]
        known = counted[~np.isnan(counted)]
        if len(hits) == 1:
            outcomes.append(Outcome(case.id, None, None, answers.errors.get(first, "")))
        elif not len(known):
            outcomes.append(Outcome(case.id, None, None, answers.errors[first + len(hits) - 1]))
        else:
            lacking = float(needed(settings.threshold, len(known)) - known.sum()) / len(known)
            outcomes.append(Outcome(case.id, lacking <= 0, max(-lacking, 1e-9) if lacking <= 0 else -lacking))
        first += len(hits)
    return outcomes


# Patterns


@dataclass(frozen=True, slots=True)
class Pattern:
    """How the variants of one problem went: a number per draw, or pools that all draws come from."""

    case: int
    right: Floats  # (draws,)
    n: Floats  # (draws,)
    pools: tuple[tuple[int, int, int], ...] = ()
    """(right, in all, drawn) of each, where all variants were asked."""

    def solved(self, thresholds: Sequence[float]) -> list[float]:
        """How often it is solved at each threshold: a mean over draws; NaN where nothing was answered."""
        if self.pools:
            return solved_shares(self.pools, thresholds)
        by_draw = [is_solved(self.right, self.n, threshold) for threshold in thresholds]
        return [float(np.mean(row)) if not np.isnan(row).any() else math.nan for row in by_draw]


@dataclass(frozen=True, slots=True)
class Condition:
    """Patterns that are measured together: a filter condition with a class of words or a source."""

    groups: Mapping[str, str]
    only: Mapping[str, str]
    """Which cases they are of."""
    patterns: Sequence[Pattern] = field(repr=False)
    errors: int = 0
    """Variants without an answer."""

    @property
    def words(self) -> str:
        """For the names of columns; the filter is the case's."""
        return "".join(f", {value}" for key, value in self.groups.items() if key != "filter")


class Sheet:
    """All patterns of a result by condition, and the columns that grow out of them."""

    def __init__(self, settings: Settings, cases: Sequence[Case], right: Sequence[Floats]) -> None:
        self.settings, self.cases, self.right = settings, cases, right
        names: dict[str, int] = {}
        self.clusters = np.array([names.setdefault(case.cluster or case.id, len(names)) for case in cases])
        self.seeds = np.array([hits[0] for hits in right])
        self.columns: dict[str, list[float | None]] = {SEED: _plain(self.seeds)}
        self.filters = list(dict.fromkeys(case.groups["filter"] for case in cases if "filter" in case.groups))
        self.conditions = list(self._conditions())
        shown = {*HEADLINE, settings.threshold}
        self.thresholds = tuple(sorted({*GRID, *shown}))
        self.headline = tuple(sorted(shown))

    def _conditions(self) -> Iterator[Condition]:
        """Conditions in the order of the cases: filters, and in each all patterns, then classes, then sources."""
        parts: dict[tuple[str, tuple[tuple[str, str], ...]], list[Pattern]] = {}
        errors: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        for position, case in enumerate(self.cases):
            by_unit = self.settings.patterns == "unit"
            for made in case.meta.get("patterns", ()):
                key = (case.groups.get("filter", ""), tuple(made["groups"].items()))
                if by_unit and not made["groups"] and _has_classes(case):
                    continue
                pattern, missing = self._pattern(position, made)
                keys = [key, (key[0], ())] if by_unit and "word class" in made["groups"] else [key]
                for each in keys:
                    parts.setdefault(each, []).append(pattern)
                    errors[each] = errors.get(each, 0) + missing
        several = len(self.filters) > 1 or self.filters not in ([], ["default"])
        for name in self.filters or [""]:
            for key in sorted((key for key in parts if key[0] == name), key=lambda key: _order(key[1])):
                groups = {**dict(key[1]), **({"filter": name} if several else {})}
                yield Condition(groups, {"filter": name} if name else {}, parts[key], errors[key])

    def _pattern(self, position: int, made: Mapping[str, Any]) -> tuple[Pattern, int]:
        hits = self.right[position]
        if "pools" in made:
            counts = [_pool(hits[pool["of"]], pool["drawn"]) for pool in made["pools"]]
            if self.settings.counts_seed and not np.isnan(hits[0]):
                counts.append((int(hits[0]), 1, 1))
            known = [count for count in counts if count[1]]
            size = float(sum(drawn for _, _, drawn in known))
            expected = sum(drawn * right / total for right, total, drawn in known)
            missing = sum(int(np.isnan(hits[pool["of"]]).sum()) for pool in made["pools"])
            return Pattern(position, np.array([expected]), np.array([size]), tuple(known)), missing
        draws = [[0, *draw] if self.settings.counts_seed else draw for draw in made["draws"]]
        drawn = [hits[draw] for draw in draws]
        right = np.array([float(np.nansum(part)) for part in drawn])
        n = np.array([float((~np.isnan(part)).sum()) for part in drawn])
        asked = sorted({place for draw in draws for place in draw})
        return Pattern(position, right, n), int(np.isnan(hits[asked]).sum())


def _has_classes(case: Case) -> bool:
    return any("word class" in made["groups"] for made in case.meta["patterns"])


def _order(groups: tuple[tuple[str, str], ...]) -> tuple[int, tuple[tuple[str, str], ...]]:
    kinds = ["", "word class", "source"]
    return (kinds.index(groups[0][0]) if groups else 0, groups)


def _pool(hits: Floats, drawn: int) -> tuple[int, int, int]:
    known = hits[~np.isnan(hits)]
    return int(known.sum()), len(known), min(drawn, len(known))


def _plain(values: Floats) -> list[float | None]:
    """As JSON takes them."""
    return [None if math.isnan(value) else value for value in values.tolist()]


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
        "seed accuracy", float(np.nanmean(values)), n, groups, interval, f"wilson over {METHOD}",
        errors=int(np.isnan(values).sum()), facts=facts,
    )  # fmt: skip


def condition_measures(sheet: Sheet, condition: Condition) -> list[Measure]:
    """Sample and pattern accuracy of one condition, with the curve, the references and the correlation."""
    patterns = [pattern for pattern in condition.patterns if pattern.n.min() > 0]
    if not patterns:
        return [Measure("sample accuracy", None, 0, condition.groups, errors=condition.errors)]
    rows = [_sample(sheet, condition, patterns)]
    solved = np.array([pattern.solved(sheet.thresholds) for pattern in patterns])  # (problems, thresholds)
    curve = []
    for number, threshold in enumerate(sheet.thresholds):
        curve.append(_pattern_accuracy(sheet, condition, patterns, threshold, solved[:, number]))
    rows += curve
    rows += _of_solved_seeds(sheet, condition, patterns, solved)
    rows += _references(sheet, condition, patterns)
    rows += [*_drop(sheet, condition, patterns), *_parity(sheet, condition, patterns, curve)]
    return rows


def _sample(sheet: Sheet, condition: Condition, patterns: Sequence[Pattern]) -> Measure:
    right, n = (np.array([getattr(pattern, name).mean() for pattern in patterns]) for name in ("right", "n"))
    by_draw = _by_draw(patterns, lambda c, sizes: sample_accuracy(c, sizes))
    clusters = sheet.clusters[[pattern.case for pattern in patterns]]
    column = f"{SHARE}{condition.words}"
    # Scaled so that its mean over problems is the share of variants, whatever their numbers.
    _fill(sheet, column, patterns, right / n.sum() * _problems(patterns))
    facts = {"mean over": "cases", "column": column, "only": dict(condition.only), **_over_draws(by_draw)}
    interval = cluster_wilson(variant_table([right], n, clusters))
    return Measure(
        "sample accuracy", float(right.sum() / n.sum()), _problems(patterns), condition.groups, interval,
        f"wilson over {METHOD}", errors=condition.errors,
        note=_draws_in_words(by_draw), facts={**facts, "variants": float(n.sum())},
    )  # fmt: skip


def _pattern_accuracy(
    sheet: Sheet, condition: Condition, patterns: Sequence[Pattern], threshold: float, solved: Floats
) -> Measure:
    shown = f"{threshold:g}"
    clusters = sheet.clusters[[pattern.case for pattern in patterns]]
    by_draw = _by_draw(patterns, lambda c, sizes: float(np.mean(is_solved(c, sizes, threshold))))
    facts: dict[str, Any] = _over_draws(by_draw)
    if threshold in sheet.headline:
        column = f"{SOLVED} {shown}{condition.words}"
        _fill(sheet, column, patterns, solved / len(patterns) * _problems(patterns))
        facts |= {"mean over": "cases", "column": column, "only": dict(condition.only)}
        if threshold == sheet.settings.threshold and not condition.groups:
            facts["headline"] = True
    return Measure(
        "pattern accuracy", float(solved.mean()), _problems(patterns),
        {**condition.groups, "threshold": shown}, cluster_wilson(cluster_table(solved, clusters)),
        f"wilson over {METHOD}", errors=condition.errors, note=_draws_in_words(by_draw), facts=facts,
    )  # fmt: skip


def _of_solved_seeds(
    sheet: Sheet, condition: Condition, patterns: Sequence[Pattern], solved: Floats
) -> Iterator[Measure]:
    """Pattern accuracy over the problems whose original is answered right."""
    places = np.array([pattern.case for pattern in patterns])
    chosen = sheet.seeds[places] == 1
    for number, threshold in enumerate(sheet.thresholds):
        if threshold in sheet.headline:
            values = solved[chosen, number]
            groups = {**condition.groups, "seed": "right", "threshold": f"{threshold:g}"}
            if not len(values):
                yield Measure("pattern accuracy", None, 0, groups, note="no original is answered right")
                continue
            interval = cluster_wilson(cluster_table(values, sheet.clusters[places][chosen]))
            yield Measure(
                "pattern accuracy", float(values.mean()), len(values), groups, interval,
                f"wilson over {METHOD}", errors=condition.errors,
            )  # fmt: skip


def _references(sheet: Sheet, condition: Condition, patterns: Sequence[Pattern]) -> Iterator[Measure]:
    """The correlation within problems, and what pattern accuracy would be without it and with it alone."""
    draws = range(len(patterns[0].n))
    right, n = (
        [np.array([getattr(p, name)[draw] for p in patterns]) for draw in draws] for name in ("right", "n")
    )
    clusters = sheet.clusters[[pattern.case for pattern in patterns]]
    if patterns[0].pools:  # the whole pool tells more than an expected draw
        right = [np.array([float(sum(pool[0] for pool in p.pools)) for p in patterns])]
        n = [np.array([float(sum(pool[1] for pool in p.pools)) for p in patterns])]
    correlation, interval = correlation_interval(right, n, clusters)
    known = not math.isnan(correlation)
    yield Measure(
        "intra-problem correlation", correlation if known else None, _problems(patterns), condition.groups,
        _defined(interval), "jackknife over premises" if _defined(interval) else "",
        note="" if known else "all variants are right, all wrong, or each problem has one",
    )  # fmt: skip
    fits = [beta_binomial(c, sizes) for c, sizes in zip(right, n, strict=True)]
    accuracies = [sample_accuracy(c, sizes) for c, sizes in zip(right, n, strict=True)]
    drawn = [pattern.n[0] for pattern in patterns]
    for threshold in sheet.thresholds:
        groups = {**condition.groups, "threshold": f"{threshold:g}"}
        independent = [independence_reference(drawn, accuracy, threshold) for accuracy in accuracies]
        yield Measure("independence reference", float(np.mean(independent)), _problems(patterns), groups)
        if threshold in sheet.headline and not any(math.isnan(mean) for mean, _ in fits):
            fitted = [correlated_reference(drawn, mean, rho, threshold) for mean, rho in fits]
            facts = {"correlation": float(np.mean([rho for _, rho in fits]))}
            yield Measure(
                "beta-binomial reference", float(np.mean(fitted)), _problems(patterns), groups, facts=facts
            )


def _drop(sheet: Sheet, condition: Condition, patterns: Sequence[Pattern]) -> Iterator[Measure]:
    """From originals to variants, each original as often as it has variants."""
    places = np.array([pattern.case for pattern in patterns])
    seeds, known = sheet.seeds[places], ~np.isnan(sheet.seeds[places])
    if not known.any():
        return
    right, n = (np.array([getattr(p, name).mean() for p in patterns])[known] for name in ("right", "n"))
    table = variant_table([seeds[known] * n, right], n, sheet.clusters[places][known])
    value = float((seeds[known] @ n - right.sum()) / n.sum())
    yield Measure(
        "drop from seeds", value, int(known.sum()), condition.groups,
        paired_difference_interval(table), f"paired t over {METHOD}",
    )  # fmt: skip


def _parity(
    sheet: Sheet, condition: Condition, patterns: Sequence[Pattern], curve: Sequence[Measure]
) -> Iterator[Measure]:
    """The largest threshold at which patterns do as well as the same originals."""
    seeds = float(np.nanmean(sheet.seeds[[pattern.case for pattern in patterns]]))
    reached = [
        threshold
        for threshold, row in zip(sheet.thresholds, curve, strict=True)
        if row.value is not None and row.value >= seeds - 1e-12
    ]
    note = "" if reached else "at no threshold"
    yield Measure(
        "parity threshold", max(reached, default=None), _problems(patterns), condition.groups, note=note
    )


def _problems(patterns: Sequence[Pattern]) -> int:
    return len({pattern.case for pattern in patterns})


def _fill(sheet: Sheet, name: str, patterns: Sequence[Pattern], values: Floats) -> None:
    """Add values to a column, those of several patterns of a problem together."""
    column = sheet.columns.setdefault(name, [None] * len(sheet.cases))
    for pattern, value in zip(patterns, values.tolist(), strict=True):
        column[pattern.case] = (column[pattern.case] or 0.0) + value


def _by_draw(patterns: Sequence[Pattern], statistic: Any) -> list[float]:
    """A statistic of each draw; none where the mean over all draws is computed."""
    if patterns[0].pools:
        return []
    draws = range(len(patterns[0].n))
    return [
        float(statistic(*(np.array([getattr(p, name)[draw] for p in patterns]) for name in ("right", "n"))))
        for draw in draws
    ]


def _over_draws(by_draw: Sequence[float]) -> dict[str, Any]:
    if len(by_draw) < 2:
        return {}
    return {"draws": len(by_draw), "sd over draws": float(np.std(by_draw, ddof=1))}


def _draws_in_words(by_draw: Sequence[float]) -> str:
    return f"mean of {len(by_draw)} draws" if len(by_draw) > 1 else ""


def _defined(interval: Interval) -> Interval | None:
    return None if math.isnan(interval[0]) else interval


# In words


def findings(settings: Settings, measures: Measures) -> list[Finding]:
    """How many problems are solved with their variants, beside what chance alone would give."""
    threshold = {"threshold": f"{settings.threshold:g}"}
    patterns = named(measures, "pattern accuracy", threshold)
    seeds = named(measures, "seed accuracy", {})
    independent = named(measures, "independence reference", threshold)
    if patterns is None or seeds is None or independent is None or patterns.value is None:
        return []
    text = (
        f"Of {patterns.n:,} problems {_per_cent(patterns)} are solved together with "
        f"{100 * settings.threshold:g} % of their variants; the originals alone: {_per_cent(seeds)}. Variants that "
        f"fail independently of one another would leave {_per_cent(independent)}."
    )
    about = (patterns, seeds, independent)
    return [Finding("patterns", text, about, 10.0, facts={"threshold": settings.threshold})]


def named(measures: Measures, name: str, groups: Mapping[str, str]) -> Measure | None:
    """The measure of this name with these groups and no others."""
    return next((row for row in measures if row.name == name and dict(row.groups) == dict(groups)), None)


def _per_cent(row: Measure) -> str:
    return f"{shown(row.value, quantity(row))} %"

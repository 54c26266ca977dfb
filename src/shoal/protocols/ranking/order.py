"""Order models by the examples that they get right (`docs/method/beyond.md` 7.16).

All models answer the same examples, so only examples that one of two models gets right tell them apart. The stated
probability that a model is better assumes close models: of those examples Beta(30, 30) go to either. A uniform prior
would be right for models of all kinds, and too sure of models that are a few points apart. Both are measures.

When to stop labelling is another question: whoever looks after every label finds a winner among equals sooner or
later. The e-value stays valid however often one looks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.claims import ALPHA
from ...core.errors import DataError
from ...core.measures import MEASURES, shown
from ...core.records import Case, Finding, Measure, Result
from ...stats.intervals import paired_difference_interval, wilson
from ...stats.ranking import effective_counts, probability_better
from ...stats.resampling import paired_table
from ...stats.sequential import differ_e_value, differ_mean_e_value
from .build import LABELLED, in_pool
from .names import contenders
from .score import PREDICTION

Floats = NDArray[np.float64]

LIKELY = 0.8
"""A model is called better from this stated probability on."""
CLOSE = 30.0
"""The prior of models whose accuracies have an SD of 3 points: Beta(30, 30) of the examples go to either."""
MOST_LABELS = 10_000
"""A larger number of further labels is not named."""
DECIDED, PROBABLE, UNDECIDED = "decided", "probable", "undecided"
STATED = "probability better if close"
"""The measure whose value is printed."""
MOST_PAIRS = 500
"""Of so many pairs of models each has its numbers; of more only neighbours, and the first with all others."""


@dataclass(frozen=True, slots=True)
class Field:
    """The models side by side on the same examples."""

    names: list[str]
    specs: list[str]
    cases: Sequence[Case]
    right: Floats  # (models, cases); NaN without a label or an answer
    predictions: Sequence[Sequence[str]]
    results: Sequence[Result]


@dataclass(frozen=True, slots=True)
class Draws:
    """The labelled examples as they were drawn; one that was drawn in two rounds is there twice."""

    places: NDArray[np.int64]
    ratios: Floats
    """The least chance in its round over its own: 1 where all had the same."""
    inverse: Floats
    """1 over its chance, all alike being 1."""
    times: Floats


@dataclass(frozen=True, slots=True)
class Pair:
    """What the labels say of two models."""

    first: int
    second: int
    only_first: int
    only_second: int
    probability: float
    if_close: float
    """The same under the prior of close models: the stated probability."""
    n: int
    e_value: float | None = None
    """None where no answers are known, only shares."""
    limit: float = math.inf
    """What the e-value must reach."""

    @property
    def verdict(self) -> str:
        """Whether the first is better: decided, probable, or undecided unless the prior of close models agrees."""
        if not min(self.probability, self.if_close) > LIKELY:
            return UNDECIDED
        return DECIDED if self.e_value is not None and self.e_value >= self.limit else PROBABLE

    @property
    def more_labels(self) -> int | None:
        """Return about how many more labels decide, if the two go on as so far; None if too many."""
        ahead, apart = self.only_first + 1, self.only_first + self.only_second
        if not (self.n and apart and math.isfinite(self.limit)) or self.only_first <= self.only_second:
            return None
        share, each = ahead / (apart + 2), apart / self.n
        for labels in range(1, MOST_LABELS):
            up = self.only_first + labels * each * share
            if differ_e_value(up, apart + labels * each - up) >= self.limit:
                return labels if labels < 10 else round(labels, -len(str(labels)) + 2)
        return None


def field_of(results: Sequence[Result]) -> Field:
    """The models by name, on examples in the order of their names: neither order changes anything."""
    ordered = sorted(results, key=lambda result: (str(result.job["model"]), str(result.job["id"])))
    names = contenders(ordered)
    specs = [
        str(result.job["model"]) if result.settings.train is None else f"{result.job['model']} ({name})"
        for name, result in zip(names, ordered, strict=True)
    ]
    _check_same(ordered, names)
    places = sorted(range(len(ordered[0].cases)), key=lambda place: ordered[0].cases[place].id)
    cases = [ordered[0].cases[place] for place in places]
    right = np.full((len(ordered), len(cases)), np.nan)
    predictions = []
    for row, result in enumerate(ordered):
        passed = [result.outcomes[place].passed for place in places]
        right[row] = [np.nan if outcome is None else float(outcome) for outcome in passed]
        predictions.append([result.columns[PREDICTION][place] for place in places])
    return Field(names, specs, cases, right, predictions, ordered)


def _check_same(results: Sequence[Result], names: Sequence[str]) -> None:
    first, *others = results
    ids = {case.id for case in first.cases}
    for name, other in zip(names[1:], others, strict=True):
        differing = ids ^ {case.id for case in other.cases}
        if differing:
            raise DataError(
                f"{names[0]} and {name} answered different examples",
                why=f"{len(differing):,} are only one's, such as {sorted(differing)[0]!r}",
                fix="the same data for all models",
            )


def draws_of(cases: Sequence[Case]) -> Draws:
    """How the labelled examples were drawn."""
    rows = []
    for place, case in enumerate(cases):
        if case.groups["part"] == LABELLED:
            rows.append((place, 1.0, 1.0, 1.0))
        for chance, least, times in case.meta.get("draws", ()):
            rows.append((place, least / chance, 1 / chance, times))
    table = np.array(rows, np.float64).reshape(-1, 4)
    return Draws(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3])


# Order and pairs


def order_by(field: Field, draws: Draws) -> tuple[list[int], Floats]:
    """The models, the best first, and what each gets right but for a constant that all share.

    An example counts one over its chance of being drawn; those on which all agree, which are never drawn by
    disagreement, are the same for all.
    """
    right = field.right[:, draws.places]
    is_known = ~np.isnan(right)
    weights = draws.times * draws.inverse
    drawn = (is_known * draws.times).sum(axis=1)
    sums = (np.nan_to_num(right) * weights).sum(axis=1)
    scores = np.round(np.divide(sums, drawn, out=np.zeros(len(drawn)), where=drawn > 0), 12)
    return sorted(range(len(scores)), key=lambda model: (-scores[model], field.names[model])), scores


def pairs_of(field: Field, draws: Draws, order: Sequence[int]) -> list[Pair]:
    """Every two models, the one that comes first in the order before the other."""
    right = field.right[:, draws.places]
    wins, losses = right == 1, right == 0
    times, ratios = draws.times, draws.ratios
    counts = (wins * times) @ losses.T
    sums = (wins * times * ratios) @ losses.T
    squares = (wins * times * ratios**2) @ losses.T
    effective = effective_counts(sums, squares, sums.T, squares.T)
    is_known = (wins | losses).astype(np.float64)
    common = (is_known * times) @ is_known.T
    limit = len(order) * (len(order) - 1) / 2 / ALPHA
    pairs = []
    for first, second in combinations(order, 2):
        values = np.nan_to_num(right[first] - right[second]) * ratios
        is_plain = bool((ratios[values != 0] == 1).all())
        up, down = round(counts[first, second]), round(counts[second, first])
        e_value = differ_e_value(up, down) if is_plain else differ_mean_e_value(values, times)
        for_it, against = effective[first, second], effective[second, first]
        probability = probability_better(for_it, against)
        if_close = probability_better(for_it, against, CLOSE)
        n = round(common[first, second])
        pairs.append(Pair(first, second, up, down, probability, if_close, n, e_value, limit))
    return pairs


def shown_pairs(order: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs that have numbers of their own: all, or each model with the next and the first with every other."""
    if len(order) * (len(order) - 1) // 2 <= MOST_PAIRS:
        return [*combinations(order, 2)]
    return [*pairwise(order), *((order[0], other) for other in order[2:])]


# What is said


def put_in_order(field: Field) -> tuple[list[Measure], list[Finding]]:
    """Measures and findings: what each gets right, and how far the order is settled; in words only where it is not."""
    draws = draws_of(field.cases)
    order, scores = order_by(field, draws)
    places = {model: 1 + int((scores > scores[model]).sum()) for model in order}
    rows = [_accuracy(field, model, places[model]) for model in order]
    findings = [*_unlabelled(field), *_errors(field)]
    words = _no_order(field, draws)
    if words is not None:
        return rows, [words, *findings]
    pairs = pairs_of(field, draws, order)
    wanted = {*shown_pairs(order)}
    listed = [pair for pair in pairs if (pair.first, pair.second) in wanted]
    is_plain = bool((draws.inverse == 1).all())
    for pair in listed:
        rows += _pair_rows(field, pair, is_plain, float(scores[pair.first] - scores[pair.second]))
    return rows, [_verdict(field, pairs, order), *findings]


def _accuracy(field: Field, model: int, place: int) -> Measure:
    row = field.results[model].measures.where("accuracy")[0]
    facts = {**row.facts, "spec": field.specs[model], "place": place}
    groups = {"model": field.names[model]}
    return Measure(
        "accuracy",
        row.value,
        row.n,
        groups,
        row.interval,
        row.interval_method,
        row.na,
        row.errors,
        facts=facts,
    )


def _groups(field: Field, pair: Pair) -> dict[str, str]:
    return {"model": field.names[pair.first], "than": field.names[pair.second]}


def better_rows(field: Field, pair: Pair) -> list[Measure]:
    """Return the probability that the first of two models is better, under a uniform prior and if they are close."""
    close = Measure(STATED, pair.if_close, pair.n, _groups(field, pair), facts={"prior": CLOSE})
    return [_better(field, pair), close]


def _better(field: Field, pair: Pair) -> Measure:
    facts: dict[str, Any] = {
        "only first": pair.only_first,
        "only second": pair.only_second,
        "verdict": pair.verdict,
    }
    return Measure(
        "probability better", pair.probability, pair.n, _groups(field, pair), note=pair.verdict, facts=facts
    )


def _pair_rows(field: Field, pair: Pair, is_plain: bool, difference: float) -> list[Measure]:
    """How probable it is that the first is better, the evidence, by how much, and where the two differ at all."""
    groups = _groups(field, pair)
    rows = [
        *better_rows(field, pair),
        Measure("e value", pair.e_value, pair.n, groups, facts={"to reach": pair.limit}),
    ]
    between, how = None, ""
    if is_plain and pair.n > 1:
        sides = field.right[pair.first], field.right[pair.second]
        between, how = paired_difference_interval(paired_table(*sides)), "paired t"
    rows.append(Measure("difference", difference, pair.n, groups, between, how, facts={"of": "accuracy"}))
    apart, n = disagreement(field, pair.first, pair.second)
    if n:
        share = Measure("disagreement", apart / n, n, groups, wilson(apart, n), "wilson")
        rows.append(share)
    return rows


def disagreement(field: Field, first: int, second: int) -> tuple[int, int]:
    """On how many examples of the pool two models give different labels, and how many both answered."""
    both = [
        (mine, other)
        for case, mine, other in zip(
            field.cases, field.predictions[first], field.predictions[second], strict=True
        )
        if in_pool(case) and mine and other
    ]
    return sum(mine != other for mine, other in both), len(both)


# Findings


def _no_order(field: Field, draws: Draws) -> Finding | None:
    """Why the models cannot be put in order, if they cannot."""
    labels, models = int(draws.times.sum()), len(field.names)
    facts = {"labels": labels, "models": models}
    if not labels:
        text = "Not ordered: no example has a label yet. Label those that tell the models apart first."
        return Finding("no labels", text, weight=3.0, facts=facts)
    if labels < models:
        text = f"Not ordered: {labels} labelled examples for {models} models are too few. Label at least {models}."
        return Finding("too few", text, weight=3.0, facts=facts)
    right = np.nan_to_num(field.right[:, draws.places], nan=-1.0)
    if (right == right[0]).all():
        text = (
            f"Not ordered: all {models} models are right and wrong on the same of {labels} labelled examples. "
            "Nothing tells them apart; more labels help only where they disagree."
        )
        return Finding("alike", text, weight=3.0, facts=facts)
    return None


def _verdict(field: Field, pairs: Sequence[Pair], order: Sequence[int]) -> Finding:
    """Return which model is best, how sure that is, and about how many more labels decide it."""
    best = order[0]
    rivals = [pair for pair in pairs if pair.first == best]
    rows = tuple(_better(field, pair) for pair in rivals)
    still = [pair for pair in rivals if pair.verdict != DECIDED]
    open_names = [field.names[pair.second] for pair in still]
    facts = {"best": field.specs[best], "still open": open_names, "level": ALPHA}
    name, labels = field.names[best], max(pair.n for pair in rivals)
    groups = {"model": name}
    if not still:
        text = (
            f"{name} is best, decided from {_count(labels, 'label')}. Stop labelling: "
            f"at most {100 * ALPHA:.0f} % of such rankings are wrong."
        )
        return Finding("stop", text, rows, 3.0, groups, facts)
    closest = min(still, key=lambda pair: (pair.if_close, field.names[pair.second]))
    # Bonferroni: the chance that any rival is better is at most the sum of the chances.
    sure = 1 - math.fsum(1 - pair.if_close for pair in rivals)
    more = closest.more_labels
    facts |= {"probability best": max(0.0, sure), "more labels": more}
    least = "at least " if len(rivals) > 1 else ""
    if sure > LIKELY:
        text = f"{name} is best ({least}{_percent(sure)} sure from {_count(labels, 'label')}). "
    else:
        text = (
            f"No clear winner after {_count(labels, 'label')}: {name} leads "
            f"({_percent(closest.if_close)} sure that it beats {field.names[closest.second]}). "
        )
    wait = f"about {more:,} more labels" if more else "they are too close to say how many more labels decide"
    text += f"{_listed(open_names)} cannot be ruled out: {wait}.{_most_apart(field, closest)}"
    return Finding("go on", text, rows, 3.0, groups, facts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{shown(share, MEASURES['probability better'])} %"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {_count(len(names) - 1, 'other')}"


def _most_apart(field: Field, pair: Pair) -> str:
    """Return on how much of the pool two models disagree: they cannot differ by more than that."""
    apart, n = disagreement(field, pair.first, pair.second)
    return f" The closest two disagree on {apart:,} of {n:,} pool examples." if n else ""


def _unlabelled(field: Field) -> list[Finding]:
    """Examples that were drawn and skipped: which ones were is hardly a matter of chance."""
    skipped = int(field.results[0].job.get("about", {}).get("drawn, not labelled", 0)) if field.results else 0
    if not skipped:
        return []
    text = (
        f"Label them all: {skipped} of the examples that were drawn for labelling have no label. If those that are "
        "hard to label are left out, neither probabilities nor what is decided hold."
    )
    return [Finding("skipped", text, (), 2.8, facts={"examples": skipped})]


def _errors(field: Field) -> list[Finding]:
    findings = []
    for name, result in zip(field.names, field.results, strict=True):
        errors = sum(bool(outcome.error) for outcome in result.outcomes)
        if errors:
            text = f"{name} gave no answer to {errors:,} of {len(result.outcomes):,} examples; they count for nobody."
            findings.append(Finding("errors", text, (), 2.0, {"model": name}, {"errors": errors}))
    return findings

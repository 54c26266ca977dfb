"""Order models by their accuracy on the labelled examples (`docs/method/beyond.md` 7.16).

All models answer the same examples, so only examples that exactly one of two models gets right tell them apart. The
stated probability that a model is better assumes close models: Beta(30, 30) of those examples go to either. A uniform
prior is right for arbitrary models and overconfident for models a few points apart. `--json` has both.

The e-value answers a different question, when to stop labelling: it stays valid however often one looks.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from ...core.claims import ALPHA
from ...core.errors import DataError
from ...core.records import Case, Finding, Measure, Result
from ...stats.intervals import paired_difference_interval, wilson
from ...stats.ranking import differ_e_value, differ_mean_e_value, effective_counts, probability_better
from ...stats.resampling import paired_table
from . import wording
from .build import LABELLED, in_pool
from .score import PREDICTION

Floats = NDArray[np.float64]

CLOSE = 30.0
"""Parameter of the cautious prior Beta(30, 30), which fits models whose accuracies have an SD of 3 points."""
MOST_LABELS = 10_000
"""More labels than this are not promised to decide."""
DECIDED, PROBABLE, UNDECIDED = "decided", "probable", "undecided"
STATED = "probability better if close"
"""The measure whose value is printed."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """All models on the same examples."""

    names: list[str]
    cases: Sequence[Case]
    right: Floats  # (models, cases); NaN without a label or an answer
    predictions: Sequence[Sequence[str]]
    results: Sequence[Result]


@dataclass(frozen=True, slots=True)
class Draws:
    """The labelled examples as they were drawn; an example drawn in two rounds appears twice."""

    positions: NDArray[np.int64]
    ratios: Floats
    """The least probability in its round over its own: 1 for uniform draws."""
    inverse: Floats
    """1 over its probability relative to a uniform draw."""
    times: Floats


@dataclass(frozen=True, slots=True)
class Pair:
    """The evidence on two models."""

    first: int
    second: int
    only_first: int
    only_second: int
    probability: float
    """That the first is better, under a uniform prior."""
    if_close: float
    """The same under the cautious prior: the stated probability."""
    n: int
    e_value: float
    limit: float
    """The e-value that decides."""

    @property
    def verdict(self) -> str:
        """Return whether the first is better: undecided unless both priors agree that it is likely."""
        if not min(self.probability, self.if_close) > wording.LIKELY:
            return UNDECIDED
        return DECIDED if self.e_value >= self.limit else PROBABLE

    @property
    def more_labels(self) -> int | None:
        """Return about how many more labels decide, if the trend continues; None if too many."""
        ahead, apart = self.only_first + 1, self.only_first + self.only_second
        if not (self.n and apart) or self.only_first <= self.only_second:
            return None
        share, each = ahead / (apart + 2), apart / self.n
        for labels in range(1, MOST_LABELS):
            up = self.only_first + labels * each * share
            if differ_e_value(up, apart + labels * each - up) >= self.limit:
                return labels if labels < 10 else round(labels, -len(str(labels)) + 2)
        return None


def answer_table(results: Sequence[Result]) -> AnswerTable:
    """Return models and examples sorted by name, so that no number depends on the order of the input."""
    ordered = sorted(results, key=lambda result: (str(result.job["model"]), str(result.job["id"])))
    names = contenders(ordered)
    positions = [{case.id: place for place, case in enumerate(result.cases)} for result in ordered]
    for name, other in zip(names, positions, strict=True):
        differing = other.keys() ^ positions[0].keys()
        if differing:
            raise DataError(
                f"{names[0]} and {name} answered different examples",
                why=f"{len(differing):,} examples are in one result only, such as {min(differing)!r}",
                fix="use the same data for all models",
            )
    ids = sorted(positions[0])
    right = np.full((len(ordered), len(ids)), np.nan)
    predictions = []
    for row, (result, places) in enumerate(zip(ordered, positions, strict=True)):
        passed = [result.outcomes[places[name]].passed for name in ids]
        right[row] = [np.nan if outcome is None else float(outcome) for outcome in passed]
        predictions.append([result.columns[PREDICTION][places[name]] for name in ids])
    cases = [ordered[0].cases[positions[0][name]] for name in ids]
    return AnswerTable(names, cases, right, predictions, ordered)


def labelled_draws(cases: Sequence[Case]) -> Draws:
    """Return how the labelled examples were drawn."""
    rows = []
    for position, case in enumerate(cases):
        if case.groups["part"] == LABELLED:
            rows.append((position, 1.0, 1.0, 1.0))
        for chance, least, times in case.meta.get("draws", ()):
            rows.append((position, least / chance, 1 / chance, times))
    table = np.array(rows, np.float64).reshape(-1, 4)
    return Draws(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3])


# Order and pairs


def rank_models(table: AnswerTable, draws: Draws) -> tuple[list[int], Floats]:
    """Return the models best first, and their accuracies up to a constant that all share.

    Examples are weighted by the inverse of their probability of being drawn. Examples on which all models agree are
    never drawn by disagreement, and contribute the same to every model.
    """
    right = table.right[:, draws.positions]
    is_known = ~np.isnan(right)
    weights = draws.times * draws.inverse
    drawn = (is_known * draws.times).sum(axis=1)
    sums = (np.nan_to_num(right) * weights).sum(axis=1)
    scores = np.round(np.divide(sums, drawn, out=np.zeros(len(drawn)), where=drawn > 0), 12)
    return sorted(range(len(scores)), key=lambda model: (-scores[model], table.names[model])), scores


def model_pairs(table: AnswerTable, draws: Draws, order: Sequence[int]) -> list[Pair]:
    """Return every two models, the one that comes first in the order as the first."""
    right = table.right[:, draws.positions]
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
        is_uniform = bool((ratios[values != 0] == 1).all())
        up, down = round(counts[first, second]), round(counts[second, first])
        e_value = differ_e_value(up, down) if is_uniform else differ_mean_e_value(values, times)
        wins_for, against = effective[first, second], effective[second, first]
        probability = probability_better(wins_for, against)
        if_close = probability_better(wins_for, against, CLOSE)
        n = round(common[first, second])
        pairs.append(Pair(first, second, up, down, probability, if_close, n, e_value, limit))
    return pairs


def disagreement(table: AnswerTable, pair: Pair) -> tuple[int, int]:
    """Return on how many pool examples two models give different labels, and how many both answered."""
    columns = zip(table.cases, table.predictions[pair.first], table.predictions[pair.second], strict=True)
    both = [(mine, other) for case, mine, other in columns if in_pool(case) and mine and other]
    return sum(mine != other for mine, other in both), len(both)


# Measures


def order_models(table: AnswerTable) -> tuple[list[Measure], list[Finding]]:
    """Return the accuracy of each model, the evidence on each pair, and the verdict on the best model."""
    draws = labelled_draws(table.cases)
    order, scores = rank_models(table, draws)
    rows = [
        replace(
            table.results[model].measures.where("accuracy")[0],
            groups={"model": table.names[model]},
            facts={"place": 1 + int((scores > scores[model]).sum())},
        )
        for model in order
    ]
    findings = _warnings(table)
    reason = _not_ordered(table, draws)
    if reason is not None:
        return rows, [reason, *findings]
    pairs = model_pairs(table, draws, order)
    is_uniform = bool((draws.inverse == 1).all())
    for pair in pairs:
        rows += _pair_rows(table, pair, is_uniform, float(scores[pair.first] - scores[pair.second]))
    return rows, [_verdict(table, pairs, order[0]), *findings]


def _better(table: AnswerTable, pair: Pair) -> Measure:
    groups = {"model": table.names[pair.first], "than": table.names[pair.second]}
    facts = {"only first": pair.only_first, "only second": pair.only_second}
    return Measure("probability better", pair.probability, pair.n, groups, verdict=pair.verdict, facts=facts)


def _pair_rows(table: AnswerTable, pair: Pair, is_uniform: bool, difference: float) -> list[Measure]:
    """Return the probability that the first is better, the e-value, the difference and the disagreement."""
    better = _better(table, pair)
    groups = better.groups
    interval, method = None, ""
    if is_uniform and pair.n > 1:
        sides = table.right[pair.first], table.right[pair.second]
        interval, method = paired_difference_interval(paired_table(*sides)), "paired t"
    rows = [
        better,
        Measure(STATED, pair.if_close, pair.n, groups, facts={"prior": CLOSE}),
        Measure("e value", pair.e_value, pair.n, groups, facts={"to reach": pair.limit}),
        Measure("difference", difference, pair.n, groups, interval, method, of="accuracy"),
    ]
    apart, n = disagreement(table, pair)
    if n:
        rows.append(Measure("disagreement", apart / n, n, groups, wilson(apart, n), "wilson"))
    return rows


# Findings


def _not_ordered(table: AnswerTable, draws: Draws) -> Finding | None:
    """Return why the models cannot be ordered; None if they can."""
    labels, models = int(draws.times.sum()), len(table.names)
    right = np.nan_to_num(table.right[:, draws.positions], nan=-1.0)
    if not labels:
        kind = "no labels"
    elif labels < models:
        kind = "too few"
    elif (right == right[0]).all():
        kind = "alike"
    else:
        return None
    facts = {"labels": labels, "models": models}
    return Finding(kind, wording.NOT_ORDERED[kind].format(**facts), weight=3.0, facts=facts)


def _verdict(table: AnswerTable, pairs: Sequence[Pair], best: int) -> Finding:
    """Return which model is best, how sure that is, and about how many more labels decide it."""
    rivals = [pair for pair in pairs if pair.first == best]
    rows = tuple(_better(table, pair) for pair in rivals)
    undecided = [pair for pair in rivals if pair.verdict != DECIDED]
    names = [table.names[pair.second] for pair in undecided]
    facts = {"best": table.names[best], "still open": names, "level": ALPHA}
    name, labels = table.names[best], max(pair.n for pair in rivals)
    groups = {"model": name}
    if not undecided:
        return Finding("stop", wording.decided(name, labels), rows, 3.0, groups, facts)
    closest = min(undecided, key=lambda pair: (pair.if_close, table.names[pair.second]))
    # Bonferroni: the probability that any rival is better is at most the sum of the probabilities.
    sure = 1 - math.fsum(1 - pair.if_close for pair in rivals)
    more = closest.more_labels
    facts |= {"probability best": max(0.0, sure), "more labels": more}
    rival = table.names[closest.second], closest.if_close
    text = wording.leading(name, labels, sure, names, rival, more, is_bound=len(rivals) > 1)
    return Finding("go on", text, rows, 3.0, groups, facts)


def _warnings(table: AnswerTable) -> list[Finding]:
    """Return warnings of drawn examples without a label, which are hardly a random sample, and of missing answers."""
    findings = []
    about = table.results[0].job.get("about", {}) if table.results else {}
    skipped = int(about.get("drawn, not labelled", 0))
    if skipped:
        text = wording.SKIPPED_LABELS.format(skipped)
        findings.append(Finding("skipped", text, weight=2.8, facts={"examples": skipped}))
    for name, result in zip(table.names, table.results, strict=True):
        failed = sum(bool(outcome.error) for outcome in result.outcomes)
        if failed:
            text = wording.ERRORS.format(name, failed, len(result.outcomes))
            findings.append(Finding("errors", text, (), 2.0, {"model": name}, {"errors": failed}))
    return findings


# Names of models


def contenders(results: Sequence[Result]) -> list[str]:
    """Return a name for each result: its spec, the dose if it was trained, the seed if necessary."""
    specs = [str(result.job["model"]) for result in results]
    doses = [
        "" if result.settings.train is None else result.settings.train.doses[0].title for result in results
    ]
    short = short_names(list(dict.fromkeys(specs)))
    one_base = len(short) == 1 and all(doses)
    names = [
        dose if one_base else ", ".join(filter(None, (short[spec], dose)))
        for spec, dose in zip(specs, doses, strict=True)
    ]
    if len(set(names)) == len(names):
        return names
    return [f"{name}, seed {result.settings.seed}" for name, result in zip(names, results, strict=True)]


def short_names(specs: Sequence[str]) -> dict[str, str]:
    """Return a name for each spec: its file, folder or function, or an option in which all differ.

    >>> list(short_names(["predictions:a/x.csv", "predictions:a/y.csv"]).values())
    ['x', 'y']
    >>> list(short_names(["predictions:a.csv?label=pred-bert", "predictions:a.csv?label=pred-xlnet"]).values())
    ['bert', 'xlnet']
    """
    options = [dict(parse_qsl(spec.partition("?")[2])) for spec in specs]
    values = [[each.get(name, "") for each in options] for name in options[0]]
    candidates = [
        [_last(spec.partition("?")[0]) for spec in specs],
        *sorted(values, key=lambda row: len(row[0])),
    ]
    names = next((names for names in candidates if len(set(names)) == len(specs)), list(specs))
    words = [re.split("(?<=[-_.:/ ])", name) for name in names]
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    start = sum(1 for _ in alike) if len(names) > 1 else 0
    cut = ["".join(row[start:]) for row in words]
    has_letters = all(re.search(r"[^\W\d_]", name) for name in cut)
    return dict(zip(specs, cut if has_letters else names, strict=True))


def _last(spec: str) -> str:
    """Return the file, folder or function of a spec."""
    scheme, _, rest = spec.partition(":")
    last = re.split("[/:]", (rest or spec).rstrip("/"))[-1]
    return spec if scheme == "tiny" else Path(last).stem if scheme in ("predictions", "scores") else last

"""The study: how often a few examples order models as all of them do (`docs/method/ranking.md` 6.3 to 6.8).

Probe sets are drawn from the labelled examples, the same for all factors and models. Models of equal accuracy form no
pair. Every factor is reported in its declared direction, since a direction that is chosen afterwards makes every factor
look good.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError
from ...core.records import Finding, Measure, Measures
from ...stats.intervals import percentile_interval
from ...stats.ranking import (
    decided_pairs,
    few_shot_accuracy,
    order_of,
    over_models,
    probe_means,
    probe_sets,
    ties_of,
)
from . import wording
from .build import population_of
from .factors import Factor, parse_factors
from .order import AnswerTable
from .settings import Settings

Floats = NDArray[np.float64]

USUAL = 10
"""The paper's t: pairs are reported and factors tested against ACC at this size if it is among `probe_sizes`."""
BASELINE = "ACC"
RESAMPLES = 2_000
"""Bootstrap resamples of the population for the comparison with ACC."""


@dataclass(frozen=True, slots=True)
class Study:
    """Models, their accuracies, and the population that probe sets are drawn from."""

    settings: Settings
    table: AnswerTable
    truth: Floats
    positions: NDArray[np.int64]
    """The examples of the population."""

    @property
    def usual(self) -> int:
        """Return the size of probe set at which pairs are reported."""
        return USUAL if USUAL in self.sizes else self.sizes[0]

    @property
    def sizes(self) -> list[int]:
        """Return the sizes of probe set that the population allows."""
        return [size for size in self.settings.probe_sizes if size <= len(self.positions)]

    @property
    def pairs(self) -> int:
        """Return the number of pairs of models that differ in accuracy."""
        return len(decided_pairs(self.truth)[0])

    def rng(self, *purpose: int) -> np.random.Generator:
        """Return a generator for one purpose, independent of all others."""
        return np.random.default_rng([self.settings.seed, *purpose])

    def values(self, factor: Factor) -> Floats:
        """Return a factor by model and example, with the sign that makes high values better; NaN where missing."""
        rows = []
        for result in self.table.results:
            by_case = dict(zip((case.id for case in result.cases), result.columns[factor.name], strict=True))
            numbers = [by_case[self.table.cases[position].id] for position in self.positions]
            rows.append([np.nan if number is None else number for number in numbers])
        return np.array(rows, np.float64) * (-1 if factor.direction == "worse" else 1)


def study(settings: Settings, table: AnswerTable) -> tuple[list[Measure], list[Finding]]:
    """Return the few-shot accuracy of every factor by size of probe set, with tests."""
    positions = np.array(population_of(table.cases, settings.population), np.int64)
    if len(positions) < 2:
        return [], []
    rates = [result.measures.where("accuracy")[0].value for result in table.results]
    truth = np.array([np.nan if rate is None else rate for rate in rates], np.float64)
    whole = Study(settings, table, truth, positions)
    findings = _cautions(whole)
    if not whole.sizes or not whole.pairs:
        return [], findings
    factors = parse_factors(settings.factors, settings.explainers)
    known, missing = _known_values(whole, factors)
    findings += missing
    rows: list[Measure] = []
    for size in whole.sizes:
        probes = probe_sets(len(positions), size, settings.probe_sets, whole.rng(1, size))
        means = {name: probe_means(values, probes) for name, values in known.items()}
        rows += _at_size(whole, factors, means, size)
    return [*rows, *_against_baseline(whole, known)], findings


def _cautions(whole: Study) -> list[Finding]:
    """Return reasons for leaving out the study or parts of it."""
    examples = len(whole.positions)
    too_large = [size for size in whole.settings.probe_sizes if size > examples]
    findings = []
    if too_large:
        text = wording.PROBE_SETS_TOO_LARGE.format(", ".join(map(str, too_large)), examples)
        facts = {"left out": too_large, "examples": examples}
        findings.append(Finding("too few", text, weight=1.5, facts=facts))
    if whole.sizes and not whole.pairs:
        return [Finding("alike", wording.SAME_ACCURACY, weight=2.0), *findings]
    if whole.sizes and len(whole.table.names) < 3:
        findings.append(Finding("one pair", wording.ONE_PAIR, weight=1.0))
    return findings


def _known_values(whole: Study, factors: Sequence[Factor]) -> tuple[dict[str, Floats], list[Finding]]:
    """Return the values of the factors that every model has, and findings about the others."""
    known: dict[str, Floats] = {}
    missing: dict[tuple[str, ...], list[str]] = {}
    names = whole.table.names
    for factor in factors:
        if factor.direction:
            values = whole.values(factor)
            without = tuple(name for name, row in zip(names, values, strict=True) if np.isnan(row).all())
            if without:
                missing.setdefault(without, []).append(factor.name)
            else:
                known[factor.name] = values
    findings = []
    for models, absent in missing.items():
        text = wording.factors_not_applicable(absent, models)
        facts = {"factors": absent, "models": list(models)}
        findings.append(Finding("not applicable", text, weight=1.2, facts=facts))
    return known, findings


# One factor at one size


def _at_size(whole: Study, factors: Sequence[Factor], means: dict[str, Floats], size: int) -> list[Measure]:
    rows: list[Measure] = []
    for number, factor in enumerate(factors):
        groups = {"factor": factor.name, "probe size": str(size)}
        if factor.name in means:
            rows += _by_values(whole, factor, means[factor.name], groups)
        elif factor.expected is not None:
            expected = factor.expected(whole.truth.tolist())
            rows.append(Measure("few-shot accuracy", expected, whole.pairs, groups))
        elif factor.order is not None:
            sets = whole.settings.probe_sets
            order = factor.order(len(whole.truth), sets, whole.rng(2, size, number))
            rows.append(_few_shot(whole, order, groups, {"probe sets": sets}))
    return rows


def _by_values(whole: Study, factor: Factor, means: Floats, groups: dict[str, str]) -> list[Measure]:
    order, tied = order_of(means, whole.settings.ties), ties_of(means)
    better, worse = decided_pairs(whole.truth)
    ties = float(tied[better, worse].mean())
    population = len(whole.positions)
    facts = {"direction": factor.direction, "ties": ties, "probe sets": len(means), "population": population}
    rows = [_few_shot(whole, order, groups, facts)]
    if groups["probe size"] == str(whole.usual):
        # The paper's Table 4: how often each pair is ordered correctly, the better model first.
        for first, second in zip(better, worse, strict=True):
            models = whole.table.names[first], whole.table.names[second]
            pair_facts = {
                "direction": factor.direction,
                "explainer": factor.explainer,
                "models": models,
                "truth": (float(whole.truth[first]), float(whole.truth[second])),
                "ties": float(tied[first, second]),
            }
            pair, value = {**groups, "pair": " / ".join(models)}, float(order[first, second])
            rows.append(Measure("pairwise accuracy", value, len(means), pair, facts=pair_facts))
    return rows


def _few_shot(whole: Study, order: Floats, groups: dict[str, str], facts: Mapping[str, Any]) -> Measure:
    interval = over_models(order, whole.truth)
    method = "jackknife over models" if interval else ""
    value = few_shot_accuracy(order, whole.truth)
    return Measure("few-shot accuracy", value, whole.pairs, groups, interval, method, facts=facts)


# Factors against ACC


def _against_baseline(whole: Study, known: dict[str, Floats]) -> list[Measure]:
    """Return the difference of each factor from ACC, with a bootstrap over the examples."""
    others = [name for name in known if name != BASELINE]
    if BASELINE not in known or not others:
        return []
    settings, size = whole.settings, whole.usual
    tables = [known[name] for name in (BASELINE, *others)]

    def accuracies(probes: NDArray[np.int64]) -> Floats:
        orders = [order_of(probe_means(values, probes), settings.ties) for values in tables]
        return np.array([few_shot_accuracy(order, whole.truth) for order in orders])

    population, sets = len(whole.positions), settings.probe_sets
    observed = accuracies(probe_sets(population, size, sets, whole.rng(1, size)))
    rng, drawn = whole.rng(3, size), np.empty((RESAMPLES, len(tables)))
    for number in range(RESAMPLES):
        resampled = rng.integers(population, size=(population,), dtype=np.int64)
        drawn[number] = accuracies(resampled[probe_sets(population, size, sets, rng)])
    rows = []
    for number, name in enumerate(others, start=1):
        differences = drawn[:, number] - drawn[:, 0]
        p = (1 + int((differences <= 0).sum())) / (1 + RESAMPLES)
        groups = {"factor": name, "probe size": str(size), "against": BASELINE}
        rows += [
            Measure("difference", float(observed[number] - observed[0]), whole.pairs, groups,
                    percentile_interval(differences), "examples drawn again", of="few-shot accuracy",
                    facts={"resamples": RESAMPLES}),
            Measure("p value", p, RESAMPLES, {**groups, "test": "better than ACC"}),
        ]  # fmt: skip
    return rows


# Several data sets


def pool(
    studies: Mapping[str, Sequence[Measure]], own: Mapping[str, str], size: int = USUAL
) -> list[Measure]:
    """Return each factor's few-shot accuracy over the pairs of models of all data sets (the paper's Table 3).

    Factors that some data set lacks are left out. SET-DEPENDENT pools the factors that `own` names by data set.
    """
    tables: dict[str, dict[str, Measure]] = {}
    for name, rows in studies.items():
        accuracies = Measures(rows).where("few-shot accuracy", probe_size=str(size))
        tables[name] = {row.groups["factor"]: row for row in accuracies}
        if own.get(name) not in tables[name]:
            raise DataError(
                f"{name}: no few-shot accuracy of {own.get(name)!r} at t = {size}",
                why=f"its factors are {', '.join(tables[name]) or 'none'}",
                fix=f"own = {{{name!r}: one of them}}",
            )
    shared = [
        factor for factor in next(iter(tables.values())) if all(factor in rows for rows in tables.values())
    ]
    chosen = {factor: [rows[factor] for rows in tables.values()] for factor in shared}
    chosen["SET-DEPENDENT"] = [rows[own[name]] for name, rows in tables.items()]
    pooled = []
    for factor, rows in chosen.items():
        pairs = sum(row.n for row in rows)
        value = sum((row.value or 0.0) * row.n for row in rows) / pairs
        groups = {"factor": factor, "probe size": str(size), "data": ", ".join(studies)}
        pooled.append(Measure("few-shot accuracy", value, pairs, groups))
    return pooled

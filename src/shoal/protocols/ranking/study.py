"""The study: how often a few examples order models as all of them do (`docs/method/ranking.md` 6.3 to 6.8).

Probe sets are drawn from the labelled examples, the same for all factors and models. Models of equal accuracy form no
pair. Every factor is reported in its declared direction; next to it stands the better direction, which is chosen
afterwards and does not generalise to other models.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import PlanError, nearest
from ...core.records import Finding, Measure
from ...stats.intervals import percentile_interval
from ...stats.ranking import (
    accuracy_by_set,
    combined_order,
    decided_pairs,
    exchange_p,
    few_shot_accuracy,
    independent_draws,
    order_of,
    over_models,
    probe_means,
    probe_sets,
    resampled_accuracies,
    ties_of,
)
from . import wording
from .build import population_of
from .factors import Factor, parse_factors
from .order import AnswerTable
from .settings import Settings, known_accuracies

Floats = NDArray[np.float64]

LEAST_COMBINED = 4
"""Models needed to combine factors: two models are compared by weights learnt from two others."""
USUAL = 10
"""The paper's t: pairs are reported and factors tested against ACC at this size if it is among `probe_sizes`."""
BASELINE = "ACC"
WORK = 400_000_000
"""Upper bound on pairs × probe sets × resamples."""
FEWEST_RESAMPLES = 100


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
    whole = Study(settings, table, _truth(settings, table), positions)
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
        rows += _on_these_examples(whole, means, size)
        rows += _combined(whole, means, size)
    if settings.combine and not any(row.groups["factor"].startswith(f"{BASELINE} + ") for row in rows):
        models = len(table.names)
        text = wording.not_combined(models, LEAST_COMBINED)
        findings.append(Finding("not combined", text, weight=1.2, facts={"models": models}))
    return [*rows, *_against_baseline(whole, known)], findings


def _truth(settings: Settings, table: AnswerTable) -> Floats:
    """Return the accuracy of each model, from the settings or as measured here."""
    known = known_accuracies(settings)
    if not known:
        rates = [result.measures.where("accuracy")[0].value for result in table.results]
        return np.array([np.nan if rate is None else rate for rate in rates], np.float64)
    missing = [spec for spec in table.specs if spec not in known]
    if missing:
        raise PlanError(
            f"accuracies: none for {missing[0]!r}",
            why="every model needs one if any has one",
            fix=nearest(missing[0], known) or f'accuracies = ["{missing[0]}=0.9", …]',
        )
    return np.array([known[spec] for spec in table.specs], np.float64)


def _cautions(whole: Study) -> list[Finding]:
    """Return reasons for leaving out the study or parts of it."""
    examples = len(whole.positions)
    too_large = [size for size in whole.settings.probe_sizes if size > examples]
    findings = []
    if too_large:
        text = wording.probe_sets_too_large(too_large, examples)
        facts = {"left out": too_large, "examples": examples}
        findings.append(Finding("too few", text, weight=1.5, facts=facts))
    if whole.sizes and not whole.pairs:
        return [Finding("alike", wording.same_accuracy(), weight=2.0), *findings]
    if whole.sizes and len(whole.table.names) < 3:
        findings.append(Finding("one pair", wording.one_pair(), weight=1.0))
    return findings


def _known_values(whole: Study, factors: Sequence[Factor]) -> tuple[dict[str, Floats], list[Finding]]:
    """Return the values of the factors that every model has, and findings about the others."""
    known: dict[str, Floats] = {}
    missing: dict[tuple[str, ...], list[str]] = {}
    names = whole.table.names
    for factor in factors:
        if factor.has_values:
            values = whole.values(factor)
            without = tuple(name for name, row in zip(names, values, strict=True) if np.isnan(row).all())
            if without:
                missing.setdefault(without, []).append(factor.name)
            else:
                known[factor.name] = values
    findings = []
    for models, absent in missing.items():
        text = wording.factors_not_applicable(absent, models, len(names))
        facts = {"factors": absent, "models": list(models)}
        findings.append(Finding("not applicable", text, weight=1.2, facts=facts))
    return known, findings


# One factor at one size


def _at_size(whole: Study, factors: Sequence[Factor], means: dict[str, Floats], size: int) -> list[Measure]:
    rows: list[Measure] = []
    for number, factor in enumerate(factors):
        groups = {"factor": factor.name, "probe size": str(size)}
        rng = whole.rng(2, size, number)
        if factor.name in means:
            rows += _by_values(whole, factor, means[factor.name], groups, rng)
        elif factor.expected is not None:
            expected = factor.expected(whole.truth.tolist())
            rows.append(Measure("few-shot accuracy", expected, whole.pairs, groups))
        elif factor.order is not None:
            sets = whole.settings.probe_sets
            order = factor.order(len(whole.truth), sets, rng)
            rows.append(_few_shot(whole, order, groups, {"probe sets": sets}))
    return rows


def _by_values(
    whole: Study, factor: Factor, means: Floats, groups: dict[str, str], rng: np.random.Generator
) -> list[Measure]:
    order = order_of(means, whole.settings.ties, rng)
    ties = ties_of(means)
    better, worse = decided_pairs(whole.truth)
    size = int(groups["probe size"])
    facts: dict[str, Any] = {
        "direction": factor.direction,
        "ties": float(ties[better, worse].mean()),
        "probe sets": len(means),
        "population": len(whole.positions),
    }
    if factor.name == BASELINE:
        facts["independent draws"] = _independent(whole.truth, size)
    rows = [_few_shot(whole, order, groups, facts), *_chance_tests(whole, order, groups, rng)]
    if size == whole.usual:
        rows += _pairs(whole, order, ties, groups, factor, len(means))
    return rows


def _few_shot(whole: Study, order: Floats, groups: dict[str, str], facts: dict[str, Any]) -> Measure:
    interval = over_models(order, whole.truth)
    method = "jackknife over models" if interval else ""
    accuracy = few_shot_accuracy(order, whole.truth)
    return Measure("few-shot accuracy", accuracy, whole.pairs, groups, interval, method, facts=facts)


def _independent(truth: Floats, size: int) -> float:
    """Return the accuracy of ACC if models were right or wrong independently of each other, ties one half."""
    better, worse = decided_pairs(truth)
    above, equal = independent_draws(truth[better], truth[worse], size)
    return float((above + equal / 2).mean())


def _chance_tests(
    whole: Study, order: Floats, groups: dict[str, str], rng: np.random.Generator
) -> list[Measure]:
    """Return the accuracy in the better direction, and permutation tests over models."""
    accuracy = few_shot_accuracy(order, whole.truth)
    facts = {"chosen": "after the fact", "turned": accuracy < 0.5}
    rows = [
        Measure("accuracy in the better direction", max(accuracy, 1 - accuracy), whole.pairs, groups,
                note="direction chosen afterwards", facts=facts),
    ]  # fmt: skip
    for test, either in (("models exchanged", False), ("models exchanged, direction chosen", True)):
        p = exchange_p(order, whole.truth, rng, either=either)
        rows.append(Measure("p value", p, len(order), {**groups, "test": test}))
    return rows


def _pairs(
    whole: Study, order: Floats, ties: Floats, groups: dict[str, str], factor: Factor, sets: int
) -> list[Measure]:
    """Return how often each pair is ordered correctly, the better model first (the paper's Table 4)."""
    rows = []
    names = whole.table.names
    for first, second in zip(*decided_pairs(whole.truth), strict=True):
        facts = {
            "direction": factor.direction,
            "explainer": factor.explainer,
            "models": [names[first], names[second]],
            "truth": [float(whole.truth[first]), float(whole.truth[second])],
            "ties": float(ties[first, second]),
        }
        pair = {**groups, "pair": f"{names[first]} / {names[second]}"}
        rows.append(Measure("pairwise accuracy", float(order[first, second]), sets, pair, facts=facts))
    return rows


# Factors combined with ACC


def _combined(whole: Study, means: dict[str, Floats], size: int) -> list[Measure]:
    """Return the accuracy of each factor combined with ACC, and its gain over ACC alone."""
    rows: list[Measure] = []
    for number, name in enumerate(combined_names(whole.settings, means)):
        tables = [means[BASELINE], means[name]]
        fitted = combined_order(tables, whole.truth, whole.rng(4, size, number))
        if fitted is None:
            continue
        order, weights = fitted
        groups = {"factor": f"{BASELINE} + {name}", "probe size": str(size)}
        facts = {
            "direction": "learned",
            "weights": {BASELINE: float(weights[:, 0].mean()), name: float(weights[:, 1].mean())},
        }
        gain = order - order_of(tables[0])
        rows += [
            _few_shot(whole, order, groups, facts),
            Measure("difference", few_shot_accuracy(gain, whole.truth), whole.pairs,
                    {**groups, "against": BASELINE}, over_models(gain, whole.truth, ends=(-1.0, 1.0)),
                    "jackknife over models", of="few-shot accuracy"),
        ]  # fmt: skip
    return rows


def combined_names(settings: Settings, known: Iterable[str]) -> list[str]:
    """Return the known factors, of every explainer, that the settings combine with ACC."""
    names = list(known)
    if settings.combine and BASELINE not in names:
        raise PlanError("combine needs the factor ACC", fix='factors = ["ACC", "CONF"]')
    listed = [written.partition("=")[0] for written in settings.factors]
    for name in settings.combine:
        if name not in listed or name == BASELINE:
            raise PlanError(
                f"combine: {name!r} is not a factor besides ACC",
                why=f"factors: {', '.join(listed)}",
                fix=nearest(name, listed) or f'factors = ["ACC", "{name}"]',
            )
    return [name for name in names if name != BASELINE and name.partition(" (")[0] in settings.combine]


# Factors against ACC


def _on_these_examples(whole: Study, means: dict[str, Floats], size: int) -> list[Measure]:
    """Return one-sided p values over probe sets, which hold for these examples only."""
    if BASELINE not in means:
        return []
    ties = whole.settings.ties
    baseline = accuracy_by_set(means[BASELINE], whole.truth, ties)
    rows = []
    for name, of_factor in means.items():
        if name != BASELINE:
            differences = accuracy_by_set(of_factor, whole.truth, ties) - baseline
            p = (1 + int((differences <= 0).sum())) / (1 + len(differences))
            groups = {"factor": name, "probe size": str(size), "test": "probe sets only"}
            rows.append(Measure("p value", p, len(differences), groups, note="these examples only"))
    return rows


def _against_baseline(whole: Study, known: dict[str, Floats]) -> list[Measure]:
    """Return the difference of each factor from ACC, with a bootstrap over the examples."""
    others = [name for name in known if name != BASELINE]
    if BASELINE not in known or not others:
        return []
    settings, size = whole.settings, whole.usual
    pairs = len(whole.truth) * (len(whole.truth) - 1) // 2
    resamples = min(settings.resamples, max(FEWEST_RESAMPLES, WORK // (pairs * settings.probe_sets)))
    tables = [known[name] for name in (BASELINE, *others)]
    drawn = resampled_accuracies(
        tables, whole.truth, size, settings.probe_sets, resamples, whole.rng(3, size), settings.ties
    )
    probes = probe_sets(len(whole.positions), size, settings.probe_sets, whole.rng(1, size))
    observed = [
        accuracy_by_set(probe_means(values, probes), whole.truth, settings.ties).mean() for values in tables
    ]
    rows = []
    for number, name in enumerate(others, start=1):
        differences = drawn[:, number] - drawn[:, 0]
        upper = (1 + int((differences <= 0).sum())) / (1 + resamples)
        lower = (1 + int((differences >= 0).sum())) / (1 + resamples)
        groups = {"factor": name, "probe size": str(size), "against": BASELINE}
        rows += [
            Measure("difference", float(observed[number] - observed[0]), whole.pairs, groups,
                    percentile_interval(differences), "examples drawn again", of="few-shot accuracy",
                    facts={"resamples": resamples}),
            Measure("p value", upper, resamples, {**groups, "test": "better than ACC"}),
            Measure("p value", min(1.0, 2 * min(upper, lower)), resamples, {**groups, "test": "other than ACC"}),
        ]  # fmt: skip
    return rows

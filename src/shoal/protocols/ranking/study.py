"""How often a few examples order models as all of them do: the study itself (`docs/method/ranking.md` 6.3 to 6.8).

Probe sets are drawn from the labelled examples, the same for all factors and models. A pair of models that get the same
share right is no pair. Every factor is reported in the direction it was declared in, and beside it in the better one,
which is chosen after the fact and says nothing about the next set of models.
"""

from collections.abc import Callable, Iterable, Sequence
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
    rank_correlations,
    resampled_accuracies,
    ties_of,
)
from .build import population_of
from .factors import Factor, factors_of
from .order import Field
from .settings import Settings, given_accuracies

Floats = NDArray[np.float64]

WANTING = {"CONF": "labels without probabilities", "CONF-GT": "no probability of every label"}
"""What models give that a factor cannot be computed from."""
LEAST_COMBINED = 4
"""Two models are compared by what was learned from two others."""
USUAL = 10
"""The paper's t: pairs are reported, and factors compared with ACC, at this size if it is among those asked for."""
BASELINE = "ACC"
WORK = 400_000_000
"""Pairs on probe sets that are looked at over all resamples, at the most."""
FEWEST_RESAMPLES = 100


@dataclass(frozen=True, slots=True)
class Study:
    """What all of its numbers rest on."""

    settings: Settings
    field: Field
    truth: Floats
    places: NDArray[np.int64]
    """The population: which of the examples probe sets are drawn from."""

    @property
    def usual(self) -> int:
        """The size of probe set that is looked at most closely."""
        sizes = self.sizes
        return USUAL if USUAL in sizes else sizes[0]

    @property
    def sizes(self) -> list[int]:
        """The sizes for which there are examples enough."""
        return [size for size in self.settings.probe_sizes if size <= len(self.places)]

    def rng(self, *more: int) -> np.random.Generator:
        """Random numbers for one purpose, whatever was drawn for others."""
        return np.random.default_rng([self.settings.seed, *more])

    def values(self, factor: Factor) -> Floats:
        """A factor by model and example of the population, turned so that high is better; NaN where there is none."""
        rows = []
        for result in self.field.results:
            by_case = dict(zip((case.id for case in result.cases), result.columns[factor.name], strict=True))
            numbers = [by_case[self.field.cases[place].id] for place in self.places]
            rows.append([np.nan if number is None else number for number in numbers])
        return np.array(rows, np.float64) * (-1 if factor.direction == "worse" else 1)


def study(settings: Settings, field: Field) -> tuple[list[Measure], list[Finding]]:
    """Few-shot accuracy of every factor, by size of probe set, and what it is worth."""
    whole = _study(settings, field)
    if whole is None:
        return [], []
    findings = _cautions(whole)
    if not _is_possible(whole):
        return [], findings
    factors = factors_of(settings.factors, settings.explainers)
    rows: list[Measure] = []
    known: dict[str, Floats] = {}
    missing: dict[tuple[str, ...], list[str]] = {}
    for factor in factors:
        if factor.has_values:
            values = whole.values(factor)
            without = [name for name, row in zip(field.names, values, strict=True) if np.isnan(row).all()]
            if without:
                missing.setdefault(tuple(without), []).append(factor.name)
                continue
            known[factor.name] = values
    findings += [_missing(names, without, len(field.names)) for without, names in missing.items()]
    for size in whole.sizes:
        probes = probe_sets(len(whole.places), size, settings.probe_sets, whole.rng(1, size))
        means = {name: probe_means(values, probes) for name, values in known.items()}
        rows += _at_size(whole, factors, means, size)
        rows += _on_these_examples(whole, means, size)
        rows += _combined(whole, means, size)
    if settings.combine and not any(row.groups["factor"].startswith(f"{BASELINE} + ") for row in rows):
        findings.append(_not_combined(len(field.names)))
    return [*rows, *_against_baseline(whole, known)], findings


def drawn_study(
    whole: Study, factors: Iterable[Factor], draw: Callable[[int, np.random.Generator], Floats]
) -> tuple[list[Measure], list[Finding]]:
    """The same where there are no answers to draw from: `draw` gives what models get right of probe sets of a size."""
    findings = _cautions(whole)
    if not _is_possible(whole):
        return [], findings
    rows: list[Measure] = []
    for size in whole.sizes:
        rows += _at_size(whole, list(factors), {BASELINE: draw(size, whole.rng(1, size))}, size)
    return rows, findings


def _at_size(whole: Study, factors: Sequence[Factor], means: dict[str, Floats], size: int) -> list[Measure]:
    rows: list[Measure] = []
    for number, factor in enumerate(factors):
        groups = {"factor": factor.name, "probe size": str(size)}
        if factor.name in means:
            rows += _by_values(whole, factor, means[factor.name], groups, whole.rng(2, size, number))
        elif not factor.has_values:
            rows += _without_values(whole, factor, groups, whole.rng(2, size, number))
    return rows


def _is_possible(whole: Study) -> bool:
    return bool(whole.sizes) and bool(len(decided_pairs(whole.truth)[0]))


def _cautions(whole: Study) -> list[Finding]:
    """Why nothing is studied, or less than was asked for."""
    findings = _too_few(whole)
    if whole.sizes and not len(decided_pairs(whole.truth)[0]):
        text = "All models get the same share right: there is no pair to be ordered."
        return [Finding("alike", text, weight=2.0), *findings]
    if whole.sizes and len(whole.field.names) < 3:
        text = "Two models are one pair: how well a factor orders models in general, one pair does not tell."
        findings.append(Finding("one pair", text, weight=1.0))
    return findings


def _study(settings: Settings, field: Field) -> Study | None:
    places = np.array(population_of(field.cases, settings.population), np.int64)
    return Study(settings, field, _truth(settings, field), places) if len(places) > 1 else None


def _truth(settings: Settings, field: Field) -> Floats:
    """What each model gets right of everything: as the settings say, or as it does here."""
    given = given_accuracies(settings)
    if not given:
        rates = [result.measures.where("accuracy")[0].value for result in field.results]
        return np.array([np.nan if rate is None else rate for rate in rates], np.float64)
    missing = [spec for spec in field.specs if spec not in given]
    if missing:
        raise PlanError(
            f"accuracies: none for {missing[0]!r}",
            why="where some are given, every model needs one",
            fix=nearest(missing[0], given) or f'accuracies = ["{missing[0]}=0.9", …]',
        )
    return np.array([given[spec] for spec in field.specs], np.float64)


def _too_few(whole: Study) -> list[Finding]:
    left_out = [size for size in whole.settings.probe_sizes if size > len(whole.places)]
    if not left_out:
        return []
    text = (
        f"Not drawn: probe sets of {', '.join(map(str, left_out))} from {len(whole.places)} labelled examples. "
        "Label more, or ask for smaller ones: probe_sizes = [5]."
    )
    return [Finding("too few", text, weight=1.5, facts={"left out": left_out, "examples": len(whole.places)})]


def _missing(factors: Sequence[str], without: Sequence[str], models: int) -> Finding:
    """Factors that some models have no values of, such as confidence where there are only labels."""
    are = "is" if len(factors) == 1 else "are"
    if len(without) == 1:
        who = f"{without[0]} gives"
    elif len(without) == models:
        who = "the models give"
    else:
        who = f"{without[0]} and {len(without) - 1} more give"
    what = WANTING.get(factors[0], "no such number")
    text = f"{' and '.join(factors)} {are} not applicable: {who} {what}."
    return Finding(
        "not applicable", text, weight=1.2, facts={"factors": list(factors), "models": list(without)}
    )


# One factor at one size


def _by_values(
    whole: Study, factor: Factor, means: Floats, groups: dict[str, str], rng: np.random.Generator
) -> list[Measure]:
    order = order_of(means, whole.settings.ties, rng)
    ties = ties_of(means)
    better, worse = decided_pairs(whole.truth)
    facts: dict[str, Any] = {
        "direction": factor.direction,
        "ties": float(ties[better, worse].mean()),
        "probe sets": len(means),
        "population": len(whole.places),
    }
    size = int(groups["probe size"])
    if factor.name == BASELINE:
        facts["independent draws"] = _independent(whole.truth, size)
    rows = [_few_shot(whole, order, groups, facts), *_worth(whole, order, means, groups, rng)]
    if size == whole.usual:
        rows += _pairs(whole, order, ties, groups, factor, len(means))
    return rows


def _few_shot(whole: Study, order: Floats, groups: dict[str, str], facts: dict[str, Any]) -> Measure:
    between = over_models(order, whole.truth)
    how = "jackknife over models" if between else ""
    pairs = len(decided_pairs(whole.truth)[0])
    accuracy = few_shot_accuracy(order, whole.truth)
    return Measure("few-shot accuracy", accuracy, pairs, groups, between, how, facts=facts)


def _independent(truth: Floats, size: int) -> float:
    """What ACC would come to if models were right or wrong independently of each other, ties one half."""
    better, worse = decided_pairs(truth)
    above, equal = independent_draws(truth[better], truth[worse], size)
    return float((above + equal / 2).mean())


def _worth(
    whole: Study, order: Floats, means: Floats, groups: dict[str, str], rng: np.random.Generator
) -> list[Measure]:
    """The other direction, the rank correlation, and how often exchanged models would do as well."""
    accuracy = few_shot_accuracy(order, whole.truth)
    pairs = len(decided_pairs(whole.truth)[0])
    taus = rank_correlations(means, whole.truth)
    after = {"chosen": "after the fact", "turned": accuracy < 0.5}
    rows = [
        Measure("accuracy in the better direction", max(accuracy, 1 - accuracy), pairs, groups,
                note="direction chosen after the fact", facts=after),
        Measure("Kendall tau", float(taus.mean()), len(taus), groups,
                percentile_interval(taus), "percentile over probe sets"),
    ]  # fmt: skip
    models = len(order)
    for test, either in (("models exchanged", False), ("models exchanged, direction chosen", True)):
        p = exchange_p(order, whole.truth, rng, either=either)
        rows.append(Measure("p value", p, models, {**groups, "test": test}))
    return rows


def _pairs(
    whole: Study, order: Floats, ties: Floats, groups: dict[str, str], factor: Factor, sets: int
) -> list[Measure]:
    """How often each pair comes out right, the better model first (the paper's Table 4)."""
    rows = []
    names = whole.field.names
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


def _without_values(
    whole: Study, factor: Factor, groups: dict[str, str], rng: np.random.Generator
) -> list[Measure]:
    """Chance, and guessing: what factors are to be better than."""
    sets, pairs = whole.settings.probe_sets, len(decided_pairs(whole.truth)[0])
    module: Any = factor.module
    if hasattr(module, "expected"):
        return [Measure("few-shot accuracy", module.expected(whole.truth), pairs, groups)]
    order = module.order(len(whole.truth), sets, rng)
    return [_few_shot(whole, order, groups, {"probe sets": sets})]


# Factors with ACC


def _combined(whole: Study, means: dict[str, Floats], size: int) -> list[Measure]:
    """Each factor that is to be put together with ACC: what both come to, and how much that is more than ACC alone."""
    rows: list[Measure] = []
    for number, name in enumerate(combined_names(whole.settings, means)):
        tables = [means[BASELINE], means[name]]
        fitted = combined_order(tables, whole.truth, whole.rng(4, size, number))
        if fitted is None:
            continue
        order, weights = fitted
        groups = {"factor": f"{BASELINE} + {name}", "probe size": str(size)}
        pairs = len(decided_pairs(whole.truth)[0])
        facts = {
            "direction": "learned",
            "weights": {BASELINE: float(weights[:, 0].mean()), name: float(weights[:, 1].mean())},
            "trained": "without both models of a pair",
        }
        gain = order - order_of(tables[0])
        rows += [
            _few_shot(whole, order, groups, facts),
            Measure("difference", few_shot_accuracy(gain, whole.truth), pairs, {**groups, "against": BASELINE},
                    over_models(gain, whole.truth, ends=(-1.0, 1.0)), "jackknife over models",
                    facts={"of": "few-shot accuracy"}),
        ]  # fmt: skip
    return rows


def combined_names(settings: Settings, known: Iterable[str]) -> list[str]:
    """The factors that settings want to be put together with ACC, of every explainer; those that are known."""
    names = list(known)
    if settings.combine and BASELINE not in names:
        raise PlanError(
            "combine: there is no ACC to put factors together with", fix='factors = ["ACC", "CONF"]'
        )
    chosen = [name for name in names if name != BASELINE and name.partition(" (")[0] in settings.combine]
    listed = [written.partition("=")[0] for written in settings.factors]
    for name in settings.combine:
        if name not in listed or name == BASELINE:
            raise PlanError(
                f"combine: {name!r} is no factor beside ACC",
                why=f"factors: {', '.join(listed)}",
                fix=nearest(name, listed) or f'factors = ["ACC", "{name}"]',
            )
    return chosen


def _not_combined(models: int) -> Finding:
    text = (
        f"Not combined: how to weigh a factor beside ACC is learned from pairs of other models; {models} models leave "
        f"none. It takes {LEAST_COMBINED}."
    )
    return Finding("not combined", text, weight=1.2, facts={"models": models})


# Factors against ACC


def _on_these_examples(whole: Study, means: dict[str, Floats], size: int) -> list[Measure]:
    """One-sided p over the probe sets alone: for these models and these examples, and no others."""
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
    """Each factor less ACC, populations being drawn again: are both as good on other examples like these?"""
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
    probes = probe_sets(len(whole.places), size, settings.probe_sets, whole.rng(1, size))
    seen = [
        accuracy_by_set(probe_means(values, probes), whole.truth, settings.ties).mean() for values in tables
    ]
    rows = []
    for number, name in enumerate(others, start=1):
        differences = drawn[:, number] - drawn[:, 0]
        upper = (1 + int((differences <= 0).sum())) / (1 + resamples)
        lower = (1 + int((differences >= 0).sum())) / (1 + resamples)
        groups = {"factor": name, "probe size": str(size), "against": BASELINE}
        rows += [
            Measure("difference", float(seen[number] - seen[0]), len(decided_pairs(whole.truth)[0]), groups,
                    percentile_interval(differences), "examples drawn again",
                    facts={"of": "few-shot accuracy", "resamples": resamples}),
            Measure("p value", upper, resamples, {**groups, "test": "better than ACC"}),
            Measure("p value", min(1.0, 2 * min(upper, lower)), resamples, {**groups, "test": "other than ACC"}),
        ]  # fmt: skip
    return rows

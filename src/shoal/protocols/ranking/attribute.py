"""Answers with attributions, for factors that need them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.measures import quantity, shown
from ...core.records import Answer, Example, Finding, Measure, Result
from ...explaining import explain
from ...explaining.attributions import Attribution, ExplainConfig, as_data, completeness_gap, from_data
from ...models.asking import answer_batch
from ...models.hf import HFModel
from ...models.interface import HasTokens
from ..base import Built
from . import wording
from .build import LABELLED, population_of
from .settings import Settings

GAP = "completeness gap"
LARGEST_GAP = 0.05


def explain_batch(
    settings: Settings, model: object, built: Built, examples: Sequence[Example]
) -> list[Answer]:
    """Return the answer to each example, with attributions for the population and the unlabelled."""
    wanted = _explained(settings, built)
    others = [example for example in examples if example not in wanted]
    rows = iter(_explain(settings, model, built, [example for example in examples if example in wanted]))
    plain = iter(answer_batch(model, built, others) if others else ())
    return [next(rows if example in wanted else plain) for example in examples]


def _explained(settings: Settings, built: Built) -> set[Example]:
    """Return the examples to explain: the population, and everything without a label."""
    labelled = {position for position, case in enumerate(built.cases) if case.groups["part"] == LABELLED}
    left_out = labelled.difference(population_of(built.cases, settings.population))
    return {case.examples[0] for position, case in enumerate(built.cases) if position not in left_out}


def _explain(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Return answers with attributions; an example that exceeds the model's length is an error."""
    excess = [0] * len(examples)
    if isinstance(model, HasTokens):
        excess = [length - model.longest for length in model.lengths(examples)]
    whole = [example for example, tokens in zip(examples, excess, strict=True) if tokens <= 0]
    config = ExplainConfig(
        specials=isinstance(model, HFModel),
        merged={name: label for label, names in (settings.classes or {}).items() for name in names},
        seed=settings.seed,
    )
    by_explainer = {
        name: iter(explain(model, whole, name, replace(config, samples=samples), labels=built.labels))
        for name, samples in ((name, (settings.samples or {}).get(name)) for name in settings.explainers)
    }
    return [
        Answer("", "attribution", None, wording.too_long(tokens))
        if tokens > 0
        else _answer({name: next(rows) for name, rows in by_explainer.items()})
        for tokens in excess
    ]


def _answer(explained: dict[str, Attribution]) -> Answer:
    probabilities = dict(next(iter(explained.values())).probabilities)
    data = {
        "label": max(probabilities, key=probabilities.__getitem__),
        "probabilities": probabilities,
        "attributions": {name: as_data(row) for name, row in explained.items()},
    }
    return Answer("", "attribution", data)


def read_attributions(rows: Sequence[Answer], explainer: str) -> list[Attribution | None]:
    """Return the attributions of one explainer; None where there are none."""
    data = [None if row.error else row.data.get("attributions", {}).get(explainer) for row in rows]
    return [None if row is None else from_data(row) for row in data]


# Whether they add up


def mean_gap(explainer: str, rows: Sequence[Attribution | None]) -> list[Measure]:
    """Return the mean completeness gap of a model; nothing for LIME, whose values need not add up."""
    gaps = [completeness_gap(row) for row in rows if row is not None]
    known = [gap for gap in gaps if gap is not None]
    return [Measure(GAP, float(np.mean(known)), len(known), {"explainer": explainer})] if known else []


def completeness_gaps(names: Sequence[str], results: Sequence[Result]) -> tuple[list[Measure], list[Finding]]:
    """Return the gap of each model, with a warning where it is large."""
    rows = [
        replace(row, groups={"model": name, **row.groups})
        for name, result in zip(names, results, strict=True)
        for row in result.measures.where(GAP)
    ]
    findings = []
    for explainer in dict.fromkeys(row.groups["explainer"] for row in rows):
        large = [
            row for row in rows if row.groups["explainer"] == explainer and (row.value or 0.0) > LARGEST_GAP
        ]
        if large:
            worst = max(large, key=lambda row: row.value or 0.0)
            gap = shown(worst.value, quantity(worst))
            text = wording.incomplete(
                explainer, LARGEST_GAP, len(large), len(results), worst.groups["model"], gap
            )
            findings.append(Finding("incomplete", text, tuple(large), 1.6, {"explainer": explainer}))
    return rows, findings

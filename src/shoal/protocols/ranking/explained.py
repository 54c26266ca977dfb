"""How much each word counted, beside the answer itself: what a model is asked for where factors need it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.measures import quantity, shown
from ...core.records import Answer, Example, Finding, Measure, Result
from ...explaining import explain
from ...explaining.attributions import Attribution, How, as_data, completeness_gap, from_data, scaled
from ...models.asking import answer_batch
from ...models.hf import HFModel
from ...models.interface import HasTokens
from ..base import Built
from .build import LABELLED, population_of
from .settings import Settings

GAP = "completeness gap"
LARGEST_GAP = 0.05


def explain_batch(
    settings: Settings, model: object, built: Built, examples: Sequence[Example]
) -> list[Answer]:
    """The answer to each example, with its attributions by explainer if it is of the population."""
    wanted = _explained(settings, built)
    others = [example for example in examples if example not in wanted]
    rows = iter(_explain(settings, model, built, [example for example in examples if example in wanted]))
    plain = iter(answer_batch(model, built, others) if others else ())
    return [next(rows if example in wanted else plain) for example in examples]


def _explained(settings: Settings, built: Built) -> set[Example]:
    """The examples whose words are explained: the population, and whatever has no label yet."""
    labelled = {place for place, case in enumerate(built.cases) if case.groups["part"] == LABELLED}
    left_out = labelled.difference(population_of(built.cases, settings.population))
    return {case.examples[0] for place, case in enumerate(built.cases) if place not in left_out}


def _explain(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Answers with attributions; an example that the model cuts is an error."""
    over = [0] * len(examples)
    if isinstance(model, HasTokens):
        over = [length - model.longest for length in model.lengths(examples)]
    whole = [example for example, cut in zip(examples, over, strict=True) if cut <= 0]
    how = How(
        settings.samples or None,
        settings.absent,
        specials=isinstance(model, HFModel),
        merged={name: label for label, names in (settings.classes or {}).items() for name in names},
        seed=settings.seed,
    )
    stepwise = replace(how, samples=settings.steps or None)
    by_explainer = {
        name: iter(explain(model, whole, name, stepwise if name == "gradients" else how, labels=built.labels))
        for name in settings.explainers
    }
    return [
        Answer(
            "",
            "attribution",
            None,
            f"{cut} tokens more than the model takes: words that it cuts do not count",
        )
        if cut > 0
        else _answer({name: next(rows) for name, rows in by_explainer.items()})
        for cut in over
    ]


def _answer(explained: dict[str, Attribution]) -> Answer:
    """What is kept: label and probabilities as of any answer, and the attributions."""
    probabilities = dict(next(iter(explained.values())).probabilities)
    data = {
        "label": max(probabilities, key=probabilities.__getitem__),
        "probabilities": probabilities,
        "attributions": {name: as_data(row) for name, row in explained.items()},
    }
    return Answer("", "attribution", data)


def attributions_of(rows: Sequence[Answer], explainer: str) -> list[Attribution | None]:
    """The attributions of one explainer as they are; None where there are none."""
    data = [None if row.error else row.data.get("attributions", {}).get(explainer) for row in rows]
    return [None if row is None else from_data(row) for row in data]


def on_scale(rows: Sequence[Attribution | None], scale: str) -> list[Attribution | None]:
    """The same on the scale that was asked for."""
    return [None if row is None else replace(row, values=scaled(row.values, scale)) for row in rows]


# Whether they add up


def gap_of(explainer: str, rows: Sequence[Attribution | None]) -> list[Measure]:
    """How far the values of a model are from what they should add up to; nothing of LIME, whose need not."""
    gaps = [completeness_gap(row) for row in rows if row is not None]
    known = [gap for gap in gaps if gap is not None]
    return [Measure(GAP, float(np.mean(known)), len(known), {"explainer": explainer})] if known else []


def gaps_of(names: Sequence[str], results: Sequence[Result]) -> tuple[list[Measure], list[Finding]]:
    """The same of several models, and what a reader must know before believing factors."""
    rows = [
        replace(row, groups={"model": name, **row.groups})
        for name, result in zip(names, results, strict=True)
        for row in result.measures.where(GAP)
    ]
    findings = []
    for explainer in dict.fromkeys(row.groups["explainer"] for row in rows):
        of_it = [row for row in rows if row.groups["explainer"] == explainer]
        large = [row for row in of_it if (row.value or 0.0) > LARGEST_GAP]
        if large:
            worst = max(large, key=lambda row: row.value or 0.0)
            text = (
                f"Take more steps: the values of {explainer} miss what they should add up to by more than "
                f"{100 * LARGEST_GAP:.0f} % for {len(large)} of {len(results)} models, by "
                f"{shown(worst.value, quantity(worst))} % for {worst.groups['model']}."
            )
            findings.append(Finding("incomplete", text, tuple(large), 1.6, {"explainer": explainer}))
    return rows, findings

"""Variants that every one of some reference models fails, for a sensitivity check (`docs/method/beyond.md` 7.15).

Such variants may have lost their label. Which they are must not depend on the models that are compared: leaving out
what these fail would choose by the outcome. References are therefore three at least and others than the model that is
audited; they are asked when cases are built, once for all models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...core.errors import ModelError, PlanError
from ...core.records import Answer, Answers, Case, Large
from ...models import load_model, parse_spec
from ...models.answer_rows import gather
from ...models.asking import answer_batch, ask_batches
from ...models.batching import batch_plan, make_questions
from ...models.interface import RemoteModel
from ...training.stage import Progress
from ..base import Built
from .sheet import rights_of

HARD = "failed by references"
"""On a case: positions of the examples that every reference fails."""


def what_they_are(references: Sequence[str]) -> list[dict[str, Any]]:
    """What the answers of each reference depend on."""
    return [_what_it_is(spec, _loaded(spec)) for spec in references]


def _what_it_is(spec: str, model: Any) -> dict[str, Any]:
    return {"scheme": parse_spec(spec).scheme, **model.fingerprint()}


def _loaded(spec: str) -> Any:
    """A reference, unless it is asked over a network."""
    model = load_model(spec)
    if isinstance(model, RemoteModel):
        raise ModelError(
            f"references: {spec} is asked over a network",
            why="references are asked while cases are built, where answers are neither kept nor counted as spent",
            fix="another model, or a file of its answers: predictions:FILE",
        )
    return model


def refuse_reference(references: Sequence[str], model: str) -> None:
    """A model is no reference for itself, nor is one reference two."""
    if not references:
        return
    known = dict(zip(references, what_they_are(references), strict=True))
    for first, second in combinations(references, 2):
        if _is_same(known[first], known[second]):
            raise PlanError(
                f"references: {first} and {second} are one model",
                why="what one model fails would count twice",
                fix="another model instead of one of them",
            )
    try:
        audited = _what_it_is(model, load_model(model))
    except ModelError:
        return  # an object that was handed over; or it is refused when it is asked
    for spec, reference in known.items():
        if _is_same(audited, reference):
            raise PlanError(
                f"references: {spec} is the model that is audited",
                why="leaving out what it fails itself would make it look better",
                fix="references that are none of the models to be compared",
            )


def _is_same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two are one model: the same weights, however they are asked; or all the same."""
    weights = first.get("weights")
    return weights == second.get("weights") if weights else first == second


def with_hard_variants(references: Sequence[str], built: Built, progress: Progress) -> Built:
    """The cases with those examples marked that all references answer, and answer wrongly."""
    if not references:
        return built
    accuracies: dict[str, float | None] = {}
    marked: list[Any] = [True] * len(built.cases)
    for spec in references:
        rights = rights_of(built.cases, _answers(spec, built, progress))
        originals = {case.examples[0]: hits[0] for case, hits in zip(built.cases, rights, strict=True)}
        known = [right for right in originals.values() if not np.isnan(right)]
        accuracies[spec] = float(np.mean(known)) if known else None
        marked = [before & (hits == 0.0) for before, hits in zip(marked, rights, strict=True)]
    cases = [_marked(case, failed) for case, failed in zip(built.cases, marked, strict=True)]
    return replace(built, cases=cases, about={**built.about, "references": accuracies})


def _answers(spec: str, built: Built, progress: Progress) -> Answers:
    """What a reference says of every example."""
    model = _loaded(spec)
    questions = make_questions(model, built.cases)
    plan = batch_plan(model, questions)
    rows: list[Answer] = []
    asked = ask_batches(
        lambda examples: answer_batch(model, built, examples), model, questions, plan, labels=True
    )
    for batch in asked:
        rows += batch
        progress(f"asking {spec}", len(rows), len(questions.ids))
    return gather(rows, questions, built.labels)


def _marked(case: Case, failed: Any) -> Case:
    places = np.flatnonzero(failed).tolist()
    return replace(case, meta=Large({**case.meta, HARD: places})) if places else case

"""Behavioural testing: which behaviours does a model get wrong?

A suite holds functionalities, each a set of cases under one expectation (Ribeiro et al. 2020, "CheckList"; Luz de
Araujo and Roth 2023, "Cross-functional Analysis of Generalization in Behavioral Learning", BELUGA):

    MFT   labelled examples: the prediction must be the label
    INV   an original and its variants: the prediction must not change
    DIR   an original and its variants: confidence may move one way only

The pass rate of a functionality is passes over applicable cases; the suite score is their unweighted mean. Read
`suite` for what a suite is, `build` for which cases are chosen, `rules` for every expectation, `score` for the numbers.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Compared
from .build import build
from .score import score
from .sensitivity import sensitivity
from .settings import Settings
from .view import view

__all__ = ["Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """Return the settings of the one job."""
    return [settings]


def title(settings: Settings) -> str:
    """Return the suite's name, and which part of it."""
    words = [settings.suite.rpartition("/")[2].split(".")[0], settings.split.rpartition("/")[2].split(".")[0]]
    return "-".join(filter(None, words))


def recipe(settings: Settings, model: str) -> None:
    """Return None: the model is not trained."""


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Return labels with their probabilities, or answers in words."""
    return answer_batch(model, built, examples)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of every model, with the model among their groups; nothing of a single result."""
    if len(results) < 2:
        return Compared()
    models = [str(result.job["model"]) for result in results]
    measures, findings = [], []
    for model, result in zip(models, results, strict=True):
        which = {"model": model}
        if models.count(model) > 1:
            which["seed"] = str(result.job["settings"]["seed"])
        measures += [replace(row, groups={**which, **row.groups}) for row in result.measures]
        findings += [replace(finding, groups={**which, **finding.groups}) for finding in result.findings]
    return Compared([*measures, *sensitivity(results)], findings)

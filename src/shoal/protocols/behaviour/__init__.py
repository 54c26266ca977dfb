"""Behavioural testing: which behaviours does a model get wrong?

A suite holds functionalities, each a set of cases under one expectation (Ribeiro et al. 2020, "CheckList"; Luz de
Araujo and Roth 2023, "Cross-functional Analysis of Generalization in Behavioral Learning", BELUGA):

    MFT   labelled examples: the prediction must be the label
    INV   an original and its variants: the prediction must not change
    DIR   an original and its variants: confidence may move one way only

The pass rate of a functionality is passes over applicable cases; the suite score is their unweighted mean. Read
`suite` for what a suite is, `build` for which cases are chosen, `rules` for every expectation, `score` for the numbers,
`learning` for what training on a suite does.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Compared
from ..learning.folds import parts, planned_folds
from .build import build
from .score import score
from .settings import Settings
from .view import view

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = ["Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


def title(settings: Settings) -> str:
    """The suite's name, and which part of it."""
    words = [settings.suite.rpartition("/")[2].split(".")[0], settings.split.rpartition("/")[2].split(".")[0]]
    return "-".join(filter(None, words))


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """The training before the model is asked, if any."""
    if settings.train is None:
        return None
    from ..learning.stages import make_recipe

    return make_recipe(settings, model)


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Labels with their probabilities, or answers in words."""
    return answer_batch(model, built, examples)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Across the trainings of a plan, the paper's Table 3 and what is behind it; else the models side by side."""
    if settings.train is None:
        from .side_by_side import compare_models

        return compare_models(results)
    from ..learning import compare_with_averages
    from ..learning.aggregation import aggregation_measures
    from ..learning.conclusions import conclusions, of_table, of_trainings

    planned = planned_folds(settings)
    measures = compare_with_averages(settings, results, planned)
    findings = [*of_table(settings, results, measures, planned), *of_trainings(results)]
    return Compared(
        [*measures, *aggregation_measures(measures)], [*conclusions(measures, findings), *findings]
    )

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
from typing import TYPE_CHECKING, Any

from ...models.ask import Questions, answer_batch
from ...models.ask import gather as as_columns
from ...records import Answer, Answers, Example, Measure, Result
from .build import BuiltSuite, build, identity, load, save
from .folds import parts, planned_folds
from .score import score
from .settings import Settings

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = [
    "BuiltSuite",
    "Settings",
    "answers_version",
    "ask",
    "asks_labels",
    "build",
    "compare",
    "gather",
    "identity",
    "is_random",
    "load",
    "parts",
    "recipe",
    "save",
    "score",
    "title",
]

answers_version = 1
asks_labels = True


def title(settings: Settings) -> str:
    """The suite's name, and which part of it."""
    words = [settings.suite.rpartition("/")[2].split(".")[0], settings.split.rpartition("/")[2].split(".")[0]]
    return "-".join(filter(None, words))


def is_random(settings: Settings) -> bool:
    """A sample and a training depend on the seed."""
    return bool(settings.limit or settings.train)


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """The training before the model is asked, if any."""
    if settings.train is None:
        return None
    from .stages import make_recipe

    return make_recipe(settings, model)


def ask(
    settings: Settings, model: Any, built: BuiltSuite, examples: Sequence[Example], ids: Sequence[str]
) -> list[Answer]:
    """Labels with their probabilities, or answers in words."""
    return answer_batch(model, built.cases, built.whole, built.labels, examples, ids)


def gather(settings: Settings, built: BuiltSuite, rows: Sequence[Answer], questions: Questions) -> Answers:
    """The answers as columns, one row per example of the cases."""
    return as_columns(rows, questions, built.labels)


def compare(settings: Settings, results: Sequence[Result]) -> list[Measure]:
    """Across the trainings of a plan: the paper's Table 3 and what is behind it."""
    if settings.train is None:
        return []
    from .learning import compare_trainings

    return compare_trainings(settings, results, planned_folds(settings))

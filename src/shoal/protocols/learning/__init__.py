"""Behavioural learning: does training on a suite teach the behaviour, or just the tests?

Luz de Araujo and Roth 2023, BELUGA. One table of a plan means many trainings. Each holds something out of the suite,
and is then tested on it.

    build      settings to jobs, and their cases;  iid: the i.i.d. data
    stages     settings to stages of training, grid search;  hyper: their numbers;  tuning: the objective of the search
    lessons    the training examples
    scoring    measures of one job, and signs of degenerate models
    trainings  jobs to rows of scenarios
    comparison scores with intervals, averages;  against_iid: tests against the model trained without the suite
    table3     measures to the paper's Table 3;  findings: its conclusions
    wording    sentences;  views: layout of Table 3 and of the paper's files of numbers

Scoring and training are imported when they are called: `status` and `check` only need settings and build.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..behaviour import ask, title
from .build import build, parts
from .settings import Settings

if TYPE_CHECKING:
    from ...core.records import Answers, Finding, Measure, Result
    from ...core.views import Section
    from ...training.stage import Recipe
    from ..base import Built, Compared, Scored

__all__ = [
    "Settings",
    "ask",
    "build",
    "compare",
    "own_model",
    "part_title",
    "parts",
    "recipe",
    "replace_model",
    "score",
    "title",
    "view",
]


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Return the training before the model is tested; None where nothing is trained."""
    if not settings.trains:
        return None
    from .stages import make_recipe

    return make_recipe(settings, model)


def replace_model(settings: Settings, spec: str) -> Any:
    """Return stored predictions in place of a model, or the model under a prompt that teaches it; None to train it."""
    if settings.trains:
        return None
    if settings.teach:
        from .teach import taught_model

        return taught_model(settings, spec)
    from .stored import ScenarioAnswers

    return ScenarioAnswers(settings)


def own_model(settings: Settings) -> str:
    """Return the model of a task, if it has one of its own."""
    return settings.model


def part_title(settings: Settings) -> str:
    """Return the scenario of a job."""
    return " ".join(filter(None, [*settings.teach, *settings.hold_out, settings.fold]))


def score(settings: Settings, built: "Built", answers: "Mapping[str, Answers]") -> "Scored":
    """Return outcomes, measures and findings of one job."""
    from .scoring import score_job

    return score_job(settings, built, answers)


def compare(settings: Settings, results: "Sequence[Result]") -> "Compared":
    """Return the measures of the paper's Table 3, and the findings."""
    from .findings import compare_plan

    return compare_plan(settings, results)


def view(
    settings: Settings,
    results: "Sequence[Result]",
    measures: "Sequence[Measure]",
    findings: "Sequence[Finding]",
) -> "list[Section]":
    """Return each result by itself; with measures Table 3 of each model, the details behind it, the paper's files."""
    from .views import view_sections

    return view_sections(settings, results, measures, findings)

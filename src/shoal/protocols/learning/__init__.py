"""Behavioural learning: does training on a suite teach the behaviour, or just the tests?

Luz de Araujo and Roth 2023, BELUGA. One table of a plan means many trainings. Each holds something out of the suite,
and is then tested on it.

    folds      settings to jobs;  build: their cases;  iid: the i.i.d. data
    stages     settings to stages of training;  hyper: their numbers;  tuning: the grid search;  lessons: the examples
    score      measures of one job;  degeneracy: models that give one answer, or never learnt the task
    trainings  jobs to rows of scenarios
    compare    scores with intervals;  against_iid: tests against the model trained without the suite
    table3     the paper's Table 3;  averages: over scenarios, tasks and methods;  retention, transfer: findings
    wording    sentences;  view: layout;  files: the paper's tables of numbers
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.records import Result
from ..base import Compared
from ..behaviour import ask, title
from .averages import compare_tasks
from .build import build
from .compare import compare_models, compare_trainings
from .findings import conclusions, table_findings, training_findings
from .folds import parts, planned_folds
from .score import score
from .settings import Settings
from .view import view

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = [
    "Settings", "ask", "build", "compare", "compare_tasks", "compare_trainings", "parts", "recipe", "score",
    "title", "view",
]  # fmt: skip


def recipe(settings: Settings, model: str) -> "Recipe":
    """Return the training before the model is tested."""
    from .stages import make_recipe

    return make_recipe(settings, model)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of the paper's Table 3, and the findings."""
    tables = compare_models(settings, results, planned_folds(settings))
    findings = [*table_findings(tables), *training_findings(results)]
    measures = [row for table in tables for row in table.all_measures()]
    return Compared(
        measures, [*conclusions({table.model: table.rows for table in tables}, findings), *findings]
    )

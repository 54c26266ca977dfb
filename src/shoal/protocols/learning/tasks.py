"""Several tasks in one plan: a table `[learning.tasks.NAME]` for each, and the paper's Avg over all of them.

`docs/method/beluga.md` 1.5. Each task is an experiment of its own, with the same scenarios as the others.
"""

from collections.abc import Sequence
from dataclasses import fields

from ...core.errors import PlanError, some
from ...core.records import Result
from ..base import step_of
from .settings import Settings


def tasks_of(settings: Settings) -> Sequence[Settings]:
    """Return the settings of each task of a plan; they themselves where the plan has one."""
    return list(settings.tasks.values()) if settings.tasks else [settings]


def results_of(task: Settings, results: Sequence[Result]) -> list[Result]:
    """Return the results of one task."""
    if not task.task:
        return list(results)
    return [result for result in results if result.job["settings"].get("task") == task.task]


def check_tasks(settings: Settings) -> None:
    """Stop at tasks that Avg could not be taken over."""
    if settings.model and not settings.task:
        raise PlanError(
            "[learning] model is for a task", fix="models at the top of the plan, or [learning.tasks.NAME]"
        )
    first, *_ = tasks = tasks_of(settings)
    experiments: dict[str, str] = {}
    for task in tasks if settings.tasks else ():
        decisive = [getattr(task, each.name) for each in fields(task) if step_of(task, each) != "scoring"]
        content = repr((decisive, task.predictions, task.model))
        if content in experiments:
            raise PlanError(
                f"[learning.tasks.{task.task}] is the same experiment as {experiments[content]}",
                why="Avg would count it twice",
                fix="a suite or data of its own, or leave it out",
            )
        experiments[content] = task.task
        if task.tasks or task.seed != settings.seed:
            raise PlanError(
                f"[learning.tasks.{task.task}] has {'tasks' if task.tasks else 'a seed'} of its own",
                why="all tasks of a plan have the same seeds",
                fix="leave it out",
            )
        if task.scenarios != first.scenarios:
            ours, theirs = (some(sorted(one.scenarios)) or "nothing" for one in (task, first))
            raise PlanError(
                f"[learning.tasks.{task.task}] holds out {ours}, and {first.task} {theirs}",
                why="Avg is a mean over the same scenarios of every task",
                fix="hold_out above the tasks, for all of them",
            )

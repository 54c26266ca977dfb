"""Bias diagnostics, and whether checkpoints of one recipe agree on them.

Aribandi, Tay & Metzler 2021, "How Reliable are Model Diagnostics?": five BERTs that differ only in their seed are
equally good downstream, but diagnostics reach different conclusions about them.

An outcome is 1 if the stereotype is preferred, or if an association test is significant. A job covers one checkpoint;
`compare` covers several. `build` has the table of diagnostics, `asking` queries the models, `checkpoints` compares.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.errors import PlanError
from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Listing, Scored
from . import training
from .build import build, find_diagnostic, has_vectors
from .checkpoints import compare
from .settings import Settings
from .view import view

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = ["Settings", "ask", "build", "compare", "listing", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """Return a job per diagnostic, per representation if it uses vectors, and per downstream task."""
    _refuse_unused(settings)
    names = [task.name for task in settings.tasks]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"tasks: two tasks are called {name!r}", fix="use another name for each task")
    first = settings.representation[:1]
    jobs = []
    for name in settings.diagnostic:
        vectors = has_vectors(name)
        alone = replace(settings, diagnostic=(name,), tasks=(), tests=settings.tests if vectors else ())
        alone = alone if name.startswith("crows") else replace(alone, columns=())
        kinds = settings.representation if vectors else first
        jobs += [replace(alone, representation=(kind,)) for kind in kinds]
    downstream = replace(
        settings, diagnostic=(), data="", tests=(), columns=(), limit=0, representation=first
    )
    return [*jobs, *(replace(downstream, tasks=(task,)) for task in settings.tasks)]


def _refuse_unused(settings: Settings) -> None:
    """Raise an error for tests or columns that no chosen diagnostic uses."""
    uses = {
        "tests": ("seat and clusters", any(map(has_vectors, settings.diagnostic))),
        "columns": ("crows and crows_choice", any(name.startswith("crows") for name in settings.diagnostic)),
    }
    for name, (diagnostics, is_used) in uses.items():
        if getattr(settings, name) and not is_used:
            raise PlanError(
                f"{name} are for {diagnostics}, not for {', '.join(settings.diagnostic)}",
                fix=f"remove {name}, or add such a diagnostic",
            )


def title(settings: Settings) -> str:
    if settings.tasks:
        return f"downstream-{settings.tasks[0].name}"
    words = [*settings.diagnostic, *(settings.representation if has_vectors(settings.diagnostic[0]) else ())]
    return "-".join(words)


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Return the pre-training and fine-tuning that the settings ask for."""
    if settings.tasks:
        return training.finetuning(settings, model)
    return training.pretraining(settings.pretrain, model) if settings.pretrain else None


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Query the model for log-probabilities, vectors, or the labels of a task."""
    if settings.tasks:
        return list(answer_batch(model, built, examples))
    return find_diagnostic(settings).ask(settings, model, built, examples)


def score(settings: Settings, built: Built, answers: Any) -> Scored:
    *_, last = answers.values()
    if settings.tasks:
        return training.score_task(built, last)
    return find_diagnostic(settings).score(settings, built.cases, last)


def listing(result: Result) -> Listing:
    """Return which outcomes are listed: those for the stereotype, or those of significant tests."""
    names = {row.name for row in result.measures}
    if "stereotype score" in names:
        return Listing("show a preference for the stereotype (the first text)", outcome=True)
    if names & {"effect size", "cluster accuracy"}:
        return Listing("are significant", outcome=True)
    return Listing()

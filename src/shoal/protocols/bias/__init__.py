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
from .build import build, has_vectors, module_of
from .checkpoints import compare
from .settings import Settings
from .view import view

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = ["Settings", "ask", "build", "compare", "listing", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """Return a job per diagnostic, per representation if it uses vectors, and per downstream task."""
    names = [task.name for task in settings.tasks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise PlanError(f"tasks: two tasks are called {twice[0]!r}", fix="use another name for each task")
    plain = replace(settings, tests=(), columns=(), tasks=(), representation=settings.representation[:1])
    jobs = []
    for name in settings.diagnostic:
        own: dict[str, Any] = {"columns": settings.columns} if name.startswith("crows") else {}
        kinds = plain.representation
        if has_vectors(name):
            own, kinds = {"tests": settings.tests}, settings.representation
        jobs += [replace(plain, diagnostic=(name,), representation=(kind,), **own) for kind in kinds]
    for name, diagnostics in (("tests", "seat and clusters"), ("columns", "crows and crows_choice")):
        if getattr(settings, name) and not any(getattr(job, name) for job in jobs):
            raise PlanError(
                f"{name} are for {diagnostics}, not for {', '.join(settings.diagnostic)}",
                fix=f"remove {name}, or add such a diagnostic",
            )
    downstream = replace(plain, diagnostic=(), data="", limit=0)
    return [*jobs, *(replace(downstream, tasks=(task,)) for task in settings.tasks)]


def title(settings: Settings) -> str:
    if settings.tasks:
        return f"downstream-{settings.tasks[0].name}"
    (name,) = settings.diagnostic
    return "-".join([name, *settings.representation]) if has_vectors(name) else name


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Return the pre-training and fine-tuning that the settings ask for."""
    if settings.tasks:
        return training.finetuning(settings, model)
    return training.pretraining(settings.pretrain, model) if settings.pretrain else None


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Query the model for log-probabilities, vectors, or the labels of a task."""
    if settings.tasks:
        return list(answer_batch(model, built, examples))
    return module_of(*settings.diagnostic).ask(settings, model, built, examples)


def score(settings: Settings, built: Built, answers: Any) -> Scored:
    *_, last = answers.values()
    if settings.tasks:
        return training.score_task(built, last)
    return module_of(*settings.diagnostic).score(settings, built.cases, last)


def listing(result: Result) -> Listing:
    """Return which outcomes are listed: those for the stereotype, or those of significant tests."""
    names = {row.name for row in result.measures}
    if "stereotype score" in names:
        return Listing("show a preference for the stereotype (the first text)", outcome=True)
    if names & {"effect size", "cluster accuracy"}:
        return Listing("are significant", outcome=True)
    return Listing()

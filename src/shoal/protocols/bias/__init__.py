"""Bias diagnostics, and whether they say the same of another checkpoint of the same recipe.

Aribandi, Tay & Metzler 2021, "How Reliable are Model Diagnostics?": five BERTs that differ in their seed alone are
equally good downstream, yet diagnostics tell different stories of them. Four diagnostics:

    crows       CrowS-Pairs: which of two sentences is likelier           `crows`      a score per pair
    stereoset   StereoSet: which of three continuations is likelier       `stereoset`  a score per sentence
    seat        SEAT, WEAT: association of word and sentence sets         `seat`       a vector per sentence
    clusters    do two concepts fall into two clusters                    `clusters`   a vector per sentence

An outcome is 1 where the stereotype is preferred (a test of association: where it is significant). One job is about
one checkpoint; `compare` is about several of one recipe: spread, disagreement, agreement of signs, and what may be
concluded. Read `build` for the table of diagnostics, each one module and one line, `checkpoints` for what several
checkpoints say, `view` for what is shown, `pretrain` for checkpoints made here, `finetune` for the downstream tasks
that checkpoints are trained on beside their diagnostics.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Compared, Scored
from . import finetune
from .build import build, check_tests, find_diagnostic, has_vectors
from .family import at_moment
from .settings import Settings
from .view import view

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = ["Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """A job per diagnostic, and per representation for those that look at vectors; and one per downstream task."""
    check_tests(settings)
    finetune.check_tasks(settings)
    first = settings.representation[0]
    jobs = [
        replace(settings, diagnostic=(name,), representation=(representation,), tasks=())
        for name, representation in product(settings.diagnostic, settings.representation)
        if has_vectors(name) or representation == first
    ]
    nothing: dict[str, Any] = {
        "diagnostic": (),
        "data": "",
        "tests": (),
        "limit": 0,
        "representation": (first,),
    }
    return [
        *(job if has_vectors(job.diagnostic[0]) else replace(job, tests=()) for job in jobs),
        *(replace(settings, **nothing, tasks=(task,)) for task in settings.tasks),
    ]


def title(settings: Settings) -> str:
    """The diagnostic, and the representation where it matters; or the downstream task."""
    if settings.tasks:
        return f"downstream-{finetune.task_of(settings).name}"
    words = [*settings.diagnostic, *(settings.representation if has_vectors(settings.diagnostic[0]) else ())]
    return "-".join(words)


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Pre-training, where the settings ask for it, and fine-tuning on a task."""
    if settings.tasks:
        return finetune.recipe(settings, model)
    if settings.pretrain is None:
        return None
    from .pretrain import make_recipe

    return make_recipe(settings.pretrain, model)


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Log-probabilities of tokens, or vectors, as the diagnostic wants; of a task, labels."""
    if settings.tasks:
        return list(answer_batch(model, built, examples))
    return find_diagnostic(settings).ask(settings, model, built, examples)


def score(settings: Settings, built: Built, answers: Any) -> Scored:
    """Outcomes and measures at the end of training; measures of earlier epochs say so in the group `epoch`."""
    if settings.tasks:
        return finetune.score(built, answers[list(answers)[-1]])
    module = find_diagnostic(settings)
    *earlier, (_, last) = answers.items()
    scored = module.score(settings, built.cases, last)
    before = [
        at_moment(row, "epoch", mark)
        for mark, rows in earlier
        for row in module.score(settings, built.cases, rows).measures
    ]
    return replace(scored, measures=[*scored.measures, *before])


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """What several checkpoints of one recipe say together."""
    from .checkpoints import compare_checkpoints

    return compare_checkpoints(settings, results)

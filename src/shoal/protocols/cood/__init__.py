"""Combinational OOD probing: does a model combine the parts of its input, or use a shortcut its training data allow?

Take a task with at least three labels. Put "It is <label>" behind each text; the new label says whether text and
template agree. Train on four of the nine combinations, chosen so that the label of the text alone gives the new one
(Fang et al. 2022, "Assessing Combinational Generalization of Language Models in Biased Scenarios"), then test on all:

    ID     combinations seen in training
    COOD   unseen, but both halves were seen apart: can be inferred, and the shortcut gets all of them wrong
    OOD    the template's word was never seen: what is right there the training data do not say

A large gap between ID and COOD means that the model took the shortcut. OOD is never averaged with COOD. Read `cells`
for the table, `texts` for what is drawn, `build` for the nine cells, `recipe` for the training, `score` for the
numbers of one model, `compare` for those over seeds, K, words and controls, `view` for what is shown of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from ...core.records import Answer, Example
from ...models.asking import answer_batch
from ..base import Built
from .build import build, export, training_items
from .cells import ROLES
from .compare import compare
from .recipe import check_room, recipe
from .score import score
from .settings import SLOT, Settings, combinations
from .texts import roles_of
from .view import sections as view

__all__ = [
    "Settings",
    "ask",
    "build",
    "compare",
    "export",
    "parts",
    "recipe",
    "score",
    "title",
    "training_items",
    "view",
]


def parts(settings: Settings) -> list[Settings]:
    """One job for each combination of what stands in lists; with `rotate`, for each class as the unseen one."""
    if not settings.rotate:
        return combinations(settings)
    fst, sec, neu = roles_of(settings).values()
    turns = ((fst, sec, neu), (sec, neu, fst), (neu, fst, sec))
    by_role = [dict(zip(ROLES, classes, strict=True)) for classes in turns]
    return [part for roles in by_role for part in combinations(replace(settings, roles=roles, rotate=False))]


def title(settings: Settings) -> str:
    """The data, and what is unusual about what is shown; K and the like are in the name of the training."""
    (control,), (template,) = settings.control, settings.template
    names = settings.names[0] if isinstance(settings.names, tuple) and settings.names else {}
    words = [
        PurePath(settings.data).name.split(".")[0],
        control if control in ("text only", "template only") else "",
        template.replace(SLOT, "") if settings.template != Settings().template else "",
        *names.values(),
        f"{settings.roles['neu']} unseen" if settings.roles else "",
    ]
    return " ".join(filter(None, words))


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Whether each text and its template agree, as far as the model can tell; nothing that it is shown is cut."""
    check_room(model, examples)
    return answer_batch(model, built, examples)

"""Combinational OOD probing: does a model combine the parts of its input, or use a shortcut of its training data?

Take a task with at least three labels and append "It is <label>" to each text; the new label says whether text and
template agree. Train on four of the nine combinations, chosen so that the label of the text alone predicts the new one
(Fang et al. 2022, "Assessing Combinational Generalization of Language Models in Biased Scenarios"), and test on all:

    ID     combinations seen in training
    COOD   unseen combinations of seen parts: the answer can be inferred, and the shortcut gets all of them wrong
    OOD    the template has the unseen word: the training data do not determine the answer
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import PurePath
from typing import Any

from ...core.errors import PlanError
from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Listing
from .build import build, export, training_items
from .recipe import check_room, recipe, replace_model
from .score import compare, score
from .settings import SLOT, TRAINING, Settings
from .view import sections as view

__all__ = [
    "Settings",
    "ask",
    "build",
    "compare",
    "export",
    "listing",
    "part_title",
    "parts",
    "recipe",
    "replace_model",
    "score",
    "title",
    "training_items",
    "view",
]


def parts(settings: Settings) -> list[Settings]:
    """Return one job per combination of the listed values."""
    if settings.shots:
        for name in TRAINING:
            if getattr(settings, name) not in (getattr(Settings(), name), 0):
                why = "the prompt demonstrates the trained combinations, and nothing is trained"
                raise PlanError(f"[cood] {name} has no effect with shots", why=why, fix=f"leave out {name}")
        settings = replace(settings, validation_per_label=0)  # no epoch to select
    if isinstance(settings.names, dict):
        settings = replace(settings, names=(settings.names,))
    lists = {name: getattr(settings, name) for name in ("control", "per_label", "template", "names", "shots")}
    single: list[list[Any]] = [[(value,) for value in values] or [()] for values in lists.values()]
    return [replace(settings, **dict(zip(lists, values, strict=True))) for values in product(*single)]


def title(settings: Settings) -> str:
    """Return the data and what differs from the defaults; K is in the title of the training."""
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


def listing(result: Result) -> Listing:
    """Return that only test cells with a determined answer count, as in the table."""
    return Listing(counts=lambda case: case.groups["split"] == "test" and case.groups["kind"] != "OOD")


def part_title(settings: Settings) -> str:
    """Return the demonstrations of a job."""
    return f"{settings.shots[0]} shots seed {settings.seed}"


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Return whether text and template agree according to the model; a truncated text is an error."""
    check_room(model, examples)
    return answer_batch(model, built, examples)

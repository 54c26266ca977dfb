"""Bias diagnostics, and whether they say the same of another checkpoint of the same recipe.

Aribandi, Tay & Metzler 2021, "How Reliable are Model Diagnostics?": five BERTs that differ in their seed alone are
equally good downstream, yet diagnostics tell different stories of them. Four diagnostics:

    crows       CrowS-Pairs: which of two sentences is likelier           `crows`      a score per pair
    stereoset   StereoSet: which of three continuations is likelier       `stereoset`  a score per sentence
    seat        SEAT, WEAT: association of word and sentence sets         `seat`       a vector per sentence
    clusters    do two concepts fall into two clusters                    `clusters`   a vector per sentence

An outcome is 1 where the stereotype is preferred (a test of association: where it is significant). One job is about
one checkpoint; `compare` is about several of one recipe: spread, disagreement, agreement of signs, and what may be
concluded. Read `build` for the cases, `pretrain` for checkpoints made here.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ...errors import PlanError
from ...records import Answer, Case, Example, Measure, Outcome, Result
from .build import BuiltBias, build, find_diagnostic, identity, load, save
from .said import Said, gather
from .settings import Settings

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = [
    "BuiltBias",
    "Said",
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
asks_labels = False


def parts(settings: Settings) -> list[Settings]:
    """A job per diagnostic, and per representation for those that look at vectors."""
    if settings.tests and not {"seat", "clusters"} & set(settings.diagnostic):
        raise PlanError(f"tests are for seat and clusters, not for {', '.join(settings.diagnostic)}")
    found = [
        replace(settings, diagnostic=(name,), representation=(representation,))
        for name, representation in product(settings.diagnostic, settings.representation)
        if name in ("seat", "clusters") or representation == settings.representation[0]
    ]
    return [one if one.diagnostic[0] in ("seat", "clusters") else replace(one, tests=()) for one in found]


def title(settings: Settings) -> str:
    """The diagnostic, and the representation where it matters."""
    words: list[str] = list(settings.diagnostic)
    words += settings.representation if words[0] in ("seat", "clusters") else ()
    return "-".join(words)


def is_random(settings: Settings) -> bool:
    """Only pre-training depends on the seed; samples are the same for every seed."""
    return settings.pretrain is not None


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Pre-training, where the settings ask for it."""
    if settings.pretrain is None:
        return None
    from .pretrain import make_recipe

    return make_recipe(settings.pretrain, model)


def ask(
    settings: Settings, model: Any, built: BuiltBias, examples: Sequence[Example], ids: Sequence[str]
) -> list[Answer]:
    """Log-probabilities of tokens, or vectors, as the diagnostic wants."""
    return find_diagnostic(settings).ask(settings, model, built, examples, ids)


def score(settings: Settings, cases: Sequence[Case], answers: Said) -> tuple[list[Outcome], list[Measure]]:
    """Outcomes and measures at the end of training; measures of earlier epochs say so in the group `epoch`."""
    module = find_diagnostic(settings)
    outcomes, measures = module.score(settings, cases, answers.last)
    for mark, said in answers.earlier:
        rows = module.score(settings, cases, said)[1]
        measures += [replace(row, groups={**row.groups, "epoch": mark}) for row in rows]
    return outcomes, measures


def compare(settings: Settings, results: Sequence[Result]) -> list[Measure]:
    """What several checkpoints of one recipe say together."""
    from .checkpoints import compare_checkpoints

    return compare_checkpoints(settings, results)

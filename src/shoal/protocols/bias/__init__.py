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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ...errors import PlanError
from ...records import Answer, Example, Finding, Measure, Result
from ...views import Section
from ..base import Built, Compared, Scored
from .build import build, find_diagnostic
from .settings import Settings

if TYPE_CHECKING:
    from ...training.stage import Recipe

__all__ = ["Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


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


def recipe(settings: Settings, model: str) -> "Recipe | None":
    """Pre-training, where the settings ask for it."""
    if settings.pretrain is None:
        return None
    from .pretrain import make_recipe

    return make_recipe(settings.pretrain, model)


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Log-probabilities of tokens, or vectors, as the diagnostic wants."""
    return find_diagnostic(settings).ask(settings, model, built, examples)


def score(settings: Settings, built: Built, answers: Mapping[str, Sequence[Sequence[Answer]]]) -> Scored:
    """Outcomes and measures at the end of training; measures of earlier epochs say so in the group `epoch`."""
    module = find_diagnostic(settings)
    *earlier, (_, last) = answers.items()
    outcomes, measures = module.score(settings, built.cases, last)
    for mark, rows in earlier:
        then = module.score(settings, built.cases, rows)[1]
        measures += [replace(row, groups={**row.groups, "epoch": mark}) for row in then]
    return Scored(outcomes, measures)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """What several checkpoints of one recipe say together."""
    from .checkpoints import compare_checkpoints

    return Compared(compare_checkpoints(settings, results))


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """The scores of one checkpoint; spread and agreement of several."""
    from .view import sections

    return sections(settings, results, measures, findings)

"""Minimal expression replacement: does a model that solves a problem also solve its minimal variants?

An open-class word that premise and hypothesis share is replaced in both by words that masked language models find more
probable there; the reasoning, and hence the label, stays. A problem counts as solved at a threshold when at least that
share of its variants is right (the MERGE poster; `docs/method/merge.md`).

    problems ──► shared words ──► suggestions ──► filters ──► draws ──► seed, sample and pattern accuracy
    problems.py  tagger.py        suggest.py      filters.py  draws.py  score.py

Existing groups of variants (contrast sets, counterfactual data, paraphrases) are scored the same way. `variants` writes
and reads generated variants, `audit` collects human judgements of their labels.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ...training.stage import Recipe
from ..base import Built, Compared, Listing
from .audit import FORMS
from .build import build
from .score import score
from .settings import Settings
from .view import view, with_failures

SIDE_BY_SIDE = ("seed accuracy", "sample accuracy", "pattern accuracy", "independence reference",
                "drop from seeds")  # fmt: skip

__all__ = [
    "FORMS",
    "Settings",
    "ask",
    "build",
    "compare",
    "listing",
    "parts",
    "recipe",
    "score",
    "title",
    "view",
]


def parts(settings: Settings) -> list[Settings]:
    """Return one job; filters, classes and sources are parts of its result."""
    return [settings]


def title(settings: Settings) -> str:
    """Return the name of the data or the variants."""
    words = [
        PurePath(settings.data).name.split(".")[0] if not settings.variants else "",
        PurePath(settings.variants).name.split(".")[0],
        "groups" if settings.group or settings.paraphrase else "",
    ]
    return " ".join(filter(None, words))


def recipe(settings: Settings, model: str) -> Recipe | None:
    """Return None: MERGE trains nothing."""
    return None


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Return the model's labels for originals and variants."""
    return answer_batch(model, built, examples)


def listing(result: Result) -> Listing:
    """Return that a problem fails at the threshold, and that its wrong variants are shown."""
    threshold = f"{100 * result.settings.threshold:g} %" if result.settings else "the threshold"
    return Listing(f"fail at {threshold}", shown=with_failures)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return every model's measures under its name; `shoal compare` tests their differences."""
    if len(results) < 2:
        return Compared()
    return Compared(
        [
            replace(row, groups={**row.groups, "model": str(result.job["model"])})
            for result in results
            for row in result.measures
            if row.name in SIDE_BY_SIDE
        ]
    )

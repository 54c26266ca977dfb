"""Minimal expression replacement: is a model that solves a problem right on its minimal variants too?

One open-class word that premise and hypothesis share is replaced, in both, by what masked language models find more
probable there; the reasoning, and hence the label, stays. A problem counts as solved at a threshold when at least that
share of its variants is answered right (the MERGE poster; `docs/method/merge.md`).

    problems ──► shared words ──► suggestions ──► filters ──► draws ──► seed, sample and pattern accuracy
    problems.py  targets.py       suggest.py      filters.py  draws.py  score.py
                 tagger.py        bank.py

Groups of variants that are there already (contrast sets, counterfactual data, paraphrases) are scored the same way.
`audit` lets people judge whether labels were kept, `variants` writes and reads what was generated, `export` offers both
to `shoal export`; `references` marks what models outside the comparison all fail.
"""

from collections.abc import Sequence
from pathlib import PurePath

from ...core.records import Answer, Example
from ...models.asking import answer_batch
from ...training.stage import Recipe
from ..base import Built
from .build import build
from .compare import compare
from .export import FORMS
from .references import refuse_reference
from .score import score
from .settings import Settings
from .view import view

__all__ = ["FORMS", "Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """One job: conditions, classes and sources are parts of its result."""
    return [settings]


def title(settings: Settings) -> str:
    """The data, and where its variants come from."""
    words = [
        PurePath(settings.data).name.split(".")[0] if not settings.variants else "",
        PurePath(settings.variants).name.split(".")[0],
        "groups" if settings.group or settings.paraphrase else "",
    ]
    return " ".join(filter(None, words))


def recipe(settings: Settings, model: str) -> Recipe | None:
    """Nothing is trained: a model is asked as it is, unless it is one of its own references."""
    refuse_reference(settings.references, model)
    return None


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Labels of originals and variants, each distinct one once."""
    return answer_batch(model, built, examples)

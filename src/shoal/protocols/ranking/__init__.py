"""Few-shot ranking: which of several models will do best in a new domain, from ten labelled examples?

Models with the same accuracy at home can differ widely elsewhere. With few labels of the new domain, two questions:

    which is better?          the order, how probable it is, what to label next, when to stop
    how far can that go?      over 500 probe sets of t examples: how often accuracy, confidence or a factor of your own
                              orders two models as the whole test set does

(Singhal et al. 2023, "Assessing Out-of-Domain Language Model Performance from Few Examples".) A job is one model on the
examples; everything else shows across models. Read `build` for the examples, `inoculate` for models that are made
here, `factors` for what models are ranked by, `score` for the numbers of one model, `order` and `choosing` for the
first question, `study` for the second.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from ...core.records import Answer, Example
from ...models.asking import answer_batch
from ..base import Built
from .build import build
from .compare import compare
from .explained import explain_batch
from .inoculate import recipe
from .score import score
from .settings import Settings
from .view import sections as view

__all__ = ["Settings", "ask", "build", "compare", "parts", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """One job, or one for each model of the family that is trained."""
    if settings.train is None:
        return [settings]
    return [replace(settings, train=replace(settings.train, doses=(dose,))) for dose in settings.train.doses]


def title(settings: Settings) -> str:
    """The data."""
    names = [*settings.data, *([settings.pool] if settings.pool else [])]
    return " ".join(PurePath(name).name.split(".")[0] for name in names)


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """A label for each example, with probabilities if the model has them, and how much each word counted if asked."""
    if settings.explainers:
        return explain_batch(settings, model, built, examples)
    return answer_batch(model, built, examples)

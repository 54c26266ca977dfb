"""CrowS-Pairs as a choice between two sentences: which one does the model say is likelier?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.records import Answer, Case, Example
from ...data.crows import read_pairs
from ...models.asking import answer_batch
from ..base import Asks, Built, Scored
from . import choice, example
from .choice import LABELS, make_case
from .crows import CONCEPTS, FILES, FOLDER
from .settings import Settings
from .spread import across

NAME = "crows_choice"
ASKS: Asks = "options"
CASES = "pairs"

__all__ = ["ASKS", "CASES", "CONCEPTS", "FILES", "FOLDER", "LABELS", "across", "ask", "make_cases", "score"]


def make_cases(path: Path | None, settings: Settings) -> list[Case]:
    """Return a case per pair of sentences."""
    pairs = example.pairs() if path is None else read_pairs(path, settings.columns)
    return [
        make_case(pair.id, (pair.more, pair.less), {"diagnostic": NAME, "category": pair.bias_type})
        for pair in pairs
    ]


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    return answer_batch(model, built, examples)


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    return choice.score(cases, answered, NAME)

"""StereoSet as a choice between the stereotype and the anti-stereotype."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.records import Answer, Case, Example
from ...data.stereoset import read_clusters
from ...models.asking import answer_batch
from ..base import Asks, Built, Scored
from . import choice, example
from .choice import LABELS, make_case
from .settings import Settings
from .spread import across
from .stereoset import CONCEPTS, FILES, FOLDER

NAME = "stereoset_choice"
ASKS: Asks = "options"
CASES = "pairs"

__all__ = ["ASKS", "CASES", "CONCEPTS", "FILES", "FOLDER", "LABELS", "across", "ask", "make_cases", "score"]


def make_cases(path: Path | None, settings: Settings) -> list[Case]:
    """Return a case per pair of sentences."""
    clusters = example.clusters() if path is None else read_clusters(path)
    return [
        make_case(
            cluster.id, cluster.sentences[:2], {"diagnostic": NAME, "category": cluster.bias_type},
            cluster.target, cluster.context,
        )
        for cluster in clusters
    ]  # fmt: skip


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    return answer_batch(model, built, examples)


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    return choice.score(cases, answered, NAME)

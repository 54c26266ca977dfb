"""A fifth diagnostic in one file: does a model find a longer sentence likelier than a shorter one?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.core.records import Answer, Basis, Case, Example, Outcome
from shoal.protocols.base import Asks, Built, Scored
from shoal.protocols.bias.asking import answers, check_language_model, likelihoods, log_probabilities
from shoal.protocols.bias.checkpoints import across
from shoal.protocols.bias.family import share
from shoal.protocols.bias.settings import Settings

FOLDER, FILES = "lengths", ("lengths.txt",)
ASKS: Asks = "tokens"
CONCEPTS: dict[str, str] = {}

__all__ = ["across"]


def make_cases(path: Path | None, settings: Any) -> list[Case]:
    """Longer and shorter."""
    words = ["one", "two", "three", "four", "five", "six"] if path is None else path.read_text().split()
    groups = {"diagnostic": "lengths", "category": "all"}
    return [Case(word, ((f"{word} and {word}",), (word,)), None, groups) for word in words]


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """The log-likelihood of every text."""
    check_language_model(model)
    return answers("tokens", lambda part: likelihoods(model, [text for (text,) in part]), examples)


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    """How often the longer one is the likelier."""
    sums = [[sum(log_probabilities(row.data)) for row in rows] for rows in answered]
    outcomes = [
        Outcome(case.id, longer > shorter, longer - shorter)
        for case, (longer, shorter) in zip(cases, sums, strict=True)
    ]
    groups = {"diagnostic": "lengths", "category": "all"}
    counts = [float(bool(outcome.passed)) for outcome in outcomes]
    row = share("stereotype score", counts, groups)
    return Scored(outcomes, [replace(row, basis=Basis("cases"), headline=True)])

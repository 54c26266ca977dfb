"""Trying settings, each from the same weights: the best is taken, and what was tried need not be tried again."""

import math
from collections.abc import Callable, Sequence

from ..core.errors import ModelError
from .stage import BrokenTrainingError, Progress, Search, Try


def best_try(search: Search, scores: Sequence[float]) -> Try:
    """The first of those that did best; a try that broke down is none."""
    if all(map(math.isnan, scores)):
        raise ModelError(
            f"every try of {search.title} broke down",
            why=f"{len(scores)} were made, and the loss of each was no number any more",
            fix="lower rates: train.learning_rate, or train.options.METHOD.learning_rate",
        )
    return search.tries[max(range(len(scores)), key=lambda at: (_rank(scores[at]), -at))]


def _rank(score: float) -> float:
    return -math.inf if math.isnan(score) else score


def run_search(
    search: Search, known: Sequence[float], keep: Callable[[list[float]], None], progress: Progress
) -> list[float]:
    """The score of every try; `known` are those of an earlier attempt, `keep` is given all of them after each."""
    scores = list(known)
    if len(scores) >= len(search.tries):
        return scores[: len(search.tries)]
    model = search.base(progress)
    network = model.network(model.trained)
    start = {name: weight.clone() for name, weight in network.state_dict().items()}
    for number in range(len(scores), len(search.tries)):
        network.load_state_dict(start)
        progress(f"trying {search.title}", number + 1, len(search.tries))
        try:
            scores.append(search.score(model, search.tries[number], progress))
        except BrokenTrainingError:
            scores.append(math.nan)
        keep(scores)
    return scores

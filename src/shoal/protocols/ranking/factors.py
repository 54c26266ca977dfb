"""Factors: the numbers that models are ranked by (Singhal et al. 2023, sections 3, 5 and 6.1).

A factor has a value for each example. Its mean over a probe set ranks the models, high or low first according to its
direction. RANDOM and GUESS have no values; they are what a factor must beat. To add a factor, write its function here
or in `word_factors.py` and add a line to FACTORS.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.errors import PlanError, nearest
from ...core.records import Answers, Case
from ...explaining.attributions import Attribution
from ...stats.ranking import guess
from . import word_factors as words

Direction = Literal["better", "worse", ""]
"""Whether a high value means better or worse accuracy; empty without values."""
Values = list[float | None]
Attributions = Sequence[Attribution | None]
FromWords = Callable[[Case, Attribution], float | None]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor, with exactly one of the functions below."""

    name: str
    direction: Direction
    about: str = ""
    from_answers: Callable[[Sequence[Case], Answers], Values] | None = None
    from_words: FromWords | None = None
    order: Callable[[int, int, Generator], NDArray[np.float64]] | None = None
    """Order by chance: (models, probe sets, generator) to how often each model precedes each other."""
    expected: Callable[[Sequence[float]], float] | None = None
    """Expected few-shot accuracy, from the models' accuracies alone."""
    explainer: str = ""
    """The explainer whose attributions it uses; empty if it needs none."""

    def values(self, cases: Sequence[Case], answers: Answers, attributions: Attributions = ()) -> Values:
        """Return its value for each case; `attributions` are those of its explainer."""
        if self.from_answers is not None:
            return self.from_answers(cases, answers)
        assert self.from_words is not None
        pairs = zip(cases, attributions, strict=True)
        return [None if row is None else self.from_words(case, row) for case, row in pairs]


# Factors from answers


def is_right(cases: Sequence[Case], answers: Answers) -> Values:
    """Return 1 for a right answer and 0 for a wrong one; None without a label or an answer."""
    return [
        None
        if row in answers.errors or not case.labels
        else float(answers.labels[answers.predictions[row]] == case.labels[0])
        for row, case in enumerate(cases)
    ]


def confidence(cases: Sequence[Case], answers: Answers) -> Values:
    """Return the probability of the predicted label; None where the model gave none."""
    if answers.probabilities is not None:
        numbers = answers.probabilities[np.arange(len(cases)), answers.predictions]
    elif answers.confidences is not None:
        numbers = answers.confidences
    else:
        return [None] * len(cases)
    return [
        None if row in answers.errors or np.isnan(number) else float(number)
        for row, number in enumerate(numbers)
    ]


def true_label_probability(cases: Sequence[Case], answers: Answers) -> Values:
    """Return the probability of the true label, 0 if the model does not have that label; None if unknown."""
    if answers.probabilities is None:
        return [None] * len(cases)
    columns = {label: column for column, label in enumerate(answers.labels)}
    values: Values = []
    for row, case in enumerate(cases):
        if row in answers.errors or not case.labels or np.isnan(answers.probabilities[row, 0]):
            values.append(None)
        else:
            column = columns.get(str(case.labels[0]))
            values.append(0.0 if column is None else float(answers.probabilities[row, column]))
    return values


def coin_flips(models: int, sets: int, rng: Generator) -> NDArray[np.float64]:
    """Return how often each model precedes each other one if a coin decides; NaN on the diagonal."""
    first, second = np.triu_indices(models, 1)
    shares = rng.binomial(sets, 0.5, size=len(first)) / sets
    order = np.full((models, models), np.nan)
    order[first, second], order[second, first] = shares, 1 - shares
    return order


def _of_text(name: str, about: str, function: FromWords) -> Factor:
    return Factor(name, "worse", about, from_words=function)


def _of_pair(name: str, about: str, function: FromWords) -> Factor:
    def value(case: Case, attribution: Attribution) -> float | None:
        return function(case, attribution) if len(case.examples[0]) > 1 else None

    return Factor(name, "worse", about, from_words=value)


FACTORS = {
    factor.name: factor
    for factor in (
        Factor("ACC", "better", "accuracy on the probe set", is_right),
        Factor("CONF", "better", "probability of the predicted label", confidence),
        Factor("CONF-GT", "better", "probability of the true label", true_label_probability),
        _of_text("IRREG", "minus the weight around the annotated irregular verb", words.window),
        _of_text("VERB", "minus the weight around the annotated main verb", words.window),
        _of_text("ADJ", "minus the weight around the annotated adjective", words.window),
        _of_pair("SUM-DIFF", "weight of the first text minus the second", words.sum_difference),
        _of_pair("MAX-DIFF", "largest weight in the first text minus the second", words.max_difference),
        _of_pair("INDEX-DIFF", "weight of shared words, first text minus second", words.index_difference),
        _of_pair("SUBSEQUENCE", "weight of the second text inside the first", words.subsequence),
        _of_pair("FIRST-TOK", "weight of the first separator of a pair", words.first_separator),
        _of_pair("CONST", "minus the weight of words such as unless, if, or", words.control_words),
        _of_pair("SWAP-AVG", "minus the mean weight of swapped words", words.swapped_mean),
        _of_pair(
            "SWAP-MAX-DIFF", "largest weight of a swapped word, first text minus second", words.swapped_max
        ),
        Factor("RANDOM", "", "a coin flip for each pair and probe set", order=coin_flips),
        Factor("GUESS", "", "one model first, the others in random order", expected=guess),
    )
}


# Factors as the settings name them


def parse_factors(names: Sequence[str], explainers: Sequence[str]) -> list[Factor]:
    """Return the factors that settings name, once for each explainer where they need attributions."""
    factors: list[Factor] = []
    for name in names:
        if name not in FACTORS:
            raise PlanError(
                f"unknown factor {name!r}",
                why=f"known factors are {', '.join(FACTORS)}",
                fix=nearest(name, FACTORS) or "use one of these",
            )
        factor = FACTORS[name]
        if factor.from_words is None:
            factors.append(factor)
        elif explainers:
            factors += [replace(factor, name=f"{name} ({each})", explainer=each) for each in explainers]
        else:
            raise PlanError(
                f"factor {name!r} needs an explainer",
                why="it is computed from attributions, and no explainer is set",
                fix='explainers = ["shapley"]; on the command line --set explainers=shapley',
            )
    return factors

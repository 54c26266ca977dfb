"""Factors: the numbers that models are ranked by (Singhal et al. 2023, sections 3, 5 and 6.1).

A factor has a value for each example. Its mean over a probe set ranks the models, high or low first according to its
direction. RANDOM and GUESS have no values; they are what a factor must beat. To add a factor, write its function here
or in `word_factors.py` and add a line to FACTORS. `"module:function=worse"` names a function of the user's:

    def length(case, prediction, probabilities):
        return len(case.examples[0][0])

`prediction` is None and `probabilities` is empty where the model gave none. A fourth parameter, `attribution`, receives
the attribution of each explainer in turn.
"""

import inspect
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.errors import PlanError, nearest
from ...core.files import digest
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
    custom: Callable[..., float | None] | None = None
    """A function of the user."""
    order: Callable[[int, int, Generator], NDArray[np.float64]] | None = None
    """Order by chance: (models, probe sets, generator) to how often each model precedes each other."""
    expected: Callable[[Sequence[float]], float] | None = None
    """Expected few-shot accuracy, from the models' accuracies alone."""
    explainer: str = ""
    """The explainer whose attributions it uses; empty if it needs none."""

    @property
    def has_values(self) -> bool:
        """Whether it has a value for each example."""
        return bool(self.direction)

    @property
    def needs_attributions(self) -> bool:
        """Whether it is computed from attributions."""
        if self.custom is not None:
            return "attribution" in inspect.signature(self.custom).parameters
        return self.from_words is not None

    def values(self, cases: Sequence[Case], answers: Answers, attributions: Attributions = ()) -> Values:
        """Return its value for each case; `attributions` are those of its explainer."""
        if self.custom is not None:
            return [_custom_value(self, case, row, answers, attributions) for row, case in enumerate(cases)]
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
    for factor in map(parse_factor, names):
        if not factor.needs_attributions:
            factors.append(factor)
            continue
        if not explainers:
            raise PlanError(
                f"factor {factor.name!r} needs an explainer",
                why="it is computed from attributions, and no explainer is set",
                fix='explainers = ["shapley"]; on the command line --set explainers=shapley',
            )
        factors += [replace(factor, name=f"{factor.name} ({name})", explainer=name) for name in explainers]
    return factors


def parse_factor(written: str) -> Factor:
    """Return the factor that a setting means: a name of the table, or `module:function=worse` (or `=better`)."""
    name, equals, word = written.partition("=")
    if equals and word not in ("better", "worse"):
        raise PlanError(
            f"factor {written!r}: unknown direction {word!r}",
            why="the direction says what a high value means for accuracy",
            fix=f"{name}=worse, or {name}=better",
        )
    direction: Any = word
    if ":" in name:
        if not equals:
            raise PlanError(
                f"factor {name!r} has no direction",
                why="a direction that is chosen afterwards makes every factor look good",
                fix=f"{name}=worse if high values are worse, or {name}=better",
            )
        return Factor(name, direction, custom=_load(name))
    if name not in FACTORS:
        raise PlanError(
            f"unknown factor {name!r}",
            why=f"known factors are {', '.join(FACTORS)}",
            fix=nearest(name, FACTORS) or "use one of these, or module:function=worse for your own",
        )
    factor = FACTORS[name]
    if equals and not factor.has_values:
        raise PlanError(f"factor {written!r}: {name} takes no direction", fix=name)
    return replace(factor, direction=direction or factor.direction)


def identity(written: str) -> Any:
    """Return what decides a factor's values: its name, and the code of a user's function."""
    factor = parse_factor(written)
    if factor.custom is None:
        return written
    file = sys.modules[written.partition(":")[0]].__file__
    return {"factor": written, "code": digest(Path(file)) if file else ""}


# Functions of the user


def _load(name: str) -> Callable[..., float | None]:
    """Import the function that `module:function` names, from Python's path or the current folder."""
    module, _, function = name.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        loaded: Callable[..., float | None] | None = getattr(import_module(module), function, None)
    except Exception as problem:
        raise PlanError(
            f"factor {name!r}: {module} cannot be imported",
            why=f"{type(problem).__name__}: {problem}",
            fix="put the module into this folder or on Python's path",
        ) from None
    if loaded is None or not callable(loaded):
        raise PlanError(
            f"factor {name!r}: {module} has no function {function!r}",
            fix="module:function=worse, or module:function=better",
        )
    return loaded


def _custom_value(
    factor: Factor, case: Case, row: int, answers: Answers, attributions: Attributions
) -> float | None:
    assert factor.custom is not None
    prediction = None if row in answers.errors else answers.labels[answers.predictions[row]]
    probabilities: dict[str, float] = {}
    if prediction is not None and answers.probabilities is not None:
        probabilities = dict(zip(answers.labels, answers.probabilities[row].tolist(), strict=True))
    options = {"attribution": attributions[row]} if factor.needs_attributions else {}
    is_known = not any(map(math.isnan, probabilities.values()))
    try:
        value = factor.custom(case, prediction, probabilities if is_known else {}, **options)
        number = None if value is None else float(value)
    except Exception as problem:
        raise _failed(factor, case, f"{type(problem).__name__}: {problem}") from None
    if number is not None and not math.isfinite(number):
        raise _failed(factor, case, f"it returned {value!r}")
    return number


def _failed(factor: Factor, case: Case, why: str) -> PlanError:
    return PlanError(
        f"factor {factor.name!r} failed on example {case.id!r}", why=why, fix="return a finite number or None"
    )

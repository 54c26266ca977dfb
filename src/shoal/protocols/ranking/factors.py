"""Factors: the numbers that models are ranked by (Singhal et al. 2023; `docs/method/ranking.md` 6.3 and 6.4).

A factor has a value for each example, or None where it does not apply. Its mean over a probe set ranks the models, high
or low first according to its direction. RANDOM and GUESS have no values; they are what a factor must beat. To add a
factor, write its function and add a line to FACTORS.

Factors from words take a case and its attribution. Those for pairs are called for pairs only. Words are compared in
lower case without punctuation around them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...core.errors import PlanError, nearest
from ...core.records import Answers, Case
from ...explaining.attributions import SPECIAL, Attribution, plain_word
from ...stats.ranking import guess

FEATURE = "feature"
"""The key of a case's `meta` that holds the annotated word."""
REACH = 2
"""Words on either side of the annotated word that belong to its window."""
CONTROL_WORDS = frozenset(
    """
    if unless after before because although though since while hoped claimed thought believed said
    assumed forgot learned remembered knew or and supposedly probably maybe hopefully certainly
    definitely clearly obviously suddenly
    """.split()  # noqa: SIM905 (a list of words reads better as text)
)
"""From HANS's templates for the constituent heuristic."""
FUNCTION_WORDS = frozenset(
    """
    a an the this that these those some any no each every all both of in on at by for from to into onto
    with without about as than then over under between among through during before after since until
    against and or but nor so if when while because although though unless whether is are was were be
    been being am do does did done has have had having can could will would shall should may might must
    not n't i you he she it we they me him her us them my your his its our their mine yours hers ours
    theirs who whom whose which what where why how there here
    """.split()  # noqa: SIM905 (a list of words reads better as text)
)

Positions = list[int]
Pairs = list[tuple[int, int]]
"""Positions in the first text and in the second."""
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
        texts = 1 if self.from_words is window else 2  # all others compare two texts
        return [
            self.from_words(case, row) if row is not None and len(case.examples[0]) >= texts else None
            for case, row in zip(cases, attributions, strict=True)
        ]


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


# One text


def window(case: Case, attribution: Attribution) -> float | None:
    """Return IRREG, VERB or ADJ: minus the weight of the annotated word and two words on either side."""
    annotated = plain_word(str(case.meta.get(FEATURE, "")))
    words = [plain_word(word) for word in attribution.words_of(0)]
    if not annotated or annotated not in words:
        return None
    position = words.index(annotated)
    return -float(attribution.of_text(0)[max(0, position - REACH) : position + REACH + 1].sum())


# Pairs of texts


def sum_difference(case: Case, attribution: Attribution) -> float | None:
    """Return SUM-DIFF: the weight of the first text minus that of the second."""
    return float(attribution.of_text(0).sum() - attribution.of_text(1).sum())


def max_difference(case: Case, attribution: Attribution) -> float | None:
    """Return MAX-DIFF: the largest weight of a word in the first text minus that in the second."""
    first, second = attribution.of_text(0), attribution.of_text(1)
    return float(first.max() - second.max()) if len(first) and len(second) else None


def index_difference(case: Case, attribution: Attribution) -> float | None:
    """Return INDEX-DIFF: the weight of shared words in the first text minus that in the second."""
    pairs = shared_words(attribution.words_of(0), attribution.words_of(1))
    first, second = attribution.of_text(0), attribution.of_text(1)
    return sum(float(first[a] - second[b]) for a, b in pairs) if pairs else None


def subsequence(case: Case, attribution: Attribution) -> float | None:
    """Return SUBSEQUENCE: the weight of the words of the first text that are the second text."""
    pairs = contiguous(attribution.words_of(0), attribution.words_of(1))
    return float(attribution.of_text(0)[[a for a, _ in pairs]].sum()) if pairs else None


def first_separator(case: Case, attribution: Attribution) -> float | None:
    """Return FIRST-TOK: the weight of the first separator such as [SEP]; None for models without one."""
    texts = attribution.units.texts
    if 0 not in texts:
        return None
    end = len(texts) - texts[::-1].index(0)
    position = next((position for position in range(end, len(texts)) if texts[position] == SPECIAL), None)
    return None if position is None else float(attribution.values[position])


def control_words(case: Case, attribution: Attribution) -> float | None:
    """Return CONST: minus the weight of control words of the premise outside the hypothesis (HANS).

    A model that infers "the artist slept" from "Unless the artist slept, …" ignores them.
    """
    premise = attribution.words_of(0)
    inside = {a for a, _ in contiguous(premise, attribution.words_of(1))}
    positions = [
        position
        for position, word in enumerate(premise)
        if plain_word(word) in CONTROL_WORDS and position not in inside
    ]
    return -float(attribution.of_text(0)[positions].sum()) if positions else None


def swapped_mean(case: Case, attribution: Attribution) -> float | None:
    """Return SWAP-AVG: minus the mean weight of the swapped words of both texts (PAWS)."""
    first, second = swapped_words(attribution.words_of(0), attribution.words_of(1))
    values = [*attribution.of_text(0)[first], *attribution.of_text(1)[second]]
    return -float(sum(values) / len(values)) if values else None


def swapped_max(case: Case, attribution: Attribution) -> float | None:
    """Return SWAP-MAX-DIFF: the swapped word with the largest absolute weight, first text minus second (PAWS)."""
    first, second = swapped_words(attribution.words_of(0), attribution.words_of(1))
    if not first or not second:
        return None
    return float(max(attribution.of_text(0)[first], key=abs) - max(attribution.of_text(1)[second], key=abs))


# Which words of two texts correspond


def _plain(words: Sequence[str]) -> tuple[list[str], Positions]:
    """Return the words to compare, and the position of each."""
    kept = [(plain_word(word), position) for position, word in enumerate(words) if plain_word(word)]
    return [word for word, _ in kept], [position for _, position in kept]


def contiguous(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """Return where the whole second text first occurs in the first; empty if it does not.

    >>> contiguous("the cat saw the dog".split(), "the dog .".split())
    [(3, 0), (4, 1)]
    """
    words, positions = _plain(first)
    wanted, others = _plain(second)
    for start in range(len(words) - len(wanted) + 1 if wanted else 0):
        if words[start : start + len(wanted)] == wanted:
            return list(zip(positions[start:], others, strict=False))
    return []


def shared_words(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """Return the words that both texts have: the whole second text inside the first, else one to one from the left.

    >>> shared_words("the dog saw a cat".split(), "a dog saw the bird".split())
    [(0, 3), (1, 1), (2, 2), (3, 0)]
    """
    whole = contiguous(first, second)
    if whole:
        return whole
    words, positions = _plain(first)
    wanted, others = _plain(second)
    pairs: Pairs = []
    for word, position in zip(words, positions, strict=True):
        if word in wanted:
            match = wanted.index(word)
            pairs.append((position, others[match]))
            wanted[match] = ""
    return pairs


def swapped_words(first: Sequence[str], second: Sequence[str]) -> tuple[Positions, Positions]:
    """Return the content words that changed places between two texts.

    Common beginnings and ends are set aside. If the rest is A P B against B P A, with P as long as possible, these are
    A and B; else everything outside the leftmost longest common subsequence.
    """
    words, positions = _plain(first)
    others, other_positions = _plain(second)
    start = 0
    while start < min(len(words), len(others)) and words[start] == others[start]:
        start += 1
    end = 0
    while end < min(len(words), len(others)) - start and words[-1 - end] == others[-1 - end]:
        end += 1
    rest, other_rest = words[start : len(words) - end], others[start : len(others) - end]
    left, right = exchanged(rest, other_rest) or outside_common(rest, other_rest)
    return (
        [positions[start + at] for at in left if rest[at] not in FUNCTION_WORDS],
        [other_positions[start + at] for at in right if other_rest[at] not in FUNCTION_WORDS],
    )


def exchanged(first: Sequence[str], second: Sequence[str]) -> tuple[Positions, Positions] | None:
    """Return the positions of A and B in A P B and B P A; None if the texts do not have this form.

    >>> exchanged(list("abpc"), list("cpab"))
    ([0, 1, 3], [0, 2, 3])
    """
    size = len(first)
    if size != len(second):
        return None
    for total in range(2, size + 1):
        for a in range(1, total):
            b = total - a
            ends = first[:a] == second[size - a :] and first[size - b :] == second[:b]
            if ends and first[a : size - b] == second[b : size - a]:
                return [*range(a), *range(size - b, size)], [*range(b), *range(size - a, size)]
    return None


def outside_common(first: Sequence[str], second: Sequence[str]) -> tuple[Positions, Positions]:
    """Return the positions outside the leftmost longest common subsequence.

    >>> outside_common(list("axb"), list("ayb"))
    ([1], [1])
    """
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for a in reversed(range(len(first))):
        for b in reversed(range(len(second))):
            same = first[a] == second[b]
            longest[a][b] = 1 + longest[a + 1][b + 1] if same else max(longest[a + 1][b], longest[a][b + 1])
    left, right = set(range(len(first))), set(range(len(second)))
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            left.discard(a)
            right.discard(b)
            a, b = a + 1, b + 1
        elif longest[a][b + 1] >= longest[a + 1][b]:
            b += 1
        else:
            a += 1
    return sorted(left), sorted(right)


# All factors


def _from_words(name: str, about: str, function: FromWords) -> Factor:
    return Factor(name, "worse", about, from_words=function)


FACTORS = {
    factor.name: factor
    for factor in (
        Factor("ACC", "better", "accuracy on the probe set", is_right),
        Factor("CONF", "better", "probability of the predicted label", confidence),
        Factor("CONF-GT", "better", "probability of the true label", true_label_probability),
        _from_words("IRREG", "minus the weight around the annotated irregular verb", window),
        _from_words("VERB", "minus the weight around the annotated main verb", window),
        _from_words("ADJ", "minus the weight around the annotated adjective", window),
        _from_words("SUM-DIFF", "weight of the first text minus the second", sum_difference),
        _from_words("MAX-DIFF", "largest weight in the first text minus the second", max_difference),
        _from_words("INDEX-DIFF", "weight of shared words, first text minus second", index_difference),
        _from_words("SUBSEQUENCE", "weight of the second text inside the first", subsequence),
        _from_words("FIRST-TOK", "weight of the first separator of a pair", first_separator),
        _from_words("CONST", "minus the weight of words such as unless, if, or", control_words),
        _from_words("SWAP-AVG", "minus the mean weight of swapped words", swapped_mean),
        _from_words(
            "SWAP-MAX-DIFF", "largest weight of a swapped word, first text minus second", swapped_max
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

"""What answers must be, whichever model gave them.

about one example   a number that is none, or nothing: that example is an error, which is counted; never a label
about the model     shapes that do not fit, numbers that are no probabilities, labels that nobody knows: refused,
                    with what to do instead
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, some
from ..core.records import Answers, Case

Floats = NDArray[np.float64]

OFF_BY = 1e-3
"""How far probabilities may be from summing to 1, and a chosen label below the likeliest: half precision, rounding."""
OUTSIDE = 1e-6
LONGEST_MESSAGE = 2_000
"""Letters kept of what a model says when it fails; some put their whole input there."""
NO_NAME = "column "
"""How a column is called that nobody has named: its place must not pass for a label that is a number."""
NOT_FINITE = "the model gave numbers that are not finite"


def validated(answers: Answers, count: int, labels: Sequence[str] | None, who: str) -> Answers:
    """The answers to `count` examples, the rows that cannot be judged made errors."""
    if not isinstance(answers, Answers):
        raise ModelError(
            f"{who}: its classify gave {type(answers).__name__}, not Answers",
            fix="shoal.core.records.Answers, or a plain function: docs/models.md says what it may give",
        )
    _check_shapes(answers, count, who)
    if answers.labels:
        _check_labels(answers, labels, who)
    errors = {int(row): NOT_FINITE for row in np.flatnonzero(_not_finite(answers, count))}
    errors |= {row: shortened(message) for row, message in answers.errors.items()}
    kept = np.array([row not in errors for row in range(count)], bool)
    if answers.probabilities is not None:
        _check_probabilities(answers.probabilities[kept], who)
        _check_choices(answers.predictions[kept], answers.probabilities[kept], answers.labels, who)
    if answers.confidences is not None:
        _check_confidences(answers.confidences[kept], len(labels or answers.labels), who)
    return replace(
        answers,
        predictions=np.where(kept, answers.predictions, 0),
        probabilities=_without(answers.probabilities, ~kept),
        confidences=_without(answers.confidences, ~kept),
        errors=errors,
    )


def shortened(message: str) -> str:
    """A message cut to what a reader can use.

    >>> shortened("x" * 5000)[-22:]
    'xxxx … (5,000 letters)'
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[:LONGEST_MESSAGE]} … ({len(message):,} letters)"


def in_words(problem: BaseException) -> str:
    """What an exception of the user's says, even where saying it fails.

    >>> in_words(ValueError("no"))
    'ValueError: no'
    """
    try:
        message = str(problem)
    except Exception:
        message = "(its message cannot be shown)"
    return shortened(f"{type(problem).__name__}: {message}")


# Suites whose labels are bare numbers


def number_labels(cases: Iterable[Case]) -> tuple[str, ...] | None:
    """The labels of cases that have none but bare numbers, ascending; perhaps not all there are.

    >>> number_labels([Case("f/1", (("good",),), (10,)), Case("f/2", (("bad",),), ("not_2",))])
    ('2', '10')
    """
    words = {str(label).removeprefix("not_") for case in cases for label in case.labels or ()}
    return tuple(sorted(words, key=int)) if words and all(map(_is_number, words)) else None


def check_numbers(answers: Answers, numbers: Sequence[str] | None, who: str) -> None:
    """Words are not taken for numbers: which of them is which, only the user can say."""
    words = list(answers.labels)
    if answers.probabilities is None:
        rows = (row for row in range(len(answers.predictions)) if row not in answers.errors)
        words = sorted({answers.labels[answers.predictions[row]] for row in rows})
    if numbers and not all(map(_is_number, words)):
        places = numbers if len(numbers) == len(words) else [str(place) for place in range(len(words))]
        named = ",".join(f"{word}:…" for word in words)
        raise ModelError(
            f"{who} answers {some(words)}; the suite's labels are the numbers {some(numbers)}",
            why="which number a name means cannot be told; a wrong guess turns every answer round",
            fix=f"?labels={','.join(places)}, in the order of the model's own labels"
            if words[0].startswith(NO_NAME)
            else f"?labels={named} with the suite's number behind each; or give names to the suite's labels",
        )


def _is_number(word: str) -> bool:
    return word.isdecimal() and len(word) < 10


# Shapes


def _check_shapes(answers: Answers, count: int, who: str) -> None:
    codes = answers.predictions
    if not answers.labels:  # words of a text
        _fits(len(answers.texts) == count, f"{len(answers.texts)} answers to {count} examples", who)
    _fits(codes.shape == (count,), f"{_shape(codes)} labels to {count} examples", who)
    _fits(codes.dtype.kind in "iu", f"labels that are no whole numbers, but {codes.dtype}", who)
    for numbers, shape in (
        (answers.probabilities, (count, len(answers.labels))),
        (answers.confidences, (count,)),
    ):
        if numbers is not None:
            _fits(
                numbers.shape == shape,
                f"{_shape(numbers)} numbers to {count} examples and {len(answers.labels)} labels",
                who,
            )


def _fits(fits: bool, what: str, who: str) -> None:
    if not fits:
        raise ModelError(
            f"{who} gave {what}",
            why="one answer to each example is expected, in the order of the examples",
            fix="let it answer every example it is given, and no other",
        )


def _shape(numbers: NDArray[np.generic]) -> str:
    return " x ".join(map(str, numbers.shape)) or "no list of"


def _check_labels(answers: Answers, labels: Sequence[str] | None, who: str) -> None:
    strange = [name for name in answers.labels if labels is not None and name not in labels]
    if strange or len(set(answers.labels)) < len(answers.labels):
        raise ModelError(
            f"{who} answers {', '.join(answers.labels)}; the suite's labels are {', '.join(labels or ())}",
            why=f"the suite has no {some(strange)}" if strange else "one name stands for two labels",
            fix="answer with the suite's names",
        )
    outside = (answers.predictions < 0) | (answers.predictions >= len(answers.labels))
    if outside.any():
        raise ModelError(
            f"{who} answers with label number {answers.predictions[outside][0]}",
            why=f"there are {len(answers.labels)}: {', '.join(answers.labels)}",
            fix="number the labels from 0",
        )


# Numbers


def _not_finite(answers: Answers, count: int) -> NDArray[np.bool_]:
    """The rows in which some number is none."""
    broken = np.zeros(count, bool)
    if answers.probabilities is not None:
        broken |= ~np.isfinite(answers.probabilities).all(axis=1)
    if answers.confidences is not None:
        broken |= ~np.isfinite(answers.confidences)
    return broken


def _check_probabilities(vectors: Floats, who: str) -> None:
    if not vectors.size:
        return
    outside = ((vectors < -OUTSIDE) | (vectors > 1 + OUTSIDE)).any(axis=1)
    if outside.any():
        row = vectors[outside][0]
        raise ModelError(
            f"{who} gave numbers that are no probabilities: {some(row.round(6), 8)}",
            why="a probability lies between 0 and 1",
            fix=_remedy(vectors),
        )
    sums = vectors.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > OFF_BY:
        raise ModelError(
            f"{who} gave numbers that are no probabilities: {some(vectors[worst].round(6), 8)}",
            why=f"they sum to {sums[worst]:.6g}, not to 1",
            fix="the probability of every label of the suite, for each example; where several labels may hold at "
            "once there is no verdict to judge",
        )


def _remedy(vectors: Floats) -> str:
    if (vectors <= OUTSIDE).all():
        return "these look like log-probabilities: give numpy.exp of them"
    if (vectors >= 0).all() and np.abs(vectors.sum(axis=1) - 100).max() < 1:
        return "these look like percentages: divide them by 100"
    return "these look like margins or logits: give scipy.special.softmax(numbers, axis=1), or labels alone"


def _check_confidences(confidences: Floats, count: int, who: str) -> None:
    outside = (confidences < -OUTSIDE) | (confidences > 1 + OUTSIDE)
    if outside.any():
        raise ModelError(
            f"{who} gave the confidence {confidences[outside][0]:.6g}",
            why="a confidence is the probability of the label that is given, between 0 and 1; margins and "
            "log-probabilities are none",
            fix="probabilities, or the labels alone",
        )
    unsure = confidences < 1 / max(count, 1) - OFF_BY
    if unsure.any():
        raise ModelError(
            f"{who} gave the confidence {confidences[unsure][0]:.6g}",
            why=f"that leaves more for another of {count} labels, which would then be the answer",
            fix="the probability of the label that is given, or the labels alone",
        )


def _check_choices(codes: NDArray[np.int64], vectors: Floats, labels: Sequence[str], who: str) -> None:
    """A label that is not the likeliest contradicts its own probabilities."""
    if not vectors.size:
        return
    chosen = vectors[np.arange(len(codes)), codes]
    wrong = np.flatnonzero(chosen < vectors.max(axis=1) - OFF_BY)
    if len(wrong):
        row = int(wrong[0])
        pairs = [f"{name} {number:.4g}" for name, number in zip(labels, vectors[row], strict=True)]
        raise ModelError(
            f"{who} answers {labels[codes[row]]} where its probabilities are {some(pairs, 8)}",
            why="the label is not the likeliest one: labels and probabilities contradict each other",
            fix="give the probabilities alone, or each label with one confidence",
        )


def _without(numbers: Floats | None, rows: NDArray[np.bool_]) -> Floats | None:
    """The numbers, NaN in these rows."""
    if numbers is None:
        return None
    emptied = np.array(numbers, np.float64)
    emptied[rows] = np.nan
    return emptied

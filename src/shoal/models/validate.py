"""Read and validate the answers of a model.

A callable may answer in these forms; any other is an error:

    an array (examples, labels), a list of lists, a table with named columns   probabilities
    [{"negative": 0.1, "positive": 0.9}, …]                                    probabilities by name
    [{"label", "score"}, …], or a list of such lists                           as a Transformers pipeline answers
    (predictions, confidences)                                                 labels, and a number or a vector each
    a list of labels                                                           names or numbers

A problem with one example (NaN, `None`) makes that example an error. A problem with the model (wrong shapes, numbers
that are not probabilities, unknown labels) raises a ModelError.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, some
from ..core.records import Answers, Case
from .labels import NO_NAME, extreme_labels, in_suite_order

Floats = NDArray[np.float64]

OFF_BY = 1e-3
"""Tolerance for sums of probabilities and for the margin of the predicted label: half precision, rounding."""
OUTSIDE = 1e-6
LONGEST_MESSAGE = 2_000
"""Characters kept of an error message; some contain the whole input."""
NOT_FINITE = "the model gave numbers that are not finite"
NO_OUTPUT = "the model gave no answer"
FORMS = (
    "one answer per example: a list of labels, an array (examples, labels) of probabilities, "
    'a list of {"negative": 0.1, "positive": 0.9}, or (predictions, confidences)'
)


def validated(answers: Answers, count: int, labels: Sequence[str] | None, who: str) -> Answers:
    """Return the answers to `count` examples, with rows that cannot be scored turned into errors."""
    _check_shapes(answers, count, who)
    if answers.labels:
        _check_labels(answers, labels, who)
    numbers = [column for column in (answers.probabilities, answers.confidences) if column is not None]
    is_broken = ~np.isfinite(np.column_stack([np.zeros(count), *numbers])).all(axis=1)
    errors = {int(row): NOT_FINITE for row in np.flatnonzero(is_broken)}
    errors |= {row: shortened(message) for row, message in answers.errors.items()}
    kept = np.array([row not in errors for row in range(count)], bool)
    codes = np.where(kept, answers.predictions, 0)
    vectors, confidences = answers.probabilities, answers.confidences
    if vectors is not None:
        vectors = np.where(kept[:, None], np.asarray(vectors, np.float64), np.nan)
        check_probabilities(vectors, codes, answers.labels, lambda row: who)
    if confidences is not None:
        confidences = np.where(kept, np.asarray(confidences, np.float64), np.nan)
        check_confidences(confidences, len(labels or answers.labels), lambda row: who)
    return replace(answers, predictions=codes, probabilities=vectors, confidences=confidences, errors=errors)


def arranged(
    written: Sequence[str],
    theirs: Sequence[str],
    vectors: Floats,
    labels: Sequence[str] | None,
    errors: Mapping[int, str] | None = None,
) -> Answers:
    """Return probabilities of labels that the model calls `written` and the suite `theirs`, in the suite's order."""
    names = tuple(in_suite_order(theirs, labels))
    columns = vectors[:, [theirs.index(name) for name in names]]
    return Answers(
        names,
        np.where(np.isfinite(columns), columns, -np.inf).argmax(axis=1),
        columns,
        errors=errors or {},
        label_map=dict(zip(written, theirs, strict=True)),
        band=names == extreme_labels(labels or ()),
    )


def shortened(message: str) -> str:
    """Return a message of a model or its server, cut at 2,000 characters.

    >>> shortened("x" * 5000)[-20:]
    '… (5,000 characters)'
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[:LONGEST_MESSAGE]} … ({len(message):,} characters)"


def exception_text(problem: BaseException) -> str:
    """Return the type and message of an exception, even if its `str` fails.

    >>> exception_text(ValueError("no"))
    'ValueError: no'
    """
    try:
        message = str(problem)
    except Exception:
        message = "(message not available)"
    return shortened(f"{type(problem).__name__}: {message}")


# Suites with numeric labels


def number_labels(cases: Iterable[Case]) -> tuple[str, ...] | None:
    """Return the labels of cases whose labels are all numbers, ascending; None if some are names.

    >>> number_labels([Case("f/1", (("good",),), (10,)), Case("f/2", (("bad",),), ("not_2",))])
    ('2', '10')
    """
    words = {str(label).removeprefix("not_") for case in cases for label in case.labels or ()}
    return tuple(sorted(words, key=int)) if words and all(map(_is_number, words)) else None


def check_numbers(answers: Answers, numbers: Sequence[str] | None, who: str) -> None:
    """Raise if the suite's labels are numbers and the model's are names: the mapping is unknown."""
    words = list(answers.labels)
    if answers.probabilities is None:
        rows = (row for row in range(len(answers.predictions)) if row not in answers.errors)
        words = sorted({answers.labels[answers.predictions[row]] for row in rows})
    if numbers and not all(map(_is_number, words)):
        places = numbers if len(numbers) == len(words) else [str(place) for place in range(len(words))]
        named = ",".join(f"{word}:…" for word in words)
        raise ModelError(
            f"{who} answers {some(words)}; the suite's labels are the numbers {some(numbers)}",
            why="shoal cannot map names to numbers, and a wrong guess would invert every prediction",
            fix=f"?labels={','.join(places)}, in the order of the model's own labels"
            if words[0].startswith(NO_NAME)
            else f"?labels={named} with the suite's number after each colon; or name the suite's labels",
        )


def _is_number(word: str) -> bool:
    return word.isdecimal() and len(word) < 10


# Shapes


def _check_shapes(answers: Answers, count: int, who: str) -> None:
    width = len(answers.labels)
    wanted: list[tuple[str, Any, tuple[int, ...]]]
    wanted = [("labels", answers.predictions, (count,)), ("confidences", answers.confidences, (count,))]
    wanted += [("probabilities", answers.probabilities, (count, width))]
    if not answers.labels:
        wanted += [("texts", np.empty(len(answers.texts)), (count,))]
    for what, numbers, shape in wanted:
        if numbers is not None and numbers.shape != shape:
            given = " x ".join(map(str, numbers.shape)) or "scalar"
            raise ModelError(
                f"{who} gave {given} {what} to {count} examples" + (f" and {width} labels" if width else ""),
                why="expected one answer per example, in order",
                fix="return one answer for every example",
            )


def _check_labels(answers: Answers, labels: Sequence[str] | None, who: str) -> None:
    strange = [name for name in answers.labels if labels is not None and name not in labels]
    if strange or len(set(answers.labels)) < len(answers.labels):
        raise ModelError(
            f"{who} answers {', '.join(answers.labels)}; the suite's labels are {', '.join(labels or ())}",
            why=f"the suite has no {some(strange)}" if strange else "a name occurs twice",
            fix="return the suite's names",
        )
    codes = answers.predictions
    is_label = np.isin(codes, np.arange(len(answers.labels))) & (codes.dtype.kind in "iu")
    if not is_label.all():
        raise ModelError(
            f"{who} answers with label number {codes[~is_label][0]}",
            why=f"the {len(answers.labels)} labels are {', '.join(answers.labels)}",
            fix="number the labels from 0",
        )


# Numbers


def check_probabilities(
    vectors: Floats, codes: NDArray[np.int64], labels: Sequence[str], where: Callable[[int], str]
) -> None:
    """Raise for a row that has no probabilities, or of which the predicted label is not the most probable one.

    Rows with NaN are not checked. `where` returns the place of a row for messages.
    """
    outside = ((vectors < -OUTSIDE) | (vectors > 1 + OUTSIDE)).any(axis=1)
    wrong = outside | (np.abs(vectors.sum(axis=1) - 1) > OFF_BY)
    if wrong.any():
        row = int(np.argmax(outside if outside.any() else wrong))
        raise ModelError(
            f"{where(row)} gave numbers that are not probabilities: {some(vectors[row].round(6), 8)}",
            why="a probability lies between 0 and 1"
            if outside.any()
            else f"they sum to {vectors[row].sum():.6g}, not to 1",
            fix="one probability for every label: apply softmax to logits; to log-probabilities, numpy.exp; divide "
            "percentages by 100",
        )
    contradicts = np.flatnonzero(vectors[np.arange(len(codes)), codes] < vectors.max(axis=1) - OFF_BY)
    if len(contradicts):
        row = int(contradicts[0])
        pairs = [f"{name} {number:.4g}" for name, number in zip(labels, vectors[row], strict=True)]
        raise ModelError(
            f"{where(row)} predicts {labels[codes[row]]}, but its probabilities are {some(pairs, 8)}",
            why=f"{len(contradicts):,} of {len(codes):,} rows contradict themselves",
            fix="correct the order of the labels, or give labels alone (of a file: ?probabilities=no)",
        )


def check_confidences(confidences: Floats, count: int, where: Callable[[int], str]) -> None:
    """Raise for a confidence with which another of `count` labels would be more probable; NaN is not checked."""
    least = 1 / count if count > 1 else 0.0
    outside = np.flatnonzero((confidences < least - OFF_BY) | (confidences > 1 + OUTSIDE))
    if len(outside):
        raise ModelError(
            f"{where(int(outside[0]))} gave the confidence {confidences[outside[0]]:.6g}",
            why=f"the probability of the predicted one of {count} labels is from {least:.3g} to 1",
            fix="give probabilities, or labels alone (of a file: ?probabilities=no)",
        )


# Answers of a callable


@dataclass(frozen=True, slots=True)
class Given:
    """The output of a callable; `names` belong to the columns of `vectors`."""

    labels: list[Any] | None = None  # (examples,) as the callable writes them
    vectors: Floats | None = None  # (examples, columns)
    names: tuple[str, ...] | None = None
    confidences: Floats | None = None  # (examples,)
    missing: Mapping[int, str] = field(default_factory=dict)  # by row
    ordered: bool = True
    """Whether the order of the names comes from the callable; the order of a mapping's keys does not count."""


def read_given(given: Any, count: int, who: str) -> Given:
    """Return the output for `count` examples as columns."""
    given = _as_array(given)
    if isinstance(given, tuple):
        return _pair(given, count, who)
    if getattr(given, "ndim", 1) != 1:
        return _table(given, count, who)
    return _rows(listed(given, count, who), who)


def _pair(given: tuple[Any, ...], count: int, who: str) -> Given:
    if len(given) != 2:
        _refuse(f"gave a tuple of {len(given)}", who)
    labels = read_given(listed(given[0], count, who), count, who)
    if labels.labels is None:
        _refuse("gave (predictions, confidences) with numbers as predictions", who)
    confidences = _floats(_as_array(given[1]), who)
    if confidences.ndim not in (1, 2) or len(confidences) != count:
        _refuse(f"gave confidences of shape {confidences.shape} to {count} examples", who)
    if confidences.ndim == 1:
        return Given(labels.labels, confidences=confidences, missing=labels.missing)
    return Given(labels.labels, confidences, _column_names(given[1]), missing=labels.missing)


def _table(given: Any, count: int, who: str) -> Given:
    """Read an array with one row per example: probabilities, or labels if it has one column."""
    if given.ndim != 2 or len(given) != count:
        _refuse(f"gave an array of shape {given.shape} for {count} examples", who)
    if given.shape[1] == 1:
        return _rows([row[0] for row in np.asarray(given).tolist()], who)
    return Given(vectors=_floats(given, who), names=_column_names(given))


def _rows(rows: list[Any], who: str) -> Given:
    """Read a list of answers, all of one form."""
    missing = {place: NO_OUTPUT for place, row in enumerate(rows) if _is_missing(row)}
    forms = {_form(row, who): row for place, row in enumerate(rows) if place not in missing}
    if len(forms) > 1:
        shown = " and ".join(repr(row)[:60] for row in forms.values())
        _refuse(f"mixes two forms of answers: {shown}", who)
    given = [None if place in missing else row for place, row in enumerate(rows)]
    match next(iter(forms), "label"):
        case "scored":
            return _from_scored_labels([[] if row is None else [row] for row in given], missing, who)
        case "all scored":
            return _from_scored_labels([row or [] for row in given], missing, who)
        case "named":
            return _named([row or {} for row in given], missing, who)
        case "vector":
            return _vectors(given, missing, who)
        case "number":
            _refuse("gave one number per example, without the label that it belongs to", who)
    return Given(rows, missing=missing)


def _form(row: Any, who: str) -> str:
    if isinstance(row, Mapping):
        return "scored" if "label" in row else "named"
    if isinstance(row, str | bool | int | np.bool_ | np.integer):
        return "label"
    if isinstance(row, float | np.floating):
        return "number"
    if isinstance(row, Sequence | np.ndarray) and not isinstance(row, bytes):
        return "all scored" if len(row) and isinstance(row[0], Mapping) else "vector"
    _refuse(f"answers {repr(row)[:60]} ({type(row).__name__})", who)


def _from_scored_labels(
    rows: Sequence[Sequence[Mapping[str, Any]]], missing: Mapping[int, str], who: str
) -> Given:
    """Read lists of {label, score}; a single score per example is a confidence."""
    for pair in (pair for row in rows for pair in row):
        if not isinstance(pair, Mapping) or "label" not in pair or "score" not in pair:
            _refuse(f'answers {repr(pair)[:60]}, without "label" and "score"', who)
    if all(len(row) <= 1 for row in rows):
        scores = _floats([row[0]["score"] if row else np.nan for row in rows], who)
        return Given([row[0]["label"] if row else None for row in rows], confidences=scores, missing=missing)
    for row in rows:
        names = [str(pair["label"]) for pair in row]
        if len(set(names)) < len(names):
            _refuse(f"scores a label twice: {', '.join(names)}", who)
    return _named([{str(pair["label"]): pair["score"] for pair in row} for row in rows], missing, who)


def _named(rows: Sequence[Mapping[Any, Any]], missing: Mapping[int, str], who: str) -> Given:
    """Read probabilities by name; every row has the same names."""
    table = [{str(name): number for name, number in row.items()} for row in rows]
    names = sorted({name for row in table for name in row})
    for place, row in enumerate(table):
        if place not in missing and len(row) < len(names):
            raise other_names(names, row, who)
    vectors = _floats([[row.get(name, np.nan) for name in names] for row in table], who)
    return Given(vectors=vectors, names=tuple(names), missing=missing, ordered=False)


def other_names(first: Iterable[str], second: Iterable[str], who: str) -> ModelError:
    """Return the error for answers by name that do not have the same labels."""
    return ModelError(
        f"{who} answers {some(first)} to some texts, and {some(second)} to others",
        why="the meaning of a missing label would depend on the batch",
        fix="give the probability of every label to each text, also if it is 0",
    )


def _vectors(rows: Sequence[Any], missing: Mapping[int, str], who: str) -> Given:
    widths = sorted({len(row) for row in rows if row is not None})
    if len(widths) > 1:
        _refuse(f"gave {' numbers for one example and '.join(map(str, widths))} for another", who)
    vectors = _floats([[np.nan] * widths[0] if row is None else row for row in rows], who)
    return replace(_table(vectors, len(rows), who), missing=missing)


# Helpers


def _as_array(given: Any) -> Any:
    """Return a torch tensor as an array, anything else unchanged."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


def listed(given: Any, count: int, who: str) -> list[Any]:
    """Return one answer per example as a list of plain values."""
    given = _as_array(given)
    if given is None:
        raise ModelError(f"{who} returned None", why="a return statement may be missing", fix=FORMS)
    if isinstance(given, str | bytes | Mapping | set) or not isinstance(given, Iterable):
        _refuse(f"gave {repr(given)[:60]} ({type(given).__name__}) for {count} examples", who)
    rows = [_scalar(row) for row in given]
    if len(rows) != count:
        _refuse(f"gave {len(rows)} answers to {count} examples", who)
    return rows


def _scalar(row: Any) -> Any:
    """Return the Python number of a scalar array or tensor, anything else unchanged."""
    if hasattr(row, "detach"):
        row = _as_array(row)
    return row.item() if getattr(row, "ndim", None) == 0 and hasattr(row, "item") else row


def _is_missing(row: Any) -> bool:
    """Return whether an answer is None or NaN, as tables write missing values."""
    is_nan = isinstance(row, float) and row != row
    return row is None or is_nan or type(row).__name__ in ("NAType", "NaTType")


def _floats(numbers: Any, who: str) -> Floats:
    try:
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse(f"gave values that are not numbers: {repr(numbers)[:80]}", who)


def _column_names(given: Any) -> tuple[str, ...] | None:
    """Return the column names of a table; None if they are only numbers."""
    columns = [str(name) for name in getattr(given, "columns", ())]
    return tuple(columns) if columns and not all(name.isdecimal() for name in columns) else None


def _refuse(what: str, who: str) -> NoReturn:
    raise ModelError(f"{who} {what}", why="shoal cannot read that as answers", fix=FORMS)

"""A file's columns as answers: in the suite's labels, and nothing that contradicts itself."""

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError
from ...core.records import Answers
from ..labels import extreme_labels
from .asked import Request
from .columns import Columns, Prediction
from .meaning import Meaning, meaning_of

UNSURE = 1e-3
"""How far below an equal share a confidence may be, for rounding."""


def answers_of(request: Request, columns: Columns, rows: NDArray[np.int64]) -> Answers:
    """The answers of the rows, in the suite's labels."""
    width = _width(columns)
    meaning = meaning_of(request, columns, width)
    table = _table(columns, meaning, width)
    codes = _codes(columns, meaning, table)
    if not request.options.keep_contradictions:
        _refuse_contradictions(request, columns, meaning, table, codes)
    return Answers(
        meaning.labels,
        codes[rows],
        probabilities=table[rows] if width > 1 else None,
        confidences=table[rows, 0] if width == 1 else None,
        errors=errors_of(columns, rows),
        label_map=meaning.shown,
        band=width > 1 and meaning.labels == extreme_labels(request.labels.names),
    )


def texts_of(columns: Columns, rows: NDArray[np.int64]) -> Answers:
    """Answers in words, for reading comprehension."""
    predictions = [columns.predictions[row] for row in rows.tolist()]
    texts = ["" if prediction is None else str(prediction) for prediction in predictions]
    return Answers((), np.zeros(len(rows), np.int64), texts=texts, errors=errors_of(columns, rows))


def errors_of(columns: Columns, rows: NDArray[np.int64]) -> dict[int, str]:
    """What the model said in the place of an answer, by the place of the example."""
    if not columns.errors:
        return {}
    return {place: columns.errors[row] for place, row in enumerate(rows.tolist()) if row in columns.errors}


def _width(columns: Columns) -> int:
    """How many probabilities each row has that has any."""
    widths = np.array(columns.widths)
    width = int(widths.max(initial=0))
    uneven = np.flatnonzero((widths != width) & (widths > 0))
    if len(uneven):
        row = int(uneven[0])
        raise DataError(
            f"{columns.where(row)}: {widths[row]} probabilities where others have {width}",
            fix="as many in every row: one per label, or the confidence of the label alone",
        )
    return width


# Labels and probabilities


def _table(columns: Columns, meaning: Meaning, width: int) -> NDArray[np.float64]:
    """A row per answer, a column per label; NaN where no probabilities were given."""
    widths = np.array(columns.widths)
    given = np.array(columns.numbers).reshape(-1, max(width, 1))
    if width < 2:
        table = np.full((len(widths), 1), np.nan)
        table[widths == 1] = given
        return table
    table = np.zeros((len(widths), len(meaning.labels)))
    table[widths == 0] = np.nan
    places = {label: place for place, label in enumerate(meaning.labels)}
    table[np.ix_(widths == width, [places[label] for label in meaning.columns])] = given
    return table


def _codes(columns: Columns, meaning: Meaning, table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Each answer as an index into the labels; without one, the most probable, the first on ties."""
    code_of = {label: code for code, label in enumerate(meaning.labels)}
    codes: dict[Prediction, int] = {word: code_of[label] for word, label in meaning.answers.items()}
    codes[None] = -1
    predictions = np.array([codes[prediction] for prediction in columns.predictions], np.int64)
    left = predictions < 0
    if left.any():  # nothing where the model gave an error: its label is never looked at
        predictions[left] = np.nan_to_num(table[left], nan=0.0).argmax(axis=1)
    return predictions


def _refuse_contradictions(
    request: Request, columns: Columns, meaning: Meaning, table: NDArray[np.float64], codes: NDArray[np.int64]
) -> None:
    """A label that is not the most probable one says something else than its probabilities."""
    if table.shape[1] < 2:
        return _refuse_too_unsure(request, columns, table[:, 0])
    own = table[np.arange(len(codes)), codes]
    wrong = np.flatnonzero(own < table.max(axis=1) - columns.tolerance)
    if len(wrong):
        row = int(wrong[0])
        best = int(table[row].argmax())
        raise DataError(
            f"{columns.where(row)}: the label is {meaning.labels[codes[row]]}, the largest probability that of "
            f"{meaning.labels[best]}",
            why=f"{own[row]:.6g} against {table[row, best]:.6g}; {len(wrong):,} of {len(codes):,} rows are such",
            fix="mend the file or its label order; ?contradictions=keep believes the labels",
        )


def _refuse_too_unsure(request: Request, columns: Columns, confidences: NDArray[np.float64]) -> None:
    """A confidence so low that another label must have more is that of another label."""
    count = len(request.labels.known)
    wrong = np.flatnonzero(confidences < 1 / max(count, 1) - UNSURE)
    if count > 1 and len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{columns.where(row)}: a confidence of {confidences[row]:.6g} leaves more for another of {count} labels",
            why=f"{len(wrong):,} of {len(confidences):,} rows are such; the confidence of the label given is expected",
            fix="mend the file; ?contradictions=keep believes it, ?probabilities=no reads labels alone",
        )

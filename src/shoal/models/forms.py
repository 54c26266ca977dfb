"""The forms in which a callable may answer, read as columns; what has another form is refused in words.

    an array (examples, labels), a list of lists, a table with named columns   probabilities
    [{"negative": 0.1, "positive": 0.9}, …]                                    probabilities under their names
    [{"label", "score"}, …], or a list of such lists                           as a Transformers pipeline answers
    (predictions, confidences)                                                 labels, and a number or a vector each
    a list of labels                                                           names or numbers

`None`, and a label that is NaN, is no answer: that example becomes an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError

Floats = NDArray[np.float64]

NOTHING = "the model gave no answer"
FORMS = (
    "one answer per example: a list of labels, an array (examples, labels) of probabilities, "
    'a list of {"negative": 0.1, "positive": 0.9}, or (predictions, confidences)'
)


@dataclass(frozen=True, slots=True)
class Given:
    """What a callable gave for some examples; `names` belong to the columns of `vectors`."""

    labels: list[Any] | None = None  # (examples,) as the callable writes them
    vectors: Floats | None = None  # (examples, columns)
    names: tuple[str, ...] | None = None
    confidences: Floats | None = None  # (examples,)
    missing: Mapping[int, str] = field(default_factory=dict)  # by row
    ordered: bool = True
    """Whether the order of the names is the callable's own; that of a mapping's keys is not."""


def read_given(given: Any, count: int, who: str) -> Given:
    """What was given for so many examples, as columns."""
    given = _as_array(given)
    if isinstance(given, tuple):
        return _pair(given, count, who)
    if getattr(given, "ndim", 1) != 1:
        return _table(given, count, who)
    return _rows(listed(given, count, who), who)


def _pair(given: tuple[Any, ...], count: int, who: str) -> Given:
    """(predictions, confidences)."""
    if len(given) != 2:
        _refuse(f"gave {len(given)} things in a tuple", who)
    labels = read_given(listed(given[0], count, who), count, who)
    if labels.labels is None:
        _refuse("gave numbers where (predictions, confidences) has its predictions", who)
    second = _as_array(given[1])
    numbers = second if getattr(second, "ndim", 1) != 1 else listed(second, count, who)
    confidences = _floats(numbers, who)
    if len(confidences) != count:
        _refuse(f"gave {len(confidences)} confidences to {count} examples", who)
    if confidences.ndim == 1:
        return Given(labels.labels, confidences=confidences, missing=labels.missing)
    if confidences.ndim != 2:
        _refuse(f"gave confidences in {confidences.ndim} dimensions", who)
    return Given(labels.labels, confidences, _column_names(given[1]), missing=labels.missing)


def _table(given: Any, count: int, who: str) -> Given:
    """Probabilities, an example in each row; or labels, in the only column."""
    if given.ndim != 2:
        _refuse(f"gave an array of {given.ndim} dimensions", who)
    if len(given) != count:
        _refuse(f"gave {len(given)} answers to {count} examples", who)
    if given.shape[1] == 1:
        return _rows([row[0] for row in np.asarray(given).tolist()], who)
    return Given(vectors=_floats(given, who), names=_column_names(given))


def _rows(rows: list[Any], who: str) -> Given:
    """One answer in each row, all of one form."""
    missing = {place: NOTHING for place, row in enumerate(rows) if _is_nothing(row)}
    forms = {_form(row, who): row for place, row in enumerate(rows) if place not in missing}
    if len(forms) > 1:
        shown = " and ".join(repr(row)[:60] for row in forms.values())
        _refuse(f"answers now in one form, now in another: {shown}", who)
    given = [None if place in missing else row for place, row in enumerate(rows)]
    match next(iter(forms), "label"):
        case "scored":
            return _scored([[] if row is None else [row] for row in given], missing, who)
        case "all scored":
            return _scored([row or [] for row in given], missing, who)
        case "named":
            return _named([row or {} for row in given], missing, who)
        case "vector":
            return _vectors(given, missing, who)
        case "number":
            raise ModelError(
                f"{who} gave one number per example",
                why="of which label it is the probability cannot be told",
                fix="an array (examples, labels), or (predictions, confidences)",
            )
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


def _scored(rows: Sequence[Sequence[Mapping[str, Any]]], missing: Mapping[int, str], who: str) -> Given:
    """Lists of {label, score}; with one label each, its score is all that is known."""
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
    """Probabilities by name; a name that a row does not have has none of it."""
    names = sorted({str(name) for row in rows for name in row}, key=_by_number)
    table = [{str(name): number for name, number in row.items()} for row in rows]
    vectors = _floats([[row.get(name, 0.0) for name in names] for row in table], who)
    return Given(vectors=vectors, names=tuple(names), missing=missing, ordered=False)


def _vectors(rows: Sequence[Any], missing: Mapping[int, str], who: str) -> Given:
    widths = {len(row): row for row in rows if row is not None}
    if len(widths) > 1:
        _refuse(f"gave {' numbers for one example and '.join(map(str, sorted(widths)))} for another", who)
    empty = [np.nan] * next(iter(widths))
    vectors = _floats([empty if row is None else row for row in rows], who)
    if vectors.ndim != 2:
        _refuse(f"gave an array of {vectors.ndim} dimensions", who)
    if vectors.shape[1] == 1:
        return _rows([row[0] for row in vectors.tolist()], who)
    return Given(vectors=vectors, missing=missing)


# Small things


def _as_array(given: Any) -> Any:
    """A tensor of torch as an array; everything else as it is."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


def listed(given: Any, count: int, who: str) -> list[Any]:
    """One answer per example, as a list of plain things."""
    given = _as_array(given)
    if given is None:
        raise ModelError(f"{who} gave nothing (None)", why="is there a return?", fix=FORMS)
    if isinstance(given, str | bytes | Mapping | set) or not isinstance(given, Iterable):
        _refuse(f"gave {repr(given)[:60]} ({type(given).__name__}) for {count} examples", who)
    rows = [_scalar(row) for row in given]
    if len(rows) != count:
        _refuse(f"gave {len(rows)} answers to {count} examples", who)
    return rows


def _scalar(row: Any) -> Any:
    """Python's own number for an array or a tensor of one; everything else as it is."""
    if hasattr(row, "detach"):
        row = _as_array(row)
    return row.item() if getattr(row, "ndim", None) == 0 and hasattr(row, "item") else row


def _is_nothing(row: Any) -> bool:
    """None, and NaN where a label should be, as tables write what they do not have."""
    return (
        row is None or type(row).__name__ in ("NAType", "NaTType") or (isinstance(row, float) and row != row)
    )


def _floats(numbers: Any, who: str) -> Floats:
    try:
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse(f"gave something other than numbers: {repr(numbers)[:80]}", who)


def _column_names(given: Any) -> tuple[str, ...] | None:
    """The names of a table's columns, if they are names and not mere numbers."""
    columns = [str(name) for name in getattr(given, "columns", ())]
    return tuple(columns) if columns and not all(name.isdecimal() for name in columns) else None


def _by_number(name: str) -> tuple[str, int]:
    """LABEL_2 before LABEL_10."""
    word = name.rstrip("0123456789")
    return word, int(name[len(word) :] or -1)


def _refuse(what: str, who: str) -> NoReturn:
    raise ModelError(f"{who} {what}", why="that cannot be read as answers", fix=FORMS)

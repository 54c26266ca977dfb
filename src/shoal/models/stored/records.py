"""Rows with named fields, of whatever kind the file is, as columns.

Fields by our own names (`case_id` or `id`, `functionality`, `example_idx`; `pred` and `conf` in JSON, `label` and one
probability column per label in tables), or by those that `?id=`, `?label=` and `?probabilities=` give.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from ...core.errors import DataError, nearest, some
from ...core.files import Alike
from ..labels import Spellings
from .asked import Request
from .columns import Columns, Key, Prediction, not_a_probability, number_from, shown
from .texts import text_columns

TOLERANCE = 1e-6
IDS = frozenset(("case_id", "id"))
ANSWERS = ("label", "pred", "prediction", "predicted", "predicted_label", "pred_label")
"""What a column of answers may be called; in a table with two of them one may hold the right answers."""
OURS = {*IDS, "functionality", "example_idx", "error", ""}
MISSING = object()
HEAD = 20
"""How many rows decide which columns hold the text."""

Row = Mapping[str, Any]
Pick = Callable[[Row], Any]


@dataclass(frozen=True, slots=True)
class Records:
    """What a file holds, row by row."""

    unit: str
    """What the rows' numbers count: lines or rows."""
    rows: Iterable[tuple[int, Row]]
    columns: tuple[str, ...] | None = None
    """The columns of a table; None for JSON, where rows need not have the same fields."""
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names behind the numbers of a column, where the file's format keeps them."""
    label_names: tuple[str, ...] = ()
    """The names behind all numbers and probabilities, where the file says them once."""
    decimal_comma: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """Which field of a row holds what."""

    identity: str
    answer: str  # empty: left to the probabilities
    vector: str = ""  # one field for the confidence, or for all probabilities
    probabilities: tuple[str, ...] = ()  # or one for each


def read_records(request: Request, records: Records) -> Columns:
    """The rows as columns; what is wrong with one is said with its line."""
    rows = iter(records.rows)
    head = list(islice(rows, 1))
    columns = Columns(request.path, TOLERANCE, records.unit)
    if not head:
        return columns
    fields = _choose(request, records, head[0][1])
    head.extend(islice(rows, HEAD - 1))
    columns.texts = {name: [] for name in _text_columns(request, fields, [row for _, row in head])}
    columns.column_names = tuple(map(_last_part, fields.probabilities)) or records.label_names
    is_json = records.columns is None
    columns.numbered = is_json and not request.options.label
    columns.ordered = is_json and request.options.probabilities is None
    columns.number_names = records.label_names or records.class_names.get(fields.answer, ())
    add = _adder(columns, records, fields)
    for number, row in chain(head, rows):
        try:
            add(number, row)
            for name, texts in columns.texts.items():
                texts.append(row.get(name))
        except DataError as problem:
            raise problem.at(f"{request.path}, {records.unit} {number}") from None
    return columns


# Which field holds what


def _choose(request: Request, records: Records, first: Row) -> Fields:
    names = list(first) if records.columns is None else list(records.columns)
    identity = request.options.id or next((name for name in sorted(IDS) if name in names), "")
    if not identity:
        inside = next((name for name in names if isinstance(first[name], list)), "")
        raise DataError(
            f"{request.path}, {records.unit} 1: no column 'case_id' or 'id'",
            why=f"found: {some(map(shown, names), 12)}",
            fix=f"?rows={inside}, if the rows are there"
            if inside
            else "?id=COLUMN names the column that says which case is meant",
        )
    if records.columns is None:
        chosen = request.options.probabilities
        fields = Fields(identity, request.options.label or "pred", "conf")
        fields = fields if chosen is None else _with_probabilities(fields, chosen)
    else:
        fields = _choose_columns(request, names, identity, first)
    named = [request.options.id, request.options.label, *(request.options.probabilities or ())]
    is_error = records.columns is None and first.get("error")
    for name in filter(None, named):
        if name not in names and value_at(first, name) is MISSING and not is_error:
            raise DataError(
                f"{request.path}, {records.unit} 1: no column {shown(name)}",
                why=f"found: {some(names, 12)}",
                fix=nearest(name[:60], names) or "the name of one of these columns, or a path in nested JSON",
            )
    return fields


def _text_columns(request: Request, fields: Fields, rows: Sequence[Row]) -> list[str]:
    used = {*OURS, fields.identity, fields.answer, fields.vector, *fields.probabilities}
    return text_columns(request.whole, [name for name in rows[0] if name not in used], rows)


def _with_probabilities(fields: Fields, chosen: tuple[str, ...]) -> Fields:
    if len(chosen) > 1:
        return replace(fields, vector="", probabilities=chosen)
    return replace(fields, vector=chosen[0] if chosen else "")


def _choose_columns(request: Request, names: Sequence[str], identity: str, first: Row) -> Fields:
    """The same for a table, whose columns are told by their names."""
    answer = request.options.label or _answer_column(request, names)
    chosen = request.options.probabilities
    if chosen is None:
        chosen = _label_columns(request, [name for name in names if name not in (identity, answer)])
        if not chosen and "conf" in names:
            chosen = ("conf",)
    fields = _with_probabilities(Fields(identity, answer), chosen)
    rest = [name for name in names if name not in {*OURS, *ANSWERS, *chosen, identity, answer}]
    if not answer and not fields.probabilities and not fields.vector:
        raise DataError(
            f"{request.path}, line 1: neither a column 'label' nor one probability column per label",
            why=f"found: {some(names, 12)}; the suite's labels: {str(request.labels) or 'without names'}",
            fix="?label=COLUMN, or ?probabilities=COLUMN,COLUMN&labels=NAME,NAME in the same order",
        )
    if request.options.probabilities is None and answer and not chosen:
        _refuse_overlooked(request, rest, first)
    return fields


def _answer_column(request: Request, names: Sequence[str]) -> str:
    there = [name for name in ANSWERS if name in names]
    if len(there) > 1:
        raise DataError(
            f"{request.path}, line 1: which column holds the model's answers cannot be told",
            why=f"it may be {' or '.join(there)}",
            fix=f"?label={there[1]}",
        )
    return there[0] if there and there[0] in ("label", "pred") else ""


def _label_columns(request: Request, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that are called as labels are: in the order of `?labels=`, where it lists them."""
    by_label: dict[str, str] = {}
    labels = Spellings(request.names())
    for name in names:
        label = labels.get(name)
        if label is not None and by_label.setdefault(label, name) != name:
            raise DataError(
                f"{request.path}, line 1: columns {by_label[label]!r} and {name!r} are one label, {label}",
                fix="?probabilities=COLUMN,COLUMN names those that are meant",
            )
    order = [by_label[label] for label in request.options.labels.order if label in by_label]
    there = order if len(order) == len(request.options.labels.order) > 0 else list(by_label.values())
    if len(there) == 1:
        raise DataError(
            f"{request.path}, line 1: column {there[0]!r} is called as a label, the other labels have none",
            why=f"the suite's labels are {request.labels}",
            fix="one probability column per label, or ?probabilities=no to read labels alone",
        )
    return tuple(there)


def _refuse_overlooked(request: Request, names: Sequence[str], first: Row) -> None:
    """Columns beside a label that hold probabilities by the look of them are not passed over in silence."""
    numbers = {}
    for name in names:
        try:
            numbers[name] = number_from(first[name])
        except DataError:
            continue
    shares = {name: number for name, number in numbers.items() if 0 <= number <= 1}
    if len(shares) > 1 and abs(sum(shares.values()) - 1) < 0.02:
        listed = ",".join(shares)
        raise DataError(
            f"{request.path}: columns {', '.join(shares)} look like probabilities; of which labels cannot be told",
            why=f"the suite's labels are {str(request.labels) or 'without names'}",
            fix=f"?probabilities={listed}&labels=NAME,NAME in the same order, or ?probabilities=no",
        )


# One row


def _adder(columns: Columns, records: Records, fields: Fields) -> Callable[[int, Row], None]:
    identity, answer = _pick(fields.identity), _pick(fields.answer)
    numbers = _numbers_of(records, fields)
    is_table = records.columns is not None

    def add(number: int, row: Row) -> None:
        key = _key(row, identity(row), fields.identity, columns.alike)
        if not is_table and row.get("error"):
            if not isinstance(row["error"], str):
                raise DataError(
                    f"'error' must be a text, found {shown(row['error'])}",
                    fix='"error": "what went wrong", or leave it out where there is an answer',
                )
            return columns.add_error(number, row["error"], key)
        prediction = _prediction(answer(row), fields.answer) if fields.answer else None
        given = numbers(row, prediction)
        if prediction is None and fields.answer and is_table:
            prediction = ""  # an empty cell: whether that can be an answer, only the suite knows
        if prediction is None and len(given) < 2:
            elsewhere = next((name for name in ANSWERS if name in row and name != fields.answer), "")
            raise DataError(
                f"neither {fields.answer!r} nor a list of probabilities in {fields.vector or 'any field'!r}",
                why=f"found: {some(map(shown, row), 8)}",
                fix=f"?label={elsewhere}" if elsewhere else 'an answer, or "error": "…" where there is none',
            )
        columns.add(number, prediction, given, key)

    return add


def _key(row: Row, identity: Any, name: str, alike: Alike) -> Key:
    group, example = row.get("functionality"), row.get("example_idx")
    return Key(
        alike.text(str(group)) if group or group == 0 else None,
        _identity(identity, name),
        _example_number(example),
    )


def _identity(value: Any, name: str) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise DataError(
            f"{name!r} must be a text or a whole number, found {shown(value)}",
            fix="the id of a case; ?id=COLUMN names the column that holds it",
        )
    return str(value)


def _example_number(value: Any) -> int:
    if not value:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        raise DataError(
            f"'example_idx' must be a whole number from 0, found {shown(value)}",
            fix="0 for the first example of a case, 1 for the next",
        )
    return value


def _prediction(value: Any, name: str) -> Prediction:
    if isinstance(value, str):
        return value
    if value is None or value is MISSING or value != value:  # NaN is what tables write for nothing
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int):
        raise DataError(
            f"{name!r} must be a label's name or number, found {shown(value)}",
            fix="?label=COLUMN, or ?label=PATH in nested JSON, says where the label is",
        )
    return value


def _numbers_of(records: Records, fields: Fields) -> Callable[[Row, Prediction], Sequence[float]]:
    """How the confidence, or the probabilities, of a row are read."""
    if fields.vector:
        vector, name = _pick(fields.vector), fields.vector
        return lambda row, prediction: _vector(vector(row), name, records.decimal_comma)
    picks = [_pick(name) for name in fields.probabilities]

    def several(row: Row, prediction: Prediction) -> Sequence[float]:
        cells = [pick(row) for pick in picks]
        if prediction is not None and all(cell in (None, "", MISSING) for cell in cells):
            return ()
        return [number_from(cell, decimal_comma=records.decimal_comma) for cell in cells]

    return several


def _vector(value: Any, name: str, decimal_comma: bool) -> Sequence[float]:
    if isinstance(value, list) and {int, float}.issuperset(map(type, value)):
        return value
    if value is None or value is MISSING or value == "":
        return ()
    if isinstance(value, str) and value.strip().startswith("["):
        return _vector(_list_in(value), name, decimal_comma)
    try:
        numbers = value if isinstance(value, list) else [value]
        return [number_from(number, decimal_comma=decimal_comma) for number in numbers]
    except DataError:
        keys = list(value)[:8] if isinstance(value, Mapping) else []
        raise DataError(
            f"{name!r} must be null, a number or a list of probabilities, found {shown(value)}",
            fix=f"?probabilities={','.join(f'{name}.{key}' for key in keys)}"
            if keys
            else "?probabilities=COLUMN says where they are, ?probabilities=no reads labels alone",
        ) from None


def _list_in(cell: str) -> list[Any]:
    """A list that a table holds as text."""
    try:
        numbers: list[Any] = json.loads(cell)
    except (ValueError, RecursionError):
        raise not_a_probability(cell) from None
    return numbers


# Paths


def value_at(value: Any, path: str) -> Any:
    """What is under a name, or under a path of names and list places: "output.0.label"."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 7:
            value = value[int(part)] if int(part) < len(value) else MISSING
        else:
            return MISSING
    return value


def _pick(name: str) -> Pick:
    return (lambda row: value_at(row, name)) if "." in name else (lambda row: row.get(name))


def _last_part(path: str) -> str:
    return path.rpartition(".")[2]

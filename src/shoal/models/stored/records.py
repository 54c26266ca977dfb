"""Read rows with named fields, from JSON or tables, into columns.

The fields have our own names (`case_id` or `id`, `functionality`, `example_idx`; `pred` and `conf` in JSON, `label` and
one probability column per label in tables), or those of `?id=`, `?label=` and `?probabilities=`, which may be paths in
nested JSON.
"""

import json
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, errors_at, nearest, some
from ...core.files import Alike, Cells, UnusualError
from ...data.cells import has_path, paths_in, value_at
from ..labels import Spellings
from .columns import Columns, Key, Prediction, Request, not_a_probability, number_from, shown
from .matching import text_columns, text_in

IDS = frozenset(("case_id", "id"))
ANSWERS = ("label", "pred", "prediction", "predicted", "predicted_label", "pred_label")
"""Names of columns of answers; if a table has two of them, one may hold the expected answers."""
OURS = {*IDS, "functionality", "example_idx", "error", ""}
HEAD = 20
"""Rows that decide which columns hold the text."""
ROWS_AT_ONCE = 256
"""Few enough for the processor's cache."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a row that shoal reads."""

    identity: str  # empty: the rows are in the order of the cases
    answer: str  # empty: the most probable label
    probabilities: tuple[str, ...]  # one per label, or one that holds them all or the confidence
    is_table: bool
    """Whether every row has the same fields; rows of JSON may differ."""


def read_records(
    request: Request,
    rows: Iterable[tuple[int, Row]],
    unit: str = "line",
    label_names: tuple[str, ...] = (),
    *,
    is_table: bool = False,
) -> Columns:
    """Return rows as columns; an error names its line or row, the unit of the rows' numbers.

    `label_names` are the names of all numbers and probabilities, if the file has them.
    """
    rows = iter(rows)
    head = list(islice(rows, 1))
    columns = Columns(request.path, unit, column_names=label_names, number_names=label_names)
    if not head:
        return columns
    first = head[0][1]
    fields = _choose(request, f"{request.path}, {unit} 1", first, is_table=is_table)
    head.extend(islice(rows, HEAD - 1))
    used = {*OURS, fields.identity, fields.answer, *fields.probabilities}
    others = [name for name in first if name not in used]
    columns.texts = {name: [] for name in text_columns(request.whole, others, [row for _, row in head])}
    if len(fields.probabilities) > 1:
        parts = ((name, name.rpartition(".")[2]) for name in fields.probabilities)
        columns.column_names = tuple(name if name in first else last for name, last in parts)
    columns.numbered = not is_table and not request.options.label
    columns.ordered = not is_table and request.options.probabilities is None
    rows, block = chain(head, rows), head
    while block:
        block = []
        try:
            block.extend(islice(rows, ROWS_AT_ONCE))
        finally:  # first the errors of the rows before one that cannot be read
            _add_rows(columns, fields, block)
    return columns


def _add_rows(columns: Columns, fields: Fields, block: Sequence[tuple[int, Row]]) -> None:
    if not _add_block(columns, fields, block):
        for number, row in block:
            with errors_at(f"{columns.path}, {columns.unit} {number}"):
                _add(columns, fields, number, row)
    for name, texts in columns.texts.items():
        texts.extend(text_in(row, name) for _, row in block)


# Choosing fields


def _choose(request: Request, where: str, first: Row, *, is_table: bool) -> Fields:
    options, names = request.options, list(first)
    chosen = options.probabilities
    identity = options.id or next((name for name in sorted(IDS) if name in names), "")
    if not identity and not request.may_lack_ids:
        inside = next((name for name in names if isinstance(first[name], list)), "")
        raise DataError(
            f"{where}: no column 'case_id' or 'id'",
            why=f"found: {some(map(shown, names), 12)}",
            fix=f"?rows={inside}, if the rows are there" if inside else "?id=COLUMN, the column of case ids",
        )
    for name in filter(None, [options.id, options.label, *(chosen or ())]):
        if name not in names and not has_path(first, name) and (is_table or not first.get("error")):
            paths = paths_in(first)
            raise DataError(
                f"{where}: no column {shown(name)}",
                why=f"found: {some(paths, 12)}",
                fix=nearest(name[:60], paths) or "the name of one of these columns",
            )
    if is_table:
        return _choose_columns(request, first, identity)
    return Fields(identity, options.label or "pred", ("conf",) if chosen is None else chosen, is_table)


def _choose_columns(request: Request, first: Row, identity: str) -> Fields:
    """Choose the columns of a table by their names."""
    names = list(first)
    answers = [name for name in ANSWERS if name in names]
    if len(answers) > 1 and not request.options.label:
        raise DataError(
            f"{request.path}, line 1: several columns may hold the model's answers",
            why=" or ".join(answers),
            fix=f"?label={answers[1]}",
        )
    answer = request.options.label or next(iter({"label", "pred"} & set(answers)), "")
    chosen = request.options.probabilities
    if chosen is None:
        chosen = _label_columns(request, [name for name in names if name not in (identity, answer)])
        if not chosen and "conf" in names:
            chosen = ("conf",)
    if not answer and not chosen:
        raise DataError(
            f"{request.path}, line 1: neither a column 'label' nor one probability column per label",
            why=f"found: {some(names, 12)}; the suite's labels: {str(request.labels) or 'without names'}",
            fix="?label=COLUMN, or ?probabilities=COLUMN,COLUMN&labels=NAME,NAME in the same order",
        )
    if request.options.probabilities is None and not chosen:
        used = {*OURS, *ANSWERS, identity, answer}
        _refuse_overlooked(request, {name: cell for name, cell in first.items() if name not in used})
    return Fields(identity, answer, chosen, is_table=True)


def _label_columns(request: Request, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with names of labels, in the order of `?labels=` if it lists them."""
    labels = Spellings(request.label_names())
    by_label: dict[str, str] = {}
    for name in names:
        label = labels.get(name)
        if label is not None and by_label.setdefault(label, name) != name:
            raise DataError(
                f"{request.path}, line 1: columns {by_label[label]!r} and {name!r} are one label, {label}",
                fix="?probabilities=COLUMN,COLUMN selects columns",
            )
    listed = request.options.labels.order
    order = [by_label[label] for label in listed if label in by_label]
    columns = order if len(order) == len(listed) > 0 else list(by_label.values())
    if len(columns) == 1:
        raise DataError(
            f"{request.path}, line 1: column {columns[0]!r} is a label, and the other labels have no column",
            why=f"the suite's labels are {request.labels}",
            fix="one probability column per label, or ?probabilities=no to read labels alone",
        )
    return tuple(columns)


def _refuse_overlooked(request: Request, row: Row) -> None:
    """Raise for columns that look like probabilities but have no label: ignoring them would lose information."""
    shares: dict[str, float] = {}
    for name, cell in row.items():
        with suppress(DataError):
            shares[name] = number_from(cell)
    shares = {name: share for name, share in shares.items() if 0 <= share <= 1}
    if len(shares) > 1 and abs(sum(shares.values()) - 1) < 0.02:
        raise DataError(
            f"{request.path}: columns {', '.join(shares)} look like probabilities of unknown labels",
            why=f"the suite's labels are {str(request.labels) or 'without names'}",
            fix=f"?probabilities={','.join(shares)}&labels=NAME,NAME in the same order, or ?probabilities=no",
        )


# Many rows


def _add_block(columns: Columns, fields: Fields, block: Sequence[tuple[int, Row]]) -> bool:
    """Add rows column by column; return False, and add none, if a row is not valid or not of the usual form."""
    cells = Cells([row for _, row in block])
    try:
        identities = list(map(str, cells.column(fields.identity, str, int)))
        groups = cells.column("functionality", str, type(None))
        examples = array("q", [number or 0 for number in cells.column("example_idx", int, type(None))])
        answers = cells.column(fields.answer, str, int, type(None)) if fields.answer else [None] * len(block)
        numbers, width = _numbers_of_block(cells, fields)
    except (UnusualError, DataError, OverflowError):
        return False
    may_be_path = any("." in name for name in (fields.identity, fields.answer, *fields.probabilities))
    lacks_answer = None in answers and (width < 2 or (fields.is_table and fields.answer))
    has_error = not fields.is_table and any(cells.column("error"))
    lacks_key = not fields.identity or not all(identities) or min(examples, default=0) < 0
    if may_be_path or lacks_answer or has_error or lacks_key:
        return False
    columns.lines.extend(number for number, _ in block)
    columns.groups.extend(group or None for group in columns.alike.each(groups))
    columns.identities.extend(identities)
    columns.examples.extend(examples)
    columns.predictions.extend(columns.alike.each(answers))
    columns.numbers.frombytes(numbers.tobytes())
    columns.widths.extend([width] * len(block))
    return True


def _numbers_of_block(cells: Cells, fields: Fields) -> tuple[NDArray[np.float64], int]:
    """Return the confidences or probabilities of all rows end to end, and how many each row has."""
    columns = [cells.column(name, str, int, float, list, type(None)) for name in fields.probabilities]
    if len(columns) == 1 and set(map(type, columns[0])) <= {list, type(None)}:
        rows = [row or () for row in columns[0]]
    else:
        rows = [tuple(map(number_from, row)) for row in zip(*columns, strict=True)]
    flat, widths = list(chain.from_iterable(rows)), set(map(len, rows)) or {0}
    if len(widths) != 1 or not set(map(type, flat)) <= {int, float} or not all(map(math.isfinite, flat)):
        raise UnusualError
    return np.array(flat, np.float64), widths.pop()


# One row


def _add(columns: Columns, fields: Fields, number: int, row: Row) -> None:
    key = _key(row, fields.identity, columns.alike) if fields.identity else None
    if not fields.is_table and row.get("error"):
        return columns.add(number, None, (), key, str(row["error"]))
    prediction = _prediction(value_at(row, fields.answer), fields.answer) if fields.answer else None
    given = _numbers(row, prediction, fields)
    if prediction is None and fields.answer and fields.is_table:
        prediction = ""  # an empty cell, which only some suites accept
    if prediction is None and len(given) < 2:
        paths = (path for path in paths_in(row) if path.rpartition(".")[2] in ANSWERS)
        other = next((path for path in paths if path != fields.answer), "")
        raise DataError(
            f"neither {fields.answer!r} nor probabilities in {some(fields.probabilities) or 'any field'!r}",
            why=f"found: {some(map(shown, row), 8)}",
            fix=f"?label={other}" if other else 'an answer, or "error": "…" if there is none',
        )
    columns.add(number, prediction, given, key)


def _key(row: Row, name: str, alike: Alike) -> Key:
    identity, group = value_at(row, name), row.get("functionality")
    example = _whole_number(row.get("example_idx") or 0)
    if not isinstance(identity, str):
        number = _whole_number(identity)
        identity = "" if number is None else str(number)
    if not identity or example is None or example < 0:
        raise DataError(
            f"{name!r} or 'example_idx' is not valid: {shown(identity)}, {shown(row.get('example_idx'))}",
            why="an id is a text or an integer; example_idx counts the examples of a case from 0",
            fix="?id=COLUMN sets the column of case ids",
        )
    return Key(alike.text(str(group)) if group or group == 0 else None, identity, example)


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _prediction(value: Any, name: str) -> Prediction:
    if isinstance(value, str):
        return value
    if value is None or value != value:  # tables write NaN for missing values
        return None
    if isinstance(value, bool):
        return str(value).lower()
    number = _whole_number(value)
    if number is None:
        raise DataError(
            f"{name!r} must be a label's name or number, found {shown(value)}",
            fix=f"?label={paths_in({name: value})[0]}" if isinstance(value, list | dict) else "?label=COLUMN",
        )
    return number


def _numbers(row: Row, prediction: Prediction, fields: Fields) -> Sequence[float]:
    """Return the confidence or the probabilities of a row."""
    if len(fields.probabilities) == 1:
        (name,) = fields.probabilities
        return _vector(value_at(row, name), name)
    cells = [value_at(row, name) for name in fields.probabilities]
    if prediction is not None and all(cell in (None, "") for cell in cells):
        return ()
    return [number_from(cell) for cell in cells]


def _vector(value: Any, name: str) -> Sequence[float]:
    if isinstance(value, list) and {int, float}.issuperset(map(type, value)):
        return value
    if value is None or value == "":
        return ()
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            return _vector(json.loads(value), name)
        except (ValueError, RecursionError):
            raise not_a_probability(value) from None
    try:
        numbers = value if isinstance(value, list) else [value]
        return [number_from(number) for number in numbers]
    except DataError:
        columns = ",".join(paths_in({name: value})[:8]) if isinstance(value, list | dict) else "COLUMN"
        raise DataError(
            f"{name!r} must be null, a number or a list of probabilities, found {shown(value)}",
            fix=f"?probabilities={columns}, or ?probabilities=no to read labels alone",
        ) from None

"""Tables for computing: fractions, every digit, empty where undefined.

A cell with a number becomes four columns: the value under the column's title, then `low`, `high` and `n`. What begins
like a formula is marked as text, for spreadsheets run formulas.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any

from ..core.records import Measure
from ..core.text import csv_lines
from ..core.views import Block, CaseList, Cell, Dots, Number, Row, Section, Table, Text
from .pieces import is_defined, piece_text, pieces_of, plain
from .tabled import TABLED, column_cells, is_copy, is_full

SIGNS = " ▲▼✓✗"
"""Beside a name these are for readers; the numbers say the same."""
Fields = dict[str, Any]


def tables_of(sections: Sequence[Section]) -> dict[str, str]:
    """Every block that has a name as CSV, by that name; the second of a name is called so: `cells-2`."""
    tables: dict[str, str] = {}
    for section in sections:
        for block in section.blocks:
            table = BLOCKS[type(block)](block)
            if table is not None and table.name:
                tables[_free(table.name, tables)] = table_csv(table)
    return tables


def _free(name: str, taken: Mapping[str, str]) -> str:
    names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 2))]
    return next(free for free in names if free not in taken)


BLOCKS: Mapping[type[Block], Callable[[Any], Table | None]] = {
    **TABLED,
    Text: lambda block: None,
    CaseList: lambda block: None,  # every case is had as a row by `shoal show JOB --csv`
}
"""Kind of block to its table; None for what is no table."""


def table_csv(table: Table) -> str:
    """One table; headings inside it become a column `block`."""
    positions = [i for i in range(len(table.columns)) if not is_copy(table, i)]
    writers = [_Column(table, i) for i in positions]
    has_headings = any(row.cells and not is_full(row, table) for row in table.rows)
    names = _unique(
        [*(["block"] if has_headings else []), *(name for part in writers for name in part.names)]
    )
    lines = [names]
    heading = ""
    for row in table.rows:
        if is_full(row, table):
            fields = [field for part in writers for field in part.fields(row)]
            lines.append([*([heading] if has_headings else []), *fields])
        elif row.cells:
            heading = plain(row.cells[0]).strip()
    return "".join(csv_lines(lines))


def _unique(names: Sequence[str]) -> list[str]:
    """A column's name that is there already gets a number."""
    unique: list[str] = []
    for name in names:
        again = [name, *(f"{name} {number}" for number in range(2, len(names) + 2))]
        unique.append(next(free for free in again if free not in unique))
    return unique


class _Column:
    """What a column of a table becomes: fields for its numbers, its dots and its words, those that it has."""

    def __init__(self, table: Table, position: int) -> None:
        cells = column_cells(table, position)
        numbers = [_numbers(cell) for cell in cells]
        first = next((number for row in numbers for number in row), None)
        self.position = position
        self.part = first.part if first else ""
        self.count = max(map(len, numbers), default=0)
        self.has_mark = any(number.mark for row in numbers for number in row)
        self.has_dots = any(isinstance(piece, Dots) for cell in cells for piece in pieces_of(cell))
        self.has_words = any(map(_words, cells)) or not (self.count or self.has_dots)
        measure = first.measure.name if first and first.measure else ""
        title = " ".join(table.columns[position].title.split()) or measure
        self.title = title or ("dots" if self.has_dots else "name" if position == 0 else "words")

    @property
    def names(self) -> list[str]:
        names = []
        for number in range(self.count):
            base = self.title if number == 0 else f"{self.title} {number + 1}"
            names += [base] if self.part in COUNTS else [base, f"{base} low", f"{base} high", f"{base} n"]
            names += [f"{base} mark"] if self.has_mark else []
        names += [f"{self.title} values" if names else self.title] if self.has_dots else []
        return names + ([f"{self.title} words" if names else self.title] if self.has_words else [])

    def fields(self, row: Row) -> Iterator[Any]:
        """The values of one row, as many as there are names."""
        cell = row.cells[self.position] if self.position < len(row.cells) else ""
        numbers = _numbers(cell)
        for number in range(self.count):
            piece = numbers[number] if number < len(numbers) else Number(None)
            yield from _count(piece, self.part) if self.part in COUNTS else _four(piece.measure)
            yield from [piece.mark] if self.has_mark else []
        if self.has_dots:
            dots = [piece for piece in pieces_of(cell) if isinstance(piece, Dots)]
            measures = [measure for piece in dots for measure in piece.measures]
            yield dumps([measure.value if is_defined(measure) else None for measure in measures])
        if self.has_words:
            yield _words(cell)


COUNTS = ("n", "na", "errors")


def _count(number: Number, part: str) -> list[int | None]:
    return [None if number.measure is None else getattr(number.measure, part)]


def _four(measure: Measure | None) -> list[float | int | None]:
    if measure is None:
        return [None] * 4
    low, high = measure.interval or (None, None)
    return [measure.value if is_defined(measure) else None, low, high, measure.n]


def _numbers(cell: Cell) -> list[Number]:
    return [piece for piece in pieces_of(cell) if isinstance(piece, Number)]


def _words(cell: Cell) -> str:
    words = [piece_text(piece) for piece in pieces_of(cell) if not isinstance(piece, Number | Dots)]
    return "".join(words).strip(SIGNS)


# Writing


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table with the columns of its first row, lists as JSON inside their field; nothing at all without rows."""
    if not rows:
        return ""
    return "".join(csv_lines([list(rows[0]), *([_flat(row.get(name)) for name in rows[0]] for row in rows)]))


def _flat(field: Any) -> Any:
    return dumps(field, ensure_ascii=False) if isinstance(field, list | tuple) else field

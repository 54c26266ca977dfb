"""Tables as CSV, for computing: fractions with every digit, empty where undefined.

A cell with a number becomes four columns: the value under the column's title, then `low`, `high` and `n`. Text that
starts like a formula is quoted, because spreadsheets run formulas.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any

from ..core.text import csv_lines
from ..core.views import Block, CaseList, Cell, Dots, Number, Row, Section, Table, Text
from .tables import TABLES, cell_of, column_cells, is_copy, is_defined, is_full, piece_text, pieces_of, plain

COUNTS = ("n", "na", "errors")
SYMBOLS = " ▲▼✓✗"
"""Left out next to a name: the numbers say the same."""


def tables_of(sections: Sequence[Section]) -> dict[str, str]:
    """Return every block that has a name as CSV, by that name; a repeated name gets a number: `cells-2`."""
    tables: dict[str, str] = {}
    for section in sections:
        for block in section.blocks:
            table = BLOCKS[type(block)](block)
            if table is not None and table.name:
                tables[free_name(table.name, tables, "-")] = table_csv(table)
    return tables


def free_name(name: str, taken: Mapping[str, Any] | Sequence[str] | set[str], separator: str) -> str:
    """Return the name, or the name with the first number that is free.

    >>> free_name("cells", ["cells"], "-")
    'cells-2'
    """
    names = [name, *(f"{name}{separator}{number}" for number in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken)


BLOCKS: Mapping[type[Block], Callable[[Any], Table | None]] = {
    **TABLES,
    Text: lambda block: None,
    CaseList: lambda block: None,  # `shoal show JOB --csv` writes the cases
}
"""The table of each kind of block; None for blocks without one."""


def table_csv(table: Table) -> str:
    """Return one table; headings inside it become a column `block`."""
    writers = [_Column(table, i) for i in range(len(table.columns)) if not is_copy(table, i)]
    has_headings = any(row.cells and not is_full(row, table) for row in table.rows)
    names: list[str] = ["block"] if has_headings else []
    for name in (name for writer in writers for name in writer.names):
        names.append(free_name(name, names, " "))
    lines: list[list[Any]] = [names]
    heading = ""
    for row in table.rows:
        if is_full(row, table):
            fields = [field for writer in writers for field in writer.fields(row)]
            lines.append([*([heading] if has_headings else []), *fields])
        elif row.cells:
            heading = plain(row.cells[0]).strip()
    return "".join(csv_lines(lines))


class _Column:
    """A column of a table as CSV: fields for its numbers, its dots and its words, if it has any."""

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
        """Yield the values of one row, one for each name."""
        cell = cell_of(row, self.position)
        numbers = _numbers(cell)
        for position in range(self.count):
            number = numbers[position] if position < len(numbers) else Number(None)
            measure = number.measure
            if self.part in COUNTS:
                yield getattr(measure, self.part, None)
            elif measure is None:
                yield from [None] * 4
            else:
                value = measure.value if is_defined(measure) else None
                yield from [value, *(measure.interval or (None, None)), measure.n]
            yield from [number.mark] if self.has_mark else []
        if self.has_dots:
            dots = [piece for piece in pieces_of(cell) if isinstance(piece, Dots)]
            measures = [measure for piece in dots for measure in piece.measures]
            yield dumps([measure.value if is_defined(measure) else None for measure in measures])
        if self.has_words:
            yield _words(cell)


def _numbers(cell: Cell) -> list[Number]:
    return [piece for piece in pieces_of(cell) if isinstance(piece, Number)]


def _words(cell: Cell) -> str:
    words = [piece_text(piece) for piece in pieces_of(cell) if not isinstance(piece, Number | Dots)]
    return "".join(words).strip(SYMBOLS)


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table with the columns of its first row, lists as JSON in their field; empty without rows."""
    if not rows:
        return ""
    return "".join(csv_lines([list(rows[0]), *([_flat(row.get(name)) for name in rows[0]] for row in rows)]))


def _flat(field: Any) -> Any:
    return dumps(field, ensure_ascii=False) if isinstance(field, list | tuple) else field

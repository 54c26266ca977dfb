"""Cells as plain text, the table of every block, and tables as CSV: the part that all renderers share.

CSV is for computing: fractions with every digit, empty where undefined. A cell with a number becomes four columns: the
value under the column's title, then `low`, `high` and `n`. Text that starts like a formula is quoted, because
spreadsheets run formulas.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from ..core.measures import Quantity, quantity, shown
from ..core.records import Measure
from ..core.text import csv_lines
from ..core.views import (
    Cell,
    Column,
    Curves,
    Dots,
    HeatMap,
    Number,
    Piece,
    Row,
    Scatter,
    Section,
    Table,
    Tone,
    Tones,
    Words,
)

QUIET_PARTS = ("interval", "n", "na", "errors")
"""Parts of a measure that are quiet by default."""


def pieces_of(cell: Cell) -> tuple[Piece, ...]:
    """Return the pieces of a cell; none for an empty text."""
    if isinstance(cell, str | Words | Number | Dots):
        return (cell,) if cell != "" else ()
    return tuple(cell)


def tones_of(tones: Tones) -> tuple[Tone, ...]:
    """Return one tone or several as a tuple."""
    return (tones,) if isinstance(tones, str) else tones


def tone_of(piece: Piece, *outer: Tones) -> Tones:
    """Return a piece's tone, or the first of its column and row; intervals and counts are quiet."""
    tone = "" if isinstance(piece, str) else piece.tone
    if not tone and isinstance(piece, Number) and (piece.part in QUIET_PARTS or is_replaced(piece)):
        return "quiet"
    return next(filter(None, (tone, *outer)), "")


def is_replaced(number: Number) -> bool:
    """Return whether a text replaces an undefined number."""
    return bool(number.instead) and (number.measure is None or not is_defined(number.measure))


def is_defined(measure: Measure) -> bool:
    """Return whether a measure has a finite value."""
    return measure.value is not None and isfinite(measure.value)


def plain(cell: Cell) -> str:
    """Return a cell as plain text."""
    return "".join(piece_text(piece) for piece in pieces_of(cell))


def piece_text(piece: Piece) -> str:
    """Return a piece as plain text; dots as their values."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Words):
        return piece.text
    if isinstance(piece, Dots):
        return ", ".join(map(value_text, piece.measures))
    text = number_text(piece)
    return f"{text} {piece.mark}" if piece.mark and text else text


def number_text(number: Number) -> str:
    """Return the wanted part of a measure, without its mark."""
    if is_replaced(number):
        return number.instead if number.part not in QUIET_PARTS else ""
    return "" if number.measure is None else PARTS[number.part](number.measure)


def value_text(measure: Measure) -> str:
    """Return the value, or a dash."""
    return shown(measure.value if is_defined(measure) else None, quantity(measure))


def interval_ends(measure: Measure) -> tuple[str, str] | None:
    """Return both ends of an interval, or None."""
    if measure.interval is None:
        return None
    low, high = (shown(end, quantity(measure)) for end in measure.interval)
    return low, high


def between(measure: Measure, tight: bool = False) -> str:
    """Return the separator of an interval's ends: a dash next to a minus would be misread."""
    return " to " if quantity(measure).signed else "–" if tight else " – "


def interval_text(measure: Measure) -> str:
    """Return the interval, or an empty text."""
    ends = interval_ends(measure)
    return between(measure).join(ends) if ends else ""


def _value_and_interval(measure: Measure) -> str:
    interval = interval_text(measure)
    return value_text(measure) + (f" ({interval})" if interval else "")


PARTS: dict[str, Callable[[Measure], str]] = {
    "value": value_text,
    "interval": interval_text,
    "value and interval": _value_and_interval,
    "n": lambda measure: f"{measure.n:,}",
    "na": lambda measure: f"{measure.na:,}" if measure.na else "",
    "errors": lambda measure: f"{measure.errors:,}" if measure.errors else "",
}


def scale_ends(scale: tuple[float, float], measure: Measure | None) -> tuple[str, str]:
    """Return the ends of a scale in the unit of its measure."""
    what = quantity(measure) if measure else Quantity()
    low, high = (_end(end, what) for end in scale)
    return low, high


def _end(end: float, what: Quantity) -> str:
    number = 100 * end if what.unit == "share" else end
    text = f"{number:+g}" if what.signed and number else f"{number:g}"
    return text.replace("-", "−")


def place_text(place: float) -> str:
    """Return a position on an axis.

    >>> place_text(3.0), place_text(0.25), place_text(2_000_000.0)
    ('3', '0.25', '2,000,000')
    """
    return (f"{place:,.0f}" if place.is_integer() else f"{place:g}").replace("-", "−")


def measures_in(cell: Cell) -> Iterator[Measure]:
    """Yield every measure of a cell."""
    for piece in pieces_of(cell):
        if isinstance(piece, Number) and piece.measure is not None:
            yield piece.measure
        elif isinstance(piece, Dots):
            yield from piece.measures


# Blocks as tables


NamedBlock = Table | HeatMap | Curves | Scatter


def as_table(block: NamedBlock) -> Table:
    """Return the data of a block as a table, with its name, title and legend."""
    return TABLES[type(block)](block)


def _number(measure: Measure | None) -> Number:
    return Number(measure, part="value and interval")


def heat_map_table(block: HeatMap) -> Table:
    """Return a row per row and a column per column, with groups as headings."""
    columns = [Column("", "left"), *([Column("kind", "left", tone="quiet")] if block.kinds else [])]
    columns += [Column(f"{group} {name}".strip()) for name, group in block.columns]
    rows: list[Row] = []
    last = ""
    for i, (name, group) in enumerate(block.rows):
        rows += [Row([group], "strong")] if group and group != last else []
        last = group
        places = [(i, j) for j in range(len(block.columns))]
        numbers = [Number(block.cells.get(place), mark=block.marks.get(place, "")) for place in places]
        label = f"  {name}" if group else Words(name, "strong")
        rows.append(Row([label, *([block.kinds[i]] if block.kinds else []), *numbers]))
    return Table(columns, rows, block.name, block.title, block.legend)


def curves_table(block: Curves) -> Table:
    """Return a row per position on the axis and a column per line."""
    places = sorted({place for line in block.lines for place, _ in line.points})
    columns = [Column(block.axis), *(Column(line.name, tone=line.tone) for line in block.lines)]
    columns += [Column("mark", "left")] if block.marked is not None else []
    points = [dict(line.points) for line in block.lines]
    rows = []
    for place in places:
        cells: list[Cell] = [place_text(place), *(_number(line.get(place)) for line in points)]
        cells += ["chosen" if place == block.marked else ""] if block.marked is not None else []
        rows.append(Row(cells))
    return Table(columns, rows, block.name, block.title, block.legend)


def scatter_table(block: Scatter) -> Table:
    """Return a row per point."""
    columns = [Column("", "left"), *(Column(axis) for axis in block.axes)]
    rows = [Row([name, _number(x), _number(y)]) for name, x, y in block.points]
    return Table(columns, rows, block.name, block.title, block.legend)


TABLES: Mapping[type, Callable[[Any], Table]] = {
    Table: lambda table: table,
    HeatMap: heat_map_table,
    Curves: curves_table,
    Scatter: scatter_table,
}


# Rows and columns


def is_full(row: Row, table: Table) -> bool:
    """Return whether a row has cells, and is not a gap or a heading."""
    return len(row.cells) > 1 or len(row.cells) == len(table.columns) > 0


def cell_of(row: Row, position: int) -> Cell:
    """Return a cell of a row, which may end early."""
    return row.cells[position] if position < len(row.cells) else ""


def column_cells(table: Table, position: int) -> list[Cell]:
    """Return the cells of a column, of full rows."""
    return [cell_of(row, position) for row in table.rows if is_full(row, table)]


def without_dots(table: Table) -> Table:
    """Return the table without columns of dots, which only pages and figures draw."""
    kept = [position for position in range(len(table.columns)) if not _has_dots(table, position)]
    rows = [
        replace(row, cells=[cell_of(row, position) for position in kept]) if is_full(row, table) else row
        for row in table.rows
    ]
    return replace(table, columns=[table.columns[position] for position in kept], rows=rows)


def _has_dots(table: Table, position: int) -> bool:
    return any(isinstance(piece, Dots) for cell in column_cells(table, position) for piece in pieces_of(cell))


def without_repeats(table: Table) -> Table:
    """Return the table with empty cells below equal ones, in columns that show a value once."""
    once = [i for i, column in enumerate(table.columns) if column.once]
    if not once:
        return table
    rows: list[Row] = []
    last: list[str] = []
    for row in table.rows:
        if not is_full(row, table):
            rows.append(row)
            last = last if not row.cells else []
            continue
        names = [plain(cell_of(row, i)) for i in once]
        same = [i for number, i in enumerate(once) if names[: number + 1] == last[: number + 1]]
        last = names
        rows.append(replace(row, cells=["" if i in same else cell for i, cell in enumerate(row.cells)]))
    return replace(table, rows=rows)


# CSV


SYMBOLS = " ▲▼✓✗"
"""Left out next to a name: the numbers say the same."""


def tables_of(sections: Sequence[Section]) -> dict[str, str]:
    """Return every block that has a name as CSV, by that name; a repeated name gets a number: `cells-2`."""
    tables: dict[str, str] = {}
    for section in sections:
        for block in section.blocks:
            if isinstance(block, NamedBlock) and block.name:
                tables[free_name(block.name, tables, "-")] = table_csv(as_table(block))
    return tables


def free_name(name: str, taken: Collection[str], separator: str) -> str:
    """Return the name, or the name with the first number that is free.

    >>> free_name("cells", ["cells"], "-")
    'cells-2'
    """
    names = [name, *(f"{name}{separator}{number}" for number in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken)


def table_csv(table: Table) -> str:
    """Return one table; headings inside it become a column `block`."""
    table = without_dots(table)
    writers = [_Column(table, position) for position in range(len(table.columns))]
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
    """A column of a table as CSV: fields for its numbers and its words, if it has any."""

    def __init__(self, table: Table, position: int) -> None:
        cells = column_cells(table, position)
        pieces = [piece for cell in cells for piece in pieces_of(cell)]
        first = next((piece.measure for piece in pieces if isinstance(piece, Number) and piece.measure), None)
        self.position = position
        self.count = max((len(_values(cell)) for cell in cells), default=0)
        has_numbers = any(isinstance(piece, Number) for piece in pieces)
        self.has_words = not has_numbers or any(map(_words, cells))
        title = " ".join(table.columns[position].title.split()) or (first.name if first else "")
        self.title = title or ("name" if position == 0 else "words")

    @property
    def names(self) -> list[str]:
        names = []
        for number in range(self.count):
            base = self.title if number == 0 else f"{self.title} {number + 1}"
            names += [base, f"{base} low", f"{base} high", f"{base} n"]
        return names + ([f"{self.title} words" if names else self.title] if self.has_words else [])

    def fields(self, row: Row) -> Iterator[Any]:
        """Yield the values of one row, one for each name."""
        cell = cell_of(row, self.position)
        numbers = _values(cell)
        for position in range(self.count):
            number = numbers[position] if position < len(numbers) else Number(None)
            if measure := number.measure:
                value = measure.value if is_defined(measure) else None
                yield from [value, *(measure.interval or (None, None)), measure.n]
            else:
                yield from [None] * 4
        if self.has_words:
            yield _words(cell)


def _values(cell: Cell) -> list[Number]:
    """Return the numbers of a cell; intervals and counts of cases come with the value."""
    numbers = [piece for piece in pieces_of(cell) if isinstance(piece, Number)]
    return [number for number in numbers if number.part not in QUIET_PARTS]


def _words(cell: Cell) -> str:
    words = [piece_text(piece) for piece in pieces_of(cell) if not isinstance(piece, Number)]
    return "".join(words).strip(SYMBOLS)


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table with the columns of its first row, lists as JSON in their field; empty without rows."""
    if not rows:
        return ""
    return "".join(csv_lines([list(rows[0]), *([_flat(row.get(name)) for name in rows[0]] for row in rows)]))


def _flat(field: Any) -> Any:
    return json.dumps(field, ensure_ascii=False) if isinstance(field, list | tuple) else field

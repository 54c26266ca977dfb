"""Cells as plain text, the table of every block, and tables as CSV: the part that all renderers share.

CSV is for computing: fractions with every digit, empty where undefined. A cell with a number becomes four columns: the
value under the column's title, then `low`, `high` and `n`. Text that starts like a formula is quoted, because
spreadsheets run formulas.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from math import isfinite
from typing import Any

from ..core.measures import Quantity, quantity, shown, shown_interval
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
    return shown_interval(measure, between=between(measure))


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


def scale_ends(scale: tuple[float, float], measure: Measure | None) -> list[str]:
    """Return the ends of a scale in the unit of its measure."""
    what = quantity(measure) if measure else Quantity()
    return [("+" if what.signed and end > 0 else "") + tick_text(end, what) for end in scale]


def tick_text(value: float, what: Quantity) -> str:
    """Return a value on an axis; shares in per cent."""
    return f"{round(100 * value, 9) if what.unit == 'share' else value:g}".replace("-", "−")


def place_text(place: float) -> str:
    """Return a position on an axis.

    >>> place_text(3.0), place_text(0.25), place_text(2_000_000.0)
    ('3', '0.25', '2,000,000')
    """
    return (f"{place:,.0f}" if place.is_integer() else f"{place:g}").replace("-", "−")


# Blocks as tables


NamedBlock = Table | HeatMap | Curves | Scatter


@singledispatch
def as_table(block: NamedBlock) -> Table:
    """Return the data of a block as a table, with its name, title and legend."""
    assert isinstance(block, Table)
    return block


def _number(measure: Measure | None) -> Number:
    return Number(measure, part="value and interval")


@as_table.register
def _heat_map_table(block: HeatMap) -> Table:
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


@as_table.register
def _curves_table(block: Curves) -> Table:
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


@as_table.register
def _scatter_table(block: Scatter) -> Table:
    """Return a row per point."""
    columns = [Column("", "left"), *(Column(axis) for axis in block.axes)]
    rows = [Row([name, _number(x), _number(y)]) for name, x, y in block.points]
    return Table(columns, rows, block.name, block.title, block.legend)


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
    kept = [
        position
        for position in range(len(table.columns))
        if not any(
            isinstance(piece, Dots) for cell in column_cells(table, position) for piece in pieces_of(cell)
        )
    ]
    rows = [
        replace(row, cells=[cell_of(row, position) for position in kept]) if is_full(row, table) else row
        for row in table.rows
    ]
    return replace(table, columns=[table.columns[position] for position in kept], rows=rows)


def without_repeats(table: Table) -> Table:
    """Return the table with empty cells below equal ones, in columns that show a value once."""
    once = [i for i, column in enumerate(table.columns) if column.once]
    rows: list[Row] = []
    last: list[str] = []
    for row in table.rows:
        if is_full(row, table):
            names = [plain(cell_of(row, i)) for i in once]
            same = [i for number, i in enumerate(once) if names[: number + 1] == last[: number + 1]]
            row = replace(row, cells=["" if i in same else cell for i, cell in enumerate(row.cells)])
            last = names
        elif row.cells:
            last = []
        rows.append(row)
    return replace(table, rows=rows) if once else table


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
    columns = [column for position in range(len(table.columns)) for column in _csv_columns(table, position)]
    headings, heading = [], ""
    for row in table.rows:
        if is_full(row, table):
            headings.append(heading)
        elif row.cells:
            heading = plain(row.cells[0]).strip()
    if any(headings):
        columns.insert(0, ("block", headings))
    names: list[str] = []
    for name, _ in columns:
        names.append(free_name(name, names, " "))
    rows = zip(*(fields for _, fields in columns), strict=True)
    return "".join(csv_lines([names, *rows]))


def _csv_columns(table: Table, position: int) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield name and fields of the CSV columns of a column: four for each number of its cells, and its words."""
    cells = [pieces_of(cell) for cell in column_cells(table, position)]
    # Intervals and counts of cases come with the value.
    numbers = [
        [piece for piece in cell if isinstance(piece, Number) and piece.part not in QUIET_PARTS]
        for cell in cells
    ]
    pieces = [piece for cell in cells for piece in cell if isinstance(piece, Number)]
    words = [
        "".join(piece_text(piece) for piece in cell if not isinstance(piece, Number)).strip(SYMBOLS)
        for cell in cells
    ]
    title = " ".join(table.columns[position].title.split())
    title = title or next((piece.measure.name for piece in pieces if piece.measure), "")
    title = title or ("name" if position == 0 else "words")
    count = max(map(len, numbers), default=0)
    for number in range(count):
        base = title if number == 0 else f"{title} {number + 1}"
        measures = [row[number].measure if number < len(row) else None for row in numbers]
        yield base, [measure.value if measure and is_defined(measure) else None for measure in measures]
        for end, name in enumerate(("low", "high")):
            yield f"{base} {name}", [m.interval[end] if m and m.interval else None for m in measures]
        yield f"{base} n", [measure.n if measure else None for measure in measures]
    if any(words) or not pieces:
        yield f"{title} words" if count else title, words


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table with the columns of its first row, lists as JSON in their field; empty without rows."""
    if not rows:
        return ""
    return "".join(csv_lines([list(rows[0]), *([_flat(row.get(name)) for name in rows[0]] for row in rows)]))


def _flat(field: Any) -> Any:
    return json.dumps(field, ensure_ascii=False) if isinstance(field, list | tuple) else field

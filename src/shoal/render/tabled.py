"""Every picture as a table of its data, for those who cannot draw it or want to compute with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from ..core.records import Measure
from ..core.views import (
    Bars,
    Cell,
    Column,
    Curves,
    Dots,
    HeatMap,
    Number,
    Row,
    Scatter,
    Strips,
    Table,
    WeighedWords,
)
from .pieces import pieces_of, place_text, plain

Picture = Table | HeatMap | Curves | Strips | Bars | Scatter | WeighedWords

PICTURES = ("bar", "dots")
COPIES = (*PICTURES, "interval", "n")
"""Parts that say again what the value's own cell can say."""


def as_table(block: Picture) -> Table:
    """The block's data, with its name, title and legend."""
    return TABLED[type(block)](block)


def _number(measure: Measure) -> Number:
    return Number(measure, part="value and interval")


def heat_map_table(block: HeatMap) -> Table:
    """A row per row, a column per column; a block's name as a heading."""
    columns = [Column("", "left"), *([Column("kind", "left", tone="quiet")] if block.kinds else [])]
    columns += [Column(f"{group} {name}".strip()) for name, group in block.columns]
    rows: list[Row] = []
    last = ""
    for i, (name, group) in enumerate(block.rows):
        rows += [Row([group], "strong")] if group and group != last else []
        last = group
        numbers = [Number(block.cells.get((i, j))) for j in range(len(block.columns))]
        rows.append(Row([name, *([block.kinds[i]] if block.kinds else []), *numbers]))
    return Table(columns, rows, block.name, block.title, block.legend)


def curves_table(block: Curves) -> Table:
    """A row per place on the axis, a column per line."""
    places = sorted({place for line in block.lines for place, _ in line.points})
    columns = [Column(block.axis), *(Column(line.name) for line in block.lines)]
    columns += [Column("mark", "left")] if block.marked is not None else []
    rows = []
    for place in places:
        points = [dict(line.points).get(place) for line in block.lines]
        cells: list[Cell] = [place_text(place), *(_number(point) if point else "" for point in points)]
        cells += [block.mark if place == block.marked else ""] if block.marked is not None else []
        rows.append(Row(cells))
    return Table(columns, rows, block.name, block.title, block.legend)


def strips_table(block: Strips) -> Table:
    """A row per dot."""
    rows: list[Row] = []
    name_of_value = next((measure.name for _, measures in block.rows for measure in measures), "value")
    for name, measures in block.rows:
        names = _told_apart(measures)
        rows += [
            Row([name, which, _number(measure), Number(measure, part="n")])
            for which, measure in zip(names, measures, strict=True)
        ]
    columns = [Column("", "left"), Column("dot", "left"), Column(name_of_value), Column("n")]
    return Table(columns, rows, block.name, block.title, block.legend)


def _told_apart(measures: Sequence[Measure]) -> list[str]:
    """By the groups in which they differ, such as the checkpoint; or else by their number."""
    groups = dict.fromkeys(group for measure in measures for group in measure.groups)
    telling = [group for group in groups if len({measure.groups.get(group) for measure in measures}) > 1]
    names = [", ".join(measure.groups.get(group, "") for group in telling) for measure in measures]
    return names if len(set(names)) == len(names) > 1 else [str(i + 1) for i in range(len(measures))]


def bars_table(block: Bars) -> Table:
    """A row per bar."""
    name_of_value = block.bars[0][1].name if block.bars else "value"
    columns = [Column("", "left"), Column(name_of_value), Column("n")]
    columns += [Column("beside", "left", tone="quiet")] if block.aside else []
    rows = []
    for i, (name, measure) in enumerate(block.bars):
        aside = [block.aside.get(i, "")] if block.aside else []
        rows.append(Row([name, _number(measure), Number(measure, part="n"), *aside]))
    return Table(columns, rows, block.name, block.title, block.legend)


def scatter_table(block: Scatter) -> Table:
    """A row per point."""
    columns = [Column("", "left"), *(Column(axis) for axis in block.axes)]
    rows = [Row([name, _number(x), _number(y)]) for name, x, y in block.points]
    return Table(columns, rows, block.name, block.title, block.legend)


def weighed_table(block: WeighedWords) -> Table:
    """A row per word."""
    rows = [
        Row([str(number), str(place), word, Number(Measure("attribution", value, int(isfinite(value))))])
        for number, example in enumerate(block.examples, start=1)
        for place, text in enumerate(example.texts, start=1)
        for word, value in text
        if value is not None
    ]
    columns = [
        Column("example", "left"),
        Column("text", "left"),
        Column("word", "left"),
        Column("attribution"),
    ]
    return Table(columns, rows, block.name, block.title, block.legend)


TABLED: Mapping[type, Callable[[Any], Table]] = {
    Table: lambda table: table,
    HeatMap: heat_map_table,
    Curves: curves_table,
    Strips: strips_table,
    Bars: bars_table,
    Scatter: scatter_table,
    WeighedWords: weighed_table,
}


# Rows and columns of a table


def is_full(row: Row, table: Table) -> bool:
    """Whether it is a row of cells, not a gap or a heading."""
    return len(row.cells) > 1 or len(row.cells) == len(table.columns) > 0


def cell_of(row: Row, position: int) -> Cell:
    """What stands there; a row may end early."""
    return row.cells[position] if position < len(row.cells) else ""


def column_cells(table: Table, position: int) -> list[Cell]:
    """The cells of a column, of full rows."""
    return [cell_of(row, position) for row in table.rows if is_full(row, table)]


def without_pictures(table: Table) -> Table:
    """The table for those who only write words: bars and dots whose value stands beside them are left out."""
    table = said_once(table)
    kept = [i for i in range(len(table.columns)) if not is_copy(table, i, PICTURES)]
    rows = [
        Row([cell_of(row, i) for i in kept], row.tone) if is_full(row, table) else row for row in table.rows
    ]
    return replace(table, columns=[table.columns[i] for i in kept], rows=rows)


def said_once(table: Table) -> Table:
    """The table for people: in columns that are to say a thing once, empty below a cell that says the same."""
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


def is_copy(table: Table, position: int, parts: Sequence[str] = COPIES) -> bool:
    """Whether a column only says again, in one of these parts, what a value in the same row says."""
    pieces = 0
    for row in table.rows:
        if not is_full(row, table):
            continue
        values = {measure for cell in row.cells for part, measure in _parts(cell) if part in VALUES}
        here = _parts(cell_of(row, position))
        if any(part not in parts or measure not in values for part, measure in here):
            return False
        pieces += len(here)
    return pieces > 0


VALUES = ("value", "value and interval")


def _parts(cell: Cell) -> list[tuple[str, Measure | None]]:
    """What of which measure stands in a cell; words are a part without one."""
    parts: list[tuple[str, Measure | None]] = []
    for piece in pieces_of(cell):
        if isinstance(piece, Number):
            parts += [(piece.part, piece.measure)] if piece.measure is not None else []
        elif isinstance(piece, Dots):
            parts += [("dots", measure) for measure in piece.measures]
        else:
            parts.append(("words", None))
    return parts

"""Tables in a terminal: cells in words and styles, numbers below each other; how wide they become is the layout's."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from ..core.records import Measure
from ..core.views import Cell, Column, Dots, Number, Piece, Row, Table, Tone, Tones
from .layout import Grid, ShownColumn
from .marks import BAR, STRIP, bar, strip
from .pieces import (
    bar_tone,
    between,
    interval_ends,
    is_defined,
    is_waiting,
    measures_in,
    number_text,
    piece_text,
    pieces_of,
    scale_ends,
    tone_of,
    tones_of,
    value_text,
)
from .printable import on_one_line, printable
from .tabled import cell_of, is_full, said_once

STYLES: dict[Tone, str] = {
    "": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "bad": "red",
    "doubt": "yellow",
    "first": "cyan",
    "second": "green",
    "third": "bright_black",
}


def style_of(tones: Tones) -> str:
    """What a tone looks like in a terminal."""
    return " ".join(filter(None, (STYLES[tone] for tone in tones_of(tones))))


def grid_of(table: Table) -> Grid:
    """A table's columns, and its headings and gaps between the rows."""
    table = said_once(table)
    rows = [row for row in table.rows if is_full(row, table)]
    above: dict[int, list[Text]] = {}
    position = 0
    for row in table.rows:
        if is_full(row, table):
            position += 1
        else:
            above.setdefault(position, []).append(_heading_row(row))
    if not any(above.get(len(rows), ())):
        above.pop(len(rows), None)  # a gap at the end is none
    return Grid([_column(table.columns[i], i, rows) for i in range(len(table.columns))], above)


def _heading_row(row: Row) -> Text:
    pieces = [piece for cell in row.cells for piece in pieces_of(cell)]
    return Text.assemble(*(_piece(piece, row.tone or "strong") for piece in pieces))


def _column(column: Column, position: int, rows: Sequence[Row]) -> ShownColumn:
    cells = [_alone(cell_of(row, position)) for row in rows]
    pieces = [piece for cell in cells for piece in pieces_of(cell)]
    bars = any(isinstance(piece, Number) and piece.part == "bar" for piece in pieces)
    dots = any(isinstance(piece, Dots) for piece in pieces)
    name = "bars" if bars else "dots" if dots else "a column"
    texts, tall = (
        [_cell(cell, row.tone, look) for cell, row in zip(cells, rows, strict=True)]
        for look in (_look(column, cells, tall=False), _look(column, cells, tall=True))
    )
    return ShownColumn(
        _heading(column, cells, STRIP if dots else BAR),
        texts,
        "left" if bars or dots else column.align,
        folds=column.align == "left" and not bars and not dots,
        spare=column.spare,
        is_picture=bars or dots,
        name=" ".join(printable(column.title).split()) or name,
        tall=tall if any(isinstance(cell, Number) and cell.part == BOTH for cell in cells) else (),
    )


def _alone(cell: Cell) -> Cell:
    """A piece that is all there is in a cell, out of its list."""
    pieces = pieces_of(cell)
    return pieces[0] if len(pieces) == 1 else cell


def _heading(column: Column, cells: Sequence[Cell], width: int) -> str:
    title = printable(column.title)
    if column.scale is None:
        return title
    measure = next((measure for cell in cells for measure in measures_in(cell)), None)
    low, high = scale_ends(column.scale, measure)
    return f"{title}\n" * bool(title) + low + " " * (width - len(low) - len(high)) + high


# Cells

BOTH = "value and interval"


@dataclass(frozen=True)
class Look:
    """What the cells of a column share: how wide the parts of numbers are, so that they stand below each other."""

    column: Column
    tall: bool
    """Whether intervals go below the values."""
    value: int
    mark: int
    low: int
    high: int
    places: Sequence[int]


def _look(column: Column, cells: Sequence[Cell], *, tall: bool) -> Look:
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    known = [(number, number.measure) for number in numbers if number.measure is not None]
    ends = [interval_ends(measure) for number, measure in known if number.part in ("interval", BOTH)]
    return Look(
        column,
        tall,
        value=_widest(value_text(measure) for number, measure in known if number.part == BOTH),
        mark=_widest(on_one_line(number.mark) for number in numbers),
        low=_widest(pair[0] for pair in ends if pair),
        high=_widest(pair[1] for pair in ends if pair),
        places=_places(cells),
    )


def _places(cells: Sequence[Cell]) -> list[int]:
    """In cells of several pieces, how wide the numbers are by the place at which they stand."""
    several = [pieces for cell in cells if len(pieces := pieces_of(cell)) > 1]
    widths = [0] * max(map(len, several), default=0)
    for pieces in several:
        for i, piece in enumerate(pieces):
            widths[i] = (
                max(widths[i], cell_len(piece_text(piece))) if isinstance(piece, Number) else widths[i]
            )
    return widths


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _cell(cell: Cell, row: Tones, look: Look) -> Text:
    """A cell; numbers are aligned with those above and below."""
    outer = (look.column.tone, row)
    if isinstance(cell, Number):
        return _number(cell, outer, look)
    if isinstance(cell, Dots):
        return _dots(cell, outer)
    pieces = pieces_of(cell)
    if len(pieces) == 1:
        return _piece(pieces[0], *outer)
    text = Text()
    for i, piece in enumerate(pieces):
        part = _piece(piece, *outer)
        text.append(" " * (look.places[i] - part.cell_len) if isinstance(piece, Number) else "")
        text.append_text(part)
    return text


def _piece(piece: Piece, *outer: Tones) -> Text:
    return Text(on_one_line(piece_text(piece)), style_of(tone_of(piece, *outer)))


def _dots(dots: Dots, outer: Sequence[Tones]) -> Text:
    interval = dots.measures[0].interval if len(dots.measures) == 1 else None
    values = [measure.value for measure in dots.measures if is_defined(measure) and measure.value is not None]
    return strip(values, interval, dots.scale, dots.middle, style_of(tone_of(dots, *outer)))


def _number(number: Number, outer: Sequence[Tones], look: Look) -> Text:
    style = style_of(tone_of(number, *outer))
    if number.measure is None or is_waiting(number) or number.part not in PARTS:
        return Text(on_one_line(number_text(number)), style)
    return PARTS[number.part](number, number.measure, style, look)


def _value(number: Number, measure: Measure, style: str, look: Look) -> Text:
    return Text(value_text(measure) + _mark(number, look), style)


def _mark(number: Number, look: Look) -> str:
    return f" {on_one_line(number.mark):<{look.mark}}" if look.mark else ""


def _interval(number: Number, measure: Measure, style: str, look: Look) -> Text:
    ends = interval_ends(measure)
    # The mark comes first: what follows the last digit would be cut off where it is blank.
    mark = f"{on_one_line(number.mark)} " if number.mark else ""
    return Text(f"{mark}{ends[0]:>{look.low}}{between(measure)}{ends[1]:>{look.high}}" if ends else "", style)


def _value_and_interval(number: Number, measure: Measure, style: str, look: Look) -> Text:
    text = Text.assemble((f"{value_text(measure):>{look.value}}{_mark(number, look)}", style))
    ends, dash = interval_ends(measure), between(measure, tight=True)
    interval = dash.join(ends) if ends else ""
    if look.tall:
        return text.append(f"\n{interval}" if interval else "", "dim")
    return text.append(f" {interval:>{look.low + len(dash) + look.high}}" if look.low else "", "dim")


def _bar(number: Number, measure: Measure, style: str, look: Look) -> Text:
    colour = style if style not in ("", "bold") else STYLES[bar_tone(measure)]
    return bar(measure, colour, BAR, look.column.scale or (0.0, 1.0), rest="·")


PARTS: dict[str, Callable[[Number, Measure, str, Look], Text]] = {
    "value": _value,
    "interval": _interval,
    "value and interval": _value_and_interval,
    "bar": _bar,
}
"""Parts of a measure that are aligned or drawn; the others are words."""

"""Sections in a terminal: a function per kind of block, each returning lines that fit.

To show a new kind of block: write a function from block and width to lines, and add it to BLOCKS.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text as Line

from ..core.measures import quantity, shown
from ..core.records import Measure
from ..core.text import on_one_line, printable
from ..core.views import (
    STRONG,
    WEAK,
    Block,
    CaseList,
    Cell,
    Column,
    Curves,
    HeatMap,
    Number,
    Piece,
    Row,
    Scatter,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    Tones,
    WeighedWords,
    to_read,
)
from .cases import WEIGHED, marked_edits, outcome_words, weighed_text
from .layout import Grid, ShownColumn, fold, lay_out
from .tables import (
    as_table,
    between,
    cell_of,
    interval_ends,
    is_defined,
    is_full,
    is_replaced,
    number_text,
    piece_text,
    pieces_of,
    tone_of,
    tones_of,
    value_text,
    without_dots,
    without_repeats,
)

NOTES, EXAMPLES = 3, 3
"""The number of notes and of texts of a case that are shown."""
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


def print_sections(
    sections: Sequence[Section],
    console: Console | None = None,
    *,
    full: bool = False,
    more: str = "--full",
) -> None:
    """Print sections; with `full`, also the detailed ones and every note. `more` is the option that shows those."""
    console = console or Console(highlight=False)
    coloured = console.color_system is not None and not console.no_color
    if lines := section_lines(sections, console.width, full=full, coloured=coloured, more=more):
        console.print(Line("\n").join(lines), soft_wrap=True)


def section_lines(
    sections: Sequence[Section],
    width: int,
    *,
    full: bool = False,
    coloured: bool = True,
    more: str = "--full",
) -> list[Line]:
    """Return the sections as lines of at most this width; without colours, attributions become numbers."""
    lines: list[Line] = []
    for section in to_read(sections):
        if not full and section.detail != "short":
            continue
        hidden = 0 if full else max(0, len(section.notes) - NOTES)
        notes = [*section.notes[: len(section.notes) - hidden]]
        notes += [f"{hidden} more note{'s' if hidden > 1 else ''}: {more}"] if hidden else []
        # Names of models and files stay whole, so that they can be copied.
        parts = [[*_title(section.title, width, whole=True), *_paragraph(section.text, width)]]
        warnings = [Line(f"! {printable(words)}", STYLES["doubt"]) for words in section.warnings]
        parts.append([part for line in warnings for part in fold(line, width, hang=2)])
        for block in section.blocks:
            if isinstance(block, WeighedWords):
                parts.append(weighed_lines(block, width, coloured=coloured))
            else:
                parts.append(BLOCKS[type(block)](block, width))
        for part in [*parts, _quiet(notes, width)]:
            while part and not part[-1].plain:
                part.pop()
            lines += [Line(""), *part] if lines and part else part
    return lines


def _title(title: Cell, width: int, *, whole: bool = False) -> list[Line]:
    """Return a title, bold unless its pieces have tones."""
    return _paragraph(title, width, "strong" if isinstance(title, str) else "", whole=whole)


def _paragraph(cell: Cell, width: int, tone: Tones = "", *, whole: bool = False) -> list[Line]:
    pieces = pieces_of(cell)
    texts = [Line(printable(piece_text(piece)), style_of(tone_of(piece, tone))) for piece in pieces]
    return fold(Line.assemble(*texts), width, whole=whole) if pieces else []


def _quiet(lines: Sequence[str], width: int) -> list[Line]:
    return [part for line in lines for part in fold(Line(printable(line), "dim"), width)]


def _framed(block: Any, lines: Sequence[Line], width: int) -> list[Line]:
    """Return a block with its title above and its legend below."""
    return [*_title(block.title, width), *lines, *_quiet(block.legend, width)]


def style_of(tones: Tones) -> str:
    """Return the terminal style of a tone."""
    return " ".join(filter(None, (STYLES[tone] for tone in tones_of(tones))))


# Tables


def table_lines(block: Table, width: int) -> list[Line]:
    """Return rows of cells."""
    return _framed(block, lay_out(grid_of(block), width), width)


def grid_of(table: Table) -> Grid:
    """Return a table's columns, and its headings and gaps between the rows; only pages and figures draw dots."""
    table = without_dots(without_repeats(table))
    rows: list[Row] = []
    above: dict[int, list[Line]] = {}
    for row in table.rows:
        if is_full(row, table):
            rows.append(row)
        else:
            pieces = [piece for cell in row.cells for piece in pieces_of(cell)]
            heading = _cell(pieces, _field_widths([pieces]), [row.tone or "strong"], tall=False)
            above.setdefault(len(rows), []).append(heading)
    if not any(above.get(len(rows), ())):
        above.pop(len(rows), None)  # a gap at the end
    numbers = [i for i, column in enumerate(table.columns) if column.align == "right"]
    names = max(1, numbers[0]) if numbers else 1
    columns = [_column(column, i, rows) for i, column in enumerate(table.columns)]
    return Grid(columns, above, repeated=names, most=0.65)


def _column(column: Column, position: int, rows: Sequence[Row]) -> ShownColumn:
    cells = [pieces_of(cell_of(row, position)) for row in rows]
    has_intervals = any(isinstance(piece, Number) and piece.part == BOTH for cell in cells for piece in cell)
    widths = _field_widths(cells)

    def lines(*, tall: bool) -> list[Line]:
        styled = zip(cells, rows, strict=True)
        return [_cell(cell, widths, (column.tone, row.tone), tall=tall) for cell, row in styled]

    below, folds = lines(tall=True) if has_intervals else [], column.align == "left"
    return ShownColumn(printable(column.title), lines(tall=False), column.align, folds, column.spare, below)


BOTH = "value and interval"
Fields = tuple[str, str, str, str]
"""The value, the mark and both ends of the interval of a number, as far as it shows them."""


def _fields(piece: Piece) -> Fields:
    if not isinstance(piece, Number) or piece.measure is None or is_replaced(piece):
        return "", "", "", ""
    value = number_text(replace(piece, part="value" if piece.part == BOTH else piece.part))
    ends = interval_ends(piece.measure) if piece.part in (BOTH, "interval") else None
    return "" if piece.part == "interval" else value, on_one_line(piece.mark), *(ends or ("", ""))


def _field_widths(cells: Sequence[Sequence[Piece]]) -> list[list[int]]:
    """Return the widths that align the fields of the numbers of a column, by the position of the piece."""
    rows = [list(map(_fields, cell)) for cell in cells]
    by_position = zip_longest(*rows, fillvalue=("", "", "", ""))
    return [[max(map(cell_len, field)) for field in zip(*fields, strict=True)] for fields in by_position]


def _cell(
    cell: Sequence[Piece], widths: Sequence[Sequence[int]], outer: Sequence[Tones], *, tall: bool
) -> Line:
    """Return a cell; its numbers are aligned with those above and below."""
    text = Line()
    for position, piece in enumerate(cell):
        style = style_of(tone_of(piece, *outer))
        if any(_fields(piece)):
            text.append_text(_number(piece, widths[position], style, tall=tall))
        else:
            text.append(on_one_line(piece_text(piece)), style)
    return text


def _number(piece: Piece, widths: Sequence[int], style: str, *, tall: bool) -> Line:
    assert isinstance(piece, Number) and piece.measure is not None
    value, mark, low, high = _fields(piece)
    line = Line(value.rjust(widths[0]), style)
    line.append(f" {mark:<{widths[1]}}" if widths[1] else "")
    both = piece.part == BOTH
    dash = between(piece.measure, tight=both)
    if tall and both:
        return line.append(f"\n{low}{dash}{high}" if low else "", "dim")
    if widths[2]:
        line.append(" " if value else "")
        line.append(low.rjust(widths[2]) + (dash if low else " " * len(dash)) + high.rjust(widths[3]), "dim")
    return line


# Charts


SMALL_CHANGE = 0.05
"""Smaller changes have no colour."""


def heat_map_lines(block: HeatMap, width: int) -> list[Line]:
    """Return coloured whole per cent; columns that do not fit come in blocks below each other."""
    table = grid_of(as_table(block))
    first = len(table.columns) - len(block.columns)
    columns = [replace(column, title="", folds=i == 0) for i, column in enumerate(table.columns[:first])]
    for position, (name, group) in enumerate(block.columns):
        cells = [
            _heat(block.cells.get((row, position))).append(
                f" {block.marks.get((row, position), '')}".rstrip(), "dim"
            )
            for row in range(len(block.rows))
        ]
        columns.append(ShownColumn(on_one_line(name), cells, group=on_one_line(group)))
    grid = Grid(columns, table.above, gap=1, repeated=first + block.baselines)
    return _framed(block, lay_out(grid, width), width)


def _heat(measure: Measure | None) -> Line:
    if measure is None or not is_defined(measure):
        return Line("–", "dim")
    value, what = measure.value or 0.0, quantity(measure)
    if what.unit != "share":
        return Line(value_text(measure))
    if what.signed:
        style = "green" if value > SMALL_CHANGE else "red" if value < -SMALL_CHANGE else "dim"
    else:
        style = "green" if value >= 0.9 else "yellow" if value >= 0.5 else "red"
    return Line(shown(value, replace(what, digits=0)), style if what.direction == "higher" else "")


def chart_lines(block: Curves | Scatter, width: int) -> list[Line]:
    """Return the data of a chart as a table of values, without intervals."""
    table = as_table(block)
    rows = [
        Row([replace(cell, part="value") if isinstance(cell, Number) else cell for cell in row.cells])
        for row in table.rows
    ]
    return table_lines(replace(table, rows=rows), width)


# Cases


LONGEST_ANSWER = 200
"""Characters of a free answer that are shown; the page has all of it."""


def case_list_lines(block: CaseList, width: int) -> list[Line]:
    """Return each case with its variants below it; edits are highlighted."""
    lines = [line for case in block.cases for line in (Line(""), *case_lines(case, width))]
    return _framed(block, lines[1:], width)


CHANCE = re.compile(r"(?: \(P\(.+?\))? (1\.00|\.\d\d)\b\)?")  # positive .98, neutral (P(negative) .51)


def _changed_first(case: ShownCase) -> list[int]:
    """Return the order of the examples: if some will be hidden, the variants whose answer changed most come first."""
    order = list(range(len(case.case.examples)))
    if len(order) <= EXAMPLES or len(case.answers) != len(order):
        return order
    known = [(CHANCE.sub("", answer), float([*CHANCE.findall(answer), "0"][0])) for answer in case.answers]
    first, before = known[0]
    ranks = [(label == first, -abs(chance - before * (label == first))) for label, chance in known]
    return [0, *sorted(order[1:], key=ranks.__getitem__)]


def case_lines(case: ShownCase, width: int) -> list[Line]:
    """Return a case: its texts, the expectation and the model's answers."""
    order = _changed_first(case)[:EXAMPLES]
    examples = [case.case.examples[place] for place in order]
    answers = [on_one_line(case.answers[place]) for place in order if place < len(case.answers)]
    answers = [text if len(text) <= LONGEST_ANSWER else f"{text[:LONGEST_ANSWER]}…" for text in answers]
    several = len(case.case.examples) > 1
    lines: list[Line] = []
    for number, texts in enumerate(marked_edits(examples)):
        line = Line("      → " if number else "  ")
        line.append(f"{on_one_line(case.mark)} " if case.mark and not number else "", style_of(case.tone))
        for position, pieces in enumerate(texts):
            line.append(" ¦ " if position else "")
            for text, is_touched in pieces:
                line.append(on_one_line(text), ("bold" if number else "underline") if is_touched else "")
        line.append(f"   {answers[number]}" if several and number < len(answers) else "", "dim")
        lines += fold(line, width, hang=8 if number else 4)
    more = len(case.case.examples) - len(examples)
    lines += [Line(f"      … and {more} more")] if more else []
    words = [on_one_line(part) for part in outcome_words(case, () if several else answers[:1])]
    below = Line(f"      {', '.join(words)}", "dim")
    error = case.outcome.error if case.outcome else ""
    if error:
        below.append(f"{', ' if words else ''}{on_one_line(error)}", "not dim red")
    return [*lines, *(fold(below, width) if below.plain.strip() else [])]


# Attributions


COLOURED = "Underlined words count for the answer, red words against it, bold words most."


def weighed_lines(block: WeighedWords, width: int, *, coloured: bool = True) -> list[Line]:
    """Return each text with words for the answer green and underlined, words against it red.

    Without colours, each word that counts is followed by its attribution.
    """
    lines: list[Line] = []
    for number, example in enumerate(block.examples):
        lines += [Line("")] if number else []
        if not coloured:
            lines += [part for line in weighed_text(example) for part in fold(Line(printable(line)), width)]
            continue
        lines += _paragraph(example.about, width)
        for text in example.texts:
            pieces = [(printable(word), weighed_style(example.share(value))) for word, value in text]
            lines += fold(Line.assemble(*pieces), width)
        lines += _paragraph(example.answer, width)
    legend = COLOURED if coloured else WEIGHED
    return [*_title(block.title, width), *lines, *_quiet([*block.legend, legend], width)]


def weighed_style(share: float) -> str:
    """Return the style of a word by its relative attribution.

    >>> weighed_style(0.8), weighed_style(-0.2), weighed_style(0.05)
    ('bold underline green', 'red', '')
    """
    if abs(share) < WEAK:
        return ""
    side = "underline green" if share > 0 else "red"
    return f"bold {side}" if abs(share) >= STRONG else side


BLOCKS: Mapping[type[Block], Callable[[Any, int], list[Line]]] = {
    Text: lambda block, width: _paragraph(list(block.pieces), width),
    Table: table_lines,
    HeatMap: heat_map_lines,
    Curves: chart_lines,
    Scatter: chart_lines,
    CaseList: case_list_lines,
    WeighedWords: weighed_lines,
}
"""The writer of each kind of block."""

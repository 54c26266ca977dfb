"""Sections in a terminal: a function per kind of block, each giving lines that fit.

To show a new kind of block: write a function from block and width to lines, and add it to BLOCKS.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.text import Text as Line

from ..core.measures import quantity, shown
from ..core.records import Measure
from ..core.views import (
    STRONG,
    WEAK,
    Bars,
    Block,
    CaseList,
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
    ShownCase,
    Strips,
    Table,
    Text,
    Tones,
    WeighedWords,
    to_read,
)
from .cases import error_of, how_it_went, marked_edits
from .layout import Grid, ShownColumn, fold, lay_out
from .marks import bar, plot, stretch
from .pieces import (
    is_defined,
    piece_text,
    pieces_of,
    place_text,
    tone_of,
    tones_of,
    value_text,
)
from .printable import on_one_line, printable
from .tables import STYLES, grid_of, style_of

SMALL_BAR, WIDE_BAR = 10, 40
"""Characters of the bars beside a curve's values, and of bars that stand alone."""
EXAMPLES = 3
"""How many texts of a case are shown."""
POINTS = 20
"""How many points of a scatter are also listed."""


UNFOLDED = 10_000
"""A width that nothing is folded at."""


def print_sections(
    sections: Sequence[Section], console: Console | None = None, *, full: bool = False
) -> None:
    """What a protocol shows; with `full`, also the parts that only those want who ask for everything."""
    console = console or Console(highlight=False)
    coloured = console.color_system is not None and not console.no_color
    if lines := section_lines(sections, console.width, full=full, coloured=coloured):
        console.print(Line("\n").join(lines), soft_wrap=True)


def section_lines(
    sections: Sequence[Section], width: int, *, full: bool = False, coloured: bool = True
) -> list[Line]:
    """The same as lines of at most this width; what only colours would say is written out where there are none."""
    parts: list[list[Line]] = []
    for section in to_read(sections):
        if full or section.detail == "short":
            parts += _parts(section, width, coloured=coloured)
    lines: list[Line] = []
    for part in filter(None, parts):
        lines += [Line(""), *part] if lines else part
    return lines


def _parts(section: Section, width: int, *, coloured: bool) -> Iterator[list[Line]]:
    """What stands together; an empty line goes between."""
    # Names of models and files are whole, to be copied; a terminal wraps them by itself.
    yield [*_title(section.title, UNFOLDED), *_paragraph(section.text, width)]
    yield [
        line
        for words in section.warnings
        for line in fold(Line(f"! {printable(words)}", STYLES["doubt"]), width, hang=2)
    ]
    for block in section.blocks:
        if isinstance(block, WeighedWords):
            yield weighed_lines(block, width, coloured=coloured)
        else:
            yield BLOCKS[type(block)](block, width)
    yield _quiet(section.notes, width)


def _title(title: Cell, width: int) -> list[Line]:
    """Bold, unless its pieces have tones of their own."""
    return _paragraph(title, width, "strong" if isinstance(title, str) else "")


def _paragraph(cell: Cell, width: int, tone: Tones = "") -> list[Line]:
    pieces = pieces_of(cell)
    return fold(Line.assemble(*(_in_words(piece, tone) for piece in pieces)), width) if pieces else []


def _quiet(lines: Sequence[str], width: int) -> list[Line]:
    return [part for line in lines for part in fold(Line(printable(line), "dim"), width)]


def _framed(block: Any, lines: Sequence[Line], width: int) -> list[Line]:
    """A block's title above it and its legend below."""
    return [*_title(block.title, width), *lines, *_quiet(block.legend, width)]


def _in_words(piece: Piece, *outer: Tones) -> Line:
    return Line(printable(piece_text(piece)), style_of(tone_of(piece, *outer)))


def text_lines(block: Text, width: int) -> list[Line]:
    """A paragraph."""
    return _paragraph(list(block.pieces), width)


def table_lines(block: Table, width: int) -> list[Line]:
    """Rows of cells."""
    return _framed(block, lay_out(grid_of(block), width), width)


# Pictures


CHANGED = 0.05
"""A change smaller than this is not coloured."""


def heat_map_lines(block: HeatMap, width: int) -> list[Line]:
    """Whole per cent, coloured; columns that do not fit come in blocks below each other."""
    names, above, last = [], {}, ""
    for position, (name, group) in enumerate(block.rows):
        if group and group != last:
            above[position] = [Line(on_one_line(group), "bold")]
        last = group
        names.append(Line(f"  {on_one_line(name)}") if group else Line(on_one_line(name), "bold"))
    columns = [ShownColumn("", names, "left", folds=True)]
    if block.kinds:
        columns.append(ShownColumn("", [Line(on_one_line(kind), "dim") for kind in block.kinds], "left"))
    first = len(columns) + block.baselines
    for position, (name, group) in enumerate(block.columns):
        cells = [_heat(block.cells.get((row, position))) for row in range(len(block.rows))]
        columns.append(ShownColumn(on_one_line(name), cells, group=on_one_line(group)))
    return _framed(block, lay_out(Grid(columns, above, gap=1, repeated=first), width), width)


def _heat(measure: Measure | None) -> Line:
    if measure is None or not is_defined(measure):
        return Line("–", "dim")
    value, what = measure.value or 0.0, quantity(measure)
    if what.unit != "share":
        return Line(value_text(measure))
    whole = shown(value, replace(what, digits=0))
    if what.signed:
        style = "green" if value > CHANGED else "red" if value < -CHANGED else "dim"
    else:
        style = "green" if value >= 0.9 else "yellow" if value >= 0.5 else "red"
    return Line(whole, style if what.direction == "higher" else "")


def curves_lines(block: Curves, width: int) -> list[Line]:
    """A row per place on the axis, a value and a small bar per line."""
    places = sorted({place for line in block.lines for place, _ in line.points})
    columns = [ShownColumn(printable(block.axis), [Line(place_text(place)) for place in places])]
    for line in block.lines:
        points = dict(line.points)
        style = style_of(line.tone)
        texts = [Line(value_text(points[place]) if place in points else "", style) for place in places]
        columns.append(ShownColumn(printable(line.name), texts))
        if _has_bars(line.tone, list(points.values())):
            bars = [
                bar(points[place], style or STYLES["first"], SMALL_BAR, (0.0, 1.0), rest="·", solid=True)
                if place in points
                else Line("")
                for place in places
            ]
            columns.append(ShownColumn("", bars, "left", spare=True, is_picture=True, name="bars"))
    if block.marked is not None:
        mark = on_one_line(block.mark)
        marks = [Line(mark if place == block.marked else "", "bold") for place in places]
        columns.append(ShownColumn("", marks, "left"))
    return _framed(block, lay_out(Grid(columns), width), width)


def _has_bars(tone: Tones, measures: Sequence[Measure]) -> bool:
    """Shares have, unless less is better or the line stands back."""
    kinds = [quantity(measure) for measure in measures]
    shares = bool(kinds) and all(what.unit == "share" and what.direction != "lower" for what in kinds)
    return shares and "quiet" not in tones_of(tone)


def strips_lines(block: Strips, width: int) -> list[Line]:
    """A row per strip: the lowest and the highest value, and a dot for each."""
    several = any(len(measures) > 1 for _, measures in block.rows)
    rows = []
    for name, measures in block.rows:
        known = sorted((row for row in measures if is_defined(row)), key=lambda row: row.value or 0.0)
        ends = (known[0], known[-1]) if known and several else (known[0],) if known else ()
        numbers = [Number(measure) for measure in ends] or [Number(None, instead="–")]
        missing = len(measures) - len(known)
        aside = f"{missing} undefined" if missing and known else ""
        rows.append(
            Row(
                [
                    name,
                    *numbers,
                    *[""] * (1 + several - len(numbers)),
                    Dots(measures, block.scale, block.middle),
                    aside,
                ]
            )
        )
    heads = [Column("lowest"), Column("highest")] if several else [Column("")]
    columns = [Column("", "left"), *heads, Column("", "left", spare=True, scale=block.scale)]
    if any(row.cells[-1] for row in rows):
        columns.append(Column("", "left", tone="quiet"))
    else:
        rows = [Row(row.cells[:-1]) for row in rows]
    return table_lines(Table(columns, rows, title=block.title, legend=block.legend), width)


def bars_lines(block: Bars, width: int) -> list[Line]:
    """A bar per measure, words behind it."""
    measures = [measure for _, measure in block.bars]
    scale = stretch(measures)
    columns = [
        ShownColumn("", [Line(f"  {on_one_line(name)}") for name, _ in block.bars], "left", folds=True),
        ShownColumn("", [Line(value_text(measure), "bold") for measure in measures]),
        ShownColumn(
            "",
            [bar(measure, STYLES["first"], WIDE_BAR, scale) for measure in measures],
            "left",
            spare=True,
            is_picture=True,
            name="bars",
        ),
    ]
    if block.aside:
        asides = [Line(on_one_line(block.aside.get(i, "")), "dim") for i in range(len(measures))]
        columns.append(ShownColumn("", asides, "left", folds=True))
    return _framed(block, lay_out(Grid(columns), width), width)


def scatter_lines(block: Scatter, width: int) -> list[Line]:
    """A plot by characters, and the points in words, if they are not too many."""
    known = [(x, y) for _, x, y in block.points if is_defined(x) and is_defined(y)]
    axes = (on_one_line(block.axes[0]), on_one_line(block.axes[1]))
    lines = [part for line in plot(known, axes, width) for part in fold(line, width)]
    rows = [Row([name, Number(x), Number(y)]) for name, x, y in block.points[:POINTS]]
    columns = [Column("", "left"), *(Column(axis) for axis in block.axes)]
    lines += [Line(""), *table_lines(Table(columns, rows), width)] if rows else []
    more = len(block.points) - len(rows)
    lines += _quiet([f"… and {more:,} more points: --csv"], width) if more else []
    return _framed(block, lines, width)


# Cases


def case_list_lines(block: CaseList, width: int) -> list[Line]:
    """Each case with its variants below it; what an edit changed stands out."""
    lines = _title(block.title, width)
    for number, case in enumerate(block.cases):
        lines += [Line("")] if number else []
        lines += case_lines(case, width)
    return [*lines, *_quiet(block.legend, width)]


def case_lines(shown: ShownCase, width: int) -> list[Line]:
    """A case: its texts, what was expected and what the model said of them."""
    examples = shown.case.examples[:EXAMPLES]
    answers = [on_one_line(answer) for answer in shown.answers[: len(shown.case.examples)]]
    beside = len(shown.case.examples) > 1
    lines: list[Line] = []
    for number, texts in enumerate(marked_edits(examples)):
        line = Line("      → " if number else "  ")
        line.append(f"{on_one_line(shown.mark)} " if shown.mark and not number else "", style_of(shown.tone))
        for position, pieces in enumerate(texts):
            line.append(" ¦ " if position else "")
            for text, is_touched in pieces:
                line.append(on_one_line(text), ("bold" if number else "underline") if is_touched else "")
        line.append(f"   {answers[number]}" if beside and number < len(answers) else "", "dim")
        lines += fold(line, width, hang=8 if number else 4)
    more = len(shown.case.examples) - len(examples)
    lines += [Line(f"      … and {more} more")] if more else []
    below = _below(shown, () if beside else shown.answers[:1])
    return [*lines, *(fold(below, width) if below.plain.strip() else [])]


def _below(shown: ShownCase, answers: Sequence[str]) -> Line:
    words = [on_one_line(part) for part in how_it_went(shown, answers)]
    line = Line(f"      {', '.join(words)}", "dim")
    if error := error_of(shown):
        line.append(f"{', ' if words else ''}{on_one_line(error)}", "not dim red")
    return line


# Words


WEIGHED = "underlined: counts for the answer; red: against it; bold: most"
VALUED = "in brackets how much a word counts: + for the answer, − against it"


def weighed_lines(block: WeighedWords, width: int, *, coloured: bool = True) -> list[Line]:
    """Each text as it was written: words for the answer green and underlined, words against it red.

    Without colours, behind each word that counts how much it does.
    """
    lines: list[Line] = []
    for number, example in enumerate(block.examples):
        lines += [Line("")] if number else []
        lines += _paragraph(example.about, width)
        for text in example.texts:
            pieces = [_weighed(word, value, example.share(value), coloured=coloured) for word, value in text]
            lines += fold(Line.assemble(*pieces), width)
        lines += _paragraph(example.answer, width)
    legend = WEIGHED if coloured else VALUED
    return [*_title(block.title, width), *lines, *_quiet([*block.legend, legend], width)]


def _weighed(word: str, value: float | None, share: float, *, coloured: bool) -> tuple[str, str]:
    if coloured or value is None or abs(share) < WEAK:
        return printable(word), weighed_style(share)
    return f"{printable(word)} ({value_text(Measure('attribution', value, 1))})", ""


def weighed_style(share: float) -> str:
    """How a word looks that counted so much of what the most important one did.

    >>> weighed_style(0.8), weighed_style(-0.2), weighed_style(0.05)
    ('bold underline green', 'red', '')
    """
    if abs(share) < WEAK:
        return ""
    side = "underline green" if share > 0 else "red"
    return f"bold {side}" if abs(share) >= STRONG else side


BLOCKS: Mapping[type[Block], Callable[[Any, int], list[Line]]] = {
    Text: text_lines,
    Table: table_lines,
    HeatMap: heat_map_lines,
    Curves: curves_lines,
    Strips: strips_lines,
    Bars: bars_lines,
    Scatter: scatter_lines,
    CaseList: case_list_lines,
    WeighedWords: weighed_lines,
}
"""Kind of block to what shows it."""

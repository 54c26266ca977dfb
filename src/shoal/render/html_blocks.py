"""Sections and blocks as HTML.

To show a new kind of block: write a function from block to markup, and add it to BLOCKS.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from ..core.measures import quantity, shown
from ..core.records import Measure
from ..core.views import (
    WEAK,
    Block,
    CaseList,
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
    Table,
    Text,
    Weighed,
    WeighedWords,
)
from .cases import attribution, marked_edits, outcome_words
from .html_parts import (
    EMPTY,
    classes,
    curves_svg,
    dots_svg,
    joined,
    lines_of,
    number_html,
    piece_html,
    scatter_svg,
    sentence,
    tone_classes,
    words,
)
from .tables import (
    as_table,
    cell_of,
    column_cells,
    is_defined,
    is_full,
    is_replaced,
    pieces_of,
    plain,
    scale_ends,
    tone_of,
    value_text,
    without_repeats,
)

LONG = 12
"""Characters of a cell that keeps a minimum width on a phone."""


# Sections


def section_html(section: Section, *, titled: bool = True) -> Markup:
    """Return a section of the page; details are folded."""
    first, *rest = lines_of(section.title) or [EMPTY]
    title = Markup("<h3>{}</h3>").format(first) if first and titled else EMPTY
    body = joined(
        [
            _paragraphs(rest, "about"),
            _paragraphs(lines_of(section.text), "text"),
            _paragraphs(map(words, section.warnings), "warning"),
            joined(BLOCKS[type(block)](block) for block in section.blocks),
            _paragraphs(map(words, section.notes), "note"),
        ]
    )
    if section.detail == "full":
        names = [plain(block.title) for block in section.blocks if not isinstance(block, Text)]
        name = first or words("; ".join(dict.fromkeys(filter(None, names)))) or "Details"
        return Markup('<details class="full"><summary>{}</summary>{}</details>\n').format(name, body)
    return Markup("<section>{}{}</section>\n").format(title, body)


def _paragraphs(lines: Iterable[Markup], name: str) -> Markup:
    return joined(Markup('<p class="{}">{}</p>').format(name, line) for line in lines if line.strip())


def _figure(block: Any, content: Markup, kind: str) -> Markup:
    """Return a block with its title above and its legend below."""
    title = Markup("<figcaption>{}</figcaption>").format(sentence(block.title)) if block.title else EMPTY
    return Markup('<figure class="{}">{}{}{}</figure>\n').format(
        kind, title, content, _paragraphs(map(words, block.legend), "legend")
    )


# Tables


def table_html(block: Table) -> Markup:
    """Return rows of cells."""
    return _figure(block, _table(block), "table")


def _table(table: Table, *, heat: bool = False) -> Markup:
    table = without_repeats(table)
    has_headings = any(column.title.strip() or column.scale for column in table.columns)
    head = joined(_heading(table, position) for position in range(len(table.columns)))
    top = Markup("<thead><tr>{}</tr></thead>").format(head) if has_headings else EMPTY
    rows = list(table.rows)
    while rows and not rows[-1].cells:
        rows.pop()
    names = _name_column(table)
    body = joined(_row(row, table, names, heat=heat) for row in rows)
    table_tag = Markup('<div class="wide"><table{}>{}<tbody>{}</tbody></table></div>')
    return table_tag.format(classes("heat" if heat else ""), top, body)


def _heading(table: Table, position: int) -> Markup:
    column = table.columns[position]
    title = joined(map(words, filter(None, column.title.split("\n"))), "<br>")
    if column.scale is not None:
        pieces = [piece for cell in column_cells(table, position) for piece in pieces_of(cell)]
        measures = (row for piece in pieces if isinstance(piece, Dots) for row in piece.measures)
        low, high = scale_ends(column.scale, next(measures, None))
        title += Markup('<span class="scale"><span>{}</span><span>{}</span></span>').format(low, high)
    if not title:
        return Markup("<td></td>")
    return Markup('<th scope="col"{}>{}</th>').format(_column_classes(column), title)


def _column_classes(column: Column, broad: str = "") -> Markup:
    """Return the classes of a column; the first chart of a page leaves spare ones out on a phone."""
    side = "right" if column.align == "right" and column.scale is None else broad
    return classes(side, "spare" if column.spare else "")


def _row(row: Row, table: Table, names: int, *, heat: bool) -> Markup:
    width = len(table.columns)
    if not row.cells:
        return Markup('<tr class="gap"><td colspan="{}"></td></tr>').format(width)
    if not is_full(row, table):
        heading = Markup('<tr class="heading"><th colspan="{}" scope="rowgroup">{}</th></tr>')
        return heading.format(width, sentence(row.cells[0], row.tone))
    cells = [_cell(row, i, column, is_name=i == names, heat=heat) for i, column in enumerate(table.columns)]
    return Markup("<tr>{}</tr>").format(joined(cells))


def _cell(row: Row, position: int, column: Column, *, is_name: bool, heat: bool) -> Markup:
    cell = cell_of(row, position)
    if heat and isinstance(cell, Number):
        return _heat(cell.measure)
    content = joined(_piece(piece, column, row) for piece in pieces_of(cell))
    broad = "broad" if len(content.striptags()) > LONG else ""
    if not is_name:
        return Markup("<td{}>{}</td>").format(_column_classes(column, broad), content)
    if not content.striptags():
        return Markup("<td></td>")
    inside = "inside" if plain(cell).startswith(" ") else ""
    return Markup('<th scope="row"{}>{}</th>').format(classes(inside, broad), breakable(content))


def _name_column(table: Table) -> int:
    """Return the first column of words, which names the rows; marks such as ▲ are not words. −1 if there is none."""
    for position, column in enumerate(table.columns[:2]):
        names = [plain(cell).strip() for cell in column_cells(table, position)]
        if column.align == "left" and (column.title.strip() or any(len(name) > 1 for name in names)):
            return position
    return -1


def breakable(name: Markup) -> Markup:
    """Allow line breaks after underscores, colons and slashes, outside tags."""
    return Markup(re.sub("([_:/])(?=[^<>]*(<|$))(?=[^ ])", r"\1<wbr>", str(name)))


def _piece(piece: Piece, column: Column, row: Row) -> Markup:
    if isinstance(piece, Dots):
        return dots_svg(piece, tone_of(piece, column.tone, row.tone))
    if isinstance(piece, Number) and piece.part == "value and interval" and not is_replaced(piece):
        interval = piece_html(replace(piece, part="interval", mark="", tone=""))
        return piece_html(replace(piece, part="value"), column.tone, row.tone) + Markup(" ") + interval
    return piece_html(piece, column.tone, row.tone)


# Charts


def _heat(measure: Measure | None) -> Markup:
    """Return a coloured cell: rates by their distance from one half, changes and other shares from zero."""
    if measure is None or not is_defined(measure):
        return Markup('<td class="cell t-quiet">–</td>')
    value, what = measure.value or 0.0, quantity(measure)
    if what.unit != "share":
        return Markup('<td class="cell">{}</td>').format(number_html(measure, value_text(measure)))
    middle = 0.0 if what.signed else 0.5
    side = "low" if what.direction == "higher" and value < middle else "high"
    depth = abs(value - middle) / (1 - middle) if what.direction == "higher" else abs(value)
    number = number_html(measure, shown(value, replace(what, digits=0)))
    cell = Markup('<td class="cell {}" style="--depth:{:.2f}">{}</td>')
    return cell.format(side, min(1.0, depth), number)


def _chart(block: Curves | Scatter, chart: Markup) -> Markup:
    """Return a chart, with its numbers folded below."""
    chart = chart or Markup('<p class="note">Nothing to draw: no value is defined.</p>')
    numbers = Markup('<details class="data"><summary>Numbers</summary>{}</details>').format(
        _table(as_table(block))
    )
    return _figure(block, Markup('<div class="wide">{}</div>').format(chart) + numbers, "chart")


# Cases


def _case(shown: ShownCase) -> Markup:
    lines, mark = [], Markup("<mark>{}</mark>")
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        answer = shown.answers[number] if number < len(shown.answers) else ""
        label = Markup(' <span class="answer">{}</span>').format(words(answer)) if answer else EMPTY
        edits = [
            [mark.format(words(part)) if touched else words(part) for part, touched in text] for text in texts
        ]
        fields = joined(map(joined, edits), ' <span class="and">¦</span> ')
        name = "variant" if number else "original"
        lines.append(Markup('<p class="{}" dir="auto">{}{}</p>').format(name, fields, label))
    error = shown.outcome.error if shown.outcome else ""
    outcome = [words(part) for part in outcome_words(shown)]
    outcome += [Markup('<span class="t-bad">{}</span>').format(words(error))] if error else []
    below = Markup('<p class="went">{}</p>').format(joined(outcome, ", ")) if outcome else EMPTY
    sign = Markup("<span{}>{}</span>").format(classes("mark", tone_classes(shown.tone)), words(shown.mark))
    return Markup('<li title="{}">{}{}{}</li>').format(
        words(shown.case.id), sign if shown.mark else EMPTY, joined(lines), below
    )


# Attributions


LEGEND = Markup(
    '<p class="legend"><span class="w for" style="--depth:.8">counts for</span> the answer, '
    '<span class="w against" style="--depth:.8">counts against</span> it; darker counts more</p>'
)


def weighed_html(block: WeighedWords) -> Markup:
    """Return each text with its words underlined (for the answer) or dotted (against it); numbers on hovering."""
    examples = joined(
        Markup("<li>{}{}{}</li>").format(
            _paragraphs(lines_of(example.about), "went"),
            joined(_weighed(example, text) for text in example.texts),
            _paragraphs(lines_of(example.answer), "went"),
        )
        for example in block.examples
    )
    return _figure(block, Markup("<ol>{}</ol>").format(examples) + LEGEND, "cases weighed")


def _weighed(example: Weighed, text: Sequence[tuple[str, float | None]]) -> Markup:
    weight = Markup('<span class="w {}" style="--depth:{:.2f}" title="{}">{}</span>')
    parts = []
    for word, value in text:
        share = example.share(value)
        if value is None or abs(share) < WEAK:
            parts.append(words(word))
        else:
            side, hint = "for" if value > 0 else "against", f"{word.strip()}: {attribution(value)}"
            parts.append(weight.format(side, abs(share), words(hint), words(word)))
    return Markup('<p class="original" dir="auto">{}</p>').format(joined(parts))


BLOCKS: Mapping[type[Block], Callable[[Any], Markup]] = {
    Text: lambda block: _paragraphs(lines_of(list(block.pieces)), "text"),
    Table: table_html,
    HeatMap: lambda block: _figure(block, _table(as_table(block), heat=True), "heat-map"),
    Curves: lambda block: _chart(block, curves_svg(block)),
    Scatter: lambda block: _chart(block, scatter_svg(block)),
    CaseList: lambda block: _figure(
        block, Markup("<ol>{}</ol>").format(joined(map(_case, block.cases))), "cases"
    ),
    WeighedWords: weighed_html,
}
"""The writer of each kind of block."""

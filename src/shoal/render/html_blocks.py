"""Sections and blocks as HTML, and charts as SVG.

To show a new kind of block: write a function from block to markup, and add it to BLOCKS. Text from data is always
escaped, and every number shows its basis on hovering. The style sheet sets colours, strokes and text sizes. Coordinates
have one decimal, so that the same data give the same bytes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, floor, isfinite, log10
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

from ..core.measures import quantity, shown
from ..core.records import Measure
from ..core.text import printable
from ..core.views import (
    WEAK,
    Block,
    CaseList,
    Cell,
    Column,
    Curves,
    Dots,
    HeatMap,
    Line,
    Number,
    Piece,
    Row,
    Scatter,
    Section,
    ShownCase,
    Table,
    Text,
    Tones,
    Weighed,
    WeighedWords,
)
from .cases import attribution, marked_edits, outcome_words
from .tables import (
    as_table,
    cell_of,
    column_cells,
    interval_text,
    is_defined,
    is_full,
    is_replaced,
    piece_text,
    pieces_of,
    place_text,
    plain,
    scale_ends,
    tick_text,
    tone_of,
    tones_of,
    value_text,
    without_repeats,
)

LONG = 12
"""Characters of a cell that keeps a minimum width on a phone."""
EMPTY = Markup("")


def words(text: str) -> Markup:
    """Return text from data, escaped, without characters that reorder or hide other text."""
    return escape(printable(text))


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    """Join markup."""
    return Markup(between).join(parts)


def classes(*names: str) -> Markup:
    """Return a class attribute, or nothing."""
    kept = [name for name in names if name]
    return Markup(' class="{}"').format(" ".join(kept)) if kept else EMPTY


def tone_classes(tones: Tones) -> str:
    """Return the class names of tones."""
    return " ".join(f"t-{tone}" for tone in tones_of(tones) if tone)


def sentence(cell: Cell, *outer: Tones) -> Markup:
    """Return the pieces of a cell in a row."""
    return joined(piece_html(piece, *outer) for piece in pieces_of(cell))


def lines_of(cell: Cell) -> list[Markup]:
    """Return the pieces of a cell, split at line ends."""
    lines = [EMPTY]
    for piece in pieces_of(cell):
        first, *rest = piece_text(piece).split("\n")
        lines[-1] += piece_html(piece, text=first)
        lines += [piece_html(piece, text=text) for text in rest]
    return lines


def piece_html(piece: Piece, *outer: Tones, text: str | None = None) -> Markup:
    """Return a piece, or a part of its text, in its tone; a number with its basis."""
    text, tone = piece_text(piece) if text is None else text, tone_classes(tone_of(piece, *outer))
    if isinstance(piece, Number) and piece.measure is not None and text:
        return number_html(piece.measure, text, tone)
    return Markup("<span{}>{}</span>").format(classes(tone), words(text)) if text and tone else words(text)


def number_html(measure: Measure, text: str, tone: str = "") -> Markup:
    """Return a number that shows its basis on hovering and links to its cases."""
    return Markup('<span{} title="{}"{}>{}</span>').format(
        classes("num", tone), words(basis_words(measure)), _cases_of(measure), words(text)
    )


def _cases_of(measure: Measure) -> Markup:
    """Return the groups of the cases that a measure is a mean of, as an attribute; empty if it is not a mean."""
    basis = measure.basis
    groups = {**measure.groups, **basis.only}
    pairs = {name: printable(value) for name, value in groups.items() if isinstance(value, str)}
    jobs = Markup(' data-j="{}"').format(" ".join(basis.jobs)) if basis.jobs else EMPTY
    return Markup(' data-g="{}"{}').format(urlencode(pairs), jobs) if basis.mean_over else EMPTY


def basis_words(measure: Measure) -> str:
    """Return a measure in a line: name, value, interval, n and note."""
    interval = interval_text(measure) if is_defined(measure) else ""
    method = f" ({measure.interval_method})" if measure.interval_method else ""
    parts = [
        f"{measure.name}: {value_text(measure)}",
        f"95 % CI {interval}{method}" if interval else "",
        f"n = {measure.n:,}",
        f"not applicable: {measure.na:,}" if measure.na else "",
        f"errors: {measure.errors:,}" if measure.errors else "",
        measure.note,
    ]
    return "; ".join(filter(None, parts))


# Charts


WIDTH, HEIGHT = 640, 292
LEFT, RIGHT, TOP, BOTTOM = 48, 24, 28, 52
STRIP_WIDTH, STRIP_HEIGHT = 200, 16
SERIES = ("t-first", "t-second", "t-third", "t-doubt", "t-bad", "t-quiet")
"""The classes of lines without a tone, in turn."""

Scale = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """Map values to positions in a chart."""

    x: Scale
    y: Scale

    def across(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * _share(value, self.x)

    def up(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(value, self.y)


def _share(value: float, scale: Scale) -> float:
    return (value - scale[0]) / ((scale[1] - scale[0]) or 1.0)


# Curves


def curves_svg(block: Curves) -> Markup:
    """Draw lines over an axis with their intervals as bands, and the names of the lines below."""
    points = [(place, measure) for line in block.lines for place, measure in line.points if isfinite(place)]
    known = [measure for _, measure in points if is_defined(measure)]
    if not known:
        return EMPTY
    places = [place for place, _ in points]
    plane = Plane((min(places), max(places)), span(known))
    parts = [_axes(plane, block.axis, place_text, known[0])]
    if block.marked is not None and plane.x[0] <= block.marked <= plane.x[1]:
        x = plane.across(block.marked)
        line = Markup('<line class="marked" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>')
        parts += [line.format(_n(x), TOP - 8, HEIGHT - BOTTOM), _label(x, TOP - 14, "chosen", "middle")]
    names, items = [], []
    for number, curve in enumerate(block.lines):
        name, place = " ".join(curve.name.split()), number % len(SERIES)
        kind = f"s{place} {tone_classes(curve.tone) or SERIES[place]}"
        parts.append(Markup('<g class="line {}">{}</g>').format(kind, _line(curve, name, plane)))
        items.append(Markup('<li class="{}">{}</li>').format(kind, words(name)))
        names.append(name)
    picture = _svg(joined(parts), f"{block.title or 'curves'}: {', '.join(names)} by {block.axis}")
    return picture + Markup('<ul class="lines">{}</ul>').format(joined(items))


def _line(line: Line, name: str, plane: Plane) -> Markup:
    """Draw bands, lines and points; missing data leave a gap."""
    points = sorted(line.points, key=lambda point: point[0])
    dot = Markup('<circle cx="{}" cy="{}" r="3"><title>{}</title></circle>')
    runs, dots = [], []
    for is_known, run in groupby(points, key=lambda point: is_defined(point[1]) and isfinite(point[0])):
        if not is_known:
            continue
        known = [(plane.across(place), place, measure, measure.value or 0.0) for place, measure in run]
        if len(known) > 1 and any(measure.interval for _, _, measure, _ in known):
            ends = [(x, measure.interval or (value, value)) for x, _, measure, value in known]
            band = [(x, plane.up(high)) for x, (_, high) in ends]
            band += [(x, plane.up(low)) for x, (low, _) in ends[::-1]]
            runs.append(Markup('<polygon class="band" points="{}"/>').format(_points(band)))
        path = [(x, plane.up(value)) for x, _, _, value in known]
        runs.append(Markup('<polyline points="{}"/>').format(_points(path)))
        for x, place, measure, value in known:
            title = words(f"{name} at {place_text(place)}: {basis_words(measure)}")
            dots.append(dot.format(_n(x), _n(plane.up(value)), title))
    return joined([*runs, *dots])


# Scatter


def scatter_svg(block: Scatter) -> Markup:
    """Draw a point per name, with the name on hovering."""
    known = [(name, x, y) for name, x, y in block.points if is_defined(x) and is_defined(y)]
    if not known:
        return EMPTY
    plane = Plane(span([x for _, x, _ in known]), span([y for _, _, y in known]))
    what = quantity(known[0][1])
    parts = [_axes(plane, block.axes[0], lambda tick: tick_text(tick, what), known[0][2])]
    low, high = max(plane.x[0], plane.y[0]), min(plane.x[1], plane.y[1])
    if low < high:  # the line on which both axes have the same value
        ends = (_n(number) for end in (low, high) for number in (plane.across(end), plane.up(end)))
        parts.append(Markup('<line class="marked" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*ends))
    parts.append(_label(4, TOP - 14, block.axes[1], "start"))
    point = Markup('<circle class="point t-first" cx="{}" cy="{}" r="4"><title>{}</title></circle>')
    for name, x, y in known:
        title = words(f"{name}: {basis_words(x)}; {basis_words(y)}")
        parts.append(point.format(_n(plane.across(x.value or 0.0)), _n(plane.up(y.value or 0.0)), title))
    return _svg(joined(parts), f"{block.title or 'scatter'}: {block.axes[1]} against {block.axes[0]}")


# Strips


def dots_svg(dots: Dots, tones: Tones) -> Markup:
    """Draw values on one scale: a single one with its interval, a change as a hollow and a filled dot with a line."""
    line = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    middle = _n(STRIP_HEIGHT / 2)
    known = [measure for measure in dots.measures if is_defined(measure)]
    is_change = dots.change and len(known) > 1
    parts = [line.format("ground", 0, STRIP_WIDTH, middle, middle)]
    if dots.middle is not None:
        x = _n(_on_strip(dots.middle, dots.scale))
        parts.append(line.format("middle", x, x, 1, STRIP_HEIGHT - 1))
    span = known[0].interval if len(dots.measures) == 1 and known else None
    if is_change:
        span = known[0].value or 0.0, known[1].value or 0.0
    if span:
        start, end = (_n(_on_strip(value, dots.scale)) for value in span)
        parts.append(line.format("change" if dots.change else "interval", start, end, middle, middle))
    parts += [_dot(row, dots.scale, is_change and number == 0) for number, row in enumerate(known)]
    low_end, high_end = scale_ends(dots.scale, dots.measures[0] if dots.measures else None)
    name = words(f"{len(dots.measures)} values on a scale from {low_end} to {high_end}")
    return Markup('<svg class="strip {}" viewBox="-6 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        tone_classes(tones), STRIP_WIDTH + 12, STRIP_HEIGHT, name, joined(parts)
    )


def _on_strip(value: float, scale: Scale) -> float:
    return STRIP_WIDTH * min(1.0, max(0.0, _share(value, scale)))


def _dot(measure: Measure, scale: Scale, is_hollow: bool) -> Markup:
    """Draw one value; beyond the ends of the scale, a triangle at the end."""
    value, middle = measure.value or 0.0, STRIP_HEIGHT / 2
    groups = ", ".join(measure.groups.values())
    title = words(f"{groups}: {basis_words(measure)}" if groups else basis_words(measure))
    x = _on_strip(value, scale)
    if scale[0] <= value <= scale[1]:
        shape = Markup('<circle{} cx="{}" cy="{}" r="4">').format(
            Markup(' class="hollow"') if is_hollow else "", _n(x), _n(middle)
        )
        return shape + Markup("<title>{}</title></circle>").format(title)
    outward = 5 if value > scale[1] else -5
    corners = [(x + outward, middle), (x, middle - 5), (x, middle + 5)]
    return Markup('<polygon points="{}"><title>{}</title></polygon>').format(_points(corners), title)


# Axes


def span(measures: Sequence[Measure]) -> Scale:
    """Return a scale with round ends that holds all values and intervals; for shares at least 0 to 1."""
    ends = [end for row in measures if row.interval for end in row.interval if isfinite(end)]
    values = [row.value or 0.0 for row in measures] + ends
    low, high = min(values), max(values)
    if all(quantity(row).unit == "share" and not quantity(row).signed for row in measures):
        low, high = min(0.0, low), max(1.0, high)
    step = _step(high - low or abs(high) or 1.0)
    start, end = floor(low / step) * step, ceil(high / step) * step
    return start, end if end > start else start + step


def ticks(scale: Scale) -> list[float]:
    """Return four to ten round numbers on a scale."""
    step = _step(scale[1] - scale[0])
    first, last = ceil(scale[0] / step - 1e-9), floor(scale[1] / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _step(length: float) -> float:
    """Return a round step, 1, 2 or 5 times a power of ten, that fits four to ten times into a length."""
    rough = length / 6 if length > 0 else 0.2
    power = 10.0 ** floor(log10(rough))
    return float(next((factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999), 10) * power)


def _axes(plane: Plane, name: str, text: Callable[[float], str], measure: Measure) -> Markup:
    """Draw ticks and the name of the horizontal axis, and horizontal lines at round numbers of a measure."""
    below = HEIGHT - BOTTOM + 20
    parts = [_label(plane.across(tick), below, text(tick), "middle") for tick in ticks(plane.x)]
    parts.append(_label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, name, "middle"))
    for value in ticks(plane.y):
        y = plane.up(value)
        line = Markup('<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>')
        parts.append(line.format(LEFT, WIDTH - RIGHT, _n(y)))
        parts.append(_label(LEFT - 8, y + 4, tick_text(value, quantity(measure)), "end"))
    return joined(parts)


def _label(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(_n(x), _n(y), anchor, words(text))


def _svg(content: Markup, name: str) -> Markup:
    return Markup('<svg class="picture" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, words(name), content
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


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
    names, width, lines = _name_column(table), len(table.columns), []
    for row in rows:
        if is_full(row, table):
            cells = [
                _cell(row, i, each, is_name=i == names, heat=heat) for i, each in enumerate(table.columns)
            ]
            lines.append(Markup("<tr>{}</tr>").format(joined(cells)))
        elif row.cells:
            heading = Markup('<tr class="heading"><th colspan="{}" scope="rowgroup">{}</th></tr>')
            lines.append(heading.format(width, sentence(row.cells[0], row.tone)))
        else:
            lines.append(Markup('<tr class="gap"><td colspan="{}"></td></tr>').format(width))
    table_tag = Markup('<div class="wide"><table{}>{}<tbody>{}</tbody></table></div>')
    return table_tag.format(classes("heat" if heat else ""), top, joined(lines))


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


# Blocks with charts


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

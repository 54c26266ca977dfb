"""Sections and blocks as HTML: tables, pictures with their data below, cases.

To show a new kind of block: write a function from block to markup, and add it to BLOCKS.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from ..core.measures import quantity
from ..core.records import Measure
from ..core.views import (
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
    Weighed,
    WeighedWords,
)
from .cases import error_of, how_it_went, marked_edits
from .csv_tables import table_csv
from .marks import stretch
from .page_words import (
    EMPTY,
    classes,
    joined,
    lines_of,
    number_html,
    piece_html,
    rests_on,
    sentence,
    tone_classes,
    words,
)
from .pieces import (
    is_defined,
    is_waiting,
    pieces_of,
    plain,
    scale_ends,
    tone_of,
    tones_of,
    value_text,
)
from .svg import curves_svg, dots_svg, scatter_svg, series_class
from .tabled import as_table, cell_of, column_cells, is_full, said_once


def section_html(section: Section, level: int = 3, *, titled: bool = True) -> Markup:
    """A part of the page; what only those want who ask for everything is folded."""
    first, *rest = lines_of(section.title) or [EMPTY]
    title = Markup("<h{0}>{1}</h{0}>").format(level, first) if first and titled else EMPTY
    body = joined(
        [
            _paragraphs(rest, "about"),
            _paragraphs(lines_of(section.text), "text"),
            joined(Markup('<p class="warning">{}</p>').format(words(line)) for line in section.warnings),
            joined(BLOCKS[type(block)](block) for block in section.blocks),
            _notes(section.notes, "note"),
        ]
    )
    if section.detail == "full":
        named = [block for block in section.blocks if not isinstance(block, Text)]
        titles = [plain(block.title) for block in named if block.title]
        others = [str(getattr(block, "name", "")) for block in named if not block.title]
        others = [name for name in others if name]
        titles += [f"In full: {', '.join(others)}"] if others else []
        name = words("; ".join(dict.fromkeys(titles))) or first or "In full"
        if not any(isinstance(block, PICTURES) for block in named):
            return Markup('<details class="full"><summary>{}</summary>{}</details>\n').format(name, body)
    return Markup("<section>{}{}</section>\n").format(title, body)


def _paragraphs(lines: Sequence[Markup], name: str) -> Markup:
    return joined(Markup('<p class="{}">{}</p>').format(name, line) for line in lines if line.strip())


def _notes(lines: Sequence[str], name: str) -> Markup:
    return joined(Markup('<p class="{}">{}</p>').format(name, words(line)) for line in lines)


def _figure(block: Any, content: Markup, kind: str) -> Markup:
    """A block with its title above and its legend below."""
    title = Markup("<figcaption>{}</figcaption>").format(words(block.title)) if block.title else EMPTY
    return Markup('<figure class="{}">{}{}{}</figure>\n').format(
        kind, title, content, _notes(block.legend, "legend")
    )


def _data(block: Any) -> Markup:
    """The numbers behind a picture, to read and to copy."""
    table = as_table(block)
    return Markup('<details class="data"><summary>the numbers</summary>{}{}</details>').format(
        _table(table), _csv(table)
    )


def _csv(table: Table) -> Markup:
    """The same for computing: every digit, fractions."""
    return Markup(
        '<details class="csv"><summary>CSV</summary><button type="button" class="copy" hidden>Copy</button>'
        '<pre tabindex="0">{}</pre></details>'
    ).format(words(table_csv(table)))


PICTURES = (HeatMap, Curves, Strips, Bars, Scatter)
"""Blocks that people look at first: a part that has one is not folded."""
LONG = 12
"""Letters of a cell that is not squeezed where there is little room."""
NOTHING_TO_DRAW = Markup('<p class="note">Nothing to draw: no value is defined.</p>')


# Tables


def text_html(block: Text) -> Markup:
    """A paragraph."""
    return _paragraphs(lines_of(list(block.pieces)), "text")


def table_html(block: Table) -> Markup:
    """Rows of cells, numbers with what they rest on."""
    return _figure(block, _table(block) + (_csv(block) if _has_headings(block) else EMPTY), "table")


def _table(table: Table) -> Markup:
    table = said_once(table)
    head = joined(_heading(table, position) for position in range(len(table.columns)))
    top = Markup("<thead><tr>{}</tr></thead>").format(head) if _has_headings(table) else EMPTY
    rows = list(table.rows)
    while rows and not rows[-1].cells:
        rows.pop()
    body = joined(_row(row, table) for row in rows)
    return Markup('<div class="wide"><table>{}<tbody>{}</tbody></table></div>').format(top, body)


def _has_headings(table: Table) -> bool:
    return any(column.title.strip() or column.scale for column in table.columns)


def _heading(table: Table, position: int) -> Markup:
    column = table.columns[position]
    title = joined(map(words, filter(None, column.title.split("\n"))), "<br>")
    if column.scale is not None:
        measures = [m for cell in column_cells(table, position) for m in _measures(cell)]
        low, high = scale_ends(column.scale, measures[0] if measures else None)
        title += Markup('<span class="scale"><span>{}</span><span>{}</span></span>').format(low, high)
    if not title:
        return Markup("<td></td>")
    return Markup('<th scope="col"{}>{}</th>').format(classes(_side(column)), title)


def _measures(cell: Cell) -> list[Measure]:
    return [m for piece in pieces_of(cell) if isinstance(piece, Dots) for m in piece.measures] + [
        piece.measure for piece in pieces_of(cell) if isinstance(piece, Number) and piece.measure is not None
    ]


def _side(column: Column) -> str:
    return "right" if column.align == "right" and column.scale is None else ""


def _row(row: Row, table: Table) -> Markup:
    width = len(table.columns)
    if not row.cells:
        return Markup('<tr class="gap"><td colspan="{}"></td></tr>').format(width)
    if not is_full(row, table):
        heading = sentence(row.cells[0], row.tone)
        return Markup('<tr class="heading"><th colspan="{}" scope="rowgroup">{}</th></tr>').format(
            width, heading
        )
    cells = joined(_cell(row, position, table) for position in range(width))
    return Markup("<tr>{}</tr>").format(cells)


def _cell(row: Row, position: int, table: Table) -> Markup:
    column = table.columns[position]
    pieces = pieces_of(cell_of(row, position))
    content = joined(_piece(piece, column, row) for piece in pieces)
    if position == _name_column(table):
        return _row_name(content, is_inside=plain(cell_of(row, position)).startswith(" "))
    return Markup("<td{}>{}</td>").format(classes(_side(column) or _broad(content)), content)


def _name_column(table: Table) -> int:
    """The first column of words, which names the rows; marks such as ▲ are not words. −1 where there is none."""
    for position, column in enumerate(table.columns[:2]):
        names = [plain(cell).strip() for cell in column_cells(table, position)]
        if column.align == "left" and (column.title.strip() or any(len(name) > 1 for name in names)):
            return position
    return -1


def _row_name(name: Markup, *, is_inside: bool) -> Markup:
    """A name that is set in stays so, and a long one may break."""
    if not name.striptags():
        return Markup("<td></td>")
    return Markup('<th scope="row"{}>{}</th>').format(
        classes("inside" if is_inside else "", _broad(name)), _breakable(name)
    )


def _broad(content: Markup) -> str:
    """Words that want a wide column."""
    return "broad" if len(content.striptags()) > LONG else ""


def _breakable(name: Markup) -> Markup:
    """The same, which may go on in a new line after an underscore, a colon or a stroke."""
    return Markup(re.sub("([_:/])(?=[^<>]*(<|$))(?=[^ ])", r"\1<wbr>", str(name)))  # not inside a tag


def _piece(piece: Piece, column: Column, row: Row) -> Markup:
    tones = tone_of(piece, column.tone, row.tone)
    if isinstance(piece, Dots):
        return dots_svg(piece, tones)
    if isinstance(piece, Number) and piece.part == "bar" and piece.measure is not None:
        return _bar(piece.measure, column.scale or (0.0, 1.0), tones)
    if isinstance(piece, Number) and piece.part == "value and interval" and not is_waiting(piece):
        interval = replace(piece, part="interval", mark="", tone="")
        return joined(
            [
                piece_html(replace(piece, part="value"), column.tone, row.tone),
                Markup(" "),
                piece_html(interval),
            ]
        )
    return piece_html(piece, column.tone, row.tone)


def _bar(measure: Measure, scale: tuple[float, float], tones: Tones) -> Markup:
    """From nought to the value; a thin line over it is the interval."""
    if not is_defined(measure):
        return EMPTY
    coloured = tuple(tone for tone in tones_of(tones) if tone not in ("strong", "quiet", ""))
    tone = tone_classes(coloured or "first")
    start, end = sorted((_share(0.0, scale), _share(measure.value or 0.0, scale)))
    parts = [Markup('<i style="left:{:.1f}%;width:{:.1f}%"></i>').format(start, end - start)]
    if scale[0] < 0:
        parts.append(Markup('<u style="left:{:.1f}%"></u>').format(_share(0.0, scale)))
    if measure.interval is not None:
        low, high = (_share(limit, scale) for limit in measure.interval)
        parts.append(Markup('<b style="left:{:.1f}%;width:{:.1f}%"></b>').format(low, high - low))
    return Markup('<span class="bar {}" title="{}">{}</span>').format(
        tone, words(rests_on(measure)), joined(parts)
    )


def _share(value: float, scale: tuple[float, float]) -> float:
    share = (value - scale[0]) / ((scale[1] - scale[0]) or 1.0)
    return 100 * min(1.0, max(0.0, share))


# Pictures


def heat_map_html(block: HeatMap) -> Markup:
    """A table whose cells are coloured by their values."""
    groups = _groups(block.columns)
    lead = 2 if block.kinds else 1
    top = joined(
        Markup('<th scope="colgroup" colspan="{}">{}</th>').format(count, words(name))
        for name, count in groups
    )
    names = joined(
        Markup('<th scope="col">{}</th>').format(_breakable(words(name))) for name, _ in block.columns
    )
    lines = [Markup('<tr><td colspan="{}"></td>{}</tr>').format(lead, part) for part in (top, names)]
    head = joined(lines if any(name for name, _ in groups) else lines[1:])
    rows, last = [], ""
    for i, (name, group) in enumerate(block.rows):
        if group and group != last:
            span = lead + len(block.columns)
            rows.append(
                Markup('<tr class="heading"><th colspan="{}" scope="rowgroup">{}</th></tr>').format(
                    span, words(group)
                )
            )
        last = group
        kind = _kind(block.kinds, i) if block.kinds else EMPTY
        cells = joined(_heat(block.cells.get((i, j))) for j in range(len(block.columns)))
        label = words(name) if group else Markup('<span class="t-strong">{}</span>').format(words(name))
        rows.append(Markup("<tr>{}{}{}</tr>").format(_row_name(label, is_inside=bool(group)), kind, cells))
    table = Markup('<div class="wide"><table class="heat"><thead>{}</thead><tbody>{}</tbody></table></div>')
    return _figure(block, table.format(head, joined(rows)) + _data(block), "heat-map")


def _kind(kinds: Sequence[str], position: int) -> Markup:
    """The word for a row, in the colour of its kind."""
    known = list(dict.fromkeys(filter(None, kinds)))
    if not kinds[position]:
        return Markup("<td></td>")
    number = known.index(kinds[position]) % 4
    return Markup('<td><span class="kind k{}">{}</span></td>').format(number, words(kinds[position]))


def _groups(columns: Sequence[tuple[str, str]]) -> list[tuple[str, int]]:
    """Neighbours of one block together, with how many they are."""
    groups: list[tuple[str, int]] = []
    for _, group in columns:
        if groups and groups[-1][0] == group:
            groups[-1] = (group, groups[-1][1] + 1)
        else:
            groups.append((group, 1))
    return groups


def _heat(measure: Measure | None) -> Markup:
    """Rates: the further from a half the stronger, below it in another colour; changes: the same from nothing; other
    shares: the more the stronger.
    """
    if measure is None or not is_defined(measure):
        return Markup('<td class="cell t-quiet">–</td>')
    value, what = measure.value or 0.0, quantity(measure)
    if what.unit != "share":
        return Markup('<td class="cell">{}</td>').format(number_html(measure, value_text(measure)))
    middle = 0.0 if what.signed else 0.5
    side = "low" if what.direction == "higher" and value < middle else "high"
    depth = abs(value - middle) / (1 - middle) if what.direction == "higher" else abs(value)
    text = f"{100 * value:{'+' if what.signed else ''}.0f}".replace("-", "−")
    if what.inside and text in ("0", "100"):
        text = "<1" if text == "0" else ">99"
    return Markup('<td class="cell {}" style="--depth:{:.2f}">{}</td>').format(
        side, min(1.0, depth), number_html(measure, text)
    )


def curves_html(block: Curves) -> Markup:
    """The picture, the names of its lines, the numbers."""
    names = joined(
        Markup('<li class="s{} {}">{}</li>').format(
            number % 6, series_class(line.tone, number), words(" ".join(line.name.split()))
        )
        for number, line in enumerate(block.lines)
    )
    picture = curves_svg(block)
    drawn = picture + Markup('<ul class="lines">{}</ul>').format(names) if picture else NOTHING_TO_DRAW
    return _figure(block, Markup('<div class="wide">{}</div>').format(drawn) + _data(block), "curves")


def strips_html(block: Strips) -> Markup:
    """A row per strip, a dot per measure."""
    columns = [Column("", "left"), Column("", "left", scale=block.scale)]
    rows = [Row([name, Dots(measures, block.scale, block.middle)]) for name, measures in block.rows]
    return _figure(block, _table(Table(columns, rows)) + _data(block), "strips")


def bars_html(block: Bars) -> Markup:
    """A bar per measure, words behind it."""
    scale = stretch([measure for _, measure in block.bars])
    columns = [Column("", "left"), Column(""), Column("", "left"), Column("", "left", tone="quiet")]
    rows = []
    for i, (name, measure) in enumerate(block.bars):
        rows.append(
            Row([name, Number(measure), Number(measure, part="bar", tone="first"), block.aside.get(i, "")])
        )
    scaled = [Column("", "left", scale=scale) if i == 2 else column for i, column in enumerate(columns)]
    return _figure(block, _table(Table(scaled, rows)) + _data(block), "bars")


def scatter_html(block: Scatter) -> Markup:
    """The picture and its numbers."""
    picture = scatter_svg(block) or NOTHING_TO_DRAW
    return _figure(block, Markup('<div class="wide">{}</div>').format(picture) + _data(block), "scatter")


# Cases


def case_list_html(block: CaseList) -> Markup:
    """Each case with its variants; what an edit changed is marked."""
    title = Markup("<figcaption>{}</figcaption>").format(sentence(block.title)) if block.title else EMPTY
    cases = joined(_case(shown) for shown in block.cases)
    return Markup('<figure class="cases">{}<ol>{}</ol>{}</figure>\n').format(
        title, cases, _notes(block.legend, "legend")
    )


def _case(shown: ShownCase) -> Markup:
    lines = []
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        answer = shown.answers[number] if number < len(shown.answers) else ""
        beside = Markup(' <span class="answer">{}</span>').format(words(answer)) if answer else EMPTY
        fields = joined((_marked(pieces) for pieces in texts), ' <span class="and">¦</span> ')
        name = "variant" if number else "original"
        lines.append(Markup('<p class="{}" dir="auto">{}{}</p>').format(name, fields, beside))
    error = error_of(shown)
    went = [words(part) for part in how_it_went(shown)]
    went += [Markup('<span class="t-bad">{}</span>').format(words(error))] if error else []
    below = Markup('<p class="went">{}</p>').format(joined(went, ", ")) if went else EMPTY
    mark = Markup('<span class="mark{}">{}</span>').format(
        "".join(f" t-{tone}" for tone in tones_of(shown.tone) if tone), words(shown.mark)
    )
    return Markup('<li title="{}">{}{}{}</li>').format(
        words(shown.case.id), mark if shown.mark else EMPTY, joined(lines), below
    )


def _marked(pieces: Sequence[tuple[str, bool]]) -> Markup:
    return joined(
        Markup("<mark>{}</mark>").format(words(text)) if touched else words(text) for text, touched in pieces
    )


# Words


WEIGHED = Markup(
    '<p class="legend"><span class="w for" style="--depth:.8">counts for</span> the answer, '
    '<span class="w against" style="--depth:.8">counts against</span> it; the deeper, the more</p>'
)


def weighed_html(block: WeighedWords) -> Markup:
    """Each text with its words on blue, underlined, or on orange, dotted below; the number of each on hovering."""
    examples = joined(
        Markup("<li>{}{}{}</li>").format(
            _paragraphs(lines_of(example.about), "went"),
            joined(_weighed(example, text) for text in example.texts),
            _paragraphs(lines_of(example.answer), "went"),
        )
        for example in block.examples
    )
    return _figure(block, Markup("<ol>{}</ol>").format(examples) + WEIGHED + _data(block), "cases weighed")


def _weighed(example: Weighed, text: Sequence[tuple[str, float | None]]) -> Markup:
    parts = []
    for word, value in text:
        share = example.share(value)
        if value is None or abs(share) < WEAK:
            parts.append(words(word))
            continue
        number = value_text(Measure("attribution", value, 1))
        side = "for" if value > 0 else "against"
        parts.append(
            Markup('<span class="w {}" style="--depth:{:.2f}" title="{}">{}</span>').format(
                side, abs(share), words(f"{word.strip()}: {number}"), words(word)
            )
        )
    return Markup('<p class="original" dir="auto">{}</p>').format(joined(parts))


BLOCKS: Mapping[type[Block], Callable[[Any], Markup]] = {
    Text: text_html,
    Table: table_html,
    HeatMap: heat_map_html,
    Curves: curves_html,
    Strips: strips_html,
    Bars: bars_html,
    Scatter: scatter_html,
    CaseList: case_list_html,
    WeighedWords: weighed_html,
}
"""Kind of block to what shows it."""

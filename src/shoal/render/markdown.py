"""Sections as Markdown, for a pull request or a README: numbers as people read them, charts as tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.text import printable
from ..core.views import Block, CaseList, Cell, Row, Section, Table, Text, Tones, WeighedWords, to_read
from .cases import WEIGHED, case_text, weighed_text
from .tables import (
    TABLES,
    as_table,
    cell_of,
    is_full,
    piece_text,
    pieces_of,
    plain,
    tone_of,
    tones_of,
    without_dots,
)


def as_markdown(sections: Sequence[Section]) -> str:
    """Return a document with every part of every section."""
    parts = [part for section in to_read(sections) for part in _parts(section)]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line.

    >>> print(escape_markdown("a|b *c*"))
    a\\|b \\*c\\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", printable(re.sub(r"\s+", " ", text)))


def _parts(section: Section) -> list[str]:
    title, _, rest = plain(section.title).partition("\n")
    return [
        f"## {escape_markdown(title)}" if title else "",
        _paragraph(escape_markdown(rest)),
        _sentence(section.text),
        "\n>\n".join(f"> ! {escape_markdown(line)}" for line in section.warnings),
        *(BLOCKS[type(block)](block) for block in section.blocks),
        *(_paragraph(escape_markdown(line)) for line in section.notes),
    ]


def _paragraph(markdown: str) -> str:
    """Escape a first symbol that would start a list, a heading or a rule."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", markdown.strip())


def _sentence(cell: Cell) -> str:
    """Return pieces in a row, the strong ones bold; a paragraph per line."""
    lines = [""]
    for piece in pieces_of(cell):
        for number, text in enumerate(piece_text(piece).split("\n")):
            lines += [""] if number else []
            lines[-1] += _toned(text, tone_of(piece))
    return "\n\n".join(filter(None, map(_paragraph, lines)))


def _toned(text: str, tones: Tones) -> str:
    return _bold(text) if "strong" in tones_of(tones) else escape_markdown(text)


def _bold(text: str) -> str:
    """Return bold text; Markdown allows no white space inside the asterisks."""
    words = escape_markdown(text)
    if not words.strip():
        return words
    lead, trail = words[: -len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{lead}**{words.strip()}**{trail}"


def _framed(title: str, body: str, legend: Sequence[str]) -> str:
    below = "<br>".join(map(escape_markdown, legend))
    return "\n\n".join(filter(None, [title, body, below]))


def table_markdown(block: Any) -> str:
    """Return a table, or the table of a chart."""
    table = without_dots(as_table(block))
    lines = [
        _line([escape_markdown(column.title) for column in table.columns]),
        _line(["---" if column.align == "left" else "--:" for column in table.columns]),
        *(_row(row, table) for row in table.rows if row.cells),
    ]
    title = f"**{escape_markdown(table.title)}**" if table.title else ""
    return _framed(title, "\n".join(lines) if table.columns else "", table.legend)


def _row(row: Row, table: Table) -> str:
    if not is_full(row, table):
        return _line([_bold(plain(row.cells[0]).strip()), *[""] * (len(table.columns) - 1)])
    cells = []
    for position, column in enumerate(table.columns):
        pieces = pieces_of(cell_of(row, position))
        words = [_toned(piece_text(piece), tone_of(piece, column.tone, row.tone)) for piece in pieces]
        cells.append("".join(words).strip())
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def case_list_markdown(block: CaseList) -> str:
    """Return a list of cases; edits are bold."""
    cases = [case_text(shown, escape_markdown, _bold, "→") for shown in block.cases]
    return _framed(_sentence(block.title), "\n".join(map(_item, cases)), block.legend)


def weighed_markdown(block: WeighedWords) -> str:
    """Return each text with its attributions in brackets."""
    items = [_item([escape_markdown(line) for line in weighed_text(example)]) for example in block.examples]
    title = f"**{escape_markdown(block.title)}**" if block.title else ""
    return _framed(title, "\n".join(items), [*block.legend, WEIGHED])


def _item(lines: Sequence[str]) -> str:
    return "- " + "<br>\n  ".join(lines)


BLOCKS: Mapping[type[Block], Callable[[Any], str]] = {
    **dict.fromkeys(TABLES, table_markdown),
    Text: lambda block: _sentence(list(block.pieces)),
    CaseList: case_list_markdown,
    WeighedWords: weighed_markdown,
}
"""The writer of each kind of block."""

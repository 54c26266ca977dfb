"""Sections as LaTeX tables (booktabs) for a paper; charts become tables, and other text becomes comments."""

import re
from collections.abc import Sequence

from ..core.text import printable
from ..core.views import Block, CaseList, Cell, Section, Table, Text, Tones, WeighedWords, to_read
from .cases import WEIGHED, weighed_text
from .tables import (
    as_table,
    cell_of,
    is_full,
    piece_text,
    pieces_of,
    plain,
    tone_of,
    tones_of,
    without_dots,
    without_repeats,
)
from .terminal import case_list_lines

COMMENT_WIDTH = 110
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "¦": r"\textbar{}",
    '"': "''",
    "−": "$-$",
    "–": "--",
    "[": "{[}",
    "]": "{]}",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "→": r"$\rightarrow$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "…": r"\ldots{}",
}
"""Characters that LaTeX would interpret, or that its usual fonts lack."""


def as_latex(sections: Sequence[Section]) -> str:
    """Return every table of the sections; other text becomes comments."""
    parts = [part for section in to_read(sections) for part in _parts(section)]
    return "\n\n".join(["% needs \\usepackage{amssymb,booktabs}", *filter(None, parts)]) + "\n"


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is, on one line.

    >>> print(escape_latex("50 % of $x_1$"))
    50 \\% of \\$x\\_1\\$
    """
    return "".join(ESCAPES.get(character, character) for character in _on_one_line(text))


def _on_one_line(text: str) -> str:
    return printable(re.sub(r"\s+", " ", text))


def _comment(cell: Cell) -> str:
    return "\n".join(f"% {_on_one_line(line.strip())}" for line in plain(cell).splitlines() if line.strip())


def _parts(section: Section) -> list[str]:
    title, _, rest = plain(section.title).partition("\n")
    return [
        *map(_comment, (title, rest, section.text, *section.warnings)),
        *map(_block, section.blocks),
        *map(_comment, section.notes),
    ]


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _comment(list(block.pieces))
    if isinstance(block, CaseList):
        return "\n".join(_comment(line.plain) for line in case_list_lines(block, COMMENT_WIDTH) if line.plain)
    if isinstance(block, WeighedWords):
        body = "\n".join(_comment(line) for example in block.examples for line in weighed_text(example))
        legend = [*block.legend, WEIGHED]
    else:
        body, legend = _table(without_dots(without_repeats(as_table(block)))), [*block.legend]
    return "\n\n".join(filter(None, [_comment(block.title), body, *map(_comment, legend)]))


def _table(table: Table) -> str:
    titles = " & ".join(escape_latex(column.title) for column in table.columns)
    places = "".join(column.align[0] for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", rf"{titles} \\", r"\midrule"]
    for row in table.rows:
        if is_full(row, table):
            cells = [_cell(cell_of(row, i), column.tone, row.tone) for i, column in enumerate(table.columns)]
            lines.append(rf"{' & '.join(cells)} \\")
        elif row.cells:
            heading = _bold(plain(row.cells[0]).strip())
            lines.append(rf"\multicolumn{{{len(table.columns)}}}{{l}}{{{heading}}} \\")
        else:
            lines.append(r"\addlinespace")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) if titles else ""


def _cell(cell: Cell, *outer: Tones) -> str:
    """Return a cell, its strong pieces bold."""
    pieces = []
    for piece in pieces_of(cell):
        is_strong = "strong" in tones_of(tone_of(piece, *outer))
        pieces.append((_bold if is_strong else escape_latex)(piece_text(piece)))
    return "".join(pieces).strip()


def _bold(text: str) -> str:
    return rf"\textbf{{{escape_latex(text)}}}" if text.strip() else escape_latex(text)

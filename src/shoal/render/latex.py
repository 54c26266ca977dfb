"""Sections as LaTeX for a paper: a booktabs table per block, everything else as comments."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.text import printable
from ..core.views import Block, CaseList, Row, Section, Table, Text, Tones, WeighedWords, to_read
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

NEEDS = r"% needs \usepackage{amssymb,booktabs}"
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
    """Return every table of the sections."""
    parts = [NEEDS, *(part for section in to_read(sections) for part in _parts(section))]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is, on one line.

    >>> print(escape_latex("50 % of $x_1$"))
    50 \\% of \\$x\\_1\\$
    """
    return "".join(ESCAPES.get(character, character) for character in _on_one_line(text))


def _on_one_line(text: str) -> str:
    return printable(re.sub(r"\s+", " ", text))


def _parts(section: Section) -> list[str]:
    return [
        _comment([plain(section.title), plain(section.text), *section.warnings]),
        *(BLOCKS[type(block)](block) for block in section.blocks),
        _comment(section.notes),
    ]


def _comment(lines: Sequence[str]) -> str:
    return "\n".join(
        f"% {_on_one_line(line)}" for text in lines for line in text.splitlines() if line.strip()
    )


def _toned(text: str, tones: Tones) -> str:
    words = escape_latex(text)
    return rf"\textbf{{{words}}}" if "strong" in tones_of(tones) and words.strip() else words


def table_latex(block: Any) -> str:
    """Return a table, or the table of a chart."""
    table = without_dots(as_table(block))
    if not table.columns:
        return ""
    places = "".join("l" if column.align == "left" else "r" for column in table.columns)
    lines = [
        _comment([table.title]),
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _line([escape_latex(column.title) for column in table.columns]),
        r"\midrule",
        *(_row(row, table) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        _comment(table.legend),
    ]
    return "\n".join(filter(None, lines))


def _row(row: Row, table: Table) -> str:
    if not row.cells:
        return r"\addlinespace"
    if not is_full(row, table):
        heading = _toned(plain(row.cells[0]).strip(), "strong")
        return rf"\multicolumn{{{len(table.columns)}}}{{l}}{{{heading}}} \\"
    cells = []
    for position, column in enumerate(table.columns):
        pieces = pieces_of(cell_of(row, position))
        words = [_toned(piece_text(piece), tone_of(piece, column.tone, row.tone)) for piece in pieces]
        cells.append("".join(words).strip())
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def case_list_latex(block: CaseList) -> str:
    """Return an itemised list of cases; edits are emphasised."""
    cases = [case_text(shown, escape_latex, _emphasised, r"$\rightarrow$") for shown in block.cases]
    return _list(plain(block.title), cases, block.legend)


def _emphasised(text: str) -> str:
    return rf"\emph{{{escape_latex(text)}}}"


def weighed_latex(block: WeighedWords) -> str:
    """Return an itemised list of texts with their attributions in brackets."""
    examples = [[escape_latex(line) for line in weighed_text(example)] for example in block.examples]
    return _list(block.title, examples, [*block.legend, WEIGHED])


def _list(title: str, items: Sequence[Sequence[str]], legend: Sequence[str]) -> str:
    # Braces: LaTeX would read a bracket at the start of an item as its label.
    lines = [r"\item {}" + " \\\\\n".join(item) for item in items]
    body = [r"\begin{itemize}", *lines, r"\end{itemize}"] if lines else []
    return "\n".join(filter(None, [_comment([title]), *body, _comment(legend)]))


BLOCKS: Mapping[type[Block], Callable[[Any], str]] = {
    **dict.fromkeys(TABLES, table_latex),
    Text: lambda block: _comment([plain(list(block.pieces))]),
    CaseList: case_list_latex,
    WeighedWords: weighed_latex,
}
"""The writer of each kind of block."""

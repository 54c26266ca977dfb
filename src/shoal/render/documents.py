"""Sections as Markdown for a pull request, or as LaTeX tables (booktabs) for a paper; charts become tables."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.text import printable
from ..core.views import CaseList, Cell, Section, ShownCase, Table, Text, Tones, WeighedWords, to_read
from .cases import WEIGHED, error_of, marked_edits, outcome_words, weighed_text
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


def as_markdown(sections: Sequence[Section]) -> str:
    """Return a document with every part of every section."""
    return _document(MARKDOWN, sections)


def as_latex(sections: Sequence[Section]) -> str:
    """Return every table of the sections; other text becomes comments."""
    return "% needs \\usepackage{amssymb,booktabs}\n\n" + _document(LATEX, sections)


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line.

    >>> print(escape_markdown("a|b *c*"))
    a\\|b \\*c\\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", _on_one_line(text))


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is, on one line.

    >>> print(escape_latex("50 % of $x_1$"))
    50 \\% of \\$x\\_1\\$
    """
    return "".join(ESCAPES.get(character, character) for character in _on_one_line(text))


def _on_one_line(text: str) -> str:
    return printable(re.sub(r"\s+", " ", text))


def _document(language: "Language", sections: Sequence[Section]) -> str:
    parts = [part for section in to_read(sections) for part in _parts(language, section)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _parts(language: "Language", section: Section) -> list[str]:
    title, _, rest = plain(section.title).partition("\n")
    return [
        language.heading(title) if title else "",
        language.prose(rest),
        language.prose(section.text),
        *map(language.warning, section.warnings),
        *(_block(language, block) for block in section.blocks),
        *map(language.prose, section.notes),
    ]


def _block(language: "Language", block: Any) -> str:
    if isinstance(block, Text):
        return language.prose(list(block.pieces))
    legend = [*block.legend]
    if isinstance(block, CaseList):
        body = language.items([_case_lines(language, shown) for shown in block.cases])
    elif isinstance(block, WeighedWords):
        body = language.items([list(map(language.escape, weighed_text(each))) for each in block.examples])
        legend.append(WEIGHED)
    else:
        body = _table(language, without_dots(without_repeats(as_table(block))))
    title = language.caption(plain(block.title)) if block.title else ""
    return "\n\n".join(filter(None, [title, body, *map(language.legend, legend)]))


def _case_lines(language: "Language", shown: ShownCase) -> list[str]:
    """Return the lines of a case: its texts with their answers, then the outcome."""
    lines = []
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        words = language.escape(" ¦ ").join(
            "".join(
                (language.bold if touched and number else language.escape)(text) for text, touched in pieces
            )
            for pieces in texts
        )
        answer = f" ({shown.answers[number]})" if number < len(shown.answers) else ""
        mark = language.escape("→" if number else shown.mark)
        lines.append(f"{mark} {words}{language.escape(answer)}".strip())
    lines.append(language.escape(", ".join(filter(None, [*outcome_words(shown), error_of(shown)]))))
    return [line for line in lines if line]


def _table(language: "Language", table: Table) -> str:
    rows = []
    for row in table.rows:
        if not is_full(row, table):
            rows += [[language.bold(plain(row.cells[0]).strip())]] if row.cells else [[]]
            continue
        cells = []
        for position, column in enumerate(table.columns):
            pieces = pieces_of(cell_of(row, position))
            words = [
                language.toned(piece_text(piece), tone_of(piece, column.tone, row.tone)) for piece in pieces
            ]
            cells.append("".join(words).strip())
        rows.append(cells)
    titles = [language.escape(column.title) for column in table.columns]
    return language.table(titles, [column.align for column in table.columns], rows) if titles else ""


@dataclass(frozen=True)
class Language:
    """How a language writes text. Tables and lists get escaped cells and lines, everything else plain text."""

    escape: Callable[[str], str]
    bold: Callable[[str], str]
    heading: Callable[[str], str]
    caption: Callable[[str], str]
    prose: Callable[[Cell], str]
    warning: Callable[[str], str]
    legend: Callable[[str], str]
    table: Callable[[Sequence[str], Sequence[str], Sequence[Sequence[str]]], str]
    items: Callable[[Sequence[Sequence[str]]], str]

    def toned(self, text: str, tones: Tones) -> str:
        """Return text, bold if it is strong."""
        return self.bold(text) if "strong" in tones_of(tones) else self.escape(text)


# Markdown


def _bold(text: str) -> str:
    """Return bold text; Markdown allows no white space inside the asterisks."""
    words = escape_markdown(text)
    return re.sub(r"^(\s*)(.*\S)(\s*)$", r"\1**\2**\3", words)


def _paragraphs(cell: Cell) -> str:
    """Return pieces in a row, the strong ones bold; a paragraph per line."""
    lines = [""]
    for piece in pieces_of(cell):
        for number, text in enumerate(piece_text(piece).split("\n")):
            lines += [""] if number else []
            lines[-1] += MARKDOWN.toned(text, tone_of(piece))
    # A first symbol that would start a list, a heading or a rule is escaped.
    escaped = [re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", line.strip()) for line in lines]
    return "\n\n".join(filter(None, escaped))


def _markdown_table(titles: Sequence[str], align: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = ["---" if side == "left" else "--:" for side in align]
    whole = [titles, rules, *([*row, *[""] * (len(titles) - len(row))] for row in rows if row)]
    return "\n".join(f"| {' | '.join(row)} |" for row in whole)


MARKDOWN = Language(
    escape=escape_markdown,
    bold=_bold,
    heading=lambda text: f"## {escape_markdown(text)}",
    caption=_bold,
    prose=_paragraphs,
    warning=lambda text: f"> ! {escape_markdown(text)}",
    legend=escape_markdown,
    table=_markdown_table,
    items=lambda items: "\n".join("- " + "<br>\n  ".join(lines) for lines in items),
)


# LaTeX


def _comment(cell: Cell) -> str:
    return "\n".join(f"% {_on_one_line(line)}" for line in plain(cell).splitlines() if line.strip())


def _latex_table(titles: Sequence[str], align: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = []
    for row in rows:
        is_heading = len(row) == 1 < len(titles)
        content = rf"\multicolumn{{{len(titles)}}}{{l}}{{{row[0]}}}" if is_heading else " & ".join(row)
        lines.append(rf"{content} \\" if row else r"\addlinespace")
    places = "".join(side[0] for side in align)
    head = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", f"{' & '.join(titles)} \\\\", r"\midrule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}"])


LATEX = Language(
    escape=escape_latex,
    bold=lambda text: rf"\textbf{{{escape_latex(text)}}}" if text.strip() else escape_latex(text),
    heading=_comment,
    caption=_comment,
    prose=_comment,
    warning=_comment,
    legend=_comment,
    table=_latex_table,
    items=lambda items: _comment("\n".join(line for lines in items for line in lines)),
)

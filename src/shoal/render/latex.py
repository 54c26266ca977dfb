"""Sections as LaTeX for a paper: a booktabs table per block; what is said around them stands in comments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.records import Measure
from ..core.views import (
    WEAK,
    Block,
    CaseList,
    Cell,
    Row,
    Section,
    ShownCase,
    Table,
    Text,
    Weighed,
    WeighedWords,
    to_read,
)
from .cases import error_of, how_it_went, marked_edits
from .escapes import escape_latex, plain_line
from .pieces import piece_text, pieces_of, plain, tone_of, tones_of, value_text
from .tabled import TABLED, as_table, is_full, without_pictures

NEEDS = r"% needs \usepackage{amssymb,booktabs}"
SIGNS = str.maketrans({
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "→": r"$\rightarrow$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "…": r"\ldots{}",
    "¦": r"\textbar{}",
})  # fmt: skip
"""What the usual fonts lack."""


def as_latex(sections: Sequence[Section]) -> str:
    """Every table, in its order."""
    parts = [NEEDS, *(part for section in to_read(sections) for part in _parts(section))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _parts(section: Section) -> list[str]:
    return [
        _comment([plain(section.title), plain(section.text), *section.warnings]),
        *(BLOCKS[type(block)](block) for block in section.blocks),
        _comment(section.notes),
    ]


def _comment(lines: Sequence[str]) -> str:
    return "\n".join(f"% {plain_line(line)}" for text in lines for line in text.splitlines() if line.strip())


def _escaped(text: str) -> str:
    return escape_latex(text).translate(SIGNS)


def _piece(text: str, tones: Any) -> str:
    words = _escaped(text)
    return rf"\textbf{{{words}}}" if "strong" in tones_of(tones) and words.strip() else words


# Blocks


def text_latex(block: Text) -> str:
    """A comment, as other prose is."""
    return _comment([plain(list(block.pieces))])


def table_latex(block: Any) -> str:
    """A table, or the table of a picture."""
    table = without_pictures(as_table(block))
    if not table.columns:
        return ""
    places = "".join("l" if column.align == "left" else "r" for column in table.columns)
    lines = [
        _comment([table.title]),
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _line([_escaped(column.title) for column in table.columns]),
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
        heading = _piece(plain(row.cells[0]).strip(), "strong")
        return rf"\multicolumn{{{len(table.columns)}}}{{l}}{{{heading}}} \\"
    cells = [_cell(row, position, table) for position in range(len(table.columns))]
    return _line(cells)


def _cell(row: Row, position: int, table: Table) -> str:
    cell: Cell = row.cells[position] if position < len(row.cells) else ""
    tones = (table.columns[position].tone, row.tone)
    return "".join(_piece(piece_text(piece), tone_of(piece, *tones)) for piece in pieces_of(cell)).strip()


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def case_list_latex(block: CaseList) -> str:
    """An itemised list; what an edit changed is emphasised."""
    items = [_case(shown) for shown in block.cases]
    body = [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []
    return "\n".join(filter(None, [_comment([plain(block.title)]), *body, _comment(block.legend)]))


def _case(shown: ShownCase) -> str:
    lines = []
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        words = r" \textbar{} ".join(
            "".join(
                rf"\emph{{{_escaped(text)}}}" if touched and number else _escaped(text)
                for text, touched in pieces
            )
            for pieces in texts
        )
        answer = f" ({_escaped(shown.answers[number])})" if number < len(shown.answers) else ""
        lines.append((r"$\rightarrow$ " if number else f"{_escaped(shown.mark)} ").lstrip() + words + answer)
    lines.append(_escaped(", ".join(filter(None, [*how_it_went(shown), error_of(shown)]))))
    # Braces, for an item whose text begins with a bracket would be read as having a label.
    return r"\item {}" + " \\\\\n".join(filter(None, lines))


def weighed_latex(block: WeighedWords) -> str:
    """An itemised list; words for the answer are underlined, words against it slanted, both with their number."""
    items = [_weighed(example) for example in block.examples]
    body = [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []
    legend = [*block.legend, "underlined: counts for the answer; emphasised: against it"]
    return "\n".join(filter(None, [_comment([block.title]), *body, _comment(legend)]))


def _weighed(example: Weighed) -> str:
    lines = [_escaped(plain(example.about))]
    for text in example.texts:
        words = []
        for word, value in text:
            if value is None or abs(example.share(value)) < WEAK:
                words.append(_escaped(word))
                continue
            number = value_text(Measure("attribution", value, 1)).replace("−", "-")
            sign = "underline" if value > 0 else "emph"
            words.append(rf"\{sign}{{{_escaped(word)}}}$^{{{number}}}$")
        lines.append("".join(words))
    lines.append(_escaped(plain(example.answer)))
    return r"\item {}" + " \\\\\n".join(filter(None, lines))


BLOCKS: Mapping[type[Block], Callable[[Any], str]] = {
    Text: text_latex,
    **dict.fromkeys(TABLED, table_latex),
    CaseList: case_list_latex,
    WeighedWords: weighed_latex,
}
"""Kind of block to what writes it."""

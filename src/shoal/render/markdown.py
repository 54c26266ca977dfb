"""Sections as Markdown, for a pull request, a README or a chat: numbers as people read them, pictures as tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.records import Measure
from ..core.views import (
    STRONG,
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
from .escapes import escape_markdown
from .pieces import piece_text, pieces_of, plain, tone_of, tones_of, value_text
from .tabled import TABLED, as_table, is_full, without_pictures


def as_markdown(sections: Sequence[Section]) -> str:
    """A document; every part of every section, in its order."""
    parts = [part for section in to_read(sections) for part in _parts(section)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _parts(section: Section) -> list[str]:
    return [
        *_heading(section.title, "##"),
        _sentence(section.text),
        "\n>\n".join(f"> ! {escape_markdown(words)}" for words in section.warnings),
        *(BLOCKS[type(block)](block) for block in section.blocks),
        *(_paragraph(escape_markdown(words)) for words in section.notes),
    ]


def _heading(title: Cell, level: str) -> list[str]:
    """The first line of a title; what comes after it is a paragraph."""
    first, _, rest = plain(title).partition("\n")
    return [f"{level} {escape_markdown(first)}" if first else "", _paragraph(escape_markdown(rest))]


def _paragraph(markdown: str) -> str:
    """Text whose first sign does not make it a list, a heading or a line."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", markdown.strip())


def _sentence(cell: Cell) -> str:
    """Pieces in a row, the strong ones bold; a paragraph per line."""
    lines = [""]
    for piece in pieces_of(cell):
        for number, text in enumerate(piece_text(piece).split("\n")):
            lines += [""] if number else []
            lines[-1] += _piece(text, tone_of(piece))
    return "\n\n".join(filter(None, map(_paragraph, lines)))


def _piece(text: str, tones: Any) -> str:
    """Markdown wants no white space between the signs for bold and what is bold."""
    words = escape_markdown(text)
    if "strong" not in tones_of(tones) or not words.strip():
        return words
    lead, trail = words[: -len(words.lstrip())], words[len(words.rstrip()) :]
    return f"{lead}**{words.strip()}**{trail}"


# Blocks


def text_markdown(block: Text) -> str:
    """A paragraph."""
    return _sentence(list(block.pieces))


def table_markdown(block: Any) -> str:
    """A table, or the table of a picture."""
    table = without_pictures(as_table(block))
    title = f"**{escape_markdown(table.title)}**" if table.title else ""
    lines = [
        _line([escape_markdown(column.title) for column in table.columns]),
        _line(["---" if column.align == "left" else "--:" for column in table.columns]),
        *(_row(row, table) for row in table.rows if row.cells),
    ]
    legend = "<br>".join(escape_markdown(words) for words in table.legend)
    return "\n\n".join(filter(None, [title, "\n".join(lines) if table.columns else "", legend]))


def _row(row: Row, table: Table) -> str:
    if not is_full(row, table):
        heading = escape_markdown(plain(row.cells[0]))
        return _line([f"**{heading.strip()}**", *[""] * (len(table.columns) - 1)])
    cells = []
    for position, column in enumerate(table.columns):
        pieces = pieces_of(row.cells[position]) if position < len(row.cells) else ()
        words = [_piece(piece_text(piece), tone_of(piece, column.tone, row.tone)) for piece in pieces]
        cells.append("".join(words).strip())
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def case_list_markdown(block: CaseList) -> str:
    """A list; what an edit changed is bold."""
    cases = "\n".join(_case(shown) for shown in block.cases)
    legend = "<br>".join(escape_markdown(words) for words in block.legend)
    return "\n\n".join(filter(None, [_sentence(block.title), cases, legend]))


def _case(shown: ShownCase) -> str:
    lines = []
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        words = " ¦ ".join(
            "".join(_piece(text, "strong" if touched and number else "") for text, touched in pieces)
            for pieces in texts
        )
        answer = f" — {escape_markdown(shown.answers[number])}" if number < len(shown.answers) else ""
        lines.append(("  → " if number else f"{escape_markdown(shown.mark)} ") + words + answer)
    lines.append("  " + escape_markdown(", ".join(filter(None, [*how_it_went(shown), error_of(shown)]))))
    return "- " + "<br>\n".join(filter(None, (line.rstrip() for line in lines))).lstrip()


def weighed_markdown(block: WeighedWords) -> str:
    """Each text, behind a word what it counted; those that counted most are bold."""
    title = f"**{escape_markdown(block.title)}**" if block.title else ""
    examples = "\n".join(_weighed(example) for example in block.examples)
    legend = "<br>".join(escape_markdown(words) for words in [*block.legend, WEIGHED])
    return "\n\n".join(filter(None, [title, examples, legend]))


WEIGHED = "In brackets how much a word counts: + for the answer, − against it."


def _weighed(example: Weighed) -> str:
    lines = [_sentence(example.about)]
    for text in example.texts:
        words = []
        for word, value in text:
            share = example.share(value)
            tone = "strong" if abs(share) >= STRONG else ""
            words.append(_piece(word, tone))
            if value is not None and abs(share) >= WEAK:
                words.append(f" ({escape_markdown(value_text(Measure('attribution', value, 1)))})")
        lines.append("".join(words).strip())
    lines.append(_sentence(example.answer))
    return "- " + "<br>\n".join(" ".join(line.split("\n\n")) for line in filter(None, lines))


BLOCKS: Mapping[type[Block], Callable[[Any], str]] = {
    Text: text_markdown,
    **dict.fromkeys(TABLED, table_markdown),
    CaseList: case_list_markdown,
    WeighedWords: weighed_markdown,
}
"""Kind of block to what writes it."""

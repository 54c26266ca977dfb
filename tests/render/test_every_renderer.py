"""One contract for every kind of block in every renderer: it is shown, whatever it holds."""

import re
import unicodedata
from typing import get_args

import pytest
from blocks import BUILT
from rich.cells import cell_len

from shoal.core.records import Measure
from shoal.core.text import STEERING
from shoal.core.views import (
    Block,
    CaseList,
    Curves,
    HeatMap,
    Scatter,
    Section,
    Table,
    Text,
    WeighedWords,
)
from shoal.render import html_blocks as html
from shoal.render import terminal
from shoal.render.latex import as_latex
from shoal.render.page import Page, Part
from shoal.render.tables import tables_of
from shoal.render.writing import page_html

KINDS = get_args(Block)
TABLES = [kind for kind in KINDS if kind not in (Text, CaseList, WeighedWords)]
RENDERERS = {
    "terminal": terminal.BLOCKS,
    "csv": KINDS,
    "html": html.BLOCKS,
    "latex": KINDS,
}


EMPTY: dict[type, Block] = {
    Text: Text([]),
    Table: Table([], []),
    HeatMap: HeatMap([], [], {}),
    Curves: Curves("", []),
    WeighedWords: WeighedWords([]),
    Scatter: Scatter(("", ""), []),
    CaseList: CaseList([]),
}

TAGS = (
    "button|pre|section|h3|p|span|figure|figcaption|div|table|thead|tbody|tr|th|td|details|summary|ul|ol|li|mark|wbr|br|i|b|u|"
    "svg|g|line|text|polyline|polygon|circle|title"
)
"""What the page is made of."""
PLAIN = Measure("pass rate", 0.886, 140, {"functionality": "negation"}, (0.82, 0.93), "wilson")
HOSTILE = "a\x1b[2J\r\n\t\u202e<script>alert(1)</script>\u2066|\x00 =cmd & \\end{tabular} $x$ `b` *c* \ud800 \U0001f600"


def written(name: str, block: Block, width: int = 80) -> str:
    """A block as one of the renderers writes it."""
    section = Section("title", "text", [block])
    return {
        "terminal": lambda: "\n".join(line.plain for line in terminal.section_lines([section], width)),
        "latex": lambda: as_latex([section]),
        "csv": lambda: "".join(tables_of([section]).values()),
        "html": lambda: str(html.section_html(section)),
    }[name]()


PAIRS = [(name, kind) for name in RENDERERS for kind in KINDS]


def test_every_renderer_knows_every_kind_of_block():
    assert set(BUILT) == set(EMPTY) == set(KINDS)
    assert [name for name, blocks in RENDERERS.items() if set(blocks) != set(KINDS)] == []


def test_a_block_shows_its_words_and_numbers():
    wrong = []
    for name, kind in PAIRS:
        text = written(name, BUILT[kind]("wordhoard", PLAIN))
        whole = kind is HeatMap and name in ("terminal", "html")
        number = "0.886" if name == "csv" else "89" if whole else "88.6"
        if name == "csv" and kind not in TABLES:
            wrong += [(name, kind)] if text else []
        elif "wordhoard" not in text or number not in text:
            wrong.append((name, kind))
    assert wrong == []


def test_an_empty_block_is_shown_without_none_or_nan():
    assert [pair for pair in PAIRS if re.search("None|nan", written(pair[0], EMPTY[pair[1]]))] == []


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")], ids=str)
def test_an_undefined_value_is_a_dash_and_in_csv_empty(value):
    wrong = []
    for name, kind in PAIRS:
        text = written(name, BUILT[kind]("word", Measure("pass rate", value, 0)))
        has_dash = (kind not in TABLES or ",,,0" in text) if name == "csv" else re.search("–|--", text)
        if not has_dash or re.search(r"\b(nan|inf|None)\b", text):
            wrong.append((name, kind))
    assert wrong == []


def test_hostile_text_controls_no_terminal_and_adds_no_markup():
    for name, kind in PAIRS:
        text = written(name, BUILT[kind](HOSTILE, PLAIN))
        if name == "csv":
            continue
        assert not {letter for letter in text if unicodedata.category(letter) in STEERING} - {"\n"}, (
            name,
            kind,
        )
        text.encode()
        if name == "html":
            assert "<script" not in text and "&lt;script&gt;" in text, kind
            assert set(re.findall(r"<([a-z0-9]+)", text)) <= set(TAGS.split("|")), kind


def test_no_line_is_wider_than_the_terminal():
    wide = []
    for word in ("short", "a_rather_long_name_of_a_functionality" * 4, "漢字" * 50, "many words " * 30):
        for kind in KINDS:
            for width in (40, 80, 120):
                text = written("terminal", BUILT[kind](word, PLAIN), width)
                if max(cell_len(line) for line in text.split("\n")) > width:
                    wide.append((kind, width, word[:5]))
    assert wide == []


def test_a_section_for_files_is_shown_to_nobody():
    section = Section("title", "text", [BUILT[Table]("wordhoard", PLAIN)], detail="file")
    assert "wordhoard" in tables_of([section])
    lines = terminal.section_lines([section], 80, full=True)
    page = page_html(Page([Part("part", [section])]))
    texts = [as_latex([section]), page]
    assert not lines and not any("wordhoard" in text for text in texts)

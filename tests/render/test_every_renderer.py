"""One contract for every kind of block in every renderer: it is shown, whatever it holds."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable
from typing import get_args

import pytest

from shoal.core.records import Case, Measure, Outcome
from shoal.core.text import STEERING
from shoal.core.views import (
    Bars,
    Block,
    CaseList,
    Column,
    Curves,
    Dots,
    HeatMap,
    Line,
    Number,
    Row,
    Scatter,
    Section,
    ShownCase,
    Strips,
    Table,
    Text,
    Weighed,
    WeighedWords,
    Words,
)
from shoal.render import csv_tables, latex, markdown, terminal
from shoal.render import html_blocks as html
from shoal.render.html import page_of
from shoal.render.page import Page, Part

KINDS = get_args(Block)
TABLES = [kind for kind in KINDS if kind not in (Text, CaseList)]
RENDERERS = {
    "terminal": terminal.BLOCKS,
    "markdown": markdown.BLOCKS,
    "latex": latex.BLOCKS,
    "csv": csv_tables.BLOCKS,
    "html": html.BLOCKS,
}


def _or_nan(measure: Measure) -> float:
    """A word always has a number; what has none is no word."""
    return float("nan") if measure.value is None else measure.value


BUILT: dict[type, Callable[[str, Measure], Block]] = {
    Text: lambda text, measure: Text([text, Words(text, "good"), Number(measure, mark=text)]),
    Table: lambda text, measure: Table(
        [Column(text, "left", once=True), Column(text), Column("", spare=True), Column("", scale=(0.0, 1.0))],
        [
            Row([text]),
            Row([text, Number(measure, mark=text, instead=text), Number(measure, part="bar")]),
            Row(),
            Row(
                [
                    [text, Number(measure)],
                    Number(measure, part="value and interval"),
                    "",
                    Dots([measure], (0, 1)),
                ]
            ),
        ],
        text,
        text,
        [text],
    ),
    HeatMap: lambda text, measure: HeatMap(
        [(text, text)], [(text, text)], {(0, 0): measure}, text, text, [text], [text], 1
    ),
    Curves: lambda text, measure: Curves(
        text, [Line(text, [(1.0, measure), (2.0, measure)])], 1.0, text, text, [text], text
    ),
    Strips: lambda text, measure: Strips([(text, [measure, measure])], (0.0, 1.0), 0.5, text, text, [text]),
    Bars: lambda text, measure: Bars([(text, measure)], text, text, [text], {0: text}),
    Scatter: lambda text, measure: Scatter((text, text), [(text, measure, measure)], text, text, [text]),
    WeighedWords: lambda text, measure: WeighedWords(
        [
            Weighed(
                [[(text, _or_nan(measure)), (" ", None), (text, -0.2)], []], text, [text, Number(measure)]
            ),
            Weighed([]),
        ],
        text,
        text,
        [text],
    ),
    CaseList: lambda text, measure: CaseList(
        [
            ShownCase(
                Case(text, ((text, text), (f"not {text}", text)), groups={text: text}),
                Outcome(text, False, -0.5, text),
                text,
                [text],
                "bad",
                text,
            )
        ],
        [text, Number(measure)],
        [text],
    ),
}

EMPTY: dict[type, Block] = {
    Text: Text([]),
    Table: Table([], []),
    HeatMap: HeatMap([], [], {}),
    Curves: Curves("", []),
    Strips: Strips([], (0.0, 1.0)),
    Bars: Bars([]),
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
        "markdown": lambda: markdown.as_markdown([section]),
        "latex": lambda: latex.as_latex([section]),
        "csv": lambda: "".join(csv_tables.tables_of([section]).values()),
        "html": lambda: str(html.section_html(section)),
    }[name]()


@pytest.mark.parametrize("name", RENDERERS)
def test_every_renderer_knows_every_kind_of_block_and_no_other(name):
    assert set(RENDERERS[name]) == set(KINDS)


def test_every_kind_of_block_is_tried_here():
    assert set(BUILT) == set(EMPTY) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", RENDERERS)
def test_a_block_shows_its_words_and_numbers(name, kind):
    text = written(name, BUILT[kind]("wordhoard", PLAIN))
    if name == "csv":
        is_table = kind in TABLES
        assert ("wordhoard" in text, "0.886" in text) == (is_table, is_table)
        return
    assert "wordhoard" in text
    assert "88.6" in text or ("89" in text and kind is HeatMap)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", RENDERERS)
def test_an_empty_block_is_shown_without_fuss(name, kind):
    text = written(name, EMPTY[kind])
    assert "None" not in text and "nan" not in text


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")], ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", RENDERERS)
def test_an_undefined_value_is_a_dash_and_in_csv_empty(name, kind, value):
    text = written(name, BUILT[kind]("word", Measure("pass rate", value, 0)))
    assert not re.search(r"\b(nan|inf|None)\b", text)
    if name == "csv":
        assert kind not in TABLES or ",,,0" in text
    else:
        assert "–" in text or "--" in text


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", [name for name in RENDERERS if name != "csv"])
def test_hostile_text_steers_nothing(name, kind):
    text = written(name, BUILT[kind](HOSTILE, PLAIN))
    steering = {letter for letter in text if unicodedata.category(letter) in STEERING} - {"\n"}
    assert not steering
    text.encode()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_hostile_text_is_no_markup_in_html(kind):
    text = written("html", BUILT[kind](HOSTILE, PLAIN))
    tags = set(re.findall(r"<([a-z0-9]+)", text))
    assert "<script" not in text and "&lt;script&gt;" in text
    assert tags <= set(TAGS.split("|"))


@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
def test_hostile_text_stays_in_its_cell_of_csv(kind):
    rows = list(
        csv.reader(io.StringIO(written("csv", BUILT[kind]("=cmd|' /C calc'!A0\r\n,\"", PLAIN)), newline=""))
    )
    assert len({len(row) for row in rows}) == 1
    assert not [field for row in rows for field in row if field.startswith("=")]


MARKDOWN_TABLES = [kind for kind in TABLES if markdown.BLOCKS[kind] is markdown.table_markdown]


@pytest.mark.parametrize("kind", MARKDOWN_TABLES, ids=lambda kind: kind.__name__)
def test_hostile_text_stays_in_its_cell_of_markdown(kind):
    lines = [line for line in written("markdown", BUILT[kind](HOSTILE, PLAIN)).split("\n") if line[:1] == "|"]
    assert lines
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_line_is_wider_than_the_terminal(kind, width):
    from rich.cells import cell_len

    for word in ("short", "a_rather_long_name_of_a_functionality" * 4, "漢字" * 50, "many words " * 30):
        text = written("terminal", BUILT[kind](word, PLAIN), width)
        assert max(cell_len(line) for line in text.split("\n")) <= width


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", RENDERERS)
def test_the_same_block_gives_the_same_bytes(name, kind):
    assert written(name, BUILT[kind]("word", PLAIN)) == written(name, BUILT[kind]("word", PLAIN))


def test_a_section_for_files_is_shown_to_nobody():
    section = Section("title", "text", [BUILT[Table]("wordhoard", PLAIN)], detail="file")
    assert "wordhoard" in csv_tables.tables_of([section])
    lines = terminal.section_lines([section], 80, full=True)
    pages = [
        markdown.as_markdown([section]),
        latex.as_latex([section]),
        page_of(Page([Part("part", [section])])),
    ]
    assert not lines and not any("wordhoard" in page for page in pages)

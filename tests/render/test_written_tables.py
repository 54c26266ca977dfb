"""Sections as Markdown, LaTeX and CSV: for reading, for a paper, for computing."""

import csv
import io

import pytest

from shoal.core.records import Case, Measure, Outcome
from shoal.core.views import (
    Block,
    CaseList,
    Column,
    Curves,
    Dots,
    HeatMap,
    Line,
    Number,
    Row,
    Section,
    ShownCase,
    Table,
    Text,
    Words,
)
from shoal.render.documents import as_latex, as_markdown
from shoal.render.tables import rows_as_csv, tables_of


def measure(value: float | None, name: str = "pass rate", n: int = 140, **groups: str) -> Measure:
    interval = None if value is None else (value / 2, (1 + value) / 2)
    return Measure(name, value, n, groups, interval, "wilson")


def rates() -> Table:
    def row(name: str, of: Measure, tone: str = "", mark: str = "") -> Row:
        numbers = [Number(of, mark=mark), Dots([of], (0.0, 1.0)), Number(of, part="interval")]
        return Row([name, *numbers, Number(of, part="n")], tone)  # type: ignore[arg-type]

    columns = [
        Column("functionality", "left"),
        Column("pass\nrate"),
        Column("", "left", spare=True),
        Column("95 % interval"),
        Column("n"),
    ]
    rows = [
        Row(["vocabulary"]),
        row("▼ single_words", measure(0.125), mark="▲"),
        Row(),
        row("  fewer|words", measure(None, n=0)),
        row("suite score", measure(1 / 3), "strong"),
    ]
    return Table(columns, rows, "rates", "Rates", ["▲ better"])


def cases() -> CaseList:
    examples = (("A good film.",), ("A *bad* film.",))
    shown = ShownCase(
        Case("c/1", examples), Outcome("c/1", False, -0.25), "negative", ["positive .9"], "", "▼", "P .9 → .2"
    )
    return CaseList([shown], [Words("Worst: ", "strong"), "negation"])


def document(*blocks: Block) -> list[Section]:
    title = [Words("behaviour of ", "quiet"), Words("m_1\nsuite s", "strong")]
    return [Section(title, "- It\nfails.", blocks, ["1. a note"], ["few <cases>"])]


def test_markdown_is_a_document_with_tables():
    assert (
        as_markdown(document(Text(["In", Words(" bold ", "strong"), "words."]), rates(), cases()))
        == r"""
## behaviour of m\_1

suite s

\- It

fails.

> ! few \<cases\>

In **bold** words.

**Rates**

| functionality | pass rate | 95 % interval | n |
| --- | --: | --: | --: |
| **vocabulary** |  |  |  |
| ▼ single\_words | 12.5 ▲ | 6.2 – 56.2 | 140 |
| fewer\|words | – |  | 0 |
| **suite score** | **33.3** | 16.7 – 66.7 | 140 |

▲ better

**Worst: negation**

- ▼ A good film. (positive .9)<br>
  → A **\*bad\*** film.<br>
  expected negative, P .9 → .2

1\. a note
""".lstrip()
    )


def test_latex_is_booktabs_tables_with_the_prose_in_comments():
    assert (
        as_latex(document(Text(["50 % {x}"]), rates(), cases()))
        == r"""
% needs \usepackage{amssymb,booktabs}

% behaviour of m_1

% suite s

% - It
% fails.

% few <cases>

% 50 % {x}

% Rates

\begin{tabular}{lrrr}
\toprule
functionality & pass rate & 95 \% interval & n \\
\midrule
\multicolumn{4}{l}{\textbf{vocabulary}} \\
$\blacktriangledown$ single\_words & 12.5 $\blacktriangle$ & 6.2 -- 56.2 & 140 \\
\addlinespace
fewer\textbar{}words & -- &  & 0 \\
\textbf{suite score} & \textbf{33.3} & 16.7 -- 66.7 & 140 \\
\bottomrule
\end{tabular}

% ▲ better

% Worst: negation

\begin{itemize}
\item {}$\blacktriangledown$ A good film. (positive .9) \\
$\rightarrow$ A \emph{*bad*} film. \\
expected negative, P .9 $\rightarrow$ .2
\end{itemize}

% 1. a note
""".lstrip()
    )


def test_csv_has_fractions_every_digit_and_each_number_once():
    assert tables_of([Section(blocks=[rates()])]) == {
        "rates": """\
block,functionality,pass rate,pass rate low,pass rate high,pass rate n,pass rate mark
vocabulary,single_words,0.125,0.0625,0.5625,140,▲
vocabulary,fewer|words,,,,0,
vocabulary,suite score,0.3333333333333333,0.16666666666666666,0.6666666666666666,140,
"""
    }


def test_csv_says_again_what_people_read_once():
    columns = [Column("config", "left", once=True), Column("method", "left")]
    table = Table(columns, [Row(["iid", "l2"]), Row(["iid", "fish"])], "t")
    assert tables_of([Section(blocks=[table])])["t"] == "config,method\niid,l2\niid,fish\n"
    assert "| iid | l2 |\n|  | fish |" in as_markdown([Section(blocks=[table])])


def test_a_name_that_is_taken_gets_a_number_and_what_has_none_is_left_out():
    tables = [Table([Column("a", "left")], [Row(["x"])], name) for name in ("cells", "", "cells", "cells")]
    assert list(tables_of([Section(blocks=tables[:2]), Section(blocks=tables[2:], detail="full")])) == [
        "cells",
        "cells-2",
        "cells-3",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("-0.5", "-0.5"),
        ("\rx", "'\rx"),
        ("a\rb", "a\rb"),
    ],
)
def test_what_a_spreadsheet_would_run_is_marked_as_text_and_every_text_can_be_read_back(text, written):
    table = rows_as_csv([{"name": text, "n": -1}, {"name": "next", "n": 2}])
    rows = csv.DictReader(io.StringIO(table, newline=""))
    assert [(row["name"], row["n"]) for row in rows] == [(written, "-1"), ("next", "2")]


PICTURES: dict[str, tuple[Block, str]] = {
    "heat map": (
        HeatMap(
            [("suite score", ""), ("negation", "words")],
            [("l2", "iid"), ("fish", "")],
            {(0, 0): measure(0.5), (1, 1): measure(0.25)},
            name="picture",
            kinds=["", "MFT"],
        ),
        """\
block,name,kind,iid l2,iid l2 low,iid l2 high,iid l2 n,fish,fish low,fish high,fish n
,suite score,,0.5,0.25,0.75,140,,,,
words,negation,MFT,,,,,0.25,0.125,0.625,140
""",
    ),
    "curves": (
        Curves(
            "epoch",
            [
                Line("ID", [(1.0, measure(0.5)), (2.0, measure(None, n=0))]),
                Line("validation\nID", [(2.0, measure(1.0))]),
            ],
            2.0,
            name="picture",
        ),
        """\
epoch,ID,ID low,ID high,ID n,validation ID,validation ID low,validation ID high,validation ID n,mark
1,0.5,0.25,0.75,140,,,,,
2,,,,0,1.0,0.5,1.0,140,chosen
""",
    ),
}


def test_a_chart_has_its_table():
    written = {kind: tables_of([Section(blocks=[block])]) for kind, (block, _) in PICTURES.items()}
    assert written == {kind: {"picture": expected} for kind, (_, expected) in PICTURES.items()}

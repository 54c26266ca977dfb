"""Sections as LaTeX and CSV: for a paper, for computing."""

from shoal.core.records import Case, Measure, Outcome
from shoal.core.views import (
    Block,
    CaseList,
    Column,
    Dots,
    Number,
    Row,
    Section,
    ShownCase,
    Table,
    Text,
    Words,
)
from shoal.render.latex import as_latex
from shoal.render.tables import tables_of


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
        Case("c/1", examples), Outcome("c/1", False, -0.25), "negative", ["positive .9"], "", "▼"
    )
    return CaseList([shown], [Words("Worst: ", "strong"), "negation"])


def document(*blocks: Block) -> list[Section]:
    title = [Words("behaviour of ", "quiet"), Words("m_1\nsuite s", "strong")]
    return [Section(title, "- It\nfails.", blocks, ["1. a note"], ["few <cases>"])]


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
% ▼ A good film. positive .9
% → A *bad* film.
% expected negative

% 1. a note
""".lstrip()
    )


def test_csv_has_fractions_every_digit_and_each_number_once():
    assert tables_of([Section(blocks=[rates()])]) == {
        "rates": """\
block,functionality,pass rate,pass rate low,pass rate high,pass rate n
vocabulary,single_words,0.125,0.0625,0.5625,140
vocabulary,fewer|words,,,,0
vocabulary,suite score,0.3333333333333333,0.16666666666666666,0.6666666666666666,140
"""
    }


def test_csv_says_again_what_people_read_once():
    columns = [Column("config", "left", once=True), Column("method", "left")]
    table = Table(columns, [Row(["iid", "l2"]), Row(["iid", "fish"])], "t")
    assert tables_of([Section(blocks=[table])])["t"] == "config,method\niid,l2\niid,fish\n"
    assert "iid & l2 \\\\\n & fish" in as_latex([Section(blocks=[table])])


def test_a_name_that_is_taken_gets_a_number_and_what_has_none_is_left_out():
    tables = [Table([Column("a", "left")], [Row(["x"])], name) for name in ("cells", "", "cells", "cells")]
    assert list(tables_of([Section(blocks=tables[:2]), Section(blocks=tables[2:], detail="full")])) == [
        "cells",
        "cells-2",
        "cells-3",
    ]

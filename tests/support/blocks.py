"""A block of each kind, with a text in every place that takes one."""

from collections.abc import Callable

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
    Scatter,
    ShownCase,
    Table,
    Text,
    Weighed,
    WeighedWords,
    Words,
)


def _or_nan(measure: Measure) -> float:
    """A word always has a number; what has none is no word."""
    return float("nan") if measure.value is None else measure.value


BUILT: dict[type, Callable[[str, Measure], Block]] = {
    Text: lambda text, measure: Text([text, Words(text, "good"), Number(measure, mark=text)]),
    Table: lambda text, measure: Table(
        [Column(text, "left", once=True), Column(text), Column("", spare=True), Column("", scale=(0.0, 1.0))],
        [
            Row([text]),
            Row([text, Number(measure, mark=text, instead=text), Number(measure, part="n")]),
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
        text, [Line(text, [(1.0, measure), (2.0, measure)])], 1.0, text, text, [text]
    ),
    Scatter: lambda text, measure: Scatter((text, text), [(text, measure, measure)], text, text, [text]),
    WeighedWords: lambda text, measure: WeighedWords(
        [
            Weighed(
                [[(text, _or_nan(measure)), (" ", None), (text, -0.2)], []], text, [text, Number(measure)]
            ),
            Weighed([]),
        ],
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

"""Blocks: the content of a screen or page, without its layout.

    protocol.view ──► Section ──► Text, Table, HeatMap, Curves, Scatter, CaseList, WeighedWords
                                  rendered by `render/` in a terminal, as HTML, CSV, LaTeX and figures

A block holds measures and words, never formatted numbers: `measures.py` decides the digits, the renderer the colours.
Every chart has a table of its data, for renderers that cannot draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from .case_table import CaseTable, Heading
from .measures import quantity
from .records import Case, Measure, Outcome, Result

Tone = Literal["", "strong", "quiet", "good", "bad", "doubt", "first", "second", "third"]
"""Emphasis (strong, quiet), judgement (good, bad, doubt) or series (first to third); renderers choose the colours."""
Tones = Tone | tuple[Tone, ...]
"""One tone or several, such as ("strong", "good"). A piece's tone overrides its column's, and that its row's."""


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure in a cell or a sentence, without its unit."""

    measure: Measure | None
    """None for an empty cell."""
    tone: Tones = ""
    mark: str = ""
    """A symbol next to it, such as ▲."""
    part: Literal["value", "interval", "value and interval", "n", "na", "errors"] = "value"
    instead: str = ""
    """Text to show where the value is undefined, instead of a dash."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Values on one scale, drawn as dots in a cell."""

    measures: Sequence[Measure]
    scale: tuple[float, float]
    middle: float | None = None
    """The neutral value, such as 0 or one half; marked on the scale."""
    tone: Tones = "first"
    change: bool = False
    """Whether the two measures are before (hollow) and after (filled), with a line between them."""


Piece = Words | Number | Dots | str
Cell = Piece | Sequence[Words | Number | str]
"""The content of a cell: one piece or several in a row."""


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    align: Literal["left", "right"] = "right"
    """Left for words, which may wrap; right for numbers, which never do."""
    spare: bool = False
    """Whether a narrow terminal may leave it out."""
    scale: tuple[float, float] | None = None
    """For a column of dots: the ends shown in its heading."""
    tone: Tones = ""
    once: bool = False
    """Whether a cell that equals the one above it is left empty; CSV repeats it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. Without cells it is a gap; with a single cell it is a heading inside the table."""

    cells: Sequence[Cell] = ()
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""
    """The name of its CSV file; empty if another file holds the same numbers."""
    title: str = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A measure for each row and column, coloured by its value."""

    rows: Sequence[tuple[str, str]]
    """Name and group of each row: functionality and capability."""
    columns: Sequence[tuple[str, str]]
    """Name and group of each column: method and configuration."""
    cells: Mapping[tuple[int, int], Measure]
    """By row and column."""
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    kinds: Sequence[str] = ()
    """A word for each row, such as its test type; empty or as long as `rows`."""
    baselines: int = 0
    """The number of leading columns that are repeated where the columns do not fit on one screen."""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """A word after the value of some cells, by row and column."""


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    points: Sequence[tuple[float, Measure]]
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over an axis, with their intervals as bands."""

    axis: str
    lines: Sequence[Line]
    marked: float | None = None
    """The chosen position on the axis, such as an epoch."""
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scatter:
    """One measure against another, one point per name, and the line on which both are equal."""

    axes: tuple[str, str]
    points: Sequence[tuple[str, Measure, Measure]]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with its expectation, the model's answers and the outcome."""

    case: Case
    outcome: Outcome | None = None
    expected: str = ""
    """In words, without the word "expected": "negative", "the same answer"."""
    answers: Sequence[str] = ()
    """The model's answer to each example, such as "positive .98"; empty if they are not stored."""
    tone: Tones = ""
    mark: str = ""
    change: str = ""
    """How far the answer moved, and the limit."""


@dataclass(frozen=True, slots=True)
class CaseList:
    """Some cases; renderers highlight the edit between an original and its variants."""

    cases: Sequence[ShownCase]
    title: Cell = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """The texts of an example in pieces, each with its attribution; None for white space and punctuation."""

    texts: Sequence[Sequence[tuple[str, float | None]]]
    about: Cell = ""
    """A line above the texts."""
    answer: Cell = ""
    """The model's answer, below the texts."""

    def share(self, value: float | None) -> float:
        """Return an attribution relative to the largest one, from -1 to 1."""
        sizes = [abs(size) for text in self.texts for _, size in text if size is not None and isfinite(size)]
        largest = max(sizes, default=0.0)
        return value / largest if value is not None and isfinite(value) and largest else 0.0


@dataclass(frozen=True, slots=True)
class WeighedWords:
    """Examples with attributions; renderers separate words for and against the answer by more than colour."""

    examples: Sequence[Weighed]
    title: str = ""
    legend: Sequence[str] = ()


STRONG, WEAK = 0.5, 0.1
"""Relative attributions: words from the first on are bold, words below the second are not highlighted."""


@dataclass(frozen=True, slots=True)
class Text:
    pieces: Sequence[Words | Number | str]


Block = Text | Table | HeatMap | Curves | Scatter | CaseList | WeighedWords


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a view: a title, a sentence or two, and blocks."""

    title: Cell = ""
    text: Cell = ""
    """The answer to the section's question."""
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    """Caveats below the blocks, the most important first; a terminal shows three."""
    warnings: Sequence[str] = ()
    """Problems that come before the blocks."""
    detail: Literal["short", "full", "file"] = "short"
    """Full: only with `--full`. File: only as CSV files."""
    summary: "Summary | None" = None
    """The first screen of a page that begins with this section."""


@dataclass(frozen=True, slots=True)
class Card:
    """A box on the first screen of a page: a large number, or a short list."""

    title: str
    number: Cell = ""
    lines: Sequence[str] = ()
    rows: Sequence[tuple[str, Cell]] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """The first screen of a page: the verdict, a few cards, one chart and perhaps the main table."""

    verdict: str
    tone: Tone = ""
    text: str = ""
    cards: Sequence[Card] = ()
    chart: Table | None = None
    blocks: Sequence[Block] = ()
    """Blocks of the section that the first screen shows in its place."""


Strip = tuple[str, Sequence[Measure]]
"""A row of a dot chart: its name and its values."""


def strip_table(
    rows: Sequence[Strip],
    scale: tuple[float, float] | None = None,
    middle: float | None = None,
    *,
    title: str = "",
    name: str = "",
    legend: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Return a dot chart: each row has its value and interval, or its lowest and highest value, then its dots.

    Without a scale, shares run from 0 to 1 and other measures from 0 to the largest. `notes` has a text per row.
    """
    measures = [measure for _, values in rows for measure in values]
    scale = scale or _scale(measures)
    several = any(len(values) > 1 for _, values in rows)
    heads = (
        [Column("lowest"), Column("highest")] if several else [Column(measures[0].name if measures else "")]
    )
    columns = [Column("", "left"), *heads, Column("", "left", spare=True, scale=scale)]
    columns += [Column("", "left", tone="quiet")] if notes else []
    lines = []
    for position, (row, values) in enumerate(rows):
        known = sorted((m for m in values if m.value is not None and isfinite(m.value)), key=_value)
        ends = (known[0], known[-1]) if known else (None, None)
        part: Literal["value", "value and interval"] = "value" if several else "value and interval"
        numbers = [Number(end, part=part, instead="–") for end in (ends if several else ends[:1])]
        lines.append(Row([row, *numbers, Dots(values, scale, middle), *notes[position : position + 1]]))
    return Table(columns, lines, name, title, legend)


def _value(measure: Measure) -> float:
    return measure.value or 0.0


def _scale(measures: Sequence[Measure]) -> tuple[float, float]:
    values = [_value(measure) for measure in measures if isfinite(_value(measure))]
    ends = [end for measure in measures for end in measure.interval or () if isfinite(end)]
    shares = all(quantity(measure).unit == "share" for measure in measures)
    return min([0.0, *values, *ends]), max([1.0] if shares else [0.0, *values, *ends])


def to_read(sections: Sequence[Section]) -> list[Section]:
    """Return the sections for people, without those that are only for files."""
    return [section for section in sections if section.detail != "file"]


LABEL = "its label"
"""Means the label of a case in the words of a rule that takes it as an argument."""


def expected_words(case: Case) -> str:
    """Return the name of a case's label, or its rule in words."""
    rule, label = str(case.meta.get("expects", "")), label_words(case, case.labels[0]) if case.labels else ""
    if LABEL in rule:
        return rule.replace(LABEL, label)
    return label or rule


def label_words(case: Case | Heading, label: int | str) -> str:
    """Return the name of a label, if the case names its numbers."""
    names = case.meta.get("labels")
    if str(label).startswith("not_") and label not in (names or ()):
        return f"anything but {label_words(case, str(label).removeprefix('not_'))}"
    if str(label).isdecimal():
        return str(names[int(label)]) if names and int(label) < len(names) else str(label)
    return str(label)


def shown_cases(result: Result, cases: Sequence[Case]) -> list[ShownCase]:
    """Return cases of a result with their outcomes and the model's answers."""
    wanted = {case.id for case in cases}
    place = {name: position for position, name in enumerate(CaseTable.of(result.cases).ids) if name in wanted}
    column, changes = result.columns.get("said", ()), result.columns.get("change", ())
    shown = []
    for case in cases:
        position = place[case.id]
        answers, change = column[position] if column else (), changes[position] if changes else ""
        outcome = result.outcomes[position]
        shown.append(ShownCase(case, outcome, expected_words(case), answers, change=change or ""))
    return shown

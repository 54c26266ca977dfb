"""Sections of blocks: what to show, without layout.

    protocol.view ──► Section ──► Table, HeatMap, Curves, Strips, Bars, Scatter, CaseList, WeighedWords
                                  rendered by `render/` for terminal, HTML, Markdown, CSV and LaTeX

A block holds measures and words, never formatted numbers: `measures.py` has the digits, the renderer the colours. A
renderer that cannot draw a chart writes its data as a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from .records import Case, Measure, Outcome, Result

Tone = Literal["", "strong", "quiet", "good", "bad", "doubt", "first", "second", "third"]
"""The meaning of a text: strong or quiet; good, bad or in doubt; first to third for groups."""
Tones = Tone | tuple[Tone, ...]
"""One tone, or several: ("strong", "good"). A piece's tone overrides its column's, which overrides its row's."""


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text."""

    text: str
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure in a cell or sentence, without its unit."""

    measure: Measure | None
    """None for an empty cell."""
    tone: Tones = ""
    mark: str = ""
    """A symbol next to it, such as ▲; the block's legend explains it."""
    part: Literal["value", "interval", "value and interval", "n", "na", "errors", "bar"] = "value"
    """The part that is shown; a bar is the value with its interval on a scale from 0 to 1."""
    instead: str = ""
    """Shown if the value is undefined, instead of a dash."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Several values as dots on one scale."""

    measures: Sequence[Measure]
    scale: tuple[float, float]
    middle: float | None = None
    """The value of no effect; marked on the scale."""
    tone: Tones = "first"


Piece = Words | Number | Dots | str
Cell = Piece | Sequence[Words | Number | str]
"""One piece, or several in a row."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    """Line ends are kept if there is room."""
    align: Literal["left", "right"] = "right"
    """Left: words, which may wrap; right: numbers, which never do."""
    spare: bool = False
    """May be hidden if the terminal is too narrow; the renderer says so."""
    scale: tuple[float, float] | None = None
    """The ends of the scale, for a column of dots or bars."""
    tone: Tones = ""
    once: bool = False
    """A cell equal to the one above is left empty, except in CSV."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. Without cells it is a gap; with one cell it is a heading."""

    cells: Sequence[Cell] = ()
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of typed cells."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""
    """The name of its file, such as `cells`; empty if another file has the same data."""
    title: str = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A measure for each row and column, coloured by its value."""

    rows: Sequence[tuple[str, str]]
    """Name and block of each row: functionality and capability."""
    columns: Sequence[tuple[str, str]]
    """Name and block of each column: method and configuration."""
    cells: Mapping[tuple[int, int], Measure]
    """By row and column."""
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    kinds: Sequence[str] = ()
    """A word for each row next to its name, such as the test type; empty, or one per row."""
    baselines: int = 0
    """The number of baseline columns at the left; repeated if the columns are split."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart."""

    name: str
    points: Sequence[tuple[float, Measure]]
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over an axis, with their intervals as bands."""

    axis: str
    lines: Sequence[Line]
    marked: float | None = None
    """A marked place on the axis, such as the chosen epoch."""
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    mark: str = "chosen"
    """The label of the marked place."""


@dataclass(frozen=True, slots=True)
class Strips:
    """A strip per row with a dot per checkpoint."""

    rows: Sequence[tuple[str, Sequence[Measure]]]
    scale: tuple[float, float]
    middle: float | None = None
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar per measure."""

    bars: Sequence[tuple[str, Measure]]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    aside: Mapping[int, str] = field(default_factory=dict)
    """Text behind a bar by its position, such as the chance level."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """One measure against another, a point each."""

    axes: tuple[str, str]
    points: Sequence[tuple[str, Measure, Measure]]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    diagonal: bool = False
    """Whether to draw the line on which both are equal."""


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with its expectation, the model's answers and its outcome."""

    case: Case
    outcome: Outcome | None = None
    expected: str = ""
    """Without the word "expected": "negative", "the same answer"."""
    answers: Sequence[str] = ()
    """The model's answer to each example, such as "positive .98"; empty if not stored."""
    tone: Tones = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class CaseList:
    """Some cases, worst first; renderers highlight the edits between an original and its variants."""

    cases: Sequence[ShownCase]
    title: Cell = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """The texts of an example in pieces, each with its weight for the answer; None for pieces that are not words."""

    texts: Sequence[Sequence[tuple[str, float | None]]]
    about: Cell = ""
    """A heading above it."""
    answer: Cell = ""
    """The model's answer, below it."""

    def share(self, value: float | None) -> float:
        """Return the weight of a word from -1 to 1, relative to the largest."""
        sizes = [abs(size) for text in self.texts for _, size in text if size is not None and isfinite(size)]
        largest = max(sizes, default=0.0)
        return value / largest if value is not None and isfinite(value) and largest else 0.0


@dataclass(frozen=True, slots=True)
class WeighedWords:
    """Examples with weighted words; renderers distinguish signs by more than colour."""

    examples: Sequence[Weighed]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()


STRONG, WEAK = 0.5, 0.1
"""Shares of the largest weight: words above the first stand out, words below the second are plain."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    pieces: Sequence[Words | Number | str]


Block = Text | Table | HeatMap | Curves | Strips | Bars | Scatter | CaseList | WeighedWords


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: a title, a sentence or two, and blocks."""

    title: Cell = ""
    text: Cell = ""
    """The answer: what a reader in a hurry takes away."""
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    """Below the blocks: scope of the numbers, methods of intervals."""
    warnings: Sequence[str] = ()
    """Above the blocks: caveats that could change a decision."""
    detail: Literal["short", "full", "file"] = "short"
    """full: only with --full; file: only in exported files."""


def to_read(sections: Sequence[Section]) -> list[Section]:
    """Return the sections without those that are only for files."""
    return [section for section in sections if section.detail != "file"]


def expected_words(case: Case) -> str:
    """Return the expectation of a case in words: its label, or its rule."""
    if case.labels:
        return label_words(case, case.labels[0])
    return str(case.meta.get("expects", ""))


def label_words(case: Case, label: int | str) -> str:
    """Return the name of a label, if the cases map numbers to names."""
    names = case.meta.get("labels")
    if str(label).startswith("not_") and label not in (names or ()):
        return f"anything but {label_words(case, str(label).removeprefix('not_'))}"
    if str(label).isdecimal():
        label = int(label)
    return str(names[label]) if names and isinstance(label, int) and label < len(names) else str(label)


def shown_cases(result: Result, cases: Sequence[Case]) -> list[ShownCase]:
    """Return cases of a result with their outcomes and the model's answers."""
    wanted = {case.id for case in cases}
    place = {case.id: position for position, case in enumerate(result.cases) if case.id in wanted}
    said = result.columns.get("said", ())
    shown = []
    for case in cases:
        position = place[case.id]
        answers = said[position] if said else ()
        shown.append(ShownCase(case, result.outcomes[position], expected_words(case), answers))
    return shown

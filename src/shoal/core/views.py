"""What to show, not how: sections of blocks, each of which carries its data.

    protocol.view ──► Section ──► Table, HeatMap, Curves, Strips, Bars, Scatter, CaseList, WeighedWords
                                  rendered by `show/` in a terminal, by `report/` as HTML, and as Markdown, CSV, LaTeX

A block holds measures and words, never formatted numbers: how many digits a measure has is in `measures.py`, which
colour a tone has is the renderer's. Every picture has its table: a renderer that cannot draw writes the data out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from .records import Case, Measure, Outcome, Result

Tone = Literal["", "strong", "quiet", "good", "bad", "doubt", "first", "second", "third"]
"""How a text is meant: strong and quiet; good, bad, in doubt; first to third to tell groups apart."""
Tones = Tone | tuple[Tone, ...]
"""One tone, or several together: ("strong", "good"). A piece's own goes before its column's, that before its row's."""


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text."""

    text: str
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure in a cell or a sentence: the number alone, its unit stands in the words around it."""

    measure: Measure | None
    """None where there is none; shown as an empty cell."""
    tone: Tones = ""
    mark: str = ""
    """A sign beside it, such as ▲; the block's legend says what it means."""
    part: Literal["value", "interval", "value and interval", "n", "na", "errors", "bar"] = "value"
    """What of the measure is shown; a bar is its value on a scale from 0 to 1 with its interval."""
    instead: str = ""
    """Shown where the value is undefined, in the place of a dash: how far it is, why not."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Several values on one scale, one dot each, in a cell."""

    measures: Sequence[Measure]
    scale: tuple[float, float]
    middle: float | None = None
    """Where nothing would have been found; marked on the scale."""
    tone: Tones = "first"


Piece = Words | Number | Dots | str
Cell = Piece | Sequence[Words | Number | str]
"""What stands in a cell: one piece, or several one after the other."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    """A line end in it is kept where there is a choice."""
    align: Literal["left", "right"] = "right"
    """Left: words, which may fold; right: numbers, which never do."""
    spare: bool = False
    """May be left out where the room is narrow; a renderer that does says so."""
    scale: tuple[float, float] | None = None
    """For a column of dots or bars: the ends that its heading shows."""
    tone: Tones = ""
    once: bool = False
    """A cell that says the same as the one above it is left empty where people read; CSV repeats it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. A row without cells is a gap; one with a single cell is a heading inside the table."""

    cells: Sequence[Cell] = ()
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of typed cells."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""
    """For its file, such as `cells`; empty for a table that only shows what another file holds."""
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
    """A word for each row, beside its name: the test type. None, or as many as there are rows."""
    baselines: int = 0
    """The first so many columns are what the others are compared with; repeated where the columns are torn apart."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a picture: a measure at each place."""

    name: str
    points: Sequence[tuple[float, Measure]]
    tone: Tones = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over an axis, with their intervals as bands."""

    axis: str
    lines: Sequence[Line]
    marked: float | None = None
    """A place on the axis that is marked, such as the chosen epoch."""
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    mark: str = "chosen"
    """The word for the marked place."""


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
    """Words behind a bar, by its position: what chance would give."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """One measure against another, a point each."""

    axes: tuple[str, str]
    points: Sequence[tuple[str, Measure, Measure]]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()
    diagonal: bool = False
    """Whether a line shows where both are equal: for two measures of one scale."""


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case as it is shown: what was expected, what the model said of each example, how it went."""

    case: Case
    outcome: Outcome | None = None
    expected: str = ""
    """In words, without the word "expected": "negative", "the same answer"."""
    answers: Sequence[str] = ()
    """What the model said of each example, such as "positive .98"; empty where it is not kept."""
    tone: Tones = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class CaseList:
    """Some cases, worst first; renderers show the edit between an original and its variants."""

    cases: Sequence[ShownCase]
    title: Cell = ""
    legend: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """The texts of an example in pieces, each with how much it counted for the answer; None for what is no word."""

    texts: Sequence[Sequence[tuple[str, float | None]]]
    about: Cell = ""
    """What it is, above it."""
    answer: Cell = ""
    """What the model said, below it."""

    def share(self, value: float | None) -> float:
        """How much a word counted, from -1 to 1: the word that counted most has 1 or -1."""
        sizes = [abs(size) for text in self.texts for _, size in text if size is not None and isfinite(size)]
        largest = max(sizes, default=0.0)
        return value / largest if value is not None and isfinite(value) and largest else 0.0


@dataclass(frozen=True, slots=True)
class WeighedWords:
    """Some examples whose words counted for an answer or against it; renderers tell the two by more than colour."""

    examples: Sequence[Weighed]
    title: str = ""
    name: str = ""
    legend: Sequence[str] = ()


STRONG, WEAK = 0.5, 0.1
"""Shares of the word that counted most: words from the first on stand out, words below the second are left plain."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph: pieces one after the other."""

    pieces: Sequence[Words | Number | str]


Block = Text | Table | HeatMap | Curves | Strips | Bars | Scatter | CaseList | WeighedWords


@dataclass(frozen=True, slots=True)
class Section:
    """A part of what a protocol shows: a title, a sentence or two, and blocks."""

    title: Cell = ""
    text: Cell = ""
    """The answer first: what a reader in a hurry takes away."""
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    """Below the blocks: how far the numbers reach, how intervals were made."""
    warnings: Sequence[str] = ()
    """Before the blocks: what makes the numbers less than they seem."""
    detail: Literal["short", "full", "file"] = "short"
    """Full: only where everything is asked for, such as every functionality of every training. File: as files only."""


def to_read(sections: Sequence[Section]) -> list[Section]:
    """What is shown to people: without what is only for files."""
    return [section for section in sections if section.detail != "file"]


def expected_words(case: Case) -> str:
    """What is expected of a case: its label by name, or its rule in words."""
    if case.labels:
        return label_words(case, case.labels[0])
    return str(case.meta.get("expects", ""))


def label_words(case: Case, label: int | str) -> str:
    """A label's name, where the cases give names to numbers."""
    names = case.meta.get("labels")
    if str(label).startswith("not_") and label not in (names or ()):
        return f"anything but {label_words(case, str(label).removeprefix('not_'))}"
    if str(label).isdecimal():
        label = int(label)
    return str(names[label]) if names and isinstance(label, int) and label < len(names) else str(label)


def shown_cases(result: Result, cases: Sequence[Case]) -> list[ShownCase]:
    """Cases of a result with how they went and what the model said."""
    wanted = {case.id for case in cases}
    place = {case.id: position for position, case in enumerate(result.cases) if case.id in wanted}
    said = result.columns.get("said", ())
    shown = []
    for case in cases:
        position = place[case.id]
        answers = said[position] if said else ()
        shown.append(ShownCase(case, result.outcomes[position], expected_words(case), answers))
    return shown

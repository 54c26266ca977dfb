"""Lay out columns in a terminal so that nothing is cut off.

In a narrow terminal, headings break first, then words wrap, intervals go below their values, spare columns are hidden
and named, and finally the columns come in blocks, one below the other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rich.cells import cell_len, chop_cells
from rich.text import Text

COMFORTABLE, LONG_WORD, SHORT_WORD = 24, 40, 16
"""Characters: columns of words shrink to the first; words break from the second on, or, if need be, from the third."""
SEPARATORS = "_-/."
"""A long name breaks after one of these."""


@dataclass(frozen=True)
class ShownColumn:
    """A column as styled text, without a width."""

    title: str
    cells: Sequence[Text]
    """A cell per row, without gaps and headings."""
    align: Literal["left", "right"] = "right"
    folds: bool = False
    spare: bool = False
    tall: Sequence[Text] = ()
    """The cells with intervals below the values."""
    group: str = ""
    """A heading above the first column of a group."""

    @property
    def natural(self) -> int:
        """Return the width at which nothing breaks."""
        return max([self._content(), *map(cell_len, self.title.split("\n"))])

    def least(self, longest: int) -> int:
        """Return the smallest width: headings break between words, words wrap and break at this length."""
        content = self._content()
        if self.folds:
            word = max((cell_len(word) for cell in self.cells for word in cell.plain.split()), default=0)
            content = min(content, longest, max(COMFORTABLE, word))
        return max([content, *map(cell_len, self.title.split())])

    def _content(self) -> int:
        return max((cell_len(line) for cell in self.cells for line in cell.plain.split("\n")), default=0)


@dataclass(frozen=True)
class Grid:
    """Columns, and the headings between their rows."""

    columns: Sequence[ShownColumn]
    above: Mapping[int, Sequence[Text]] = field(default_factory=dict)
    """Headings and gaps by the position of the row below them."""
    gap: int = 2
    repeated: int = 1
    """The number of columns that every block repeats."""
    most: float = 1.0
    """The share of the width that these may take; of wider ones only the first is repeated."""


def lay_out(grid: Grid, width: int) -> list[Text]:
    """Return the lines, none wider than the terminal."""
    if not any(column.cells for column in grid.columns):
        return [Text("nothing to show", "dim")]
    kept, hidden = _fitting(grid, width)
    lines: list[Text] = []
    for block in _blocks(replace(grid, columns=kept), width):
        lines += [Text("")] if lines else []
        lines += _lines(replace(grid, columns=block), width)
    if hidden:
        names, plural = ", ".join(f'"{name}"' for name in hidden), "s" * (len(hidden) > 1)
        lines += fold(Text(f"Hidden column{plural} (terminal too narrow): {names}.", "dim"), width)
    return lines


def _fitting(grid: Grid, width: int) -> tuple[list[ShownColumn], list[str]]:
    """Return the shown columns, and the names of the hidden ones, which go from the right."""
    kept, hidden = list(grid.columns), list[str]()
    spare = [column for column in kept if column.spare]
    while True:
        tall = [
            replace(column, cells=column.tall, align="left") if column.tall else column for column in kept
        ]
        fitting = next((columns for columns in (kept, tall) if _need(columns, grid.gap) <= width), None)
        if fitting or not spare:
            return fitting or tall, list(dict.fromkeys(reversed(hidden)))
        last = spare.pop()
        hidden.append(" ".join(last.title.split()) or "unnamed")
        kept = [column for column in kept if column is not last]


def _need(columns: Sequence[ShownColumn], gap: int, longest: int = LONG_WORD) -> int:
    named = _with_groups(columns)
    return sum(column.least(longest) for column in named) + gap * max(0, len(named) - 1)


def _blocks(grid: Grid, width: int) -> Iterator[list[ShownColumn]]:
    """Yield the columns in as few blocks as possible; each repeats the first ones."""
    first = list(grid.columns[: grid.repeated])
    if _need(first, grid.gap, SHORT_WORD) > grid.most * width:
        first = first[:1]
    block: list[ShownColumn] = []
    for column in grid.columns[len(first) :]:
        if block and _need([*first, *block, column], grid.gap, SHORT_WORD) > width:
            yield first + block
            block = []
        block.append(column)
    yield first + block


def _with_groups(columns: Sequence[ShownColumn]) -> list[ShownColumn]:
    """Return the columns with the name of each group above its first column."""
    if not any(column.group for column in columns):
        return list(columns)
    before = ["", *(column.group for column in columns)]
    return [
        replace(column, title=f"{column.group if column.group != last else ''}\n{column.title}")
        for column, last in zip(columns, before, strict=False)
    ]


def _widths(columns: Sequence[ShownColumn], room: int) -> list[int]:
    """Return widths that fit; the remaining room goes to words, then to headings, from the left."""
    longest = LONG_WORD if _need(columns, 0) <= room else SHORT_WORD
    widths = [column.least(longest) for column in columns]
    while sum(widths) > max(room, len(widths)):
        widths[widths.index(max(widths))] -= 1
    spare = room - sum(widths)
    for i in sorted(range(len(columns)), key=lambda i: not columns[i].folds):
        more = max(0, min(spare, columns[i].natural - widths[i]))
        widths[i], spare = widths[i] + more, spare - more
    return widths


def _lines(grid: Grid, width: int) -> list[Text]:
    columns = _with_groups(grid.columns)
    widths = _widths(columns, width - grid.gap * (len(columns) - 1))
    titles = [fold(Text(column.title, "dim"), width) for column, width in zip(columns, widths, strict=True)]
    lines: list[Text] = []
    if any(line.plain for title in titles for line in title):
        height = max(map(len, titles))  # aligned at the bottom
        titles = [[Text("")] * (height - len(title)) + title for title in titles]
        lines = _side_by_side(columns, titles, widths, grid.gap)
    rows = max((len(column.cells) for column in columns), default=0)
    for row in range(rows + 1):
        for text in grid.above.get(row, ()):
            lines += fold(text, width)
        if row < rows:
            cells = [fold(column.cells[row], widths[i]) for i, column in enumerate(columns)]
            lines += _side_by_side(columns, cells, widths, grid.gap)
    return lines


def _side_by_side(
    columns: Sequence[ShownColumn], cells: Sequence[list[Text]], widths: Sequence[int], gap: int
) -> list[Text]:
    lines = []
    for number in range(max(map(len, cells), default=0)):
        line = Text()
        for i, column in enumerate(columns):
            text = cells[i][number].copy() if number < len(cells[i]) else Text("")
            text.align(column.align, max(widths[i], text.cell_len))
            line.append(" " * gap if i else "").append_text(text)
        line.rstrip()
        lines.append(line)
    return lines


def fold(text: Text, width: int, hang: int | None = None, *, whole: bool = False) -> list[Text]:
    """Wrap a text between words; lines after the first are indented by `hang`, or as the first one is.

    With `whole`, a word that is wider than the line stays whole, so that it can be copied.
    """
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        line.rstrip()
        start = len(line.plain) - len(line.plain.lstrip(" "))
        if line.cell_len <= width or not line.plain:
            lines.append(line)
            continue
        indent = min(start if hang is None else hang, max(0, width - 8))
        room = max(1, width - max(start, indent))
        content = line[start:]
        for number, part in enumerate(content.divide(_breaks(content.plain, room, whole=whole))):
            part.rstrip()
            lines.append(Text(" " * (indent if number else start)).append_text(part))
    return lines or [Text("")]


def _breaks(plain: str, width: int, *, whole: bool) -> list[int]:
    """Return the positions of line breaks: after a space, else after a separator, else where the line is full."""
    breaks, begin = [], 0
    while cell_len(plain[begin:]) > width:
        full = len(chop_cells(plain[begin:], width)[0]) or 1
        space = plain[begin : begin + full + 1].rfind(" ")
        if whole and space <= 0:
            space = plain.find(" ", begin + full) - begin
            if space <= 0:
                break
        separator = max(plain[begin : begin + full].rfind(sign) for sign in SEPARATORS)
        begin += next((cut + 1 for cut in (space, separator) if cut > 0), full)
        breaks.append(begin)
    return breaks

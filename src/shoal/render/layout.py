"""Lay out columns in a terminal so that nothing is cut off.

Where the room is too narrow, in this order: headings break, words fold, intervals go below their values, spare columns
are left out and named, and at last the columns come in blocks, one below the other.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

COMFORTABLE, LONG_WORD, LEAST = 24, 40, 16
"""Characters: words fold down to the first without another thought, are torn apart only from the second on, and a
column of words is never narrower than the third."""
HIGHEST = 4
"""Lines of a heading, where it is not narrower than its words."""
SEPARATORS = "_-/."
"""A name that is too long is torn after one of these, if it has any."""


@dataclass(frozen=True)
class ShownColumn:
    """A column in words and styles, its width still open."""

    title: str
    cells: Sequence[Text]
    """A cell per row; rows that are gaps or headings have none."""
    align: Literal["left", "right"] = "right"
    folds: bool = False
    spare: bool = False
    is_picture: bool = False
    name: str = ""
    """What it is called where it is left out."""
    tall: Sequence[Text] = ()
    """The cells with intervals below the values, for narrow terminals."""
    group: str = ""
    """Stands above the first of the columns that share it."""

    @property
    def natural(self) -> int:
        """The width at which nothing breaks."""
        return max([_width(self.cells), *(cell_len(line) for line in self.title.split("\n"))])

    def least(self, *, tear: bool) -> int:
        """The width down to which it may go; with `tear`, also through words."""
        heading = max(map(cell_len, self.title.split()), default=0)
        heading = min(heading, LEAST if tear else COMFORTABLE)
        if not self.folds:
            return max(min(_width(self.cells), LONG_WORD) if tear else _width(self.cells), heading)
        word = max((cell_len(word) for cell in self.cells for word in cell.plain.split()), default=0)
        floor = LEAST if tear else max(COMFORTABLE, min(word, LONG_WORD))
        return min(self.natural, max(floor, heading))


@dataclass(frozen=True)
class Grid:
    """Columns, and the lines between their rows."""

    columns: Sequence[ShownColumn]
    above: Mapping[int, Sequence[Text]] = field(default_factory=dict)
    """Headings and gaps by the position of the row below them."""
    gap: int = 2
    repeated: int = 1
    """How many columns every block begins with, where the columns come in blocks."""


def lay_out(grid: Grid, width: int) -> list[Text]:
    """The lines, none wider than the terminal."""
    if not any(column.cells for column in grid.columns):
        return [Text("nothing to show", "dim")]
    kept, left_out = _fitting(grid, width)
    lines: list[Text] = []
    for block in _blocks(replace(grid, columns=kept), width):
        lines += [Text("")] if lines else []
        lines += _lines(replace(grid, columns=block), width)
    if left_out:
        words = f"Hidden (terminal too narrow): {', '.join(left_out)}."
        lines += fold(Text(words, "dim"), width)
    return lines


def _fitting(grid: Grid, width: int) -> tuple[list[ShownColumn], list[str]]:
    """The columns that are shown, and the names of those that are left out."""
    flat = list(grid.columns)
    dropped: list[int] = []
    for leaving in [[], *_in_order_of_leaving(flat)]:
        dropped += leaving
        kept = [column for i, column in enumerate(flat) if i not in dropped]
        tall = [
            replace(column, cells=column.tall, align="left") if column.tall else column for column in kept
        ]
        for columns in (kept, tall):
            if _need(columns, grid.gap) <= width:
                return columns, _names(flat, dropped)
    return tall, _names(flat, dropped)


def _names(columns: Sequence[ShownColumn], dropped: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(columns[i].name or columns[i].title for i in sorted(dropped)))


def _in_order_of_leaving(columns: Sequence[ShownColumn]) -> list[list[int]]:
    """Pictures first and together, for they only repeat what the numbers say; then one by one from the right."""
    spare = [i for i, column in enumerate(columns) if column.spare]
    pictures = [i for i in spare if columns[i].is_picture]
    return [pictures] * bool(pictures) + [[i] for i in reversed(spare) if i not in pictures]


def _need(columns: Sequence[ShownColumn], gap: int, *, tear: bool = False) -> int:
    named = _with_groups(columns)
    return sum(column.least(tear=tear) for column in named) + gap * max(0, len(named) - 1)


def _blocks(grid: Grid, width: int) -> Iterator[list[ShownColumn]]:
    """The columns in as few blocks as fit; columns that share a group stay together where they can."""
    columns = list(grid.columns)
    if _need(columns, grid.gap, tear=True) <= width or len(columns) <= grid.repeated:
        yield columns
        return
    first, rest = columns[: grid.repeated], columns[grid.repeated :]

    def too_wide(members: Sequence[ShownColumn], *, tear: bool) -> bool:
        return _need([*first, *members], grid.gap, tear=tear) > width

    block: list[ShownColumn] = []
    for _, group in groupby(rest, key=lambda column: column.group):
        members = list(group)
        if block and too_wide([*block, *members], tear=False):
            yield first + block
            block = []
        for column in members:
            if block and too_wide([*block, column], tear=True):
                yield first + block
                block = []
            block.append(column)
    yield first + block


def _with_groups(columns: Sequence[ShownColumn]) -> list[ShownColumn]:
    """The columns with the name of their group above the first of each."""
    if not any(column.group for column in columns):
        return list(columns)
    named, last = [], ""
    for column in columns:
        above = column.group if column.group != last else ""
        named.append(replace(column, title=f"{above}\n{column.title}"))
        last = column.group
    return named


def _widths(columns: Sequence[ShownColumn], room: int) -> list[int]:
    """Headings on as few lines as the room allows; what is then left over mends words, from the left."""
    tear = sum(column.least(tear=False) for column in columns) > room
    least = [column.least(tear=tear) for column in columns]
    widths = least
    for height in range(1, HIGHEST + 1):
        widths = [
            width if column.folds else max(width, _heading_width(column.title, height))
            for column, width in zip(columns, least, strict=True)
        ]
        if sum(widths) <= room:
            break
    else:
        widths = least
    widths = list(widths)
    while sum(widths) > max(room, len(widths)):
        widths[widths.index(max(widths))] -= 1
    spare = room - sum(widths)
    for i, column in enumerate(columns):
        more = max(0, min(spare, column.natural - widths[i])) if column.folds else 0
        widths[i], spare = widths[i] + more, spare - more
    return widths


def _heading_width(title: str, height: int) -> int:
    """How wide a column must be for its heading to have at most so many lines, or as few as it can have."""
    whole = max(map(cell_len, title.split("\n")))
    word = max(map(cell_len, title.split()), default=0)
    lines = max(height, 1 + title.count("\n"))
    widths = range(word, whole)
    return word + bisect_left(widths, True, key=lambda width: len(fold(Text(title), width)) <= lines)


def _lines(grid: Grid, width: int) -> list[Text]:
    columns = _with_groups(grid.columns)
    widths = _widths(columns, width - grid.gap * (len(columns) - 1))
    lines = _heading(columns, widths, grid.gap)
    rows = max((len(column.cells) for column in columns), default=0)
    for row in range(rows + 1):
        for text in grid.above.get(row, ()):
            lines += fold(text, width)
        if row < rows:
            cells = [fold(column.cells[row], widths[i]) for i, column in enumerate(columns)]
            lines += _side_by_side(columns, cells, widths, grid.gap)
    return lines


def _heading(columns: Sequence[ShownColumn], widths: Sequence[int], gap: int) -> list[Text]:
    """The titles on the lowest of their lines; nothing where no column has one."""
    titles = [fold(Text(column.title, "dim"), widths[i]) for i, column in enumerate(columns)]
    if not any(line.plain for title in titles for line in title):
        return []
    height = max(map(len, titles))
    return _side_by_side(
        columns, [[Text("")] * (height - len(title)) + title for title in titles], widths, gap
    )


def _side_by_side(
    columns: Sequence[ShownColumn], cells: Sequence[list[Text]], widths: Sequence[int], gap: int
) -> list[Text]:
    lines = []
    for number in range(max(map(len, cells), default=0)):
        line = Text()
        for i, column in enumerate(columns):
            text = cells[i][number] if number < len(cells[i]) else Text("")
            missing = " " * max(0, widths[i] - text.cell_len)
            line.append(" " * gap if i else "")
            line.append(missing if column.align == "right" else "")
            line.append_text(text)
            line.append(missing if column.align == "left" else "")
        line.rstrip()
        lines.append(line)
    return lines


def _width(cells: Sequence[Text]) -> int:
    return max((cell_len(line) for cell in cells for line in cell.plain.split("\n")), default=0)


# Folding


def fold(text: Text, width: int, hang: int | None = None) -> list[Text]:
    """The text in lines no wider than this: broken between words, then after a separator, then anywhere.

    Lines after the first are indented by `hang`, or as the first one is.
    """
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        start = len(line.plain) - len(line.plain.lstrip(" "))
        indent = min(start if hang is None else hang, max(0, width - 8))
        for number, part in enumerate(line.divide(_breaks(line.plain, max(1, width), indent, start))):
            part.rstrip()
            lines.append(Text(" " * indent).append_text(part) if number else part)
    return lines or [Text("")]


def _breaks(plain: str, width: int, indent: int, start: int) -> list[int]:
    """Where lines begin anew."""
    if cell_len(plain) <= width:
        return []
    breaks: list[int] = []
    begin, used = start, 0
    after_space = after_separator = 0
    for position, letter in enumerate(plain):
        size = cell_len(letter)
        while used + size > width and letter != " " and position > begin:
            cut = next((c for c in (after_space, after_separator) if c > begin), position)
            breaks.append(cut)
            begin, used = cut, indent + cell_len(plain[cut:position])
        used += size
        if position >= start:
            after_space = position + 1 if letter == " " else after_space
            after_separator = position + 1 if letter in SEPARATORS else after_separator
    return breaks

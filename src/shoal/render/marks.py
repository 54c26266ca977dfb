"""Numbers drawn with characters: bars, strips of dots, a plot."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from ..core.measures import quantity, shown
from ..core.records import Measure
from .pieces import is_defined

BAR = 24
"""Characters of a bar in a table."""
STRIP = 29
"""Of a strip of dots; odd, so that there is a middle."""
PLOT = (60, 15)
"""Columns and lines of a plot, at most."""

Scale = tuple[float, float]


def place(value: float, scale: Scale, steps: int) -> int:
    """Which of so many steps a value stands on; beyond the ends, the end."""
    share = (value - scale[0]) / ((scale[1] - scale[0]) or 1.0)
    return min(steps, max(0, round(share * steps)))


def bar(
    measure: Measure, style: str, width: int, scale: Scale, *, rest: str = "", solid: bool = False
) -> Text:
    """The value as a bar, the interval as a lighter stretch around its end; from 0, on a scale that goes below it."""
    if not is_defined(measure) or measure.value is None:
        return Text("")
    low, high = (measure.value, measure.value) if solid or not measure.interval else measure.interval
    zero = place(0.0, scale, width)
    start, end = place(low, scale, width), place(high, scale, width)
    cells = [(rest or " ", "dim")] * width
    for position in range(width):
        if min(zero, start, end) <= position < max(zero, start, end):
            cells[position] = ("█", style)
        if start <= position < end:
            cells[position] = ("▒", style)
    text = _joined(cells)
    if not rest:
        text.rstrip()
    return text


def stretch(measures: Sequence[Measure]) -> Scale:
    """A scale for bars that stand together: shares up to all, others up to the largest; down to 0 or below."""
    values = [row.value for row in measures if row.value is not None and is_defined(row)]
    ends = [end for row in measures if row.interval for end in row.interval]
    shares = all(quantity(row).unit == "share" and not quantity(row).signed for row in measures)
    return min([0.0, *values, *ends]), max([1.0] if shares else [0.0, *values, *ends])


def strip(
    values: Sequence[float], interval: Scale | None, scale: Scale, middle: float | None, style: str
) -> Text:
    """Values on a scale: ● for each, a digit where several meet (+ from ten on), ‹ › beyond the ends, │ the middle."""
    last = STRIP - 1
    cells = [("·", "dim")] * STRIP
    if interval:
        for position in range(place(interval[0], scale, last), place(interval[1], scale, last) + 1):
            cells[position] = ("─", style)
    if middle is not None:
        cells[place(middle, scale, last)] = ("│", "dim")
    for position, many in Counter(place(value, scale, last) for value in values).items():
        cells[position] = ("●" if many == 1 else str(many) if many < 10 else "+", f"bold {style}".strip())
    if any(value < scale[0] for value in values):
        cells[0] = ("‹", f"bold {style}".strip())
    if any(value > scale[1] for value in values):
        cells[last] = ("›", f"bold {style}".strip())
    return _joined(cells)


def _joined(cells: Sequence[tuple[str, str]]) -> Text:
    """Characters with their styles as one text; neighbours of one style together."""
    stretches = groupby(cells, key=lambda cell: cell[1])
    return Text.assemble(*(("".join(letter for letter, _ in part), style) for style, part in stretches))


def plot(points: Sequence[tuple[Measure, Measure]], axes: tuple[str, str], width: int) -> list[Text]:
    """Points on a plane; the second axis goes up. Nothing where there are no points."""
    if not points:
        return []
    across, up = ([point[axis].value or 0.0 for point in points] for axis in (0, 1))
    spans = (min(across), max(across)), (min(up), max(up))
    columns, height = min(PLOT[0], width - 12), PLOT[1]
    many = Counter(
        (place(x, spans[0], columns - 1), place(y, spans[1], height - 1))
        for x, y in zip(across, up, strict=True)
    )
    (low, high), (bottom, top) = (
        [shown(end, quantity(points[0][axis])) for end in spans[axis]] for axis in (0, 1)
    )
    margin = max(len(bottom), len(top))
    lines = [Text(axes[1], "dim")]
    for y in reversed(range(height)):
        label = top if y == height - 1 else bottom if y == 0 else ""
        line = Text(f"{label:>{margin}} │", "dim")
        for x in range(columns):
            count = many[x, y]
            line.append(
                " " if not count else "●" if count == 1 else str(count) if count < 10 else "+", "not dim cyan"
            )
        line.rstrip()
        lines.append(line)
    lines.append(Text(f"{'':>{margin}} └{'─' * columns}", "dim"))
    room = columns - len(low) - len(high)
    name = axes[0] if len(axes[0]) <= room - 2 else ""
    lines.append(Text(f"{'':>{margin}}  {low}{name:^{room}}{high}", "dim"))
    lines += [] if name else [Text(f"{'':>{margin}}  {axes[0]}", "dim")]
    return lines

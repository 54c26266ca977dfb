"""Pictures for a paper: every heat map, curve, strip, bar and scatter as PDF and SVG, drawn by matplotlib.

To draw a new kind of block: write a function from block and axes, and add it to FIGURES. The same data give the same
bytes: no date is written, and the names inside an SVG are derived from its content.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from ..core.errors import MissingExtra
from ..core.files import refusing, replacing
from ..core.measures import quantity
from ..core.records import Measure
from ..core.views import (
    WEAK,
    Bars,
    Curves,
    Dots,
    HeatMap,
    Scatter,
    Section,
    Strips,
    Table,
    Tones,
    WeighedWords,
)
from .pieces import is_defined, pieces_of, place_text, plain, value_text
from .printable import on_one_line
from .tabled import cell_of, is_full

INK, QUIET = "#1c2127", "#56606b"
COLOURS = ("#1c67a8", "#d96818", "#0b6e66", "#7a3f9d", "#855c00", "#646d76")
"""Apart from each other for colour-blind eyes and, with their strokes, in grey."""
STROKES = ("-", "--", ":", "-.", (0, (8, 2)), (0, (1, 3)))
TONES = {"first": 0, "second": 2, "third": 5, "bad": 1, "doubt": 4, "good": 2, "quiet": 5}
"""Tone to its colour."""
SETTINGS: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "ytick.color": INK,
    "svg.hashsalt": "shoal",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def draw_figures(sections: Sequence[Section], folder: Path) -> int:
    """Write each picture as NAME.pdf and NAME.svg; how many there were."""
    try:
        import matplotlib
    except ModuleNotFoundError as problem:
        raise MissingExtra("matplotlib", extra="plots", needed_for="figures") from problem
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    with matplotlib.rc_context(SETTINGS):
        for block in pictures_of(sections):
            name = _free(_file_name(block), taken)
            taken.add(name)
            figure = _drawn(block)
            _save(figure, folder / f"{name}.svg", {"Date": None, "Creator": "shoal"})
            _save(figure, folder / f"{name}.pdf", {"CreationDate": None, "Creator": "shoal"})
    return len(taken)


def _save(figure: Any, path: Path, metadata: Mapping[str, str | None]) -> None:
    """Draw in memory first: matplotlib's PDF writer hides a full disk behind errors of its own."""
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata=metadata)
    with replacing(path) as beside:
        beside.write_bytes(drawn.getvalue())


def pictures_of(sections: Sequence[Section]) -> list[Any]:
    """Every block that is a picture and has something to draw; of a table with dots, the dots."""
    blocks: list[Any] = []
    for section in sections:
        about = plain(section.title).partition("\n")[0]
        for block in section.blocks:
            drawn = _strips_of(block, about) if isinstance(block, Table) else block
            if type(drawn) in FIGURES and any(map(is_defined, _measures(drawn))):
                blocks.append(drawn)
    return blocks


def _strips_of(table: Table, about: str) -> Strips | None:
    """The dots of a table as a picture of their own."""
    rows, scale, middle = [], None, None
    for row in table.rows:
        if not is_full(row, table):
            continue
        dots = [piece for cell in row.cells for piece in pieces_of(cell) if isinstance(piece, Dots)]
        if dots:
            rows.append((plain(cell_of(row, 0)).strip(" ▲▼"), dots[0].measures))
            scale, middle = dots[0].scale, dots[0].middle
    return None if scale is None else Strips(rows, scale, middle, table.title or about, table.name)


def _measures(block: Any) -> list[Measure]:
    if isinstance(block, HeatMap):
        return list(block.cells.values())
    if isinstance(block, Curves):
        return [measure for line in block.lines for _, measure in line.points]
    if isinstance(block, Strips):
        return [measure for _, measures in block.rows for measure in measures]
    if isinstance(block, Bars):
        return [measure for _, measure in block.bars]
    if isinstance(block, WeighedWords):
        return [Measure("attribution", value, 1) for _, value in _weighed(block)]
    return [y for _, x, y in block.points if is_defined(x)]


def _file_name(block: Any) -> str:
    words = block.name or block.title or type(block).__name__
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60] or "figure"


def _free(name: str, taken: set[str]) -> str:
    names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken)


def _drawn(block: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZES[type(block)](block), layout="constrained")
    axes = figure.add_subplot()
    FIGURES[type(block)](block, axes)
    if block.title:
        axes.set_title(_text(block.title), loc="left", fontsize=9, color=INK)
    return figure


def _text(text: str) -> str:
    """Text of the data, which matplotlib would else read as mathematics."""
    return on_one_line(" ".join(text.split())).replace("$", r"\$")


LONGEST = 44
"""Letters of a name beside a picture; of a longer one the middle is left out: the end of a path tells files apart."""


def _name(name: str) -> str:
    return _text(_short(name))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 3]}…{name[-2 * LONGEST // 3 :]}"


def _scaled(measure: Measure, value: float | None = None) -> float:
    """A value as it is shown: shares in per cent."""
    number = measure.value if value is None else value
    return (number or 0.0) * (100 if quantity(measure).unit == "share" else 1)


def _unit(measure: Measure) -> str:
    return f"{measure.name} (%)" if quantity(measure).unit == "share" else measure.name


def _errors(measure: Measure) -> list[list[float]] | None:
    """How far the interval reaches to both sides."""
    if measure.interval is None:
        return None
    value = _scaled(measure)
    low, high = (_scaled(measure, end) for end in measure.interval)
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def _colour(tone: Tones, number: int) -> str:
    names = (tone,) if isinstance(tone, str) else tone
    place = next((TONES[name] for name in names if name in TONES), number)
    return COLOURS[place % len(COLOURS)]


# Kinds of pictures


def draw_heat_map(block: HeatMap, axes: Any) -> None:
    """Cells coloured as on the page, their values inside."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    values = np.full((len(block.rows), len(block.columns)), np.nan)
    for place, measure in block.cells.items():
        values[place] = _scaled(measure) if is_defined(measure) else np.nan
    shades = LinearSegmentedColormap.from_list("shoal", ["#ecb38b", "#ffffff", "#8db3d3"])
    shares = all(quantity(measure).unit == "share" for measure in block.cells.values())
    signed = any(quantity(measure).signed for measure in block.cells.values())
    ends = {"vmin": -100 if signed else 0, "vmax": 100} if shares else {}
    axes.imshow(values, cmap=shades, aspect="auto", **ends)
    for (i, j), measure in block.cells.items():
        text = f"{_scaled(measure):.0f}" if shares and is_defined(measure) else value_text(measure)
        axes.text(j, i, text.replace("-", "−"), ha="center", va="center", fontsize=6, color=INK)
    names = [_name(f"{group} {name}".strip()) for name, group in block.columns]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    kinds = block.kinds or [""] * len(block.rows)
    rows = [_name(f"{name}  {kind}".strip()) for (name, _), kind in zip(block.rows, kinds, strict=True)]
    axes.set_yticks(range(len(rows)), rows)
    groups = [group for _, group in block.rows]
    for i in range(1, len(groups)):
        if groups[i] != groups[i - 1]:
            axes.axhline(i - 0.5, color=INK, linewidth=0.6)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_curves(block: Curves, axes: Any) -> None:
    """Lines with their bands; a gap in the data is a gap in the line."""
    for number, line in enumerate(block.lines):
        points = sorted((point for point in line.points), key=lambda point: point[0])
        places = [place for place, _ in points]
        values = [_scaled(row) if is_defined(row) else float("nan") for _, row in points]
        colour = _colour(line.tone, number)
        style = {"color": colour, "linestyle": STROKES[number % len(STROKES)], "linewidth": 1.4}
        axes.plot(places, values, marker="o", markersize=2.5, label=_name(line.name), **style)
        known = [(place, row) for place, row in points if is_defined(row) and row.interval is not None]
        if len(known) > 1:
            low, high = ([_scaled(row, (row.interval or (0, 0))[end]) for _, row in known] for end in (0, 1))
            axes.fill_between([place for place, _ in known], low, high, color=colour, alpha=0.1, linewidth=0)
    if block.marked is not None:
        axes.axvline(block.marked, color=QUIET, linewidth=0.8, linestyle=":", label=_text(block.mark))
    places = sorted({place for line in block.lines for place, _ in line.points})
    if len(places) <= FEW_PLACES:
        axes.set_xticks(places, [place_text(place) for place in places])
    axes.set_xlabel(_text(block.axis))
    names = {_unit(row) for line in block.lines for _, row in line.points}
    axes.set_ylabel(_text(names.pop()) if len(names) == 1 else "%" if _all_shares(block) else "")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _all_shares(block: Curves) -> bool:
    return all(quantity(row).unit == "share" for line in block.lines for _, row in line.points)


def draw_strips(block: Strips, axes: Any) -> None:
    """A row of dots per name; a single one with its interval."""
    first = next(measure for _, measures in block.rows for measure in measures)
    for i, (_, measures) in enumerate(block.rows):
        known = [measure for measure in measures if is_defined(measure)]
        if len(known) == 1:
            axes.errorbar(
                [_scaled(known[0])],
                [i],
                xerr=_errors(known[0]),
                fmt="o",
                markersize=4,
                color=COLOURS[0],
                clip_on=not _inside(known, block.scale),
            )
        else:
            axes.plot(
                [_scaled(row) for row in known],
                [i] * len(known),
                "o",
                markersize=4,
                alpha=0.7,
                color=COLOURS[0],
                clip_on=not _inside(known, block.scale),
            )
    if block.middle is not None:
        axes.axvline(_scaled(first, block.middle), color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_xlim(_scaled(first, block.scale[0]), _scaled(first, block.scale[1]))
    _named_rows(axes, [_short(name) for name, _ in block.rows])
    axes.set_xlabel(_text(_unit(first)))


def _inside(measures: Sequence[Measure], scale: tuple[float, float]) -> bool:
    return all(scale[0] <= (measure.value or 0.0) <= scale[1] for measure in measures)


def draw_bars(block: Bars, axes: Any) -> None:
    """A bar per name with its interval, and the words beside it."""
    for i, (_, measure) in enumerate(block.bars):
        if is_defined(measure):
            axes.barh(i, _scaled(measure), height=0.6, color=COLOURS[0], alpha=0.75)
            if measure.interval is not None:
                axes.errorbar(
                    [_scaled(measure)], [i], xerr=_errors(measure), fmt="none", ecolor=INK, linewidth=1
                )
    _named_rows(axes, _names_of_bars(block))
    axes.set_xlabel(_text(_unit(block.bars[0][1])))


def _names_of_bars(block: Bars) -> list[str]:
    asides = [block.aside.get(i, "") for i in range(len(block.bars))]
    return [
        f"{_short(name)}  ({aside})" if aside else _short(name)
        for (name, _), aside in zip(block.bars, asides, strict=True)
    ]


def draw_scatter(block: Scatter, axes: Any) -> None:
    """A point each, named where they are few."""
    known = [(name, x, y) for name, x, y in block.points if is_defined(x) and is_defined(y)]
    axes.plot(
        [_scaled(x) for _, x, _ in known],
        [_scaled(y) for _, _, y in known],
        "o",
        markersize=4,
        color=COLOURS[0],
        alpha=0.7,
    )
    if len(known) <= NAMED_POINTS:
        for name, x, y in known:
            axes.annotate(
                _name(name), (_scaled(x), _scaled(y)), xytext=(4, 3), textcoords="offset points", fontsize=6
            )
    if block.diagonal:
        axes.axline((0, 0), slope=1, color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_xlabel(_name(block.axes[0]))
    axes.set_ylabel(_name(block.axes[1]))


NAMED_POINTS, FEW_PLACES = 20, 12


def _named_rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_text(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def _inches(names: Sequence[str]) -> float:
    """How much room the longest of some names takes."""
    return 0.085 * max(map(len, names), default=0)


def _in_rows(names: Sequence[str]) -> tuple[float, float]:
    return max(5.5, 3.5 + _inches(names)), 1.2 + 0.22 * len(names)


def _heat_map_size(block: HeatMap) -> tuple[float, float]:
    kinds = block.kinds or [""] * len(block.rows)
    columns = [_short(f"{group} {name}") for name, group in block.columns]
    across = _inches(columns)  # at a slant: room to the left, and below
    beside = _inches([_short(f"{name}  {kind}") for (name, _), kind in zip(block.rows, kinds, strict=True)])
    width = max(2.6, 1.2 + max(beside, across)) + 0.42 * len(block.columns)
    return width, max(1.2, 1.2 + 0.8 * across) + 0.17 * len(block.rows)


def draw_weighed(block: WeighedWords, axes: Any) -> None:
    """Each text in its words: those for the answer on blue and framed, those against it on orange, framed by dots."""
    axes.set_axis_off()
    for number, line in enumerate(_lines(block)):
        for x, word, share in line:
            plain_word = share is None or abs(share) < WEAK
            side = 0 if (share or 0.0) > 0 else 1
            frame = {
                "boxstyle": "square,pad=0.1",
                "facecolor": (*_rgb(COLOURS[side]), 0.45 * abs(share or 0.0)),
                "edgecolor": COLOURS[side],
                "linestyle": STROKES[2 * side],
                "linewidth": 0.7,
            }
            axes.annotate(
                _text(word),
                (0, 1),
                (x, -LINE * (number + 1)),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=8,
                color=QUIET if share is None and line[0][2] is None else INK,
                bbox=None if plain_word else frame,
            ).set_in_layout(False)


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


LINE, ACROSS = 17.0, 380.0
"""Points from line to line, and across."""


Placed = tuple[float, str, float | None]
"""Where a word stands, in points from the left; the word; its share, None for what is said about the text."""


def _lines(block: WeighedWords) -> list[list[Placed]]:
    """What stands in each line: above each example what it is, then its texts, then the answer."""
    lines: list[list[Placed]] = []
    for example in block.examples:
        lines += _broken([(plain(example.about), None)])
        for text in example.texts:
            lines += _broken([(word, example.share(value)) for word, value in text])
        lines += [*_broken([(plain(example.answer), None)]), []]
    return lines[:-1]


def _broken(pieces: Sequence[tuple[str, float | None]]) -> list[list[Placed]]:
    """Words one after the other, in a new line where one is full."""
    lines: list[list[Placed]] = [[]]
    x = 0.0
    for piece, share in pieces:
        word = piece.strip()
        wide = _points(word) if word else 0.0
        if lines[-1] and x + wide > ACROSS:
            lines.append([])
            x = 0.0
        x += BLANK * (len(piece) - len(piece.lstrip())) if lines[-1] else 0.0
        if word:
            lines[-1].append((x, word, share))
            x += wide + BLANK * (len(piece) - len(piece.rstrip()))
    return [line for line in lines if line]


BLANK = 3.4


def _points(word: str) -> float:
    """How wide a word is, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(word, FontProperties(size=8), False)[0])


def _weighed(block: WeighedWords) -> list[tuple[str, float]]:
    return [
        (word, value)
        for example in block.examples
        for text in example.texts
        for word, value in text
        if value is not None
    ]


FIGURES: Mapping[type, Callable[[Any, Any], None]] = {
    HeatMap: draw_heat_map,
    Curves: draw_curves,
    Strips: draw_strips,
    Bars: draw_bars,
    Scatter: draw_scatter,
    WeighedWords: draw_weighed,
}
"""Kind of picture to what draws it."""

SIZES: Mapping[type, Callable[[Any], tuple[float, float]]] = {
    HeatMap: _heat_map_size,
    Curves: lambda block: (5.5, 3.0),
    Strips: lambda block: _in_rows([_short(name) for name, _ in block.rows]),
    Bars: lambda block: _in_rows(_names_of_bars(block)),
    Scatter: lambda block: (4.0, 3.2),
    WeighedWords: lambda block: (5.5, 0.5 + len(_lines(block)) * LINE / 72),
}
"""Kind of picture to its width and height in inches."""

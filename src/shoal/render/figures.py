"""Figures for a paper: every heat map, curve, dot chart and scatter plot as PDF and SVG, drawn by matplotlib.

To draw a new kind of block: write a function from block and axes, and add it to FIGURES. The same data give the same
bytes: files contain no date, and names inside an SVG are derived from its content.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from ..core.errors import MissingExtra
from ..core.files import refusing, replacing
from ..core.measures import quantity
from ..core.records import Measure
from ..core.text import on_one_line
from ..core.views import Curves, Dots, HeatMap, Scatter, Section, Table, Tones
from .tables import (
    SYMBOLS,
    cell_of,
    free_name,
    is_defined,
    is_full,
    pieces_of,
    place_text,
    plain,
    tones_of,
    value_text,
)

INK, QUIET = "#1c2127", "#56606b"
COLOURS = ("#1c67a8", "#d96818", "#0b6e66", "#7a3f9d", "#855c00", "#646d76")
"""Distinguishable for colour-blind readers and, with their strokes, in grey."""
STROKES = ("-", "--", ":", "-.", (0, (8, 2)), (0, (1, 3)))
LONGEST, NAMED_POINTS, FEW_PLACES = 44, 20, 12
"""Characters of a name; points that are named; places on an axis that each get a tick."""
TONES = {"first": 0, "second": 2, "third": 5, "bad": 1, "doubt": 4, "good": 2, "quiet": 5}
"""The colour of each tone."""
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
    """Write each figure as NAME.pdf and NAME.svg, and return their number."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise MissingExtra("matplotlib", needed_for="figures") from problem
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    with matplotlib.rc_context(SETTINGS):
        for block in charts_of(sections):
            words = block.name or block.title or type(block).__name__
            slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60] or "figure"
            taken.add(name := free_name(slug, taken, "-"))
            draw, size = FIGURES[type(block)]
            figure = Figure(figsize=size(block))
            axes = figure.add_subplot()
            draw(block, axes)
            if block.title:
                axes.set_title(_text(block.title), loc="left", fontsize=9, color=INK)
            _save(figure, folder / f"{name}.svg", {"Date": None, "Creator": "shoal"})
            _save(figure, folder / f"{name}.pdf", {"CreationDate": None, "Creator": "shoal"})
    return len(taken)


def _save(figure: Any, path: Path, metadata: Mapping[str, str | None]) -> None:
    """Draw in memory first: matplotlib's PDF writer hides a full disk behind errors of its own."""
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata=metadata, bbox_inches="tight")
    with replacing(path) as beside:
        beside.write_bytes(drawn.getvalue())


def charts_of(sections: Sequence[Section]) -> list[Any]:
    """Return every block that is a chart, or a table with dots, and has a defined value."""
    charts: list[Any] = []
    for section in sections:
        title = plain(section.title).partition("\n")[0]
        for block in section.blocks:
            if type(block) in FIGURES and any(map(is_defined, _measures(block))):
                is_untitled = isinstance(block, Table) and not block.title
                charts.append(replace(block, title=title) if is_untitled else block)  # type: ignore[arg-type]
    return charts


def _dots_of(table: Table) -> list[tuple[str, Dots]]:
    """Return the dots of each row of a table, with the row's name."""
    rows = []
    for row in table.rows:
        pieces = [piece for cell in row.cells for piece in pieces_of(cell)] if is_full(row, table) else []
        dots = [piece for piece in pieces if isinstance(piece, Dots)]
        rows += [(plain(cell_of(row, 0)).strip(SYMBOLS), dots[0])] if dots else []
    return rows


def _measures(block: Any) -> list[Measure]:
    if isinstance(block, HeatMap):
        return list(block.cells.values())
    if isinstance(block, Curves):
        return [measure for line in block.lines for _, measure in line.points]
    if isinstance(block, Table):
        return [measure for _, dots in _dots_of(block) for measure in dots.measures]
    return [y for _, x, y in block.points if is_defined(x)]


def _text(text: str) -> str:
    """Escape text that matplotlib would read as mathematics."""
    return on_one_line(" ".join(text.split())).replace("$", r"\$")


def _name(name: str) -> str:
    """Return a name without its middle if it is long, because the end of a path identifies a file."""
    return _text(name if len(name) <= LONGEST else f"{name[: LONGEST // 3]}…{name[-2 * LONGEST // 3 :]}")


def _scaled(measure: Measure, value: float | None = None) -> float:
    """Return a value in its unit: shares in per cent."""
    number = measure.value if value is None else value
    return (number or 0.0) * (100 if quantity(measure).unit == "share" else 1)


def _unit(measure: Measure) -> str:
    return f"{measure.name} (%)" if quantity(measure).unit == "share" else measure.name


def _errors(measure: Measure) -> list[list[float]] | None:
    """Return the distances to both ends of the interval."""
    if measure.interval is None:
        return None
    low, high = (_scaled(measure, end) - _scaled(measure) for end in measure.interval)
    return [[max(0.0, -low)], [max(0.0, high)]]


def _colour(tone: Tones, number: int) -> str:
    place = next((TONES[name] for name in tones_of(tone) if name in TONES), number)
    return COLOURS[place % len(COLOURS)]


# Kinds of figures


def draw_heat_map(block: HeatMap, axes: Any) -> None:
    """Draw cells coloured by value, with the value inside."""
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
        text = "\n".join(filter(None, (text, block.marks.get((i, j)))))
        axes.text(j, i, text.replace("-", "−"), ha="center", va="center", fontsize=6, color=INK)
    kinds = block.kinds or [""] * len(block.rows)
    rows = [_name(f"{name}  {kind}".strip()) for (name, _), kind in zip(block.rows, kinds, strict=True)]
    columns = [_name(f"{group} {name}".strip()) for name, group in block.columns]
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    groups = [group for _, group in block.rows]
    for i in range(1, len(groups)):
        if groups[i] != groups[i - 1]:
            axes.axhline(i - 0.5, color=INK, linewidth=0.6)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_curves(block: Curves, axes: Any) -> None:
    """Draw lines with their bands; missing data leave a gap."""
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
        axes.axvline(block.marked, color=QUIET, linewidth=0.8, linestyle=":", label="chosen")
    places = sorted({place for line in block.lines for place, _ in line.points})
    if len(places) <= FEW_PLACES:
        axes.set_xticks(places, [place_text(place) for place in places])
    axes.set_xlabel(_text(block.axis))
    measures = [row for line in block.lines for _, row in line.points]
    names, shares = set(map(_unit, measures)), all(quantity(row).unit == "share" for row in measures)
    axes.set_ylabel(_text(names.pop()) if len(names) == 1 else "%" if shares else "")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw_dots(block: Table, axes: Any) -> None:
    """Draw a row of dots per name; a single one with its interval, a change as hollow and filled dots."""
    rows = _dots_of(block)
    first = next(measure for _, dots in rows for measure in dots.measures)
    scale, middle = rows[0][1].scale, rows[0][1].middle
    for i, (_, dots) in enumerate(rows):
        known = [measure for measure in dots.measures if is_defined(measure)]
        values = [_scaled(measure) for measure in known]
        is_inside = all(scale[0] <= (measure.value or 0.0) <= scale[1] for measure in known)
        style = {"markersize": 4, "color": COLOURS[0], "clip_on": not is_inside}
        if len(known) == 1:
            axes.errorbar(values, [i], xerr=_errors(known[0]), fmt="o", **style)
        elif dots.change:
            axes.plot(values, [i] * len(known), "-", **style)
            axes.plot(values[:1], [i], "o", markerfacecolor="white", **style)
            axes.plot(values[1:], [i] * (len(known) - 1), "o", **style)
        else:
            axes.plot(values, [i] * len(known), "o", alpha=0.7, **style)
    if middle is not None:
        axes.axvline(_scaled(first, middle), color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_xlim(_scaled(first, scale[0]), _scaled(first, scale[1]))
    axes.set_yticks(range(len(rows)), [_name(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_text(_unit(first)))


def draw_scatter(block: Scatter, axes: Any) -> None:
    """Draw a point for each name, with the names if there are few."""
    known = [(name, x, y) for name, x, y in block.points if is_defined(x) and is_defined(y)]
    style = {"markersize": 4, "color": COLOURS[0], "alpha": 0.7}
    points = [(_scaled(x), _scaled(y)) for _, x, y in known]
    axes.plot([x for x, _ in points], [y for _, y in points], "o", **style)
    if len(known) <= NAMED_POINTS:
        for (name, *_), point in zip(known, points, strict=True):
            axes.annotate(_name(name), point, xytext=(4, 3), textcoords="offset points", fontsize=6)
    axes.axline((0, 0), slope=1, color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_xlabel(_name(block.axes[0]))
    axes.set_ylabel(_name(block.axes[1]))


FIGURES: Mapping[type, tuple[Callable[[Any, Any], None], Callable[[Any], tuple[float, float]]]] = {
    HeatMap: (draw_heat_map, lambda block: (0.6 + 0.5 * len(block.columns), 0.4 + 0.2 * len(block.rows))),
    Curves: (draw_curves, lambda block: (4.2, 2.6)),
    Table: (draw_dots, lambda block: (3.5, 0.8 + 0.22 * len(_dots_of(block)))),
    Scatter: (draw_scatter, lambda block: (3.6, 2.9)),
}
"""The function that draws each kind of block, and the width and height in inches without names and legend."""

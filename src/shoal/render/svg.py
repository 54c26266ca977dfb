"""Pictures as SVG inside the page: axes, lines with their bands, points, strips of dots.

Colours, strokes and sizes of text are the style sheet's; numbers are written with one decimal, so that the same data
give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from markupsafe import Markup

from ..core.measures import Quantity, quantity
from ..core.records import Measure
from ..core.views import Curves, Dots, Line, Scatter, Tones
from .page_words import joined, rests_on, tone_classes, words
from .pieces import is_defined, place_text, scale_ends

WIDTH, HEIGHT = 640, 292
LEFT, RIGHT, TOP, BOTTOM = 48, 24, 28, 52
LETTER = 11
"""Width of a letter below an axis on a phone, where the picture is small and its letters are not."""
STRIP_WIDTH, STRIP_HEIGHT = 200, 16
SERIES = ("t-first", "t-second", "t-third", "t-doubt", "t-bad", "t-quiet")
"""Of lines without a tone, in turn."""

Scale = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """Where values stand in a picture."""

    x: Scale
    y: Scale

    def across(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * _share(value, self.x)

    def up(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(value, self.y)


def _share(value: float, scale: Scale) -> float:
    return (value - scale[0]) / ((scale[1] - scale[0]) or 1.0)


# Curves


def curves_svg(block: Curves) -> Markup:
    """Lines over an axis, their intervals as bands, the marked place as a line across."""
    points = [(place, measure) for line in block.lines for place, measure in line.points if isfinite(place)]
    known = [(place, measure) for place, measure in points if is_defined(measure)]
    if not known:
        return Markup("")
    places = sorted({place for place, _ in points})
    plane = Plane((places[0], places[-1]), span([measure for _, measure in known]))
    marks = places if len(places) <= 12 else [tick for tick in ticks(plane.x) if places[0] <= tick]
    parts = [
        _y_axis(plane, known[0][1]),
        *_x_ticks([(plane.across(place), place_text(place)) for place in marks]),
        _label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, block.axis, "middle"),
    ]
    if block.marked is not None and plane.x[0] <= block.marked <= plane.x[1]:
        parts.append(_marked(plane, block.marked, block.mark))
    parts += [_line(line, plane, number) for number, line in enumerate(block.lines)]
    names = ", ".join(" ".join(line.name.split()) for line in block.lines)
    return _svg(joined(parts), f"{block.title or 'curves'}: {names} by {block.axis}")


def series_class(tone: Tones, number: int) -> str:
    """The class of a line: its tone, or the next of the series."""
    return tone_classes(tone) or SERIES[number % len(SERIES)]


def _line(line: Line, plane: Plane, number: int) -> Markup:
    """Band, line and points; a gap in the data is a gap in the line."""
    points = sorted(line.points, key=lambda point: point[0])
    runs: list[list[tuple[float, Measure]]] = [[]]
    for place, measure in points:
        if is_defined(measure) and isfinite(place):
            runs[-1].append((place, measure))
        else:
            runs.append([])
    parts = [_run(run, plane) for run in runs if run]
    name = " ".join(line.name.split())
    dots = [
        Markup('<circle cx="{}" cy="{}" r="3"><title>{}</title></circle>').format(
            _n(plane.across(place)), _n(plane.up(measure.value or 0.0)),
            words(f"{name} at {place_text(place)}: {rests_on(measure)}"),
        )
        for run in runs for place, measure in run
    ]  # fmt: skip
    return Markup('<g class="line s{} {}">{}{}</g>').format(
        number % len(SERIES), series_class(line.tone, number), joined(parts), joined(dots)
    )


def _run(run: Sequence[tuple[float, Measure]], plane: Plane) -> Markup:
    path = [(plane.across(place), plane.up(measure.value or 0.0)) for place, measure in run]
    ends = [(plane.across(place), measure.interval or (measure.value or 0.0,) * 2) for place, measure in run]
    band = [(x, plane.up(high)) for x, (_, high) in ends] + [(x, plane.up(low)) for x, (low, _) in ends[::-1]]
    has_band = len(run) > 1 and any(measure.interval for _, measure in run)
    shade = Markup('<polygon class="band" points="{}"/>').format(_points(band)) if has_band else Markup("")
    return shade + Markup('<polyline points="{}"/>').format(_points(path))


def _marked(plane: Plane, place: float, name: str) -> Markup:
    x = plane.across(place)
    line = Markup('<line class="marked" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
        _n(x), TOP - 8, HEIGHT - BOTTOM
    )
    return line + _label(x, TOP - 14, name, "middle")


# Scatter


def scatter_svg(block: Scatter) -> Markup:
    """A point each, its name when the pointer rests on it."""
    known = [(name, x, y) for name, x, y in block.points if is_defined(x) and is_defined(y)]
    if not known:
        return Markup("")
    plane = Plane(span([x for _, x, _ in known]), span([y for _, _, y in known]))
    what = quantity(known[0][1])
    parts = [
        _y_axis(plane, known[0][2]),
        _diagonal(plane) if block.diagonal else Markup(""),
        *_x_ticks([(plane.across(value), tick_text(value, what)) for value in ticks(plane.x)]),
        _label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, block.axes[0], "middle"),
        _label(4, TOP - 14, block.axes[1], "start"),
        *(_point(plane, name, x, y) for name, x, y in known),
    ]
    return _svg(joined(parts), f"{block.title or 'scatter'}: {block.axes[1]} against {block.axes[0]}")


def _diagonal(plane: Plane) -> Markup:
    """Where both axes have the same value."""
    low, high = max(plane.x[0], plane.y[0]), min(plane.x[1], plane.y[1])
    if low >= high:
        return Markup("")
    return Markup('<line class="marked" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        *(_n(number) for end in (low, high) for number in (plane.across(end), plane.up(end)))
    )


def _point(plane: Plane, name: str, x: Measure, y: Measure) -> Markup:
    title = words(f"{name}: {rests_on(x)}; {rests_on(y)}")
    return Markup('<circle class="point t-first" cx="{}" cy="{}" r="4"><title>{}</title></circle>').format(
        _n(plane.across(x.value or 0.0)), _n(plane.up(y.value or 0.0)), title
    )


# Strips


def dots_svg(dots: Dots, tones: Tones) -> Markup:
    """Several values on one scale; a single one with its interval. Beyond the ends, a triangle at the end."""
    middle = STRIP_HEIGHT / 2
    parts = [
        Markup('<line class="ground" x1="0" x2="{0}" y1="{1}" y2="{1}"/>').format(STRIP_WIDTH, _n(middle))
    ]
    if dots.middle is not None:
        x = _n(_on_strip(dots.middle, dots.scale))
        parts.append(
            Markup('<line class="middle" x1="{0}" x2="{0}" y1="1" y2="{1}"/>').format(x, STRIP_HEIGHT - 1)
        )
    if len(dots.measures) == 1 and dots.measures[0].interval:
        low, high = (_on_strip(end, dots.scale) for end in dots.measures[0].interval)
        parts.append(
            Markup('<line class="interval" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(
                _n(low), _n(high), _n(middle)
            )
        )
    parts += [_dot(measure, dots.scale, middle) for measure in dots.measures if is_defined(measure)]
    low_end, high_end = scale_ends(dots.scale, dots.measures[0] if dots.measures else None)
    name = words(f"{len(dots.measures)} values on a scale from {low_end} to {high_end}")
    return Markup('<svg class="strip {}" viewBox="-6 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        tone_classes(tones), STRIP_WIDTH + 12, STRIP_HEIGHT, name, joined(parts)
    )


def _on_strip(value: float, scale: Scale) -> float:
    return STRIP_WIDTH * min(1.0, max(0.0, _share(value, scale)))


def _dot(measure: Measure, scale: Scale, middle: float) -> Markup:
    value = measure.value or 0.0
    groups = ", ".join(measure.groups.values())
    title = words(f"{groups}: {rests_on(measure)}" if groups else rests_on(measure))
    x = _on_strip(value, scale)
    if scale[0] <= value <= scale[1]:
        shape = Markup('<circle cx="{}" cy="{}" r="4">').format(_n(x), _n(middle))
        return shape + Markup("<title>{}</title></circle>").format(title)
    outward = 5 if value > scale[1] else -5
    corners = [(x + outward, middle), (x, middle - 5), (x, middle + 5)]
    return Markup('<polygon points="{}"><title>{}</title></polygon>').format(_points(corners), title)


# Axes


def span(measures: Sequence[Measure]) -> Scale:
    """From the lowest to the highest that is to be drawn; shares from nothing to all, if they are inside."""
    ends = [end for row in measures if row.interval for end in row.interval if isfinite(end)]
    values = [row.value or 0.0 for row in measures] + ends
    low, high = min(values), max(values)
    if all(quantity(row).unit == "share" and not quantity(row).signed for row in measures):
        low, high = min(0.0, low), max(1.0, high)
    step = _step(high - low or abs(high) or 1.0)
    start, end = floor(low / step) * step, ceil(high / step) * step
    return start, end if end > start else start + step


def ticks(scale: Scale) -> list[float]:
    """Four to ten round numbers on a scale."""
    step = _step(scale[1] - scale[0])
    first, last = ceil(scale[0] / step - 1e-9), floor(scale[1] / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _step(length: float) -> float:
    """A round distance, of which a length holds four to ten: 1, 2 or 5 and noughts."""
    rough = length / 6 if length > 0 else 0.2
    power = 10.0 ** floor(log10(rough))
    return float(next((factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999), 10) * power)


def tick_text(value: float, what: Quantity) -> str:
    """A number on an axis: shares in per cent."""
    return f"{round(100 * value, 9) if what.unit == 'share' else value:g}".replace("-", "−")


def _y_axis(plane: Plane, measure: Measure) -> Markup:
    """Lines across at round numbers."""
    what = quantity(measure)
    lines = []
    for value in ticks(plane.y):
        y = plane.up(value)
        line = Markup('<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(
            LEFT, WIDTH - RIGHT, _n(y)
        )
        lines += [line, _label(LEFT - 8, y + 4, tick_text(value, what), "end")]
    return joined(lines)


def _x_ticks(marks: Sequence[tuple[float, str]]) -> list[Markup]:
    """Numbers below the axis: the last, and of the others those that leave room to their neighbours."""
    kept: list[tuple[float, str]] = list(marks[-1:])
    for x, text in marks[-2::-1]:
        if kept[-1][0] - x >= LETTER * (len(text) + len(kept[-1][1]) + 1) / 2:
            kept.append((x, text))
    labels = []
    for x, text in reversed(kept):
        fits = x + LETTER * len(text) / 2 <= WIDTH
        labels.append(_label(x if fits else WIDTH, HEIGHT - BOTTOM + 20, text, "middle" if fits else "end"))
    return labels


def _label(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(_n(x), _n(y), anchor, words(text))


def _svg(content: Markup, name: str) -> Markup:
    return Markup('<svg class="picture" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, words(name), content
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")

"""Pieces of cells and sentences in words: what every renderer reads of them, whatever it then does with it."""

from collections.abc import Callable, Iterator
from math import isfinite

from ..core.measures import Quantity, quantity, shown
from ..core.records import Measure
from ..core.views import Cell, Dots, Number, Piece, Tone, Tones, Words

QUIET_PARTS = ("interval", "n", "na", "errors")
"""Shown quietly unless they are given a tone of their own."""


def pieces_of(cell: Cell) -> tuple[Piece, ...]:
    """What stands in a cell, one after the other; an empty text is nothing."""
    if isinstance(cell, str | Words | Number | Dots):
        return (cell,) if cell != "" else ()
    return tuple(cell)


def tones_of(tones: Tones) -> tuple[Tone, ...]:
    """One tone or several, as several."""
    return (tones,) if isinstance(tones, str) else tones


def tone_of(piece: Piece, *outer: Tones) -> Tones:
    """A piece's own tone, or the first of its surroundings'; intervals and counts are quiet."""
    tone = "" if isinstance(piece, str) else piece.tone
    if not tone and isinstance(piece, Number) and (piece.part in QUIET_PARTS or is_waiting(piece)):
        return "quiet"
    return next(filter(None, (tone, *outer)), "")


def is_waiting(number: Number) -> bool:
    """Whether words stand in the place of the number."""
    return bool(number.instead) and (number.measure is None or not is_defined(number.measure))


def is_defined(measure: Measure) -> bool:
    """Whether there is a value that can be drawn."""
    return measure.value is not None and isfinite(measure.value)


def bar_tone(measure: Measure) -> Tone:
    """Of a bar without a tone: a rate is good from nine in ten on, another measure neither good nor bad."""
    what = quantity(measure)
    if what.direction != "higher" or what.unit != "share":
        return "first"
    return "good" if (measure.value or 0.0) >= 0.9 else "doubt"


def plain(cell: Cell) -> str:
    """A cell as words alone."""
    return "".join(piece_text(piece) for piece in pieces_of(cell))


def piece_text(piece: Piece) -> str:
    """A piece as words alone: several dots as their values, a bar as its value."""
    return PIECES[type(piece)](piece)


def _number(number: Number) -> str:
    text = number_text(number)
    return f"{text} {number.mark}" if number.mark and text else text


def number_text(number: Number) -> str:
    """What of a measure is shown, without its mark."""
    if is_waiting(number):
        return number.instead if number.part not in QUIET_PARTS else ""
    return "" if number.measure is None else PARTS[number.part](number.measure)


def value_text(measure: Measure) -> str:
    """The value, or a dash."""
    return shown(measure.value if is_defined(measure) else None, quantity(measure))


def interval_ends(measure: Measure) -> tuple[str, str] | None:
    """Both ends of an interval; None where there is none."""
    if measure.interval is None:
        return None
    low, high = (shown(end, quantity(measure)) for end in measure.interval)
    return low, high


def between(measure: Measure, tight: bool = False) -> str:
    """What stands between the ends of an interval: a dash would be read as one more sign where there are signs."""
    return " to " if quantity(measure).signed else "–" if tight else " – "


def interval_text(measure: Measure) -> str:
    """The interval, or nothing."""
    ends = interval_ends(measure)
    return between(measure).join(ends) if ends else ""


def _both(measure: Measure) -> str:
    interval = interval_text(measure)
    return value_text(measure) + (f" ({interval})" if interval else "")


PARTS: dict[str, Callable[[Measure], str]] = {
    "value": value_text,
    "bar": value_text,
    "interval": interval_text,
    "value and interval": _both,
    "n": lambda measure: f"{measure.n:,}",
    "na": lambda measure: f"{measure.na:,}" if measure.na else "",
    "errors": lambda measure: f"{measure.errors:,}" if measure.errors else "",
}

PIECES: dict[type, Callable[..., str]] = {
    str: lambda text: text,
    Words: lambda words: words.text,
    Number: _number,
    Dots: lambda dots: ", ".join(map(value_text, dots.measures)),
}


def scale_ends(scale: tuple[float, float], measure: Measure | None) -> tuple[str, str]:
    """The ends of a scale as its measure is shown: shares in per cent, signs where it has them."""
    what = quantity(measure) if measure else Quantity()
    low, high = (_end(end, what) for end in scale)
    return low, high


def _end(end: float, what: Quantity) -> str:
    number = 100 * end if what.unit == "share" else end
    text = f"{number:+g}" if what.signed and number else f"{number:g}"
    return text.replace("-", "−")


def place_text(place: float) -> str:
    """A place on an axis.

    >>> place_text(3.0), place_text(0.25), place_text(2_000_000.0)
    ('3', '0.25', '2,000,000')
    """
    return (f"{place:,.0f}" if place.is_integer() else f"{place:g}").replace("-", "−")


def measures_in(cell: Cell) -> Iterator[Measure]:
    """Every measure of a cell."""
    for piece in pieces_of(cell):
        if isinstance(piece, Number) and piece.measure is not None:
            yield piece.measure
        elif isinstance(piece, Dots):
            yield from piece.measures

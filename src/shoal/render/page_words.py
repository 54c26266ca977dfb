"""Text and pieces as HTML: whatever the data hold is shown as text, and every number says what it rests on."""

from collections.abc import Iterable
from urllib.parse import urlencode
from zlib import crc32

from markupsafe import Markup, escape

from ..core.records import Measure
from ..core.views import Cell, Number, Piece, Tones
from .pieces import (
    interval_text,
    is_defined,
    piece_text,
    pieces_of,
    tone_of,
    tones_of,
    value_text,
)
from .printable import printable

EMPTY = Markup("")


def words(text: str) -> Markup:
    """Text of the data: no markup, and nothing that could turn the page's own text around."""
    return escape(printable(text))


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    """Markup one after the other."""
    return Markup(between).join(parts)


def classes(*names: str) -> Markup:
    """A class attribute, or nothing."""
    kept = [name for name in names if name]
    return Markup(' class="{}"').format(" ".join(kept)) if kept else EMPTY


def tone_classes(tones: Tones) -> str:
    """Tones as names of classes; what they look like is in the style sheet."""
    return " ".join(f"t-{tone}" for tone in tones_of(tones) if tone)


def sentence(cell: Cell, *outer: Tones) -> Markup:
    """Pieces one after the other."""
    return joined(piece_html(piece, *outer) for piece in pieces_of(cell))


def lines_of(cell: Cell) -> list[Markup]:
    """The same, torn where a text has a line end."""
    lines = [EMPTY]
    for piece in pieces_of(cell):
        for number, text in enumerate(piece_text(piece).split("\n")):
            lines += [EMPTY] if number else []
            lines[-1] += _wrapped(piece, text)
    return lines


def piece_html(piece: Piece, *outer: Tones) -> Markup:
    """A piece in its tone; a number with what it rests on."""
    return _wrapped(piece, piece_text(piece), *outer)


def _wrapped(piece: Piece, text: str, *outer: Tones) -> Markup:
    tone = tone_classes(tone_of(piece, *outer))
    if isinstance(piece, Number) and piece.measure is not None and text:
        return number_html(piece.measure, text, tone)
    return Markup("<span{}>{}</span>").format(classes(tone), words(text)) if text and tone else words(text)


def number_html(measure: Measure, text: str, tone: str = "") -> Markup:
    """A number that says what it rests on, and from which its cases can be reached."""
    return Markup('<span{} title="{}" data-k="{}"{}>{}</span>').format(
        classes("num", tone), words(rests_on(measure)), key_of(measure), _cases_of(measure), words(text)
    )


def key_of(measure: Measure) -> str:
    """Some letters by which a measure is known on the page: a finding leads to where it is shown."""
    known = (measure.name, measure.value, measure.n, sorted(measure.groups.items()))
    return f"{crc32(repr(known).encode()):08x}"


def _cases_of(measure: Measure) -> Markup:
    """Which cases it rests on, by their groups; nothing where it rests on none."""
    if "mean over" not in measure.facts:
        return EMPTY
    groups = {**measure.groups, **measure.facts.get("only", {})}
    pairs = {name: printable(value) for name, value in groups.items() if isinstance(value, str)}
    jobs = (
        Markup(' data-j="{}"').format(" ".join(measure.facts["jobs"])) if "jobs" in measure.facts else EMPTY
    )
    return Markup(' data-g="{}"').format(urlencode(pairs)) + jobs


def rests_on(measure: Measure) -> str:
    """What a number is, in a line: name, interval, n, and what is to be known of it."""
    parts = [f"{measure.name}: {value_text(measure)}"]
    if measure.interval is not None and is_defined(measure):
        method = f" ({measure.interval_method})" if measure.interval_method else ""
        parts.append(f"95 % interval {interval_text(measure)}{method}")
    parts.append(f"n = {measure.n:,}")
    parts += [f"not applicable: {measure.na:,}"] if measure.na else []
    parts += [f"errors: {measure.errors:,}"] if measure.errors else []
    return "; ".join([*parts, *([measure.note] if measure.note else [])])

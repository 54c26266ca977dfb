"""Text and pieces as HTML: whatever the data hold is shown as text, and every number says what it rests on."""

from collections.abc import Iterable

from markupsafe import Markup, escape

from ..records import Measure
from ..show.pieces import interval_text, is_defined, piece_text, pieces_of, tone_of, tones_of, value_text
from ..show.printable import printable
from ..views import Cell, Number, Piece, Tones

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
    hint = rests_on(piece.measure) if isinstance(piece, Number) and piece.measure is not None else ""
    if not text or not (tone or hint):
        return words(text)
    title = Markup(' title="{}"').format(words(hint)) if hint else EMPTY
    return Markup("<span{}{}>{}</span>").format(classes(tone), title, words(text))


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

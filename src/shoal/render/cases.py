"""Cases and attributions as text: the outcome, and the edit between an original and its variants."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from ..core.records import Example, Measure
from ..core.views import WEAK, ShownCase, Weighed
from .tables import plain, value_text

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether the edit touched it."""
Write = Callable[[str], str]

SMALL = 1_000_000
"""Pairs of words; for longer texts, everything between the first and the last change counts as changed."""


def outcome_words(shown: ShownCase, answers: Sequence[str] = ()) -> list[str]:
    """Return the expectation and the answers in words."""
    words = [f"expected {shown.expected}"] if shown.expected else []
    return words + [f"got {answer}" for answer in answers]


def error_of(shown: ShownCase) -> str:
    """Return the error of a case; empty if the model answered."""
    return shown.outcome.error if shown.outcome is not None else ""


def case_text(shown: ShownCase, write: Write, emphasise: Write, arrow: str) -> list[str]:
    """Return the lines of a case for Markdown and LaTeX: its texts with their answers, then the outcome."""
    lines = []
    for number, texts in enumerate(marked_edits(shown.case.examples)):
        words = write(" ¦ ").join(
            "".join((emphasise if touched and number else write)(text) for text, touched in pieces)
            for pieces in texts
        )
        answer = write(f" ({shown.answers[number]})") if number < len(shown.answers) else ""
        lines.append(f"{arrow if number else write(shown.mark)} {words}{answer}".strip())
    lines.append(write(", ".join(filter(None, [*outcome_words(shown), error_of(shown)]))))
    return [line for line in lines if line]


def weighed_text(example: Weighed) -> list[str]:
    """Return the lines of an attribution as plain text: each word that counts is followed by its value."""
    lines = [plain(example.about)]
    for text in example.texts:
        words = [
            word if value is None or abs(example.share(value)) < WEAK else f"{word} ({attribution(value)})"
            for word, value in text
        ]
        lines.append("".join(words).strip())
    return [line for line in [*lines, plain(example.answer)] if line]


WEIGHED = "In brackets: attribution of the word before, + for the answer, − against it."


def attribution(value: float) -> str:
    """Return an attribution with its sign."""
    return value_text(Measure("attribution", value, 1))


def marked_edits(examples: Sequence[Example]) -> list[list[Marked]]:
    """Return each example's texts in pieces, marked where a variant differs from the first example."""
    if not examples:
        return []
    original, *variants = examples
    touched: list[set[int]] = [set() for _ in original]
    marked: list[list[Marked]] = []
    for variant in variants:
        texts = []
        for position, text in enumerate(variant):
            before = original[position] if position < len(original) else ""
            old, new = _words(before), _words(text)
            removed, added = _changed(old, new)
            if position < len(original):
                touched[position] |= removed
            texts.append(_pieces(new, added))
        marked.append(texts)
    first = [_pieces(_words(text), touched[position]) for position, text in enumerate(original)]
    return [first, *marked]


def _words(text: str) -> list[str]:
    """Split a text into words, symbols and white space, without loss."""
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the positions of words removed from the old text and added in the new one."""
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    room = shortest - start
    end = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    last_old, last_new = len(old) - end, len(new) - end
    if (last_old - start) * (last_new - start) > SMALL:
        return set(range(start, last_old)), set(range(start, last_new))
    removed: set[int] = set()
    added: set[int] = set()
    matcher = SequenceMatcher(None, old[start:last_old], new[start:last_new], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            removed |= set(range(start + i, start + j))
            added |= set(range(start + k, start + m))
    return removed, added


def _pieces(words: Sequence[str], touched: set[int]) -> Marked:
    """Join neighbouring words with the same mark; white space at the ends of an edit is not marked."""
    pieces: Marked = []
    for word, is_touched in _without_ends(words, touched):
        if pieces and pieces[-1][1] == is_touched:
            pieces[-1] = (pieces[-1][0] + word, is_touched)
        else:
            pieces.append((word, is_touched))
    return pieces


def _without_ends(words: Sequence[str], touched: set[int]) -> Iterator[tuple[str, bool]]:
    for position, word in enumerate(words):
        inside = {position - 1, position + 1} <= touched
        yield word, position in touched and (not word.isspace() or inside)

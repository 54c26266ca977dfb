"""Cases in words: how they went, and what an edit changed between an original and its variants."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ..core.records import Example
from ..core.views import ShownCase

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether the edit touched it."""

SMALL = 1_000_000
"""Pairs of words; where there are more, the whole stretch between the first and the last change counts as changed."""


def how_it_went(shown: ShownCase, answers: Sequence[str] = ()) -> list[str]:
    """What was expected, what the model said instead, and how far off that is; an error is not among it."""
    words = [f"expected {shown.expected}"] if shown.expected else []
    words += [f"said {answer}" for answer in answers]
    outcome = shown.outcome
    if outcome is not None and outcome.passed is False and outcome.value is not None:
        words.append(f"off by {abs(outcome.value):.2f}")
    return words


def error_of(shown: ShownCase) -> str:
    """Why there is no answer; empty where there is one."""
    return shown.outcome.error if shown.outcome is not None else ""


def marked_edits(examples: Sequence[Example]) -> list[list[Marked]]:
    """Each example's texts in pieces: in the first, what any of the others changes; in the others, what they change."""
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
            gone, come = _changed(old, new)
            if position < len(original):
                touched[position] |= gone
            texts.append(_pieces(new, come))
        marked.append(texts)
    first = [_pieces(_words(text), touched[position]) for position, text in enumerate(original)]
    return [first, *marked]


def _words(text: str) -> list[str]:
    """Words, single signs and stretches of white space; together they are the text."""
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], set[int]]:
    """Which words of the old are gone, which of the new have come, by position."""
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    room = shortest - start
    end = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    last_old, last_new = len(old) - end, len(new) - end
    if (last_old - start) * (last_new - start) > SMALL:
        return set(range(start, last_old)), set(range(start, last_new))
    gone: set[int] = set()
    come: set[int] = set()
    matcher = SequenceMatcher(None, old[start:last_old], new[start:last_new], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            gone |= set(range(start + i, start + j))
            come |= set(range(start + k, start + m))
    return gone, come


def _pieces(words: Sequence[str], touched: set[int]) -> Marked:
    """Words that stand together and share their mark as one piece; white space at an edit's ends is no part of it."""
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

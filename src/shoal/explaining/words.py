"""Split a text into words, the same way for every model."""

import re
from unicodedata import category

CHUNK = re.compile(r"[぀-ヿ㐀-䶿一-鿿]|[^\s぀-ヿ㐀-䶿一-鿿]+")
"""A run without blanks; Chinese and Japanese characters one by one."""


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word; punctuation around a word is separate.

    >>> [text[start:end] for text in ["Isn't it (so) good?"] for start, end in word_spans(text)]
    ["Isn't", 'it', '(', 'so', ')', 'good', '?']
    """
    spans = []
    for chunk in CHUNK.finditer(text):
        start, end = chunk.span()
        first = next((place for place in range(start, end) if not is_mark(text[place])), end)
        last = next((place + 1 for place in range(end - 1, first, -1) if not is_mark(text[place])), first + 1)
        if first == end:
            spans.append((start, end))
            continue
        spans += [part for part in ((start, first), (first, last), (last, end)) if part[0] < part[1]]
    return spans


def is_mark(letter: str) -> bool:
    """Return whether a character is punctuation or a symbol.

    >>> is_mark("?"), is_mark("a")
    (True, False)
    """
    return category(letter)[0] in "PS"


def plain_word(word: str) -> str:
    """Return a word in lower case without punctuation around it; empty for punctuation alone.

    >>> plain_word("Dogs."), plain_word("...")
    ('dogs', '')
    """
    letters = [place for place, letter in enumerate(word) if not is_mark(letter)]
    return word[letters[0] : letters[-1] + 1].lower() if letters else ""

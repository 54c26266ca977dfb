"""Text for pre-training: a file, or `example`, made by our grammar. Imports no torch."""

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from ..core.errors import DataError
from ..core.files import read_lines, stamp
from ..data.grammar import make_rows

EXAMPLE = "example"
"""Portraits of people, questions about them, and opinions."""
EXAMPLE_ROWS = {"reading": 1000, "sentiment": 500}


def read_text(text: str) -> tuple[str, ...]:
    """Return the lines that are not blank."""
    return _lines(text, stamp(text))


@lru_cache(maxsize=2)
def _lines(text: str, _stamp: tuple[int, int]) -> tuple[str, ...]:
    if text == EXAMPLE:
        rows = [row for task, n in EXAMPLE_ROWS.items() for row in make_rows(task, "train", n)]
        return tuple(" ".join(row.texts) for row in rows)
    lines = tuple(tidy(line) for _, line in read_lines(Path(text)) if line.strip())
    if not lines:
        raise DataError(f"{text}: no text to pre-train on", fix="a file of sentences, one to a line")
    return lines


@lru_cache(maxsize=8)
def _facts(text: str, _stamp: tuple[int, int], length: int) -> tuple[str, int]:
    lines = read_text(text)
    blocks = sum(-(-len(re.findall(r"\w+|[^\w\s]", line)) // (length - 2)) for line in lines)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16], blocks


def digest(text: str) -> str:
    """Return a short hash of the content."""
    return _facts(text, stamp(text), 64)[0]


def about_how_many_blocks(text: str, length: int) -> int:
    """Estimate the number of blocks of this length from the number of words."""
    return _facts(text, stamp(text), length)[1]


def tidy(line: str) -> str:
    """Return a line without the marks of WikiText.

    >>> tidy(" a well @-@ known <unk> of 1 @,@ 000 men ")
    'a well-known [UNK] of 1,000 men'
    """
    for spelt, sign in ((" @-@ ", "-"), (" @,@ ", ","), (" @.@ ", "."), ("<unk>", "[UNK]")):
        line = line.replace(spelt, sign)
    return line.strip()

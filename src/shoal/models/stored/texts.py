"""Compare the texts of a predictions file with the suite's: an id that names another text is shifted or wrong.

A column holds the text if it has a usual name, or if most of its first rows are texts of the suite. A longer text that
contains the suite's is a prompt and agrees with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError
from ...core.records import Case, Example
from .columns import Columns

SINGLE = ("text", "sentence", "review", "tweet")
PAIRED = (
    *("premise", "hypothesis", "sentence1", "sentence2"),
    *("question1", "question2", "context", "question"),
)
"""Names of columns that hold the text. `content` and `comment` are missing: in predictions they often hold replies."""
SHOWN = 3
LONGEST = 60


def text_columns(cases: Sequence[Case], names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that hold texts of the cases, judged by name and by the first rows of the file."""
    examples = next((case.examples for case in cases if case.examples), ())
    if not examples:
        return []
    usual = SINGLE if len(examples[0]) == 1 else PAIRED
    values = {name: [row[name] for row in rows if isinstance(row.get(name), str)] for name in names}
    chosen = {name for name in values if name.lower() in usual}
    others = {name: texts for name, texts in values.items() if name not in chosen and texts}
    if others:
        known = {normalised(text) for case in cases for example in case.examples for text in example}
        chosen |= {
            name
            for name, texts in others.items()
            if 2 * sum(normalised(t) in known for t in texts) > len(rows)
        }
    return [name for name in values if name in chosen]


def check_texts(columns: Columns, rows: NDArray[np.int64], cases: Sequence[Case]) -> None:
    """Raise an error if a row's text is not that of the example which it answers."""
    examples = list(chain.from_iterable(case.examples for case in cases))
    for name, texts in columns.texts.items():
        triples = (
            (f"{columns.unit} {columns.lines[row]} ({columns.keys[row]})", texts[row], example)
            for row, example in zip(rows.tolist(), examples, strict=True)
        )
        refuse_other_texts(columns.path, name, triples)


def refuse_other_texts(path: Path, column: str, rows: Iterable[tuple[str, object, Example]]) -> None:
    """Raise an error if texts of a file differ from the suite's; a row is its place, its text and the example."""
    count, compared = 0, 0
    shown: list[str] = []
    for place, text, example in rows:
        if not isinstance(text, str) or not text.strip():
            continue
        compared += 1
        if not agrees(text, example):
            count += 1
            if len(shown) < SHOWN:
                shown.append(f"{place}: {_cut(text)}, expected {' / '.join(map(_cut, example))}")
    if count:
        raise DataError(
            f"{path}: {count:,} of {compared:,} texts in column {column!r} differ from the texts of their ids",
            why="; ".join(shown) + (f"; and {count - SHOWN:,} more" if count > SHOWN else ""),
            fix=f"check whether the ids are shifted; if {column!r} does not hold the text, rename the column",
        )


def agrees(text: str, example: Example) -> bool:
    """Return whether a text is one of an example's, or a prompt that contains all of them.

    >>> agrees("Is  it good?", ("Is it good?",)), agrees("Review: Bad. Label:", ("Bad.",)), agrees("Bad.", ("Good.",))
    (True, True, False)
    """
    if text in example:
        return True
    words, expected = normalised(text), [normalised(part) for part in example]
    return words in expected or all(part in words for part in expected)


def normalised(text: str) -> str:
    """Return a text in NFC with single spaces.

    >>> normalised(" cafe\\u0301\\n au lait ") == "caf\\u00e9 au lait"
    True
    """
    return " ".join(normalize("NFC", text).split())


def _cut(text: str) -> str:
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")

"""`vectors:FILE`: word vectors in text form as a model that embeds words, for WEAT.

A word's vector is looked up as it is written, and with `_` for blanks. A sentence is the mean of its words' vectors.
What has no vector is said to have none: nothing is put in its place.
"""

import re
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError
from ..core.files import read_lines
from ..core.records import Example
from . import ModelSpec, digest_file

OPTIONS = ()


def load(spec: ModelSpec) -> "WordVectors":
    """The file that a spec names; it is read when it is first asked."""
    return WordVectors(Path(spec.name))


class WordVectors:
    """A table from words to vectors."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"vectors:{self.path}"

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on: the file's content."""
        return {"file": digest_file(self.path)}

    @cached_property
    def table(self) -> dict[str, NDArray[np.float64]]:
        """Every word's vector."""
        return read_vectors(self.path)

    def vector(self, text: str) -> NDArray[np.float64] | None:
        """The vector of a word or phrase; of a sentence the mean over its words that have one; None without any."""
        for key in (text, text.replace(" ", "_")):
            if key in self.table:
                return self.table[key]
        words = re.findall(r"\w[\w'-]*", text)
        known = [self.table[word] for word in words if word in self.table] if len(words) > 1 else []
        return np.mean(known, axis=0) if known else None

    def embed(
        self, examples: Sequence[Example], pooling: str = "mean", layer: int = -1
    ) -> NDArray[np.float64]:
        """A vector per example, NaN where there is none."""
        width = len(next(iter(self.table.values())))
        vectors = [self.vector(example[0]) for example in examples]
        return np.array([np.full(width, np.nan) if vector is None else vector for vector in vectors])


def read_vectors(path: Path, words: Collection[str] | None = None) -> dict[str, NDArray[np.float64]]:
    """The vectors of these words, or of all. A first line with two counts is passed over; of a word twice, the first
    counts."""
    vectors: dict[str, NDArray[np.float64]] = {}
    width = 0
    for line, text in read_lines(path):
        word, _, numbers = text.rstrip().partition(" ")
        if not numbers or (line == 1 and word.isdecimal() and numbers.isdecimal()):
            if text.strip() and line > 1:
                raise DataError(
                    f"{path}, line {line}: a word and its numbers are expected, found {text[:40]!r}",
                    fix="word vectors in text form, a word and its numbers on each line, with blanks between",
                )
            continue
        if (words is not None and word not in words) or word in vectors:
            continue
        try:
            vector = np.array(numbers.split(), dtype=np.float64)
        except ValueError:
            raise DataError(
                f"{path}, line {line}: the vector of {word[:40]!r} holds something that is no number",
                fix="numbers alone behind the word; a word of several parts is written with _ between them",
            ) from None
        width = width or len(vector)
        if len(vector) != width or not np.isfinite(vector).all():
            raise DataError(
                f"{path}, line {line}: {word[:40]!r} has {len(vector)} finite numbers where others have {width}"
                if len(vector) != width
                else f"{path}, line {line}: the vector of {word[:40]!r} is not finite",
                fix="remove the line, or make the vectors again",
            )
        vectors[word] = vector
    if not vectors and words is None:
        raise DataError(f"{path}: no vectors", fix="a word and its numbers on each line")
    return vectors

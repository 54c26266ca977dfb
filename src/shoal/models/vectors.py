"""Vectors of words and sentences (`docs/method/bias.md` 5.5).

`vectors:FILE` reads word vectors in text form, for WEAT. A word is looked up as written, and with `_` for spaces; a
sentence is the mean of its words' vectors. Words without a vector have none.

Encoders represent (sentence, word) in one of these ways; the word may be empty if it does not matter:

    cls                        the last layer at [CLS]
    mean                       the mean of the last layer over all tokens
    word_mean                  the mean of the last layer over the pieces of the word
    first_piece_no_specials    the last layer at the first piece, without [CLS] and [SEP] in the input
"""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError, ModelError
from ..core.files import read_lines
from ..core.records import Example
from . import ModelSpec, digest_file
from .checkpoint import libraries

if TYPE_CHECKING:
    from torch import Tensor

OPTIONS = ()
Vectors = list[NDArray[np.float64] | None]


def load(spec: ModelSpec) -> "WordVectors":
    return WordVectors(Path(spec.name))


class WordVectors:
    """A table from words to vectors."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"vectors:{self.path}"

    def fingerprint(self) -> dict[str, Any]:
        return {"file": digest_file(self.path)}

    @cached_property
    def table(self) -> dict[str, NDArray[np.float64]]:
        return read_vectors(self.path)

    def vector(self, text: str) -> NDArray[np.float64] | None:
        """Return the vector of a word or phrase, or the mean over a sentence's known words; None without any."""
        for key in (text, text.replace(" ", "_")):
            if key in self.table:
                return self.table[key]
        words = re.findall(r"\w[\w'-]*", text)
        known = [self.table[word] for word in words if word in self.table] if len(words) > 1 else []
        return np.mean(known, axis=0) if known else None

    def embed(self, examples: Sequence[Example], pooling: str = "mean") -> NDArray[np.float64]:
        """Return a vector per example, NaN without one."""
        width = len(next(iter(self.table.values())))
        vectors = [self.vector(example[0]) for example in examples]
        return np.array([np.full(width, np.nan) if vector is None else vector for vector in vectors])


def read_vectors(path: Path) -> dict[str, NDArray[np.float64]]:
    """Return the vector of each word, the first if it occurs twice; skips a first line with two counts."""
    vectors: dict[str, NDArray[np.float64]] = {}
    width = 0
    for line, text in read_lines(path):
        word, _, numbers = text.rstrip().partition(" ")
        is_header = line == 1 and (not numbers or (word.isdecimal() and numbers.isdecimal()))
        if is_header or not word or word in vectors:
            continue
        try:
            vector = np.array(numbers.split(), dtype=np.float64)
        except ValueError:
            vector = np.array([np.nan])
        width = width or len(vector)
        if not numbers or len(vector) != width or not np.isfinite(vector).all():
            raise DataError(
                f"{path}, line {line}: expected a word and {width or 'its'} finite numbers, found {text[:40]!r}",
                fix="only numbers after the word, separated by spaces; join phrases with _",
            )
        vectors[word] = vector
    if not vectors:
        raise DataError(f"{path}: no vectors", fix="a word and its numbers per line")
    return vectors


# Vectors of an encoder


def represent(model: Any, examples: Sequence[Example], representation: str) -> Vectors:
    """Return a vector for each (sentence, word); None if the word is not in its sentence."""
    if representation == "cls":
        tokenizer = model.tokenizer
        begins = tokenizer("a", verbose=False)["input_ids"][:1] == [tokenizer.cls_token_id]
        if model.language_model == "causal" or tokenizer.cls_token_id is None or not begins:
            raise ModelError(
                f"{model!r} has no [CLS] at the start of a text that sees the rest of it",
                fix="representation=mean or word_mean",
            )
    if representation in ("cls", "mean"):
        return list(model.embed([(example[0],) for example in examples], representation))
    of_word = representation == "word_mean"
    states, offsets = _states(model, [example[0] for example in examples], special=of_word)
    if not of_word:
        return list(states[:, 0])
    return [_inside(states[row], offsets[row], find_word(*example)) for row, example in enumerate(examples)]


def find_word(sentence: str, word: str) -> tuple[int, int] | None:
    """Return the start and end of a word in a sentence, or None.

    >>> find_word("An ant is a thing.", "ant"), find_word("Plants", "ant")
    ((3, 6), None)
    """
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence) if word else None
    return match.span() if match else None


def _states(
    model: Any, texts: Sequence[str], *, special: bool
) -> tuple[NDArray[np.float64], list[list[tuple[int, int]]]]:
    """Return the last layer (texts, tokens, width) and the character span of each token."""
    torch, _ = libraries()
    model.require_offsets()
    encoded = model.tokenizer(
        list(texts),
        add_special_tokens=special,
        padding=True,
        return_tensors="pt",
        return_offsets_mapping=True,
        verbose=False,
    )
    offsets = encoded.pop("offset_mapping").tolist()
    with torch.inference_mode():
        states: Tensor = model.network("embed")(**encoded.to(model.device)).last_hidden_state
    return states.double().cpu().numpy(), offsets


def _inside(
    states: NDArray[np.float64], offsets: Sequence[tuple[int, int]], span: tuple[int, int] | None
) -> NDArray[np.float64] | None:
    rows = [row for row, (start, end) in enumerate(offsets) if span and start < span[1] and end > span[0]]
    return np.asarray(states[rows].mean(axis=0), np.float64) if rows else None

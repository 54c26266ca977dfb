"""Vectors of sentences, and of words inside them (`docs/method/bias.md` 5.5).

    cls                        the last layer at [CLS]
    mean                       the mean of the last layer over all tokens
    word_mean                  the mean of the last layer over the pieces of one word, found by its letters
    first_piece_no_specials    the last layer at the first piece, [CLS] and [SEP] left out of the input

Examples are (sentence, word); the word may be empty where it does not matter.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Example
from .checkpoint import libraries

if TYPE_CHECKING:
    from torch import Tensor

Vectors = list[NDArray[np.float64] | None]


def represent(model: Any, examples: Sequence[Example], representation: str) -> Vectors:
    """A vector for each (sentence, word); None where the word cannot be found in its sentence."""
    return REPRESENTATIONS[representation](model, examples)


def cls(model: Any, examples: Sequence[Example]) -> Vectors:
    """What stands at [CLS], which a model must have been trained with."""
    tokenizer = model.tokenizer
    begins = tokenizer("a", verbose=False)["input_ids"][:1] == [tokenizer.cls_token_id]
    if model.language_model == "causal" or tokenizer.cls_token_id is None or not begins:
        raise ModelError(
            f"{model!r} has no [CLS] at the start of a text",
            why="the first token of a text knows nothing of the rest"
            if model.language_model == "causal"
            else "",
            fix="representation=mean or word_mean",
        )
    return list(model.embed([(example[0],) for example in examples], "cls"))


def mean(model: Any, examples: Sequence[Example]) -> Vectors:
    """The mean over all tokens."""
    return list(model.embed([(example[0],) for example in examples], "mean"))


def word_mean(model: Any, examples: Sequence[Example]) -> Vectors:
    """The mean over the pieces of the word."""
    states, offsets = _states(model, [example[0] for example in examples], special=True)
    return [_inside(states[row], offsets[row], find_word(*example)) for row, example in enumerate(examples)]


def first_piece_no_specials(model: Any, examples: Sequence[Example]) -> Vectors:
    """The first piece of a text that is given to the model without special tokens."""
    states, _ = _states(model, [example[0] for example in examples], special=False)
    return list(states[:, 0])


REPRESENTATIONS: dict[str, Callable[[Any, Sequence[Example]], Vectors]] = {
    "cls": cls,
    "mean": mean,
    "word_mean": word_mean,
    "first_piece_no_specials": first_piece_no_specials,
}


def find_word(sentence: str, word: str) -> tuple[int, int] | None:
    """Where a word stands in a sentence, as letters from and to; None if it does not.

    >>> find_word("An ant is a thing.", "ant"), find_word("Plants", "ant")
    ((3, 6), None)
    """
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence) if word else None
    return found.span() if found else None


def _states(
    model: Any, texts: Sequence[str], *, special: bool
) -> tuple[NDArray[np.float64], list[list[tuple[int, int]]]]:
    """The last layer (texts, tokens, width), and the letters that each token stands for."""
    torch, _ = libraries()
    if not model.tokenizer.is_fast:
        raise ModelError(
            f"{model!r}: its tokenizer does not say which letters a token stands for",
            fix="a checkpoint with a fast tokenizer (tokenizer.json)",
        )
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
    if span is None:
        return None
    rows = [row for row, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]
    found: NDArray[np.float64] = states[rows].mean(axis=0)
    return found if rows else None

"""Answer spans of a question answering model (`docs/method/beluga.md` 1.5, as in the reference code).

A long context is read in overlapping windows, without truncation. In each window the 20 best starts are paired with
the 20 best ends. The best pair over all windows is the answer; without a possible pair it is empty.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Answers, Example
from .checkpoint import libraries
from .forward import length_batches, padded

WINDOW = 384
"""Tokens of question and context together."""
STRIDE = 128
"""Tokens of context shared by two windows."""
BEST = 20
"""Candidates for the start, and for the end, in a window."""
ANSWER_TOKENS = 30
WINDOW_TOKENS = 4_096
"""The most tokens in a batch."""

Floats = NDArray[np.float64]


class Window(NamedTuple):
    """A part of a context with its question, as tokens."""

    row: int
    """The index of the example."""
    ids: list[int]
    segments: list[int] | None
    places: list[tuple[int, int] | None]
    """Each token's span in the context; None outside of it."""


def extract(network: Any, tokenizer: Any, examples: Sequence[Example], room: int = WINDOW) -> Answers:
    """Return the best span for each (context, question); a question without room for its context is an error."""
    torch, _ = libraries()
    best = np.full(len(examples), -np.inf)
    texts = [""] * len(examples)
    windows: list[Window] = []
    errors: dict[int, str] = {}
    for row, (context, question) in enumerate(examples):
        try:
            windows += context_windows(tokenizer, row, context, question, room)
        except ModelError as problem:
            errors[row] = problem.problem
    for part in length_batches([len(window.ids) for window in windows], WINDOW_TOKENS):
        chosen = [windows[at] for at in part]
        with torch.inference_mode():
            output = network(**padded(chosen, tokenizer.pad_token_id, network.device))
        starts, ends = (part.double().cpu().numpy() for part in (output.start_logits, output.end_logits))
        for row, window in enumerate(chosen):
            size, inside = len(window.ids), [place is not None for place in window.places]
            start, end, score = best_span(starts[row, :size], ends[row, :size], inside)
            first, last = window.places[start], window.places[end]
            if score > best[window.row] and first is not None and last is not None:
                best[window.row] = score
                texts[window.row] = examples[window.row][0][first[0] : last[1]].replace("\n", " ")
    return Answers((), np.zeros(len(examples), np.int64), texts=texts, errors=errors)


def context_windows(tokenizer: Any, row: int, context: str, question: str, room: int) -> list[Window]:
    """Return a context and its question as one or more windows of tokens."""
    asked = len(tokenizer(question, add_special_tokens=False, verbose=False)["input_ids"])
    left = room - asked - tokenizer.num_special_tokens_to_add(pair=True)
    if left < 1:
        raise ModelError(
            f"the question leaves no room for the context in {room} tokens: {question[:60]!r}",
            fix="shorter questions, or a model with a longer limit",
        )
    shared = min(STRIDE, room // 3)
    encoded = tokenizer(
        question,
        context,
        truncation="only_second",
        max_length=room,
        stride=shared if shared < left else left // 2,  # after a long question, windows must still advance
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,
    )
    takes_segments = "token_type_ids" in tokenizer.model_input_names
    windows: list[Window] = []
    for at, ids in enumerate(encoded["input_ids"]):
        owners = encoded.sequence_ids(at)
        offsets = encoded["offset_mapping"][at]
        places = [tuple(place) if owner == 1 else None for place, owner in zip(offsets, owners, strict=True)]
        windows.append(Window(row, ids, encoded["token_type_ids"][at] if takes_segments else None, places))
    return windows


def best_span(starts: Floats, ends: Floats, inside: Sequence[bool]) -> tuple[int, int, float]:
    """Return first token, last token and score of a window's best span; minus infinity without a possible one.

    Padding is excluded: among the 20 best it would make the answer depend on the other windows.

    >>> best_span(np.array([9.0, 1.0, 3.0]), np.array([9.0, 2.0, 1.0]), [False, True, True])
    (2, 2, 4.0)
    """
    first = np.argsort(-starts, kind="stable")[:BEST]
    last = np.argsort(-ends, kind="stable")[:BEST]
    sums = starts[first][:, None] + ends[last][None, :]
    places = np.array(inside)
    size = last[None, :] - first[:, None] + 1
    possible = places[first][:, None] & places[last][None, :] & (size >= 1) & (size <= ANSWER_TOKENS)
    scores = np.where(possible, sums, -np.inf)
    at = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(first[at[0]]), int(last[at[1]]), float(scores[at])

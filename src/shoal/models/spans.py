"""Answer spans from a question answering model (`docs/method/beluga.md` 1.5, as the reference code does it).

A context that is too long is read in windows that overlap. In each window the 20 best starts meet the 20 best ends;
the best pair over all windows wins, and where no pair is possible the answer is empty. Nothing is ever cut.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Answers, Example
from .checkpoint import first_line, libraries

WINDOW = 384
"""Tokens of question and context together."""
STRIDE = 128
"""Tokens of context that two windows share."""
BEST = 20
"""Starts, and ends, that are looked at in a window."""
ANSWER_TOKENS = 30
WINDOW_TOKENS = 4_096
"""Tokens at the most that go through the network at once."""

Floats = NDArray[np.float64]
Window = tuple[int, list[int], list[int], list[tuple[int, int] | None]]
"""Of which example, token ids, segments, and where in the context each token stands (None: not in it)."""


def extract(network: Any, tokenizer: Any, examples: Sequence[Example], room: int = WINDOW) -> Answers:
    """The best span of each (context, question); a question that fills its window alone is an error."""
    best = np.full(len(examples), -np.inf)
    texts = [""] * len(examples)
    windows: list[Window] = []
    errors: dict[int, str] = {}
    for row, (context, question) in enumerate(examples):
        try:
            windows += windows_of(tokenizer, row, context, question, room)
        except Exception as problem:  # tokenizers raises its own kind
            errors[row] = (
                f"the question leaves no room for the context in {room} tokens: {first_line(problem)}"
            )
    for part in _parts(windows):
        for (row, _, _, places), (start, end, score) in zip(
            part, _best_spans(network, tokenizer, part), strict=True
        ):
            first, last = places[start], places[end]
            if score > best[row] and first is not None and last is not None:
                best[row] = score
                texts[row] = examples[row][0][first[0] : last[1]].replace("\n", " ")
    return Answers((), np.zeros(len(examples), np.int64), texts=texts, errors=errors)


def windows_of(tokenizer: Any, row: int, context: str, question: str, room: int) -> list[Window]:
    """A context and its question as one or several rows of tokens."""
    asked = len(tokenizer(question, add_special_tokens=False, verbose=False)["input_ids"])
    left = room - asked - tokenizer.num_special_tokens_to_add(pair=True)
    if left < 1:
        raise ValueError(f"it has {asked} tokens itself")
    shared = min(STRIDE, room // 3)
    encoded = tokenizer(
        question,
        context,
        truncation="only_second",
        max_length=room,
        stride=shared if shared < left else left // 2,  # beside a long question windows must get on too
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,
    )
    windows: list[Window] = []
    for at, ids in enumerate(encoded["input_ids"]):
        owners = encoded.sequence_ids(at)
        offsets = encoded["offset_mapping"][at]
        places = [tuple(place) if owner == 1 else None for place, owner in zip(offsets, owners, strict=True)]
        windows.append((row, ids, encoded["token_type_ids"][at], places))
    return windows


def _parts(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Windows of like length together, so many that memory stays bounded whatever the context's length."""
    waiting = sorted(windows, key=lambda window: -len(window[1]))
    while waiting:
        count = max(1, WINDOW_TOKENS // len(waiting[0][1]))
        yield waiting[:count]
        waiting = waiting[count:]


def _best_spans(network: Any, tokenizer: Any, windows: Sequence[Window]) -> list[tuple[int, int, float]]:
    torch, _ = libraries()
    width = len(windows[0][1])
    ids = torch.full((len(windows), width), tokenizer.pad_token_id)
    segments, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, (_, tokens, kinds, _) in enumerate(windows):
        ids[row, : len(tokens)], segments[row, : len(tokens)] = torch.tensor(tokens), torch.tensor(kinds)
        mask[row, : len(tokens)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask}
    if "token_type_ids" in tokenizer.model_input_names:
        inputs["token_type_ids"] = segments
    with torch.inference_mode():
        said = network(**{name: tensor.to(network.device) for name, tensor in inputs.items()})
    starts, ends = said.start_logits.double().cpu().numpy(), said.end_logits.double().cpu().numpy()
    return [
        best_span(
            starts[row, : len(tokens)], ends[row, : len(tokens)], [place is not None for place in places]
        )
        for row, (_, tokens, _, places) in enumerate(windows)
    ]


def best_span(starts: Floats, ends: Floats, inside: Sequence[bool]) -> tuple[int, int, float]:
    """First and last token of the best span of a window, and its score; minus infinity where none is possible.

    Only real tokens take part: padding among the 20 best would make the answer depend on the other windows.

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

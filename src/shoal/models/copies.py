"""Query a Transformers classifier about many copies of a text in which tokens are masked or left out.

Copies are rows of token ids, so nothing is tokenised again. Equal copies are computed once, and copies of similar
length share a batch (`forward.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.records import Example
from .checkpoint import libraries
from .forward import length_batches, narrowed, padded, run_parallel, tokens_per_batch
from .hf import HFModel
from .labels import in_suite_order, suite_names
from .loaded import tokenizer_inputs

Numbers = NDArray[np.int64]
SPECIAL = -1
"""Text index of tokens outside all texts, such as [CLS]."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokens of an example and their origin."""

    ids: Numbers  # (tokens,)
    segments: Numbers | None  # (tokens,) token type ids, if the network takes them
    texts: tuple[int, ...]  # (tokens,) index of the text in the example, or SPECIAL
    spans: tuple[tuple[int, int], ...]  # (tokens,) start and end in that text


@dataclass(frozen=True, slots=True)
class Row:
    """A copy of a text as token ids."""

    ids: Numbers
    segments: Numbers | None

    @property
    def name(self) -> bytes:
        return self.ids.tobytes() + (b"" if self.segments is None else b"|" + self.segments.tobytes())


def tokenize_examples(model: HFModel, examples: Sequence[Example]) -> list[Pieces]:
    """Return the tokens of whole examples; raise if one exceeds the model's limit."""
    model.require_offsets()
    model.refuse_truncation(examples, "truncated words cannot be explained")
    encoded = model.tokenizer(tokenizer_inputs(examples), return_offsets_mapping=True, verbose=False)
    segments = encoded.get("token_type_ids")
    return [
        Pieces(
            np.array(ids, np.int64),
            None if segments is None else np.array(segments[number], np.int64),
            tuple(SPECIAL if source is None else source for source in encoded.sequence_ids(number)),
            tuple((start, end) for start, end in encoded["offset_mapping"][number]),
        )
        for number, ids in enumerate(encoded["input_ids"])
    ]


def label_order(model: HFModel, labels: Sequence[str] | None) -> tuple[tuple[str, ...], list[int]]:
    """Return the model's labels in the suite's order, and the network's column of each."""
    theirs = suite_names(model.own_labels, labels, repr(model))
    names = in_suite_order(theirs, labels)
    return tuple(names), [theirs.index(name) for name in names]


def ask_rows(model: HFModel, rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return probabilities (rows, labels) in the model's own order."""
    torch, _ = libraries()
    first: dict[bytes, int] = {}
    places = [first.setdefault(row.name, len(first)) for row in rows]
    distinct: list[Row] = [None] * len(first)  # type: ignore[list-item]
    for row, place in zip(rows, places, strict=True):
        distinct[place] = row
    network = model.network("classify")
    answers = np.zeros((len(distinct), network.config.num_labels))

    def look(part: list[int]) -> None:
        inputs = padded([distinct[at] for at in part], model.tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            answers[part] = network(**inputs).logits.double().softmax(dim=-1).cpu().numpy()

    with narrowed(network):
        parts = list(length_batches([len(row.ids) for row in distinct], tokens_per_batch(network)))
        run_parallel(network, look, parts)
    return answers[places]

"""What a Transformers classifier says of many copies of a text in which some tokens are masked or left out.

Copies are rows of token numbers: nothing is tokenised again, copies that are the same are asked once, and copies of
like length go through the network together, which computes only what leads to its answer (`masks.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Example
from .checkpoint import libraries
from .hf import HFModel, inputs_of
from .labels import in_suite_order, suite_names
from .likelihood import parts_of, room_of, side_by_side
from .masks import asked_for_labels

if TYPE_CHECKING:
    from torch import Tensor

Numbers = NDArray[np.int64]
SPECIAL = -1
"""In the place of a text's number: a token that no text has, such as [CLS]."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """An example as the network reads it, and where each token comes from."""

    ids: Numbers  # (tokens,)
    segments: Numbers | None  # (tokens,) which text of a pair, where the network wants to know
    texts: tuple[int, ...]  # (tokens,) which text of the example, or SPECIAL
    spans: tuple[tuple[int, int], ...]  # (tokens,) from and to which letter of that text


@dataclass(frozen=True, slots=True)
class Row:
    """A copy: token numbers and what goes with them."""

    ids: Numbers
    segments: Numbers | None

    @property
    def name(self) -> bytes:
        """What two copies share that are the same."""
        return self.ids.tobytes() + (b"" if self.segments is None else b"|" + self.segments.tobytes())


def pieces_of(model: HFModel, examples: Sequence[Example]) -> list[Pieces]:
    """The tokens of whole examples; one that the model does not take whole is refused."""
    if not model.tokenizer.is_fast:
        raise ModelError(
            f"{model!r}: its tokenizer does not say which letters a token stands for",
            fix="a checkpoint with a fast tokenizer (tokenizer.json)",
        )
    longest = max(model.lengths(examples), default=0)
    if longest > model.longest:
        raise ModelError(
            f"{model!r}: a text of {longest:,} tokens; the model takes {model.longest:,}",
            why="words that were cut off say nothing about an answer",
            fix="shorter texts, or a model that takes longer ones",
        )
    encoded = model.tokenizer(inputs_of(examples), return_offsets_mapping=True, verbose=False)
    rows = []
    for number in range(len(examples)):
        sources = encoded.sequence_ids(number)
        rows.append(
            Pieces(
                np.array(encoded["input_ids"][number], np.int64),
                np.array(encoded["token_type_ids"][number], np.int64)
                if "token_type_ids" in encoded
                else None,
                tuple(SPECIAL if source is None else source for source in sources),
                tuple((start, end) for start, end in encoded["offset_mapping"][number]),
            )
        )
    return rows


def label_order(model: HFModel, labels: Sequence[str] | None) -> tuple[tuple[str, ...], list[int]]:
    """The names of a model's answers in the order in which they are wanted, and the number of each in the network."""
    theirs = suite_names(model.own_labels, labels, repr(model))
    names = in_suite_order(theirs, labels)
    return tuple(names), [theirs.index(name) for name in names]


def ask_rows(model: HFModel, rows: Sequence[Row]) -> NDArray[np.float64]:
    """Probabilities (rows, labels) in the model's own order."""
    torch, _ = libraries()
    first: dict[bytes, int] = {}
    places = [first.setdefault(row.name, len(first)) for row in rows]
    distinct: list[Row] = [None] * len(first)  # type: ignore[list-item]
    for row, place in zip(rows, places, strict=True):
        distinct[place] = row
    network = model.network("classify")
    answers = np.zeros((len(distinct), network.config.num_labels))

    def look(part: list[int]) -> None:
        with torch.inference_mode():
            logits = ask(
                **padded([distinct[at] for at in part], model.tokenizer.pad_token_id, network.device)
            )
            answers[part] = logits.double().softmax(dim=-1).cpu().numpy()

    with asked_for_labels(network) as ask:
        side_by_side(network, look, list(parts_of([len(row.ids) for row in distinct], room_of(network))))
    return answers[places]


def padded(rows: Sequence[Row], pad: int, device: Any) -> "dict[str, Tensor]":
    """What the network is given: every row as long as the longest, and what of it is no padding."""
    torch, _ = libraries()
    lengths = np.array([len(row.ids) for row in rows])
    width = int(lengths.max())
    ids = np.full((len(rows), width), pad)
    segments = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        if row.segments is not None:
            segments[number, : len(row.ids)] = row.segments
    inputs = {"input_ids": ids}
    if lengths.min() < width:  # without padding the network need not look for it
        inputs["attention_mask"] = (np.arange(width) < lengths[:, None]).astype(np.int64)
    if rows[0].segments is not None:
        inputs["token_type_ids"] = segments
    return {name: torch.from_numpy(column).to(device) for name, column in inputs.items()}

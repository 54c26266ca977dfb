"""Training data of reading comprehension: windows of a context, answers as tokens, aligned pairs.

`docs/method/beluga.md` 1.4. A context that exceeds the model's length is read in overlapping windows, each an item with
its question. The target of a window without the whole answer is its first token, which is not part of the context.

    spans = "context"     pairs are aligned by the tokens of their contexts; a pair whose answer was substituted has no
                          gradient
    spans = "reference"   as in BELUGA's code: pairs aligned by the whole window and padded with its first token; no
                          segments
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from ..core.records import Example
from . import losses
from .batch import BoundedLoss, Rows, Tokens, to_device
from .environments import Alike, Answered, Environment

ANSWER_KEPT = 0.05
"""Below this start or end probability of the original on aligned tokens, the answer itself was substituted."""

Aligned = tuple[Rows, Rows]


class Windows(Tokens):
    """The distinct examples as windows of tokens; a row is a window."""

    def __init__(self, model: Any, examples: Iterable[Example], way: str = "context") -> None:
        distinct = list(dict.fromkeys(examples))
        self.reference, self.padding = way == "reference", model.padding
        self.device, self.network = model.device, model.network(model.trained)
        cut = model.windows(distinct)
        ends = np.cumsum([len(windows) for windows in cut]).tolist()
        starts = [0, *ends[:-1]]
        self.windows_of = {
            example: range(start, end) for example, start, end in zip(distinct, starts, ends, strict=True)
        }
        self.windows = [window for windows in cut for window in windows]
        self.lengths = np.array([len(ids) for _, ids, _, _ in self.windows], np.int64)
        mask = np.ones(self.lengths.max(initial=0), np.int64)
        self.columns = {
            "input_ids": [ids for _, ids, _, _ in self.windows],
            "attention_mask": [mask[:length] for length in self.lengths.tolist()],
        }
        if model.takes_segments and not self.reference:
            self.columns["token_type_ids"] = [segments for _, _, segments, _ in self.windows]
        self.aligned: dict[tuple[int, int], Aligned] = {}

    def cut(self, environment: Environment) -> Environment:
        """Return the environment with an item for each window."""
        answered = [item for item in environment.items if isinstance(item, Answered)]
        if not answered:
            return environment
        windows = [(item, len(self.windows_of[item.example])) for item in answered]
        items = [replace(item, window=window) for item, count in windows for window in range(count)]
        return replace(environment, items=items)

    def ends(self, item: Answered) -> tuple[list[int], list[int]]:
        """Return the start and end tokens of the answer in an item's window; the first token if it is absent."""
        places = self.windows[self.windows_of[item.example][item.window]][3]
        ends = [token_ends(places, *place) for place in item.places]
        inside = [pair for pair in ends if pair is not None]
        return [first for first, _ in inside] or [0], [last for _, last in inside] or [0]

    def alignment(self, original: int, variant: int) -> Aligned:
        """Return the positions of the tokens that two windows share, computed once."""
        if (original, variant) not in self.aligned:
            shown, tokens = [], []
            for _, ids, _, places in (self.windows[original], self.windows[variant]):
                # The tokens of the context, in the reference all.
                shown.append([at for at, place in enumerate(places) if self.reference or place is not None])
                tokens.append([ids[at] for at in shown[-1]])
            before, after = align(*tokens)
            self.aligned[original, variant] = (np.array(shown[0])[before], np.array(shown[1])[after])
        return self.aligned[original, variant]


def token_ends(places: Sequence[tuple[int, int] | None], low: int, high: int) -> tuple[int, int] | None:
    """Return the first and last token of a part of the context; None if a window does not hold all of it.

    >>> token_ends([None, (0, 4), (5, 8), (8, 9)], 5, 8)
    (2, 2)
    """
    first = [at for at, place in enumerate(places) if place and place[0] <= low < place[1]]
    last = [at for at, place in enumerate(places) if place and place[0] < high <= place[1]]
    return (first[0], last[-1]) if first and last else None


def align(original: Sequence[int], variant: Sequence[int]) -> Aligned:
    """Return the positions of the tokens that two texts share, by their longest matching blocks.

    >>> [places.tolist() for places in align([1, 2, 3, 4], [1, 9, 9, 3, 4])]
    [[0, 2, 3], [0, 3, 4]]
    """
    blocks = SequenceMatcher(None, variant, original).get_matching_blocks()
    before = [at for block in blocks for at in range(block.b, block.b + block.size)]
    after = [at for block in blocks for at in range(block.a, block.a + block.size)]
    return np.array(before, np.int64), np.array(after, np.int64)


class AnsweredLoader:
    """Windows with the start and end of the answer in each."""

    def __init__(self, items: Sequence[Answered], source: Windows, loss: Any) -> None:
        self.source = source
        self.rows = np.array([source.windows_of[item.example][item.window] for item in items], np.int64)
        self.lengths = source.lengths[self.rows]
        self.answers = [source.ends(item) for item in items]

    def show(self, chosen: Rows, rng: Generator) -> tuple[Rows, int, "SpanLoss"]:
        lengths = self.lengths[chosen]
        wanted = np.zeros((len(chosen), int(lengths.max()), 2), np.bool_)
        for at, item in enumerate(chosen.tolist()):
            for side, tokens in enumerate(self.answers[item]):
                wanted[at, tokens, side] = True
        real = np.arange(wanted.shape[1]) < lengths[:, None]
        return self.rows[chosen], len(chosen), SpanLoss(torch.from_numpy(wanted), torch.from_numpy(real))


class AlikeLoader:
    """Questions and their variants; each visit draws one variant and a window that both have."""

    def __init__(self, items: Sequence[Alike], source: Windows, loss: Any) -> None:
        self.items, self.source = items, source
        longest = {text: source.lengths[list(rows)].max() for text, rows in source.windows_of.items()}
        self.lengths = np.array([max(longest[text] for text in item.examples) for item in items], np.int64)

    def show(self, chosen: Rows, rng: Generator) -> tuple[Rows, int, "AlignedLoss"]:
        pairs = [self._draw(self.items[item], rng) for item in chosen.tolist()]
        rows = np.array([[ours for ours, _ in pairs], [theirs for _, theirs in pairs]], np.int64)
        aligned = [self.source.alignment(*pair) for pair in pairs]
        width = int(self.source.lengths[rows].max())
        count = max(1, width if self.source.reference else max(len(before) for before, _ in aligned))
        places = np.zeros((2, len(pairs), count), np.int64)  # filled up with the first token
        for at, pair in enumerate(aligned):
            for side, positions in enumerate(pair):
                places[side, at, : len(positions)] = positions
        sizes = np.array([len(before) for before, _ in aligned])
        shared = np.arange(count) < sizes[:, None]
        if self.source.reference:
            shared[:] = True
        inside = np.arange(width) < self.source.lengths[rows[0], None]
        before, after, both, real = map(torch.from_numpy, (places[0], places[1], shared, inside))
        return rows.reshape(-1), len(pairs), AlignedLoss(before, after, both, real, self.source)

    def _draw(self, item: Alike, rng: Generator) -> tuple[int, int]:
        ours = self.source.windows_of[item.original]
        theirs = self.source.windows_of[item.variants[int(rng.integers(len(item.variants)))]]
        window = int(rng.integers(min(len(ours), len(theirs))))
        return ours[window], theirs[window]


@dataclass(frozen=True, slots=True)
class SpanLoss(BoundedLoss):
    """The loss of answers at known positions; `scale` applies to a token as start and as end."""

    wanted: Tensor  # (cases, tokens, 2)
    real: Tensor  # (cases, tokens)

    @property
    def multipliers(self) -> int:
        return self.real.shape[1]

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        """Return the mean over windows."""
        wanted, real = (to_device(one, logits.device) for one in (self.wanted, self.real))
        return losses.spans(logits if scale is None else logits * scale[..., None], wanted, real)


@dataclass(frozen=True, slots=True)
class AlignedLoss(BoundedLoss):
    """The loss of pairs whose answers should be at the same shared tokens; only the variant is scaled."""

    before: Tensor  # (cases, shared tokens): positions in the original
    after: Tensor  # (cases, shared tokens): positions in the variant
    shared: Tensor  # (cases, shared tokens): which of those there are
    inside: Tensor  # (cases, tokens): which tokens of the original are no padding
    source: Windows

    @property
    def multipliers(self) -> int:
        """Return one for each token that a pair shares."""
        return self.before.shape[1]

    def __call__(self, logits: Tensor, scale: Tensor | None = None) -> Tensor:
        """Return the mean over pairs with a gradient; 0 if there are none."""
        original, variant = logits.chunk(2)
        after = _at(variant, self.after)
        after = after if scale is None else after * scale[..., None]
        return self._mean(original, _at(original, self.before), after)

    def floor(self, logits: Tensor) -> Tensor:
        """Return the entropy of the original's answer over the shared tokens."""
        original = logits.detach().chunk(2)[0]
        before = _at(original, self.before)
        return self._mean(original, before, before)

    def _mean(self, original: Tensor, before: Tensor, after: Tensor) -> Tensor:
        """Return the mean over the pairs that have their answer on shared tokens, according to the model."""
        shared = to_device(self.shared, original.device)
        each = losses.aligned_spans(before, after, shared)
        if self.source.reference:
            return each.mean()
        inside = to_device(self.inside, original.device)[..., None]
        chances = original.detach().masked_fill(~inside, losses.NOWHERE).softmax(dim=1)
        here = _at(chances, self.before) * shared[..., None]
        kept = (here.sum(dim=1) >= ANSWER_KEPT).all(dim=1)
        return (each * kept).sum() / kept.sum().clamp(min=1)  # NaN stays NaN


def _at(logits: Tensor, places: Tensor) -> Tensor:
    """Return the logits at some tokens of each case: (cases, places, 2)."""
    where = to_device(places, logits.device)[..., None].expand(-1, -1, logits.shape[-1])
    return logits.gather(1, where)

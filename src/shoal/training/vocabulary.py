"""Training with the rows of the word table that its texts use; the others stay where they are anyway.

A row of no text has no gradient at any step, and AdamW without decay leaves it alone. So it needs neither gradient nor
moments: of an encoder with 30,000 word pieces and texts that have 3,000 of them, that is most of what an update reads
and writes. The weights are the same to the last bit (one thread): rows keep their order, and nothing added to a sum of
squares changes nothing, as long as a row fills whole vectors of the processor.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

LARGE = 2**20
"""Numbers in a table from which on it is worth the trouble."""
LANES = 64
"""Rows of a multiple of so many numbers fill whole vectors."""


class UsedRows(nn.Module):
    """A table of words that has only those which are used; asked for others, it does not know them."""

    def __init__(self, whole: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach()[used].clone())
        self.weight.requires_grad_(whole.weight.requires_grad)
        # Not a buffer: it is no part of what the network has learnt.
        self.place = torch.full((len(whole.weight),), -1, device=used.device)
        self.place[used] = torch.arange(len(used), device=used.device)
        padding = whole.padding_idx
        self.padding = None if padding is None else int(self.place[padding])

    def forward(self, words: Tensor) -> Tensor:
        """The rows of these words."""
        return nn.functional.embedding(self.place[words], self.weight, self.padding)


class Vocabulary:
    """The word table of a network, whole or as far as it is used."""

    def __init__(self, network: nn.Module, table: nn.Embedding, used: Tensor) -> None:
        self.network, self.table, self.used = network, table, used
        self.part = UsedRows(table, used)

    def narrow(self) -> None:
        """Only the rows that are used."""
        self.network.set_input_embeddings(self.part)  # type: ignore[operator]

    def widen(self) -> None:
        """All of them, with what was learnt."""
        with torch.no_grad():
            self.table.weight[self.used] = self.part.weight
        self.network.set_input_embeddings(self.table)  # type: ignore[operator]

    @contextmanager
    def whole(self) -> Iterator[None]:
        """All words, for as long as the network is asked whatever comes."""
        self.widen()
        try:
            yield
        finally:
            self.narrow()


def is_large(network: nn.Module) -> bool:
    """Whether the word table of a network is worth the trouble; most that are trained in tests are not."""
    table = _table(network)
    return table is not None and table.weight.numel() >= LARGE


def vocabulary_of(network: nn.Module, rows: Iterable[NDArray[np.int64]]) -> Vocabulary | None:
    """The words of these texts, where training with them alone is the same and worth it; else None."""
    table = _table(network)
    if table is None or not _is_plain(network, table):
        return None
    padding = [] if table.padding_idx is None else [table.padding_idx]
    used = np.unique(np.concatenate([np.array(padding, np.int64), *rows]))
    if 2 * len(used) > len(table.weight):
        return None
    return Vocabulary(network, table, torch.from_numpy(used).to(table.weight.device))


def _table(network: nn.Module) -> nn.Embedding | None:
    found = network.get_input_embeddings() if hasattr(network, "get_input_embeddings") else None  # type: ignore[operator]
    return found if type(found) is nn.Embedding else None


def _is_plain(network: nn.Module, table: nn.Embedding) -> bool:
    """A table that is looked up and nothing else: not tied to another layer, not scaled, not watched."""
    shared = sum(weight is table.weight for _, weight in network.named_parameters(remove_duplicate=False))
    special = table.max_norm is not None or table.scale_grad_by_freq or table.sparse
    watched = table._forward_hooks or table._forward_pre_hooks
    return table.embedding_dim % LANES == 0 and shared == 1 and not special and not watched

"""Small masked language models from nothing: the same recipe and text, another seed, another checkpoint.

BERT's own task without its next-sentence half (Devlin et al. 2019): 15 % of the tokens are chosen anew at every visit;
of these 80 % become a mask, 10 % another token, 10 % stay. The seed decides the first weights, the order of the text
and what is masked. The tokenizer is made of the text and is the same for every seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from ..core.errors import DataError
from ..models.fresh import fresh_model
from ..models.hf import HFModel
from .batch import Batch
from .config import How
from .loop import Log, train_network
from .stage import Mark, Progress
from .stepper import Learner
from .text import read_text, stamp
from .wordpieces import make_tokenizer

CHOSEN, MASKED, EXCHANGED = 0.15, 0.8, 0.1
SHORTEST = 4
"""Tokens below which a line says nothing that could be learnt."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the model and its vocabulary are."""

    width: int = 128
    layers: int = 2
    heads: int = 4
    vocabulary: int = 8_000
    length: int = 128
    """Tokens that the model takes at the most."""


def fresh_masked_model(text: str, shape: Shape, seed: int) -> HFModel:
    """A model of this shape with weights drawn from the seed, and a tokenizer made of the text."""
    tokenizer = _tokenizer_of(text, stamp(text), shape)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=2 * shape.width,
        max_position_embeddings=shape.length,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        network = BertForMaskedLM(config)
    return fresh_model("tiny:masked", "masked", network.eval(), tokenizer)


@lru_cache(maxsize=2)
def _tokenizer_of(text: str, _stamp: int, shape: Shape) -> PreTrainedTokenizerFast:
    return make_tokenizer(read_text(text), shape.vocabulary, shape.length)


def blocks_of(lines: Sequence[str], tokenizer: Any, length: int) -> list[NDArray[np.int64]]:
    """The lines as tokens, long ones cut into blocks; each block framed as a text of its own."""
    begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    blocks = []
    for ids in tokenizer(list(lines), add_special_tokens=False, verbose=False)["input_ids"]:
        for start in range(0, len(ids), length - 2):
            part = ids[start : start + length - 2]
            if len(part) >= SHORTEST:
                blocks.append(np.array([begin, *part, end], np.int64))
    return blocks


@dataclass(frozen=True, slots=True)
class MaskedBlocks:
    """Batches of blocks, shuffled and masked anew for each epoch."""

    blocks: Sequence[NDArray[np.int64]]
    tokenizer: Any
    batch: int
    rng: Generator

    @property
    def steps(self) -> int:
        """In one epoch."""
        return -(-len(self.blocks) // self.batch)

    def epoch(self) -> Iterator[Sequence[Batch]]:
        """The batches of the next epoch."""
        order = self.rng.permutation(len(self.blocks))
        for part in np.split(order, range(self.batch, len(order), self.batch)):
            inputs, wanted = self.show([self.blocks[at] for at in part])
            yield (Batch("text", inputs, partial(_loss, wanted), cases=len(part)),)

    def show(self, blocks: Sequence[NDArray[np.int64]]) -> tuple[dict[str, Tensor], Tensor]:
        """One visit to some blocks: what the network is given, and the tokens at the places that were chosen."""
        lengths = np.array([len(block) for block in blocks])
        filled = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(filled.shape, self.tokenizer.pad_token_id, np.int64)
        ids[filled] = np.concatenate(blocks)
        inside = filled & ~np.isin(ids, (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id))
        chosen = inside & (self.rng.random(ids.shape) < CHOSEN)
        if not chosen.any():
            chosen[0, 1] = True
        wanted = torch.from_numpy(ids[chosen])
        fate, others = self.rng.random(ids.shape), self.rng.integers(5, len(self.tokenizer), ids.shape)
        shown = np.where(chosen & (fate < MASKED), self.tokenizer.mask_token_id, ids)
        shown = np.where(chosen & (fate >= MASKED) & (fate < MASKED + EXCHANGED), others, shown)
        inputs = {"input_ids": shown, "attention_mask": filled.astype(np.int64), "chosen": chosen}
        return {name: torch.from_numpy(array) for name, array in inputs.items()}, wanted


def _loss(wanted: Tensor, logits: Tensor, scale: Tensor | None = None) -> Tensor:
    return functional.cross_entropy(logits, wanted.to(logits.device))


def logits_at_chosen(network: Any, inputs: dict[str, Tensor]) -> Tensor:
    """Logits (places, vocabulary) where tokens were chosen; the head is computed there only."""
    inputs = {name: column.to(network.device) for name, column in inputs.items()}
    states = network.base_model(
        inputs["input_ids"], attention_mask=inputs["attention_mask"]
    ).last_hidden_state
    logits: Tensor = network.cls(states[inputs["chosen"]])
    return logits


def pretrain(
    model: HFModel,
    text: str,
    how: How,
    length: int,
    seed: int,
    progress: Progress,
    mark: Mark,
    marks: Sequence[str],
) -> Log:
    """Train a masked model on a text, in place; `mark` is called at the end of each epoch that `marks` names."""
    network = model.network("masked")
    blocks = blocks_of(read_text(text), model.tokenizer, length)
    if not blocks:
        raise DataError(
            f"{text}: no line of at least {SHORTEST} tokens", fix="a file of whole sentences, one to a line"
        )
    feed = MaskedBlocks(blocks, model.tokenizer, how.batch, np.random.default_rng([seed, 0]))
    return train_network(
        Learner(network, partial(logits_at_chosen, network)), feed, how, seed, progress, mark, marks
    )

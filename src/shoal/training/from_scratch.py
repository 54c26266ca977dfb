"""Small BERT-shaped models from scratch: tokenizer, classifier, masked language model and its pre-training.

The trainers of the `tokenizers` library number pieces differently in every process. Stored weights would then belong to
other words, so the vocabulary is made here: letters, frequent words, frequent word endings. Pre-training is BERT's own
task without next-sentence prediction (Devlin et al. 2019): 15 % of the tokens are chosen anew at every visit;
80 % of them are masked, 10 % replaced, 10 % kept. The seed decides initial weights, order and masking, but not the
tokenizer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor
from torch.nn import functional
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from ..core.errors import DataError
from ..models.fresh import fresh_model
from ..models.hf import HFModel
from .batch import Batch, Rows, inputs_on, padded, to_device
from .config import TrainConfig
from .learner import Learner
from .loaders import shuffled_batches
from .loop import train_network
from .stage import Mark, Progress
from .text import read_text

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ENDINGS = 0.15
"""Share of the vocabulary for word endings."""
LONGEST_ENDING = 6
RARE_LETTER = 3
"""Rarer letters stay unknown."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a model and its vocabulary."""

    width: int = 128
    layers: int = 2
    heads: int = 4
    vocabulary: int = 8_000
    length: int = 128
    """Longest input in tokens."""


def make_tokenizer(texts: Iterable[str], size: int, length: int) -> PreTrainedTokenizerFast:
    """Return a lower-case word-piece tokenizer for these texts."""
    pieces = [*SPECIALS, *make_pieces(texts, size - len(SPECIALS))]
    model = models.WordPiece({piece: code for code, piece in enumerate(pieces)}, unk_token="[UNK]")
    tokenizer = bare_tokenizer(model)
    tokenizer.decoder = decoders.WordPiece()
    ends = [(name, SPECIALS.index(name)) for name in ("[SEP]", "[CLS]")]  # they come first, in order
    tokenizer.post_processor = processors.BertProcessing(*ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=length,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def bert_config(tokenizer: PreTrainedTokenizerFast, shape: Shape, labels: Sequence[str] = ()) -> BertConfig:
    """Return the configuration of a small BERT, with the labels of its head if it has any."""
    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=2 * shape.width,
        max_position_embeddings=shape.length,
        pad_token_id=tokenizer.pad_token_id,
        id2label=dict(enumerate(labels)) or None,
        label2id={label: code for code, label in enumerate(labels)} or None,
    )


def make_pieces(texts: Iterable[str], size: int) -> list[str]:
    """Return letters, then the most frequent words and endings; ties in alphabetical order."""
    bare = bare_tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    words, letters, endings = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:  # split as the tokenizer splits them
        split = bare.pre_tokenizer.pre_tokenize_str(bare.normalizer.normalize_str(text))
        words.update(word for word, _ in split)
    for word, times in words.items():
        letters.update({letter: times * word.count(letter) for letter in word})
    known = sorted(letter for letter, times in letters.items() if times >= RARE_LETTER)
    pieces = dict.fromkeys([*known, *(f"##{letter}" for letter in known)])
    room = max(0, size - len(pieces))
    whole = [word for word in _frequent(words) if len(word) > 1]
    kept = whole[: room - int(room * ENDINGS)]
    for word in whole[len(kept) :]:  # words that will be split into pieces
        for start in range(max(1, len(word) - LONGEST_ENDING), len(word) - 1):
            endings[f"##{word[start:]}"] += words[word]
    pieces |= dict.fromkeys([*kept, *_frequent(endings)])
    return list(pieces)[:size]


def bare_tokenizer(model: models.WordPiece) -> Tokenizer:
    """Return a tokenizer that splits lower-case words as BERT does."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _frequent(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))


CLASSIFIER = Shape(width=64, vocabulary=1_500, length=96)


def fresh_classifier(texts: Sequence[str], labels: Sequence[str], seed: int) -> HFModel:
    """Return a classifier with random weights and a tokenizer made from these texts."""
    tokenizer = _tokenizer_of(tuple(texts), CLASSIFIER)
    network = _fresh(BertForSequenceClassification, bert_config(tokenizer, CLASSIFIER, labels), seed)
    return fresh_model("tiny:classifier", "classify", network, tokenizer)


def _fresh(kind: type[PreTrainedModel], config: BertConfig, seed: int) -> PreTrainedModel:
    """Return a network with random weights."""
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        network: PreTrainedModel = kind(config).eval()
    return network


@lru_cache(maxsize=4)
def _tokenizer_of(texts: tuple[str, ...], shape: Shape) -> PreTrainedTokenizerFast:
    return make_tokenizer(texts, shape.vocabulary, shape.length)


CHOSEN, MASKED, EXCHANGED = 0.15, 0.8, 0.1
SHORTEST = 4
"""Shorter lines are skipped."""


def fresh_masked_model(text: str, shape: Shape, seed: int) -> HFModel:
    """Return a masked language model with random weights and a tokenizer made from the text."""
    tokenizer = _tokenizer_of(read_text(text), shape)
    network = _fresh(BertForMaskedLM, bert_config(tokenizer, shape), seed)
    return fresh_model("tiny:masked", "masked", network, tokenizer)


def blocks_of(lines: Sequence[str], tokenizer: Any, length: int) -> list[Rows]:
    """Return the lines as tokens, cut into blocks that each start and end as a text."""
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
    """Batches of blocks, shuffled and masked anew in each epoch."""

    blocks: Sequence[Rows]
    tokenizer: Any
    batch: int
    rng: Generator
    by_length: bool = False

    @property
    def steps(self) -> int:
        return -(-len(self.blocks) // self.batch)

    def epoch(self) -> Iterator[Sequence[Batch]]:
        lengths = np.array([len(block) for block in self.blocks])
        for part in shuffled_batches(lengths, self.batch, self.rng, by_length=self.by_length):
            inputs, wanted = self.show([self.blocks[at] for at in part])
            yield (Batch("text", inputs, partial(code_loss, wanted)),)

    def show(self, blocks: Sequence[Rows]) -> tuple[dict[str, Tensor], Tensor]:
        """Return network inputs for some blocks, and the tokens at the chosen positions."""
        ids = padded(blocks, self.tokenizer.pad_token_id)
        filled = padded([np.ones(len(block), np.int64) for block in blocks], 0).astype(bool)
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


def code_loss(wanted: Tensor, logits: Tensor, scale: Tensor | None = None) -> Tensor:
    """Return the cross-entropy with the codes of the right labels or tokens."""
    return functional.cross_entropy(logits, to_device(wanted, logits.device))


def logits_at_chosen(network: Any, inputs: dict[str, Tensor]) -> Tensor:
    """Return logits (positions, vocabulary) at the chosen tokens only."""
    tables = {name: column.numpy() for name, column in inputs.items()}
    places = to_device(torch.from_numpy(np.flatnonzero(tables.pop("chosen"))), network.device)
    output = network.base_model(**inputs_on(network.device, network, tables))
    logits: Tensor = network.cls(output.last_hidden_state.flatten(0, 1)[places])
    return logits


def pretrain(
    model: HFModel,
    text: str,
    config: TrainConfig,
    length: int,
    seed: int,
    progress: Progress,
    mark: Mark,
    marks: Sequence[str],
) -> list[float]:
    """Train a masked model on a text in place; call `mark` at the end of each epoch in `marks`."""
    network = model.network("masked")
    blocks = blocks_of(read_text(text), model.tokenizer, length)
    if not blocks:
        raise DataError(
            f"{text}: no line of at least {SHORTEST} tokens", fix="a file of whole sentences, one to a line"
        )
    feed = MaskedBlocks(
        blocks, model.tokenizer, config.batch, np.random.default_rng([seed, 0]), config.group_by_length
    )
    learner = Learner(network, partial(logits_at_chosen, network))
    return train_network(learner, feed, config, seed, progress, mark, marks)

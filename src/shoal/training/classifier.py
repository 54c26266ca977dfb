"""A very small classifier from nothing: its tokenizer is made of the texts at hand, its weights are drawn."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from ..models.fresh import fresh_model
from ..models.hf import HFModel
from .wordpieces import make_tokenizer

SHAPE = {"vocabulary": 1_500, "width": 64, "layers": 2, "heads": 4, "length": 96}
"""What decides its shape, beside texts and labels."""


def fresh_classifier(texts: Sequence[str], labels: Sequence[str], seed: int) -> HFModel:
    """A model of this shape with weights drawn from the seed, that reads the words of these texts."""
    tokenizer = _tokenizer_of(tuple(texts))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=SHAPE["width"],
        num_hidden_layers=SHAPE["layers"],
        num_attention_heads=SHAPE["heads"],
        intermediate_size=2 * SHAPE["width"],
        max_position_embeddings=SHAPE["length"],
        pad_token_id=tokenizer.pad_token_id,
    )
    config.num_labels = len(labels)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: code for code, label in enumerate(labels)}
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        network = BertForSequenceClassification(config)
    return fresh_model("tiny:classifier", "classify", network.eval(), tokenizer)


@lru_cache(maxsize=4)
def _tokenizer_of(texts: tuple[str, ...]) -> PreTrainedTokenizerFast:
    return make_tokenizer(texts, SHAPE["vocabulary"], SHAPE["length"])

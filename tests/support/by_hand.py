"""Classifiers made by hand, whose probabilities are known functions of the embeddings of their tokens."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("good", "bad", "film", "plot", "not", ".", "un", "##seen"),
]


def by_hand(table: dict[str, list[float]], logit: Callable[[Any], Any], *, mask: bool = True) -> Any:
    """A model with these embeddings, zero where none is given, and this logit of "yes" against "no"."""
    torch = pytest.importorskip("torch", reason="needs shoal[hf]")
    from shoal.models.fresh import fresh_model

    class Network(torch.nn.Module):  # type: ignore[name-defined,misc]
        device = torch.device("cpu")

        def __init__(self) -> None:
            super().__init__()
            width = len(next(iter(table.values())))
            self.embeddings = torch.nn.Embedding(len(WORDS), width)
            with torch.no_grad():
                self.embeddings.weight.copy_(torch.tensor([table.get(word, [0.0] * width) for word in WORDS]))
            self.config = SimpleNamespace(
                model_type="by hand", num_labels=2, pad_token_id=0, vocab_size=len(WORDS), is_decoder=False,
                id2label={0: "no", 1: "yes"}, problem_type=None, to_dict=dict, max_position_embeddings=None,
            )  # fmt: skip
            self.rows = 0

        def get_input_embeddings(self):
            return self.embeddings

        def forward(self, input_ids=None, inputs_embeds=None, attention_mask=None, token_type_ids=None):
            given = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
            self.rows += len(given)
            if attention_mask is not None:
                given = given * attention_mask[:, :, None]
            yes = logit(given)
            return SimpleNamespace(logits=torch.stack([torch.zeros_like(yes), yes], dim=-1))

    return fresh_model("by hand", "classify", Network(), _tokenizer(mask=mask))


def _tokenizer(*, mask: bool) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="needs shoal[hf]")
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: code for code, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    marks |= {"mask_token": "[MASK]"} if mask else {}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=12, **marks)

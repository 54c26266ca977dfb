"""Tiny Transformers models with random weights, saved as others' are: safetensors, tokenizer.json, config.json."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

SENTENCES = """
    the film was very good . a meal is not bad , but it was so awful ! i think you thought they lives lovely great
    boring who what where did anna go ? bob went to paris and carol works in london as doctor baker
"""
WORDS = list(dict.fromkeys(SENTENCES.split()))
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[BOS]"]


def save_tokenizer(folder: Path, length: int, *, bos: bool = False) -> None:
    """A word-level tokenizer that frames texts as BERT does, or, for `bos`, leaves them bare as GPT-2 does."""
    tokenizers = pytest.importorskip("tokenizers", reason="needs shoal[hf]")
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: code for code, word in enumerate([*SPECIALS, *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "model_max_length": length}
    if bos:
        names |= {"bos_token": "[BOS]", "model_input_names": ["input_ids", "attention_mask"]}
    else:
        made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        names |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
        names |= {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)


def save_model(folder: Path, kind: str, length: int = 48, **config: Any) -> Path:
    """A two-layer model of a Transformers class with fixed random weights, large enough to have opinions."""
    torch = pytest.importorskip("torch", reason="needs shoal[hf]")
    transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")
    torch.manual_seed(0)
    vocabulary = len(SPECIALS) + len(WORDS)
    if kind.startswith("GPT2"):
        sizes: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": length}
        sizes |= {"bos_token_id": SPECIALS.index("[BOS]"), "eos_token_id": SPECIALS.index("[BOS]")}
        settings = transformers.GPT2Config(vocab_size=vocabulary, initializer_range=0.3, **sizes, **config)
    else:
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        settings = transformers.BertConfig(
            vocab_size=vocabulary, max_position_embeddings=length, initializer_range=0.2, **sizes, **config
        )
    network = getattr(transformers, kind)(settings).eval()
    if hasattr(network, "classifier"):  # of two minds, so that verdicts differ between texts
        texts = torch.randint(len(SPECIALS), vocabulary, (200, 10))
        with torch.no_grad():
            network.classifier.weight *= 4
            network.classifier.bias -= network(texts).logits.mean(dim=0)
    network.save_pretrained(folder)
    save_tokenizer(folder, length, bos=kind.startswith("GPT2"))
    return folder


def label_names(*names: str) -> dict[str, Any]:
    """A configuration's names for its labels."""
    return {
        "num_labels": len(names),
        "id2label": dict(enumerate(names)),
        "label2id": {name: code for code, name in enumerate(names)},
    }


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder for every kind of model."""
    root = tmp_path_factory.mktemp("checkpoints")
    sentiment = label_names("NEGATIVE", "POSITIVE")
    return {
        "classifier": save_model(root / "classifier", "BertForSequenceClassification", **sentiment),
        "nameless": save_model(root / "nameless", "BertForSequenceClassification", num_labels=2),
        "three": save_model(
            root / "three", "BertForSequenceClassification", **label_names("positive", "negative", "neutral")
        ),
        "decoder": save_model(root / "decoder", "GPT2ForSequenceClassification", **sentiment, pad_token_id=0),
        "encoder": save_model(root / "encoder", "BertModel"),
        "reader": save_model(root / "reader", "BertForQuestionAnswering"),
        "masked": save_model(root / "masked", "BertForMaskedLM"),
        "causal": save_model(root / "causal", "GPT2LMHeadModel"),
    }


@pytest.fixture(scope="session")
def save() -> Any:
    """`save_model`, for a test that needs a model of its own."""
    return save_model


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.ModuleType:
    """A module of the user's, `answering`, into which a test puts models."""
    made = types.ModuleType("answering")
    (tmp_path / "answering.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "answering", made)
    made.__spec__ = types.SimpleNamespace(origin=str(tmp_path / "answering.py"), name="answering")  # type: ignore[assignment]
    return made

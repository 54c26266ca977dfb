"""A linear head on the first token's state: nothing else stands between; other architectures are refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402

LABELS = ("consistent", "inconsistent")
TEXTS = [("the film was good",), ("bad",)]


@pytest.fixture
def roberta(folders, tmp_path) -> Path:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    folder = tmp_path / "roberta"
    shutil.copytree(folders["classifier"], folder)
    sizes: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 2, "intermediate_size": 64}
    config = RobertaConfig(vocab_size=100, max_position_embeddings=50, type_vocab_size=2, **sizes)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_answers_are_linear_in_the_first_state_and_the_usual_head_is_not(folders, roberta, kind):
    spec = f"hf:{folders['encoder'] if kind == 'bert' else roberta}"
    usual, linear = (load_model(spec).with_fresh_head(LABELS, 0, linear=given) for given in (False, True))
    inputs = linear.encode(TEXTS)
    with torch.inference_mode():
        network = linear.network("classify")
        state = network.base_model(**inputs).last_hidden_state[:, 0]
        layer = network.classifier if kind == "bert" else network.classifier.out_proj
        assert torch.allclose(network(**inputs).logits, state @ layer.weight.T + layer.bias, atol=1e-6)
        assert not torch.allclose(network(**inputs).logits, usual.network("classify")(**inputs).logits)
    names = [
        name for name, _ in network.named_parameters() if "pooler" in name or "dense" in name.split(".")[1:2]
    ]
    assert not names, "weights that no answer depends on are not trained"


def test_weights_of_a_linear_head_are_saved_and_read_again(folders, tmp_path):
    first, second = (
        load_model(f"hf:{folders['encoder']}").with_fresh_head(LABELS, seed, linear=True) for seed in (0, 1)
    )
    first.save_weights(tmp_path / "a.safetensors")
    second.load_weights(tmp_path / "a.safetensors")
    assert (first.classify(TEXTS, None).probabilities == second.classify(TEXTS, None).probabilities).all()


def test_an_architecture_of_another_kind_is_refused(folders):
    with pytest.raises(ModelError, match=r"no linear head for a GPT2[\s\S]*head = \"own\""):
        load_model(f"hf:{folders['decoder']}").with_fresh_head(LABELS, 0, linear=True)

"""A checkpoint's encoder under a new head: what is drawn, what must be there, weights and features in files."""

import shutil
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from safetensors.torch import load_file, save_file  # noqa: E402

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402
from shoal.models.fresh import make_linear  # noqa: E402
from shoal.training.checkpointing import load_features, save_features  # noqa: E402

LABELS = ("different", "same", "unsure")
TEXTS = [("the film was good",), ("a very , very boring meal !",), ("bad",), ("good", "a b")]


def weights(model):
    return model.network(model.trained).state_dict()


@pytest.mark.parametrize("kind", ["encoder", "masked"])
def test_the_encoder_is_the_checkpoints_and_the_head_is_new(folders, kind):
    model = load_model(f"hf:{folders[kind]}").with_fresh_head(LABELS, seed=0)
    stored = load_file(folders[kind] / "model.safetensors")
    stored = {name if name.startswith("bert.") else f"bert.{name}": value for name, value in stored.items()}
    found = weights(model)
    kept = {name for name, value in found.items() if name in stored and torch.equal(value, stored[name])}
    drawn = {name for name in found if name not in kept}
    pooler = {"bert.pooler.dense.weight", "bert.pooler.dense.bias"} if kind == "masked" else set()
    assert drawn == {"classifier.weight", "classifier.bias"} | pooler
    assert found["classifier.weight"].shape == (3, 32)
    assert model.own_labels == LABELS and not model.network("classify").training


@pytest.mark.parametrize("kind", ["masked", "decoder"])
def test_the_seed_alone_decides_a_fresh_head(folders, kind):
    def head(seed, disturbance):
        torch.manual_seed(disturbance)
        model = load_model(f"hf:{folders[kind]}").with_fresh_head(LABELS, seed)
        after = torch.rand(1)
        torch.manual_seed(disturbance)
        assert torch.equal(torch.rand(1), after), "whoever draws next must not notice"
        return weights(model)

    first, again, other = head(1, 0), head(1, 1), head(2, 0)
    assert all(torch.equal(first[name], again[name]) for name in first)
    changed = {name for name in first if not torch.equal(first[name], other[name])}
    assert {name.split(".")[0] for name in changed} <= {"classifier", "score", "bert"} and changed
    assert all("weight" in name for name in changed)


def test_an_encoder_with_a_hole_is_refused(folders, tmp_path):
    shutil.copytree(folders["encoder"], tmp_path / "hole")
    stored = load_file(tmp_path / "hole" / "model.safetensors")
    (lost,) = [
        name for name in stored if name.endswith("layer.1.output.dense.weight") and "attention" not in name
    ]
    del stored[lost]
    save_file(stored, tmp_path / "hole" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"an incomplete encoder[\s\S]*layer.1.output.dense.weight"):
        load_model(f"hf:{tmp_path / 'hole'}").with_fresh_head(LABELS, 0)


def test_training_in_half_precision_is_refused(folders):
    with pytest.raises(ModelError, match=r"training in float16[\s\S]*  try: dtype=bfloat16"):
        load_model(f"hf:{folders['encoder']}?dtype=float16").with_fresh_head(LABELS, 0)


def roberta(folders, folder):
    from transformers import RobertaConfig, RobertaForSequenceClassification

    shutil.copytree(folders["classifier"], folder)
    sizes: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 2, "intermediate_size": 64}
    config = RobertaConfig(vocab_size=100, max_position_embeddings=50, type_vocab_size=2, **sizes)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_linear_head_reads_the_first_state_and_the_usual_head_does_not(folders, tmp_path, kind):
    spec = f"hf:{folders['encoder'] if kind == 'bert' else roberta(folders, tmp_path / 'r')}"
    usual, linear = (load_model(spec).with_fresh_head(LABELS, 0, linear=given) for given in (False, True))
    inputs, network = linear.encode(TEXTS[:3]), linear.network("classify")
    with torch.inference_mode():
        state = network.base_model(**inputs).last_hidden_state[:, 0]
        layer = network.classifier if kind == "bert" else network.classifier.out_proj
        assert torch.allclose(network(**inputs).logits, state @ layer.weight.T + layer.bias, atol=1e-6)
        assert not torch.allclose(network(**inputs).logits, usual.network("classify")(**inputs).logits)
    names = [
        name for name, _ in network.named_parameters() if "pooler" in name or "dense" in name.split(".")[1:2]
    ]
    assert not names, "weights that no answer depends on are not trained"
    linear.save_weights(tmp_path / "a.safetensors")
    other = load_model(spec).with_fresh_head(LABELS, 1, linear=True)
    other.load_weights(tmp_path / "a.safetensors")
    assert (linear.classify(TEXTS, None).probabilities == other.classify(TEXTS, None).probabilities).all()


def test_a_linear_head_whose_answers_are_not_linear_in_the_first_state_is_refused():
    from transformers import AlbertConfig, AlbertForSequenceClassification

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    network = AlbertForSequenceClassification(AlbertConfig(embedding_size=16, **sizes)).eval()
    with pytest.raises(ModelError, match=r"AlbertForSequence\w+ are not linear[\s\S]*head = \"own\""):
        make_linear(network, "hf:x")


# Weights


def test_weights_of_another_model_are_refused(folders, tmp_path):
    load_model(f"hf:{folders['encoder']}").with_fresh_head(LABELS, 0).save_weights(tmp_path / "a.safetensors")
    two = load_model(f"hf:{folders['encoder']}").with_fresh_head(LABELS[:2], 0)
    (tmp_path / "b.safetensors").write_text("nothing")
    for name in ("a.safetensors", "b.safetensors"):
        with pytest.raises(ModelError, match=f"{name}: not weights of hf:"):
            two.load_weights(tmp_path / name)


def test_from_features_a_model_answers_as_it_does_from_texts(folders, tmp_path):
    model = load_model(f"hf:{folders['classifier']}")
    whole = model.classify(TEXTS, None).probabilities
    save_features(model.features(TEXTS), tmp_path / "a.npz")
    model.frozen = load_features(tmp_path / "a.npz")
    model.network("classify").base_model.forward = None  # cannot be asked any more
    assert model.classify(TEXTS, None).probabilities == pytest.approx(whole, abs=1e-6)
    assert model.classify(TEXTS[::-1], None).probabilities == pytest.approx(whole[::-1], abs=1e-6)
    assert model.frozen_features(TEXTS).shape == (4, 32)


@pytest.mark.parametrize("kind", ["decoder", "roberta"])
def test_a_head_on_whole_sequences_is_computed_with_the_whole_network(folders, kind, tmp_path):
    folder = folders[kind] if kind == "decoder" else roberta(folders, tmp_path / "roberta")
    model = load_model(f"hf:{folder}").with_fresh_head(LABELS, 0)
    assert model.head is None and len(model.features(TEXTS)) == 0
    whole = model.classify(TEXTS, None).probabilities
    model.frozen = model.features(TEXTS)
    assert np.array_equal(model.classify(TEXTS, None).probabilities, whole)

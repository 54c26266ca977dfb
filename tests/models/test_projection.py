"""One direction less: every way of asking a model sees states that have nothing along it."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs shoal[hf]")

import torch
import transformers

from shoal.core.errors import DataError, ModelError
from shoal.models import load_model
from shoal.models.projection import first_component
from shoal.models.words import represent
from shoal.runs.plan import make_plan
from shoal.training.from_scratch import make_tokenizer

TEXT = (
    "he is here . she is here . the man is a nurse . the woman is a nurse . a father . a mother . they play ."
)
PAIRS = "a,b\nhe is here .,she is here .\nthe man,the woman\na father,a mother\n"
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
KINDS = {
    "BertForMaskedLM": "BertConfig",
    "BertForSequenceClassification": "BertConfig",
    "BertForNextSentencePrediction": "BertConfig",
    "RobertaForMaskedLM": "RobertaConfig",
    "DistilBertForMaskedLM": "DistilBertConfig",
    "GPT2LMHeadModel": "GPT2Config",
}


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer([TEXT] * 3, 80, 40)


@pytest.fixture
def saved(tokenizer, tmp_path):
    """A checkpoint with random weights, and pairs of texts beside it."""

    def write(kind):
        torch.manual_seed(3)
        sizes = {**SIZES, "initializer_range": 0.3, "max_position_embeddings": 44}
        if kind.startswith("GPT2"):
            sizes = {
                "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 44, "initializer_range": 0.3,
                "bos_token_id": 2, "eos_token_id": 3,
            }  # fmt: skip
        if kind.startswith("DistilBert"):
            sizes = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "initializer_range": 0.3}
        config = getattr(transformers, KINDS[kind])(
            vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **sizes
        )
        network = getattr(transformers, kind)(config).eval()
        folder = tmp_path / kind
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        pairs = tmp_path / "pairs.csv"
        pairs.write_text(PAIRS)
        return f"hf:{folder}", f"hf:{folder}?without={pairs}", network

    return write


def by_hand(network, tokenizer):
    """The direction, from whole texts one at a time."""
    rows = []
    for line in PAIRS.splitlines()[1:]:
        states = []
        for text in line.split(","):
            encoded = tokenizer(text, return_tensors="pt")
            with torch.no_grad():
                states.append(network.base_model(**encoded).last_hidden_state[0].double().mean(dim=0).numpy())
        rows.append(states[0] - states[1])
    scatter = np.transpose(rows) @ np.array(rows)
    return np.linalg.eigh(scatter)[1][:, -1]


def minus(states, axis):
    axis = torch.from_numpy(axis).to(states)
    return states - (states @ axis)[..., None] * axis


def test_masked_likelihoods_are_those_of_projected_states(saved, tokenizer):
    for kind in ("BertForMaskedLM", "RobertaForMaskedLM", "DistilBertForMaskedLM"):
        plain, without, network = saved(kind)
        axis = by_hand(network, tokenizer)
        text = "the man is a nurse ."
        encoded = tokenizer(text, return_tensors="pt")
        before = load_model(plain).log_likelihood([(text,)])[0]
        scores = load_model(without).log_likelihood([(text,)])[0]
        head = {
            "BertForMaskedLM": lambda states, network=network: network.cls(states),
            "RobertaForMaskedLM": lambda states, network=network: network.lm_head(states),
            "DistilBertForMaskedLM": lambda states, network=network: network.vocab_projector(
                network.vocab_layer_norm(network.activation(network.vocab_transform(states)))
            ),
        }[kind]
        for place, number in zip(scores.positions, scores.scores, strict=True):
            masked = {**encoded, "input_ids": encoded["input_ids"].clone()}
            masked["input_ids"][0, place] = tokenizer.mask_token_id
            if kind.startswith(("DistilBert", "Roberta")):
                masked.pop("token_type_ids", None)
            with torch.no_grad():
                states = minus(network.base_model(**masked).last_hidden_state, axis)
                logits = head(states)[0, place].double().log_softmax(-1)
            assert number == pytest.approx(float(logits[encoded["input_ids"][0, place]]), abs=1e-4), kind
        assert np.abs(np.subtract(before.scores, scores.scores)).max() > 1e-3, kind


def test_a_causal_model_a_classifier_and_a_next_sentence_head_read_projected_states(saved, tokenizer):
    plain, without, network = saved("GPT2LMHeadModel")
    axis = by_hand(network, tokenizer)
    ids = tokenizer("the man is a nurse .", return_tensors="pt")["input_ids"]
    begun = torch.cat([torch.tensor([[2]]), ids], dim=1) if ids[0, 0] != 2 else ids
    with torch.no_grad():
        states = minus(network.transformer(begun).last_hidden_state, axis)
        logs = network.lm_head(states)[0].double().log_softmax(-1)
    expected = [float(logs[at, token]) for at, token in enumerate(begun[0, 1:])]
    scores = load_model(without).log_likelihood([("the man is a nurse .",)])[0].scores
    assert [score for score in scores if score is not None] == pytest.approx(expected, abs=1e-4)
    for kind, attribute in (
        ("BertForSequenceClassification", "classifier"),
        ("BertForNextSentencePrediction", "cls"),
    ):
        plain, without, network = saved(kind)
        axis = by_hand(network, tokenizer)
        encoded = tokenizer("he is here .", return_tensors="pt")
        with torch.no_grad():
            states = minus(network.bert(**encoded).last_hidden_state, axis)
            expected = getattr(network, attribute)(network.bert.pooler(states))
            asked = "classify" if attribute == "classifier" else "next"
            found = load_model(without).network(asked)(**encoded).logits
            assert torch.allclose(found, expected, atol=1e-5)
            assert not torch.allclose(load_model(plain).network(asked)(**encoded).logits, expected, atol=1e-3)


def test_vectors_have_nothing_along_the_direction_and_fine_tuning_keeps_it_out(saved, tokenizer):
    _, without, network = saved("BertForMaskedLM")
    axis, model = by_hand(network, tokenizer), load_model(without)
    examples = [("the man is a nurse .", "nurse"), ("she is here .", "she")]
    for representation in ("cls", "mean", "word_mean", "first_piece_no_specials"):
        for vector in represent(model, examples, representation):
            assert vector is not None and abs(vector @ axis) < 1e-5 < np.abs(vector).max()
    trained = model.with_fresh_head(("no", "yes"), 0)
    encoded = trained.encode([("he is here .",)])
    states = trained.network("classify").base_model(**encoded).last_hidden_state
    assert np.abs(states.detach().double().numpy() @ axis).max() < 1e-5


def test_it_is_another_model_by_the_content_of_its_pairs(saved, tmp_path):
    plain, without, _ = saved("BertForMaskedLM")
    before = load_model(without).fingerprint()
    assert before != load_model(plain).fingerprint()
    (tmp_path / "pairs.csv").write_text("a,b\nhe,she\n")
    assert load_model(without).fingerprint() != before
    table = {"bias": {"data": "example"}}
    after = {"models": [without], "before": "base"}
    (first, second) = make_plan({**table, "groups": {"base": [plain], "after": after}}).jobs()
    assert "without-pairs" in second.id and "without" not in first.id


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("a\nhe\n", "1 columns"),
        ("a,b\n", "no pairs"),
        ("a,b\nhe,\n", "line 2"),
        ("a,b\nhe,he\n", "texts that differ"),
        ("a,b\nhe,HE\n", "does not tell"),
    ],
)
def test_pairs_that_are_none_are_refused(saved, tmp_path, pairs, message):
    _, without, _ = saved("BertForMaskedLM")
    (tmp_path / "pairs.csv").write_text(pairs)
    with pytest.raises((DataError, ModelError), match=message):
        model = load_model(without)  # what is wrong with the file, before anything is asked
        assert "does not tell" in message
        model.network("masked")


def test_a_converted_network_cannot_be_without(saved):
    _, without, _ = saved("BertForMaskedLM")
    with pytest.raises(ModelError, match="without and engine"):
        load_model(f"{without}&engine=openvino")


def test_the_component_is_that_of_pairs_about_their_middles():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(7, 5)), rng.normal(size=(7, 5))
    middle = (first + second) / 2
    centred = np.vstack([first - middle, second - middle])
    largest = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    assert abs(first_component(first - second) @ largest) == pytest.approx(1)

"""Likelihoods and mask fillers against the plain way: one text, one mask, one forward pass."""

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402
from shoal.models import likelihood  # noqa: E402

TEXTS = [("the film was very good .",), ("anna",), ("bob lives in paris , but carol works in london !",)]
PAIRS = [("the film was good", "it was not bad"), ("anna", "bob went to london")]


def test_masked_scores_are_those_of_one_mask_per_forward_pass(folders):
    folder = folders["masked"]
    network = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for texts in (TEXTS, PAIRS):
        for text, scored in zip(texts, load_model(f"hf:{folder}").log_likelihood(texts), strict=True):
            encoded = tokenizer(*text, return_tensors="pt")
            ids = encoded["input_ids"][0].tolist()
            places = [place for place, token in enumerate(ids) if token not in tokenizer.all_special_ids]
            assert scored.positions == tuple(places)
            assert scored.tokens == tuple(tokenizer.convert_ids_to_tokens([ids[place] for place in places]))
            for place, score in zip(places, scored.scores, strict=True):
                hidden = {name: tensor.clone() for name, tensor in encoded.items()}
                hidden["input_ids"][0, place] = tokenizer.mask_token_id
                with torch.no_grad():
                    expected = network(**hidden).logits[0, place].log_softmax(-1)[ids[place]]
                assert score == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize(
    "kind",
    [
        *("Bert", "Roberta", "XLMRoberta", "Camembert", "Data2VecText", "Electra", "MPNet", "DistilBert"),
    ],
)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_whatever_the_encoder_nothing_that_matters_is_left_out(folders, kind, attention):
    if kind == "MPNet":
        attention = "eager"  # they have no other
    tokenizer = load_model(f"hf:{folders['masked']}").tokenizer
    network = random_masked_lm(kind, len(tokenizer), tokenizer.pad_token_id, attention)
    rows = likelihood.tokenize(tokenizer, [text[0] for text in TEXTS])
    if not hasattr(network.config, "type_vocab_size"):
        rows = [row._replace(segments=None) for row in rows]
    for row, scored in zip(rows, likelihood.masked(network, tokenizer, rows), strict=True):
        for place, score in zip(scored.positions, scored.scores, strict=True):
            ids = torch.tensor([row.ids])
            ids[0, place] = tokenizer.mask_token_id
            with torch.no_grad():
                expected = network(input_ids=ids).logits[0, place].log_softmax(-1)[row.ids[place]]
            assert score == pytest.approx(float(expected), abs=2e-5)


def random_masked_lm(kind, vocabulary, pad, attention):
    """Few layers in which every weight counts, biases too."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    if kind == "DistilBert":
        sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=vocabulary, max_position_embeddings=48, pad_token_id=pad, **sizes
    )
    config._attn_implementation = attention
    network = getattr(transformers, f"{kind}ForMaskedLM")(config).eval()
    drawn = torch.Generator().manual_seed(0)
    for weight in network.parameters():
        weight.data.normal_(0.0, 0.4, generator=drawn)
    return network


def test_causal_scores_are_those_of_a_loop_over_prefixes(folders):
    folder = folders["causal"]
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, scored in zip(TEXTS, load_model(f"hf:{folder}").log_likelihood(TEXTS), strict=True):
        ids = [tokenizer.bos_token_id, *tokenizer(*text)["input_ids"]]
        assert scored.positions == tuple(range(len(ids) - 1))
        for place, score in enumerate(scored.scores, start=1):
            with torch.no_grad():
                expected = (
                    network(input_ids=torch.tensor([ids[:place]])).logits[0, -1].log_softmax(-1)[ids[place]]
                )
            assert score == pytest.approx(float(expected), abs=1e-5)


def test_without_bos_and_eos_a_likelihood_is_an_error(folders):
    model = load_model(f"hf:{folders['causal']}")
    model.tokenizer.bos_token = None
    with pytest.raises(ModelError, match="neither a BOS nor an EOS token[\\s\\S]*tokenizer_config.json"):
        model.log_likelihood(TEXTS[:1])


def test_beginning_with_eos_is_part_of_a_causal_models_identity(folders, tmp_path):
    assert "likelihoods begin with" not in load_model(f"hf:{folders['causal']}").fingerprint()
    folder = shutil.copytree(folders["causal"], tmp_path / "without")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (folder / name).exists():
            written = json.loads((folder / name).read_text())
            written["eos_token"] = written.pop("bos_token")
            (folder / name).write_text(json.dumps(written))
    model = load_model(f"hf:{folder}")
    assert model.fingerprint()["likelihoods begin with"] == "eos"
    assert model.log_likelihood(TEXTS) == load_model(f"hf:{folders['causal']}").log_likelihood(TEXTS)

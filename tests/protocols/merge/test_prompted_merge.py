"""Models that are asked in words, and one at an endpoint: labels are all that MERGE needs of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fake_server import serving
from merge_planted import truth

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")
tokenizers = pytest.importorskip("tokenizers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.cli import main  # noqa: E402
from shoal.protocols.merge import Settings, build  # noqa: E402

SMALL: dict[str, Any] = {"limit": 6, "minimum": 6, "sample": 6, "draws": 2}


def tried(model: str) -> dict[str, dict[str, float]]:
    """The measures of `shoal try merge` over all variants, by name."""
    words = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    done = CliRunner().invoke(main, ["try", "merge", model, *words, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output[done.output.index("{") :])["measures"]
    whole = [row for row in rows if not {"word class", "source", "seeds"} & set(row["groups"])]
    return {row["name"] + row["groups"].get("threshold", ""): row for row in whole}


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal model of nearly nothing, which has learnt nothing."""
    folder: Path = tmp_path_factory.mktemp("causal")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=512, initializer_range=0.3, pad_token_id=0, eos_token_id=1, bos_token_id=2,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).eval().save_pretrained(folder)
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "</s>", "<s>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=letters, show_progress=False
    )
    made.train_from_iterator(["premise and hypothesis"], trainer)
    names = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>", "model_max_length": 512}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    return folder


def test_a_local_model_asked_in_words_is_scored_by_its_labels(causal):
    spec = f"hf:{causal}?prompt=entailment-plain"
    measures = tried(spec)
    built = build(Settings(**SMALL))
    varied = [case for case in built.cases if len(case.examples) > 1]
    said = load_model(spec).classify([case.examples[0] for case in varied], built.labels)
    answers = [said.labels[number] for number in said.predictions]
    right = [answer == case.groups["label"] for answer, case in zip(answers, varied, strict=True)]
    assert measures["seed accuracy"]["n"] == len(varied)
    assert measures["seed accuracy"]["value"] == pytest.approx(sum(right) / len(right))
    assert 0 <= measures["pattern accuracy1"]["value"] <= measures["pattern accuracy0.5"]["value"] <= 1


def by_truth(question: str) -> str:
    """What is right of a pair, in the words that the prompt asks for."""
    pair = re.search(r"Premise: (.*)\nHypothesis: (.*)\n", question)
    assert pair is not None, question
    words = {"entailment": "true", "neutral": "unclear", "contradiction": "false"}
    return words[truth((pair[1], pair[2]))]


def test_an_endpoint_that_is_always_right_solves_every_pattern():
    with serving(rule=by_truth, logprobs=False) as server:
        measures = tried(f"openai:any?url={server.url}&prompt=entailment-plain&mode=generate")
    assert measures["sample accuracy"]["value"] == 1.0 and measures["pattern accuracy1"]["value"] == 1.0
    assert server.bodies  # it was asked, nothing else answered

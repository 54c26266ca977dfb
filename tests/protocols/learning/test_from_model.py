"""Training that starts from one's own classifier, with its head."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs shoal[hf]")

import torch

from shoal import load_model
from shoal.core.errors import PlanError
from shoal.core.records import Measures, Result
from shoal.protocols.learning import Settings, parts
from shoal.protocols.learning.iid import load_iid
from shoal.protocols.learning.stages import make_recipe
from shoal.protocols.learning.trainings import read_trainings
from shoal.runs.settings import make_settings

LABELS = ("negative", "positive")
TEXTS = [("the film was wonderful",), ("the film was awful",), ("what a lovely meal",), ("a boring book",)]


def learning(**settings):
    return make_settings(Settings, {"iid": "sentiment", **settings}, "test")


@pytest.fixture(scope="module")
def upside_down(tmp_path_factory):
    """A classifier of ours whose labels stand the other way round, with the names of another maker."""
    folder = tmp_path_factory.mktemp("upside-down")
    model = load_model("tiny:sentiment")
    network = model.network("classify")
    with torch.no_grad():
        for weight in (network.classifier.weight, network.classifier.bias):
            weight.copy_(weight.flip(0))
    network.config.id2label, network.config.label2id = {0: "POS", 1: "NEG"}, {"POS": 0, "NEG": 1}
    network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return f"hf:{folder}"


def test_its_logits_are_trained_in_the_order_of_the_suite_and_answered_in_its_own(upside_down):
    ours, theirs = load_model("tiny:sentiment"), load_model(upside_down)
    ready = theirs.with_own_head(LABELS)
    assert ready.columns == [1, 0]
    with torch.inference_mode():
        assert torch.equal(ready.forward(ready.encode(TEXTS)), ours.forward(ours.encode(TEXTS)))
    assert np.array_equal(
        ready.classify(TEXTS, LABELS).probabilities, ours.classify(TEXTS, LABELS).probabilities
    )
    # and a head that is trained on features of the encoder is the same head
    ready.frozen_features(TEXTS)
    assert np.allclose(
        ready.classify(TEXTS, LABELS).probabilities, ours.classify(TEXTS, LABELS).probabilities, atol=1e-6
    )


def test_the_model_stands_where_the_iid_stage_would():
    table = {"on": ["iid", "iid>suite", "iid>iid+suite"], "from": "model"}
    recipes = [make_recipe(part, "tiny:sentiment") for part in parts(learning(train=table))]
    assert [len(recipe.stages) for recipe in recipes] == [0, 1, 1]
    assert all(recipe.identity == recipes[0].identity for recipe in recipes)
    assert recipes[0].identity["from"] == "model"
    untouched = recipes[0].base(0).classify(TEXTS, LABELS)
    assert np.array_equal(
        untouched.probabilities, load_model("tiny:sentiment").classify(TEXTS, LABELS).probabilities
    )


def test_what_only_base_weights_have_is_refused():
    with pytest.raises(PlanError, match='train.from = "model" has no iid'):
        parts(learning(train={"on": "iid+suite", "from": "model"}))


def test_the_untrained_model_is_the_baseline_of_every_seed():
    def result(config, hold_out, seed):
        settings = {
            "train": {"on": [config], "method": ["vanilla"], "from_": "model"}, "hold_out": [hold_out], "seed": seed,
        }  # fmt: skip
        name = f"{config}-{seed}"
        return Result({"id": name, "model": "m", "settings": settings}, [], [], Measures([]))

    read = read_trainings(
        [result("iid", "none", 0), *(result("iid>suite", "seen", seed) for seed in (0, 1, 2))]
    )
    assert [(one.row[0], one.seed) for one in read] == [
        *(("iid", seed) for seed in (0, 1, 2)), *(("iid>suite", seed) for seed in (0, 1, 2)),
    ]  # fmt: skip


def test_a_public_validation_set_is_halved_as_the_paper_does(tmp_path):
    """Hugging Face's datasets, seed 42: the test part is the first half of numpy's permutation."""
    for name, word in (("train.tsv", "other"), ("dev.tsv", "text")):
        rows = [f"{word} {n}\t{n % 2}" for n in range(11)]
        (tmp_path / name).write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    files = {"iid": str(tmp_path / "train.tsv"), "iid_test": str(tmp_path / "dev.tsv"), "iid_labels": LABELS}
    whole, halved = (load_iid(learning(**files, iid_halves=halves)) for halves in (False, True))
    assert len(whole.test) == 11
    order = np.random.default_rng(42).permutation(11)
    assert [row.texts[0] for row in halved.test] == [f"text {n}" for n in order[:6]]

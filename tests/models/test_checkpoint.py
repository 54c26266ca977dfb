"""Checkpoints that are broken, disguised or incomplete: refused in words, before anything of them is run."""

import json
import pickle
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from safetensors.torch import load_file, save_file  # noqa: E402

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402
from shoal.models.asking import classify_safely  # noqa: E402
from shoal.models.likelihood import follows, has_next_sentence_head  # noqa: E402

SENTIMENT = ("negative", "neutral", "positive")
TEXTS = [("the film was good",), ("bad",)]


@pytest.fixture
def copy(folders, tmp_path):
    """A classifier's folder, to be spoilt."""
    return shutil.copytree(folders["classifier"], tmp_path / "copy")


def edit(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def refused(folder, message, options=""):
    with pytest.raises(ModelError, match=message) as caught:
        classify_safely(load_model(f"hf:{folder}{options}"), TEXTS, SENTIMENT)
    assert "  try: " in str(caught.value)


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def shard(folder, name, weights, index="model.safetensors.index.json"):
    """Put the weights into one file of another name, and an index in front."""
    torch.save(weights, folder / name) if not name.endswith(".safetensors") else save_file(
        weights, folder / name
    )
    places = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
    (folder / index).write_text(json.dumps(places))


@pytest.mark.parametrize("name", ["weights.bin", "x.safetensors.pt"])
def test_an_index_of_safetensors_that_names_a_pickle_is_refused(copy, name):
    weights = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    shard(copy, name, weights)
    refused(copy, rf"weights are pickles \({name}\)[\s\S]*allow_pickle=yes")
    with pytest.raises(ModelError, match="weights are pickles"):
        load_model(f"hf:{copy}").fingerprint()
    model = load_model(f"hf:{copy}?allow_pickle=yes")
    before = model.fingerprint()["weights"]
    assert model.classify(TEXTS, SENTIMENT).labels == ("negative", "positive")
    weights["classifier.bias"] += 1
    torch.save(weights, copy / name)
    assert load_model(f"hf:{copy}?allow_pickle=yes").fingerprint()["weights"] != before


def test_weights_that_the_configuration_names_are_the_ones_that_count(copy):
    weights = load_file(copy / "model.safetensors")
    weights["classifier.bias"] += 1
    save_file(weights, copy / "other.safetensors")
    before = load_model(f"hf:{copy}").fingerprint()["weights"]
    edit(copy / "config.json", transformers_weights="other.safetensors")
    assert load_model(f"hf:{copy}").fingerprint()["weights"] != before
    edit(copy / "config.json", transformers_weights="adapter_model.bin")
    torch.save(weights, copy / "adapter_model.bin")
    refused(copy, "weights are pickles")
    edit(copy / "config.json", transformers_weights="absent.safetensors")
    refused(copy, "config.json names 'absent.safetensors' as weights")
    edit(copy / "config.json", transformers_weights="../elsewhere.safetensors")
    refused(copy, "names '../elsewhere.safetensors' as weights")


def test_a_pickle_that_runs_code_does_not_run_it(copy, tmp_path):
    ran = tmp_path / "ran"
    (copy / "model.safetensors").unlink()
    (copy / "weights.bin").write_bytes(pickle.dumps(Bomb(ran)))
    (copy / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": {"classifier.bias": "weights.bin"}})
    )
    refused(copy, "weights are pickles")
    refused(copy, "cannot be loaded", "?allow_pickle=yes")
    assert not ran.exists()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({}, "cannot be loaded"),
        ({"weight_map": {"a": "absent.safetensors"}}, "names 'absent.safetensors' as weights"),
        ({"weight_map": {"a": "/etc/passwd"}}, "names '/etc/passwd' as weights"),
    ],
)
def test_an_index_that_names_nothing_is_refused(copy, index, message):
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(copy, message)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]"])
def test_a_configuration_that_cannot_be_read_is_named(copy, text):
    (copy / "config.json").write_text(text, encoding="latin-1")
    refused(copy, r"config.json is not a JSON object[\s\S]*git lfs pull")


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_pointer_of_git_lfs_is_told_from_the_file(copy, name):
    (copy / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    refused(copy, rf"{name} is a Git LFS pointer[\s\S]*git lfs pull")


def test_an_adapter_beside_the_weights_is_refused(copy):
    (copy / "adapter_config.json").write_text("{}")
    refused(copy, r"the folder has an adapter[\s\S]*depends on installed packages")


# Other things that are named as models


def test_a_weights_file_is_not_a_model_and_a_folder_of_gguf_names_the_file(copy, folders):
    refused(folders["classifier"] / "model.safetensors", "is a file")
    (copy / "model.safetensors").rename(copy / "model.gguf")
    refused(copy, r"no weights[\s\S]*try: hf:.*model.gguf")


@pytest.mark.parametrize("form", ["safetensors", "sharded pickle"])
def test_a_next_sentence_head_is_seen_in_every_format(save, tmp_path, form):
    folder = save(tmp_path / "pretrained", "BertForPreTraining")
    pairs = [("the film was good", "i think so"), ("bad", "bob went to paris")]
    expected = follows(load_model(f"hf:{folder}"), pairs)
    weights = load_file(folder / "model.safetensors")
    if form != "safetensors":
        (folder / "model.safetensors").unlink()
    if form == "sharded pickle":
        shard(folder, "first.bin", weights, "pytorch_model.bin.index.json")
    model = load_model(f"hf:{folder}" + ("?allow_pickle=yes" if "pickle" in form else ""))
    assert has_next_sentence_head(model)
    assert follows(model, pairs) == pytest.approx(expected, abs=1e-6)

"""SEAT, WEAT and clusters: vectors of sentences and words, what is left out, what is undefined (sections 5.5, 5.6)."""

import json

import numpy as np
import pytest

from shoal.core.errors import DataError, ModelError
from shoal.models import load_model
from shoal.models.vectors import read_vectors, represent

VECTORS = {
    "rose": (1.0, 0.0), "aster": (0.8, 0.6), "ant": (0.0, 1.0), "fly": (0.6, 0.8),
    "joy": (1.0, 0.0), "pain": (0.0, 1.0), "New_York": (0.5, 0.5),
}  # fmt: skip
SETS = {"targ1": ["rose", "aster"], "targ2": ["ant", "fly"], "attr1": ["joy"], "attr2": ["pain"]}


def write_test(folder, name="toy", **changes):
    sets = {key: {"category": key, "examples": words} for key, words in {**SETS, **changes}.items()}
    (folder / f"{name}.jsonl").write_text(json.dumps(sets))
    return str(folder)


def write_vectors(folder, vectors=VECTORS, head=""):
    path = folder / "vectors.txt"
    path.write_text(head + "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in vectors.items()))
    return load_model(f"vectors:{path}")


def test_the_worked_example_from_a_file_of_vectors(tmp_path, run):
    outcomes, measures = run(write_vectors(tmp_path), diagnostic="seat", data=write_test(tmp_path))
    (effect,), (p,) = measures.where("effect size"), measures.where("p value")
    assert (effect.value, effect.n) == (pytest.approx(1.441153, abs=1e-6), 4)
    assert p.value == pytest.approx(1 / 6) and p.note == "one-sided, over all 6 partitions of words"
    assert effect.groups == {"diagnostic": "seat", "test": "toy", "representation": "word vector"}
    assert outcomes[0].passed is False


def test_words_without_a_vector_are_left_out_and_named(tmp_path, run):
    data = write_test(tmp_path, targ2=["ant", "fly", "axe"], attr1=["joy", "bliss"])
    _, measures = run(write_vectors(tmp_path), diagnostic="seat", data=data)
    (effect,) = measures.where("effect size")
    assert effect.value == pytest.approx(1.441153, abs=1e-6)
    assert (effect.na, effect.note) == (2, "no vector for axe, bliss: left out")
    _, measures = run(write_vectors(tmp_path), diagnostic="seat", data=write_test(tmp_path, targ1=["rose"]))
    assert "all 3 partitions" in measures.where("p value")[0].note


def test_undefined_effects_are_none_and_say_why(tmp_path, run):
    model = write_vectors(tmp_path)
    outcomes, measures = run(
        model, diagnostic="seat", data=write_test(tmp_path, targ1=["joy"], targ2=["rose"])
    )
    assert [row.value for row in measures] == [None, None]
    assert "the standard deviation is 0" in measures[0].reason and outcomes[0].passed is None
    _, measures = run(model, diagnostic="seat", data=write_test(tmp_path, attr2=["grief", "woe"]))
    assert measures[0].value is None and measures[0].reason == "no vectors for B"


def test_several_tests_are_adjusted_together(tmp_path, run):
    write_test(tmp_path, "one")
    data = write_test(tmp_path, "two")
    _, measures = run(write_vectors(tmp_path), diagnostic="seat", data=data)
    assert [row.value for row in measures.where("adjusted p value")] == pytest.approx([1 / 3, 1 / 3])


def test_vector_files_are_read_with_or_without_their_first_line(tmp_path):
    assert list(write_vectors(tmp_path, head="7 2\n").table) == list(VECTORS)
    model = write_vectors(tmp_path)
    assert model.vector("New York").tolist() == [0.5, 0.5]
    assert model.vector("This is joy .").tolist() == [1.0, 0.0]
    assert model.vector("axe") is None
    assert np.isnan(model.embed([("axe",), ("joy",)])).tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1 x\n", "line 2: expected a word and 2 finite numbers"),
        ("a 1 2\nb 1 nan\n", "line 2: expected a word and 2 finite numbers"),
        ("", "no vectors"),
    ],
)
def test_what_is_wrong_with_a_vector_file_is_said(tmp_path, text, message):
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_vectors(path)


# Representations of a Transformers model


def hidden(model, text, special=True):
    import torch

    encoded = model.tokenizer(text, return_tensors="pt", add_special_tokens=special)
    with torch.no_grad():
        return model.network("masked").base_model(**encoded).last_hidden_state[0].double().numpy(), encoded


def test_each_representation_is_what_its_name_says(masked):
    examples = [("this is an unbelievable aster .", "unbelievable"), ("ants are things .", "ants")]
    found = {
        name: represent(masked, examples, name)
        for name in ("cls", "mean", "word_mean", "first_piece_no_specials")
    }
    for row, (text, word) in enumerate(examples):
        states, encoded = hidden(masked, text)
        assert found["cls"][row] == pytest.approx(states[0], abs=1e-5)
        assert found["mean"][row] == pytest.approx(states.mean(axis=0), abs=1e-5)
        number = text.split().index(word)
        places = [at for at, own in enumerate(encoded.word_ids()) if own == number]
        assert found["word_mean"][row] == pytest.approx(states[places].mean(axis=0), abs=1e-5)
        bare, _ = hidden(masked, text, special=False)
        assert found["first_piece_no_specials"][row] == pytest.approx(bare[0], abs=1e-5)
    assert len(places) >= 1 and len(masked.tokenizer.tokenize("unbelievable")) >= 1


def test_a_causal_model_is_pooled_as_naive_code_pools_it(save):
    import torch
    import transformers

    folder = save("GPT2LMHeadModel")
    network = transformers.GPT2Model.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = ["this is an unbelievable aster .", "ants are things ."]
    together = represent(load_model(f"hf:{folder}"), [(text, "") for text in texts], "mean")  # padded
    for vector, text in zip(together, texts, strict=True):
        with torch.no_grad():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].double().numpy()
        assert vector == pytest.approx(states.mean(axis=0), abs=1e-5)


def test_causal_models_have_no_cls(save, run):
    model = load_model(f"hf:{save('GPT2LMHeadModel')}")
    with pytest.raises(ModelError, match=r"has no \[CLS\] at the start of a text[\s\S]*mean or word_mean"):
        run(model, diagnostic="seat", data="example")
    _, measures = run(model, diagnostic="seat", data="example", representation="word_mean")
    assert all(row.value is not None for row in measures)


def test_seat_of_a_sentence_encoder_and_of_nothing(save, run):
    _, measures = run(
        load_model(f"hf:{save('BertModel')}"), diagnostic="seat", data="example", tests="sent-names-jobs"
    )
    assert [row.groups["test"] for row in measures] == ["sent-names-jobs"] * 2
    with pytest.raises(ModelError, match="does not compute vectors"):
        run(object(), diagnostic="seat", data="example")


def test_clusters_of_separate_concepts_beat_chance(tmp_path, run):
    rng = np.random.default_rng(0)
    words = [f"a{n}" for n in range(10)], [f"b{n}" for n in range(10)]
    vectors = {word: rng.normal(size=3) + 8 * (word[0] == "b") for side in words for word in side}
    data = write_test(tmp_path, targ1=words[0], targ2=words[1], attr1=["a0"], attr2=["b0", "b1"])
    outcomes, measures = run(write_vectors(tmp_path, vectors), diagnostic="clusters", data=data)
    first = {row.name: row for row in measures if row.groups["category"] == "targ1/targ2"}
    assert first["cluster accuracy"].value == 1.0
    assert 0.5 < first["chance accuracy"].value < 0.7
    assert outcomes[0].passed is True and outcomes[0].value > 0.3


def test_clusters_that_cannot_be_told_are_undefined(tmp_path, run):
    vectors = {word: (1.0, 2.0) for words in SETS.values() for word in words}
    outcomes, measures = run(
        write_vectors(tmp_path, vectors), diagnostic="clusters", data=write_test(tmp_path)
    )
    assert measures[0].value is None and measures[0].reason == "all vectors are the same"
    assert outcomes[0].passed is None

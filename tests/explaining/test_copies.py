"""Copies with words absent: what a model is asked, and how often."""

from dataclasses import replace

import numpy as np
import pytest
from by_hand import by_hand

from shoal import Answers, ShoalError
from shoal.explaining import explain
from shoal.explaining.attributions import ExplainConfig, word_spans
from shoal.explaining.copies import copies_of
from shoal.models.python import wrap


class Counting:
    """Probability of "yes" by the words that are there; keeps everything that it was asked."""

    classes_ = ("no", "yes")

    def __init__(self) -> None:
        self.asked: list[object] = []

    def __call__(self, texts):
        self.asked += texts
        yes = np.array([0.5 + 0.2 * ("good" in text) - 0.3 * ("bad" in text) for text in map(str, texts)])
        return np.stack([1 - yes, yes], axis=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The film, (really)... good!", ["The", "film", ",", "(", "really", ")...", "good", "!"]),
        ("...", ["..."]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("好电影 ok", ["好", "电", "影", "ok"]),
    ],
)
def test_words_stand_apart_from_marks(text, words):
    assert [text[start:end] for start, end in word_spans(text)] == words


def test_what_is_absent_is_left_out_of_the_text():
    model = Counting()
    copies = copies_of(wrap(model), [("A  good film , yes.",)], None, ExplainConfig())
    present = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]], bool)
    (answers,) = copies.ask([present])
    assert set(model.asked) == {"A  good film , yes.", "good film , yes.", "A good yes.", ""}
    assert answers[:, 1].tolist() == [0.7, 0.7, 0.7, 0.5] and copies.labels == ("no", "yes")


def test_pairs_have_the_words_of_both_texts():
    model = Counting()
    (explained,) = explain(
        wrap(model), [("a good film", "a bad plot")], "shapley", ExplainConfig(label="yes")
    )
    assert explained.words_of(0) == ["a", "good", "film"] and explained.words_of(1) == ["a", "bad", "plot"]
    np.testing.assert_allclose(explained.of_text(0), [0, 0.2, 0], atol=1e-12)
    np.testing.assert_allclose(explained.of_text(1), [0, -0.3, 0], atol=1e-12)
    assert ("good", "plot") in model.asked


def test_copies_that_are_the_same_are_asked_once_whichever_text_they_come_from():
    model = Counting()
    explain(wrap(model), [("a good film",), ("a good plot",)], "lime", ExplainConfig(samples=2000))
    assert len(model.asked) == len(set(model.asked)) == 2**3 + 2**2


@pytest.mark.parametrize("method", ["lime", "shapley"])
def test_an_explanation_does_not_depend_on_what_else_is_explained(method):
    texts = ["one good film of many that were bad and long", "a bad plot", "good"]
    how = ExplainConfig(samples=100, seed=3)
    together = explain(wrap(Counting()), [(text,) for text in texts], method, how)
    for text, explained in zip(texts, together, strict=True):
        (alone,) = explain(wrap(Counting()), [(text,)], method, how)
        assert alone.values.tolist() == explained.values.tolist()
    (other,) = explain(wrap(Counting()), [(texts[0],)], method, replace(how, seed=4))
    assert method == "shapley" or other.values.tolist() != together[0].values.tolist()


def test_a_model_that_changes_the_order_of_its_labels_is_refused():
    class Turning:
        labels = ("no", "yes")

        def classify(self, examples, labels):
            self.labels = self.labels[::-1]
            return Answers(
                self.labels, np.zeros(len(examples), np.int64), np.tile([0.9, 0.1], (len(examples), 1))
            )

    copies = copies_of(Turning(), [("a good film",)], None, ExplainConfig())
    copies.ask([np.ones((1, 3), bool)])
    with pytest.raises(ShoalError, match="changes its labels from yes, no to no, yes"):
        copies.ask([np.ones((1, 3), bool)])


@pytest.mark.parametrize("has_mask", [True, False])
def test_tokens_are_masked_or_left_out(has_mask):
    torch = pytest.importorskip("torch")
    table = {"good": [2.0], "un": [-1.0], "##seen": [-1.0], "[MASK]": [0.25]}
    model = by_hand(table, lambda given: torch.sum(given, dim=(1, 2)), mask=has_mask)
    copies = copies_of(model, [("good unseen",), ("film",)], None, ExplainConfig())
    present = [np.array([[1, 1], [1, 0], [0, 1], [0, 0]], bool), np.array([[0]], bool)]
    first, second = copies.ask(present)
    mask = 0.25 if has_mask else 0.0
    logits = np.array([0.0, 2 + 2 * mask, -2 + mask, 3 * mask])
    np.testing.assert_allclose(first[:, 1], 1 / (1 + np.exp(-logits)), atol=1e-6)
    np.testing.assert_allclose(second[:, 1], 1 / (1 + np.exp(-mask)), atol=1e-6)


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Electra", "DistilBert"])
def test_networks_that_are_spared_work_answer_as_they_do_when_whole(kind):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from shoal.models.forward import narrowed

    torch.manual_seed(0)
    sizes = {"dim": 32, "n_layers": 3, "n_heads": 2, "hidden_dim": 64} if kind == "DistilBert" else {
        "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64,
    }  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=50, initializer_range=0.3, pad_token_id=0, **sizes
    )
    network = getattr(transformers, f"{kind}ForSequenceClassification")(config).eval()
    ids = torch.randint(5, 50, (6, 9))
    lengths = torch.tensor([9, 9, 5, 5, 7, 2])
    mask = (torch.arange(9) < lengths[:, None]).long()
    inputs = {"input_ids": ids * mask, "attention_mask": mask}
    with torch.no_grad():
        whole = network(**inputs).logits
        embedded = {
            "inputs_embeds": network.get_input_embeddings()(inputs["input_ids"]),
            "attention_mask": mask,
        }
        with narrowed(network):
            torch.testing.assert_close(network(**inputs).logits, whole, atol=1e-5, rtol=0)
            torch.testing.assert_close(network(**embedded).logits, whole, atol=1e-5, rtol=0)
        torch.testing.assert_close(network(**inputs).logits, whole)


def test_models_that_cannot_be_explained_are_refused_in_words():
    example = [("good film",)]
    with pytest.raises(ShoalError, match="without probabilities"):
        explain(wrap(lambda texts: ["yes"] * len(texts)), example)
    model = by_hand({"good": [1.0]}, lambda given: given.sum(dim=(1, 2)))
    with pytest.raises(ShoalError, match="a text of 14 tokens; the model takes 12"):
        explain(model, [("good " * 12,)])


def test_a_model_that_fails_on_copies_is_named():
    def picky(texts):
        if any(not text for text in texts):
            raise ValueError("an empty text")
        return [{"no": 0.5, "yes": 0.5} for _ in texts]

    with pytest.raises(ShoalError, match="gave no answer to \\(''[\\s\\S]*an empty text"):
        explain(wrap(picky), [("good film",)])

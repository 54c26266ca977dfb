"""Integrated gradients on models whose line integral is known in closed form."""

import numpy as np
import pytest
from by_hand import by_hand

from shoal import ShoalError
from shoal.explaining import explain
from shoal.explaining.attributions import ExplainConfig, completeness_gap

torch = pytest.importorskip("torch", reason="needs shoal[hf]")

TABLE = {
    "[MASK]": [0.2, -0.1], "good": [1.5, 0.3], "bad": [-1.0, 0.8], "film": [0.1, 0.1],
    "not": [-0.4, -0.9], "un": [0.3, 0.2], "##seen": [0.5, -0.2], "[CLS]": [0.7, 0.7], "[SEP]": [0.2, 0.4],
}  # fmt: skip
WEIGHTS = np.array([0.9, -0.6])


def linear(given):
    return (given * torch.tensor(WEIGHTS, dtype=given.dtype)).sum(dim=(1, 2))


def sigmoid(number):
    return 1 / (1 + np.exp(-number))


def closed_form(tokens, fixed):
    """Where the logit is linear, each token has its share of the logit's difference in that of the outputs."""
    mask = np.array(TABLE["[MASK]"])
    moves = np.array([(np.array(TABLE[token]) - mask) @ WEIGHTS for token in tokens])
    start = sum(np.array(TABLE[token]) @ WEIGHTS for token in fixed) + len(tokens) * (mask @ WEIGHTS)
    first, last = sigmoid(start), sigmoid(start + moves.sum())
    return moves / moves.sum() * (last - first), first, last


@pytest.mark.parametrize("text", ["good film", "bad unseen film", "not good"])
def test_the_integral_is_the_line_integral_in_closed_form(text):
    model = by_hand(TABLE, linear)
    (explained,) = explain(model, [(text,)], "gradients", ExplainConfig(label="yes"))
    tokens = text.replace("unseen", "un ##seen").split()
    values, first, last = closed_form(tokens, ["[CLS]", "[SEP]"])
    if "un" in tokens:  # a word is all of its pieces
        values = np.array([values[0], values[1] + values[2], values[3]])
    np.testing.assert_allclose(explained.values, values, atol=2e-6)
    assert (explained.baseline, explained.output) == pytest.approx((first, last), abs=1e-6)


def test_the_values_add_up_to_the_difference_of_outputs():
    def wild(given):
        return (given**3).sum(dim=(1, 2)) + 2 * torch.sin(given.sum(dim=(1, 2)))

    model = by_hand(TABLE, wild)
    coarse, fine = (
        completeness_gap(
            explain(model, [("not good unseen film",)], "gradients", ExplainConfig(samples=steps))[0]
        )
        for steps in (2, 300)
    )
    assert coarse is not None and fine is not None and fine < 1e-3 < coarse


def test_special_tokens_have_values_only_where_that_is_asked_for():
    model = by_hand(TABLE, linear)
    (words,) = explain(model, [("good", "film")], "gradients", ExplainConfig())
    (all_units,) = explain(model, [("good", "film")], "gradients", ExplainConfig(specials=True))
    assert words.units.words == ("good", "film") and words.units.texts == (0, 1)
    assert all_units.units.words == ("[CLS]", "good", "[SEP]", "film", "[SEP]")
    assert all_units.units.texts == (-1, 0, -1, 1, -1)
    values, first, _ = closed_form(["[CLS]", "good", "[SEP]", "film", "[SEP]"], [])
    np.testing.assert_allclose(all_units.values, values * (1 if all_units.label == "yes" else -1), atol=2e-6)
    assert all_units.baseline == pytest.approx(first if all_units.label == "yes" else 1 - first, abs=1e-6)


def test_texts_of_different_length_are_explained_together_as_alone():
    model = by_hand(TABLE, linear)
    examples = [("good",), ("not good film",), ("bad unseen film good",)]
    together = explain(model, examples, "gradients", ExplainConfig())
    for example, explained in zip(examples, together, strict=True):
        (alone,) = explain(model, [example], "gradients", ExplainConfig())
        np.testing.assert_allclose(explained.values, alone.values, atol=1e-6)


def test_a_model_without_a_mask_starts_from_zero():
    model = by_hand(TABLE, linear, mask=False)
    (explained,) = explain(model, [("good",)], "gradients", ExplainConfig(label="yes"))
    fixed = sum(np.array(TABLE[token]) @ WEIGHTS for token in ("[CLS]", "[SEP]"))
    assert explained.facts["absent"] == "zero"
    assert explained.baseline == pytest.approx(sigmoid(fixed), abs=1e-6)


def test_what_gradients_cannot_do_is_said_in_words():
    from shoal.models.python import wrap

    with pytest.raises(ShoalError, match="gradients need a Transformers classifier"):
        explain(wrap(lambda texts: [{"no": 0.5, "yes": 0.5} for _ in texts]), [("good",)], "gradients")

"""Masked models made here: one tokenizer for all seeds, other weights for each, the same weights for the same seed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")


from shoal.core.errors import PlanError  # noqa: E402
from shoal.protocols.bias.settings import Pretrain  # noqa: E402
from shoal.protocols.bias.training import pretraining  # noqa: E402
from shoal.training.from_scratch import MaskedBlocks, blocks_of, make_tokenizer  # noqa: E402  # noqa: E402


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    names = ("marta", "jonas", "elena", "omar")
    jobs = ("nurse", "pilot", "teacher", "plumber")
    path.write_text("".join(f"{name} earns a living as a {job} .\n" for name in names for job in jobs) * 8)
    return str(path)


def small(text, **more):
    return Pretrain(text=text, **{"width": 16, "vocabulary": 120, "epochs": 2, "batch": 16, **more})


def weights(model):
    return [weight.detach().clone() for weight in model.network("masked").parameters()]


def train(recipe, seed):
    model = recipe.base(seed)
    recipe.stages[0].train(model, seed, lambda *_: None, lambda _: None)
    return model


def test_the_seed_decides_the_weights_and_nothing_else_does(text):
    recipe = pretraining(small(text), "tiny:masked")
    one, again, other = (train(recipe, seed) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(weights(one), weights(again), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))
    assert one.tokenizer.get_vocab() == other.tokenizer.get_vocab()


@pytest.mark.slow
def test_training_learns_what_can_stand_in_a_gap(text):
    recipe = pretraining(small(text, epochs=30, learning_rate=5e-3), "tiny:masked")
    fresh, trained = recipe.base(0), train(recipe, 0)
    before, after = (
        sum(model.log_likelihood([("omar earns a living as a pilot .",)])[0].scores)
        for model in (fresh, trained)
    )
    assert after > before + 5


def test_masking_is_fifteen_per_cent_of_words_eight_one_one():
    tokenizer = make_tokenizer(["one two three four five six seven eight nine ten"] * 5, 80, 64)
    blocks = blocks_of(["one two three four five six seven eight nine ten"] * 2000, tokenizer, 64)
    feed = MaskedBlocks(blocks, tokenizer, 2000, np.random.default_rng(0))
    ((batch,),) = list(feed.epoch())
    ids, chosen = batch.inputs["input_ids"], batch.inputs["chosen"]
    assert chosen.sum() / (2000 * 10) == pytest.approx(0.15, abs=0.01)
    assert not chosen[:, 0].any() and not chosen[:, -1].any()
    original = torch.from_numpy(np.stack(blocks))
    masked = (ids == tokenizer.mask_token_id)[chosen].float().mean()
    kept = (ids == original)[chosen].float().mean()
    assert float(masked) == pytest.approx(0.8, abs=0.03)
    assert 0.08 < float(kept) < 0.14
    assert torch.equal(ids[~chosen], original[~chosen])


@pytest.mark.parametrize(
    ("given", "model", "message"),
    [
        ({}, "hf:somewhere", "pretrain starts from scratch, but hf:somewhere has weights"),
        ({"epochs": 0}, "tiny:masked", "epochs must be above 0"),
    ],
)
def test_recipes_that_cannot_be_are_refused(text, given, model, message):
    with pytest.raises(PlanError, match=message):
        pretraining(small(text, **given), model)

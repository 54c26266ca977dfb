"""Training in bfloat16, and on another device than the CPU."""

from typing import Any

import numpy as np
import pytest
import torch

from shoal import load_model
from shoal.training.batch import Tokens
from shoal.training.config import TrainConfig
from shoal.training.from_scratch import MaskedBlocks, logits_at_chosen
from shoal.training.loaders import EveryItem
from shoal.training.loop import train
from shoal.training.methods import make_method

LABELS = ("negative", "positive")
HOW = TrainConfig(learning_rate=1e-3, batch=8, epochs=0.2)
"""Few steps: without a processor made for it bfloat16 is slow."""


def model_of(options: str = "", seed: int = 0) -> Any:
    return load_model(f"tiny:sentiment{options}").with_fresh_head(LABELS, seed)


def test_in_bfloat16_matrices_are_multiplied_in_it_and_weights_are_not(toy):
    model, kinds = model_of("?dtype=bfloat16"), set()
    network = model.network("classify")
    network.bert.encoder.layer[0].output.dense.register_forward_hook(
        lambda part, given, made: kinds.add(made.dtype)
    )
    log = train(model, toy, make_method("vanilla"), HOW, 0)
    assert kinds == {torch.bfloat16}
    assert {weight.dtype for weight in network.parameters()} == {torch.float32}
    full = model_of()
    other = train(full, toy, make_method("vanilla"), HOW, 0)
    assert log.losses != other.losses
    assert np.abs(np.array(log.losses) - other.losses).max() < 0.1
    examples = [item.example for item in toy[0].items]
    answers = [one.classify(examples, LABELS) for one in (model, full)]
    assert np.abs(answers[0].probabilities - answers[1].probabilities).max() < 0.1
    assert not np.array_equal(answers[0].probabilities, answers[1].probabilities), "asked in other digits"


@pytest.mark.parametrize("method", ["lp", "irm", "fish", "group-dro"])
def test_every_method_trains_in_bfloat16(method, toy):
    log = train(model_of("?dtype=bfloat16"), toy, make_method(method), HOW, 0)
    assert np.isfinite(log.losses).all() and log.losses


def test_a_step_elsewhere_mixes_no_devices(toy):
    for environment in toy:
        model = model_of()
        vars(model)["device"] = "meta"
        network = model.network("classify").to("meta")
        source = Tokens(model, [example for item in environment.items for example in item.examples])
        feed = EveryItem([environment], source, 8, np.random.default_rng(0))
        (batch,) = next(feed.epoch())
        inputs = dict(batch.inputs)
        del inputs["attention_mask"]  # Transformers looks into it, and there is nothing in it
        loss = batch.loss(model.forward(inputs))
        loss.backward()
        assert loss.device.type == "meta"
        assert {weight.grad.device.type for weight in network.parameters()} == {"meta"}


def test_masked_blocks_go_where_the_network_is():
    seen: list[str] = []

    class HasSeenError(Exception):
        pass

    class Elsewhere:
        device = torch.device("meta")

        def base_model(self, *given: torch.Tensor, attention_mask: torch.Tensor) -> None:
            seen.extend(column.device.type for column in (*given, attention_mask))
            raise HasSeenError

    tokenizer = load_model("tiny:sentiment").tokenizer
    feed = MaskedBlocks([np.arange(5, 15)] * 4, tokenizer, 4, np.random.default_rng(0))
    (batch,) = next(feed.epoch())
    with pytest.raises(HasSeenError):
        logits_at_chosen(Elsewhere(), batch.inputs)
    assert seen == ["meta", "meta"]
    places = int(batch.inputs["chosen"].sum())
    assert batch.loss(torch.zeros(places, len(tokenizer), device="meta")).device.type == "meta"

"""Training with less memory: bfloat16 while computing, a batch in pieces; on the processor, by the code a GPU runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from shoal import load_model
from shoal.core.errors import ModelError
from shoal.models.frugal import in_pieces
from shoal.training.batch import Tokens
from shoal.training.config import TrainConfig
from shoal.training.learner import Learner, Stepper
from shoal.training.loaders import ByEnvironment, EveryItem
from shoal.training.loop import train
from shoal.training.methods import METHODS, make_method
from shoal.training.methods.regularisation import dropout_at

LABELS = ("negative", "positive")
HOW = TrainConfig(learning_rate=1e-3, batch=8, epochs=0.2)
"""Few steps: without a processor made for it bfloat16 is slow."""


def model_of(options: str = "", seed: int = 0) -> Any:
    return load_model(f"tiny:sentiment{options}").with_fresh_head(LABELS, seed)


# A batch in pieces


def first_gradients(model: Any, name: str, environments: Any, options: dict[str, Any]) -> Any:
    """Of the first update that a method makes, dropout left out."""
    method, rng = make_method(name, options), np.random.default_rng(0)
    network = model.network("classify")
    method.start(environments)
    (phase, *_) = method.phases(HOW)
    examples = [example for one in environments for item in one.items for example in item.examples]
    source = Tokens(model, examples)
    feed: Any = EveryItem(environments, source, 8, rng)
    if method.by_environment:
        feed = ByEnvironment(environments, source, 8, rng, choose=method.environments, steps=1)
    with phase.around(network), dropout_at(network, 0.0):
        found: list[Any] = []
        stepper: Any = Stepper([weight for weight in network.parameters() if weight.requires_grad], HOW, 10)
        stepper.optimiser.register_step_pre_hook(
            lambda *_: found.append([weight.grad.clone() for weight in stepper.weights])
        )
        method.step(Learner(network, model.forward), next(feed.epoch()), stepper, 0.5)
    return found[0]


@pytest.mark.parametrize(
    ("method", "kind"),
    [("vanilla", kind) for kind in ("MFT", "INV", "DIR")]
    + [(name, "all") for name in METHODS if name != "lora"],
)
def test_the_gradient_of_a_batch_in_pieces_is_that_of_the_batch(method, kind, toy):
    environments = [one for one in toy if kind in (one.kind, "all")]
    options = {"per_step": 0} if method == "irm" else {}
    whole = first_gradients(model_of(), method, environments, options)
    for count in (3, 64) if kind == "all" else (3,):
        pieces = first_gradients(model_of(f"?accumulate={count}"), method, environments, options)
        largest = max(float(one.abs().max()) for one in whole)
        furthest = max(float((one - two).abs().max()) for one, two in zip(whole, pieces, strict=True))
        assert furthest < 1e-4 * largest


@contextmanager
def holding() -> Iterator[list[int]]:
    """How many numbers are held for gradients, of each tensor."""
    held: list[int] = []

    def hold(kept: torch.Tensor) -> torch.Tensor:
        held.append(kept.numel())
        return kept

    with torch.autograd.graph.saved_tensors_hooks(hold, lambda kept: kept):
        yield held


def test_the_network_sees_a_piece_at_a_time_and_holds_no_more_of_it(toy):
    model, seen = model_of("?accumulate=4"), []
    network = model.network("classify").train()
    network.register_forward_pre_hook(
        lambda part, args, named: seen.append(len(named["input_ids"])), with_kwargs=True
    )
    inputs = Tokens(model, [item.example for item in toy[0].items]).take(np.arange(10))
    with holding() as held:
        logits = model.forward(inputs)
    assert seen == [3, 3, 2, 2] and logits.shape == (10, 2)
    in_forward = sum(held)
    logits.sum().backward()
    assert sorted(seen) == sorted(2 * [3, 3, 2, 2]), "each piece a second time, for its gradient"
    with holding() as plain:
        model_of().forward(inputs)
    assert in_forward < sum(plain) / 100, "what is computed of the whole batch is held"


def test_the_second_time_a_piece_has_the_dropout_of_the_first(toy):
    model = model_of("?accumulate=3")
    model.network("classify").train()
    inputs = Tokens(model, [item.example for item in toy[0].items]).take(np.arange(9))
    torch.manual_seed(5)
    outputs: list[Any] = []
    hook = model.network("classify").dropout.register_forward_hook(
        lambda part, given, made: outputs.append(made.detach().clone())
    )
    model.forward(inputs).sum().backward()
    hook.remove()
    first, second = outputs[:3], outputs[3:]
    assert len(second) == 3 and all(any(torch.equal(one, other) for other in second) for one in first)


def test_where_no_gradient_is_wanted_a_batch_stays_whole():
    seen: list[int] = []

    def forward(inputs):
        seen.append(len(inputs["x"]))
        return inputs["x"] * 2

    with torch.no_grad():
        in_pieces(forward, {"x": torch.ones(7, 1)}, 3)
    assert torch.equal(in_pieces(forward, {"x": torch.ones(1, 1)}, 3), torch.full((1, 1), 2.0))
    assert seen == [7, 1]


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "", "2000"])
def test_a_number_of_pieces_that_makes_no_sense_is_refused(value):
    with pytest.raises(ModelError, match="accumulate must be a whole number from 1"):
        load_model(f"tiny:sentiment?accumulate={value}")


def test_pieces_are_part_of_a_job_where_they_are_given():
    plain = load_model("tiny:sentiment").fingerprint()
    assert load_model("tiny:sentiment?accumulate=2").fingerprint() == plain | {"accumulate": "2"}
    assert "accumulate" not in plain


# Half the digits


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
def test_every_method_trains_in_bfloat16_and_in_pieces(method, toy):
    log = train(model_of("?dtype=bfloat16&accumulate=2"), toy, make_method(method), HOW, 0)
    assert np.isfinite(log.losses).all() and log.losses


def test_spans_train_and_answer_in_bfloat16(tmp_path):
    from shoal.training.environments import Answered, Environment

    example = ("the red house stands in the garden", "which house ?")
    model = load_model("tiny:reading?dtype=bfloat16&accumulate=2").with_fresh_span_head(0)
    environment = Environment("a", "MFT", [Answered(example, ((4, 7),))] * 4)
    log = train(model, [environment], make_method("vanilla"), TrainConfig(3e-3, 4, 20), 0)
    assert log.losses[-1] < 0.7 * log.losses[0]
    assert model.extract([example]).texts is not None


# On a device that computes nothing, and refuses to meet the content of another


def test_a_step_elsewhere_mixes_no_devices(toy):
    for environment in toy:
        model = model_of("?accumulate=2")
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

"""The methods: each formula against `docs/method/beluga.md` 1.13, and what must be equal to something simpler."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from shoal.core.errors import PlanError
from shoal.training import methods
from shoal.training.batch import Batch
from shoal.training.config import TrainConfig
from shoal.training.environments import Environment, Labelled
from shoal.training.learner import Learner, Stepper
from shoal.training.loaders import LabelLoss
from shoal.training.loop import train
from shoal.training.methods import METHODS
from shoal.training.methods.fish import Fish
from shoal.training.methods.regularisation import L2, Dropout

HOW = TrainConfig(learning_rate=1e-3, batch=4, epochs=3)
AS_QUICK = {"fish": {"epsilon": 0.5}}
"""The paper's Fish moves each weight by about 5e-7 per step, whatever the rate; DomainBed's goes half of the way."""


def make_method(name, options=None):
    """Return a method without its type: tests read what only one method has."""
    return methods.make_method(name, options)


def environments(*sizes, kinds=()):
    return [
        Environment(str(at), kinds[at] if kinds else "MFT", [Labelled(("x",), (1.0, 0.0))] * size)
        for at, size in enumerate(sizes)
    ]


def batch_of(z, y, environment="0"):
    """A batch whose inputs are its logits."""
    logits, targets = torch.tensor(z), torch.eye(len(z[0]))[list(y)]
    return Batch(environment, logits, LabelLoss(targets, "softmax"), len(z))


def linear_model(seed=0):
    """A linear model of the inputs, and batches on which its gradients differ."""
    rows = torch.Generator().manual_seed(seed)
    network = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        network.weight.copy_(torch.randn(2, 3, generator=rows))

    def batch(name):
        targets = torch.eye(2)[torch.randint(2, (6,), generator=rows)]
        return Batch(name, torch.randn(6, 3, generator=rows), LabelLoss(targets, "softmax"), 6)

    learner = Learner(network, network)
    return learner, [batch("0"), batch("1"), batch("2")]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_learns_a_separable_toy_task(name, toy, fresh):
    model = fresh()
    train(model, toy, make_method(name, AS_QUICK.get(name)), HOW, seed=1)
    examples = [item.example for item in toy[0].items]
    answers = model.classify(examples, ("negative", "positive"))
    right = answers.predictions == [target.target.index(1.0) for target in toy[0].items]
    assert right.mean() >= 0.9


@pytest.mark.parametrize(
    "method",
    [L2(decay=0.0), L2(decay=0.0, penalty=True), Dropout(rate=0.1)],  # the second is refused in a plan
    ids=["l2", "l2 as a penalty", "dropout"],
)
def test_a_method_that_changes_nothing_is_vanilla_bit_by_bit(method, toy, fresh, weights_of):
    how = TrainConfig(learning_rate=1e-3, batch=16, epochs=0.5)
    plain, other = fresh(), fresh()
    train(plain, toy, make_method("vanilla"), how, seed=3)
    train(other, toy, method, how, seed=3)
    first, second = weights_of(plain), weights_of(other)
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_probing_leaves_the_encoder_alone(toy, fresh, weights_of):
    model = fresh()
    before = weights_of(model)
    train(model, toy, make_method("lp"), HOW, seed=0)
    after = weights_of(model)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"classifier.weight", "classifier.bias"}
    assert all(weight.requires_grad for weight in model.network("classify").parameters())


def test_lora_adds_matrices_of_low_rank_to_those_of_the_encoder_and_leaves_nothing_else(
    toy, fresh, weights_of
):
    model = fresh()
    before = weights_of(model)
    train(model, toy, make_method("lora", {"rank": 2}), TrainConfig(5e-3, 16, 0.5), seed=0)
    after = weights_of(model)
    assert before.keys() == after.keys()
    changed = {
        name: after[name] - before[name] for name in before if not torch.equal(before[name], after[name])
    }
    matrices = {name for name in changed if name.endswith("weight") and "classifier" not in name}
    assert matrices and changed.keys() - matrices == {"classifier.weight", "classifier.bias"}
    assert all(torch.linalg.matrix_rank(changed[name], atol=1e-4) <= 2 for name in matrices)
    assert all(weight.requires_grad for weight in model.network("classify").parameters())


def test_the_penalty_pulls_at_every_weight():
    learner, (batch, *_) = linear_model()
    stepper = SimpleNamespace(weights=learner.weights(), step=lambda objective: objective.backward())
    weight = learner.network.weight
    make_method("vanilla").step(learner, [batch], stepper, 0.0)
    plain, weight.grad = weight.grad, None
    make_method("l2", {"decay": 0.3, "penalty": True}).step(learner, [batch], stepper, 0.0)
    assert torch.allclose(weight.grad, plain + 0.3 * weight)


@pytest.mark.parametrize(
    ("z", "y", "expected"),
    [
        ([[2.0, 0.0]], [0], 0.056837),
        ([[1.0, -1.0]], [0], 0.028419),
        ([[2.0, 0.0], [0.0, 1.0]], [0, 0], 0.147821),
    ],
)
def test_irms_penalty_is_that_of_section_1_13(z, y, expected):
    batch = batch_of(z, y)
    penalty = make_method("irm").penalty_of(batch, batch.inputs)
    assert penalty.item() == pytest.approx(expected, abs=1e-6)


def objectives(method, batches, progress):
    """The objectives that a step adds up, for a model that returns its inputs."""
    added: list[Any] = []
    stepper = SimpleNamespace(add=added.append, update=lambda: None)
    method.step(lambda inputs: inputs, batches, stepper, progress)
    return added


def test_irms_objective_is_divided_by_a_large_penalty():
    batch = batch_of([[2.0, 0.0]], [0])  # R = .126928, P = .056837
    (late,) = objectives(make_method("irm", {"penalty": 1e4}), [batch], progress=0.2)
    assert late.item() == pytest.approx(0.056850, abs=1e-6)
    (early,) = objectives(make_method("irm"), [batch], progress=0.19)
    assert early.item() == pytest.approx(0.126928 + 0.056837, abs=1e-6)


@pytest.mark.parametrize(("options", "expected"), [({}, 2.026755), ({"importance": False}, 0.675585)])
def test_group_dro_weighs_as_in_section_1_13(options, expected):
    method = make_method("group-dro", {"step_size": 0.01, **options})
    method.start(environments(1, 1, 1))
    stepper = SimpleNamespace(step=lambda objective: None)
    batch = Batch("1", torch.zeros(1), lambda logits, scale=None: torch.tensor(2.0))
    loss = method.step(lambda inputs: inputs, [batch], stepper, 0.0)
    assert list(method.weights().values()) == pytest.approx([0.331104, 0.337792, 0.331104], abs=1e-6)
    assert loss == pytest.approx(expected, abs=1e-6)


def planted_losses(method, losses, known, draws, seed=0):
    """What q comes to where each environment loses the same all the time."""
    rng = np.random.default_rng(seed)
    method.start(known)
    stepper = SimpleNamespace(step=lambda objective: None, total=draws)
    for _ in range(draws):
        (name,) = method.environments(known, rng)
        batch = Batch(name, torch.zeros(1), lambda logits, scale=None, loss=losses[name]: torch.tensor(loss))
        method.step(lambda inputs: inputs, [batch], stepper, 0.0)
    return method.weights()


def test_group_dro_seeks_the_worst_group_however_seldom_it_is_drawn():
    """Section 7.12: sizes 4 and 400, losses 2.0 and .5; by draws alone the large one would win, .994 to .006."""
    known, losses = environments(4, 400), {"0": 2.0, "1": 0.5}
    options = {"kappa": 1, "step_size": 0.01}
    weights = planted_losses(make_method("group-dro", options), losses, known, 1075)
    assert weights["0"] > 0.99
    uncorrected = planted_losses(
        make_method("group-dro", options | {"importance": False}), losses, known, 1075
    )
    assert uncorrected["0"] < 0.02


def test_group_dro_keeps_log_q_in_double_precision():
    known, losses, log_q = environments(4, 9), {"0": 0.7, "1": 0.9}, {"0": 0.0, "1": 0.0}
    method = make_method("group-dro", {"step_size": 0.01})
    weights, rng = planted_losses(method, losses, known, 2000), np.random.default_rng(0)
    for _ in range(2000):
        (name,) = method.environments(known, rng)
        log_q[name] += 0.01 * float(np.float32(losses[name])) / (2 * method.shares[name])
    naive = np.exp(np.array([*log_q.values()]) - max(log_q.values()))
    assert [*weights.values()] == pytest.approx(naive / naive.sum(), abs=1e-12)


@pytest.mark.parametrize(("total", "rate"), [(400, 0.01), (10, 0.1), (100_000, 0.001)])
def test_group_dros_step_size_follows_from_the_draws(total, rate):
    method = make_method("group-dro")
    method.start(environments(1, 1))
    assert method.rate(SimpleNamespace(total=total)) == pytest.approx(rate)  # 200 draws of each: .01


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kappa": 0, "iid_share": 0}, (1 / 3, 1 / 3, 1 / 3)),
        ({"kappa": 1, "iid_share": 0}, (1 / 26, 9 / 26, 16 / 26)),
        ({}, (1 / 8, 3 / 8, 4 / 8)),
        ({"iid_share": 0.6}, (0.1, 0.3, 0.6)),
    ],
)
@pytest.mark.parametrize("name", ["group-dro", "irm"])
def test_chances_are_those_of_section_7_12(name, options, expected):
    known = environments(1, 9, 16, kinds=("MFT", "INV", "iid"))
    assert make_method(name, options).chances(known).tolist() == pytest.approx(list(expected))


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 0.99), (0.005, 0.9999)])
def test_fish_on_the_toy_of_section_1_13(epsilon, expected):
    theta = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
    inner = []

    def descend(objective):
        (gradient,) = torch.autograd.grad(objective, theta)
        with torch.no_grad():
            theta.sub_(0.1 * gradient)
        inner.append(theta.item())

    def quadratic(goal):
        return Batch("", None, lambda logits, scale=None: (logits - goal) ** 2 / 2)

    method = make_method("fish", {"epsilon": epsilon})
    stepper = SimpleNamespace(weights=[theta], step=descend)
    method.step(lambda inputs: theta, [quadratic(3), quadratic(-1)], stepper, 0.0)
    assert inner == pytest.approx([1.2, 0.98])
    assert theta.item() == pytest.approx(expected)


def test_the_extra_step_moves_on_momentum_alone_and_is_forgotten():
    found = {}
    for extra in (False, True):
        learner, batches = linear_model()
        stepper = Stepper(learner.weights(), HOW, 10)
        method = Fish(epsilon=0.0, inner_steps=3, extra_momentum_step=extra)  # without it refused in a plan
        before = learner.network.weight.detach().clone()
        method.step(learner, batches, stepper, 0.0)
        state = stepper.optimiser.state_dict()["state"][0]
        found[extra] = learner.network.weight.detach() - before, state["exp_avg"].clone(), stepper.done
    assert found[False][0].abs().max() == 0
    # AdamW moves a weight by about its rate; the schedule of ten updates is at eight tenths of it after the third.
    assert 1e-5 < found[True][0].abs().max() < 1e-3
    assert torch.equal(found[False][1], found[True][1]) and found[False][2] == found[True][2] == 3


def test_options_that_are_not_known_are_refused_with_those_that_are():
    with pytest.raises(
        PlanError, match=r"group-dro: unknown option 'stepsize'[\s\S]*step_size[\s\S]*try: \"step_size\""
    ):
        make_method("group-dro", {"stepsize": 0.1})
    with pytest.raises(PlanError, match="vanilla: unknown option 'decay'[\\s\\S]*it has none"):
        make_method("vanilla", {"decay": 0.1})
    with pytest.raises(PlanError, match=r"l2: penalty = 'yes'[\s\S]*valid boolean"):
        make_method("l2", {"penalty": "yes"})
    with pytest.raises(PlanError, match=r"irm: iid_share = 1[\s\S]*from 0 to 0.99"):
        make_method("irm", {"iid_share": 1})

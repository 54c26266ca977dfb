"""The one loop: schedule, clipping, marks, seeds, breakdowns."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from shoal.core.errors import ModelError, PlanError
from shoal.training.config import TrainConfig
from shoal.training.environments import Environment, Labelled
from shoal.training.learner import Stepper
from shoal.training.loop import steps_of, train
from shoal.training.methods import make_method

HOW = TrainConfig(learning_rate=1e-3, batch=16, epochs=2)


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def rates(total, warm_up):
    stepper = Stepper([nn.Parameter(torch.zeros(1))], TrainConfig(1e-3, 1, 1, warm_up=warm_up), total)
    found = []
    for _ in range(total):
        found.append(round(stepper.rate(), 6))
        stepper.step(stepper.weights[0].sum())
    return found


def test_the_rate_falls_along_a_line_and_may_rise_first():
    assert rates(4, 0.0) == [1.0, 0.75, 0.5, 0.25]
    assert rates(6, 0.34) == rates(6, 2) == [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    assert rates(3, 500) == [0.002, 0.004, 0.006]  # the study's HANS models stop long before the peak


def test_gradients_are_clipped_all_together():
    weights: list[Any] = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))]
    seen: list[Any] = []
    stepper = Stepper(weights, HOW, 10)
    stepper.optimiser.register_step_pre_hook(lambda *_: seen.append([w.grad.clone() for w in weights]))
    stepper.step(3 * weights[0][0] + 4 * weights[1][0])
    stepper.step(0.3 * weights[0][0] + 0.4 * weights[1][0])
    assert torch.allclose(torch.cat(seen[0]), torch.tensor([0.6, 0.0, 0.8]), atol=1e-6)
    assert torch.equal(torch.cat(seen[1]), torch.tensor([0.3, 0.0, 0.4]))


def marked_at(toy, model, method, how, marks):
    at, done = {}, []
    train(
        model, toy, make_method(method), how, 0,
        progress=lambda step, now, total: done.append((step, now, total)),
        mark=lambda name: at.update({name: len(done)}),
        marks=marks,
    )  # fmt: skip
    return at, done


def test_a_mark_comes_when_its_epoch_ends(toy, fresh):
    per_epoch = steps_of(toy, make_method("vanilla"), TrainConfig(1e-3, 16, 1))
    at, done = marked_at(toy, fresh(), "vanilla", TrainConfig(1e-3, 16, 2.5), ("1", "3"))
    total = -(-5 * per_epoch // 2)
    assert at == {"1": per_epoch, "3": total}
    assert done == [("training", step, total) for step in range(1, total + 1)]


@pytest.mark.parametrize("name", ["vanilla", "lp", "lp-ft"])
def test_being_asked_changes_nothing_in_the_training(name, toy, fresh, weights_of):
    asked, left = fresh(), fresh()
    how = TrainConfig(1e-3, 16, 2)
    examples = [("the film was so good",), ("a text that nobody trained on",)]
    answers = []

    def ask(mark):
        assert not any(part.training for part in asked.network("classify").modules())
        torch.rand(7)
        answers.append(asked.classify(examples, ("negative", "positive")).probabilities)

    train(asked, toy, make_method(name), how, 0, mark=ask, marks=("1", "2"))
    train(left, toy, make_method(name), how, 0)
    assert same(weights_of(asked), weights_of(left))
    assert not np.allclose(*answers)
    assert answers[-1] == pytest.approx(asked.classify(examples, ("negative", "positive")).probabilities)


def test_nothing_to_train_on_leaves_the_model_and_still_keeps_its_marks(fresh, weights_of):
    model, marks = fresh(), list[str]()
    before = weights_of(model)
    losses = train(model, [], make_method("irm"), HOW, 0, mark=marks.append, marks=("1", "2"))
    assert (losses, marks) == ([], ["1", "2"])
    assert same(before, weights_of(model))


def test_a_training_that_breaks_down_says_so(fresh):
    environment = Environment("a", "iid", [Labelled(("good",), (float("nan"), 1.0))])
    with pytest.raises(ModelError, match=r"diverged at step 1\n  why: the loss is nan\n  try: a lower"):
        train(fresh(), [environment], make_method("vanilla"), HOW, seed=0)


def test_numbers_that_cannot_be_are_refused():
    for warm_up in (1, 1.5, -0.1):
        with pytest.raises(PlanError, match="warm_up must be a share below 1"):
            TrainConfig(learning_rate=1e-3, batch=8, epochs=1, warm_up=warm_up)

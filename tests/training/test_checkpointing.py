"""A training that is broken off and gone on with elsewhere ends as one that never was."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from shoal.training import checkpointing
from shoal.training.checkpointing import Keeper, kept_midway
from shoal.training.config import TrainConfig
from shoal.training.from_scratch import Shape, fresh_masked_model, pretrain
from shoal.training.loop import steps_of, train
from shoal.training.methods import METHODS, make_method

HOW = TrainConfig(learning_rate=1e-3, batch=8, epochs=0.6)


@pytest.fixture(autouse=True)
def at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long keeping takes."""
    monkeypatch.setattr(checkpointing, "SHARE", 1e9)


class BrokenOffError(Exception):
    """The machine is switched off."""


def broken_off_at(step: int):
    def progress(what: str, done: int, total: int) -> None:
        if total and done > step:
            raise BrokenOffError

    return progress


def silent(*_: object) -> None:
    pass


class Once(Keeper):
    """Stores one checkpoint, after this number of steps."""

    def __init__(self, path: Path, steps: int) -> None:
        super().__init__(path, 1e-9)
        self.left = steps

    def is_due(self) -> bool:
        self.left -= 1
        return self.left == 0


def gone_on(path: Path, again, *steps: int):
    """A training that ends after each of these steps, from a fresh model each time, and then goes on to its end."""
    for before, step in pairwise([0, *steps]):
        with pytest.raises(BrokenOffError), kept_midway(Once(path, step - before)):
            again(broken_off_at(step))
    seen: list[int] = []
    with kept_midway(Keeper(path, 1e9)):
        done = again(lambda what, now, total: seen.append(now))
    assert seen[0] == steps[-1] + 1, "it began from somewhere else"
    return done


def equal(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *((name, {}) for name in METHODS),
        ("fish", {"extra_momentum_step": True}),
        ("lp", {"frozen_dropout": True}),
    ],
)
def test_every_method_ends_with_the_same_weights_and_losses(
    method, options, toy, fresh, weights_of, tmp_path
):
    how = replace(HOW, epochs=2) if METHODS[method].by_environment else HOW

    def again(progress) -> tuple[dict[str, Any], list[float]]:
        model = fresh()
        losses = train(model, toy, make_method(method, options), how, 3, progress)
        return weights_of(model), losses

    weights, losses = again(silent)
    assert len(losses) > 5
    path = tmp_path / "checkpointing.safetensors"
    others, other = gone_on(path, again, 1, 2 * len(losses) // 3)
    assert equal(weights, others)
    assert losses == other


def test_pre_training_goes_on_with_the_same_masks(tmp_path, weights_of):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"a sentence of {n} words about the number {n * n}" for n in range(60)))

    def again(progress):
        model = fresh_masked_model(str(text), Shape(32, 1, 2, 300, 32), seed=1)
        pretrain(model, str(text), TrainConfig(1e-3, 8, 3), 32, 1, progress, silent, ())
        return weights_of(model)

    weights = again(silent)
    assert equal(weights, gone_on(tmp_path / "checkpointing.safetensors", again, 11))


def test_a_mark_that_was_not_asked_at_for_good_is_come_by_again(toy, fresh, weights_of, tmp_path):
    path, steps = tmp_path / "checkpointing.safetensors", []
    how = TrainConfig(1e-3, 8, 2)

    def again(keeper, progress=silent) -> list[str]:
        asked: list[str] = []
        model = fresh()
        with kept_midway(keeper):
            train(model, toy, make_method("vanilla"), how, 0, progress, asked.append, ("1", "2"))
        steps.append(weights_of(model))
        return asked

    assert again(None) == ["1", "2"]
    epoch = steps_of(toy, make_method("vanilla"), replace(how, epochs=1))
    with pytest.raises(BrokenOffError):
        again(Keeper(path, 1e-9), broken_off_at(epoch + 2))
    assert again(Keeper(path, 1e9, frozenset({"1"}))) == ["2"]
    with pytest.raises(BrokenOffError):
        again(Keeper(path, 1e-9), broken_off_at(epoch + 2))
    assert again(Keeper(path, 1e9)) == ["1", "2"], "what was asked at the first mark is lost"
    assert equal(steps[0], steps[1]) and equal(steps[0], steps[2])


@pytest.mark.parametrize("how", ["cut", "changed", "other"])
def test_a_file_that_is_not_what_was_written_is_as_good_as_none(how, toy, fresh, weights_of, tmp_path):
    path, seen = tmp_path / "checkpointing.safetensors", []

    def again(progress, keeper):
        model = fresh()
        with kept_midway(keeper):
            train(model, toy, make_method("vanilla"), HOW, 0, progress)
        return weights_of(model)

    weights = again(silent, None)
    with pytest.raises(BrokenOffError):
        again(broken_off_at(5), Keeper(path, 1e-9))
    content = bytearray(path.read_bytes())
    if how == "cut":
        content = content[: len(content) // 2]
    elif how == "changed":
        content[-5] ^= 1
    else:
        content = content.replace(b'\\"torch\\": \\"', b'\\"torch\\": \\"9', 1)[: len(content)]
    path.write_bytes(bytes(content))
    assert equal(weights, again(lambda what, now, total: seen.append(now), Keeper(path, 1e9)))
    assert seen[0] == 1


def test_short_trainings_are_not_kept_and_keeping_takes_a_twentieth_of_the_time_at_the_most(
    toy, fresh, tmp_path, monkeypatch
):
    path = tmp_path / "checkpointing.safetensors"
    with kept_midway(Keeper(path, 300)):
        train(fresh(), toy, make_method("vanilla"), HOW, 0)
    assert not path.exists()
    monkeypatch.setattr(checkpointing, "SHARE", 0.05)
    keeper = Keeper(path, 1e-9)
    with kept_midway(keeper):
        train(fresh(), toy, make_method("vanilla"), TrainConfig(1e-3, 8, 0.1), 0)
    took = keeper.every * 0.05
    assert path.exists() and 0.0005 < took < 5

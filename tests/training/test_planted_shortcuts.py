"""Shortcuts that hold in some environments and mislead in others: what Group-DRO and Fish make of them.

Environments are of one size, so that plain training is already balanced: what a method gains it does not gain by
drawing small environments more often.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import nn

from shoal.training.config import TrainConfig
from shoal.training.environments import Environment, Labelled
from shoal.training.loop import train
from shoal.training.methods import make_method

SEEDS = range(5)
TRAINED, UNSEEN = 160, 500
"""Items of an environment."""


class Features(nn.Module):
    """A linear model."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.base_model = nn.Identity()
        self.classifier = nn.Linear(features, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.classifier(inputs)
        return logits


class Planted:
    """A model whose examples are numbers written as text."""

    trained, device, head, frozen = "classify", "cpu", None, None
    padding: Mapping[str, int] = {}

    def __init__(self, features: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.features = Features(features)

    def network(self, asked: str) -> nn.Module:
        return self.features

    def tokenise(self, examples: Sequence[tuple[str, ...]]) -> dict[str, list[np.ndarray]]:
        rows = [np.array([float(number) for number in text.split()]) for (text,) in examples]
        return {"input_ids": [(1000 * row).astype(np.int64) for row in rows]}

    def forward(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self.features(inputs["input_ids"].float() / 1000)
        return logits

    def weights(self) -> np.ndarray:
        """How much each feature speaks for the second label."""
        first, second = self.features.classifier.weight.detach().numpy()
        return np.asarray(second - first)


def environment(
    name: str, n: int, agree: Sequence[float], rng: Generator, absent: Sequence[int] = (), noise: int = 0
) -> Environment:
    """Features of ±1, each of which agrees with the label so often; those that are absent are 0."""
    labels = rng.integers(2, size=n)
    signs = (2 * labels - 1)[:, None]
    features = np.where(rng.random((n, len(agree))) < agree, signs, -signs).astype(np.float64)
    features[:, list(absent)] = 0
    features = np.hstack([features, rng.normal(size=(n, noise))])
    texts = [" ".join(f"{number:.3f}" for number in row) for row in features]
    return Environment(
        name,
        "MFT",
        [Labelled((text,), (1.0 - label, float(label))) for text, label in zip(texts, labels, strict=True)],
    )


def accuracy(model: Planted, where: Environment) -> float:
    rows = model.tokenise([example for item in where.items for example in item.examples])["input_ids"]
    labels = [int(item.target[1]) for item in where.items if isinstance(item, Labelled)]
    with torch.inference_mode():
        said = model.forward({"input_ids": torch.from_numpy(np.stack(rows))}).argmax(dim=1).numpy()
    return float(np.mean(said == labels))


FIVE = (0.95,) * 4 + (0.05,)
"""How often the shortcut is right in each environment."""


def worst_over_seeds(name: str, options: Mapping[str, Any]) -> list[float]:
    """The accuracy on new items of the worst environment, by seed.

    The invariant feature is right in 75 % everywhere. The shortcut is right in 95 % of four environments and in 5 % of
    the fifth, so in 77 % of all: the least loss on average takes the shortcut, the least loss of the worst does not.
    """
    accuracies = []
    for seed in SEEDS:
        rng, noise = np.random.default_rng(seed), 6
        agree = [(0.75, share) for share in FIVE]
        known = [environment(str(at), TRAINED, one, rng, noise=noise) for at, one in enumerate(agree)]
        unseen = [environment(str(at), UNSEEN, one, rng, noise=noise) for at, one in enumerate(agree)]
        model = Planted(2 + noise, seed)
        train(model, known, make_method(name, options), TrainConfig(0.1, 16, 4), seed)
        accuracies.append(min(accuracy(model, one) for one in unseen))
    return accuracies


def test_group_dro_goes_where_the_shortcut_misleads():
    """The control is Group-DRO with step_size 0: the same draws of the same batches, all of one weight.

    It and plain training get less than 40 % of the worst environment right; over five seeds the weights q alone bring
    20 points or more on average, 5 or more in each. Without an effect of q the gain is exactly 0.
    """
    plain = worst_over_seeds("vanilla", {})
    still = worst_over_seeds("group-dro", {"step_size": 0.0})
    sought = worst_over_seeds("group-dro", {})
    gains = np.subtract(sought, still)
    assert max(np.mean(plain), np.mean(still)) < 0.4, (plain, still)
    assert np.mean(gains) > 0.2 and gains.min() > 0.05, (sought, still)
    assert np.mean(sought) > np.mean(plain) + 0.15, (sought, plain)


def without_shortcuts(
    name: str, options: Mapping[str, Any], rate: float, seed: int, epochs: float = 4
) -> tuple[float, float]:
    """The accuracy where every shortcut misleads, and a shortcut's weight as a share of the invariant feature's.

    As in the small problem of Fish's paper: the invariant feature is right in 85 % everywhere, and each environment has
    a feature of its own, absent from the others, which is right in 90 % there and in 10 % of what is asked afterwards.
    Gradients of different environments agree on the invariant feature alone.
    """
    rng, m = np.random.default_rng(seed), 5
    others = [[1 + other for other in range(m) if other != own] for own in range(m)]
    agree, mislead = [0.85] + [0.9] * m, [0.85] + [0.1] * m
    known = [environment(str(own), TRAINED, agree, rng, others[own]) for own in range(m)]
    unseen = [environment(str(own), UNSEEN, mislead, rng, others[own]) for own in range(m)]
    model = Planted(1 + m, seed)
    train(model, known, make_method(name, options), TrainConfig(rate, 16, epochs), seed)
    weights = model.weights()
    return float(np.mean([accuracy(model, one) for one in unseen])), float(weights[1:].mean() / weights[0])


def test_fish_learns_what_environments_agree_on_before_their_shortcuts():
    """The control is balanced plain training: as many batches of the same size, each mixed of all environments.

    Fish of epsilon .5 moves half as far, so plain training at half the rate stands beside that at the whole: there the
    invariant feature gets the same weight. It is the batches of one environment at a time that make the difference, not
    epsilon: epsilon 1 at half the rate is no worse, and is no control.
    """
    rate = 0.02
    fish = np.array([without_shortcuts("fish", {}, rate, seed) for seed in SEEDS])
    for share in (1.0, 0.5):
        mixed = np.array([without_shortcuts("vanilla", {}, rate * share, seed) for seed in SEEDS])
        gains = fish[:, 0] - mixed[:, 0]
        assert np.mean(gains) > 0.25 and gains.min() > 0.1, (share, fish, mixed)
        assert mixed[:, 1].mean() > 1 > 0.8 > fish[:, 1].mean(), (share, fish, mixed)

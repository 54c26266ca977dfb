"""Every equation against the values of `docs/method/beluga.md` 1.13."""

import pytest
import torch

from shoal.training import losses
from shoal.training.environments import DIRECTIONS


def logits(*probabilities):
    """Logits whose softmax these probabilities are."""
    return torch.tensor([probabilities], dtype=torch.float64).log()


@pytest.mark.parametrize(
    ("target", "p", "expected"),
    [
        ((1 / 3, 2 / 3), (0.5, 0.5), 0.693147),
        ((0.0, 1.0), (0.1, 0.9), 0.105361),
    ],
)
def test_cross_entropy_takes_soft_labels(target, p, expected):
    found = losses.cross_entropy(logits(*p), torch.tensor([target], dtype=torch.float64))
    assert found.item() == pytest.approx(expected, abs=1e-6)


def test_sigmoids_are_not_the_softmax():
    z, y = torch.tensor([[-1.0, 2.0]], dtype=torch.float64), torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    assert losses.independent_sigmoids(z, y).item() == pytest.approx(0.220095, abs=1e-6)
    assert losses.cross_entropy(z, y).item() == pytest.approx(0.048587, abs=1e-6)


@pytest.mark.parametrize(
    ("p0", "p1", "expected"),
    [
        ((0.8, 0.2), (0.6, 0.4), 0.591919),
        ((0.8, 0.2), (0.8, 0.2), 0.500402),
        ((0.6, 0.4), (0.8, 0.2), 0.777661),
    ],
)
def test_invariance_is_equation_5(p0, p1, expected):
    assert losses.invariance(logits(*p0), logits(*p1)).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("direction", "p0", "p1", "error", "loss"),
    [
        ("not_more_conf", (0.3, 0.7), (0.1, 0.9), 0.2, 0.223144),
        ("not_more_conf", (0.3, 0.7), (0.8, 0.2), 0.0, 0.0),
        ("not_less_conf", (0.3, 0.7), (0.8, 0.2), 0.5, 0.693147),
        ("not_less_conf", (0.9, 0.1), (0.8, 0.2), 0.1, 0.105361),
        ("not_less_2", (0.3, 0.7), (0.45, 0.55), 0.15, 0.162519),
        ("not_less_0", (0.3, 0.7), (0.2, 0.8), 0.1, 0.105361),
    ],
)
def test_direction_is_equation_6(direction, p0, p1, error, loss):
    before, after = logits(*p0), logits(*p1)
    assert losses.directional_error(before, after, [direction]).item() == pytest.approx(error, abs=1e-6)
    assert losses.direction(before, after, [direction]).item() == pytest.approx(loss, abs=1e-6)


def test_the_error_agrees_with_the_one_that_is_scored():
    """`protocols/behaviour` judges with numpy what is trained here with torch."""
    from shoal.protocols.behaviour.rules import directional_error

    rows = torch.Generator().manual_seed(0)
    before, after = (torch.randn(20, 3, generator=rows, dtype=torch.float64) for _ in range(2))
    for direction in DIRECTIONS:
        ours = losses.directional_error(before, after, [direction] * 20)
        scored = directional_error(direction, before.softmax(-1).numpy(), after.softmax(-1).numpy())
        assert ours.numpy() == pytest.approx(scored, abs=1e-12)

"""A toy task that every method can learn, and models to learn it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("transformers", reason="needs shoal[hf]")

import torch

from shoal import load_model
from shoal.training.environments import Directed, Environment, Invariant, Labelled, Several

LABELS = ("negative", "positive")
NEGATIVE, POSITIVE = (1.0, 0.0), (0.0, 1.0)
THINGS = ("film", "meal", "book", "hotel", "song")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Such small matrices gain nothing from a second core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sentences(word: str) -> list[tuple[str]]:
    """Sentences about things with one word, which alone decides the label."""
    return [
        (f"the {thing} was {how} {word}",) for thing in THINGS for how in ("very", "so", "quite", "really")
    ]


def labelled(word: str, target: tuple[float, ...]) -> list[Labelled]:
    return [Labelled(example, target) for example in sentences(word)]


@pytest.fixture(scope="session")
def toy() -> list[Environment]:
    """An environment of each kind; "good" is positive and "bad" is negative in all of them."""
    good, bad = sentences("good"), sentences("bad")
    pairs: list[Any] = [(good[at], (good[-1 - at], good[at - 1])) for at in range(20)]
    pairs += [(bad[at], (bad[-1 - at],)) for at in range(20)]
    return [
        Environment("i.i.d.", "iid", labelled("good", POSITIVE) + labelled("bad", NEGATIVE)),
        Environment("vocabulary", "MFT", labelled("bad", NEGATIVE) + labelled("good", POSITIVE)),
        Environment("typos", "INV", [Invariant(*pair) for pair in pairs]),
        Environment("used to", "DIR", [Directed(before, after, "not_less_conf") for before, after in pairs]),
        Environment(
            "several",
            "DIR",
            [
                Several((good[at], bad[at], good[at - 1], bad[at - 1]), (POSITIVE, NEGATIVE) * 2, at % 2 == 0)
                for at in range(20)
            ],
        ),
    ]


@pytest.fixture(scope="session")
def fresh() -> Callable[..., Any]:
    """The small sentiment encoder under a head that has learnt nothing."""
    return lambda seed=0, labels=LABELS: load_model("tiny:sentiment").with_fresh_head(labels, seed)


@pytest.fixture(scope="session")
def weights_of() -> Callable[[Any], dict[str, Any]]:
    """A copy of a model's weights."""
    return lambda model: {
        name: value.clone() for name, value in model.network(model.trained).state_dict().items()
    }

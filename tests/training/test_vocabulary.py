"""Training the used rows of the word table gives the same weights as training all of it, bit by bit."""

import pytest
import torch

from shoal.models import load_model
from shoal.training import learner
from shoal.training.config import TrainConfig
from shoal.training.environments import Environment, Labelled
from shoal.training.loop import train
from shoal.training.methods import make_method

KNOWN = [
    Environment("praise", "MFT", [Labelled((f"a {word} film",), (0.0, 1.0)) for word in ("fine", "good", "nice")]),
    Environment("blame", "MFT", [Labelled((f"an {word} meal",), (1.0, 0.0)) for word in ("awful", "ugly", "odd")]),
]  # fmt: skip
ELSEWHERE = [("what a wonderful concert that was, and the hotel",), ("the garden is terrible",)]
"""With words that are in no text of the training."""


def trained(name, narrowed, monkeypatch, **more):
    """The weights, the answers at the marks, and the number of trained rows of the word table."""
    monkeypatch.setattr(learner, "LARGE", 0 if narrowed else 10**9)
    model = load_model("tiny:sentiment").with_fresh_head(("negative", "positive"), 3)
    network, said, rows = model.network(model.trained), [], []

    def mark(_):
        said.append(model.classify(ELSEWHERE, None).probabilities.tolist())

    def progress(*_):
        rows.append(len(network.get_input_embeddings().weight))

    train(
        model, KNOWN, make_method(name), TrainConfig(1e-2, 2, 3, **more), 0, progress, mark, marks=("1", "3")
    )
    return {key: value.clone() for key, value in network.state_dict().items()}, said, set(rows)


@pytest.mark.parametrize("name", ["vanilla", "irm", "lp-ft"])
def test_the_weights_are_the_same_to_the_last_bit(name, monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole, said, every = trained(name, False, monkeypatch)
        ours, also_said, few = trained(name, True, monkeypatch)
    finally:
        torch.set_num_threads(before)
    assert max(few) < min(every) / 10
    assert whole.keys() == ours.keys() and all(torch.equal(whole[key], ours[key]) for key in whole)
    assert also_said == said and len(said) == 2 and said[0] != said[1]


def test_where_every_weight_shrinks_the_table_stays_whole(monkeypatch):
    assert trained("l2", True, monkeypatch)[2] == {838}


def test_a_table_that_is_tied_to_another_layer_stays_whole(monkeypatch):
    network = load_model("tiny:sentiment").with_fresh_head(("a", "b"), 0).network("classify")
    monkeypatch.setattr(learner, "LARGE", 0)
    assert learner.large_table(network) is not None
    network.also = torch.nn.Linear(128, 838, bias=False)
    network.also.weight = network.get_input_embeddings().weight
    assert learner.large_table(network) is None

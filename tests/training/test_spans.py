"""Reading comprehension as something to train on: the worked examples, windows, and models that learn from it."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from shoal import load_model
from shoal.data.grammar import make_rows
from shoal.training import losses
from shoal.training.config import TrainConfig
from shoal.training.environments import Alike, Answered, Environment
from shoal.training.loop import train
from shoal.training.methods import METHODS, make_method
from shoal.training.spans import AlignedLoss, Windows, align, token_ends

ORIGINAL = ["Paul", "traveled", "from", "Chicago", "to", "New", "York"]
VARIANT = ["Paul", "traveled", "from", "Los", "Angeles", "to", "New", "York"]
BEFORE = torch.tensor([0.0, 0, 0, 1, 0, 3, 1])
AFTER = torch.tensor([0.0, 0, 0, 1, 2, 0, 3, 1])


def numbered(words: list[str]) -> list[int]:
    known = sorted({*ORIGINAL, *VARIANT})
    return [known.index(word) for word in words]


def both_ends(logits: Tensor) -> Tensor:
    """The same logits as start and as end, of one case."""
    return torch.stack([logits, logits], dim=-1)[None]


def aligned_loss(before: Tensor, after: Tensor, filled_to: int = 0) -> float:
    ours, theirs = align(numbered(ORIGINAL), numbered(VARIANT))
    places = [np.concatenate([at, np.zeros(max(0, filled_to - len(at)), np.int64)]) for at in (ours, theirs)]
    loss = losses.aligned_spans(
        both_ends(before)[:, places[0]],
        both_ends(after)[:, places[1]],
        torch.ones(1, len(places[0]), dtype=torch.bool),
    )
    return float(loss)


def test_two_texts_are_aligned_by_the_words_they_share():
    ours, theirs = align(numbered(ORIGINAL), numbered(VARIANT))
    assert ours.tolist() == [0, 1, 2, 4, 5, 6]
    assert theirs.tolist() == [0, 1, 2, 5, 6, 7]


def test_the_alignment_loss_of_the_worked_example():
    assert aligned_loss(BEFORE, AFTER) == pytest.approx(
        0.939070, abs=1e-6
    )  # its floor: aligned logits are equal
    other = AFTER.clone()
    other[6] = 2.0  # "New"
    assert aligned_loss(BEFORE, other) == pytest.approx(1.046574, abs=1e-6)
    # the reference fills up with the first token, to the length of the original
    assert aligned_loss(BEFORE, AFTER, filled_to=7) == pytest.approx(1.060201, abs=1e-6)


def fixed(places: tuple[list[int], list[int]], tokens: int, reference: bool = False) -> AlignedLoss:
    """The loss of one pair whose windows share these tokens."""
    before, after = (torch.tensor([at]) for at in places)
    shared = torch.ones_like(before, dtype=torch.bool)
    source: Any = SimpleNamespace(reference=reference)
    return AlignedLoss(before, after, shared, torch.ones(1, tokens, dtype=torch.bool), source)


def test_a_pair_whose_answer_was_substituted_teaches_nothing():
    loss = fixed(([0, 1], [0, 1]), 3)
    elsewhere = torch.tensor([0.0, 0.0, 9.0])  # nearly all of it on the token that the two do not share
    logits = torch.cat([both_ends(elsewhere), both_ends(elsewhere)]).requires_grad_()
    value = loss(logits)
    value.backward()
    assert value.item() == 0.0 and logits.grad is not None and not logits.grad.any()
    here = torch.cat([both_ends(torch.tensor([3.0, 0.0, 0.0]))] * 2)
    assert loss(here).item() > 0
    assert fixed(([0, 1], [0, 1]), 3, reference=True)(logits).item() > 0
    assert fixed(([], []), 3)(here).item() == 0.0  # nothing in common


def test_every_occurrence_of_an_answer_is_right():
    """-½ log Σ p_start - ½ log Σ p_end; with one occurrence, the mean of two cross-entropies."""
    logits = both_ends(torch.tensor([1.0, 2.0, 3.0, 50.0]))
    real = torch.tensor([[True, True, True, False]])
    p = torch.tensor([1.0, 2.0, 3.0]).softmax(0)
    wanted = torch.zeros(1, 4, 2, dtype=torch.bool)
    wanted[0, 0, 0] = wanted[0, 1, 1] = True
    assert losses.spans(logits, wanted, real).item() == pytest.approx(
        -(math.log(p[0]) + math.log(p[1])) / 2, abs=1e-5
    )
    wanted[0, 2, 0] = True
    assert losses.spans(logits, wanted, real).item() == pytest.approx(
        -(math.log(p[0] + p[2]) + math.log(p[1])) / 2, abs=1e-5
    )


def test_an_answer_is_the_tokens_that_hold_it_or_none_of_a_window():
    places = [None, (0, 4), (5, 8), (8, 12), None]
    assert token_ends(places, 5, 12) == (2, 3)
    assert token_ends(places, 6, 8) == (2, 2)  # inside a token
    assert token_ends(places, 10, 20) is None and token_ends(places, 4, 5) is None


LONG = " ".join(f"Marta met Omar in room {number}." for number in range(40)) + " Then Felix flew to Oslo."


@pytest.fixture(scope="module")
def model() -> Any:
    return load_model("tiny:reading").with_fresh_span_head(0)


def test_each_window_of_a_long_context_is_an_item(model):
    example = (LONG, "Who flew to Oslo?")
    start = LONG.index("Felix")
    item = Answered(example, ((start, start + 5),))
    windows = Windows(model, [example])
    environment = windows.cut(Environment("names", "MFT", [item]))
    assert len(environment) == len(windows.windows) > 1
    ends = [windows.ends(part) for part in environment.items if isinstance(part, Answered)]
    assert len(ends) == len(environment)
    assert ends[0] == ([0], [0]) and ends[-1] != ([0], [0])  # not in the first window: its first token
    row = windows.windows[-1]
    first, last = ends[-1][0][0], ends[-1][1][0]
    assert LONG[row[3][first][0] : row[3][last][1]] == "Felix"


def lessons(n: int) -> list[Environment]:
    rows = make_rows("reading", "train", n)
    answered = [Answered(row.texts, ((row.start or 0, (row.start or 0) + len(row.label)),)) for row in rows]
    alike = [Alike(row.texts, ((row.texts[0], row.texts[1].replace("?", " ?")),)) for row in rows[:20]]
    half = n // 2
    return [
        Environment("i.i.d.", "iid", answered[:half]),
        Environment("facts", "MFT", answered[half:]),
        Environment("spaces", "INV", alike),
    ]


def exact(model: Any, n: int = 60) -> float:
    rows = make_rows("reading", "test", n)
    said = model.extract([row.texts for row in rows]).texts
    return float(np.mean([answer == row.label for answer, row in zip(said, rows, strict=True)]))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_trains_on_questions(name, weights_of):
    torch.set_num_threads(1)
    model = load_model("tiny:reading").with_fresh_span_head(1)
    weights = weights_of(model)
    before = exact(model)
    steps = train(model, lessons(60), make_method(name), TrainConfig(1e-3, 8, 2), 1)
    assert steps and all(map(math.isfinite, steps))
    after = weights_of(model)
    assert any(not torch.equal(weights[part], after[part]) for part in weights)
    if name == "vanilla":
        assert before < 0.1 and exact(model) > 0.5

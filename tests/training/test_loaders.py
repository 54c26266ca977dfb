"""From items to batches: what every epoch shows, and what never shares a batch."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import DataError
from shoal.training.config import TrainConfig
from shoal.training.environments import Directed, Environment, Invariant, Labelled, Several
from shoal.training.loaders import ByEnvironment, EveryItem
from shoal.training.loop import steps_of
from shoal.training.methods import make_method


class Texts:
    """Inputs that are the examples themselves, so that tests can read them."""

    def __init__(self, environments):
        examples = (example for one in environments for item in one.items for example in item.examples)
        self.place = {example: row for row, example in enumerate(dict.fromkeys(examples))}
        self.texts = list(self.place)
        self.lengths = np.array([len(example[0]) for example in self.texts], np.int64)

    def rows(self, examples):
        return [self.place[example] for example in examples]

    def take(self, rows):
        return [self.texts[row][0] for row in rows]


def labelled(name, count, kind="MFT"):
    return Environment(
        name, kind, [Labelled((f"{name} {'x' * (at % 7)}{at}",), (0.0, 1.0)) for at in range(count)]
    )


def paired(name, count, kind="INV"):
    def texts(at):
        return (f"{name} {at}",), tuple((f"{name} {at} v{v}",) for v in range(1 + at % 3))

    pairs = [texts(at) for at in range(count)]
    if kind == "INV":
        return Environment(name, kind, [Invariant(*pair) for pair in pairs])
    return Environment(name, kind, [Directed(before, after, "not_less_2") for before, after in pairs])


def several(name, count):
    return Environment(
        name,
        "DIR",
        [
            Several(
                tuple((f"{name} {at} e{e}",) for e in range(1 + at % 5)),
                ((1.0, 0.0),) * (1 + at % 5),
                at % 2 == 0,
            )
            for at in range(count)
        ],
    )


def every_item(environments, batch, seed=0, **options):
    return EveryItem(environments, Texts(environments), batch, np.random.default_rng(seed), **options)


def case_of(text):
    """The item that a shown text belongs to: its first two words."""
    return " ".join(text.split()[:2])


ALIKE = {"kappa": 0.0, "iid_share": 0.0}


@pytest.mark.parametrize(
    ("method", "options", "steps"),
    [
        ("vanilla", {}, 23),
        ("irm", ALIKE | {"per_step": 0}, 9),
        ("group-dro", ALIKE, 24),
        ("fish", {"kappa": 0.0, "iid_always": False}, 8),  # three environments: three inner steps
        ("irm", {}, 9),  # five of three are all
        ("group-dro", {}, 23),  # 160 / 7.17: half of the draws are i.i.d.
        ("fish", {}, 8),
    ],
)
def test_steps_per_epoch_are_those_of_section_1_14(method, options, steps):
    toy = [labelled("a", 40), paired("b", 20), labelled("c", 100, "iid")]
    assert (
        steps_of(toy, make_method(method, options), TrainConfig(learning_rate=1e-3, batch=8, epochs=1))
        == steps
    )


sizes = st.integers(1, 40)
SHARES = {"mft": 1, "iid": 1, "inv": 2, "dir": 2, "sev": 3}
"""Texts of an item."""


@settings(deadline=None, max_examples=60)
@given(sizes, sizes, sizes, sizes, st.integers(1, 9), st.booleans(), st.integers(0, 99))
def test_an_epoch_visits_every_item_once_and_a_batch_holds_one_kind(
    mft, iid, inv, pairs, batch, grouped, seed
):
    environments = [
        labelled("mft", mft), labelled("iid", iid, "iid"), paired("inv", inv), paired("dir", pairs, "DIR"),
        several("sev", inv),
    ]  # fmt: skip
    feed = every_item(environments, batch, seed, by_length=grouped)
    for _ in range(2):
        visits: Counter[str] = Counter()
        steps = list(feed.epoch())
        for (shown,) in steps:
            assert len({text.split()[0] for text in shown.inputs}) == 1
            assert len({case_of(text) for text in shown.inputs}) <= max(
                1, batch // SHARES[shown.inputs[0].split()[0]]
            )
            visits.update({case_of(text) for text in shown.inputs})
        assert len(steps) == feed.steps
        wanted = {case_of(item.examples[0][0]) for one in environments for item in one.items}
        assert visits == Counter(wanted)


@settings(deadline=None, max_examples=40)
@given(sizes, sizes, st.integers(1, 9), st.integers(0, 99))
def test_a_batch_of_an_environment_holds_no_item_twice(mft, inv, batch, seed):
    environments = [labelled("mft", mft), paired("inv", inv)]
    feed = ByEnvironment(
        environments,
        Texts(environments),
        batch,
        np.random.default_rng(seed),
        choose=lambda known, rng: [one.name for one in known],
        steps=5,
    )
    steps = list(feed.epoch())
    assert len(steps) == 5
    for step in steps:
        assert [shown.environment for shown in step] == ["mft", "inv"]
        for shown, environment in zip(step, environments, strict=True):
            cases = {case_of(text) for text in shown.inputs}
            assert len(cases) == shown.cases == min(len(environment), environment.batch_size(batch))


def test_a_scale_reaches_the_sides_that_section_1_7_names():
    logits = torch.tensor([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [2.0, 0.0]])
    two = torch.full((1, 2), 2.0)
    pairs = [paired("a", 2), paired("b", 2, "DIR")]
    ((inv,),), ((directed,),) = (every_item([one], 4).epoch() for one in pairs)
    half = torch.cat([logits[:2], 2 * logits[2:]])
    assert inv.loss(logits, two).item() == inv.loss(half).item()
    assert directed.loss(logits, two).item() == directed.loss(2 * logits).item()
    assert inv.loss(logits, two).item() != inv.loss(logits).item()


def test_what_cannot_be_an_environment_is_refused():
    with pytest.raises(DataError, match="nothing to train on"):
        Environment("a", "MFT", [])
    with pytest.raises(DataError, match="cannot mix kinds"):
        Environment("a", "DIR", [*paired("x", 1).items, *several("y", 1).items])
    with pytest.raises(DataError, match=r"direction 'not_less_1'[\s\S]*try: \"not_less_"):
        Environment("a", "DIR", [Directed(("x",), (("y",),), "not_less_1")])

"""Texts are taken apart once for all trainings of a process, and come out as if they had been each time."""

import numpy as np
import pytest

from shoal.models import load_model
from shoal.models.loaded import Tokenised, shared_tokens

TEXTS = [("a lovely film",), ("what a dreadful, dreadful meal it was",), ("a lovely film",), ("fine",)]


@pytest.fixture
def forgotten():
    shared_tokens.cache_clear()
    yield
    shared_tokens.cache_clear()


def trained(spec="tiny:sentiment"):
    return load_model(spec).with_fresh_head(("negative", "positive"), 0)


def same(ours, theirs):
    return ours.keys() == theirs.keys() and all(
        len(ours[name]) == len(theirs[name]) and all(map(np.array_equal, ours[name], theirs[name]))
        for name in ours
    )


def test_what_is_remembered_is_what_the_tokenizer_says(forgotten):
    plain = load_model("tiny:sentiment").tokenise(TEXTS)
    assert same(trained().tokenise(TEXTS[1:]), {name: rows[1:] for name, rows in plain.items()})
    assert same(trained().tokenise(TEXTS), plain)


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr("shoal.models.loaded.MOST_CACHED", 3)
    asked = []

    def make(examples):
        asked.append(len(examples))
        return {"input_ids": [np.array([len(text)]) for (text,) in examples]}

    table = Tokenised()
    for texts in (TEXTS[:2], TEXTS[:2], [("x",), ("y",)], [*TEXTS, ("z",)]):
        rows = table.columns(texts, make)["input_ids"]
        assert [int(row[0]) for row in rows] == [len(text) for (text,) in texts]
    assert asked == [2, 2, 5]  # known the second time; forgotten for the third; too many for the fourth

"""The small models that ship are made by the one loop, reading ones too."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from shoal.data.grammar import make_rows
from shoal.training.config import TrainConfig
from shoal.training.loop import Learner, train_network
from shoal.training.tiny import RECIPES, Rows, encode, logits_of, make_model, make_tokenizer


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_learns(name):
    recipe = replace(RECIPES[name], layers=1, width=64)
    rows = make_rows(name, "train", 32, 0)
    tokenizer = make_tokenizer([text for row in rows for text in row.texts], recipe)
    with torch.random.fork_rng([]):
        model = make_model(recipe, tokenizer, 0)
    feed = Rows(rows, tokenizer, recipe, np.random.default_rng(0))
    log = train_network(Learner(model, partial(logits_of, model)), feed, TrainConfig(5e-3, 32, 30), seed=0)
    assert log.steps == 30
    assert log.losses[-1] < 0.6 * log.losses[0]


def test_an_answer_is_sought_between_its_first_and_last_token():
    recipe = RECIPES["reading"]
    rows = make_rows("reading", "train", 20, 0)
    tokenizer = make_tokenizer([text for row in rows for text in row.texts], recipe)
    inputs, wanted = encode(rows, tokenizer, recipe)
    for row, ids, (first, last) in zip(rows, inputs["input_ids"], wanted.tolist(), strict=True):
        found = str(tokenizer.decode(ids[first : last + 1])).replace(" ", "")
        assert found == row.label.lower().replace(" ", "")

"""The small models that ship are made by the one loop, reading ones too."""

from dataclasses import replace

import pytest
import torch

from shoal.data.grammar import make_rows
from shoal.training.tiny import RECIPES, accuracy, build


@pytest.mark.parametrize("name", ["nli", "reading"])
def test_a_recipe_learns(name):
    recipe = replace(RECIPES[name], layers=1, width=64, learning_rate=5e-3, epochs=30)
    rows = make_rows(name, "train", 32, 0)
    with torch.random.fork_rng([]):
        model = build(recipe, rows)
    assert accuracy(model, rows, recipe.labels) > 0.5

"""How well each way to train learns the task: the i.i.d. score of a model after every configuration.

    python benchmarks/methods.py [--rows 600] [--seed 0] [--on iid+suite] [--method vanilla,fish]
    python benchmarks/methods.py --plan docs/studies/learning/minilm.toml --on "iid>suite"

Of the embedded model, on our own suite and i.i.d. data; or of the model and data of a plan. With the default numbers of
each method. A method at its defaults must learn the task before anything can be said about how it generalises.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from shoal.protocols.learning.iid import load_iid
from shoal.protocols.learning.settings import Settings
from shoal.protocols.learning.stages import make_recipe
from shoal.protocols.learning.tuning import probabilities_of
from shoal.runs.plan import read_plan
from shoal.training.methods import METHODS
from shoal.training.stage import silent

CONFIGS = ("iid>suite", "iid+suite", "iid>iid+suite")
MODEL = "tiny:sentiment"


class Scores:
    """The share of i.i.d. test rows that each training gets right; the i.i.d. stage is trained once."""

    def __init__(self, settings: Settings, model: str, seed: int) -> None:
        self.settings, self.model, self.seed = settings, model, seed
        self.weights: dict[str, dict[str, Any]] = {}

    def of(self, config: str, method: str) -> float:
        """After one training."""
        train = replace(self.settings.train, on=(config,), method=(method,))  # type: ignore[arg-type]
        settings = replace(self.settings, train=train, hold_out=("none" if config == "iid" else "seen",))
        recipe = make_recipe(settings, self.model)
        model = recipe.base(self.seed)
        for number, stage in enumerate(recipe.stages):
            network, shared = model.network(model.trained), repr(stage.identity)
            if number == 0 and shared in self.weights:
                network.load_state_dict(self.weights[shared])
                continue
            stage.train(model, self.seed, silent, lambda mark: None)
            if stage.title == "iid":
                self.weights[shared] = {name: one.clone() for name, one in network.state_dict().items()}
        data = load_iid(settings)
        chances = probabilities_of(model, [row.texts for row in data.test], data.labels)
        predicted = [data.labels[code] for code in chances.argmax(axis=1).tolist()]
        return float(np.mean([word == row.label for word, row in zip(predicted, data.test, strict=True)]))


def main() -> None:
    """Print the table, a line as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on", default=",".join(CONFIGS))
    parser.add_argument("--method", default=",".join(METHODS))
    parser.add_argument("--plan", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    settings, model = Settings(iid="sentiment", iid_limit=given.rows), MODEL
    if given.plan:
        plan = read_plan(given.plan)
        settings, model = plan.tables["learning"], next(iter(plan.models.values()))
    scores = Scores(replace(settings, seed=given.seed), model, given.seed)
    for config in given.on.split(","):
        for method in given.method.split(",") if config != "iid" else ["vanilla"]:
            print(f"{config:<14} {method:<10} {scores.of(config, method):.3f}", flush=True)


if __name__ == "__main__":
    main()

"""How well each way to train learns the task: the i.i.d. score of the embedded model after every configuration.

    python benchmarks/methods.py [--rows 600] [--seed 0] [--on iid+suite] [--method vanilla,fish]

On our own suite and i.i.d. data, with the default numbers of each method. A method at its defaults must learn the task
before anything can be said about how it generalises.
"""

import argparse

import numpy as np
import torch

from shoal.protocols.behaviour.build import iid_of
from shoal.protocols.behaviour.learning.stages import make_recipe
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.training.methods import METHODS
from shoal.training.stage import silent

CONFIGS = ("iid>suite", "iid+suite", "iid>iid+suite")
MODEL = "tiny:sentiment"


def score(config: str, method: str, rows: int, seed: int) -> float:
    """The share of i.i.d. test rows that one training gets right."""
    settings = Settings(
        iid="sentiment",
        iid_limit=rows,
        seed=seed,
        hold_out=("seen",),
        train=Train(on=(config,), method=(method,)),  # type: ignore[arg-type]
    )
    recipe = make_recipe(settings, MODEL)
    model = recipe.base(seed)
    for stage in recipe.stages:
        stage.train(model, seed, silent, lambda mark: None)
    data = iid_of(settings)
    answers = model.classify([row.texts for row in data.test], data.labels)
    said = [answers.labels[code] for code in answers.predictions.tolist()]
    return float(np.mean([word == row.label for word, row in zip(said, data.test, strict=True)]))


def main() -> None:
    """Print the table, a line as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on", default=",".join(CONFIGS))
    parser.add_argument("--method", default=",".join(METHODS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    for config in given.on.split(","):
        for method in given.method.split(","):
            print(
                f"{config:<14} {method:<10} {score(config, method, given.rows, given.seed):.3f}", flush=True
            )


if __name__ == "__main__":
    main()

"""Six small models for each linguistic feature, inoculated against its shortcut to different degrees.

    python docs/studies/inoculation/make_models.py MORPH --into models

Each is trained from nothing on ambiguous sentences with shares of others whose labels follow the linguistic (L) or the
surface (S) feature, and is a Transformers folder: models/MORPH/2L. What is there already is not made again. The test
sentences are those in which the features disagree, and the label follows the linguistic one. What each model gets
right of 2,000 of them stands in models/MORPH/ranking.toml, a plan that ranks the models by 200 of them:

    shoal run models/MORPH/ranking.toml --into runs
"""

import argparse
import csv
import json
from functools import partial
from pathlib import Path

import numpy as np
import torch

from shoal import load_model
from shoal.data.grammar import Row
from shoal.data.signals import FEATURES, LABELS, Signal, inoculated, make_signals
from shoal.training.how import How
from shoal.training.loop import Learner, train_network
from shoal.training.tiny import Recipe, Rows, logits_of, make_model, make_tokenizer

SHARES = {
    "none": (0.0, 0.0), "2L": (0.02, 0.0), "2S": (0.0, 0.02),
    "2L1S": (0.02, 0.01), "1L2S": (0.01, 0.02), "2L2S": (0.02, 0.02),
}  # fmt: skip
"""Shares of sentences whose labels follow the linguistic and the surface feature: those of the paper's Table 5."""
FACTORS = {"MORPH": "IRREG", "VERB": "VERB", "ADJECT": "ADJ"}
TESTS = 2_000
RECIPE = Recipe(rows=3_000, epochs=4, labels=LABELS, vocabulary=600, width=64, length=24)


def make(feature: str, name: str, folder: Path, seed: int) -> None:
    """Train one model and save it."""
    signals = inoculated(feature, RECIPE.rows, *SHARES[name], np.random.default_rng([seed, 1]))  # type: ignore[arg-type]
    rows = [Row((signal.text,), signal.label) for signal in signals]
    tokenizer = make_tokenizer([row.texts[0] for row in rows], RECIPE)
    model = make_model(RECIPE, tokenizer, seed)
    feed = Rows(rows, tokenizer, RECIPE, np.random.default_rng([seed, 2]))
    how = How(RECIPE.learning_rate, RECIPE.batch, RECIPE.epochs, warm_up=0.1)
    train_network(Learner(model, partial(logits_of, model)), feed, how, seed)
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    model.save_pretrained(unfinished)  # type: ignore[operator]
    tokenizer.save_pretrained(unfinished)
    unfinished.rename(folder)


def main() -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description="Inoculated models for one feature.")
    parser.add_argument("feature", choices=FEATURES)
    parser.add_argument("--into", type=Path, default=Path("models"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--population", type=int, default=200)
    parser.add_argument("--samples", type=int, default=1_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    place = (options.into / options.feature).absolute()
    place.mkdir(parents=True, exist_ok=True)
    for name in SHARES:
        if not (place / name).exists():
            make(options.feature, name, place / name, options.seed)
            print(f"{options.feature} {name}: made", flush=True)
    tests = make_signals(options.feature, "linguistic", TESTS, np.random.default_rng([options.seed, 3]))
    with (place / "population.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label", "word"])
        writer.writerows([signal.text, signal.label, signal.word] for signal in tests[: options.population])
    (place / "ranking.toml").write_text(plan(options.feature, place, tests, options.samples))


def plan(feature: str, place: Path, tests: list[Signal], samples: int) -> str:
    """The plan that ranks the six, with what each gets right of all test sentences."""
    specs = [f"hf:{place / name}" for name in SHARES]
    rates = [f"{spec}={accuracy(spec, tests):.4f}" for spec in specs]
    return "\n".join(
        [
            f"models = {json.dumps(specs)}",
            "[ranking]",
            f"data = {json.dumps([str(place / 'population.csv')])}",
            'feature = "word"',
            f"accuracies = {json.dumps(rates)}",
            f"factors = {json.dumps(['ACC', 'CONF', 'CONF-GT', 'RANDOM', FACTORS[feature]])}",
            'explainers = ["lime", "shapley", "gradients"]',
            f"samples = {samples}",
            "",
        ]
    )


def accuracy(spec: str, tests: list[Signal]) -> float:
    """What a model gets right."""
    answers = load_model(spec).classify([(signal.text,) for signal in tests], LABELS)
    right = [
        answers.labels[code] == signal.label for code, signal in zip(answers.predictions, tests, strict=True)
    ]
    return float(np.mean(right))


if __name__ == "__main__":
    main()

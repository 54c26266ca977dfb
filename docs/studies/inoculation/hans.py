"""Write data files and a plan for inoculated MiniLM models on HANS.

    python docs/studies/inoculation/hans.py DATA ENCODER --into hans
    shoal run hans/ranking.toml --into runs

DATA is the folder with `snli/` and `hans/`, ENCODER a folder with the MiniLM encoder. There are two labels: entailment
or not. The old domain is SNLI pairs as short as those of HANS. The new domain is 200 pairs of HANS's constituent
heuristic, half of them entailed: 120 for ranking, 80 for inoculation.
"""

import argparse
import csv
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

SNLI = {"1": "non-entailment", "2": "non-entailment", "3": "entailment"}
"""Label codes of the sample: neutral, contradiction, entailment."""
LONGEST = (12, 8)
"""Maximum words of a premise and of a hypothesis."""
ASKED = re.compile(r"Q: (.*) Is it definitely true that (.*)\?\nA:")
ANSWERS = {"Yes": "entailment", "No": "non-entailment"}
INOCULATING = 40
"""Pairs of each label."""
Pair = tuple[str, str, str]

PLAN = """models = ["hf:{encoder}"]

[ranking]
data = ["constituent.csv"]
population = {population}
factors = [
    "ACC", "CONF", "CONF-GT", "RANDOM", "CONST", "SUM-DIFF", "MAX-DIFF", "INDEX-DIFF", "FIRST-TOK", "SUBSEQUENCE",
]
explainers = ["lime", "shapley", "gradients"]
samples = {{lime = {samples}, shapley = {samples}, gradients = {steps}}}

[ranking.train]
on = "snli.csv"
out = {{hans = "inoculation.csv"}}
doses = [{doses}]
epochs = {epochs}
batch = 32
learning_rate = 1e-4
"""
STEPS = (0, 4, 8, 16, 32)


def snli(folder: Path) -> list[Pair]:
    """Return the short pairs of the training sample."""
    with gzip.open(folder / "snli" / "cat_sample_train.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    pairs = [(premise, hypothesis, SNLI[label]) for label, _, premise, hypothesis in rows]
    return [pair for pair in pairs if all(len(pair[at].split()) <= LONGEST[at] for at in (0, 1))]


def constituent(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """Return pairs of the constituent heuristic, for ranking and for inoculation."""
    pairs: dict[str, list[Pair]] = {label: [] for label in ANSWERS.values()}
    for line in (folder / "hans" / "syntax_icl_hans_600.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = ASKED.fullmatch(row["src"])
        if row["heuristic"] == "constituent" and found:
            label = ANSWERS[row["tgt"]]
            pairs[label].append((found[1], f"{found[2]}.", label))
    drawn = {label: np.random.default_rng(0).permutation(len(rows)) for label, rows in pairs.items()}
    shuffled = {label: [pairs[label][at] for at in drawn[label]] for label in pairs}
    ranked = [pair for rows in shuffled.values() for pair in rows[INOCULATING:]]
    return ranked, [pair for rows in shuffled.values() for pair in rows[:INOCULATING]]


def write(path: Path, pairs: Iterable[Pair]) -> None:
    """Write a table that shoal reads."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["premise", "hypothesis", "label"])
        writer.writerows(pairs)


def main() -> None:
    """Write the data files and the plan."""
    parser = argparse.ArgumentParser(description="Files and a plan for inoculated models on HANS.")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--into", type=Path, default=Path("hans"))
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--population", type=int, default=40)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    ranked, inoculating = constituent(options.data)
    write(options.into / "snli.csv", snli(options.data))
    write(options.into / "constituent.csv", ranked)
    write(options.into / "inoculation.csv", inoculating)
    doses = ", ".join(f"{{steps = {{hans = {count}}}}}" if count else "{}" for count in STEPS)
    (options.into / "ranking.toml").write_text(
        PLAN.format(
            encoder=options.encoder.absolute(),
            epochs=options.epochs,
            population=options.population,
            samples=options.samples,
            steps=options.steps,
            doses=doses,
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()

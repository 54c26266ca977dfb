"""Write data files and a plan for inoculated MiniLM models on PAWS-QQP.

    python docs/studies/inoculation/paws.py DATA ENCODER --into paws
    shoal run paws/ranking.toml --into runs --json > paws.json

DATA is the folder with `paws_qqp/`, ENCODER a folder with the MiniLM encoder. The old domain is the questions that ship
with shoal, in place of QQP. 200 of the pairs inoculate, as pure batches or mixed in; the others rank.
"""

import argparse
import ast
import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

LABELS = {"0": "different", "1": "duplicate"}
INOCULATING = 200
LONGEST = 24
"""Maximum words of a sentence; explainers need more copies of longer ones."""

PLAN = """models = ["hf:{encoder}"]

[ranking]
data = ["ranked.csv"]
population = 50
factors = [
    "ACC", "CONF", "CONF-GT", "RANDOM", "SWAP-AVG", "SWAP-MAX-DIFF", "SUM-DIFF", "MAX-DIFF", "INDEX-DIFF", "FIRST-TOK",
]
explainers = ["lime", "shapley", "gradients"]
samples = {{lime = 120, shapley = 120, gradients = 10}}

[ranking.train]
on = "paraphrase"
out = {{paws = "inoculation.csv"}}
doses = [
    {{}},
    {{steps = {{paws = 8}}}},
    {{steps = {{paws = 24}}}},
    {{steps = {{paws = 64}}}},
    {{mixed = {{paws = 0.02}}, later = true, epochs = 1}},
]
epochs = 1
batch = 32
learning_rate = 1e-4
"""


def write(path: Path, pairs: Iterable[tuple[str, str, str]]) -> None:
    """Write a table that shoal reads."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("premise", "hypothesis", "label"), *pairs])


def main() -> None:
    """Write the data files and the plan."""
    parser = argparse.ArgumentParser(description="Files and a plan for inoculated models on PAWS-QQP.")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--into", type=Path, default=Path("paws"))
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with (options.data / "paws_qqp" / "dev_and_test.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [[ast.literal_eval(row[name]).decode() for name in ("sentence1", "sentence2")] for row in rows]
    pairs = [
        (*text, LABELS[row["label"]])
        for text, row in zip(texts, rows, strict=True)
        if max(len(sentence.split()) for sentence in text) <= LONGEST
    ]
    order = np.random.default_rng(0).permutation(len(pairs))
    write(options.into / "inoculation.csv", [pairs[at] for at in order[:INOCULATING]])
    write(options.into / "ranked.csv", [pairs[at] for at in order[INOCULATING:]])
    plan = PLAN.format(encoder=options.encoder.absolute())
    (options.into / "ranking.toml").write_text(plan, encoding="utf-8")


if __name__ == "__main__":
    main()

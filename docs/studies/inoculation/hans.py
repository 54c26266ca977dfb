"""Files and a plan for inoculated MiniLM models on HANS, from public files that the reader has.

    python docs/studies/inoculation/hans.py DATA ENCODER --into hans
    shoal run hans/ranking.toml --into runs

DATA is the folder with `snli/` and `hans/`; ENCODER a folder with the MiniLM encoder. All labels are two: entailment
or not. The old domain are SNLI pairs. The new one are the pairs of HANS's constituent heuristic: 200 to rank by, half
of them entailed, and the training pairs of two subcases (a clause behind "if", a disjunction) to inoculate with.
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
"""As the sample codes its labels: neutral, contradiction, entailment."""
HANS = {"neutral": "non-entailment", "contradiction": "non-entailment"}
ASKED = re.compile(r"Q: (.*) Is it definitely true that (.*)\?\nA:")
SUBCASES = ("cn_after_if_clause", "cn_disjunction")
Pair = tuple[str, str, str]

PLAN = """models = ["hf:{encoder}"]

[ranking]
data = ["constituent.csv"]
population = {population}
factors = [
    "ACC", "CONF", "CONF-GT", "RANDOM", "CONST", "SUM-DIFF", "MAX-DIFF", "INDEX-DIFF", "FIRST-TOK", "SUBSEQUENCE",
]
explainers = ["lime", "shapley", "gradients"]
samples = {samples}
steps = {steps}

[ranking.train]
on = "snli.csv"
out = {{hans = "inoculation.csv"}}
doses = [{doses}]
epochs = 1
batch = 16
learning_rate = 1e-4
"""
STEPS = (0, 2, 4, 8, 16, 32)


def snli(folder: Path, count: int) -> list[Pair]:
    """So many pairs of the training sample, drawn at random."""
    with gzip.open(folder / "snli" / "cat_sample_train.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    chosen = np.sort(np.random.default_rng(0).choice(len(rows), count, replace=False))
    return [(rows[at][2], rows[at][3], SNLI[rows[at][0]]) for at in chosen]


def constituent(folder: Path) -> list[Pair]:
    """The 200 pairs of the constituent heuristic, as they were put into questions."""
    pairs = []
    for line in (folder / "hans" / "syntax_icl_hans_600.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = ASKED.fullmatch(row["src"])
        if row["heuristic"] == "constituent" and found:
            label = "entailment" if row["tgt"] == "Yes" else "non-entailment"
            pairs.append((_tidy(found[1]), _tidy(f"{found[2]}."), label))
    return pairs


def inoculation(folder: Path) -> list[Pair]:
    """The training pairs of two subcases."""
    pairs = []
    for name in SUBCASES:
        path = folder / "hans" / f"necla_{name}_train-plus.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts = [_tidy(row[side]) for side in ("premise", "hypothesis")]
            pairs.append((*texts, HANS.get(row["label"], row["label"])))
    return pairs


def _tidy(text: str) -> str:
    """Marks as they stand in a sentence: one file sets them apart, the other does not."""
    return re.sub(r" (?=[.,])", "", text)


def write(path: Path, pairs: Iterable[Pair]) -> None:
    """A table that shoal reads."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["premise", "hypothesis", "label"])
        writer.writerows(pairs)


def main() -> None:
    """Write what is needed."""
    parser = argparse.ArgumentParser(description="Files and a plan for inoculated models on HANS.")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--into", type=Path, default=Path("hans"))
    parser.add_argument("--rows", type=int, default=960)
    parser.add_argument("--population", type=int, default=30)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    write(options.into / "snli.csv", snli(options.data, options.rows))
    write(options.into / "constituent.csv", constituent(options.data))
    write(options.into / "inoculation.csv", inoculation(options.data))
    doses = ", ".join(f"{{steps = {{hans = {count}}}}}" if count else "{}" for count in STEPS)
    (options.into / "ranking.toml").write_text(
        PLAN.format(
            encoder=options.encoder.absolute(),
            population=options.population,
            samples=options.samples,
            steps=options.steps,
            doses=doses,
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()

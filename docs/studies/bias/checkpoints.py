"""Pre-train small masked language models of one recipe and save each at five steps.

    python docs/studies/bias/checkpoints.py ../shared/data/wikitext2/test.txt.gz runs/checkpoints

Folders are named seed_S-step_N, so a plan can group them by seed and step. Complete seeds are skipped.
"""

import sys
from pathlib import Path

import torch

from shoal.models.hf import HFModel
from shoal.training.config import TrainConfig
from shoal.training.from_scratch import Shape, blocks_of, fresh_masked_model, pretrain
from shoal.training.text import read_text

SEEDS, MOMENTS = range(5), (1, 2, 3, 4, 6)
"""Epochs after which a model is saved."""
SHAPE = Shape(width=64, layers=2, heads=4, vocabulary=4_000)
BLOCK = 64
HOW = TrainConfig(learning_rate=1e-3, batch=32, epochs=MOMENTS[-1], warm_up=0.1)


def train(text: str, seed: int, into: Path) -> str:
    """Train one seed and save it after each of these epochs."""
    model: HFModel = fresh_masked_model(text, SHAPE, seed)
    per_epoch = -(-len(blocks_of(read_text(text), model.tokenizer, BLOCK)) // HOW.batch)
    folders = {str(epoch): into / f"seed_{seed}-step_{epoch * per_epoch}" for epoch in MOMENTS}
    if all((folder / "model.safetensors").is_file() for folder in folders.values()):
        return f"seed {seed}: there already"

    def keep(epoch: str) -> None:
        model.tokenizer.save_pretrained(folders[epoch])
        model.network("masked").save_pretrained(folders[epoch])

    losses = pretrain(model, text, HOW, BLOCK, seed, lambda *_: None, keep, list(folders))
    return f"seed {seed}: {len(losses)} steps, loss {losses[0]:.2f} to {losses[-1]:.2f}"


def main(text: str, into: Path) -> None:
    """Train every seed."""
    torch.set_num_threads(1)
    for seed in SEEDS:
        print(train(text, seed, into), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

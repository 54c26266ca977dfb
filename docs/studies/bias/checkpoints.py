"""Small masked language models of one recipe, kept at five moments of their pre-training: folders with seed and step.

    python docs/studies/bias/checkpoints.py ../shared/data/wikitext2/test.txt.gz runs/checkpoints

Folders are seed_S-step_N: a group with seeds and steps, as docs/bias.md shows.
"""

import gzip
import sys
from pathlib import Path

import torch

from shoal.training.how import How
from shoal.training.masked import Shape, blocks_of, fresh_masked_model, pretrain
from shoal.training.text import read_text

LINES, BLOCK = 200, 48
SEEDS, MOMENTS = range(5), (1, 2, 4, 8, 12)
SHAPE = Shape(width=16, layers=2, heads=2, vocabulary=1_000)
HOW = How(learning_rate=5e-3, batch=32, epochs=12.0, warm_up=0.1)


def main(text: Path, into: Path) -> None:
    """Train every seed and save it at every moment."""
    into.mkdir(parents=True, exist_ok=True)
    short = into / "text.txt"
    with gzip.open(text, "rt", encoding="utf-8") as stream:
        lines = [line for line in stream if len(line.split()) > 8]
    short.write_text("".join(lines[:LINES]), encoding="utf-8")
    torch.set_num_threads(1)
    for seed in SEEDS:
        model = fresh_masked_model(str(short), SHAPE, seed)
        per_epoch = -(-len(blocks_of(read_text(str(short)), model.tokenizer, BLOCK)) // HOW.batch)

        def keep(epoch: str, seed: int = seed, model: object = model, per_epoch: int = per_epoch) -> None:
            folder = into / f"seed_{seed}-step_{int(epoch) * per_epoch}"
            model.network("masked").save_pretrained(folder)  # type: ignore[attr-defined]
            model.tokenizer.save_pretrained(folder)  # type: ignore[attr-defined]

        log = pretrain(
            model, str(short), HOW, BLOCK, seed, lambda *_: None, keep, [str(epoch) for epoch in MOMENTS]
        )
        print(f"seed {seed}: {log.steps} steps, loss {log.losses[0]:.2f} to {log.losses[-1]:.2f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

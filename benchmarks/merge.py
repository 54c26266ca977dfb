"""Suggestions in batches against one mask per forward pass at batch 1; tagging against the tagger's own speed; memory.

Processor time of one thread.

python benchmarks/merge.py FOLDER            a masked language model; without one, one of MiniLM's size, random weights
python benchmarks/merge.py --memory 10000    so many problems of our own: peaks of building, asking and scoring
"""

import argparse
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from shoal import load_model
from shoal.core.records import Answers, Example
from shoal.data.grammar import make_rows
from shoal.models.interface import Blank
from shoal.protocols.merge import Settings
from shoal.protocols.merge.suggest import blanks_for
from shoal.protocols.merge.tagger import Tagger, find_targets
from shoal.runs.execute import execute
from shoal.runs.plan import make_job
from shoal.runs.scoring import result_of
from shoal.runs.store import RunStore
from shoal.training.stage import silent

TOP = 200
SIZE = 30_522
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
STEPS = ("building", "asking and scoring", "scoring again")
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


def swapped(words: Sequence[str], chances: dict[str, float]) -> float:
    """By how much, relatively, the probabilities of words differ that stand in another order; 0 where none do."""
    pairs = [(a, b) for a, b in zip(words, chances, strict=True) if a != b]
    return max((abs(chances[a] / chances[b] - 1) for a, b in pairs), default=0.0)


def main() -> None:
    """Measure both and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument(
        "--memory", type=int, help="only this: how much the variants of so many problems take"
    )
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        return one_step(arguments.step[0], Path(arguments.step[1]))
    if arguments.memory:
        return memory(arguments.memory)
    import torch

    torch.set_num_threads(1)  # threads that wait for each other would count as processor time
    tagger = Tagger()
    problems = [row.texts for row in make_rows("nli", "test", arguments.problems)]
    blanks = [
        blank
        for texts in problems
        for target in find_targets(texts, tagger)[0]
        for blank in blanks_for(texts, target)
    ]
    with TemporaryDirectory() as made:
        if not arguments.folder:
            masked_model(Path(made))
        model: Any = load_model(f"hf:{arguments.folder or made}")
        model.fill_words(blanks[:8], TOP)
        start = time.process_time()
        batched = model.fill_words(blanks, TOP)
        middle = time.process_time()
        single = plain(model, blanks)
        end = time.process_time()
    lists = [(fast.words, slow) for fast, slow in zip(batched, single, strict=True) if not fast.problem]
    same = [(words, chances) for words, chances in lists if set(words) == set(chances)]
    moved = [far for words, chances in same if (far := swapped(words, chances))]
    fast, slow = middle - start, end - middle
    print(f"{len(blanks)} blanks: batched {len(blanks) / fast:.0f}/s, one by one {len(blanks) / slow:.0f}/s, "
          f"{slow / fast:.1f} times; the same words in {len(same)} lists of {len(lists)}, in the same order in "
          f"{len(same) - len(moved)}, else words {max(moved, default=0.0):.1g} apart")  # fmt: skip
    tagging(tagger, problems)


def memory(number: int) -> None:
    """Build the variants of so many problems, then ask and score them, as a run does: a process and a peak for each."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "pairs.tsv"
        rows = ["premise\thypothesis\tlabel"]
        rows += ["\t".join((*row.texts, row.label)) for row in make_rows("nli", "test", number)]
        data.write_text("\n".join(rows) + "\n")
        for step in STEPS:
            subprocess.run([sys.executable, __file__, "--step", step, folder], check=True)


class Guesses:
    """A model that costs nothing: its answers are drawn."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def fingerprint(self) -> dict[str, str]:
        """Nothing decides its answers."""
        return {"guesses": "at random"}

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """One of the labels for each."""
        names = tuple(labels or ())
        return Answers(names, self.rng.integers(len(names), size=len(examples)))


def one_step(step: str, folder: Path) -> None:
    """Do the job as far as this step, on what the steps before it kept; print its time and the peak of this process."""
    store = RunStore(folder / "runs")
    # Tagged alone to be quick: as many variants, as much memory.
    settings = Settings(data=str(folder / "pairs.tsv"))
    job = make_job("merge", "python:guesses:it", settings, {}, Guesses())
    start = time.process_time()
    if step == STEPS[0]:
        built = store.built(job, silent)
        asked = sum(len(case.examples) - 1 for case in built.cases)
        print(f"{len(built.cases):,} problems, {asked:,} variants")
    elif step == STEPS[1]:
        execute(job, store)
    else:
        result_of(job, store)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{step}: {time.process_time() - start:.0f} s, peak {peak:,.0f} MB")


def tagging(tagger: Tagger, problems: list[tuple[str, ...]]) -> None:
    """Candidate sentences: one word after the other in the place of the same one."""
    words = sorted({word for texts in problems for word in re.findall(r"[a-z]{4,}", " ".join(texts))})[:60]
    sentences = [tuple(texts[0].replace(".", " .").split()) for texts in problems[:20]]
    candidates = [(*s[:2], word, *s[3:]) for s in sentences for word in words]
    start = time.process_time()
    for candidate in candidates:
        tagger.tags(candidate)
    middle = time.process_time()
    for candidate in candidates:
        tagger._library.tag_sent(list(candidate), taglevel=0)
    end = time.process_time()
    fast, slow = middle - start, end - middle
    print(f"{len(candidates)} sentences tagged: {len(candidates) / fast:.0f}/s, the tagger itself "
          f"{len(candidates) / slow:.0f}/s, {slow / fast:.1f} times")  # fmt: skip


if __name__ == "__main__":
    main()

"""Suggestions in batches against one mask per forward pass at batch 1; tagging against the tagger's own speed.

python benchmarks/merge.py FOLDER     a masked language model; without one, one of MiniLM's size with random weights
"""

import argparse
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shoal import load_model
from shoal.data.grammar import make_rows
from shoal.models.ask import Blank
from shoal.protocols.merge import Settings
from shoal.protocols.merge.suggest import blanks_of
from shoal.protocols.merge.tagger import Tagger
from shoal.protocols.merge.targets import targets_of

TOP = 200
SIZE = 30_522
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
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


def plain(model: Any, blanks: list[Blank]) -> list[list[str]]:
    """One blank, one forward pass, the whole table."""
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
        lists.append([names[code] for code in table.topk(TOP).indices.tolist() if names[code] is not None])
    return lists


def main() -> None:
    """Measure both and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--problems", type=int, default=40)
    arguments = parser.parse_args()
    tagger, settings = Tagger(), Settings()
    problems = [row.texts for row in make_rows("nli", "test", arguments.problems)]
    blanks = [
        blank
        for texts in problems
        for target in targets_of(texts, settings, tagger)[0]
        for blank in blanks_of(texts, target, "all", "pair")
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
    same = sum(
        list(fast.words) == slow for fast, slow in zip(batched, single, strict=True) if not fast.problem
    )
    asked = sum(not fast.problem for fast in batched)
    fast, slow = middle - start, end - middle
    print(f"{len(blanks)} blanks: batched {len(blanks) / fast:.0f}/s, one by one {len(blanks) / slow:.0f}/s, "
          f"{slow / fast:.1f} times; same lists {same} of {asked}")  # fmt: skip
    tagging(tagger, problems)


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

"""What words a masked model would put in the place of a word, and how probable it finds the word itself.

    Blank ──► tokens with masks ──► one look at all places ──► Fillers
              the model's own       batched, head at            words by probability,
              encoding of a pair    the places only             upper and lower case as one

Only words that are one piece of the vocabulary can be told: a continuation piece is no word, and a word of several
pieces has no probability of its own at one mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..records import Example
from .ask import Blank, Fillers
from .checkpoint import libraries
from .likelihood import Tokens, look_at, mask_of, tokens_of

if TYPE_CHECKING:
    from torch import Tensor

MARKERS = ("Ġ", "▁")
"""How a piece begins with which a word starts, in byte-level and in sentence-piece vocabularies."""
CONTINUES = "##"
"""How a piece begins that goes on with a word, in word-piece vocabularies."""
NOT_ONE_PIECE, TOO_LONG, OWN_MASK = "not one piece", "too long", "a mask of its own"


@dataclass(frozen=True)
class Vocabulary:
    """The words of a tokenizer: which pieces are words, and which of them differ in case alone."""

    tokenizer: Any

    @cached_property
    def marker(self) -> str:
        """With what a word starts; empty where every piece does that is not marked as going on."""
        pieces = self.tokenizer.get_vocab()
        marked = {marker: sum(piece.startswith(marker) for piece in pieces) for marker in MARKERS}
        best = max(marked, key=lambda marker: marked[marker])
        return best if marked[best] else ""

    def word(self, piece: str) -> str | None:
        """The word that a piece is; None for one that is none.

        Case is folded: "Woman" and "woman" are one word.
        """
        if piece in self.tokenizer.all_special_tokens or piece.startswith(CONTINUES):
            return None
        if self.marker:
            if not piece.startswith(self.marker):
                return None
            piece = self.tokenizer.convert_tokens_to_string([piece]).strip()
        return piece.casefold() or None

    @cached_property
    def items(self) -> tuple[NDArray[np.int64], list[str | None], dict[str, int]]:
        """The item of each piece, the word of each item where it is one, and the item of each word."""
        size = len(self.tokenizer)
        pieces = self.tokenizer.convert_ids_to_tokens(list(range(size)))
        names: list[str | None] = []
        places: dict[str, int] = {}
        item_of = np.empty(size, np.int64)
        for code, piece in enumerate(pieces):
            word = None if piece is None else self.word(piece)
            if word is not None and word in places:
                item_of[code] = places[word]
                continue
            item_of[code] = len(names)
            if word is not None:
                places[word] = len(names)
            names.append(word)
        return item_of, names, places

    def hide(self, blank: Blank) -> Example:
        """The texts with masks in the place of the hidden words."""
        shown = list(blank.texts)
        for text, start, end in sorted(blank.hidden, reverse=True):
            shown[text] = f"{shown[text][:start]}{self.tokenizer.mask_token}{shown[text][end:]}"
        # A word at the very start of a text is spelt like any other only behind a space.
        return tuple(f" {text}" if self.marker == "Ġ" else text for text in shown)


def fill_words(
    network: Any, vocabulary: Vocabulary, longest: int, blanks: Sequence[Blank], k: int
) -> list[Fillers]:
    """For each blank the words among the k likeliest items, and the probability of the hidden word."""
    tokenizer = vocabulary.tokenizer
    mask = mask_of(tokenizer)
    _, _, places = vocabulary.items
    hidden = [vocabulary.hide(blank) for blank in blanks]
    inputs = [texts[0] if len(texts) == 1 else texts for texts in hidden]
    rows = tokens_of(tokenizer, inputs) if inputs else []
    fillers: list[Fillers] = [Fillers(problem=NOT_ONE_PIECE)] * len(blanks)
    asked: list[int] = []
    for number, (blank, row) in enumerate(zip(blanks, rows, strict=True)):
        if blank.word.casefold() not in places:
            continue
        if len(row.ids) > longest:
            fillers[number] = Fillers(problem=TOO_LONG)
        elif row.ids.count(mask) != len(blank.hidden):
            fillers[number] = Fillers(problem=OWN_MASK)
        else:
            asked.append(number)
    best = _likeliest(
        network,
        vocabulary,
        [rows[number] for number in asked],
        [_place(rows[number], mask, blanks[number]) for number in asked],
        [places[blanks[number].word.casefold()] for number in asked],
        k,
    )
    for number, filler in zip(asked, best, strict=True):
        fillers[number] = filler
    return fillers


def _place(row: Tokens, mask: int, blank: Blank) -> int:
    """Where the asked mask stands; masks come in the order of the texts."""
    order = sorted(range(len(blank.hidden)), key=lambda number: blank.hidden[number])
    masks = [place for place, token in enumerate(row.ids) if token == mask]
    return masks[order.index(blank.asked)]


def _likeliest(
    network: Any,
    vocabulary: Vocabulary,
    rows: Sequence[Tokens],
    places: Sequence[int],
    words: Sequence[int],
    k: int,
) -> list[Fillers]:
    torch, _ = libraries()
    item_of, names, _ = vocabulary.items
    items = torch.from_numpy(item_of).to(network.device)
    best: list[Fillers] = [Fillers()] * len(rows)

    def note(part: list[int], logits: "Tensor") -> None:
        pieces = logits[:, : len(item_of)].double().softmax(dim=-1)
        table = pieces.new_zeros(len(part), len(names)).index_add_(1, items, pieces)
        top = table.topk(min(k, len(names)))
        wanted = torch.tensor([words[number] for number in part], device=logits.device)
        of_word = table.gather(1, wanted[:, None])[:, 0].tolist()
        for line, number in enumerate(part):
            codes, chances = top.indices[line].tolist(), top.values[line].tolist()
            kept = [
                (name, rank, chance)
                for rank, (code, chance) in enumerate(zip(codes, chances, strict=True), start=1)
                if (name := names[code]) is not None
            ]
            parts = zip(*kept, strict=True) if kept else ((), (), ())
            suggested, ranks, probabilities = parts
            best[number] = Fillers(suggested, ranks, probabilities, of_word[line])

    look_at(network, vocabulary.tokenizer, rows, places, note)
    return best


def needs_masks(model: object) -> ModelError:
    """What to say of a model that fills no blanks."""
    return ModelError(
        f"{model!r} cannot suggest words",
        why="it is no masked language model",
        fix="hf:MODEL of a masked language model, or example, which ships with shoal",
    )

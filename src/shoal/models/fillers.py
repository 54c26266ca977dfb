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
    _likeliest(network, vocabulary, _Asked(blanks, rows, asked, mask), k, fillers)
    return fillers


class _Asked:
    """The blanks that can be filled: each text once, with all its places that are asked for."""

    def __init__(
        self, blanks: Sequence[Blank], rows: Sequence[Tokens], asked: Sequence[int], mask: int
    ) -> None:
        self.words = [blank.word.casefold() for blank in blanks]
        by_text: dict[tuple[int, ...], dict[int, list[int]]] = {}
        first: dict[tuple[int, ...], Tokens] = {}
        for number in asked:
            key = tuple(rows[number].ids)
            first.setdefault(key, rows[number])
            place = _place(rows[number], mask, blanks[number])
            by_text.setdefault(key, {}).setdefault(place, []).append(number)
        self.texts = [first[key] for key in by_text]
        self.numbers = [list(places.values()) for places in by_text.values()]
        """Of each text, and each of its places, the blanks that ask for it."""
        most = max(map(len, by_text.values()), default=0)
        self.places = [[*places, *[min(places)] * (most - len(places))] for places in by_text.values()]
        """As many for every text: some stand there twice."""


def _place(row: Tokens, mask: int, blank: Blank) -> int:
    """Where the asked mask stands; masks come in the order of the texts."""
    order = sorted(range(len(blank.hidden)), key=lambda number: blank.hidden[number])
    masks = [place for place, token in enumerate(row.ids) if token == mask]
    return masks[order.index(blank.asked)]


def _likeliest(network: Any, vocabulary: Vocabulary, asked: _Asked, k: int, fillers: list[Fillers]) -> None:
    """Fill in, for each blank, the likeliest words at its place and the probability of its own."""
    torch, _ = libraries()
    item_of, names, item_of_word = vocabulary.items
    items = torch.from_numpy(item_of).to(network.device)

    def note(part: list[int], logits: "Tensor") -> None:
        for line, text in enumerate(part):
            numbers = asked.numbers[text]
            pieces = logits[line, : len(numbers), : len(item_of)].double().softmax(dim=-1)
            table = pieces.new_zeros(len(numbers), len(names)).index_add_(1, items, pieces)
            top = table.topk(min(k, len(names)))
            for place, sharing in enumerate(numbers):
                kept = [
                    (name, rank, chance)
                    for rank, (code, chance) in enumerate(
                        zip(top.indices[place].tolist(), top.values[place].tolist(), strict=True), start=1
                    )
                    if (name := names[code]) is not None
                ]
                words, ranks, chances = zip(*kept, strict=True) if kept else ((), (), ())
                for number in sharing:
                    of_word = float(table[place, item_of_word[asked.words[number]]])
                    fillers[number] = Fillers(words, ranks, chances, of_word)

    if asked.texts:
        look_at(network, vocabulary.tokenizer, asked.texts, asked.places, note)


def needs_masks(model: object) -> ModelError:
    """What to say of a model that fills no blanks."""
    return ModelError(
        f"{model!r} cannot suggest words",
        why="it is no masked language model",
        fix="hf:MODEL of a masked language model, or example, which ships with shoal",
    )

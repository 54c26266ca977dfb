"""What words a masked model would put in the place of a word, and how probable it finds the word itself.

    Blank ──► tokens with masks ──► one look at all places ──► Fillers
              the model's own       batched, head at            words by probability,
              encoding of a pair    the places only             upper and lower case as one

Only words that are one piece of the vocabulary can be told: a continuation piece is no word, and a word of several
pieces has no probability of its own at one mask.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Example
from .ask import Blank, Fillers
from .checkpoint import libraries
from .likelihood import Tokens, look_at, mask_of, tokens_of

if TYPE_CHECKING:
    from torch import Tensor

MARKERS = ("Ġ", "▁")
"""How a piece begins with which a word starts, in byte-level and in sentence-piece vocabularies."""
CONTINUES = "##"
"""How a piece begins that goes on with a word, in word-piece vocabularies."""
CLOSE = 1e-5
"""Probabilities whose ratio is nearer to 1 may be in another order in another batch: ten times what was seen."""
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
    """Fill in, for each blank, the likeliest words at its place and the probability of its own.

    Numbers of a batch differ from those of a text alone in their seventh digit. Where that could decide which words
    are told, or which of them are likelier than the hidden one, the text is asked again by itself: what is told of a
    text does not depend on the texts beside it, but for the order of words that are as probable as one another.
    """
    torch, _ = libraries()
    item_of, names, item_of_word = vocabulary.items
    items = torch.from_numpy(item_of).to(network.device)
    undecided: list[int] = []

    def note(part: list[int], logits: "Tensor") -> None:
        for line, text in enumerate(part):
            numbers = asked.numbers[text]
            pieces = logits[line, : len(numbers), : len(item_of)].double().softmax(dim=-1)
            table = pieces.new_zeros(len(numbers), len(names)).index_add_(1, items, pieces)
            for chances, sharing in zip(table, numbers, strict=True):
                own = {item_of_word[asked.words[number]] for number in sharing}
                codes, close = _best(chances, k, own)
                kept = [
                    (name, rank, float(chances[code]))
                    for rank, code in enumerate(codes, start=1)
                    if (name := names[code]) is not None
                ]
                words, ranks, values = zip(*kept, strict=True) if kept else ((), (), ())
                for number in sharing:
                    of_word = float(chances[item_of_word[asked.words[number]]])
                    fillers[number] = Fillers(words, ranks, values, of_word)
                if close:
                    undecided.append(text)

    if asked.texts:
        look_at(network, vocabulary.tokenizer, asked.texts, asked.places, note)
    for text in sorted(set(undecided)):
        alone = partial(_for_text, note, text)
        look_at(network, vocabulary.tokenizer, [asked.texts[text]], [asked.places[text]], alone)


def _for_text(note: "Callable[[list[int], Tensor], None]", text: int, _: list[int], logits: "Tensor") -> None:
    note([text], logits)


def _best(chances: "Tensor", k: int, own: set[int]) -> tuple[list[int], bool]:
    """The k likeliest items, the first of equals first; and whether rounding could have told otherwise."""
    most = min(k + 1, len(chances))
    values = chances.topk(most).values
    # All that equal the last one, whichever of them the library would have taken.
    codes = (chances >= values[-1]).nonzero()[:, 0]
    ordered = codes[chances[codes].sort(descending=True, stable=True).indices]
    told = ordered[:k]
    near = [values[k - 1] - values[k] < CLOSE * values[k]] if most > k else []
    for item in own:
        others = chances[told[told != item]]
        near.append(((others - chances[item]).abs() < CLOSE * chances[item]).any())
    return told.tolist(), any(map(bool, near))


def needs_masks(model: object) -> ModelError:
    """What to say of a model that fills no blanks."""
    return ModelError(
        f"{model!r} cannot suggest words",
        why="it is no masked language model",
        fix="hf:MODEL of a masked language model, or example, which ships with shoal",
    )

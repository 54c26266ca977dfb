"""Token log-likelihoods, and words that a masked model suggests for a blank.

A masked model reads a text once for every scored token, with that token masked. These copies go through the network in
batches of similar length (`forward.py`).

    Blank ──► tokens with masks ──► logits at all places ──► Fillers
              the model's own       batched, head at          words by probability,
              encoding of a pair    the places only           ignoring case

Only words that are one vocabulary item get a probability: a word of several pieces has none at one mask.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Example
from .checkpoint import libraries
from .forward import (
    Tokens,
    length_batches,
    logits_at_places,
    padded,
    run_parallel,
    tokenize,
    tokens_per_batch,
)
from .interface import Blank, Fillers, TokenScores

if TYPE_CHECKING:
    from torch import Tensor

CELLS = 2**25
"""The most numbers in a batch's table of tokens and vocabulary: 128 MB."""
MARKERS = ("Ġ", "▁")
"""Prefixes of pieces that begin a word, in byte-level and sentence-piece vocabularies."""
CONTINUES = "##"
"""Prefix of pieces that continue a word, in word-piece vocabularies."""
NOT_ONE_PIECE, TOO_LONG, OWN_MASK = "not one piece", "too long", "a mask of its own"

Only = Sequence[Sequence[int]] | None
"""The positions to score in each text; None for all."""


# Likelihoods


def causal(network: Any, tokenizer: Any, rows: Sequence[Tokens], only: Only = None) -> list[TokenScores]:
    """Return log p(token | all before it).

    The first token is scored too: the tokenizer's BOS precedes it, or its EOS without a BOS, as in lm-eval.
    """
    torch, _ = libraries()
    longer = [Tokens(with_begin(tokenizer, row.ids)) for row in rows]
    starts = [len(long.ids) - len(row.ids) for long, row in zip(longer, rows, strict=True)]
    scores: list[TokenScores] = [None] * len(rows)  # type: ignore[list-item]
    for part in length_batches([len(row.ids) for row in longer], CELLS // int(network.config.vocab_size)):
        inputs = padded([longer[at] for at in part], tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            table = network(**inputs, use_cache=False).logits[:, :-1].float().log_softmax(dim=-1)
            logs = table.gather(2, inputs["input_ids"][:, 1:, None])[:, :, 0].double().cpu()
        for row, at in enumerate(part):
            start, wanted = starts[at], range(len(rows[at].ids)) if only is None else only[at]
            places = [place for place in wanted if place + start > 0]
            if not start and 0 in wanted and rows[at].ids[0] not in tokenizer.all_special_ids:
                raise ModelError(
                    "the tokenizer has neither a BOS nor an EOS token",
                    why="the first token of a text would have no likelihood",
                    fix='add "bos_token" to tokenizer_config.json, as in the model\'s training',
                )
            numbers = [float(logs[row, place + start - 1]) for place in places]
            scores[at] = _scores(tokenizer, rows[at], places, numbers)
    return scores


def with_begin(tokenizer: Any, ids: list[int]) -> list[int]:
    """Return the tokens of a text after BOS, or after EOS without a BOS; unchanged without either."""
    begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return ids if begin is None or ids[:1] == [begin] else [begin, *ids]


def masked(network: Any, tokenizer: Any, rows: Sequence[Tokens], only: Only = None) -> list[TokenScores]:
    """Return log p(token | all others), each token masked in turn: the terms of the pseudo-log-likelihood.

    Special tokens are scored only if `only` lists them.
    """
    special, mask = set(tokenizer.all_special_ids), mask_id(tokenizer)
    if only is None:
        only = [[place for place, token in enumerate(row.ids) if token not in special] for row in rows]
    tasks = [(row, place) for row, places in zip(rows, only, strict=True) for place in places]
    hidden = [row._replace(ids=[*row.ids[:at], mask, *row.ids[at + 1 :]]) for row, at in tasks]
    targets = [row.ids[at] for row, at in tasks]
    numbers = iter(_at_masks(network, tokenizer, hidden, [at for _, at in tasks], targets))
    return [
        _scores(tokenizer, row, places, [next(numbers) for _ in places])
        for row, places in zip(rows, only, strict=True)
    ]


def fillers(network: Any, tokenizer: Any, gaps: Sequence[tuple[str, str, str]]) -> list[TokenScores]:
    """Return log p of each piece of a word in a gap, from left to right; gaps are (before, word, after).

    When piece j is scored, the gap holds the pieces before it and a mask (StereoSet's intra-sentence test,
    `docs/method/bias.md` 5.4). Positions are those of the pieces in the whole text.
    """
    mask = mask_id(tokenizer)
    frames = tokenize(tokenizer, [before + tokenizer.mask_token + after for before, _, after in gaps])
    words, rows = [], []
    for frame, (before, word, _) in zip(frames, gaps, strict=True):
        if frame.ids.count(mask) != 1:
            raise ModelError(
                f"a text that contains the mask token: {tokenizer.decode(frame.ids)!r}", fix="remove the text"
            )
        spaced = f" {word}" if before.endswith(" ") else word
        words.append(tokenizer(spaced, add_special_tokens=False, verbose=False)["input_ids"])
        start = frame.ids.index(mask)
        rows += [_insert(frame, start, words[-1][:number]) for number in range(len(words[-1]))]
    return _piece_scores(network, tokenizer, words, rows)


def fill_every_gap(
    network: Any, tokenizer: Any, gaps: Sequence[tuple[Sequence[str], str]]
) -> list[TokenScores]:
    """Return the same scores as StereoSet's reference code; gaps are (the text around them, word).

    The word is encoded by itself, without a space before it. The pieces before the scored one are decoded and put with
    a mask into every gap; the first mask counts.
    """
    words = [tokenizer(word, add_special_tokens=False, verbose=False)["input_ids"] for _, word in gaps]
    texts = [
        (tokenizer.decode(ids[:number]) + tokenizer.mask_token).join(around)
        for (around, _), ids in zip(gaps, words, strict=True)
        for number in range(len(ids))
    ]
    return _piece_scores(network, tokenizer, words, tokenize(tokenizer, texts) if texts else [])


def _piece_scores(
    network: Any, tokenizer: Any, words: Sequence[Sequence[int]], rows: Sequence[Tokens]
) -> list[TokenScores]:
    """Return log p of each piece of each word, at the first mask of its row."""
    mask = mask_id(tokenizer)
    places = [row.ids.index(mask) for row in rows]
    numbers = _at_masks(network, tokenizer, rows, places, [piece for ids in words for piece in ids])
    pairs = iter(zip(places, numbers, strict=True))
    scores = []
    for ids in words:
        at, logs = zip(*(next(pairs) for _ in ids), strict=True) if ids else ((), ())
        scores.append(TokenScores(tuple(tokenizer.convert_ids_to_tokens(ids)), at, logs))
    return scores


def _insert(row: Tokens, at: int, ids: Sequence[int]) -> Tokens:
    """Return a row with tokens inserted before a place, in the segment of that place."""
    if row.segments is None:
        return Tokens([*row.ids[:at], *ids, *row.ids[at:]])
    segment = [row.segments[at]] * len(ids)
    return Tokens([*row.ids[:at], *ids, *row.ids[at:]], [*row.segments[:at], *segment, *row.segments[at:]])


def _at_masks(
    network: Any, tokenizer: Any, rows: Sequence[Tokens], places: Sequence[int], targets: Sequence[int]
) -> list[float]:
    """Return log p of a target token at one masked place of each text.

    Two sentences that differ in one word are the same text once it is masked: equal texts are computed once.
    """
    torch, _ = libraries()
    first: dict[tuple[tuple[int, ...], int], int] = {}
    same: list[list[int]] = [[] for _ in rows]
    for at, (row, place) in enumerate(zip(rows, places, strict=True)):
        same[first.setdefault((tuple(row.ids), place), at)].append(at)
    once = list(first.values())
    logs = [0.0] * len(rows)

    def note(part: list[int], logits: "Tensor") -> None:
        asked = [(line, at) for line, number in enumerate(part) for at in same[once[number]]]
        lines, codes = torch.tensor([(line, targets[at]) for line, at in asked], device=logits.device).T
        numbers = logits[lines, codes] - logits.logsumexp(dim=-1)[lines]
        for (_, at), number in zip(asked, numbers.tolist(), strict=True):
            logs[at] = number

    look_at(network, tokenizer, [rows[at] for at in once], [places[at] for at in once], note)
    return logs


def look_at(
    network: Any,
    tokenizer: Any,
    rows: Sequence[Tokens],
    places: Sequence[int] | Sequence[Sequence[int]],
    note: "Callable[[list[int], Tensor], None]",
) -> None:
    """Call `note` with the logits (texts, vocabulary) at one place of each text, batch by batch, in any order.

    With the same number of places for every text, the logits are (texts, places, vocabulary).
    """
    torch, _ = libraries()

    def look(part: list[int]) -> None:
        inputs = padded([rows[at] for at in part], tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            note(part, ask(inputs, torch.tensor([places[at] for at in part], device=network.device)))

    with logits_at_places(network) as ask:
        parts = list(length_batches([len(row.ids) for row in rows], tokens_per_batch(network)))
        run_parallel(network, look, parts)


def _scores(tokenizer: Any, row: Tokens, places: Sequence[int], numbers: Sequence[float]) -> TokenScores:
    tokens = tokenizer.convert_ids_to_tokens([row.ids[place] for place in places])
    return TokenScores(tuple(tokens), tuple(places), tuple(numbers))


def mask_id(tokenizer: Any) -> int:
    """Return the id of the mask token."""
    if tokenizer.mask_token_id is None:
        raise ModelError(
            "the tokenizer has no mask token",
            why="only masked language models fill masks",
            fix="a masked language model, or a diagnostic without masks",
        )
    return int(tokenizer.mask_token_id)


# Words for blanks


@dataclass(frozen=True)
class Vocabulary:
    """The words of a tokenizer, ignoring case."""

    tokenizer: Any

    @cached_property
    def marker(self) -> str:
        """The prefix of pieces that begin a word; empty if only continuations are marked."""
        pieces = self.tokenizer.get_vocab()
        marked = {marker: sum(piece.startswith(marker) for piece in pieces) for marker in MARKERS}
        best = max(marked, key=lambda marker: marked[marker])
        return best if marked[best] else ""

    def word(self, piece: str) -> str | None:
        """Return the word that a piece is, in lower case; None if it is not a whole word."""
        if piece in self.tokenizer.all_special_tokens or piece.startswith(CONTINUES):
            return None
        if self.marker:
            if not piece.startswith(self.marker):
                return None
            piece = self.tokenizer.convert_tokens_to_string([piece]).strip()
        return piece.casefold() or None

    @cached_property
    def items(self) -> tuple[NDArray[np.int64], list[str | None], dict[str, int]]:
        """The item of each piece, the word of each item (None if not a word), and the item of each word."""
        size = len(self.tokenizer)
        pieces = self.tokenizer.convert_ids_to_tokens(list(range(size)))
        names: list[str | None] = []
        places: dict[str, int] = {}
        item_codes = np.empty(size, np.int64)
        for code, piece in enumerate(pieces):
            word = None if piece is None else self.word(piece)
            if word is not None and word in places:
                item_codes[code] = places[word]
                continue
            item_codes[code] = len(names)
            if word is not None:
                places[word] = len(names)
            names.append(word)
        return item_codes, names, places

    def hide(self, blank: Blank) -> Example:
        shown = list(blank.texts)
        for text, start, end in sorted(blank.hidden, reverse=True):
            shown[text] = f"{shown[text][:start]}{self.tokenizer.mask_token}{shown[text][end:]}"
        # Byte-level vocabularies spell a word at the start of a text like others only after a space.
        return tuple(f" {text}" if self.marker == "Ġ" else text for text in shown)


def fill_words(
    network: Any, vocabulary: Vocabulary, longest: int, blanks: Sequence[Blank], k: int
) -> list[Fillers]:
    """Return the words among the k most probable items of each blank, and the probability of the hidden word.

    The network reads each text once, with all its requested places.
    """
    torch, _ = libraries()
    mask, (item_codes, names, word_items) = mask_id(vocabulary.tokenizer), vocabulary.items
    items = torch.from_numpy(item_codes).to(network.device)
    hidden = [vocabulary.hide(blank) for blank in blanks]
    inputs = [texts[0] if len(texts) == 1 else texts for texts in hidden]
    rows = tokenize(vocabulary.tokenizer, inputs) if inputs else []
    suggestions: list[Fillers] = [Fillers(problem=NOT_ONE_PIECE)] * len(blanks)
    by_text: dict[tuple[int, ...], dict[int, list[int]]] = {}  # the blanks at each place of each text
    for number, (blank, row) in enumerate(zip(blanks, rows, strict=True)):
        if blank.word.casefold() not in word_items:
            continue
        masks = [place for place, token in enumerate(row.ids) if token == mask]
        if len(row.ids) > longest:
            suggestions[number] = Fillers(problem=TOO_LONG)
        elif len(masks) != len(blank.hidden):
            suggestions[number] = Fillers(problem=OWN_MASK)
        else:
            place = masks[sorted(blank.hidden).index(blank.hidden[blank.asked])]
            by_text.setdefault(tuple(row.ids), {}).setdefault(place, []).append(number)
    groups = [list(places.values()) for places in by_text.values()]
    most = max(map(len, groups), default=0)
    # The same number of places for every text; some occur twice.
    asked = [[*places, *[min(places)] * (most - len(places))] for places in by_text.values()]

    def note(part: list[int], logits: "Tensor") -> None:
        for line, text in enumerate(part):
            pieces = logits[line, : len(groups[text]), : len(item_codes)].double().softmax(dim=-1)
            table = pieces.new_zeros(len(pieces), len(names)).index_add_(1, items, pieces)
            for chances, sharing in zip(table, groups[text], strict=True):
                words, values = _best_words(chances, k, names)
                for number in sharing:
                    probability = float(chances[word_items[blanks[number].word.casefold()]])
                    suggestions[number] = Fillers(words, values, probability)

    if groups:
        texts = [rows[group[0][0]] for group in groups]
        look_at(network, vocabulary.tokenizer, texts, asked, note)
    return suggestions


def next_words(network: Any, vocabulary: Vocabulary, texts: Sequence[str], k: int) -> list[Fillers]:
    """Return the words among the k most probable items after each text, of a causal model."""
    torch, _ = libraries()
    item_codes, names, _ = vocabulary.items
    items = torch.from_numpy(item_codes).to(network.device)
    rows = vocabulary.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    fillers = []
    for ids in rows:
        inputs = torch.tensor([with_begin(vocabulary.tokenizer, ids)], device=network.device)
        with torch.inference_mode():
            pieces = network(input_ids=inputs, use_cache=False).logits[0, -1, : len(item_codes)]
        chances = pieces.new_zeros(len(names), dtype=torch.float64)
        chances.index_add_(0, items, pieces.double().softmax(dim=-1))
        fillers.append(Fillers(*_best_words(chances, k, names)))
    return fillers


def _best_words(
    chances: "Tensor", k: int, names: Sequence[str | None]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words among the k most probable items, ties in the vocabulary's order, and their probabilities."""
    values = chances.topk(min(k, len(chances))).values
    # All items equal to the last one, whichever of them topk returned.
    codes = (chances >= values[-1]).nonzero()[:, 0]
    best = codes[chances[codes].sort(descending=True, stable=True).indices][:k].tolist()
    kept = [(name, float(chances[code])) for code in best if (name := names[code])]
    return tuple(name for name, _ in kept), tuple(chance for _, chance in kept)


def needs_masks(model: object) -> ModelError:
    """Return the error for a model that cannot fill blanks."""
    return ModelError(
        f"{model!r} cannot suggest words",
        why="it is not a masked language model",
        fix="hf:MODEL of a masked language model, or example, which ships with shoal",
    )


# Next sentences


def has_next_sentence_head(model: Any) -> bool:
    """Return whether a model has a trained next-sentence head."""
    return bool(getattr(model, "has_next_sentence_head", False))


def follows(model: Any, examples: Sequence[Example]) -> list[float]:
    """Return P(the second text follows the first) for each pair: index 0 of BERT's head."""
    torch, _ = libraries()
    with torch.inference_mode():
        logits = model.network("next")(**model.encode(examples)).logits
    probabilities: list[float] = logits.double().softmax(dim=-1)[:, 0].cpu().tolist()
    return probabilities

"""How likely a language model finds the tokens of a text, and what it would put in the place of one.

A masked model is shown a text once for every token that is scored, with that token masked. All these copies go through
the network in batches of like length, which computes only what leads to the masked places (`masks.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ModelError
from .ask import Filler, TokenScores
from .checkpoint import libraries
from .masks import asked_at_masks

if TYPE_CHECKING:
    from torch import Tensor

TOKENS, FEW_TOKENS = 4_096, 512
"""Tokens at the most, and at the least, that go through a masked network at once, padding included."""
ACTIVATIONS = 3 * 2**18
"""Numbers in the widest layer of a batch: 3 MB. What is larger leaves the processor's cache and gets slower."""
BESIDE = (1, 2, 3, 4)
"""How many parts may be under work at the same time, each on its share of the cores."""
CELLS = 2**25
"""Numbers at the most that a batch's table of tokens and vocabulary holds: 128 MB."""


class Tokens(NamedTuple):
    """A text, or a pair of texts, as the network reads it."""

    ids: list[int]
    segments: list[int] | None = (
        None  # which text of a pair each token is of, where the network wants to know
    )


Only = Sequence[Sequence[int]] | None
"""For each text, at which positions of its tokens; None for all that can be scored."""


def tokens_of(tokenizer: Any, texts: Sequence[Any]) -> list[Tokens]:
    """Texts, or pairs of texts, as tokens; nothing is cut."""
    encoded = tokenizer(texts, verbose=False)
    segments = encoded.get("token_type_ids") or [None] * len(texts)
    return [Tokens(*row) for row in zip(encoded["input_ids"], segments, strict=True)]


def causal(network: Any, tokenizer: Any, rows: Sequence[Tokens], only: Only = None) -> list[TokenScores]:
    """log p(token | all before it).

    The first token is scored too: the tokenizer's BOS stands before it, or its EOS where it has no BOS, as in lm-eval.
    """
    torch, _ = libraries()
    longer = [Tokens(with_begin(tokenizer, row.ids)) for row in rows]
    starts = [len(long.ids) - len(row.ids) for long, row in zip(longer, rows, strict=True)]
    scores: list[TokenScores] = [None] * len(rows)  # type: ignore[list-item]
    for part in parts_of([len(row.ids) for row in longer], CELLS // int(network.config.vocab_size)):
        inputs = padded([longer[at] for at in part], tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            table = network(**inputs, use_cache=False).logits[:, :-1].float().log_softmax(dim=-1)
            found = table.gather(2, inputs["input_ids"][:, 1:, None])[:, :, 0].double().cpu()
        for row, at in enumerate(part):
            start, wanted = starts[at], range(len(rows[at].ids)) if only is None else only[at]
            places = [place for place in wanted if place + start > 0]
            if not start and 0 in wanted and rows[at].ids[0] not in tokenizer.all_special_ids:
                raise ModelError(
                    "the tokenizer has neither a BOS nor an EOS token",
                    why="the first token of a text would have no likelihood",
                    fix='"bos_token" in tokenizer_config.json, as the model was trained',
                )
            numbers = [float(found[row, place + start - 1]) for place in places]
            scores[at] = _scores(tokenizer, rows[at], places, numbers)
    return scores


def masked(network: Any, tokenizer: Any, rows: Sequence[Tokens], only: Only = None) -> list[TokenScores]:
    """log p(token | all others), each token masked in turn: the terms of the pseudo-log-likelihood.

    Special tokens are not scored, unless `only` says so.
    """
    special, mask = set(tokenizer.all_special_ids), mask_of(tokenizer)
    wanted = [
        [place for place, token in enumerate(row.ids) if token not in special]
        if only is None
        else list(only[at])
        for at, row in enumerate(rows)
    ]
    tasks = [(row, place) for row, places in zip(rows, wanted, strict=True) for place in places]
    hidden = [row._replace(ids=[*row.ids[:at], mask, *row.ids[at + 1 :]]) for row, at in tasks]
    numbers = iter(
        _at_masks(network, tokenizer, hidden, [at for _, at in tasks], [row.ids[at] for row, at in tasks])
    )
    return [
        _scores(tokenizer, row, places, [next(numbers) for _ in places])
        for row, places in zip(rows, wanted, strict=True)
    ]


def fillers(network: Any, tokenizer: Any, gaps: Sequence[tuple[str, str, str]]) -> list[TokenScores]:
    """log p of each piece of a word in a gap, from left to right: gaps are (before, word, after).

    Where piece j is scored, the pieces before it stand in the gap, then a mask, then what follows the gap (StereoSet's
    intra-sentence test, `docs/method/bias.md` 5.4). Positions are those of the pieces in the whole.
    """
    mask = mask_of(tokenizer)
    frames = tokens_of(tokenizer, [before + tokenizer.mask_token + after for before, _, after in gaps])
    hidden, places, pieces = [], [], []
    starts, words = [], []
    for frame, (before, word, _) in zip(frames, gaps, strict=True):
        if frame.ids.count(mask) != 1:
            raise ModelError(
                f"a text with a mask of its own: {tokenizer.decode(frame.ids)!r}", fix="leave such texts out"
            )
        start = frame.ids.index(mask)
        spaced = f" {word}" if before.endswith(" ") else word
        own = tokenizer(spaced, add_special_tokens=False, verbose=False)["input_ids"]
        starts.append(start)
        words.append(own)
        for number, piece in enumerate(own):
            hidden.append(_insert(frame, start, own[:number]))
            places.append(start + number)
            pieces.append(piece)
    numbers = iter(_at_masks(network, tokenizer, hidden, places, pieces))
    return [
        TokenScores(
            tuple(tokenizer.convert_ids_to_tokens(own)),
            tuple(range(start, start + len(own))),
            tuple(next(numbers) for _ in own),
        )
        for start, own in zip(starts, words, strict=True)
    ]


def fillers_in_every_gap(
    network: Any, tokenizer: Any, gaps: Sequence[tuple[Sequence[str], str]]
) -> list[TokenScores]:
    """The same as StereoSet's authors do it: gaps are (the text around them, word).

    The word is encoded by itself, without the blank that stands before it. Its pieces before the one that is scored go
    back into the text as letters, with the mask behind them, into every gap alike; what counts is the first mask.
    """
    mask = mask_of(tokenizer)
    words = [tokenizer(word, add_special_tokens=False, verbose=False)["input_ids"] for _, word in gaps]
    texts, pieces = [], []
    for (around, _), own in zip(gaps, words, strict=True):
        for number, piece in enumerate(own):
            texts.append((tokenizer.decode(own[:number]) + tokenizer.mask_token).join(around))
            pieces.append(piece)
    rows = tokens_of(tokenizer, texts) if texts else []
    places = [row.ids.index(mask) for row in rows]
    found = iter(zip(places, _at_masks(network, tokenizer, rows, places, pieces), strict=True))
    scores = []
    for own in words:
        at, numbers = zip(*(next(found) for _ in own), strict=True) if own else ((), ())
        scores.append(TokenScores(tuple(tokenizer.convert_ids_to_tokens(own)), at, numbers))
    return scores


def _insert(row: Tokens, at: int, ids: Sequence[int]) -> Tokens:
    """More tokens before a place; they are of the text that the place is of."""
    if row.segments is None:
        return Tokens([*row.ids[:at], *ids, *row.ids[at:]])
    own = [row.segments[at]] * len(ids)
    return Tokens([*row.ids[:at], *ids, *row.ids[at:]], [*row.segments[:at], *own, *row.segments[at:]])


def _at_masks(
    network: Any, tokenizer: Any, rows: Sequence[Tokens], places: Sequence[int], targets: Sequence[int]
) -> list[float]:
    """log p of a token at one place of each text, which holds a mask.

    Texts of like length share batches. Two sentences that differ in one word are one text when it is masked: what is
    the same is computed once.
    """
    torch, _ = libraries()
    first: dict[tuple[tuple[int, ...], int], int] = {}
    same: list[list[int]] = [[] for _ in rows]
    for at, (row, place) in enumerate(zip(rows, places, strict=True)):
        same[first.setdefault((tuple(row.ids), place), at)].append(at)
    once = list(first.values())
    found = [0.0] * len(rows)

    def note(part: list[int], logits: "Tensor") -> None:
        asked = [(line, at) for line, number in enumerate(part) for at in same[once[number]]]
        lines, codes = torch.tensor([(line, targets[at]) for line, at in asked], device=logits.device).T
        numbers = logits[lines, codes] - logits.logsumexp(dim=-1)[lines]
        for (_, at), number in zip(asked, numbers.tolist(), strict=True):
            found[at] = number

    look_at(network, tokenizer, [rows[at] for at in once], [places[at] for at in once], note)
    return found


def fill(network: Any, tokenizer: Any, rows: Sequence[Tokens], k: int) -> list[list[Filler]]:
    """The k likeliest tokens for the one mask of each text."""
    mask = mask_of(tokenizer)
    for row in rows:
        if row.ids.count(mask) != 1:
            raise ModelError(
                f"a text with {row.ids.count(mask)} masks: {tokenizer.decode(row.ids)!r}",
                fix=f"one {tokenizer.mask_token} in each text; several are filled one at a time",
            )
    found: list[list[Filler]] = [[] for _ in rows]

    def note(part: list[int], logits: "Tensor") -> None:
        best = logits.double().softmax(dim=-1).topk(k)
        for number, at in enumerate(part):
            tokens = tokenizer.convert_ids_to_tokens(best.indices[number].tolist())
            pairs = zip(tokens, best.values[number].tolist(), strict=True)
            found[at] = [Filler(token, probability) for token, probability in pairs]

    look_at(network, tokenizer, rows, [row.ids.index(mask) for row in rows], note)
    return found


def look_at(
    network: Any,
    tokenizer: Any,
    rows: Sequence[Tokens],
    places: Sequence[int] | Sequence[Sequence[int]],
    note: "Callable[[list[int], Tensor], None]",
) -> None:
    """Hand `note` the logits (texts, vocabulary) at one place of each text, part by part, in no order.

    Where each text has several places, as many as every other, they are (texts, places, vocabulary).

    The parts are small, and several cores are better used by as many parts than by all of them on one.
    """
    torch, _ = libraries()

    def look(part: list[int]) -> None:
        inputs = padded([rows[at] for at in part], tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            note(part, ask(inputs, torch.tensor([places[at] for at in part], device=network.device)))

    with asked_at_masks(network) as ask:
        side_by_side(network, look, list(parts_of([len(row.ids) for row in rows], room_of(network))))


def side_by_side(network: Any, look: "Callable[[list[int]], None]", parts: Sequence[list[int]]) -> None:
    """Look at every part, several at a time where the cores allow it."""
    torch, _ = libraries()
    cores: int = torch.get_num_threads()
    alone = network.device.type != "cpu" or len(parts) < 2
    beside = 1 if alone else max(n for n in BESIDE if cores % n == 0)
    if beside == 1:
        for part in parts:
            look(part)
        return
    try:
        with ThreadPoolExecutor(
            beside, initializer=torch.set_num_threads, initargs=(cores // beside,)
        ) as pool:
            list(pool.map(look, parts))
    finally:
        torch.set_num_threads(cores)  # for threads that are yet to come


def _scores(tokenizer: Any, row: Tokens, places: Sequence[int], numbers: Sequence[float]) -> TokenScores:
    tokens = tokenizer.convert_ids_to_tokens([row.ids[place] for place in places])
    return TokenScores(tuple(tokens), tuple(places), tuple(numbers))


def padded(rows: Sequence[Tokens], pad: int, device: Any) -> "dict[str, Tensor]":
    """What the network is given: every row as long as the longest, and what of it is no padding."""
    torch, _ = libraries()
    width = max(len(row.ids) for row in rows)
    lengths = torch.tensor([len(row.ids) for row in rows])
    made = {"input_ids": torch.tensor([[*row.ids, *[pad] * (width - len(row.ids))] for row in rows])}
    if int(lengths.min()) < width:  # without padding the network need not look for it
        made["attention_mask"] = (torch.arange(width)[None, :] < lengths[:, None]).long()
    if rows[0].segments is not None:
        made["token_type_ids"] = torch.tensor(
            [[*(row.segments or ()), *[0] * (width - len(row.ids))] for row in rows]
        )
    return {name: tensor.to(device) for name, tensor in made.items()}


def parts_of(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Positions of texts of like length together, at most so many tokens at once."""
    waiting = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(waiting):
        count = max(1, tokens // max(1, lengths[waiting[start]]))
        yield waiting[start : start + count]
        start += count


def room_of(network: Any) -> int:
    """How many tokens a masked network takes at once at its fastest."""
    widest = getattr(network.config, "intermediate_size", None) or 1024
    return min(TOKENS, max(FEW_TOKENS, ACTIVATIONS // int(widest)))


def with_begin(tokenizer: Any, ids: list[int]) -> list[int]:
    """Return the tokens of a text behind BOS, or behind EOS without a BOS; unchanged where there is neither."""
    begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return ids if begin is None or ids[:1] == [begin] else [begin, *ids]


def mask_of(tokenizer: Any) -> int:
    """The number of the mask."""
    if tokenizer.mask_token_id is None:
        raise ModelError(
            "the tokenizer has no mask",
            why="only masked language models can be asked to fill one",
            fix="a masked language model, or a diagnostic that asks for no mask",
        )
    return int(tokenizer.mask_token_id)

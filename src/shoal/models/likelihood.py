"""How likely a language model finds the tokens of a text, and what it would put in the place of one."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ModelError
from .ask import Filler, TokenScores
from .checkpoint import libraries

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = 4_096
"""Tokens at the most that go through the network at once, padding included."""
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

    The first token has a score only where the tokenizer has a token to begin a text with, which is then put before it.
    """
    torch, _ = libraries()
    begin = tokenizer.bos_token_id
    starts = [0 if begin is None or row.ids[:1] == [begin] else 1 for row in rows]
    longer = [
        Tokens([begin, *row.ids] if start else row.ids) for row, start in zip(rows, starts, strict=True)
    ]
    scores: list[TokenScores] = [None] * len(rows)  # type: ignore[list-item]
    for part in _parts([len(row.ids) for row in longer], CELLS // int(network.config.vocab_size)):
        inputs = _padded([longer[at] for at in part], tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            table = network(**inputs, use_cache=False).logits[:, :-1].float().log_softmax(dim=-1)
            found = table.gather(2, inputs["input_ids"][:, 1:, None])[:, :, 0].double().cpu()
        for row, at in enumerate(part):
            start, wanted = starts[at], range(len(rows[at].ids)) if only is None else only[at]
            places = [place for place in wanted if place + start > 0]
            numbers = [float(found[row, place + start - 1]) for place in places]
            scores[at] = _scores(tokenizer, rows[at], places, numbers)
    return scores


def masked(network: Any, tokenizer: Any, rows: Sequence[Tokens], only: Only = None) -> list[TokenScores]:
    """log p(token | all others), each token masked in turn: the terms of the pseudo-log-likelihood.

    Special tokens are not scored. The masked copies of all texts share their batches, and the head is computed where
    a mask stands and nowhere else.
    """
    special, mask = set(tokenizer.all_special_ids), _mask(tokenizer)
    wanted = [
        [place for place, token in enumerate(row.ids) if token not in special]
        if only is None
        else list(only[at])
        for at, row in enumerate(rows)
    ]
    tasks = [(at, place) for at, places in enumerate(wanted) for place in places]
    found: dict[tuple[int, int], float] = {}
    for part in _parts([len(rows[at].ids) for at, _ in tasks], TOKENS):
        chosen = [tasks[number] for number in part]
        hidden = [
            rows[at]._replace(ids=[*rows[at].ids[:place], mask, *rows[at].ids[place + 1 :]])
            for at, place in chosen
        ]
        logs = _at_places(network, tokenizer, hidden, [place for _, place in chosen])
        found |= {(at, place): float(logs[n, rows[at].ids[place]]) for n, (at, place) in enumerate(chosen)}
    return [
        _scores(tokenizer, rows[at], places, [found[at, place] for place in places])
        for at, places in enumerate(wanted)
    ]


def fill(network: Any, tokenizer: Any, rows: Sequence[Tokens], k: int) -> list[list[Filler]]:
    """The k likeliest tokens for the one mask of each text."""
    mask = _mask(tokenizer)
    for row in rows:
        if row.ids.count(mask) != 1:
            raise ModelError(
                f"a text with {row.ids.count(mask)} masks: {tokenizer.decode(row.ids)!r}",
                fix=f"one {tokenizer.mask_token} in each text; several are filled one at a time",
            )
    found: list[list[Filler]] = [[] for _ in rows]
    for part in _parts([len(row.ids) for row in rows], TOKENS):
        chosen = [rows[at] for at in part]
        best = _at_places(network, tokenizer, chosen, [row.ids.index(mask) for row in chosen]).exp().topk(k)
        for number, at in enumerate(part):
            tokens = tokenizer.convert_ids_to_tokens(best.indices[number].tolist())
            pairs = zip(tokens, best.values[number].tolist(), strict=True)
            found[at] = [Filler(token, probability) for token, probability in pairs]
    return found


def _at_places(network: Any, tokenizer: Any, rows: Sequence[Tokens], places: Sequence[int]) -> "Tensor":
    """Log-probabilities (texts, vocabulary) at one place of each text."""
    torch, _ = libraries()
    inputs = _padded(rows, tokenizer.pad_token_id, network.device)
    where = torch.tensor(places, device=network.device)

    def keep_places(_module: Any, _inputs: Any, output: Any) -> Any:
        """Between encoder and head: the head is as wide as the vocabulary; most of its work would be thrown away."""
        states = output.last_hidden_state
        output.last_hidden_state = states[torch.arange(len(states), device=states.device), where][:, None]
        return output

    hook = network.base_model.register_forward_hook(keep_places)
    try:
        with torch.inference_mode():
            found: Tensor = network(**inputs).logits[:, 0].double().log_softmax(dim=-1).cpu()
    finally:
        hook.remove()
    return found


def _scores(tokenizer: Any, row: Tokens, places: Sequence[int], numbers: Sequence[float]) -> TokenScores:
    tokens = tokenizer.convert_ids_to_tokens([row.ids[place] for place in places])
    return TokenScores(tuple(tokens), tuple(places), tuple(numbers))


def _padded(rows: Sequence[Tokens], pad: int, device: Any) -> "dict[str, Tensor]":
    """What the network is given: every row as long as the longest, and what of it is no padding."""
    torch, _ = libraries()
    width = max(len(row.ids) for row in rows)
    lengths = torch.tensor([len(row.ids) for row in rows])
    made = {
        "input_ids": torch.tensor([[*row.ids, *[pad] * (width - len(row.ids))] for row in rows]),
        "attention_mask": (torch.arange(width)[None, :] < lengths[:, None]).long(),
    }
    if rows[0].segments is not None:
        made["token_type_ids"] = torch.tensor(
            [[*(row.segments or ()), *[0] * (width - len(row.ids))] for row in rows]
        )
    return {name: tensor.to(device) for name, tensor in made.items()}


def _parts(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Positions of texts of like length together, at most so many tokens at once."""
    waiting = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(waiting):
        count = max(1, tokens // max(1, lengths[waiting[start]]))
        yield waiting[start : start + count]
        start += count


def _mask(tokenizer: Any) -> int:
    if tokenizer.mask_token_id is None:
        raise ModelError(
            "the tokenizer has no mask", why="only masked language models can be asked to fill one"
        )
    return int(tokenizer.mask_token_id)

"""Log-likelihoods of labels after a prompt, and probabilities from them (`docs/method/prompted.md` 8.2).

A causal model reads from left to right: if one text begins another, one forward pass of the longer one scores both.
Labels of one token each take one pass of the prompt, however many there are. The beginning that all prompts share is
read once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checkpoint import libraries
from ..forward import Tokens, length_batches, logits_at_places, padded, tokens_per_batch

if TYPE_CHECKING:
    from torch import Tensor

LOW_MASS = 0.5
"""Labels with less probability than this together are flagged."""
READ_AT_ONCE = 2_048
"""The most tokens in a batch on a CPU, padding included."""

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """The tokens of a prompt and of each possible continuation."""

    prompt: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]


def choice(prompt: Sequence[int], whole: Sequence[Sequence[int]]) -> Choice:
    """Split the prompt with each label after it into the shared beginning and the rest."""
    k = common(prompt, *whole)
    return Choice(tuple(prompt[:k]), tuple(tuple(sequence[k:]) for sequence in whole))


def common(*sequences: Sequence[int]) -> int:
    """Return the length of the longest common prefix.

    >>> common([1, 2, 3], [1, 2, 4], [1, 2])
    2
    """
    return len(list(takewhile(lambda tokens: len(set(tokens)) == 1, zip(*sequences, strict=False))))


def causal(
    network: Any, pad: int, choices: Sequence[Choice], prefix: "Prefix | None" = None
) -> list[list[float]]:
    """Return l_c of each choice: the sum of the log-probabilities of the label's tokens.

    `prefix` holds the states after the tokens with which every prompt begins.
    """
    torch, _ = libraries()
    texts, read_off = _readings(choices)
    logs = [[0.0] * len(choice.ends) for choice in choices]
    # The last token of a prompt is read after the prefix, as its logits predict the label.
    if prefix and not all(choice.prompt[:-1][: len(prefix)] == prefix.tokens for choice in choices):
        prefix = None
    known = len(prefix) if prefix else 0
    with logits_at_places(network) as ask:
        for part in length_batches([len(text) - known for text in texts], _tokens_at_once(network)):
            places = [
                sorted({place - known for c, label in read_off[at] for place in _places(choices[c], label)})
                for at in part
            ]
            count = max(map(len, places))
            where = torch.tensor([[*row, *row[-1:] * (count - len(row))] for row in places])
            tokens = padded([Tokens(list(texts[at][known:])) for at in part], pad, network.device)
            inputs: dict[str, Any] = {"use_cache": False, **(prefix.before(tokens) if prefix else tokens)}
            table = ask(inputs, where.to(network.device))
            table = table.log_softmax(dim=-1).double().cpu()
            for row, at in enumerate(part):
                column = {place + known: number for number, place in enumerate(places[row])}
                for c, label in read_off[at]:
                    logs[c][label] = sum(
                        float(table[row, column[place], token])
                        for place, token in zip(
                            _places(choices[c], label), choices[c].ends[label], strict=True
                        )
                    )
    return logs


@dataclass(frozen=True, slots=True)
class Prefix:
    """The tokens with which every prompt begins, and the network's keys and values for them."""

    tokens: tuple[int, ...]
    layers: "Sequence[tuple[Tensor, Tensor]]"

    def __len__(self) -> int:
        return len(self.tokens)

    def before(self, inputs: "dict[str, Tensor]") -> dict[str, Any]:
        """Return inputs that continue the prefix."""
        torch, transformers = libraries()
        ids = inputs["input_ids"]
        mask = inputs.get("attention_mask", torch.ones_like(ids))
        states = [tuple(part.expand(len(ids), -1, -1, -1) for part in layer) for layer in self.layers]
        seen = torch.ones(len(ids), len(self), dtype=mask.dtype, device=mask.device)
        return {
            "input_ids": ids,
            "attention_mask": torch.cat([seen, mask], dim=1),
            "past_key_values": transformers.DynamicCache(states),
        }


def read_prefix(network: Any, tokens: Sequence[int]) -> Prefix | None:
    """Return the states after these tokens; None if the network keeps more than keys and values of every token."""
    torch, _ = libraries()
    from transformers.cache_utils import DynamicCache, DynamicLayer

    if not tokens:
        return None
    with torch.inference_mode():
        ids = torch.tensor([list(tokens)], device=network.device)
        cache = getattr(network(input_ids=ids, use_cache=True), "past_key_values", None)
    if not isinstance(cache, DynamicCache) or any(type(layer) is not DynamicLayer for layer in cache.layers):
        return None
    layers: Sequence[Any] = cache.layers
    return Prefix(tuple(tokens), [(layer.keys, layer.values) for layer in layers])


def _tokens_at_once(network: Any) -> int:
    return tokens_per_batch(network) if network.device.type == "cuda" else READ_AT_ONCE


def _places(choice: Choice, label: int) -> range:
    """Return the positions whose logits predict the tokens of a label: one before each."""
    start = len(choice.prompt) - 1
    return range(start, start + len(choice.ends[label]))


def _readings(choices: Sequence[Choice]) -> tuple[list[tuple[int, ...]], list[list[tuple[int, int]]]]:
    """Return the distinct texts to read, and the (choice, label) that each scores."""
    needed: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for c, choice in enumerate(choices):
        texts = [(*choice.prompt, *end[:-1]) for end in choice.ends]
        for label, text in enumerate(texts):
            longest = max((other for other in texts if other[: len(text)] == text), key=len)
            needed.setdefault(longest, []).append((c, label))
    return list(needed), list(needed.values())


def sequence_to_sequence(
    network: Any, pad: int, prompts: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]
) -> list[list[float]]:
    """Return l_c for an encoder-decoder: the encoder reads the prompt once, the decoder each label with its end."""
    torch, _ = libraries()
    begin = network.config.decoder_start_token_id
    width = max(map(len, labels))
    targets = torch.tensor(
        [[*label, *[pad] * (width - len(label))] for label in labels], device=network.device
    )
    shown = torch.cat([torch.full_like(targets[:, :1], begin), targets[:, :-1]], dim=1)
    counts = torch.tensor([[float(at < len(label)) for at in range(width)] for label in labels])
    scores: list[list[float]] = [[] for _ in prompts]
    for part in length_batches(
        [len(prompt) + len(labels) * width for prompt in prompts], _tokens_at_once(network)
    ):
        inputs = padded([Tokens(list(prompts[at])) for at in part], pad, network.device)
        mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
        with torch.inference_mode():
            states = network.get_encoder()(input_ids=inputs["input_ids"], attention_mask=mask)[0]
            logits = network(
                encoder_outputs=(states.repeat_interleave(len(labels), dim=0),),
                attention_mask=mask.repeat_interleave(len(labels), dim=0),
                decoder_input_ids=shown.repeat(len(part), 1),
                use_cache=False,
            ).logits
            table = logits.float().log_softmax(dim=-1)
            each = table.gather(2, targets.repeat(len(part), 1)[:, :, None])[:, :, 0].double().cpu()
        sums = (each * counts.repeat(len(part), 1)).sum(dim=1).reshape(len(part), len(labels))
        for row, at in enumerate(part):
            scores[at] = sums[row].tolist()
    return scores


# Probabilities of labels


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The probability mass of each label among the likeliest first tokens."""

    masses: tuple[float, ...]
    """m_c: the mass of tokens that begin this label only."""
    ambiguous: float
    """The mass of tokens that begin two labels."""
    unseen: float
    """u: the mass of tokens that the server did not return."""

    @property
    def mass(self) -> float:
        return sum(self.masses)

    @property
    def truncated(self) -> bool:
        """Whether the unseen mass could change the predicted label."""
        first, second = sorted(self.masses, reverse=True)[:2]
        return first < second + self.unseen

    def probabilities(self) -> Floats:
        """Return p_c = m_c / Σ m."""
        return np.array(self.masses) / self.mass


def from_first_tokens(returned: Sequence[tuple[str, float]], verbalisers: Sequence[str]) -> FirstToken:
    """Assign every returned token, with its log-probability, to the label that it begins."""
    masses, ambiguous, total = [0.0] * len(verbalisers), 0.0, 0.0
    for token, log_probability in returned:
        mass = float(np.exp(log_probability))
        total += mass
        begun = [at for at, verbaliser in enumerate(verbalisers) if begins(token, verbaliser)]
        if len(begun) == 1:
            masses[begun[0]] += mass
        elif begun:
            ambiguous += mass
    return FirstToken(tuple(masses), ambiguous, max(0.0, 1.0 - total))


def begins(token: str, verbaliser: str) -> bool:
    """Return whether a stripped token begins a verbaliser; only single letters are case-sensitive."""
    bare = token.strip()
    if len(verbaliser) > 1:
        bare, verbaliser = bare.casefold(), verbaliser.casefold()
    return bool(bare) and verbaliser.startswith(bare)


def one_begins_another(verbalisers: Sequence[str]) -> tuple[str, str] | None:
    """Return two verbalisers of which the first begins the second, or None."""
    pairs = ((short, long) for short in verbalisers for long in verbalisers if short != long)
    return next(((short, long) for short, long in pairs if begins(short, long)), None)

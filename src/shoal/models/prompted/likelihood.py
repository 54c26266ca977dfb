"""How likely a model that is here finds each label as the continuation of a prompt (`docs/method/prompted.md` 8.2).

A causal model reads a text from left to right: where one text begins another, what it says of the first is read off the
second. Labels of one token each therefore take one reading of the prompt, however many there are.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..checkpoint import libraries
from ..forward import Tokens, length_batches, padded

if TYPE_CHECKING:
    from torch import Tensor

LOW_MASS = 0.5
"""Labels with less probability than this together are flagged."""
READ_AT_ONCE = 2_048
"""Tokens that go through the network at once, padding included."""

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """Tokens that are given, and those of each label that may follow."""

    given: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]


def choice(prompt: Sequence[int], whole: Sequence[Sequence[int]]) -> Choice:
    """From the tokens of the prompt, and of the prompt with each label behind it: what they share, and the rest."""
    k = common(prompt, *whole)
    return Choice(tuple(prompt[:k]), tuple(tuple(sequence[k:]) for sequence in whole))


def common(*sequences: Sequence[int]) -> int:
    """How long the longest beginning is that all sequences share.

    >>> common([1, 2, 3], [1, 2, 4], [1, 2])
    2
    """
    return next(
        (at for at, tokens in enumerate(zip(*sequences, strict=False)) if len(set(tokens)) > 1),
        min(map(len, sequences)),
    )


def begun(ends: Sequence[Sequence[int]]) -> tuple[int, int] | None:
    """Two labels, the first of which begins the second, token by token."""
    pairs = ((a, b) for a in range(len(ends)) for b in range(len(ends)) if a != b)
    return next(((a, b) for a, b in pairs if ends[b][: len(ends[a])] == ends[a]), None)


def causal(network: Any, pad: int, choices: Sequence[Choice]) -> list[list[float]]:
    """l_c of each choice: the sum of the log-probabilities of the label's tokens, given all before them."""
    torch, _ = libraries()
    texts, read_off = _readings(choices)
    found = [[0.0] * len(one.ends) for one in choices]
    for part in length_batches([len(text) for text in texts], READ_AT_ONCE):
        wanted = sorted(
            {place for at in part for c in read_off[at] for place in _places(choices[c[0]], c[1])}
        )
        inputs = padded([Tokens(list(texts[at])) for at in part], pad, network.device)
        with torch.inference_mode():
            table = _logits(network, inputs, wanted).float().log_softmax(dim=-1).double().cpu()
        column = {place: number for number, place in enumerate(wanted)}
        for row, at in enumerate(part):
            for c, label in read_off[at]:
                places = _places(choices[c], label)
                found[c][label] = sum(
                    float(table[row, column[place], token])
                    for place, token in zip(places, choices[c].ends[label], strict=True)
                )
    return found


def _places(one: Choice, label: int) -> range:
    """Where the network says what follows, for each token of a label: one place before it."""
    start = len(one.given) - 1
    return range(start, start + len(one.ends[label]))


def _readings(choices: Sequence[Choice]) -> tuple[list[tuple[int, ...]], list[list[tuple[int, int]]]]:
    """Texts that have to be read, each once, and the (choice, label) that are read off each."""
    needed: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for c, one in enumerate(choices):
        texts = [(*one.given, *end[:-1]) for end in one.ends]
        for label, text in enumerate(texts):
            longest = max((other for other in texts if other[: len(text)] == text), key=len)
            needed.setdefault(longest, []).append((c, label))
    return list(needed), list(needed.values())


def _logits(network: Any, inputs: "dict[str, Tensor]", places: Sequence[int]) -> "Tensor":
    """The logits at some places of every text; the head computes no others where the network allows it."""
    torch, _ = libraries()
    at = torch.tensor(places, device=network.device)
    if "logits_to_keep" in inspect.signature(network.forward).parameters:
        few: Tensor = network(**inputs, use_cache=False, logits_to_keep=at).logits
        return few
    every: Tensor = network(**inputs, use_cache=False).logits
    return every[:, at]


def sequence_to_sequence(
    network: Any, pad: int, prompts: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]
) -> list[list[float]]:
    """The same of an encoder-decoder: the prompt is read once, the decoder says each label with its end."""
    torch, _ = libraries()
    begin = network.config.decoder_start_token_id
    width = max(map(len, labels))
    said = torch.tensor([[*label, *[pad] * (width - len(label))] for label in labels], device=network.device)
    shown = torch.cat([torch.full_like(said[:, :1], begin), said[:, :-1]], dim=1)
    counts = torch.tensor([[float(at < len(label)) for at in range(width)] for label in labels])
    found: list[list[float]] = [[] for _ in prompts]
    for part in length_batches([len(prompt) + len(labels) * width for prompt in prompts], READ_AT_ONCE):
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
            each = table.gather(2, said.repeat(len(part), 1)[:, :, None])[:, :, 0].double().cpu()
        sums = (each * counts.repeat(len(part), 1)).sum(dim=1).reshape(len(part), len(labels))
        for row, at in enumerate(part):
            found[at] = sums[row].tolist()
    return found


# Probabilities of labels


def from_likelihoods(
    scores: Sequence[float], tokens: Sequence[int], normalise: str = "", prior: Floats | None = None
) -> Floats:
    """p = softmax(l), l by token or less ln p̄ where that is asked for.

    >>> from_likelihoods([-1.2, -2.3, -4.0], [1, 1, 2]).round(4).tolist()
    [0.7175, 0.2388, 0.0436]
    """
    logs = np.array(scores, np.float64)
    if normalise == "tokens":
        logs = logs / np.array(tokens)
    elif normalise == "prior":
        assert prior is not None
        logs = logs - np.log(prior)
    found: Floats = softmax(logs)
    return found


@dataclass(frozen=True, slots=True)
class FirstToken:
    """What the likeliest first tokens say of each label."""

    masses: tuple[float, ...]
    """m_c: of the tokens that begin this label and no other."""
    ambiguous: float
    """Of tokens that begin two labels; a part of what is elsewhere."""
    unseen: float
    """u: of all tokens that were not returned; any label may hide in it."""

    @property
    def mass(self) -> float:
        """Of all labels together."""
        return sum(self.masses)

    @property
    def truncated(self) -> bool:
        """Whether what was not returned could make another label the first."""
        first, second = sorted(self.masses, reverse=True)[:2]
        return first < second + self.unseen

    def probabilities(self) -> Floats:
        """p_c = m_c / Σ m."""
        return np.array(self.masses) / self.mass


def from_first_tokens(returned: Sequence[tuple[str, float]], verbalisers: Sequence[str]) -> FirstToken:
    """Every returned token, with its log-probability, to the one label that it begins.

    >>> found = from_first_tokens([("pos", np.log(.5)), ("I", np.log(.3))], ("positive", "negative"))
    >>> round(found.masses[0], 3), found.masses[1]
    (0.5, 0.0)
    """
    masses, ambiguous, all_of_it = [0.0] * len(verbalisers), 0.0, 0.0
    for token, log_probability in returned:
        mass = float(np.exp(log_probability))
        all_of_it += mass
        begun = [at for at, verbaliser in enumerate(verbalisers) if begins(token, verbaliser)]
        if len(begun) == 1:
            masses[begun[0]] += mass
        elif begun:
            ambiguous += mass
    return FirstToken(tuple(masses), ambiguous, max(0.0, 1.0 - all_of_it))


def begins(token: str, verbaliser: str) -> bool:
    """Whether a token, stripped, is the beginning of a verbaliser; only those of one letter keep their case."""
    bare = token.strip()
    if len(verbaliser) > 1:
        bare, verbaliser = bare.casefold(), verbaliser.casefold()
    return bool(bare) and verbaliser.startswith(bare)


def one_begins_another(verbalisers: Sequence[str]) -> tuple[str, str] | None:
    """Two verbalisers of which the first begins the second, if there are such."""
    pairs = ((short, long) for short in verbalisers for long in verbalisers if short != long)
    return next(((short, long) for short, long in pairs if begins(short, long)), None)

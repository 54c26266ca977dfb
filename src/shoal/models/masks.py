"""Logits at one place of each text, or at a few, and as little as possible of everything else.

Texts in which one token after the other is masked are nearly copies of each other. A BERT is spared two things: its
first layer makes queries, keys and values once for all copies, and its last layer and head are computed at the asked
place only. Other encoders are left whole but for the head.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from .checkpoint import libraries

if TYPE_CHECKING:
    from torch import Tensor

Ask = Callable[["dict[str, Tensor]", "Tensor"], "Tensor"]
"""Inputs of a network, and a place in each text, to logits (texts, vocabulary); from any thread.

Several places in each, (texts, places), give (texts, places, vocabulary)."""

LIKE_BERT = ("bert", "camembert", "data2vec-text", "electra", "roberta", "xlm-roberta")
"""Architectures whose layers are BERT's: what a layer sees of a token's place is in its states and nowhere else."""


@contextmanager
def asked_at_masks(network: Any) -> Iterator[Ask]:
    """Meanwhile the network can be asked for logits at one place of each text, and for nothing else."""
    torch, _ = libraries()
    now = threading.local()  # what each thread is asking
    like_bert = _like_bert(network)

    def keep(states: "Tensor") -> "Tensor":
        return states[torch.arange(len(states), device=states.device)[:, None], now.where]

    def ask(inputs: "dict[str, Tensor]", where: "Tensor") -> "Tensor":
        now.where = where[:, None] if where.ndim == 1 else where
        if like_bert:
            now.one, now.kind = _kinds(inputs, network.config)
        with torch.inference_mode():
            found: Tensor = network(**inputs).logits.float()
        return found[:, 0] if where.ndim == 1 else found

    with ExitStack() as meanwhile:
        if like_bert:
            meanwhile.enter_context(_sharing(network, now))
            meanwhile.enter_context(_narrowed(network, keep))
        else:
            hook = network.base_model.register_forward_hook(_keep_places(keep))
            meanwhile.callback(hook.remove)
        yield ask


@contextmanager
def asked_for_labels(network: Any, *, embedded: bool = False) -> "Iterator[Callable[..., Tensor]]":
    """Meanwhile a classifier gives the logits of texts, from any thread, and can be asked for nothing else.

    A BERT's classifier reads the first token's last state. `embedded`: what it is given are not the numbers of tokens.
    """
    now = threading.local()
    like_bert = _like_bert(network)

    def ask(**inputs: "Tensor") -> "Tensor":
        if like_bert and not embedded:
            now.one, now.kind = _kinds(inputs, network.config)
        logits: Tensor = network(**inputs).logits
        return logits.float()

    with ExitStack() as meanwhile:
        if like_bert and not embedded:
            meanwhile.enter_context(_sharing(network, now))
        if like_bert:
            meanwhile.enter_context(_narrowed(network, _first))
        yield ask


@contextmanager
def narrowed(network: Any) -> Iterator[None]:
    """Meanwhile the last layer of a BERT's classifier is computed at the first token, in steps that engines know."""
    with _narrowed(network, _first, _attend) if _like_bert(network) else nullcontext():
        yield


@contextmanager
def _sharing(network: Any, now: Any) -> Iterator[None]:
    """Meanwhile the first layer of a BERT makes queries, keys and values once for each kind of token."""
    *before, _ = network.base_model.encoder.layer
    with ExitStack() as meanwhile:
        for layer in before[:1]:
            attention = layer.attention.self
            for linear in (attention.query, attention.key, attention.value):
                meanwhile.enter_context(_as(linear, _once(linear, now)))
        yield


@contextmanager
def _narrowed(network: Any, keep: Any, attend: Any = None) -> Iterator[None]:
    """Meanwhile the last layer of a BERT is computed at the places that are kept."""
    last = network.base_model.encoder.layer[-1]
    with _as(last, _narrow(last, keep, attend or _attend_to_states)):
        yield


def _first(states: "Tensor") -> "Tensor":
    return states[:, :1]


def _like_bert(network: Any) -> bool:
    _, transformers = libraries()
    if int(transformers.__version__.split(".")[0]) < 5:
        return False  # a layer gave back a tuple then
    return network.config.model_type in LIKE_BERT and not network.config.is_decoder


@contextmanager
def _as(module: Any, forward: Any) -> Iterator[None]:
    """Meanwhile a module does something else."""
    module.forward = forward
    try:
        yield
    finally:
        del module.forward


def _keep_places(keep: Any) -> Any:
    def hook(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = keep(output.last_hidden_state)
        return output

    return hook


# The first layer


def _kinds(inputs: "dict[str, Tensor]", config: Any) -> "tuple[Tensor, Tensor]":
    """Tokens that a network's door cannot tell apart: where one of each kind is, and of which kind each is.

    The door sees a token, its text of a pair, and its place; RoBERTa's does not count padding as a place.
    """
    torch, _ = libraries()
    ids = inputs["input_ids"]
    width = ids.shape[1]
    tokens = inputs.get("token_type_ids", 0) * config.vocab_size + ids
    padding = (ids == config.pad_token_id).cumsum(dim=1)
    codes = (tokens * (width + 1) + padding) * width + torch.arange(width, device=ids.device)
    kinds, kind = torch.unique(codes, return_inverse=True)
    return kinds.scatter(0, kind.flatten(), torch.arange(kind.numel(), device=ids.device)), kind


def _once(linear: Any, now: Any) -> Any:
    """A linear map of what comes from the door, once for each kind of token."""

    def forward(states: "Tensor") -> "Tensor":
        return type(linear).forward(linear, states.flatten(0, 1)[now.one])[now.kind]  # type: ignore[no-any-return]

    return forward


# The last layer


def _narrow(layer: Any, keep: Any, attend: Any) -> Any:
    """A BERT layer's forward pass for one place of each text, or a few."""
    whole = type(layer).forward

    def forward(hidden_states: "Tensor", attention_mask: Any = None, *more: Any, **options: Any) -> "Tensor":
        if attention_mask is not None and attention_mask.ndim != 4:
            return keep(whole(layer, hidden_states, attention_mask, *more, **options))  # type: ignore[no-any-return]
        own = keep(hidden_states)
        seen = None if attention_mask is None else attention_mask[..., :1, :]
        attended = layer.attention.output(attend(layer.attention.self, own, hidden_states, seen), own)
        found: Tensor = layer.output(layer.intermediate(attended), attended)
        return found

    return forward


def _attend_to_states(attention: Any, own: "Tensor", states: "Tensor", seen: Any) -> "Tensor":
    """With few queries, keys and values need not be made.

    q (K h + b) is (q K) h and something that is the same everywhere, which softmax does not see; and the mean of
    V h + b is V (mean of h) + b. So each head looks at the states as they are, and the heads are the queries of one
    attention.
    """
    torch, _ = libraries()
    heads, places = attention.num_attention_heads, own.shape[1]
    width = own.shape[-1] // heads
    keys, values = (part.weight.view(heads, width, -1) for part in (attention.key, attention.value))
    queries = attention.query(own).view(-1, heads, width)
    found = torch.nn.functional.scaled_dot_product_attention(
        torch.einsum("bhw,hwd->bhd", queries, keys).reshape(len(own), 1, places * heads, -1),
        states[:, None],
        states[:, None],
        attn_mask=seen,
        scale=width**-0.5,
    )
    by_place = found.reshape(len(own) * places, heads, -1)
    mixed: Tensor = torch.einsum("bhd,hwd->bhw", by_place, values).reshape(own.shape) + attention.value.bias
    return mixed


def _attend(attention: Any, own: "Tensor", states: "Tensor", seen: Any) -> "Tensor":
    """As the layer does it."""
    torch, _ = libraries()
    queries, keys, values = (
        part(rows).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part, rows in ((attention.query, own), (attention.key, states), (attention.value, states))
    )
    mixed: Tensor = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=seen)
    return mixed.transpose(1, 2).flatten(2)

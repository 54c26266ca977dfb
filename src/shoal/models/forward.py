"""Forward passes that compute only what is needed: logits at a few places, or a classifier's logits.

Texts in which one token after the other is masked are nearly copies of each other. BERT-like encoders save two things:
the first layer computes queries, keys and values once per distinct token, and the last layer and the head are computed
at the requested places only. For other encoders only the head is restricted.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .checkpoint import libraries

if TYPE_CHECKING:
    from torch import Tensor

Ask = Callable[["dict[str, Tensor]", "Tensor"], "Tensor"]
"""Maps inputs and one place per text to logits (texts, vocabulary); several places per text, (texts, places), to
(texts, places, vocabulary). Thread-safe."""

LIKE_BERT = ("bert", "camembert", "data2vec-text", "electra", "roberta", "xlm-roberta")
"""Architectures with BERT's layers: a layer knows a token's position only through its state."""
TOKENS, FEW_TOKENS = 4_096, 512
"""The most and the fewest tokens in a batch of a masked network, padding included."""
ACTIVATIONS = 3 * 2**18
"""The most numbers in the widest layer of a batch: 3 MB. Larger batches leave the processor's cache."""
GPU_TOKENS, GPU_SHARE = 2**17, 8
"""On a GPU, the most tokens in a batch, and the part of its memory (as a divisor) that a batch may take."""
GPU_BYTES = 4 * 4
"""Bytes of a token per number in the widest layer: four layers in float32 at a time."""
WORKERS = (1, 2, 3, 4)
"""Possible numbers of batches at a time, each with its share of the cores."""


class Tokens(NamedTuple):
    """A text, or a pair of texts, as token ids."""

    ids: list[int]
    segments: list[int] | None = None  # token type ids, if the network takes them


def tokenize(tokenizer: Any, texts: Sequence[Any]) -> list[Tokens]:
    """Return texts, or pairs of texts, as tokens without truncation."""
    encoded = tokenizer(texts, verbose=False)
    segments = encoded.get("token_type_ids") or [None] * len(texts)
    return [Tokens(*row) for row in zip(encoded["input_ids"], segments, strict=True)]


# Batches


def length_batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield positions of texts of similar length, with at most `tokens` tokens per batch."""
    waiting = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(waiting):
        count = max(1, tokens // max(1, lengths[waiting[start]]))
        yield waiting[start : start + count]
        start += count


def tokens_per_batch(network: Any) -> int:
    """Return the number of tokens per batch at which a masked network is fastest.

    On a CPU its cache decides, on a GPU its memory: all of it, so that another process there changes no result.
    """
    widest = int(getattr(network.config, "intermediate_size", None) or 1024)
    if network.device.type == "cuda":
        torch, _ = libraries()
        memory = int(torch.cuda.get_device_properties(network.device).total_memory)
        return max(TOKENS, min(GPU_TOKENS, memory // (GPU_SHARE * GPU_BYTES * widest)))
    return min(TOKENS, max(FEW_TOKENS, ACTIVATIONS // widest))


def padded(rows: Sequence[Any], pad: int, device: Any) -> "dict[str, Tensor]":
    """Return the network's inputs from rows with `ids` and `segments`, padded to the longest row."""
    torch, _ = libraries()
    lengths = np.array([len(row.ids) for row in rows])
    width = int(lengths.max())
    ids = np.full((len(rows), width), pad)
    segments = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        if row.segments is not None:
            segments[number, : len(row.ids)] = row.segments
    inputs = {"input_ids": ids}
    if lengths.min() < width:  # without padding the network needs no mask
        inputs["attention_mask"] = (np.arange(width) < lengths[:, None]).astype(np.int64)
    if rows[0].segments is not None:
        inputs["token_type_ids"] = segments
    return {name: torch.from_numpy(column).to(device) for name, column in inputs.items()}


def run_parallel(network: Any, work: "Callable[[list[int]], None]", parts: Sequence[list[int]]) -> None:
    """Call `work` for every part, several at a time if there are several cores."""
    torch, _ = libraries()
    cores: int = torch.get_num_threads()
    alone = network.device.type != "cpu" or len(parts) < 2
    workers = 1 if alone else max(n for n in WORKERS if cores % n == 0)
    if workers == 1:
        for part in parts:
            work(part)
        return
    try:
        with ThreadPoolExecutor(
            workers, initializer=torch.set_num_threads, initargs=(cores // workers,)
        ) as pool:
            list(pool.map(work, parts))
    finally:
        torch.set_num_threads(cores)  # for threads that start later


# Restricted forward passes


@contextmanager
def logits_at_places(network: Any) -> Iterator[Ask]:
    """Restrict a network to the logits at some places of each text, inside this block."""
    torch, _ = libraries()
    now = threading.local()  # the request of each thread
    like_bert = is_like_bert(network)

    def keep(states: "Tensor") -> "Tensor":
        return states[torch.arange(len(states), device=states.device)[:, None], now.where]

    def ask(inputs: "dict[str, Tensor]", where: "Tensor") -> "Tensor":
        now.where = where[:, None] if where.ndim == 1 else where
        if like_bert:
            now.first, now.kind = _distinct_tokens(inputs, network.config)
        with torch.inference_mode():
            logits: Tensor = network(**inputs).logits.float()
        return logits[:, 0] if where.ndim == 1 else logits

    def hook(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = keep(output.last_hidden_state)
        return output

    with ExitStack() as stack:
        if like_bert:
            stack.enter_context(_shared_first_layer(network, now))
            stack.enter_context(_narrow_last_layer(network, keep))
        else:
            stack.callback(network.base_model.register_forward_hook(hook).remove)
        yield ask


@contextmanager
def label_logits(network: Any, *, embedded: bool = False) -> "Iterator[Callable[..., Tensor]]":
    """Restrict a classifier to its logits, inside this block; thread-safe.

    A BERT classifier reads only the first token's last state. `embedded`: inputs are embeddings, not token ids.
    """
    now = threading.local()
    like_bert = is_like_bert(network)

    def ask(**inputs: "Tensor") -> "Tensor":
        if like_bert and not embedded:
            now.first, now.kind = _distinct_tokens(inputs, network.config)
        logits: Tensor = network(**inputs).logits
        return logits.float()

    with ExitStack() as stack:
        if like_bert and not embedded:
            stack.enter_context(_shared_first_layer(network, now))
        if like_bert:
            stack.enter_context(_narrow_last_layer(network, _first))
        yield ask


@contextmanager
def narrowed(network: Any) -> Iterator[None]:
    """Compute the last layer of a BERT classifier at the first token only, in operations that engines support."""
    with _narrow_last_layer(network, _first, _attend) if is_like_bert(network) else nullcontext():
        yield


@contextmanager
def _shared_first_layer(network: Any, now: Any) -> Iterator[None]:
    """Compute queries, keys and values of the first layer once per distinct token."""
    *before, _ = network.base_model.encoder.layer
    with ExitStack() as stack:
        for layer in before[:1]:
            attention = layer.attention.self
            for linear in (attention.query, attention.key, attention.value):
                stack.enter_context(_replaced_forward(linear, _once_per_token(linear, now)))
        yield


@contextmanager
def _narrow_last_layer(network: Any, keep: Any, attend: Any = None) -> Iterator[None]:
    """Compute the last layer at the kept places only."""
    last = network.base_model.encoder.layer[-1]
    with _replaced_forward(last, _narrow(last, keep, attend or _attend_to_states)):
        yield


def _first(states: "Tensor") -> "Tensor":
    return states[:, :1]


def is_like_bert(network: Any) -> bool:
    """Return whether a network has BERT's layers, as Transformers 5 builds them."""
    _, transformers = libraries()
    if int(transformers.__version__.split(".")[0]) < 5:
        return False  # their layers return tuples
    return network.config.model_type in LIKE_BERT and not network.config.is_decoder


@contextmanager
def _replaced_forward(module: Any, forward: Any) -> Iterator[None]:
    module.forward = forward
    try:
        yield
    finally:
        del module.forward


def _distinct_tokens(inputs: "dict[str, Tensor]", config: Any) -> "tuple[Tensor, Tensor]":
    """Return one index per distinct input embedding, and the number of the distinct embedding at each place.

    An input embedding depends on token, segment and position; RoBERTa's positions do not count padding.
    """
    torch, _ = libraries()
    ids = inputs["input_ids"]
    width = ids.shape[1]
    tokens = inputs.get("token_type_ids", 0) * config.vocab_size + ids
    padding = (ids == config.pad_token_id).cumsum(dim=1)
    codes = (tokens * (width + 1) + padding) * width + torch.arange(width, device=ids.device)
    kinds, kind = torch.unique(codes, return_inverse=True)
    return kinds.scatter(0, kind.flatten(), torch.arange(kind.numel(), device=ids.device)), kind


def _once_per_token(linear: Any, now: Any) -> Any:
    def forward(states: "Tensor") -> "Tensor":
        return type(linear).forward(linear, states.flatten(0, 1)[now.first])[now.kind]  # type: ignore[no-any-return]

    return forward


def _narrow(layer: Any, keep: Any, attend: Any) -> Any:
    """Return a BERT layer's forward pass for the kept places."""
    whole = type(layer).forward

    def forward(hidden_states: "Tensor", attention_mask: Any = None, *more: Any, **options: Any) -> "Tensor":
        if attention_mask is not None and attention_mask.ndim != 4:
            return keep(whole(layer, hidden_states, attention_mask, *more, **options))  # type: ignore[no-any-return]
        kept = keep(hidden_states)
        visible = None if attention_mask is None else attention_mask[..., :1, :]
        attended = layer.attention.output(attend(layer.attention.self, kept, hidden_states, visible), kept)
        states: Tensor = layer.output(layer.intermediate(attended), attended)
        return states

    return forward


def _attend_to_states(attention: Any, kept: "Tensor", states: "Tensor", visible: Any) -> "Tensor":
    """Attend without computing keys and values, which pays off for few queries.

    q·(K h + b) equals (q K)·h up to a constant that softmax ignores, and the mean of V h + b is V (mean of h) + b. So
    the heads become the queries of one attention over the states.
    """
    torch, _ = libraries()
    heads, places = attention.num_attention_heads, kept.shape[1]
    width = kept.shape[-1] // heads
    keys, values = (part.weight.view(heads, width, -1) for part in (attention.key, attention.value))
    queries = attention.query(kept).view(-1, heads, width)
    means = torch.nn.functional.scaled_dot_product_attention(
        torch.einsum("bhw,hwd->bhd", queries, keys).reshape(len(kept), 1, places * heads, -1),
        states[:, None],
        states[:, None],
        attn_mask=visible,
        scale=width**-0.5,
    )
    by_place = means.reshape(len(kept) * places, heads, -1)
    mixed: Tensor = torch.einsum("bhd,hwd->bhw", by_place, values).reshape(kept.shape) + attention.value.bias
    return mixed


def _attend(attention: Any, kept: "Tensor", states: "Tensor", visible: Any) -> "Tensor":
    """Attend as the layer itself does."""
    torch, _ = libraries()
    queries, keys, values = (
        part(rows).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part, rows in ((attention.query, kept), (attention.key, states), (attention.value, states))
    )
    mixed: Tensor = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
    return mixed.transpose(1, 2).flatten(2)

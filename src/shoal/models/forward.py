"""Forward passes that compute only what is needed: logits at a few places, or a classifier's logits.

BERT-like encoders compute the last layer and the head at the requested places only, other encoders only the head.
"""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.errors import import_library
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
        return gpu_tokens(network.device, widest)
    return min(TOKENS, max(FEW_TOKENS, ACTIVATIONS // widest))


def gpu_tokens(device: Any, widest: int) -> int:
    """Return the most tokens of a batch in the memory of a GPU; `widest` is the size of the widest layer."""
    torch, _ = libraries()
    memory = int(torch.cuda.get_device_properties(device).total_memory)
    return max(TOKENS, min(GPU_TOKENS, memory // (GPU_SHARE * GPU_BYTES * widest)))


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

    def keep(states: "Tensor") -> "Tensor":
        return states[torch.arange(len(states), device=states.device)[:, None], now.where]

    def ask(inputs: "dict[str, Tensor]", where: "Tensor") -> "Tensor":
        now.where = where[:, None] if where.ndim == 1 else where
        with torch.inference_mode():
            logits: Tensor = network(**inputs).logits.float()
        return logits[:, 0] if where.ndim == 1 else logits

    def hook(_module: Any, _inputs: Any, output: Any) -> Any:
        output.last_hidden_state = keep(output.last_hidden_state)
        return output

    if is_like_bert(network):
        with _narrowed(network, keep):
            yield ask
        return
    handle = network.base_model.register_forward_hook(hook)
    try:
        yield ask
    finally:
        handle.remove()


def narrowed(network: Any) -> AbstractContextManager[None]:
    """Compute the last layer of a BERT classifier at the first token only, which is all that its head reads."""
    return _narrowed(network, lambda states: states[:, :1]) if is_like_bert(network) else nullcontext()


def is_like_bert(network: Any) -> bool:
    """Return whether a network has BERT's layers, as Transformers 5 builds them."""
    _, transformers = libraries()
    if int(transformers.__version__.split(".")[0]) < 5:
        return False  # their layers return tuples
    return network.config.model_type in LIKE_BERT and not network.config.is_decoder


@contextmanager
def _narrowed(network: Any, keep: "Callable[[Tensor], Tensor]") -> Iterator[None]:
    """Compute the last layer at the kept places only."""
    layer = network.base_model.encoder.layer[-1]
    whole = layer.forward

    def forward(hidden_states: "Tensor", attention_mask: Any = None, *more: Any, **options: Any) -> "Tensor":
        if attention_mask is not None and attention_mask.ndim != 4:
            return keep(whole(hidden_states, attention_mask, *more, **options))
        kept = keep(hidden_states)
        visible = None if attention_mask is None else attention_mask[..., :1, :]
        attended = layer.attention.output(_attend(layer.attention.self, kept, hidden_states, visible), kept)
        states: Tensor = layer.output(layer.intermediate(attended), attended)
        return states

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


def _attend(attention: Any, kept: "Tensor", states: "Tensor", visible: Any) -> "Tensor":
    """Attend from the kept places to all states, as the layer itself does."""
    torch, _ = libraries()
    queries, keys, values = (
        part(rows).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part, rows in ((attention.query, kept), (attention.key, states), (attention.value, states))
    )
    mixed: Tensor = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
    return mixed.transpose(1, 2).flatten(2)


# OpenVINO


class Converted:
    """A classifier that OpenVINO runs on the CPU in float32, with the call of the original: inputs to logits."""

    def __init__(self, network: Any, examples: Mapping[str, Any], cores: int) -> None:
        self._torch, _ = libraries()
        openvino = import_library("openvino", "engine=openvino")
        with warnings.catch_warnings(), self._torch.no_grad(), narrowed(network):
            warnings.simplefilter("ignore")  # from the tracer; the self-check compares the results
            model = openvino.convert_model(network, example_input=dict(examples))
        exact = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
        options = {**exact, "NUM_STREAMS": cores, "INFERENCE_NUM_THREADS": cores}
        self._compiled = openvino.Core().compile_model(model, "CPU", options)
        self._requests = threading.local()  # one per thread

    def __call__(self, **inputs: Any) -> Any:
        if not hasattr(self._requests, "own"):
            self._requests.own = self._compiled.create_infer_request()
        answers = self._requests.own.infer({name: column.numpy() for name, column in inputs.items()})
        return SimpleNamespace(logits=self._torch.from_numpy(answers[0].copy()))

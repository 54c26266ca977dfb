"""A checkpoint with its tokenizer and networks on a device; `hf.py` adds what a model can be asked."""

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Example
from .checkpoint import Checkpoint, first_line, libraries

TOKENISED_AT_ONCE = 2_000
BEGINS_WITH = "likelihoods begin with"
"""Fingerprint key: the token before the first one, if it is not BOS."""
Vectors = NDArray[np.float32]  # (examples, width)
Columns = dict[str, list[NDArray[np.int64]]]
"""The inputs of a network by name, one row per example."""


class LoadedModel:
    """A checkpoint with one or more heads, each loaded on its first request."""

    def __init__(self, checkpoint: Checkpoint, options: Mapping[str, str] | None = None) -> None:
        self.checkpoint, self.options = checkpoint, dict(options or {})
        self._networks: dict[str, Any] = {}
        self._lengths: dict[Example, int] = {}
        self._tokenizing = Lock()  # a tokenizer is not thread-safe

    def __repr__(self) -> str:
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"hf:{self.checkpoint.name}{'?' if options else ''}{options}"

    def fingerprint(self) -> dict[str, Any]:
        """Return everything that answers depend on; not the device."""
        counted = ("labels", "max_length", "task", "engine")
        identity = self.checkpoint.fingerprint()
        identity |= {name: value for name, value in self.options.items() if name in counted}
        if self.language_model == "causal" and not self.checkpoint.has_bos:
            identity[BEGINS_WITH] = "eos"
        return identity

    # Loading

    def network(self, asked: str) -> Any:
        """Return the network with the head for a request; loaded once."""
        if asked not in self._networks:
            self._add(asked, self.checkpoint.network(asked))
        return self._networks[asked]

    def _add(self, asked: str, network: Any) -> None:
        rows = network.get_input_embeddings().weight.shape[0]
        if len(self.tokenizer) > rows:
            raise ModelError(
                f"{self!r}: tokenizer and weights do not match",
                why=f"the tokenizer has {len(self.tokenizer):,} tokens, the weights {rows:,}",
                fix="put the tokenizer that the model was trained with into the folder",
            )
        if network.config.pad_token_id is None:  # as in GPT-2; any token works, because it is masked
            network.config.pad_token_id = self.tokenizer.pad_token_id
        network.to(self.device)
        self._networks[asked] = network

    @cached_property
    def device(self) -> str:
        torch, _ = libraries()
        name = self.options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            torch.zeros(1, device=name).tolist()
        except Exception as problem:
            raise ModelError(
                f"{self!r}: device {name!r} does not work",
                why=first_line(problem),
                fix="device=cuda needs an NVIDIA GPU and torch with CUDA; device=cpu always works",
            ) from None
        return name

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer, set to pad and truncate on the right."""
        tokenizer = self.checkpoint.tokenizer()
        tokenizer.padding_side = tokenizer.truncation_side = "right"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token or tokenizer.unk_token
        return tokenizer

    @cached_property
    def longest(self) -> int:
        """The most tokens of an example: the model's limit, or `max_length`."""
        known = [int(n) for n in (self.tokenizer.model_max_length, self._positions) if n and n < 10**6]
        limit = min(known, default=sys.maxsize)
        requested = int(self.options.get("max_length", limit))
        if requested > limit:
            raise ModelError(
                f"{self!r}: max_length is {requested}; the model takes {limit} tokens",
                fix=f"max_length={limit}, or remove it",
            )
        return requested

    @cached_property
    def _positions(self) -> int | None:
        """The size of the position table; RoBERTa's positions start after the padding index."""
        config = {key: value for key, value in self.checkpoint.config.items() if type(value) is int}
        positions = config.get("max_position_embeddings") or config.get("n_positions")
        if positions is None:
            return None
        kind = str(self.checkpoint.config.get("model_type"))
        if not any(word in kind for word in ("roberta", "camembert", "mpnet", "longformer")):
            return positions
        return positions - config.get("pad_token_id", 1) - 1

    @property
    def language_model(self) -> str:
        """`masked` or `causal`, from `task` or the checkpoint's architecture."""
        task = self.options.get("task")
        if task in ("masked", "causal"):
            return task
        architectures = self.checkpoint.config.get("architectures")
        written = " ".join(map(str, architectures)) if isinstance(architectures, list) else ""
        causal = self.checkpoint.gguf or "CausalLM" in written or "LMHead" in written
        return "causal" if causal else "masked"

    # Tokens

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """Return the number of tokens of each example before truncation."""
        fresh = [example for example in dict.fromkeys(examples) if example not in self._lengths]
        for start in range(0, len(fresh), TOKENISED_AT_ONCE):
            part = fresh[start : start + TOKENISED_AT_ONCE]
            with self._tokenizing:
                rows = self.tokenizer(
                    tokenizer_inputs(part),
                    return_attention_mask=False,
                    return_token_type_ids=False,
                    verbose=False,
                )["input_ids"]
            self._lengths |= {example: len(row) for example, row in zip(part, rows, strict=True)}
        return [self._lengths[example] for example in examples]

    @property
    def _truncation(self) -> dict[str, Any]:
        return {"truncation": "longest_first", "max_length": self.longest} if self.longest < 10**6 else {}

    def encode(self, examples: Sequence[Example]) -> Any:
        """Return the examples as tensors, padded to the longest and truncated."""
        with self._tokenizing:
            encoded = self.tokenizer(
                tokenizer_inputs(examples),
                padding=True,
                return_tensors="pt",
                verbose=False,
                **self._truncation,
            )
        return encoded.to(self.device)

    def refuse_truncation(self, examples: Sequence[Example], why: str) -> None:
        """Raise if an example exceeds the model's limit."""
        longest = max(self.lengths(examples), default=0)
        if longest > self.longest:
            raise ModelError(
                f"{self!r}: a text of {longest:,} tokens; the model takes {self.longest:,}",
                why=why,
                fix="shorter texts, or a model with a longer limit",
            )

    def require_offsets(self) -> None:
        """Raise if the tokenizer does not tell the characters of a token."""
        if not self.tokenizer.is_fast:
            raise ModelError(
                f"{self!r}: its tokenizer gives no character offsets",
                fix="a checkpoint with a fast tokenizer (tokenizer.json)",
            )

    def tokenise(self, examples: Sequence[Example]) -> Columns:
        """Return every input column, one row per example, truncated and not padded."""
        columns: Columns = {}
        for start in range(0, len(examples), TOKENISED_AT_ONCE):
            part = tokenizer_inputs(examples[start : start + TOKENISED_AT_ONCE])
            for name, rows in self.tokenizer(part, verbose=False, **self._truncation).items():
                columns.setdefault(name, []).extend(np.array(row, np.int64) for row in rows)
        return columns

    @property
    def padding(self) -> dict[str, int]:
        return {"input_ids": self.tokenizer.pad_token_id, "token_type_ids": self.tokenizer.pad_token_type_id}

    @property
    def takes_segments(self) -> bool:
        """Whether the network takes token type ids."""
        return "token_type_ids" in self.tokenizer.model_input_names


def tokenizer_inputs(examples: Sequence[Example]) -> list[Any]:
    """Return examples as a tokenizer takes them: texts, or pairs of texts."""
    wide = next((example for example in examples if not 1 <= len(example) <= 2), None)
    if wide is not None:
        raise ModelError(
            f"an example of {len(wide)} texts: {repr(wide)[:200]}",
            why="Transformers models take one text or two",
            fix="join the texts of an example into one or two",
        )
    return [example[0] if len(example) == 1 else example for example in examples]


# Features of a frozen encoder


class Features:
    """The input of a classifier's head for some examples."""

    def __init__(self, names: Iterable[int] = (), vectors: Iterable[Vectors] = ()) -> None:
        self.vectors: dict[int, Vectors] = dict(zip(names, vectors, strict=True))

    def __len__(self) -> int:
        return len(self.vectors)

    def missing(self, examples: Iterable[Example]) -> list[Example]:
        """Return the distinct examples without a vector."""
        return [example for example in dict.fromkeys(examples) if _hash(example) not in self.vectors]

    def add(self, examples: Sequence[Example], vectors: Vectors) -> None:
        self.vectors |= zip(map(_hash, examples), vectors, strict=True)

    def rows(self, examples: Iterable[Example]) -> Vectors:
        return np.stack([self.vectors[_hash(example)] for example in examples])


def _hash(example: Example) -> int:
    """Return a hash of 64 bits of an example's texts."""
    return int.from_bytes(hashlib.blake2b("\0".join(example).encode(), digest_size=8).digest(), "big")

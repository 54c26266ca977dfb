"""Transformers models: labels, answer spans, likelihoods of tokens, vectors, mask fillers, logits with gradients.

    hf:DIR_OR_ID?labels=negative,positive&max_length=256

What is asked decides which head is loaded; a checkpoint that does not hold it is refused (`checkpoint.py`). Texts
longer than the model takes are cut: the longest text of an example, from its end, and how often is counted;
`?long=error` makes each of them an error instead.
"""

import hashlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, nearest
from ..core.records import Answers, Example
from . import ModelSpec, fillers, likelihood, spans
from .ask import BATCH_TOKENS, Blank, Filler, Fillers, TokenScores, batches
from .checkpoint import DTYPES, HEADS, Checkpoint, first_line, libraries
from .features import Features
from .labels import Spellings, ends_of, in_suite_order, parse_labels, suite_names
from .prompted.options import LOCAL as PROMPTED
from .tokenised import Columns, Tokenised, tokenised_by

if TYPE_CHECKING:
    from torch import Tensor

    from .last_text import LastText
    from .prompted.local import PromptedModel

PLAIN = (
    "labels",
    "revision",
    "max_length",
    "long",
    "dtype",
    "task",
    "allow_pickle",
    "device",
    "engine",
    "reads",
    "accumulate",
)
OPTIONS = (*PLAIN, *PROMPTED)
OF_A_HEAD = ("labels", "long", "engine", "task", "reads", "accumulate")
"""What means nothing to a model that is asked in words."""
ENGINES = ("eager", "compile", "openvino")
"""As it is; compiled for this machine when it is first asked for labels, in half a minute; or converted, in seconds."""
MOST_PIECES = 1024
MOST_BESIDE = 16
"""Batches that are asked at a time, a core each; Python itself has a share in every one."""
TOKENISED_AT_ONCE = 2_000
POOLINGS = ("cls", "mean", "last")


def load(spec: ModelSpec) -> "HFModel | LastText | PromptedModel":
    """The model that a spec names, to be asked as it is or, where it has a prompt, in words."""
    worded = "prompt" in spec.options
    stray = next((name for name in (OF_A_HEAD if worded else PROMPTED) if name in spec.options), None)
    if stray:
        raise ModelError(
            f"hf:{spec.name}: {stray} {'with' if worded else 'without'} prompt",
            why="what a model that is asked in words may say stands in the prompt"
            if worded
            else "it says how a model is asked in words",
            fix=f"leave {stray} out" + ("" if worded else ", or give prompt=FILE"),
        )
    if not worded:
        return load_unprompted(spec)
    model = load_as_it_is(spec)
    from .prompted import local

    return local.load(spec, model)


def load_unprompted(spec: ModelSpec) -> "HFModel | LastText":
    """The model that a spec names, behind a blind where it is to read the last text only."""
    model = load_as_it_is(spec)
    if spec.options.get("reads", "all") == "all":
        return model
    from .last_text import LastText

    return LastText(model)


def load_as_it_is(spec: ModelSpec) -> "HFModel":
    """The model that a spec names; its weights are read when it is first asked."""
    options = spec.options
    if "labels" in options:
        parse_labels(options["labels"], f"hf:{spec.name}")
    _one_of(spec, "dtype", DTYPES)
    _one_of(spec, "long", ("cut", "error"))
    _one_of(spec, "allow_pickle", ("yes", "no"))
    _one_of(spec, "task", tuple(HEADS))
    _one_of(spec, "engine", ENGINES)
    _one_of(spec, "reads", ("all", "last"))
    length = options.get("max_length")
    if length is not None and (not length.isdigit() or int(length) < 8):
        raise ModelError(
            f"hf:{spec.name}: max_length must be a whole number from 8, found {length!r}",
            fix="max_length=256",
        )
    pieces = options.get("accumulate", "1")
    if not pieces.isdecimal() or not 1 <= int(pieces) <= MOST_PIECES:
        raise ModelError(
            f"hf:{spec.name}: accumulate must be a whole number from 1 to {MOST_PIECES}, found {pieces!r}",
            why="it says in how many pieces a batch is computed while the model trains",
            fix="accumulate=4, or leave it out",
        )
    checkpoint = Checkpoint(
        spec.name,
        options.get("revision"),
        options.get("dtype", "float32"),
        options.get("allow_pickle") == "yes",
    )
    return HFModel(checkpoint, options)


def _one_of(spec: ModelSpec, option: str, known: Sequence[str]) -> None:
    value = spec.options.get(option, known[0])
    if value not in known:
        raise ModelError(
            f"hf:{spec.name}: {option} is {value!r}",
            why=f"known: {', '.join(known)}",
            fix=nearest(value, known) or f"{option}={known[0]}",
        )


BEGINS_WITH = "likelihoods begin with"
"""In a fingerprint: the token before the first, where it is not BOS."""


class HFModel:
    """A checkpoint that answers; what it is asked for first decides nothing about what it can be asked later."""

    def __init__(self, checkpoint: Checkpoint, options: Mapping[str, str] | None = None) -> None:
        self.checkpoint, self.options = checkpoint, dict(options or {})
        self._networks: dict[str, Any] = {}
        self._lengths: dict[Example, int] = {}
        self._tokenised: Tokenised | None = None
        """What models like this one have read before, where it is trained."""
        self.trained = "classify"
        """Which of its networks is trained, saved and loaded."""
        self.engines: Path | None = None
        """Where a network that was converted for another engine is kept; None: nowhere."""
        self._tokenising = Lock()  # a tokenizer does not bear two threads
        self.computes_in = "float32"
        """While it trains, and when it is asked after that; its weights are in single precision then."""
        self.columns: list[int] | None = None
        """In which order training takes its logits; None: in its own."""
        self.frozen: Features | None = None
        """What its encoder makes of examples, while that stays as it is: `classify` then computes the head alone."""

    def __repr__(self) -> str:
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"hf:{self.checkpoint.name}{'?' if options else ''}{options}"

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on: weights, tokenizer, configuration, precision, options; not the device."""
        kept = {
            name: value
            for name, value in self.options.items()
            if name in ("labels", "max_length", "long", "task", "engine", "accumulate")
        }
        checkpoint = self.checkpoint.fingerprint()
        if self.language_model == "causal" and not self.checkpoint.has_bos:
            kept[BEGINS_WITH] = "eos"  # likelihoods that left the first token out are not taken for these
        return {**checkpoint, **kept}

    # Loading

    def network(self, asked: str) -> Any:
        """The network with the head for what is asked; read once."""
        if asked not in self._networks:
            self._take(asked, self.checkpoint.network(asked))
        return self._networks[asked]

    def _take(self, asked: str, network: Any) -> None:
        self._check_vocabulary(network)
        if network.config.pad_token_id is None:  # GPT-2 and its like have none: any will do, it is masked
            network.config.pad_token_id = self.tokenizer.pad_token_id
        network.to(self.device)
        self._networks[asked] = network

    @cached_property
    def device(self) -> str:
        """Where the network computes."""
        torch, _ = libraries()
        usual = "cuda" if torch.cuda.is_available() else "cpu"
        name = self.options.get("device") or usual
        try:
            torch.zeros(1, device=name).tolist()
        except Exception as problem:
            raise ModelError(
                f"{self!r}: nothing can be computed on device {name!r}",
                why=first_line(problem),
                fix="device=cuda for a GPU of NVIDIA's, if torch was installed for it; device=cpu; or leave it out",
            ) from None
        return name

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer; it pads and cuts at the end, whatever its folder says."""
        tokenizer = self.checkpoint.tokenizer()
        tokenizer.padding_side = tokenizer.truncation_side = "right"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token or tokenizer.unk_token
        return tokenizer

    @cached_property
    def longest(self) -> int:
        """How many tokens the model takes at once, or fewer if `max_length` says so."""
        written = self.tokenizer.model_max_length
        if not isinstance(written, int | float):
            raise ModelError(
                f"{self!r}: model_max_length is {repr(written)[:60]} in tokenizer_config.json",
                why="a number is expected",
                fix="the tokenizer_config.json that save_pretrained wrote",
            )
        known = [int(n) for n in (written, self._positions) if n and n < 10**6]
        room = min(known, default=sys.maxsize)
        asked = int(self.options.get("max_length", room))
        if asked > room:
            raise ModelError(
                f"{self!r}: max_length is {asked}; the model takes {room} tokens",
                fix=f"max_length={room}, or leave it out",
            )
        return asked

    @cached_property
    def _positions(self) -> int | None:
        """How many tokens the table of positions has room for; RoBERTa's begins behind the padding's number."""
        positions = self.checkpoint.whole("max_position_embeddings") or self.checkpoint.whole("n_positions")
        if positions is None:
            return None
        kind = str(self.checkpoint.config.get("model_type"))
        if not any(word in kind for word in ("roberta", "camembert", "mpnet", "longformer")):
            return positions
        padding = self.checkpoint.whole("pad_token_id")
        return positions - (1 if padding is None else padding) - 1

    def _check_vocabulary(self, network: Any) -> None:
        rows = network.get_input_embeddings().weight.shape[0]
        if len(self.tokenizer) > rows:
            raise ModelError(
                f"{self!r}: its tokenizer is not its own",
                why=f"it knows {len(self.tokenizer):,} words, the weights {rows:,}",
                fix="the tokenizer that the model was trained with, in the same folder",
            )

    # Tokens

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """How many tokens each example has before anything is cut; tokenised once, in pieces."""
        fresh = [example for example in dict.fromkeys(examples) if example not in self._lengths]
        for start in range(0, len(fresh), TOKENISED_AT_ONCE):
            part = fresh[start : start + TOKENISED_AT_ONCE]
            with self._tokenising:
                rows = self.tokenizer(
                    inputs_of(part), return_attention_mask=False, return_token_type_ids=False, verbose=False
                )["input_ids"]
            self._lengths |= {example: len(row) for example, row in zip(part, rows, strict=True)}
        return [self._lengths[example] for example in examples]

    def encode(self, examples: Sequence[Example]) -> Any:
        """The examples as tensors, padded to the longest of them and cut to what the model takes."""
        room = {"truncation": "longest_first", "max_length": self.longest} if self.longest < 10**6 else {}
        with self._tokenising:
            encoded = self.tokenizer(
                inputs_of(examples), padding=True, return_tensors="pt", verbose=False, **room
            )
        return encoded.to(self.device)

    def too_long(self, examples: Sequence[Example]) -> dict[int, str]:
        """Under `?long=error`: which examples are longer than the model takes, as errors."""
        if self.options.get("long") != "error":
            return {}
        return {
            row: f"{length:,} tokens; the model takes {self.longest:,} (long=error)"
            for row, length in enumerate(self.lengths(examples))
            if length > self.longest
        }

    # Asking

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Probabilities of the suite's labels for each example, a text or a pair of texts."""
        theirs = suite_names(self.own_labels, labels, repr(self))
        names = in_suite_order(theirs, labels)
        errors = self.too_long(examples)
        torch, _ = libraries()
        with torch.inference_mode():
            logits = self._logits(examples)
        probabilities: NDArray[np.float64] = logits.double().softmax(dim=-1).cpu().numpy()
        arranged = probabilities[:, [theirs.index(name) for name in names]]
        return Answers(
            tuple(names),
            np.nan_to_num(arranged).argmax(axis=1),
            arranged,
            errors=errors,
            label_map=dict(zip(self._written_labels, theirs, strict=True)),
            band=tuple(names) == ends_of(labels or ()),
        )

    def _logits(self, examples: Sequence[Example]) -> Any:
        if self.frozen is None or self.head is None:
            with self._computing():
                return self._fast_network(**self.encode(examples)).logits
        torch, _ = libraries()
        vectors = torch.from_numpy(self.frozen_features(examples)).to(self.device)
        return self._own_logits({"features": vectors})

    @cached_property
    def _fast_network(self) -> Any:
        """The classifier as the engine runs it."""
        network, engine = self.network("classify"), self.options.get("engine", "eager")
        if engine == "eager":
            return network
        torch, _ = libraries()
        if engine == "openvino":
            return self._converted(network)
        if self.device == "cpu" and not any(map(shutil.which, ("g++", "c++", "clang++"))):
            raise ModelError(
                f"{self!r}: nothing to compile with",
                why="engine=compile needs a C++ compiler",
                fix="install g++, or leave engine out",
            )
        return torch.compile(network, dynamic=True)

    def _converted(self, network: Any) -> Any:
        if self.device != "cpu":
            raise ModelError(
                f"{self!r}: engine=openvino computes on the processor, not on {self.device}",
                fix="device=cpu, or leave engine out",
            )
        from .openvino import Converted

        name = hashlib.sha256(repr(sorted(self.fingerprint().items())).encode()).hexdigest()[:16]
        kept = self.engines / f"{name}.xml" if self.engines else None
        # Of different lengths, so that what pads them is part of what is converted.
        examples = self.encode([("a",), ("a text that is longer than the other one",)])
        return Converted(network, examples, self.beside, kept)

    @cached_property
    def beside(self) -> int:
        """How many batches may be asked at a time, each on one core; as found by whoever asks first, since inside of a
        batch there is one core only.
        """
        torch, _ = libraries()
        alone = self.device != "cpu" or self.options.get("engine") == "compile" or self.frozen is not None
        return 1 if alone else min(MOST_BESIDE, int(torch.get_num_threads()))

    def uncompiled(self) -> "HFModel | None":
        """The same model as it is, for comparison; None if that is what this one is."""
        if self.options.get("engine", "eager") == "eager":
            return None
        twin = HFModel(self.checkpoint, {**self.options, "engine": "eager"})
        twin._networks = self._networks
        return twin

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The model's labels in the order of its numbers, as it or the user names them."""
        written = self._written_labels
        if "labels" not in self.options:
            return written
        named = parse_labels(self.options["labels"], f"hf:{self.checkpoint.name}")
        if not named.order:
            known = Spellings(named.names)
            return tuple(named.names.get(known.get(name) or "", name) for name in written)
        if len(named.order) != len(written):
            raise ModelError(
                f"{self!r}: labels= names {len(named.order)}, the model has {len(written)}",
                why=f"it calls them {', '.join(written)}",
                fix="labels= with the suite's names, in that order",
            )
        return named.order

    @property
    def _written_labels(self) -> tuple[str, ...]:
        """The model's labels as its configuration calls them."""
        config = self.network("classify").config
        if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
            raise ModelError(
                f"{self!r} does not choose between labels",
                why="it gives one number"
                if config.num_labels < 2
                else f"it was trained for {config.problem_type}",
                fix="wrap it in a function that gives probabilities: python:module:name",
            )
        return tuple(str(config.id2label.get(code, code)) for code in range(config.num_labels))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """For each (context, question) the piece of the context that answers best, or nothing."""
        with self._computing():
            return spans.extract(self.network("extract"), self.tokenizer, examples, self._window)

    @property
    def _window(self) -> int:
        """How many tokens of question and context are read at once."""
        return min(int(self.options.get("max_length", spans.WINDOW)), self.longest)

    def windows(self, examples: Sequence[Example]) -> list[list[spans.Window]]:
        """Each (context, question) as one or several windows of tokens."""
        found = []
        for row, (context, question) in enumerate(examples):
            try:
                found.append(spans.windows_of(self.tokenizer, row, context, question, self._window))
            except Exception as problem:  # tokenizers raises its own kind
                raise ModelError(
                    f"{self!r}: the question {question[:60]!r} leaves no room for the context",
                    why=f"{self._window} tokens for both: {first_line(problem)}",
                    fix="shorter questions, or a model that takes longer texts",
                ) from None
        return found

    @property
    def takes_segments(self) -> bool:
        """Whether the network is told which tokens are the question's."""
        return "token_type_ids" in self.tokenizer.model_input_names

    def log_likelihood(
        self, examples: Sequence[Example], only: Sequence[Sequence[int]] | None = None
    ) -> list[TokenScores]:
        """Natural log-probability of each token: given those before it, or, in a masked model, all others.

        `only` says for each example at which positions of its tokens.
        """
        kind = self.language_model
        score = likelihood.causal if kind == "causal" else likelihood.masked
        return score(self.network(kind), self.tokenizer, self._tokens(examples), only)

    def fill(self, examples: Sequence[Example], k: int = 10) -> list[list[Filler]]:
        """The k likeliest tokens for the one mask (`tokenizer.mask_token`) in each example, with probabilities."""
        return likelihood.fill(self.network("masked"), self.tokenizer, self._tokens(examples), k)

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """For each blank the words among the k likeliest, and the probability of the word that is hidden there."""
        return fillers.fill_words(self.network("masked"), self._vocabulary, self.longest, blanks, k)

    @cached_property
    def _vocabulary(self) -> "fillers.Vocabulary":
        return fillers.Vocabulary(self.tokenizer)

    @property
    def language_model(self) -> str:
        """ "masked" or "causal": as `task` says, or the checkpoint's own architecture."""
        task = self.options.get("task")
        if task in ("masked", "causal"):
            return task
        architectures = self.checkpoint.config.get("architectures")
        written = " ".join(map(str, architectures)) if isinstance(architectures, list) else ""
        causal = self.checkpoint.gguf or "CausalLM" in written or "LMHead" in written
        return "causal" if causal else "masked"

    def embed(
        self, examples: Sequence[Example], pooling: str = "mean", layer: int = -1
    ) -> NDArray[np.float64]:
        """A vector for each example from the hidden states of a layer: the first token's, the last's, or the mean."""
        if pooling not in POOLINGS:
            raise ModelError(
                f"pooling {pooling!r}",
                why=f"known: {', '.join(POOLINGS)}",
                fix=nearest(pooling, POOLINGS) or POOLINGS[0],
            )
        torch, _ = libraries()
        encoded = self.encode(examples)
        with torch.inference_mode():
            states = self.network("embed")(**encoded, output_hidden_states=True).hidden_states[layer].double()
        mask = encoded["attention_mask"].double()
        if pooling == "cls":
            vectors = states[:, 0]
        elif pooling == "last":
            vectors = states[torch.arange(len(states)), mask.sum(dim=1).long() - 1]
        else:
            vectors = (states * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        rows: NDArray[np.float64] = vectors.cpu().numpy()
        return rows

    def embeddings(self, examples: Sequence[Example]) -> "Tensor":
        """What stands for the tokens at the network's door: (examples, tokens, width), ready for gradients."""
        table = self.network("classify").get_input_embeddings()
        found: Tensor = table(self.encode(examples)["input_ids"]).detach().requires_grad_()
        return found

    def logits(self, examples: Sequence[Example], embeddings: "Tensor | None" = None) -> "Tensor":
        """Logits (examples, labels) in the model's own order; gradients flow, to `embeddings` where given."""
        encoded = dict(self.encode(examples))
        if embeddings is not None:
            del encoded["input_ids"]
            encoded["inputs_embeds"] = embeddings
        found: Tensor = self.network("classify")(**encoded).logits
        return found

    # Training

    def with_fresh_head(self, labels: Sequence[str], seed: int, *, linear: bool = False) -> "HFModel":
        """The same encoder under a new classifier for these labels, drawn from the seed and from nothing else.

        `linear`: one layer on the first token's state, whatever the architecture has (`heads.py`).
        """
        model = self._to_train("labels")
        network = model.checkpoint.with_fresh_head(labels, seed)
        if linear:
            from .heads import make_linear

            make_linear(network, repr(self))
        model.adopt("classify", network)
        return model

    def with_fresh_span_head(self, seed: int) -> "HFModel":
        """The same encoder under a new layer that finds answers in a context, drawn from the seed alone."""
        model = self._to_train()
        model.adopt("extract", model.checkpoint.with_fresh_head((), seed, "extract"))
        return model

    def with_own_span_head(self) -> "HFModel":
        """The same model of answers in a context, ready to be trained."""
        model = self._to_train()
        model.adopt("extract", model.checkpoint.network("extract"))
        return model

    def with_own_head(self, labels: Sequence[str]) -> "HFModel":
        """The same classifier, ready to be trained: its logits in the order of these labels, its own names of them."""
        model = self._to_train()
        theirs = suite_names(model.own_labels, labels, repr(self))
        model.columns = [theirs.index(name) for name in labels]
        return model

    def _to_train(self, *without: str) -> "HFModel":
        """The same model with its weights in single precision, and without some of its options."""
        if self.checkpoint.dtype == "float16":
            raise ModelError(
                f"{self!r}: training in float16",
                why="gradients get too small for it",
                fix="dtype=bfloat16, or leave dtype out",
            )
        options = {name: value for name, value in self.options.items() if name not in without}
        model = HFModel(self.checkpoint.in_single_precision(), options)
        model.computes_in = self.checkpoint.dtype
        name = model.checkpoint.tokenizer_name()
        if name:
            model._tokenised = tokenised_by(name, model.longest)
            model._lengths = model._tokenised.lengths
        return model

    def _computing(self) -> AbstractContextManager[Any]:
        from .frugal import computing_in

        return computing_in(self.computes_in, self.device)

    def adopt(self, asked: str, network: Any) -> None:
        """Answer with this network, on this checkpoint's tokenizer; it is the one that is trained."""
        self._take(asked, network)
        self.trained, self.frozen = asked, None
        self.__dict__.pop("head", None)
        self.__dict__.pop("_fast_network", None)

    def save_weights(self, path: Path) -> None:
        """Write the weights of the network under training."""
        from safetensors.torch import save_file

        network = self.network(self.trained)
        own = dict([*network.named_parameters(), *network.named_buffers()])  # weights that are tied, once
        kept = {name: own[name].detach().contiguous() for name in network.state_dict() if name in own}
        save_file(kept, path, {"format": "pt"})

    def load_weights(self, path: Path) -> None:
        """Read weights that a model of the same shape saved."""
        from safetensors import SafetensorError
        from safetensors.torch import load_model

        self.frozen = None
        try:
            load_model(self.network(self.trained), str(path), device=self.device)
        except (OSError, SafetensorError, RuntimeError) as problem:
            raise ModelError(
                f"{path}: not weights of {self!r}",
                why=first_line(problem),
                fix="remove the file: it is made again",
            ) from None

    def tokenise(self, examples: Sequence[Example]) -> Columns:
        """Every column of the network's inputs, a row per example, cut to what the model takes and not padded."""
        make = self._tokenise
        return make(examples) if self._tokenised is None else self._tokenised.columns(examples, make)

    def _tokenise(self, examples: Sequence[Example]) -> Columns:
        room = {"truncation": "longest_first", "max_length": self.longest} if self.longest < 10**6 else {}
        columns: Columns = {}
        for start in range(0, len(examples), TOKENISED_AT_ONCE):
            part = self.tokenizer(
                inputs_of(examples[start : start + TOKENISED_AT_ONCE]), verbose=False, **room
            )
            for name, rows in part.items():
                columns.setdefault(name, []).extend(np.array(row, np.int64) for row in rows)
        return columns

    @property
    def padding(self) -> dict[str, int]:
        """What fills each column of a batch behind the end of a text."""
        return {"input_ids": self.tokenizer.pad_token_id, "token_type_ids": self.tokenizer.pad_token_type_id}

    def forward(self, inputs: Mapping[str, "Tensor"]) -> "Tensor":
        """Inputs to the logits of the network under training; from features of its encoder, the head's alone."""
        from .frugal import in_pieces

        logits = in_pieces(self._own_logits, inputs, int(self.options.get("accumulate", 1)))
        return logits if self.columns is None else logits[:, self.columns]

    def _own_logits(self, inputs: Mapping[str, "Tensor"]) -> "Tensor":
        with self._computing():
            return self._computed(inputs).float()

    def _computed(self, inputs: Mapping[str, "Tensor"]) -> "Tensor":
        network = self.network(self.trained)
        if self.trained == "extract":
            torch, _ = libraries()
            said = network(**inputs)
            ends: Tensor = torch.stack([said.start_logits, said.end_logits], dim=-1)
            return ends
        if "features" not in inputs:
            found: Tensor = network(**inputs).logits
            return found
        assert self.head is not None
        vectors = inputs["features"]
        # The head's own dropout stands before it, where it has one.
        dropped = network.dropout(vectors) if hasattr(network, "dropout") else vectors
        logits: Tensor = self.head(dropped)
        return logits

    @cached_property
    def head(self) -> Any:
        """The one linear layer that makes labels of a vector, or None where the head is more than that."""
        network = self.network(self.trained)
        torch, _ = libraries()
        parts = [
            part for part in network.children() if part is not network.base_model and list(part.parameters())
        ]
        simple = (
            len(parts) == 1 and isinstance(parts[0], torch.nn.Linear) and _reads_vectors(network, parts[0])
        )
        return parts[0] if simple else None

    def features(
        self, examples: Sequence[Example], progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Features:
        """What the encoder hands to the head for each example, in batches that depend on the whole list alone.

        Nothing where the head is more than one layer: there is nothing smaller than the whole network to compute.
        """
        table = Features()
        distinct = list(dict.fromkeys(examples)) if self.head is not None else []
        for batch in batches(distinct, self.lengths(distinct), BATCH_TOKENS):
            part = [distinct[at] for at in batch]
            table.add(part, self._head_input(part))
            progress(len(table), len(distinct))
        return table

    def _head_input(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        torch, _ = libraries()
        caught: list[Tensor] = []
        hook = self.head.register_forward_pre_hook(lambda part, given: caught.append(given[0]))
        try:
            with torch.inference_mode(), self._computing():
                self.network(self.trained)(**self.encode(examples))
        finally:
            hook.remove()
        vectors: NDArray[np.float32] = caught[0].float().cpu().numpy()
        return vectors

    def frozen_features(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """Their features, from the table where they are in it; what is missing is computed and put there."""
        if self.frozen is None:
            self.frozen = Features()
        missing = self.frozen.missing(examples)
        if missing:
            self.frozen.add(missing, self.features(missing).rows(missing))
        return self.frozen.rows(examples)

    def _tokens(self, examples: Sequence[Example]) -> list[likelihood.Tokens]:
        """The tokens of whole texts."""
        longest = max(self.lengths(examples), default=0)
        if longest > self.longest:
            raise ModelError(
                f"{self!r}: a text of {longest:,} tokens; the model takes {self.longest:,}",
                why="the likelihood of a text that was cut is not that of the text",
                fix="shorter texts, or a model that takes longer ones",
            )
        return likelihood.tokens_of(self.tokenizer, inputs_of(examples))


def _reads_vectors(network: Any, head: Any) -> bool:
    """Whether a head is given one vector per text, not one per token."""
    torch, _ = libraries()
    widths: list[int] = []
    hook = head.register_forward_pre_hook(lambda part, given: widths.append(given[0].ndim))
    try:
        with torch.inference_mode():
            network(input_ids=torch.zeros(1, 2, dtype=torch.long, device=network.device))
    finally:
        hook.remove()
    return widths == [2]


def inputs_of(examples: Sequence[Example]) -> list[Any]:
    """Examples as a tokenizer takes them: texts, and pairs of texts."""
    wide = next((example for example in examples if not 1 <= len(example) <= 2), None)
    if wide is not None:
        raise ModelError(
            f"an example of {len(wide)} texts: {repr(wide)[:200]}",
            why="a model takes one text or two",
            fix="put the texts of an example together into one or two",
        )
    return [example[0] if len(example) == 1 else example for example in examples]

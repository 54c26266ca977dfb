"""Transformers models: labels, answer spans, token likelihoods, vectors, mask fillers.

    hf:DIR_OR_ID?labels=negative,positive&max_length=256

The request decides which head is loaded; a checkpoint without that head is an error (`checkpoint.py`). Texts longer
than the model's limit are truncated at the end, the longer text of a pair first, and counted. `?reads=last` shows
a classifier only the last text of each example.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Answers, Example
from . import ModelSpec, likelihood, spans
from .batching import BATCH_TOKENS, batches
from .checkpoint import DTYPES, HEADS, Checkpoint, first_line, libraries
from .forward import Converted, gpu_tokens, tokenize
from .interface import Blank, Fillers, TokenScores
from .labels import Spellings, check_order, parse_labels, suite_names
from .loaded import Features, LoadedModel, tokenizer_inputs
from .prompted.prompt import LOCAL_OPTIONS as PROMPTED
from .validate import arranged

if TYPE_CHECKING:
    from torch import Tensor

    from .prompted.local import PromptedModel

CHOICES = {
    "dtype": DTYPES,
    "allow_pickle": ("no", "yes"),
    "task": tuple(HEADS),
    "engine": ("eager", "openvino"),
    "reads": ("all", "last"),
}
"""Options with a fixed set of values; the first is the default."""
PLAIN = (*CHOICES, "labels", "revision", "max_length", "device")
OPTIONS = (*PLAIN, *PROMPTED)
UNPROMPTED = ("labels", "engine", "task", "reads")
"""Options that have no meaning with a prompt."""
MOST_PARALLEL = 16
"""The most batches at a time, one core each; Python itself limits the gain."""


def load(spec: ModelSpec) -> "HFModel | LastText | PromptedModel":
    """Return the model that a spec names, prompted if the spec has a prompt."""
    prompted = "prompt" in spec.options
    stray = next((name for name in (UNPROMPTED if prompted else PROMPTED) if name in spec.options), None)
    if stray:
        raise ModelError(
            f"hf:{spec.name}: {stray} {'with' if prompted else 'without'} prompt",
            why="the prompt defines labels and task"
            if prompted
            else f"{stray} is an option of prompted models",
            fix=f"remove {stray}" + ("" if prompted else ", or add prompt=FILE"),
        )
    if not prompted:
        return load_unprompted(spec)
    from .prompted.local import PromptedModel

    return PromptedModel(_load_checkpoint(spec), spec)


def load_unprompted(spec: ModelSpec) -> "HFModel | LastText":
    """Return the model that a spec names, without a prompt."""
    model = _load_checkpoint(spec)
    return LastText(model) if spec.options.get("reads") == "last" else model


def _load_checkpoint(spec: ModelSpec) -> "HFModel":
    """Check a spec's options and return its model; the first request reads the weights."""
    options = spec.options
    if "labels" in options:
        parse_labels(options["labels"], spec.who)
    for option, known in CHOICES.items():
        spec.one_of(option, known, known[0])
    if "max_length" in options:
        spec.whole("max_length", 256, 8)
    checkpoint = Checkpoint(
        spec.name,
        options.get("revision"),
        options.get("dtype", "float32"),
        options.get("allow_pickle") == "yes",
    )
    return HFModel(checkpoint, options)


class HFModel(LoadedModel):
    """A model of Transformers: it predicts labels, spans, likelihoods and vectors, and can be trained."""

    def __init__(self, checkpoint: Checkpoint, options: Mapping[str, str] | None = None) -> None:
        super().__init__(checkpoint, options)
        self.trained = "classify"
        """The network that is trained, saved and loaded."""
        self.computes_in = "float32"
        """The precision of the forward pass during and after training; the weights stay in float32."""
        self.columns: list[int] | None = None
        """The order of the logits in training; None for the model's own."""
        self.frozen: Features | None = None
        """The features of a frozen encoder: `classify` then computes only the head."""

    # Labels and spans

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Return probabilities of the suite's labels for each example, a text or a pair of texts."""
        theirs = suite_names(self.own_labels, labels, repr(self))
        torch, _ = libraries()
        with torch.inference_mode(), self._precision():
            if self.frozen is None or self.head is None:
                logits = self._engine_network(**self.encode(examples)).logits
            else:
                vectors = torch.from_numpy(self.frozen_features(examples)).to(self.device)
                logits = self._trained_logits({"features": vectors})
        probabilities: NDArray[np.float64] = logits.double().softmax(dim=-1).cpu().numpy()
        return arranged(self._written_labels, theirs, probabilities, labels)

    @cached_property
    def _engine_network(self) -> Any:
        """The classifier as the engine runs it."""
        network = self.network("classify")
        if self.options.get("engine", "eager") == "eager":
            return network
        if self.device != "cpu":
            raise ModelError(
                f"{self!r}: engine=openvino runs on the CPU, not on {self.device}",
                fix="device=cpu, or remove engine",
            )
        # Texts of different lengths, so that the conversion includes padding.
        examples = self.encode([("a",), ("a text that is longer than the other one",)])
        return Converted(network, examples, self.parallel_batches)

    @cached_property
    def batch_tokens(self) -> int:
        """The most tokens in a batch: limited by a GPU's memory; the fastest number on a CPU."""
        widest = int(self.checkpoint.config.get("intermediate_size") or 1024)
        return gpu_tokens(self.device, widest) if self.device.startswith("cuda") else BATCH_TOKENS

    @cached_property
    def parallel_batches(self) -> int:
        """The number of batches to compute at a time, one core each.

        Cached by the first caller: inside a batch torch has one thread only.
        """
        torch, _ = libraries()
        alone = self.device != "cpu" or self.frozen is not None
        return 1 if alone else min(MOST_PARALLEL, int(torch.get_num_threads()))

    def eager(self) -> "HFModel | None":
        """Return the same model without an engine, for comparison; None if it has none."""
        if self.options.get("engine", "eager") == "eager":
            return None
        twin = HFModel(self.checkpoint, {**self.options, "engine": "eager"})
        twin._networks = self._networks
        return twin

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The model's labels in its own order, with the names from `?labels=` if set."""
        written = self._written_labels
        if "labels" not in self.options:
            return written
        named = parse_labels(self.options["labels"], f"hf:{self.checkpoint.name}")
        if not named.order:
            known = Spellings(named.names)
            return tuple(named.names.get(known.get(name) or "", name) for name in written)
        if len(named.order) != len(written):
            raise ModelError(
                f"{self!r}: labels= has {len(named.order)} names, the model {len(written)} labels",
                why=f"its labels are {', '.join(written)}",
                fix="labels= with the suite's names, in that order",
            )
        check_order(written, named.order, repr(self))
        return named.order

    @property
    def _written_labels(self) -> tuple[str, ...]:
        config = self.network("classify").config
        if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
            raise ModelError(
                f"{self!r} is not a single-label classifier",
                why="it has one output"
                if config.num_labels < 2
                else f"its problem_type is {config.problem_type}",
                fix="wrap it in a function that returns probabilities: python:module:name",
            )
        return tuple(str(config.id2label.get(code, code)) for code in range(config.num_labels))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Return the best span of the context for each (context, question), or an empty text."""
        with self._precision():
            return spans.extract(self.network("extract"), self.tokenizer, examples, self._window)

    @property
    def _window(self) -> int:
        return min(int(self.options.get("max_length", spans.WINDOW)), self.longest)

    def windows(self, examples: Sequence[Example]) -> list[list[spans.Window]]:
        """Return each (context, question) as one or more windows of tokens."""
        return [
            spans.context_windows(self.tokenizer, row, context, question, self._window)
            for row, (context, question) in enumerate(examples)
        ]

    # Likelihoods and vectors

    def log_likelihood(
        self, examples: Sequence[Example], only: Sequence[Sequence[int]] | None = None
    ) -> list[TokenScores]:
        """Return the natural log-probability of each token given those before it or, if masked, all others.

        `only` lists the positions to score in each example.
        """
        self.refuse_truncation(examples, "a truncated text has another likelihood")
        kind, tokens = self.language_model, tokenize(self.tokenizer, tokenizer_inputs(examples))
        score = likelihood.causal if kind == "causal" else likelihood.masked
        return score(self.network(kind), self.tokenizer, tokens, only)

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """Return the words among the k most probable items of each blank, and the hidden word's probability."""
        return likelihood.fill_words(self.network("masked"), self._vocabulary, self.longest, blanks, k)

    def next_words(self, texts: Sequence[str], k: int) -> list[Fillers]:
        """Return the words among the k most probable next items of each text; for causal models."""
        return likelihood.next_words(self.network("causal"), self._vocabulary, texts, k)

    @cached_property
    def has_next_sentence_head(self) -> bool:
        """Whether the checkpoint has a trained next-sentence head, which is loaded to find out."""
        try:
            return self.trained != "masked" and bool(self.network("next"))
        except ModelError:
            return False

    @cached_property
    def _vocabulary(self) -> "likelihood.Vocabulary":
        return likelihood.Vocabulary(self.tokenizer)

    def embed(self, examples: Sequence[Example], pooling: str = "mean") -> NDArray[np.float64]:
        """Return one vector per example from the last layer: the first token's state (`cls`) or the mean."""
        torch, _ = libraries()
        encoded = self.encode(examples)
        with torch.inference_mode():
            states = self.network("embed")(**encoded, output_hidden_states=True).hidden_states[-1].double()
        mask = encoded["attention_mask"].double()[:, :, None]
        vectors = states[:, 0] if pooling == "cls" else (states * mask).sum(dim=1) / mask.sum(dim=1)
        rows: NDArray[np.float64] = vectors.cpu().numpy()
        return rows

    # Training

    def with_fresh_head(self, labels: Sequence[str], seed: int, *, linear: bool = False) -> "HFModel":
        """Return the encoder with a new classifier for these labels, drawn from the seed.

        `linear`: one linear layer on the first token's state, whatever the architecture (`fresh.py`).
        """
        model = self._for_training("labels")
        network = model.checkpoint.with_fresh_head(labels, seed)
        if linear:
            from .fresh import make_linear

            make_linear(network, repr(self))
        model.adopt("classify", network)
        return model

    def with_fresh_span_head(self, seed: int) -> "HFModel":
        """Return the encoder with a new span head, drawn from the seed."""
        model = self._for_training()
        model.adopt("extract", model.checkpoint.with_fresh_head((), seed, "extract"))
        return model

    def with_own_span_head(self) -> "HFModel":
        """Return the same span extractor, ready for training."""
        model = self._for_training()
        model.adopt("extract", model.checkpoint.network("extract"))
        return model

    def with_own_head(self, labels: Sequence[str]) -> "HFModel":
        """Return the same classifier, ready for training, with logits in the order of these labels."""
        model = self._for_training()
        theirs = suite_names(model.own_labels, labels, repr(self))
        model.columns = [theirs.index(name) for name in labels]
        return model

    def _for_training(self, *dropped: str) -> "HFModel":
        """Return the same model with weights in float32, without some options."""
        if self.checkpoint.dtype == "float16":
            raise ModelError(
                f"{self!r}: training in float16",
                why="its gradients underflow",
                fix="dtype=bfloat16, or remove dtype",
            )
        options = {name: value for name, value in self.options.items() if name not in dropped}
        checkpoint = self.checkpoint
        if checkpoint.dtype != "float32":
            checkpoint = Checkpoint(checkpoint.name, checkpoint.revision, "float32", checkpoint.pickles)
        model = HFModel(checkpoint, options)
        model.computes_in = self.checkpoint.dtype
        return model

    def _precision(self) -> AbstractContextManager[Any]:
        if self.computes_in == "float32":
            return nullcontext()
        torch, _ = libraries()
        context: AbstractContextManager[Any] = torch.autocast(
            torch.device(self.device).type, getattr(torch, self.computes_in)
        )
        return context

    def adopt(self, asked: str, network: Any) -> None:
        """Use this network for a request, and train it."""
        self._add(asked, network)
        self.trained, self.frozen = asked, None
        self.__dict__.pop("head", None)
        self.__dict__.pop("_engine_network", None)

    def save_weights(self, path: Path) -> None:
        from safetensors.torch import save_file

        network = self.network(self.trained)
        tensors = dict([*network.named_parameters(), *network.named_buffers()])  # tied weights once
        kept = {name: tensors[name].detach().contiguous() for name in network.state_dict() if name in tensors}
        save_file(kept, path, {"format": "pt"})

    def load_weights(self, path: Path) -> None:
        from safetensors import SafetensorError
        from safetensors.torch import load_model

        self.frozen = None
        try:
            load_model(self.network(self.trained), str(path), device=self.device)
        except (OSError, SafetensorError, RuntimeError) as problem:
            raise ModelError(
                f"{path}: not weights of {self!r}",
                why=first_line(problem),
                fix="remove the file; shoal writes it again",
            ) from None

    def forward(self, inputs: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the logits of the trained network; from encoder features, only the head is computed."""
        logits = self._trained_logits(inputs)
        if self.columns is not None:
            torch, _ = libraries()
            # Indices in a list would have to be copied to a GPU.
            logits = torch.stack([logits[:, column] for column in self.columns], dim=1)
        return logits

    def _trained_logits(self, inputs: Mapping[str, "Tensor"]) -> "Tensor":
        network = self.network(self.trained)
        with self._precision():
            if "features" in inputs:
                # The architecture's dropout before the head, if it has one.
                vectors = getattr(network, "dropout", lambda states: states)(inputs["features"])
                logits = self.head(vectors)
            elif self.trained == "extract":
                torch, _ = libraries()
                output = network(**inputs)
                logits = torch.stack([output.start_logits, output.end_logits], dim=-1)
            else:
                logits = network(**inputs).logits
            single: Tensor = logits.float()
            return single

    @cached_property
    def head(self) -> Any:
        """The linear layer that maps a vector to labels, or None if the head is more than that."""
        network = self.network(self.trained)
        torch, _ = libraries()
        parts = [
            part for part in network.children() if part is not network.base_model and list(part.parameters())
        ]
        if len(parts) != 1 or not isinstance(parts[0], torch.nn.Linear):
            return None
        tokens = {"input_ids": torch.zeros(1, 2, dtype=torch.long, device=network.device)}
        takes_vectors = [read.ndim for read in _inputs_of(parts[0], network, tokens)] == [2]
        return parts[0] if takes_vectors else None  # else one vector per token

    def features(
        self, examples: Sequence[Example], progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Features:
        """Return the encoder's output for each example, in batches that depend only on the list.

        Empty if the head is more than one layer.
        """
        table = Features()
        distinct = list(dict.fromkeys(examples)) if self.head is not None else []
        for batch in batches(distinct, self.lengths(distinct), self.batch_tokens):
            part = [distinct[at] for at in batch]
            with self._precision():
                inputs = _inputs_of(self.head, self.network(self.trained), self.encode(part))
            table.add(part, inputs[0].float().cpu().numpy())
            progress(len(table), len(distinct))
        return table

    def frozen_features(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """Return cached features; missing ones are computed and cached."""
        if self.frozen is None:
            self.frozen = Features()
        missing = self.frozen.missing(examples)
        if missing:
            self.frozen.add(missing, self.features(missing).rows(missing))
        return self.frozen.rows(examples)


class LastText:
    """A classifier that reads only the last text of an example: the hypothesis-only baseline."""

    def __init__(self, model: HFModel) -> None:
        self.model = model

    def __repr__(self) -> str:
        return repr(self.model)

    def fingerprint(self) -> dict[str, Any]:
        return {**self.model.fingerprint(), "reads": "last"}

    @property
    def longest(self) -> int:
        return self.model.longest

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        return self.model.lengths([example[-1:] for example in examples])

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        return self.model.classify([example[-1:] for example in examples], labels)


def _inputs_of(part: Any, network: Any, inputs: Mapping[str, Any]) -> "list[Tensor]":
    """Return what a part of a network reads during a forward pass."""
    torch, _ = libraries()
    read: list[Tensor] = []
    hook = part.register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    try:
        with torch.inference_mode():
            network(**inputs)
    finally:
        hook.remove()
    return read

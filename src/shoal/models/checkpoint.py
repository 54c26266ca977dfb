"""A Transformers checkpoint: found, checked, digested, loaded.

Refused, each with what to do instead:

    a head that the checkpoint does not hold   Transformers would invent it, and its answers would be random
    weights that are pickles                   unless `?allow_pickle=yes`
    code that comes with the model             never run
    a tokenizer that is not the weights' own   its numbers would mean other words
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, ModelError, some

WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "*.gguf")
PICKLES = ("*.bin", "*.bin.index.json", "*.pt", "*.pth", "*.ckpt")
TOKENIZER = (
    "tokenizer*.json",
    "vocab.*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "*.model",
)
HEADS = {
    "classify": ("AutoModelForSequenceClassification", "classifier"),
    "extract": ("AutoModelForQuestionAnswering", "span extractor"),
    "masked": ("AutoModelForMaskedLM", "masked language model head"),
    "causal": ("AutoModelForCausalLM", "causal language model head"),
    "next": ("AutoModelForNextSentencePrediction", "next-sentence head"),
    "embed": ("AutoModel", "encoder"),
}
"""What is asked, to the Transformers class that answers it and the head it needs."""
DTYPES = ("float32", "float16", "bfloat16")


class Checkpoint:
    """Weights, tokenizer and configuration in one folder; nothing heavy is imported before it is needed."""

    def __init__(
        self, name: str, revision: str | None = None, dtype: str = "float32", pickles: bool = False
    ) -> None:
        self.name, self.revision, self.dtype, self.pickles = name, revision, dtype, pickles

    @cached_property
    def place(self) -> Path:
        """The folder, or the .gguf file."""
        path = Path(self.name).expanduser()
        if path.exists():
            return path
        if path.suffix == ".gguf" or not re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", self.name):
            raise ModelError(
                f"hf:{self.name}: no such folder",
                why=f"looked for {path.absolute()}",
                fix="the folder that holds config.json and model.safetensors",
            )
        return self._from_hub()

    @cached_property
    def folder(self) -> Path:
        """The folder, checked: a configuration, weights that can be read without running anything."""
        if self.place.suffix == ".gguf":
            return self.place.parent
        if not (self.place / "config.json").is_file():
            adapter = (self.place / "adapter_config.json").is_file()
            raise ModelError(
                f"hf:{self.name}: no config.json in that folder",
                why="it holds an adapter, not a whole model" if adapter else "",
                fix="merge the adapter into its base model and save that"
                if adapter
                else "the folder that save_pretrained wrote",
            )
        if not self._files(WEIGHTS):
            self._refuse_weights()
        return self.place

    @property
    def gguf(self) -> str | None:
        """The name of the .gguf file, where the weights are one."""
        return self.place.name if self.place.suffix == ".gguf" else None

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration as it is written; empty for a .gguf file, which holds its own."""
        if self.gguf:
            return {}
        try:
            found = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        except ValueError as problem:
            raise ModelError(f"hf:{self.name}: config.json is not JSON", why=str(problem)) from None
        return found if isinstance(found, dict) else {}

    def fingerprint(self) -> dict[str, str]:
        """What the answers depend on: the content of weights, tokenizer and configuration."""
        if self.gguf:
            return {"weights": _digest([self.place]), "dtype": self.dtype}
        weights = self._files(WEIGHTS) or self._files(PICKLES)
        return {
            "weights": _digest(weights),
            "tokenizer": _digest(self._files(TOKENIZER)),
            "config": _digest([self.folder / "config.json"]),
            "dtype": self.dtype,
        }

    def network(self, asked: str) -> Any:
        """The model with the head for what is asked, every weight of it from the checkpoint."""
        network, report = self._load(asked)
        self._refuse_random(report, HEADS[asked][1], network.config)
        return network.eval()

    def with_fresh_head(self, labels: Sequence[str], seed: int) -> Any:
        """A classifier for these labels on the checkpoint's encoder, its head drawn from the seed.

        A pooler that the checkpoint does not hold is drawn too. Every other weight must be there.
        """
        torch, _ = libraries()
        names = {
            "id2label": dict(enumerate(labels)),
            "label2id": {name: at for at, name in enumerate(labels)},
        }
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            network, report = self._load("classify", ignore_mismatched_sizes=True, **names)
            encoder = f"{network.base_model_prefix}."
            lost = _lost(report)
            missing = [key for key in lost if key.startswith(encoder) and "pooler." not in key]
            if missing:
                raise ModelError(
                    f"hf:{self.name} is not a whole encoder",
                    why=f"{some(missing, 3)} are not in the checkpoint",
                    fix="the folder that save_pretrained wrote",
                )
            torch.manual_seed(seed)  # whatever loading drew
            for name, part in network.named_modules():
                fresh = {key for key, _ in part.named_parameters(prefix=name, recurse=False)}
                if fresh and (not f"{name}.".startswith(encoder) or fresh & set(lost)):
                    for weight in part.parameters(recurse=False):
                        weight._is_hf_initialized = False  # else Transformers takes it for done
                    network._init_weights(part)
        network.config.problem_type = None
        return network.eval()

    def _load(self, asked: str, **more: Any) -> tuple[Any, dict[str, Any]]:
        """The model, and what Transformers has to say about its weights."""
        torch, transformers = libraries()
        kind, head = HEADS[asked]
        options = {"gguf_file": self.gguf} if self.gguf else {"use_safetensors": bool(self._files(WEIGHTS))}
        with _quiet(transformers), self._explained(f"cannot be loaded as a {head}"):
            network, report = getattr(transformers, kind).from_pretrained(
                self.folder,
                output_loading_info=True,
                trust_remote_code=False,
                local_files_only=True,
                # By itself Transformers takes whatever the file was saved in.
                dtype=getattr(torch, self.dtype),
                **options,
                **more,
            )
        return network, report

    def tokenizer(self) -> Any:
        """The tokenizer, which must belong to the weights."""
        _, transformers = libraries()
        options = {"gguf_file": self.gguf} if self.gguf else {}
        with _quiet(transformers), self._explained("has no tokenizer that can be loaded"):
            found = transformers.AutoTokenizer.from_pretrained(
                self.folder, trust_remote_code=False, local_files_only=True, **options
            )
        if len(found) <= len(found.all_special_ids):
            raise ModelError(
                f"hf:{self.name}: its tokenizer knows no words",
                why="every text would be the same row of unknown words",
                fix="save the tokenizer again with save_pretrained, so that there is a tokenizer.json",
            )
        return found

    def _from_hub(self) -> Path:
        hub = _module("huggingface_hub")
        patterns = ["*.json", "*.txt", "*.model", *WEIGHTS, *(PICKLES if self.pickles else ())]
        try:
            found = hub.snapshot_download(
                self.name,
                revision=self.revision,
                allow_patterns=patterns,
                local_files_only=hub.constants.HF_HUB_OFFLINE,
            )
        except (OSError, ValueError, hub.errors.HfHubHTTPError) as problem:
            offline = hub.constants.HF_HUB_OFFLINE
            raise ModelError(
                f"hf:{self.name}: neither a folder here nor to be had from the hub",
                why="HF_HUB_OFFLINE is set, and it is not among what was downloaded earlier"
                if offline
                else str(problem).strip().splitlines()[0],
                fix="check the spelling; without a network, give the folder of a model that is on this machine",
            ) from None
        return Path(found)

    def _files(self, patterns: Iterable[str]) -> list[Path]:
        return sorted({path for pattern in patterns for path in self.place.glob(pattern)})

    def _refuse_weights(self) -> None:
        pickles = self._files(PICKLES)
        if not pickles:
            raise ModelError(
                f"hf:{self.name}: no weights in that folder", fix="a folder with model.safetensors"
            )
        if not self.pickles:
            raise ModelError(
                f"hf:{self.name}: its weights are pickles ({some([path.name for path in pickles], 2)})",
                why="a pickle can run code when it is read",
                fix="save it again with save_pretrained, which writes safetensors; if you trust whoever made the "
                f"file: hf:{self.name}?allow_pickle=yes",
            )

    def _refuse_random(self, report: dict[str, Any], head: str, config: Any) -> None:
        # An encoder's pooler is used by none of the pooled vectors that can be asked for.
        lost = [key for key in _lost(report) if head != "encoder" or "pooler." not in key]
        if lost:
            labels = f" for {config.num_labels} labels" if head == "classifier" else ""
            raise ModelError(
                f"hf:{self.name} has no trained {head}{labels}",
                why=f"it would answer with random weights: {some(lost, 3)} are not in the checkpoint",
                fix="a fine-tuned checkpoint, or add train.on to the plan"
                if head == "classifier"
                else f"a checkpoint that was saved with its {head}",
            )

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, RuntimeError, KeyError, ImportError, AttributeError) as problem:
            foreign = "trust_remote_code" in str(problem)
            raise ModelError(
                f"hf:{self.name} {what}",
                why="it brings code of its own, which shoal never runs" if foreign else first_line(problem),
                fix="wrap it in a function of yours: python:module:name" if foreign else "",
            ) from None


def libraries() -> tuple[Any, Any]:
    """torch and transformers, which come in here and nowhere else."""
    return _module("torch"), _module("transformers")


def _module(name: str) -> Any:
    if find_spec(name) is None:
        raise MissingExtra(name, extra="hf", needed_for="hf: models")
    return __import__(name)


def first_line(problem: BaseException) -> str:
    """What went wrong, without the essay that follows."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _lost(report: dict[str, Any]) -> list[str]:
    """Weights that are not in the checkpoint, or not in this shape: missing ones first."""
    mismatched = sorted(str(key[0] if isinstance(key, tuple) else key) for key in report["mismatched_keys"])
    return sorted(report["missing_keys"]) + mismatched


def _digest(paths: Iterable[Path]) -> str:
    """One short hash of files: their names and their content."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            whole.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No bar and no report from Transformers: what matters of it is our error or nothing."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()

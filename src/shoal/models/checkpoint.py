"""Find, check, digest and load a Transformers checkpoint.

These are errors:

    a head that is not in the checkpoint    Transformers would initialise it randomly
    weights in pickles                      unless `?allow_pickle=yes`; also if an index of safetensors names them
    code in the checkpoint (`auto_map`)     shoal never runs it, nor replaces it by another class
    an adapter next to the weights          Transformers uses it or not, depending on installed packages
    a tokenizer of another model            its ids would mean other words
    incomplete downloads                    Git LFS pointers, truncated weights (safetensors checks them)
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.errors import ModelError, ShoalError, import_library, some
from .validate import shortened

ENTRIES = ("model.safetensors", "model.safetensors.index.json")
"""Files at which Transformers starts to read weights, in this order; PICKLED_ENTRIES come after them."""
PICKLED_ENTRIES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "*.gguf")
PICKLES = ("*.bin", "*.bin.index.json", "*.pt", "*.pth", "*.ckpt")
TOKENIZER = (
    *("tokenizer*.json", "vocab.*", "merges.txt", "special_tokens_map.json", "added_tokens.json"),
    "*.model",
)
LFS = b"version https://git-lfs"
HEADS = {
    "classify": ("AutoModelForSequenceClassification", "classifier"),
    "extract": ("AutoModelForQuestionAnswering", "span extractor"),
    "masked": ("AutoModelForMaskedLM", "masked language model head"),
    "causal": ("AutoModelForCausalLM", "causal language model head"),
    "seq2seq": ("AutoModelForSeq2SeqLM", "sequence-to-sequence head"),
    "next": ("AutoModelForNextSentencePrediction", "next-sentence head"),
    "embed": ("AutoModel", "encoder"),
}
"""Request to the Transformers class and the name of its head."""
EXAMPLES = {"masked": ", such as hf:bert-base-uncased; or tiny:masked with --set pretrain.text=example"}
NEEDED_FOR = "hf: models"
DTYPES = ("float32", "float16", "bfloat16")


class Checkpoint:
    """Weights, tokenizer and configuration of a folder or .gguf file; imports torch only when needed."""

    def __init__(
        self, name: str, revision: str | None = None, dtype: str = "float32", pickles: bool = False
    ) -> None:
        self.name, self.revision, self.dtype, self.pickles = name, revision, dtype, pickles

    @cached_property
    def place(self) -> Path:
        """The folder, or the .gguf file."""
        path = Path(self.name).expanduser()
        if path.is_file() and path.suffix != ".gguf":
            raise ModelError(
                f"hf:{self.name} is a file",
                why="a Transformers model is a folder with a config.json",
                fix="predictions:FILE for a file of answers; for a pickled model, model = joblib.load(FILE) in "
                "my_module.py, named as python:my_module:model",
            )
        if path.exists():
            return path
        if path.suffix == ".gguf" or not re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", self.name):
            raise ModelError(
                f"hf:{self.name}: no such folder",
                why=f"looked for {path.absolute()}",
                fix="the folder with config.json and model.safetensors",
            )
        return self._from_hub()

    @cached_property
    def folder(self) -> Path:
        """The folder after all checks that need no loading."""
        if self.gguf:
            return self.place.parent
        if (self.place / "adapter_config.json").is_file():
            raise ModelError(
                f"hf:{self.name}: the folder has an adapter",
                why="whether Transformers uses it depends on installed packages",
                fix="merge it into its base model and save that, or remove adapter_config.json",
            )
        self._json("config.json")
        for path in (*self._files(TOKENIZER), *self.weights):  # pickles are refused in weights
            with path.open("rb") as stream:
                if stream.read(len(LFS)) == LFS:
                    raise ModelError(
                        f"hf:{self.name}: {path.name} is a Git LFS pointer",
                        why="a vocabulary of its three lines would be read without an error",
                        fix=f"git lfs pull, in {path.parent}",
                    )
        for name in ("config.json", "tokenizer_config.json"):
            # Without its code, it is another model, even if Transformers knows its type.
            if (self.place / name).is_file() and self._json(name).get("auto_map"):
                raise ModelError(
                    f"hf:{self.name}: auto_map in {name}",
                    why="it comes with code, which shoal never runs",
                    fix="wrap it in a function: python:module:name",
                )
        return self.place

    @property
    def gguf(self) -> str | None:
        """The name of the .gguf file, or None."""
        return self.place.name if self.place.suffix == ".gguf" else None

    @cached_property
    def config(self) -> dict[str, Any]:
        """The content of config.json; empty for a .gguf file."""
        return {} if self.gguf else self._json("config.json")

    @cached_property
    def weights(self) -> list[Path]:
        """All weight files and their index; pickles only if allowed."""
        if self.gguf:
            return [self.place]
        entry = self._entry()
        named = [entry]
        if entry.name.endswith(".index.json"):
            places = self._json(str(entry.relative_to(self.place))).get("weight_map", {})
            named = [self._inside(name, entry.name) for name in dict.fromkeys(map(str, places.values()))]
        pickles = [path for path in named if not path.name.endswith(".safetensors")]
        if pickles and not self.pickles:
            raise ModelError(
                f"hf:{self.name}: its weights are pickles ({some([path.name for path in pickles], 2)})",
                why="reading a pickle can run code",
                fix="save it with save_pretrained, which writes safetensors; or, if you trust its source, "
                f"hf:{self.name}?allow_pickle=yes",
            )
        return sorted({entry, *named})

    def fingerprint(self) -> dict[str, str]:
        """Return digests of weights, tokenizer and configuration."""
        if self.gguf:
            return {"weights": _digest(self.weights), "dtype": self.dtype}
        with self._explained("cannot be read"):
            folder = self.folder
            return {
                "weights": _digest(self.weights),
                "tokenizer": _digest(self._files(TOKENIZER)),
                "config": _digest([folder / "config.json"]),
                "dtype": self.dtype,
            }

    @property
    def has_bos(self) -> bool:
        """Whether the tokenizer's files name a BOS token; False for a .gguf file, which is not read for it."""
        if self.gguf:
            return False
        names = ("tokenizer_config.json", "special_tokens_map.json")
        return any(self._json(name).get("bos_token") for name in names if (self.place / name).is_file())

    def network(self, asked: str) -> Any:
        """Return the network with the head for a request; every weight comes from the checkpoint."""
        network, report = self._load(asked)
        head, labels = HEADS[asked][1], network.config.num_labels
        # No representation uses an encoder's pooler.
        lost = [key for key in _lost(report) if head != "encoder" or "pooler." not in key]
        if lost:
            is_classifier = head == "classifier"
            raise ModelError(
                f"hf:{self.name} has no trained {head}{f' for {labels} labels' if is_classifier else ''}",
                why=f"the checkpoint lacks its weights, which would be random: {some(lost, 1)}",
                fix="a fine-tuned checkpoint, or add train.on to the plan"
                if is_classifier
                else f"a checkpoint saved with its {head}" + EXAMPLES.get(asked, ""),
            )
        return network.eval()

    def with_fresh_head(self, labels: Sequence[str], seed: int, asked: str = "classify") -> Any:
        """Return the encoder with a new head drawn from the seed; a classifier gets these labels.

        A missing pooler is drawn too. Every other weight must be in the checkpoint.
        """
        torch, _ = libraries()
        label_names = {
            "id2label": dict(enumerate(labels)),
            "label2id": {name: code for code, name in enumerate(labels)},
        }
        names = label_names if labels else {"num_labels": 2}  # a start and an end
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            network, report = self._load(asked, ignore_mismatched_sizes=True, **names)
            encoder = f"{network.base_model_prefix}."
            lost = _lost(report)
            missing = [key for key in lost if key.startswith(encoder) and "pooler." not in key]
            if missing:
                raise ModelError(
                    f"hf:{self.name} is an incomplete encoder",
                    why=f"{some(missing, 3)} are not in the checkpoint",
                    fix="the folder that save_pretrained wrote",
                )
            torch.manual_seed(seed)  # loading may have drawn numbers
            for name, part in network.named_modules():
                fresh = {key for key, _ in part.named_parameters(prefix=name, recurse=False)}
                if fresh and (not f"{name}.".startswith(encoder) or fresh & set(lost)):
                    for weight in part.parameters(recurse=False):
                        weight._is_hf_initialized = False  # else Transformers skips it
                    network._init_weights(part)
        network.config.problem_type = None
        return network.eval()

    def _load(self, asked: str, **more: Any) -> tuple[Any, dict[str, Any]]:
        torch, transformers = libraries()
        kind, head = HEADS[asked]
        options = (
            {"gguf_file": self.gguf} if self.gguf else {"use_safetensors": self._entry().name in ENTRIES}
        )
        with _quiet(transformers), self._explained(f"cannot be loaded as a {head}"):
            network, report = getattr(transformers, kind).from_pretrained(
                self.folder,
                output_loading_info=True,
                trust_remote_code=False,
                local_files_only=True,
                # Transformers would use the dtype of the file.
                dtype=getattr(torch, self.dtype),
                **options,
                **more,
            )
        return network, report

    def tokenizer(self) -> Any:
        _, transformers = libraries()
        options = {"gguf_file": self.gguf} if self.gguf else {}
        with _quiet(transformers), self._explained("has no usable tokenizer"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                self.folder, trust_remote_code=False, local_files_only=True, **options
            )
        if len(tokenizer) <= len(tokenizer.all_special_ids):
            raise ModelError(
                f"hf:{self.name}: its tokenizer has no vocabulary",
                why="every text would become a row of unknown tokens",
                fix="save the tokenizer with save_pretrained, which writes tokenizer.json",
            )
        return tokenizer

    def _from_hub(self) -> Path:
        hub = import_library("huggingface_hub", NEEDED_FOR)
        patterns = ["*.json", "*.txt", "*.model", *WEIGHTS, *(PICKLES if self.pickles else ())]
        try:
            folder = hub.snapshot_download(
                self.name,
                revision=self.revision,
                allow_patterns=patterns,
                local_files_only=hub.constants.HF_HUB_OFFLINE,
            )
        except (OSError, ValueError, hub.errors.HfHubHTTPError) as problem:
            offline = hub.constants.HF_HUB_OFFLINE
            raise ModelError(
                f"hf:{self.name}: not a folder, and not available from the hub",
                why="HF_HUB_OFFLINE is set, and it is not in the cache"
                if offline
                else str(problem).strip().splitlines()[0].removeprefix("Got: "),
                fix="check the spelling; without a network, use a local folder",
            ) from None
        return Path(folder)

    def _files(self, patterns: Iterable[str]) -> list[Path]:
        return sorted({path for pattern in patterns for path in self.place.glob(pattern)})

    def _json(self, name: str) -> dict[str, Any]:
        """Read a JSON object from the folder."""
        if not (self.place / name).is_file():
            raise ModelError(
                f"hf:{self.name}: no {name} in that folder", fix="the folder that save_pretrained wrote"
            )
        try:
            content = json.loads((self.place / name).read_text(encoding="utf-8"))
            if not isinstance(content, dict):
                raise ValueError(f"a {type(content).__name__}, not an object")
        except (ValueError, RecursionError) as problem:
            raise ModelError(
                f"hf:{self.name}: {name} is not a JSON object",
                why=first_line(problem),
                fix="download it again; git lfs pull, if the folder is a clone",
            ) from None
        return content

    def _entry(self) -> Path:
        """Return the file at which Transformers starts to read weights."""
        written = self.config.get("transformers_weights")
        if written is not None:
            return self._inside(written, "config.json")
        for name in (*ENTRIES, *PICKLED_ENTRIES):
            if (self.place / name).is_file():
                return self.place / name
        others = [path.name for path in self._files((*WEIGHTS, *PICKLES))]
        gguf = next((name for name in others if name.endswith(".gguf")), "")
        raise ModelError(
            f"hf:{self.name}: no weights in that folder",
            why=f"Transformers does not look for {some(others, 3)}" if others else "",
            fix=f"hf:{self.place / gguf}" if gguf else "a folder with model.safetensors",
        )

    def _inside(self, name: Any, where: str) -> Path:
        """Return a file of the folder; any other is an error."""
        path = Path(str(name))
        if path.is_absolute() or ".." in path.parts or not (self.place / path).is_file():
            raise ModelError(
                f"hf:{self.name}: {where} names {repr(name)[:60]} as weights, which is not a file of the folder",
                fix="download the rest of the model, or save it again with save_pretrained",
            )
        return self.place / path

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Turn any exception of a library that reads the files into a ModelError about them."""
        try:
            yield
        except ShoalError:
            raise
        except Exception as problem:
            raise ModelError(
                f"hf:{self.name} {what}",
                why=f"{type(problem).__name__}: {first_line(problem)}",
                fix="the folder as save_pretrained wrote it, or a function: python:module:name",
            ) from None


def libraries() -> tuple[Any, Any]:
    """Import and return torch and transformers."""
    return import_library("torch", NEEDED_FOR), import_library("transformers", NEEDED_FOR)


def first_line(problem: BaseException) -> str:
    """Return the first line of an exception's message."""
    return shortened((str(problem).strip().splitlines() or [type(problem).__name__])[0])


def _lost(report: dict[str, Any]) -> list[str]:
    """Return weights that are missing or of another shape, missing ones first."""
    mismatched = sorted(str(key[0] if isinstance(key, tuple) else key) for key in report["mismatched_keys"])
    return sorted(report["missing_keys"]) + mismatched


def _digest(paths: Iterable[Path]) -> str:
    """Return a short hash of files, names and content."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            whole.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Silence Transformers' progress bars and reports."""
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

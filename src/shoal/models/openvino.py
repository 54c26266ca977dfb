"""Run a Transformers classifier with OpenVINO on the CPU; the only file that imports openvino.

The first request converts the network in a few seconds and caches it in the store. It computes in float32, one batch
per core, with the last layer narrowed (`forward.py`).
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from threading import local
from types import SimpleNamespace
from typing import Any

from ..core.errors import MissingExtra
from ..core.files import digest, replacing
from .checkpoint import libraries
from .forward import narrowed

try:
    import openvino
except ModuleNotFoundError as problem:
    if problem.name != "openvino":
        raise
    raise MissingExtra("openvino", extra="openvino", needed_for="engine=openvino") from None

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


class Converted:
    """A converted network with the call of the original: inputs to logits."""

    def __init__(
        self, network: Any, examples: Mapping[str, Any], cores: int, path: Path | None = None
    ) -> None:
        self._torch, _ = libraries()
        core = openvino.Core()
        model = core.read_model(path) if path is not None and _is_complete(path) else None
        if model is None:
            model = self._convert(network, examples)
            if path is not None:
                _save(model, path)
        options = {**EXACT, "NUM_STREAMS": cores, "INFERENCE_NUM_THREADS": cores}
        self._compiled = core.compile_model(model, "CPU", options)
        self._requests = local()  # one per thread

    @property
    def streams(self) -> int:
        """The number of batches it computes at a time."""
        return int(self._compiled.get_property("NUM_STREAMS"))

    def _convert(self, network: Any, examples: Mapping[str, Any]) -> Any:
        with warnings.catch_warnings(), self._torch.no_grad(), narrowed(network):
            warnings.simplefilter("ignore")  # from the tracer; the self-check compares the results
            return openvino.convert_model(network, example_input=dict(examples))

    def __call__(self, **inputs: Any) -> Any:
        if not hasattr(self._requests, "own"):
            self._requests.own = self._compiled.create_infer_request()
        answers = self._requests.own.infer({name: column.numpy() for name, column in inputs.items()})
        return SimpleNamespace(logits=self._torch.from_numpy(answers[0].copy()))


def _digest_path(path: Path) -> Path:
    return path.with_suffix(".digest")


def _is_complete(path: Path) -> bool:
    """Return whether the cached files are those that were written."""
    weights, seal = path.with_suffix(".bin"), _digest_path(path)
    if not all(part.is_file() for part in (path, weights, seal)):
        return False
    return seal.read_text(errors="replace") == digest(path) + digest(weights)


def _save(model: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, replacing(path.with_suffix(".bin")) as weights:
        name = temporary.with_name(f"{temporary.name}.xml")
        openvino.save_model(model, name, compress_to_fp16=False)
        name.replace(temporary)
        name.with_suffix(".bin").replace(weights)
    # Written last: if the digest exists and fits, both files are complete.
    _digest_path(path).write_text(digest(path) + digest(path.with_suffix(".bin")))

"""A Transformers classifier as OpenVINO runs it on the processor: the only file that imports openvino.

The network is converted when it is first asked, in a few seconds, and kept where there is a place for that. It computes
in float32 what leads to its answer (`masks.py`), one batch on one core, as many side by side as there are cores.
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
from .masks import narrowed

try:
    import openvino
except ModuleNotFoundError as problem:
    if problem.name != "openvino":
        raise
    raise MissingExtra("openvino", needed_for="engine=openvino") from None

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


class Converted:
    """A network that is called as the one it was made from: inputs to logits."""

    def __init__(
        self, network: Any, examples: Mapping[str, Any], cores: int, kept: Path | None = None
    ) -> None:
        self._torch, _ = libraries()
        core = openvino.Core()
        model = core.read_model(kept) if kept is not None and _is_whole(kept) else None
        if model is None:
            model = self._convert(network, examples)
            if kept is not None:
                _keep(model, kept)
        options = {**EXACT, "NUM_STREAMS": cores, "INFERENCE_NUM_THREADS": cores}
        self._compiled = core.compile_model(model, "CPU", options)
        self._requests = local()  # a thread asks with its own

    @property
    def streams(self) -> int:
        """How many batches it computes at a time."""
        return int(self._compiled.get_property("NUM_STREAMS"))

    def _convert(self, network: Any, examples: Mapping[str, Any]) -> Any:
        with warnings.catch_warnings(), self._torch.no_grad(), narrowed(network):
            warnings.simplefilter("ignore")  # the tracer's doubts: the self-check looks at what came of it
            return openvino.convert_model(network, example_input=dict(examples))

    def __call__(self, **inputs: Any) -> Any:
        if not hasattr(self._requests, "own"):
            self._requests.own = self._compiled.create_infer_request()
        answers = self._requests.own.infer({name: column.numpy() for name, column in inputs.items()})
        return SimpleNamespace(logits=self._torch.from_numpy(answers[0].copy()))


def _seal(kept: Path) -> Path:
    return kept.with_suffix(".digest")


def _is_whole(kept: Path) -> bool:
    """Whether what is kept is what was put there, weights too."""
    parts = kept, kept.with_suffix(".bin"), _seal(kept)
    return all(part.is_file() for part in parts) and parts[2].read_text(errors="replace") == digest(
        kept
    ) + digest(parts[1])


def _keep(model: Any, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as beside, replacing(kept.with_suffix(".bin")) as weights:
        name = beside.with_name(f"{beside.name}.xml")
        openvino.save_model(model, name, compress_to_fp16=False)
        name.replace(beside)
        name.with_suffix(".bin").replace(weights)
    _seal(kept).write_text(digest(kept) + digest(kept.with_suffix(".bin")))

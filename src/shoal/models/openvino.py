"""Run a Transformers classifier with OpenVINO on the CPU; the only file that imports openvino.

The first request converts the network in a few seconds. It computes in float32, one batch per core, with the last
layer narrowed (`forward.py`).
"""

import warnings
from collections.abc import Mapping
from threading import local
from types import SimpleNamespace
from typing import Any

from ..core.errors import MissingExtra
from .checkpoint import libraries
from .forward import narrowed

try:
    import openvino
except ModuleNotFoundError as problem:
    if problem.name != "openvino":
        raise
    raise MissingExtra("openvino", needed_for="engine=openvino") from None

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


class Converted:
    """A converted network with the call of the original: inputs to logits."""

    def __init__(self, network: Any, examples: Mapping[str, Any], cores: int) -> None:
        self._torch, _ = libraries()
        with warnings.catch_warnings(), self._torch.no_grad(), narrowed(network):
            warnings.simplefilter("ignore")  # from the tracer; the self-check compares the results
            model = openvino.convert_model(network, example_input=dict(examples))
        options = {**EXACT, "NUM_STREAMS": cores, "INFERENCE_NUM_THREADS": cores}
        self._compiled = openvino.Core().compile_model(model, "CPU", options)
        self._requests = local()  # one per thread

    def __call__(self, **inputs: Any) -> Any:
        if not hasattr(self._requests, "own"):
            self._requests.own = self._compiled.create_infer_request()
        answers = self._requests.own.infer({name: column.numpy() for name, column in inputs.items()})
        return SimpleNamespace(logits=self._torch.from_numpy(answers[0].copy()))

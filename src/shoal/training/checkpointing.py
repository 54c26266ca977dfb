"""Checkpoints within a long training, and the features of a frozen encoder, as files.

    stored       weights, optimiser moments, generator states, the state of the method, progress
    not stored   batches: those before the checkpoint are drawn again, which costs next to nothing

A resumed training ends with the same weights as an uninterrupted one. A checkpoint is one safetensors file with a
digest inside; a damaged file, or one of another version, is ignored.
"""

import hashlib
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from .. import __version__
from ..core.errors import DataError, StoreError
from ..core.files import replacing, sweep
from ..models.loaded import Features

SHARE = 0.05
"""Largest share of the time that checkpoints may take."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a training between two steps."""

    leg: int
    """The phase of the method."""
    step: int
    """Finished steps of the phase."""
    total: int
    """Steps of all phases."""
    updates: int
    """Updates of the schedule in this phase."""
    losses: list[float]
    """The loss of every step so far."""
    method: Mapping[str, Any]
    """The state of the method, except its tensors."""
    tensors: dict[str, dict[str, Tensor]]
    """Weights by name in `network`, moments by NUMBER/KEY in `optimiser`, states by device in `generator`, tensors of
    the method in `method`."""


@dataclass(slots=True)
class Keeper:
    """Stores checkpoints of a training at intervals."""

    path: Path
    every: float
    """Seconds between two checkpoints."""
    asked: frozenset[str] = frozenset()
    """Marks whose answers are stored: a training that resumes after one does not reach it again."""
    _last: float = field(default_factory=time.monotonic)
    _broken: bool = False

    def is_due(self) -> bool:
        """Return whether the next checkpoint is due."""
        return not self._broken and time.monotonic() - self._last >= self.every

    def keep(self, now: Callable[[], Moment]) -> str:
        """Replace the checkpoint; if that fails, return a message and store none from then on."""
        started = time.monotonic()
        try:
            moment = now()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            sweep(self.path.parent, self.path.name)
            with replacing(self.path) as beside:
                _write(moment, beside)
        except (OSError, StoreError, SafetensorError, RuntimeError, TypeError) as problem:
            self._broken = True
            return f"cannot store a checkpoint ({str(problem).splitlines()[0]}): training continues without"
        self._last = time.monotonic()
        self.every = max(self.every, (self._last - started) / SHARE)
        return ""

    def found(self) -> Moment | None:
        """Return the stored checkpoint, if it is intact and of this version."""
        return _read(self.path) if self.path.exists() else None


_keeper: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


@contextmanager
def kept_midway(keeper: Keeper | None) -> Iterator[None]:
    """Store checkpoints of the first training in this block, and resume it from the stored one."""
    token = _keeper.set(keeper)
    try:
        yield
    finally:
        _keeper.reset(token)


def the_keeper() -> Keeper | None:
    """Return the keeper for the training that starts here; a second training in the block gets none."""
    keeper = _keeper.get()
    _keeper.set(None)
    return keeper


# State to tensors and back


def state_of(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, dict[str, Tensor]]:
    """Return every weight and buffer, the moments of each weight, and the state of torch's generators."""
    moments = optimiser.state_dict()["state"].items()
    devices = range(torch.cuda.device_count())
    return {
        "network": _weights(network),
        "optimiser": {f"{number}/{key}": value for number, kept in moments for key, value in kept.items()},
        "generator": {
            "cpu": torch.get_rng_state(),
            **{str(number): torch.cuda.get_rng_state(number) for number in devices},
        },
    }


def restore(
    kept: Mapping[str, Mapping[str, Tensor]], network: nn.Module, optimiser: torch.optim.Optimizer
) -> None:
    """Restore weights, buffers and moments, and the generators of the devices that are present."""
    with torch.no_grad():
        for name, weight in _weights(network).items():
            weight.copy_(kept["network"][name])
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in kept["optimiser"].items():
        number, _, key = name.partition("/")
        state.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    torch.set_rng_state(kept["generator"]["cpu"])
    for device in range(torch.cuda.device_count()):
        if str(device) in kept["generator"]:
            torch.cuda.set_rng_state(kept["generator"][str(device)], device)


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return dict([*network.named_parameters(), *network.named_buffers()])


# On disk


def _write(moment: Moment, path: Path) -> None:
    tensors = {
        f"{part}/{name}": value.detach().cpu().contiguous()
        for part, named in moment.tensors.items()
        for name, value in named.items()
    }
    words = json.dumps({name: getattr(moment, name) for name in ABOUT} | VERSIONS)
    save_file(tensors, path, {"about": words, "digest": _digest(words, tensors)})


def _read(path: Path) -> Moment | None:
    try:
        with safe_open(path, "pt") as file:
            written = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
        about = json.loads(written["about"])
    except (OSError, SafetensorError, KeyError, ValueError):
        return None
    if written.get("digest") != _digest(written["about"], tensors):
        return None
    if any(about.pop(name, None) != version for name, version in VERSIONS.items()):
        return None
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "optimiser": {}, "generator": {}, "method": {}}
    for key, value in tensors.items():
        part, _, name = key.partition("/")
        parts[part][name] = value
    return Moment(**about, tensors=parts)


ABOUT = ("leg", "step", "total", "updates", "losses", "method")
VERSIONS = {"shoal": __version__, "torch": torch.__version__, "numpy": np.__version__}


def _digest(words: str, tensors: Mapping[str, Tensor]) -> str:
    whole = hashlib.sha256(words.encode())
    for name in sorted(tensors):
        whole.update(name.encode())
        whole.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return whole.hexdigest()


def save_features(table: Features, path: Path) -> None:
    """Write the features of a frozen encoder as .npz, so that processes share them."""
    with path.open("wb") as stream:
        np.savez(
            stream,
            names=np.array(list(table.vectors), np.uint64),
            vectors=np.array(list(table.vectors.values()), np.float32),
        )


def load_features(path: Path) -> Features:
    """Read a file of features."""
    try:
        with np.load(path, allow_pickle=False) as table:
            return Features(table["names"].tolist(), table["vectors"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        # numpy's own message recommends to unpickle the file.
        raise DataError(f"{path}: not a file of features", fix="delete it; shoal makes it again") from None

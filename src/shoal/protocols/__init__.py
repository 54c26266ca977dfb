"""One folder per paper, all of the same shape. The table is the reader's table of contents."""

from importlib import import_module
from typing import cast

from ..errors import PlanError, nearest
from .base import ProtocolModule

PROTOCOLS: dict[str, str] = {
    "behaviour": "which behaviours fail, and what training on such tests does (BELUGA, CheckList)",
    "bias": "what bias diagnostics say, and whether they say it of another checkpoint (CrowS-Pairs, StereoSet, SEAT)",
    "cood": "does a model combine the parts of its input, or use the shortcut its training allows (COOD)",
}
"""Name to what it asks; each is the module of that name in this folder."""


def find_protocol(name: str) -> ProtocolModule:
    """The protocol of this name."""
    if name not in PROTOCOLS:
        raise PlanError(
            f"protocol {name!r} is not known",
            why=f"known: {', '.join(PROTOCOLS)}",
            fix=nearest(name, PROTOCOLS),
        )
    return cast(ProtocolModule, import_module(f".{name}", __name__))

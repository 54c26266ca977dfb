"""One folder per paper, all of the same shape. The table is the reader's table of contents."""

from importlib import import_module
from typing import cast

from ..errors import PlanError, nearest
from .base import ProtocolModule

PROTOCOLS: dict[str, tuple[str, str]] = {
    "behaviour": (
        ".behaviour",
        "which behaviours fail, and what training on such tests does (BELUGA, CheckList)",
    ),
    "bias": (
        ".bias",
        "what bias diagnostics say, and whether they say it of another checkpoint (CrowS-Pairs, StereoSet, SEAT)",
    ),
    "cood": (
        ".cood",
        "does a model combine the parts of its input, or use the shortcut its training allows (COOD)",
    ),
    "merge": (
        ".merge",
        "is a model that solves a problem right on its minimal variants too (MERGE)",
    ),
    "ranking": (
        ".ranking",
        "which of several models will do best in a new domain, from ten labelled examples (few-shot ranking)",
    ),
}
"""Name to its module and what it asks. The first is meant where none is named."""


def find_protocol(name: str) -> ProtocolModule:
    """The protocol of this name."""
    if name not in PROTOCOLS:
        raise PlanError(
            f"protocol {name!r} is not known",
            why=f"known: {', '.join(PROTOCOLS)}",
            fix=nearest(name, PROTOCOLS) or "one of those",
        )
    return cast(ProtocolModule, import_module(PROTOCOLS[name][0], __name__))

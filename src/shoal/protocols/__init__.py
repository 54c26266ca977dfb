"""One folder per paper, all of the same shape. The table is the reader's table of contents."""

from importlib import import_module
from typing import NamedTuple, cast

from ..core.errors import PlanError, nearest
from .base import ProtocolModule


class Entry(NamedTuple):
    module: str
    title: str
    """As it is written in a heading."""
    question: str
    """The question it answers."""


PROTOCOLS: dict[str, Entry] = {
    "behaviour": Entry(".behaviour", "Behaviour", "which behaviours fail (CheckList, BELUGA)"),
    "bias": Entry(
        ".bias", "Bias",
        "what bias diagnostics say, and whether they say it of another checkpoint (CrowS-Pairs, StereoSet, SEAT)",
    ),
    "cood": Entry(
        ".cood", "COOD",
        "does a model combine the parts of its input, or use the shortcut its training allows (COOD)",
    ),
    "learning": Entry(
        ".learning", "Learning", "does training on the suite teach the behaviour, or just the tests (BELUGA)"
    ),
    "merge": Entry(".merge", "MERGE", "is a model that solves a problem right on its minimal variants too (MERGE)"),
    "ranking": Entry(
        ".ranking", "Ranking",
        "which of several models will do best in a new domain, from ten labelled examples (few-shot ranking)",
    ),
}  # fmt: skip
"""Name to its line. The first is meant where none is named."""


def find_protocol(name: str) -> ProtocolModule:
    if name not in PROTOCOLS:
        raise PlanError(
            f"protocol {name!r} is not known",
            why=f"known: {', '.join(PROTOCOLS)}",
            fix=nearest(name, PROTOCOLS) or "one of those",
        )
    return cast(ProtocolModule, import_module(PROTOCOLS[name].module, __name__))

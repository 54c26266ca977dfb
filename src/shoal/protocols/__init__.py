"""One folder per paper, all of the same shape. The table is the reader's table of contents."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, cast

from ..core.errors import PlanError, nearest
from ..core.views import Section
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
        "what bias diagnostics say, and whether another checkpoint agrees (CrowS-Pairs, StereoSet, SEAT)",
    ),
    "cood": Entry(
        ".cood", "COOD",
        "does a model combine the parts of its input, or use a shortcut that its training allows (COOD)",
    ),
    "learning": Entry(
        ".learning", "Learning", "does training on the suite teach the behaviour, or just the tests (BELUGA)"
    ),
    "merge": Entry(".merge", "MERGE", "does a model that solves a problem also solve its minimal variants (MERGE)"),
    "ranking": Entry(
        ".ranking", "Ranking",
        "which of several models will do best in a new domain, from ten labelled examples (few-shot ranking)",
    ),
}  # fmt: skip
"""Name to its line. The first is meant where none is named."""
SCORES = "scores"
GRADED = Entry(".scores", "Scores", "results that were graded elsewhere: scores:FILE")


def entry_of(name: str) -> Entry:
    """Return the line of everything that has a view: a protocol, or results that come without one."""
    return GRADED if name == SCORES else PROTOCOLS[name]


def find_protocol(name: str) -> ProtocolModule:
    if name not in PROTOCOLS:
        raise PlanError(
            f"protocol {name!r} is not known",
            why=f"known: {', '.join(PROTOCOLS)}",
            fix=nearest(name, PROTOCOLS) or "one of those",
        )
    return cast(ProtocolModule, import_module(PROTOCOLS[name].module, __name__))


def find_view(name: str) -> Callable[..., list[Section]]:
    """Return the function that shows results of this name."""
    found = import_module(GRADED.module, __name__) if name == SCORES else find_protocol(name)
    return cast(Callable[..., list[Section]], found.view)

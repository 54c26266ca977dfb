"""Replies in which a model refuses to answer, by the list in `refusals.toml` (`docs/method/prompted.md` 8.3)."""

import re
from functools import cache
from pathlib import Path

from ..core.files import read_toml

FIRST = 200
"""Characters of a reply in which it may refuse."""
REFUSES = "the model refuses"
"""Begins the reason why a reply has no label."""


def is_refusal(reply: str) -> bool:
    """Return whether a reply refuses to answer.

    >>> is_refusal("I’m sorry, but I can’t help with that."), is_refusal("I can't help but love this film.")
    (True, False)
    """
    words = " ".join(reply[: 2 * FIRST].lower().replace("’", "'").split())[:FIRST]
    return _expression().search(words) is not None


@cache
def _expression() -> "re.Pattern[str]":
    table = read_toml(Path(__file__).with_name("refusals.toml"), "the list of refusals")
    openings, continuations, alone = (
        "|".join(map(re.escape, table[name])) for name in ("openings", "continuations", "alone")
    )
    return re.compile(rf"(?<!\w)(?:(?:{openings}) (?:{continuations})|{alone})(?!\w)")

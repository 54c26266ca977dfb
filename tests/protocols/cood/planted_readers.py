"""Models whose behaviour is known: they read the label that a toy text begins with, and the word it ends with.

Tests name them as python:planted_readers:…; each says "consistent" or "inconsistent".
"""

from collections.abc import Callable, Sequence

ROLE = {"positive": "fst", "negative": "sec", "neutral": "neu"}
WORD = {"great": "fst", "terrible": "sec", "okay": "neu"}

Rule = Callable[[str, str], bool]


def reader(differs: Rule) -> Callable[[Sequence[str]], list[str]]:
    def read(texts: Sequence[str]) -> list[str]:
        parts = [text.split() for text in texts]
        return [
            "inconsistent" if differs(ROLE[words[0]], WORD[words[-1]]) else "consistent" for words in parts
        ]

    return read


RULES: dict[str, Rule] = {
    "perfect": lambda y, t: y != t,
    "x_only": lambda y, t: y == "neu",
    "always_0": lambda y, t: False,
    "always_1": lambda y, t: True,
}

perfect, x_only, always_0, always_1 = map(reader, RULES.values())

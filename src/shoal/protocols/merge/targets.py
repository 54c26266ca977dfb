"""The words of a problem to replace (`docs/method/merge.md` 4.3, step 1), and their replacement in the texts.

In a pair: an open-class word that occurs in both texts, with the same class at every occurrence. In a single text: any
open-class word, at all its occurrences.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.records import Example
from .settings import WordClass
from .tagger import Tagger, Token

CLASSES: dict[str, WordClass] = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective"}
COARSE: dict[str, str] = {name: pos for pos, name in CLASSES.items()}


@dataclass(frozen=True, slots=True)
class Target:
    """A word to replace, with its occurrences."""

    word: str
    """In lower case."""
    word_class: WordClass
    tags: tuple[str, ...]
    """The fine tag of each occurrence."""
    occurrences: tuple[tuple[int, int, int], ...]
    """Each as (number of the text, start, end)."""


def find_targets(texts: Example, tagger: Tagger) -> tuple[list[Target], Counter[str]]:
    """Return the words to replace in the order of the first text, and counts of rejected shared words by reason."""
    places: dict[str, list[tuple[int, Token]]] = {}
    for number, text in enumerate(texts):
        for token in tagger.tokens(text):
            places.setdefault(token.text.casefold(), []).append((number, token))
    targets, rejected = [], Counter[str]()
    for word, tokens in places.items():
        if len({number for number, _ in tokens}) < len(texts):
            continue
        classes = {CLASSES.get(token.pos) for _, token in tokens}
        if classes == {None}:
            continue
        if len(classes) > 1:
            rejected["of another class elsewhere"] += 1
            continue
        (word_class,) = classes
        if any(letter.isdigit() for letter in word):
            rejected["with digits"] += 1
        else:
            targets.append(_target(word, word_class, tokens))
    return targets, rejected


def _target(word: str, word_class: WordClass, tokens: Sequence[tuple[int, Token]]) -> Target:
    return Target(
        word,
        word_class,
        tuple(token.tag for _, token in tokens),
        tuple((number, token.start, token.end) for number, token in tokens),
    )


def replace_word(texts: Example, occurrences: Sequence[tuple[int, int, int]], replacement: str) -> Example:
    """Return the texts with another word at all occurrences, capitalised like the old one."""
    changed = list(texts)
    for number, start, end in sorted(occurrences, reverse=True):
        text = changed[number]
        new = replacement[:1].upper() + replacement[1:] if text[start].isupper() else replacement
        changed[number] = text[:start] + new + text[end:]
    return tuple(changed)

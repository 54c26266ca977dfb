"""The words of a problem that are replaced (`docs/method/merge.md` 4.3, step 1).

An open-class word that occurs in both texts, with the same class at every occurrence; of a single text, or where any
word may be replaced, an open-class word at all its occurrences.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.records import Example
from .articles import fitted
from .settings import Settings, WordClass
from .tagger import Tagger, Token

CLASSES: dict[str, WordClass] = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective"}
COARSE: dict[str, str] = {name: pos for pos, name in CLASSES.items()}


@dataclass(frozen=True, slots=True)
class Target:
    """A word that is replaced, and where it stands."""

    word: str
    """In lower case."""
    word_class: WordClass
    tags: tuple[str, ...]
    """The fine tag of each occurrence."""
    occurrences: tuple[tuple[int, int, int], ...]
    """Each as (number of the text, first letter, behind the last letter)."""


def targets_of(texts: Example, settings: Settings, tagger: Tagger) -> tuple[list[Target], Counter[str]]:
    """The words to replace in the order of the first text, and why others that are shared are not."""
    shared = (settings.targets or ("shared" if len(texts) > 1 else "any")) == "shared"
    places: dict[str, list[tuple[int, Token]]] = {}
    for number, text in enumerate(texts):
        for token in tagger.tokens(text):
            places.setdefault(token.text.casefold(), []).append((number, token))
    targets, left_out = [], Counter[str]()
    for word, tokens in places.items():
        if shared and len({number for number, _ in tokens}) < len(texts):
            continue
        classes = {_class(token, settings) for _, token in tokens}
        if classes == {None}:
            continue
        if len(classes) > 1:
            left_out["of another class elsewhere"] += 1
            continue
        (word_class,) = classes
        if any(letter.isdigit() for letter in word):
            left_out["with digits"] += 1
        elif word_class in settings.word_classes:
            targets.append(_target(word, word_class, tokens))
    return targets, left_out


def _class(token: Token, settings: Settings) -> WordClass | None:
    if token.pos == "PROPN" and settings.proper_nouns:
        return "noun"
    return CLASSES.get(token.pos)


def _target(word: str, word_class: WordClass, tokens: Sequence[tuple[int, Token]]) -> Target:
    return Target(
        word,
        word_class,
        tuple(token.tag for _, token in tokens),
        tuple((number, token.start, token.end) for number, token in tokens),
    )


def replace_word(
    texts: Example, occurrences: Sequence[tuple[int, int, int]], replacement: str, *, articles: bool = False
) -> Example:
    """The texts with another word at all these places, its first letter as large as the old one's.

    `articles`: an "a" or "an" before it is made to fit.
    """
    changed = list(texts)
    for number, start, end in sorted(occurrences, reverse=True):
        text = changed[number]
        new = replacement[:1].upper() + replacement[1:] if text[start].isupper() else replacement
        before = fitted(text[:start], replacement) if articles else text[:start]
        changed[number] = before + new + text[end:]
    return tuple(changed)

"""Tokens of a text with class and lemma, and the words of a problem to replace (`docs/method/merge.md` 4.3, step 1).

The tagger is HanTa (`docs/decisions/0008-a-tagger-for-merge.md`). It uses the C5 tags of the British National Corpus;
they become the coarse classes of Universal Dependencies. Forms of be, have and do always count as auxiliaries, since C5
does not separate their uses.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...core.errors import MissingExtra
from ...core.records import Example
from .settings import WordClass

TOKEN = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’]\w+|\w+(?:-\w+)*|[^\w\s]")
"""A word with its hyphens, the parts of a contraction, or a punctuation mark."""
CACHED_PREFIXES, CACHED_WORDS = 50_000, 50_000
COARSE = {
    "AJ": "ADJ", "AV": "ADV", "NN": "NOUN", "NP": "PROPN", "VB": "AUX", "VD": "AUX", "VH": "AUX", "VM": "AUX",
    "VV": "VERB", "PN": "PRON", "EX": "PRON", "AT": "DET", "DP": "DET", "DT": "DET", "CR": "NUM", "OR": "ADJ",
    "PR": "ADP", "CJ": "CCONJ", "TO": "PART", "XX": "PART", "PO": "PART", "PU": "PUNCT", "IT": "INTJ",
}  # fmt: skip
"""The first two letters of a C5 tag to the coarse class; all others are X."""
COARSE_GERMAN = {"ADJ": "ADJ", "NN": "NOUN", "NE": "PROPN", "VV": "VERB"}
"""The start of an STTS tag to the coarse class."""
MODELS = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz"}
"""Language to HanTa's file."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text."""

    text: str
    start: int
    end: int
    pos: str
    """Coarse class: NOUN, VERB, ADJ …"""
    tag: str
    """C5 tag: NN1, VVZ …"""


State = tuple[int, int]
"""The tags of the last two words, by HanTa's numbers."""
Row = dict[State, tuple[float, State]]
"""Possible states after a word, each with its log-probability and the previous state."""
BEAM, MARGIN = 5, 1.0
"""HanTa follows states at most `MARGIN` below the state at index `BEAM`."""


class Tagger:
    """Tags many similar sentences quickly by caching the search of every sentence prefix.

    The search uses HanTa's own tables and rules; the tags are those of its `tag_sent`, at six times the speed
    (`benchmarks/merge.py`).
    """

    def __init__(self, language: str = "en") -> None:
        try:
            import HanTa.HanoverTagger as hanta  # noqa: N813
        except ImportError:
            raise MissingExtra("HanTa", needed_for="word classes of the texts") from None
        self._library: Any = hanta.HanoverTagger(MODELS[language])
        self._language = language
        self._start: State = (hanta.EMPTY, hanta.START)
        self._end: int = hanta.END
        self._row = lru_cache(CACHED_PREFIXES)(self._find_row)
        self._log_probabilities = lru_cache(CACHED_WORDS)(self._find_log_probabilities)
        self._lemma = lru_cache(CACHED_WORDS)(self._find_lemma)

    def tokens(self, text: str) -> list[Token]:
        """Return the tokens of a text."""
        spans = [match.span() for match in TOKEN.finditer(text)]
        words = tuple(text[start:end] for start, end in spans)
        return [
            Token(word, start, end, self._coarse(tag), tag)
            for word, (start, end), tag in zip(words, spans, self.tags(words), strict=True)
        ]

    def tags(self, words: tuple[str, ...]) -> list[str]:
        """Return the C5 tag of each word of a sentence."""
        ends = {
            state: chance + self._library.LP_trans_word[state][self._end]
            for state, (chance, _) in self._row(words).items()
            if self._end in self._library.LP_trans_word[state]
        }
        if not words or not ends:  # empty, or a word outside the tables, which HanTa handles itself
            return self._by_library(words)
        state = max(ends, key=lambda each: ends[each])
        tags = []
        for length in range(len(words), 0, -1):
            tags.append(self._library.int2tag[state[1]])
            state = self._row(words[:length])[state][1]
        return tags[::-1]

    def _coarse(self, tag: str) -> str:
        if self._language == "en":
            return COARSE.get(tag[:2], "X")
        return next((name for start, name in COARSE_GERMAN.items() if tag.startswith(start)), "X")

    def lemma(self, word: str, tag: str) -> str:
        """Return the lemma of a word."""
        return self._lemma(word.lower(), tag)

    def knows(self, word: str) -> bool:
        """Return whether a word is in HanTa's vocabulary."""
        return word.lower() in self._library.cache

    def _find_row(self, words: tuple[str, ...]) -> Row:
        if not words:
            return {self._start: (0.0, self._start)}
        previous = self._row(words[:-1])
        scores = self._log_probabilities(words[-1], len(words) > 1)
        best = sorted((chance for chance, _ in previous.values()), reverse=True)
        lowest = best[BEAM] - MARGIN if len(best) > BEAM else -math.inf
        row: Row = {}
        for state, (so_far, _) in previous.items():
            if so_far < lowest:
                continue
            follows = self._library.LP_trans_word[state]
            for tag, chance in scores.items():
                if tag in follows:
                    total, after = so_far + follows[tag] + chance, (state[1], tag)
                    if after not in row or total > row[after][0]:
                        row[after] = (total, state)
        return row

    def _find_log_probabilities(self, word: str, inside: bool) -> dict[int, float]:
        """Return the log-probability of a word under each tag; case counts only inside a sentence."""
        return dict(self._library._tag_word(word, cutoff=5, casesensitive=inside, conditional=True))

    def _by_library(self, words: tuple[str, ...]) -> list[str]:
        try:
            return list(self._library.tag_sent(list(words), taglevel=0))
        except (KeyError, IndexError, ValueError):
            return ["UNC"] * len(words)

    def _find_lemma(self, word: str, tag: str) -> str:
        try:
            lemma: str = self._library.analyze(word, tag, taglevel=1)[0]
        except (KeyError, IndexError, ValueError):
            return word
        return lemma.lower()


@lru_cache(maxsize=2)
def load_tagger(language: str = "en") -> Tagger:
    """Return the tagger of a language, loaded once."""
    return Tagger(language)


# Words to replace: open-class words that both texts of a pair share, with the same class at every occurrence; in a
# single text, any open-class word.


CLASSES: dict[str, WordClass] = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective"}
TAG_OF_CLASS: dict[str, str] = {name: pos for pos, name in CLASSES.items()}


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


def find_targets(texts: Example, tagger: Tagger) -> tuple[list[Target], int]:
    """Return the words to replace in the order of the first text, and the number of shared open-class words.

    Words with digits, and those of another class elsewhere, are not replaced.
    """
    places: dict[str, list[tuple[int, Token]]] = {}
    for number, text in enumerate(texts):
        for token in tagger.tokens(text):
            places.setdefault(token.text.casefold(), []).append((number, token))
    targets, shared = [], 0
    for word, tokens in places.items():
        if len({number for number, _ in tokens}) < len(texts):
            continue
        classes = {CLASSES.get(token.pos) for _, token in tokens}
        if classes == {None}:
            continue
        shared += 1
        word_class = classes.pop()
        if not classes and word_class and not any(letter.isdigit() for letter in word):
            tags = tuple(token.tag for _, token in tokens)
            occurrences = tuple((number, token.start, token.end) for number, token in tokens)
            targets.append(Target(word, word_class, tags, occurrences))
    return targets, shared


def replace_word(texts: Example, occurrences: Sequence[tuple[int, int, int]], replacement: str) -> Example:
    """Return the texts with another word at all occurrences, capitalised like the old one."""
    changed = list(texts)
    for number, start, end in sorted(occurrences, reverse=True):
        text = changed[number]
        new = replacement[:1].upper() + replacement[1:] if text[start].isupper() else replacement
        changed[number] = text[:start] + new + text[end:]
    return tuple(changed)

"""Words of a text with their class and lemma: the one file that imports the tagger.

`docs/decisions/0008-a-tagger-for-merge.md` says why this one.

HanTa's tags are those of the British National Corpus (C5); here they become the coarse classes of Universal
Dependencies. Forms of be, have and do are auxiliaries whatever they do in a sentence: C5 does not tell.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...core.errors import MissingExtra

TOKEN = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’]\w+|\w+(?:-\w+)*|[^\w\s]")
"""A word with its hyphens, the parts of a contraction, or a sign."""
BEGINNINGS, WORDS = 50_000, 50_000
"""How many beginnings of sentences, and how many words, are remembered."""
COARSE = {
    "AJ": "ADJ", "AV": "ADV", "NN": "NOUN", "NP": "PROPN", "VB": "AUX", "VD": "AUX", "VH": "AUX", "VM": "AUX",
    "VV": "VERB", "PN": "PRON", "EX": "PRON", "AT": "DET", "DP": "DET", "DT": "DET", "CR": "NUM", "OR": "ADJ",
    "PR": "ADP", "CJ": "CCONJ", "TO": "PART", "XX": "PART", "PO": "PART", "PU": "PUNCT", "IT": "INTJ",
}  # fmt: skip
"""The first two letters of a C5 tag to the coarse class; X for the rest."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text."""

    text: str
    start: int
    end: int
    pos: str
    """Coarse: NOUN, VERB, ADJ …"""
    tag: str
    """Fine: NN1, VVZ …"""


State = tuple[int, int]
"""The tags of the last two words, as the tagger numbers them."""
Row = dict[State, tuple[float, State]]
"""The states a sentence may be in, each with its log-probability and the state before it."""
WIDTH, REACH = 5, 1.0
"""From one word to the next the tagger follows states that are at most so far behind its sixth best."""


class Tagger:
    """Tags sentences that are nearly alike: what they begin with is worked out once.

    The path through a sentence is found in the tagger's own tables, with its own rules; the tags are those of its
    `tag_sent`, at six times the speed (`benchmarks/merge.py`).
    """

    def __init__(self) -> None:
        try:
            import HanTa.HanoverTagger as hanta  # noqa: N813
        except ImportError:
            raise MissingExtra("HanTa", needed_for="word classes of the texts") from None
        self._library: Any = hanta.HanoverTagger("morphmodel_en.pgz")
        self._start: State = (hanta.EMPTY, hanta.START)
        self._end: int = hanta.END
        self._row = lru_cache(BEGINNINGS)(self._find_row)
        self._chances = lru_cache(WORDS)(self._find_chances)
        self._lemma = lru_cache(WORDS)(self._find_lemma)

    def tokens(self, text: str) -> list[Token]:
        """The words of a text."""
        spans = [match.span() for match in TOKEN.finditer(text)]
        words = tuple(text[start:end] for start, end in spans)
        return [
            Token(word, start, end, COARSE.get(tag[:2], "X"), tag)
            for word, (start, end), tag in zip(words, spans, self.tags(words), strict=True)
        ]

    def tags(self, words: tuple[str, ...]) -> list[str]:
        """The fine tag of each word of a sentence."""
        ends = {
            state: chance + self._library.LP_trans_word[state][self._end]
            for state, (chance, _) in self._row(words).items()
            if self._end in self._library.LP_trans_word[state]
        }
        if (
            not words or not ends
        ):  # nothing to tag, or a word that leaves the tables: the tagger has a way out
            return self._by_library(words)
        state = max(ends, key=lambda each: ends[each])
        tags = []
        for length in range(len(words), 0, -1):
            tags.append(self._library.int2tag[state[1]])
            state = self._row(words[:length])[state][1]
        return tags[::-1]

    def lemma(self, word: str, tag: str) -> str:
        """The form under which a dictionary has a word."""
        return self._lemma(word.lower(), tag)

    def knows(self, word: str) -> bool:
        """Whether the tagger has seen a word."""
        return word.lower() in self._library.cache

    def _find_row(self, words: tuple[str, ...]) -> Row:
        if not words:
            return {self._start: (0.0, self._start)}
        before = self._row(words[:-1])
        chances = self._chances(words[-1], len(words) > 1)
        best = sorted((chance for chance, _ in before.values()), reverse=True)
        lowest = best[WIDTH] - REACH if len(best) > WIDTH else -math.inf
        row: Row = {}
        for state, (so_far, _) in before.items():
            if so_far < lowest:
                continue
            follows = self._library.LP_trans_word[state]
            for tag, chance in chances.items():
                if tag in follows:
                    total, after = so_far + follows[tag] + chance, (state[1], tag)
                    if after not in row or total > row[after][0]:
                        row[after] = (total, state)
        return row

    def _find_chances(self, word: str, inside: bool) -> dict[int, float]:
        """The log-probability of a word under each of its tags; at the start of a sentence case says nothing."""
        return dict(self._library._tag_word(word, cutoff=5, casesensitive=inside, conditional=True))

    def _by_library(self, words: tuple[str, ...]) -> list[str]:
        try:
            return list(self._library.tag_sent(list(words), taglevel=0))
        except (KeyError, IndexError, ValueError):  # a sentence that it has no path for
            return ["UNC"] * len(words)

    def _find_lemma(self, word: str, tag: str) -> str:
        try:
            lemma: str = self._library.analyze(word, tag, taglevel=1)[0]
        except (KeyError, IndexError, ValueError):
            return word
        return lemma.lower()


@lru_cache(maxsize=1)
def load_tagger() -> Tagger:
    """The tagger, read once."""
    return Tagger()

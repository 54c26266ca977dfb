"""A suggester that ships: our own word lists, and between which neighbours each kind of word stands.

p(word | neighbours) = Σ p(kind | neighbours) p(word | kind), as in class-based language models (Brown et al. 1992). The
kinds are those of the package's own sentences, counted on some of them; inside a kind words fall off as 1 / rank. It
knows no other words and needs no torch: for demonstrations and tests, never for a result.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from ...data.grammar import make_rows
from ...data.grammar.nli import WORDS
from ...models.interface import Blank, Fillers
from ...models.likelihood import NOT_ONE_PIECE

SENTENCES = 400
"""Pairs that are counted."""
TOKEN = re.compile(r"\w+|[^\w\s]")
KIND = {word: kind for kind, words in WORDS.items() for word in words}


class WordBank:
    """A small class-based language model."""

    def __repr__(self) -> str:
        return "example"

    def fingerprint(self) -> dict[str, str]:
        """What its suggestions depend on."""
        content = repr((WORDS, SENTENCES, sorted(_kinds_between().items())))
        return {"example": hashlib.sha256(content.encode()).hexdigest()[:16]}

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """For each blank the k likeliest words of the lists, and the probability of the word that is hidden."""
        return [self._fill(blank, k) for blank in blanks]

    def _fill(self, blank: Blank, k: int) -> Fillers:
        if blank.word.casefold() not in KIND:
            return Fillers(problem=NOT_ONE_PIECE)
        text, start, end = blank.hidden[blank.asked]
        left = TOKEN.findall(blank.texts[text][:start].lower())
        right = TOKEN.findall(blank.texts[text][end:].lower())
        chances = _chances(_seen(left[-1]) if left else "", _seen(right[0]) if right else "")
        best = list(chances.items())[:k]
        return Fillers(
            tuple(word for word, _ in best),
            tuple(range(1, len(best) + 1)),
            tuple(chance for _, chance in best),
            chances.get(blank.word.casefold(), 0.0),
        )


def _seen(word: str) -> str:
    """A neighbour: by its kind where it has one."""
    return KIND.get(word, word)


@cache
def _kinds_between() -> dict[tuple[str, str, str], int]:
    """How often each kind stands between two neighbours: (left, right, kind)."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in make_rows("nli", "train", SENTENCES):
        for text in row.texts:
            words = ["", *map(_seen, TOKEN.findall(text.lower())), ""]
            counts.update(
                (words[place - 1], words[place + 1], words[place])
                for place in range(1, len(words) - 1)
                if words[place] in WORDS
            )
    return dict(counts)


@cache
def _chances(left: str, right: str) -> dict[str, float]:
    """The probability of every word that may stand between two neighbours, the likeliest first."""
    between = _kinds_between()
    counts = {kind: between.get((left, right, kind), 0) for kind in WORDS}
    seen = {kind: count for kind, count in counts.items() if count} or dict.fromkeys(WORDS, 1)
    chances = {}
    for kind, count in seen.items():
        words = WORDS[kind]
        ranks = sum(1 / rank for rank in range(1, len(words) + 1))
        for rank, word in enumerate(words, start=1):
            chances[word] = count / sum(seen.values()) / rank / ranks
    return dict(sorted(chances.items(), key=lambda item: (-item[1], item[0])))

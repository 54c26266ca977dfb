"""Suggestions of masked language models for all occurrences of a word (`docs/method/merge.md` 4.3, step 2).

All occurrences are masked at once. One forward pass gives the most probable words and the probability of the original
word. A suggestion must be among the most probable words at every occurrence.
"""

import hashlib
import operator
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

from ...core.records import Example
from ...data.grammar import make_rows
from ...data.grammar.nli import WORDS
from ...models import load_model, parse_spec
from ...models.interface import Blank, Fillers, WordFiller
from ...models.likelihood import NOT_ONE_PIECE, needs_masks
from .settings import OURS
from .tagger import Target

SUGGESTIONS = 200
"""Most probable words that each model suggests per occurrence, as on the poster."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A replacement that one model suggests."""

    model: str
    word: str
    probabilities: tuple[float, ...]
    """Probability at each occurrence."""
    of_word: tuple[float, ...]
    """Probability of the original word at each occurrence."""

    @property
    def is_more_probable(self) -> bool:
        """Whether the masked model finds the replacement more probable than the original word at every occurrence."""
        return all(map(operator.gt, self.probabilities, self.of_word))


def load_suggesters(specs: Sequence[str]) -> dict[str, WordFiller]:
    """Load the models that suggest words, by short name."""
    suggesters = {}
    for name, spec in zip(short_names(specs), specs, strict=True):
        model: Any = WordBank() if spec == OURS else load_model(spec)
        if not isinstance(model, WordFiller):
            raise needs_masks(spec)
        suggesters[name] = model
    return suggesters


def short_names(specs: Sequence[str]) -> list[str]:
    """Return the last part of each model's name, or the whole spec where two models share it."""
    short = [spec if spec == OURS else PurePath(parse_spec(spec).name).name for spec in specs]
    return [name if short.count(name) == 1 else spec for name, spec in zip(short, specs, strict=True)]


def fingerprints(specs: Sequence[str]) -> list[Any]:
    """Return the fingerprint of each suggester, which is part of a job's identity."""
    return [WordBank().fingerprint() if spec == OURS else load_model(spec).fingerprint() for spec in specs]


def blanks_for(texts: Example, target: Target) -> list[Blank]:
    """Return one blank per occurrence, with all occurrences masked."""
    return [
        Blank(texts, target.occurrences, number, target.word) for number in range(len(target.occurrences))
    ]


def suggest(
    suggesters: Mapping[str, WordFiller], words: Sequence[tuple[Example, Target]]
) -> list[dict[str, list[Suggestion]]]:
    """Return the suggestions of each model for each word, without models that have none."""
    blanks = [blanks_for(texts, target) for texts, target in words]
    flat = [blank for part in blanks for blank in part]
    by_word: list[dict[str, list[Suggestion]]] = [{} for _ in words]
    for name, model in suggesters.items():
        fillers = iter(model.fill_words(flat, SUGGESTIONS))
        for suggested, part in zip(by_word, blanks, strict=True):
            combined = combine_occurrences(name, [next(fillers) for _ in part])
            if combined is not None:
                suggested[name] = combined
    return by_word


def combine_occurrences(model: str, fillers: Sequence[Fillers]) -> list[Suggestion] | None:
    """Return the words suggested at every occurrence; None if the model cannot judge the original word."""
    of_word = tuple(filler.of_word or 0.0 for filler in fillers)
    # Where the original word has probability 0, every suggestion would be more probable.
    if not all(of_word) or any(filler.problem for filler in fillers):
        return None
    tables = [dict(zip(filler.words, filler.probabilities, strict=True)) for filler in fillers]
    words = sorted(set.intersection(*map(set, tables)))
    return [Suggestion(model, word, tuple(table[word] for table in tables), of_word) for word in words]


# The built-in suggester


COUNTED_PAIRS = 2_000
TOKEN = re.compile(r"\w+|[^\w\s]")
KIND = {word: kind for kind, words in WORDS.items() for word in words}


class WordBank:
    """A small class-based language model (Brown et al. 1992), for demonstrations and tests.

    p(word | context) = Σ p(kind | context) p(word | kind). The context is two words on the left and one on the right:
    "in the _ ." takes places, "holding the _ ." things. In an unknown context fewer of these words count. The kinds are
    those of the built-in sentences; within a kind, p(word) falls as 1 / rank. It knows only the words of these
    sentences and needs no torch.
    """

    def __repr__(self) -> str:
        return "example"

    def fingerprint(self) -> dict[str, str]:
        """Return a hash of the word lists and counts."""
        content = repr(
            (WORDS, [(context, sorted(kinds.items())) for context, kinds in sorted(_kind_counts().items())])
        )
        return {"example": hashlib.sha256(content.encode()).hexdigest()[:16]}

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """Return the k most probable words for each blank, with the probability of the hidden word."""
        return [self._fill(blank, k) for blank in blanks]

    def _fill(self, blank: Blank, k: int) -> Fillers:
        if blank.word.casefold() not in KIND:
            return Fillers(problem=NOT_ONE_PIECE)
        text, start, end = blank.hidden[blank.asked]
        probabilities = _word_probabilities(_context(blank.texts[text][:start], blank.texts[text][end:]))
        best = list(probabilities.items())[:k]
        return Fillers(
            tuple(word for word, _ in best),
            tuple(probability for _, probability in best),
            probabilities.get(blank.word.casefold(), 0.0),
        )


Context = tuple[str, ...]
"""Two words on the left and one on the right, each as its kind, "" beyond the text; or fewer of these."""


def _context(left: str, right: str) -> Context:
    return (*["", "", *_kinds(left)][-2:], [*_kinds(right), ""][0])


def _shorter(context: Context) -> tuple[Context, ...]:
    """Return a context and those to use if it is unknown, the most specific first."""
    return context, context[1:], context[1:2]


def _kinds(text: str) -> list[str]:
    """Return the kind of each word, or the word itself."""
    return [KIND.get(word, word) for word in TOKEN.findall(text.lower())]


@cache
def _kind_counts() -> dict[Context, Counter[str]]:
    """Count how often each kind occurs in each context."""
    counts: dict[Context, Counter[str]] = {}
    for row in make_rows("nli", "train", COUNTED_PAIRS):
        for text in row.texts:
            words = ["", "", *_kinds(text), ""]
            for place in range(2, len(words) - 1):
                if words[place] in WORDS:
                    for context in _shorter((*words[place - 2 : place], words[place + 1])):
                        counts.setdefault(context, Counter())[words[place]] += 1
    return counts


@cache
def _word_probabilities(context: Context) -> dict[str, float]:
    """Return the probability of each word, the most probable first; in an unknown context of all words."""
    known = (_kind_counts()[each] for each in _shorter(context) if each in _kind_counts())
    counts = next(known, Counter(WORDS.keys()))
    probabilities = {}
    for kind, count in counts.items():
        words = WORDS[kind]
        total = sum(1 / rank for rank in range(1, len(words) + 1))
        for rank, word in enumerate(words, start=1):
            probabilities[word] = count / counts.total() / rank / total
    return dict(sorted(probabilities.items(), key=lambda item: (-item[1], item[0])))

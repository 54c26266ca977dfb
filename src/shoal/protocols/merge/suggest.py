"""Suggestions of masked models for all occurrences of a word (`docs/method/merge.md` 4.3, step 2).

All blanks of many problems go to a model at once; from one look come the likeliest words and the probability of the
word itself. A suggestion for a word is one that is among the likeliest at every occurrence.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ...core.errors import PlanError
from ...core.records import Example
from ...models import load_model, parse_spec
from ...models.interface import Blank, Fillers, WordFiller
from ...models.likelihood import needs_masks
from .bank import WordBank
from .settings import OURS, Masking, Settings
from .targets import Target

NO_CHANCE = "impossible where it stands"
"""Why a model suggests nothing for a word that it gives no probability."""
SMALLEST = 1e-300
"""What a probability that has become 0 counts as in a logarithm."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What one model says of one replacement."""

    model: str
    word: str
    ranks: tuple[int | None, ...]
    """At each occurrence; None where it is not among the likeliest."""
    probabilities: tuple[float | None, ...]
    of_word: tuple[float, ...]
    """The probability of the original word at each occurrence."""

    @property
    def score(self) -> float:
        """Mean log-probability over the occurrences it is suggested for."""
        known = [math.log(max(chance, SMALLEST)) for chance in self.probabilities if chance is not None]
        return math.fsum(known) / len(known)

    def is_likelier(self, where: str, *, or_as_likely: bool = False) -> bool:
        """Whether the model finds it more probable than the original word: at every occurrence, or on average."""
        above = operator.ge if or_as_likely else operator.gt
        known = [
            (chance, original)
            for chance, original in zip(self.probabilities, self.of_word, strict=True)
            if chance is not None
        ]
        if where == "every":
            return all(above(chance, original) for chance, original in known)
        chances, originals = zip(*known, strict=True)
        return bool(
            above(math.fsum(math.log(max(p, SMALLEST)) for p in chances), math.fsum(map(math.log, originals)))
        )


def load_suggesters(specs: Sequence[str]) -> dict[str, WordFiller]:
    """The models that suggest words, by a short name."""
    names = short_names(specs)
    suggesters = {}
    for name, spec in zip(names, specs, strict=True):
        model: Any = WordBank() if spec == OURS else load_model(spec)
        if not isinstance(model, WordFiller):
            raise needs_masks(spec)
        suggesters[name] = model
    return suggesters


def short_names(specs: Sequence[str]) -> list[str]:
    """The last part of each model's name; the whole spec where two share it."""
    if len(set(specs)) < len(specs):
        raise PlanError(f"suggesters: {', '.join(specs)}", why="one is named twice", fix="name each once")
    short = [spec if spec == OURS else PurePath(parse_spec(spec).name).name for spec in specs]
    return [name if short.count(name) == 1 else spec for name, spec in zip(short, specs, strict=True)]


def fingerprints(specs: Sequence[str]) -> list[Any]:
    """What the suggestions depend on."""
    return [WordBank().fingerprint() if spec == OURS else load_model(spec).fingerprint() for spec in specs]


# Blanks


def blanks_of(texts: Example, target: Target, masking: Masking, context: str) -> list[Blank]:
    """A blank for each occurrence."""
    places = target.occurrences
    blanks = []
    for number, (text, start, end) in enumerate(places):
        if masking == "one at a time":
            hidden, asked = places[number : number + 1], 0
        else:
            hidden, asked = places, number
        if context == "sentence" and len(texts) > 1:
            inside = [place for place in hidden if place[0] == text]
            asked = inside.index((text, start, end))
            hidden = tuple((0, first, last) for _, first, last in inside)
            blanks.append(Blank((texts[text],), hidden, asked, target.word))
        else:
            blanks.append(Blank(texts, hidden, asked, target.word))
    return blanks


def suggest(
    suggesters: Mapping[str, WordFiller],
    wanted: Sequence[tuple[Example, Target]],
    settings: Settings,
) -> list[dict[str, list[Suggestion] | str]]:
    """For each word what each model suggests; a word on why it suggests nothing."""
    blanks = [blanks_of(texts, target, settings.masking, settings.context) for texts, target in wanted]
    flat = [blank for part in blanks for blank in part]
    by_model: list[dict[str, list[Suggestion] | str]] = [{} for _ in wanted]
    for name, model in suggesters.items():
        fillers = iter(model.fill_words(flat, settings.suggestions))
        for suggested, part in zip(by_model, blanks, strict=True):
            suggested[name] = gather(name, [next(fillers) for _ in part], settings.masking)
    return by_model


def gather(model: str, fillers: Sequence[Fillers], masking: Masking) -> list[Suggestion] | str:
    """The suggestions for a word from those for each of its occurrences, the likeliest first."""
    problem = next((filler.problem for filler in fillers if filler.problem), "")
    if problem:
        return problem
    of_word = tuple(filler.of_word or 0.0 for filler in fillers)
    if not all(of_word):  # anything would be more probable than it
        return NO_CHANCE
    tables = [
        {word: (rank, chance) for word, rank, chance in zip(f.words, f.ranks, f.probabilities, strict=True)}
        for f in fillers
    ]
    sets = [table.keys() for table in tables]
    words = set.union(*map(set, sets)) if masking == "union" else set.intersection(*map(set, sets))
    suggestions = []
    for word in words:
        known = [table.get(word, (None, None)) for table in tables]
        ranks, chances = tuple(rank for rank, _ in known), tuple(chance for _, chance in known)
        suggestions.append(Suggestion(model, word, ranks, chances, of_word))
    return sorted(suggestions, key=lambda suggestion: (-suggestion.score, suggestion.word))

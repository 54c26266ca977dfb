"""From the filtered words of a problem to patterns: which variants each draw has (4.3 steps 5 and 6, 4.5).

A draw depends only on the problem and the condition, so a resumed search draws the same variants. Scrambled variants
are those of the default condition with their letters shuffled.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from ...core.records import Example
from .filters import Candidate, Filtered
from .problems import Problem
from .settings import WORD_CLASSES, Settings, WordClass
from .tagger import Tagger, Target, replace_word

SHUFFLES = 100
"""Shuffles to try before a word counts as impossible to scramble."""
SOURCE_SAMPLE = 5
"""Variants per problem and source in one draw, where sources are compared at equal numbers."""
SEED = "0"


@dataclass(slots=True)
class Pool:
    """A problem, the filtered suggestions for its words, and counts of rejected words."""

    problem: Problem
    words: list[Filtered] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    """Shared words that are not replaced or have no suggestions, by reason."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One replacement in one problem."""

    texts: Example
    target: Target
    candidate: Candidate
    source: tuple[str, ...]
    inserted: str
    """The replacement, or its letters shuffled."""

    def row(self) -> dict[str, Any]:
        """Return texts, words, class, source and probabilities as plain values."""
        return {
            "word": self.target.word,
            "replacement": self.inserted,
            "word class": self.target.word_class,
            "source": list(self.source),
            "p": {s.model: list(s.probabilities) for s in self.candidate.suggestions},
            "p of word": {s.model: list(s.of_word) for s in self.candidate.suggestions},
            "texts": list(self.texts),
        }


VariantsByClass = dict[WordClass, list[Variant]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The variants of one problem under one condition and the patterns they form, as plain values."""

    condition: str
    variants: Sequence[dict[str, Any]]
    patterns: Sequence[dict[str, Any]]


def draw(pool: Pool, settings: Settings, tagger: Tagger, suggesters: Sequence[str]) -> list[Drawn]:
    """Draw variants of a problem under each condition; none if no class has enough under every condition."""
    by_condition = {name: _variants_by_class(pool, name, settings, tagger) for name in settings.filters}
    classes = [
        word_class
        for word_class in WORD_CLASSES
        if all(len(variants.get(word_class, ())) >= settings.sample for variants in by_condition.values())
    ]
    if not classes:
        return []
    return [
        _draw(pool.problem, name, {each: variants[each] for each in classes}, settings, suggesters)
        for name, variants in by_condition.items()
    ]


def _variants_by_class(pool: Pool, condition: str, settings: Settings, tagger: Tagger) -> VariantsByClass:
    """Return the variants of each word class under a condition, without words that cannot be scrambled."""
    texts = pool.problem.texts
    variants: VariantsByClass = {}
    for word in pool.words:
        for candidate, source in word.replacements(condition):
            inserted = candidate.word
            if "scrambled" in settings.filters:
                rng = _generator("scramble", *texts, word.target.word, candidate.word)
                shuffled = _scramble(candidate.word, rng, tagger)
                if shuffled is None:
                    continue
                inserted = shuffled if condition == "scrambled" else inserted
            changed = replace_word(texts, word.target.occurrences, inserted)
            variant = Variant(changed, word.target, candidate, source, inserted)
            variants.setdefault(word.target.word_class, []).append(variant)
    return variants


def _scramble(word: str, rng: Generator, tagger: Tagger) -> str | None:
    """Return the letters of a word in an order that the tagger does not know, or None.

    Only the generator decides, so all conditions agree on which words can be scrambled.
    """
    for _ in range(SHUFFLES):
        shuffled = "".join(word[place] for place in rng.permutation(len(word)))
        if shuffled != word and not tagger.knows(shuffled):
            return shuffled
    return None


def _draw(
    problem: Problem, condition: str, by_class: VariantsByClass, settings: Settings, suggesters: Sequence[str]
) -> Drawn:
    key = "default" if condition == "scrambled" else condition
    used: dict[int, Variant] = {}
    positions: dict[int, int] = {}

    def position(variant: Variant) -> int:
        """Return the position of a variant among the case's examples, after the original."""
        used.setdefault(id(variant), variant)
        return positions.setdefault(id(variant), len(used))

    def samples(variants: Sequence[Variant], size: int, name: str) -> list[list[int]]:
        ordered = sorted(variants, key=lambda variant: (variant.target.word, variant.candidate.word))
        draws = []
        for number in range(settings.draws):
            rng = _generator(f"{number}", *problem.texts, problem.label, key, name)
            places = sorted(rng.choice(len(ordered), size, replace=False).tolist())
            draws.append(sorted(position(ordered[place]) for place in places))
        return draws

    classes = {name: samples(variants, settings.sample, name) for name, variants in by_class.items()}
    whole = [
        sorted(n for draws in classes.values() for n in draws[number]) for number in range(settings.draws)
    ]
    patterns: list[dict[str, Any]] = [{"groups": {}, "draws": whole}]
    patterns += [{"groups": {"word class": name}, "draws": draws} for name, draws in classes.items()]
    sources: dict[str, list[list[int]]] = {}
    if condition == "default" and len(suggesters) > 1:
        if settings.by_source == "split":
            sources = _split_by_source([*used.values()], whole, suggesters)
        else:
            equal = _equal_sources(by_class, suggesters)
            sources = {name: samples(variants, SOURCE_SAMPLE, name) for name, variants in equal.items()}
    patterns += [{"groups": {"source": name}, "draws": draws} for name, draws in sources.items()]
    return Drawn(condition, [variant.row() for variant in used.values()], patterns)


def source_name(source: Sequence[str], suggesters: Sequence[str]) -> str:
    """Name the models whose suggestion of a replacement passed all filters.

    >>> source_name(["a"], ["a", "b"]), source_name(["a", "b"], ["a", "b"]), source_name(["a", "b"], ["a", "b", "c"])
    ('a only', 'both', 'a and b')
    """
    if len(source) == len(suggesters) > 1:
        return "both" if len(suggesters) == 2 else "all"
    return f"{source[0]} only" if len(source) == 1 else " and ".join(source)


def _equal_sources(by_class: VariantsByClass, suggesters: Sequence[str]) -> dict[str, list[Variant]]:
    """Return the variants of each source, or nothing if some source has too few."""
    names = [*(f"{name} only" for name in suggesters), source_name(suggesters, suggesters)]
    by_source: dict[str, list[Variant]] = {name: [] for name in names}
    for variant in (variant for variants in by_class.values() for variant in variants):
        by_source.get(source_name(variant.source, suggesters), []).append(variant)
    return by_source if min(map(len, by_source.values())) >= SOURCE_SAMPLE else {}


def _split_by_source(
    variants: Sequence[Variant], whole: Sequence[Sequence[int]], suggesters: Sequence[str]
) -> dict[str, list[list[int]]]:
    """Split the drawn variants by source, as the poster does: numbers and problems differ between sources."""
    names = [source_name(variant.source, suggesters) for variant in variants]
    return {
        name: [[n for n in draw if names[n - 1] == name] for draw in whole] for name in sorted(set(names))
    }


def _generator(*words: str) -> Generator:
    """Return a generator seeded by these words."""
    return np.random.default_rng(list(hashlib.sha256("\0".join((SEED, *words)).encode()).digest()))

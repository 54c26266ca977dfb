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

    def provenance(self) -> dict[str, Any]:
        """Return words, class, source, ranks and probabilities as plain values."""
        row: dict[str, Any] = {
            "word": self.target.word,
            "replacement": self.inserted,
            "word class": self.target.word_class,
            "source": list(self.source),
            "proposers": list(self.candidate.proposers),
            "ranks": {s.model: list(s.ranks) for s in self.candidate.suggestions},
            "p": {s.model: list(s.probabilities) for s in self.candidate.suggestions},
            "p of word": {s.model: list(s.of_word) for s in self.candidate.suggestions},
        }
        if self.inserted != self.candidate.word:
            row["scrambled from"] = self.candidate.word
        if len(self.texts) > 1 and len({text.casefold() for text in self.texts}) == 1:
            row["texts alike"] = True
        return row


VariantsByClass = dict[WordClass, list[Variant]]


@dataclass(slots=True)
class Drawn:
    """The variants of one problem under one condition, and the patterns they form."""

    condition: str
    variants: list[Variant] = field(default_factory=list)
    patterns: list[dict[str, Any]] = field(default_factory=list)
    _positions: dict[int, int] = field(default_factory=dict)

    def position(self, variant: Variant) -> int:
        """Return the position of a variant among the case's examples, after the original; add it if new."""
        if id(variant) not in self._positions:
            self.variants.append(variant)
            self._positions[id(variant)] = len(self.variants)
        return self._positions[id(variant)]


def variants_by_class(pool: Pool, condition: str, settings: Settings, tagger: Tagger) -> VariantsByClass:
    """Return the variants of each word class under a condition, without words that cannot be scrambled."""
    variants: VariantsByClass = {}
    for word in pool.words:
        for candidate, source in word.replacements(condition):
            inserted = candidate.word
            if "scrambled" in settings.filters:
                rng = _generator(
                    SEED, "scramble", "\0".join((*pool.problem.texts, word.target.word, candidate.word))
                )
                shuffled = scramble(candidate.word, rng, tagger)
                if shuffled is None:
                    continue
                inserted = shuffled if condition == "scrambled" else inserted
            texts = replace_word(pool.problem.texts, word.target.occurrences, inserted)
            variant = Variant(texts, word.target, candidate, source, inserted)
            variants.setdefault(word.target.word_class, []).append(variant)
    return variants


def scramble(word: str, rng: Generator, tagger: Tagger) -> str | None:
    """Return the letters of a word in an order that the tagger does not know, or None.

    Only the generator decides, so all conditions agree on which words can be scrambled.
    """
    for _ in range(SHUFFLES):
        shuffled = "".join(word[place] for place in rng.permutation(len(word)))
        if shuffled != word and not tagger.knows(shuffled):
            return shuffled
    return None


def draw(pool: Pool, settings: Settings, tagger: Tagger, suggesters: Sequence[str]) -> list[Drawn]:
    """Draw variants of a problem under each condition; none if no class has enough under every condition."""
    by_condition = {name: variants_by_class(pool, name, settings, tagger) for name in settings.filters}
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


def _draw(
    problem: Problem, condition: str, by_class: VariantsByClass, settings: Settings, suggesters: Sequence[str]
) -> Drawn:
    drawn = Drawn(condition)
    key = "default" if condition == "scrambled" else condition

    def samples(variants: Sequence[Variant], size: int, name: str) -> list[list[Variant]]:
        return _samples(variants, size, settings.draws, "\0".join((*problem.texts, problem.label, key, name)))

    class_samples = {name: samples(each, settings.sample, name) for name, each in by_class.items()}
    sources = _sources(by_class, settings, suggesters) if condition == "default" else {}
    source_samples = {name: samples(each, SOURCE_SAMPLE, name) for name, each in sources.items()}
    placed = {
        name: [sorted(map(drawn.position, part)) for part in parts] for name, parts in class_samples.items()
    }
    merged = [
        sorted(number for parts in placed.values() for number in parts[n]) for n in range(settings.draws)
    ]
    drawn.patterns.append({"groups": {}, "draws": merged})
    drawn.patterns += [{"groups": {"word class": name}, "draws": parts} for name, parts in placed.items()]
    if settings.by_source == "split" and condition == "default":
        drawn.patterns += _split_by_source(drawn, merged, suggesters)
    for name, parts in source_samples.items():
        positions = [sorted(map(drawn.position, part)) for part in parts]
        drawn.patterns.append({"groups": {"source": name}, "draws": positions})
    return drawn


def _samples(variants: Sequence[Variant], size: int, draws: int, key: str) -> list[list[Variant]]:
    """Return samples of the variants."""
    ordered = sorted(variants, key=lambda variant: (variant.target.word, variant.candidate.word))
    samples = []
    for number in range(draws):
        rng = _generator(SEED, f"{number}", key)
        samples.append([ordered[n] for n in sorted(rng.choice(len(ordered), size, replace=False).tolist())])
    return samples


# Sources


def source_name(source: Sequence[str], suggesters: Sequence[str]) -> str:
    """Name the models whose suggestion of a replacement passed all filters.

    >>> source_name(["a"], ["a", "b"]), source_name(["a", "b"], ["a", "b"]), source_name(["a", "b"], ["a", "b", "c"])
    ('a only', 'both', 'a and b')
    """
    if len(source) == len(suggesters) > 1:
        return "both" if len(suggesters) == 2 else "all"
    return f"{source[0]} only" if len(source) == 1 else " and ".join(source)


def _sources(
    by_class: VariantsByClass, settings: Settings, suggesters: Sequence[str]
) -> dict[str, list[Variant]]:
    """Return the variants of each source, or nothing if some source has too few."""
    if len(suggesters) < 2 or settings.by_source == "split":
        return {}
    names = [*(f"{name} only" for name in suggesters), source_name(suggesters, suggesters)]
    by_source: dict[str, list[Variant]] = {name: [] for name in names}
    for variants in by_class.values():
        for variant in variants:
            name = source_name(variant.source, suggesters)
            if name in by_source:
                by_source[name].append(variant)
    enough = all(len(variants) >= SOURCE_SAMPLE for variants in by_source.values())
    return by_source if enough else {}


def _split_by_source(
    drawn: Drawn, merged: Sequence[Sequence[int]], suggesters: Sequence[str]
) -> list[dict[str, Any]]:
    """Split the drawn variants by source, as the poster does: numbers and problems differ between sources."""
    if len(suggesters) < 2:
        return []
    names = [source_name(variant.source, suggesters) for variant in drawn.variants]
    return [
        {"groups": {"source": name}, "draws": [[n for n in part if names[n - 1] == name] for part in merged]}
        for name in sorted(set(names))
    ]


def _generator(*words: str) -> Generator:
    """Return a generator seeded by these words."""
    return np.random.default_rng(list(hashlib.sha256("\0".join(words).encode()).digest()))

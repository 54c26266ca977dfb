"""Pools to patterns: which problems have enough variants, and which variants each draw has (4.3 steps 5 and 6, 4.5).

Draws depend on the seed, the problem and the condition alone: a build that is taken up again, or one of other problems
beside them, draws the same. Scrambled variants are those of the default condition, with their letters in another order.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from ...core.records import Example
from .filters import Candidate
from .pools import Pool
from .problems import Problem
from .settings import Settings, WordClass
from .tagger import Tagger
from .targets import Target, replace_word

TRIES = 100
"""Orders of letters that are tried before a word counts as one that cannot be scrambled."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One replacement in one problem."""

    texts: Example
    target: Target
    candidate: Candidate
    source: tuple[str, ...]
    shown: str
    """What stands there: the replacement, or its letters in another order."""

    def provenance(self) -> dict[str, Any]:
        """Everything that is known of where it comes from, as plain values."""
        row: dict[str, Any] = {
            "word": self.target.word,
            "replacement": self.shown,
            "word class": self.target.word_class,
            "source": list(self.source),
            "proposers": list(self.candidate.proposers),
            "ranks": {s.model: list(s.ranks) for s in self.candidate.suggestions},
            "p": {s.model: list(s.probabilities) for s in self.candidate.suggestions},
            "p of word": {s.model: list(s.of_word) for s in self.candidate.suggestions},
        }
        if self.shown != self.candidate.word:
            row["scrambled from"] = self.candidate.word
        if len(self.texts) > 1 and len({text.casefold() for text in self.texts}) == 1:
            row["texts alike"] = True
        return row


Units = dict[WordClass, list[Variant]]


@dataclass(slots=True)
class Drawn:
    """The variants of one problem under one condition, and the patterns they make."""

    problem: Problem
    condition: str
    variants: list[Variant] = field(default_factory=list)
    patterns: list[dict[str, Any]] = field(default_factory=list)


def units_of(pool: Pool, condition: str, settings: Settings, tagger: Tagger) -> Units:
    """The variants of each class of words under a condition; pairs that cannot be scrambled are in none of them."""
    units: Units = {}
    for word in pool.words:
        for candidate, source in word.kept(condition):
            shown = candidate.word
            if "scrambled" in settings.filters:
                other = scrambled(
                    candidate.word, _rng(settings, pool.problem, word.target.word, candidate.word), tagger
                )
                if other is None:
                    continue
                shown = other if condition == "scrambled" else shown
            places = word.target.occurrences
            texts = replace_word(pool.problem.texts, places, shown, articles=settings.fix_articles)
            variant = Variant(texts, word.target, candidate, source, shown)
            units.setdefault(word.target.word_class, []).append(variant)
    return {name: _of_large_sets(variants, settings) for name, variants in units.items()}


def _of_large_sets(variants: Sequence[Variant], settings: Settings) -> list[Variant]:
    """Without the words, or the suggesters, that have too few, where each is to have enough."""
    if settings.minimum_of == "class":
        return list(variants)
    by_word = settings.minimum_of == "word"
    sizes = Counter(name for each in variants for name in ([each.target.word] if by_word else each.source))
    large = {name for name, size in sizes.items() if size >= settings.minimum}
    if by_word:
        return [each for each in variants if each.target.word in large]
    left = (replace(each, source=tuple(name for name in each.source if name in large)) for each in variants)
    return [each for each in left if each.source]


def scrambled(word: str, rng: Generator, tagger: Tagger) -> str | None:
    """The letters of a word in an order that is no word; None where none was found.

    The order depends on the generator alone, so that all conditions agree on what can be scrambled.
    """
    for _ in range(TRIES):
        other = "".join(word[place] for place in rng.permutation(len(word)))
        if other != word and not tagger.knows(other):
            return other
    return None


def draw(pool: Pool, settings: Settings, tagger: Tagger, suggesters: Sequence[str]) -> list[Drawn]:
    """What is asked of a problem under each condition; nothing where some condition leaves too few for every class."""
    by_condition = {name: units_of(pool, name, settings, tagger) for name in settings.filters}
    classes = [
        word_class
        for word_class in settings.word_classes
        if all(len(units.get(word_class, ())) >= settings.minimum for units in by_condition.values())
    ]
    if not classes:
        return []
    return [
        _drawn(pool.problem, name, {each: units[each] for each in classes}, settings, suggesters)
        for name, units in by_condition.items()
    ]


def _drawn(
    problem: Problem, condition: str, units: Units, settings: Settings, suggesters: Sequence[str]
) -> Drawn:
    drawn = Drawn(problem, condition)
    places: dict[int, int] = {}

    def place(variant: Variant) -> int:
        """Its position among the examples of the case, of which the original is the first."""
        if id(variant) not in places:
            drawn.variants.append(variant)
            places[id(variant)] = len(drawn.variants)
        return places[id(variant)]

    key = "default" if condition == "scrambled" else condition
    by_class = {
        name: _draws(variants, settings.sample, settings, _key(problem, key, name))
        for name, variants in units.items()
    }
    sources = _sources(units, settings, suggesters) if condition == "default" else {}
    by_source = {
        name: _draws(variants, settings.source_sample, settings, _key(problem, key, name))
        for name, variants in sources.items()
    }
    if settings.draws == 0:
        drawn.patterns = _pools(by_class, by_source, settings, place)
        return drawn
    placed = {
        name: [sorted(place(variant) for variant in part) for part in parts]
        for name, parts in by_class.items()
    }
    merged = [
        sorted(number for parts in placed.values() for number in parts[n]) for n in range(settings.draws)
    ]
    drawn.patterns.append({"groups": {}, "draws": merged})
    drawn.patterns += [{"groups": {"word class": name}, "draws": parts} for name, parts in placed.items()]
    if settings.by_source == "split" and condition == "default":
        drawn.patterns += _split(drawn, merged, suggesters)
    for name, chosen in by_source.items():
        parts = [sorted(place(variant) for variant in part) for part in chosen]
        drawn.patterns.append({"groups": {"source": name}, "draws": parts})
    return drawn


def _draws(variants: Sequence[Variant], size: int, settings: Settings, key: str) -> list[list[Variant]]:
    """So many variants, so many times; all of them once where the mean over all draws is computed."""
    ordered = sorted(variants, key=lambda variant: (variant.target.word, variant.candidate.word))
    if settings.draws == 0:
        return [ordered]
    parts = []
    for number in range(settings.draws):
        rng = _generator(f"{settings.draw_seed}", f"{number}", key)
        parts.append([ordered[n] for n in sorted(rng.choice(len(ordered), size, replace=False).tolist())])
    return parts


def _pools(
    by_class: Mapping[WordClass, list[list[Variant]]],
    by_source: Mapping[str, list[list[Variant]]],
    settings: Settings,
    place: Any,
) -> list[dict[str, Any]]:
    pools = {
        name: {"of": [place(variant) for variant in variants], "drawn": settings.sample}
        for name, (variants,) in by_class.items()
    }
    patterns: list[dict[str, Any]] = [{"groups": {}, "pools": list(pools.values())}]
    patterns += [{"groups": {"word class": name}, "pools": [pool]} for name, pool in pools.items()]
    for name, (variants,) in by_source.items():
        pool = {"of": [place(variant) for variant in variants], "drawn": settings.source_sample}
        patterns.append({"groups": {"source": name}, "pools": [pool]})
    return patterns


# Sources


def source_name(source: Sequence[str], suggesters: Sequence[str]) -> str:
    """Who still suggests a replacement behind the last filter.

    >>> source_name(["a"], ["a", "b"]), source_name(["a", "b"], ["a", "b"]), source_name(["a", "b"], ["a", "b", "c"])
    ('a only', 'both', 'a and b')
    """
    if len(source) == len(suggesters) > 1:
        return "both" if len(suggesters) == 2 else "all"
    return f"{source[0]} only" if len(source) == 1 else " and ".join(source)


def _sources(units: Units, settings: Settings, suggesters: Sequence[str]) -> dict[str, list[Variant]]:
    """The variants of each source, where every source has enough of them."""
    if len(suggesters) < 2 or settings.by_source == "split":
        return {}
    wanted = [*(f"{name} only" for name in suggesters), source_name(suggesters, suggesters)]
    by_source: dict[str, list[Variant]] = {name: [] for name in wanted}
    for variants in units.values():
        for variant in variants:
            name = source_name(variant.source, suggesters)
            if name in by_source:
                by_source[name].append(variant)
    enough = all(len(variants) >= settings.source_sample for variants in by_source.values())
    return by_source if enough else {}


def _split(drawn: Drawn, merged: Sequence[Sequence[int]], suggesters: Sequence[str]) -> list[dict[str, Any]]:
    """The drawn variants by source: other numbers of variants, and other problems, for each."""
    if len(suggesters) < 2:
        return []
    names = [source_name(variant.source, suggesters) for variant in drawn.variants]
    return [
        {"groups": {"source": name}, "draws": [[n for n in part if names[n - 1] == name] for part in merged]}
        for name in sorted(set(names))
    ]


# Random numbers


def _key(problem: Problem, condition: str, name: str) -> str:
    return "\0".join((*problem.texts, problem.label, condition, name))


def _rng(settings: Settings, problem: Problem, word: str, replacement: str) -> Generator:
    return _generator(f"{settings.draw_seed}", "scramble", "\0".join((*problem.texts, word, replacement)))


def _generator(*words: str) -> Generator:
    """A generator that depends on these words alone."""
    return np.random.default_rng(list(hashlib.sha256("\0".join(words).encode()).digest()))

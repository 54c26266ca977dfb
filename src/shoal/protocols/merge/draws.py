"""From the suggestions for a problem's words to patterns: filters, then draws (`docs/method/merge.md` 4.3, 4.5).

    suggested ──► 1 another word ──► 2 no relative ──► 3 same class ──► 4 more probable ──► draws
                  letters only       lemma, stem       in context       under its model     by word class

Filters apply to the suggestion of one model; a word stays as long as one model's suggestion does. The models whose
suggestion passes all filters are the word's source. A draw depends only on the problem and the condition, so a resumed
search draws the same variants. Scrambled variants are those of the default condition with their letters shuffled.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import Generator

from ...core.records import Example
from .problems import Problem
from .settings import WORD_CLASSES, Settings, WordClass
from .suggest import Suggestion
from .tagger import TAG_OF_CLASS, Tagger, Target, replace_word

STEPS = ("suggested", "another word", "no relative", "same class", "more probable")
"""The counted steps, in order."""
SUFFIXES = frozenset((
    "s", "es", "ed", "d", "er", "r", "ers", "or", "ors", "ing", "ings", "ly", "y", "ies", "ied", "ier", "iest",
    "est", "ness", "ment", "ments", "ful", "less", "able", "ible", "al", "ally", "ic", "ical", "ity", "ive", "ion",
    "ions", "ation", "ations", "ist", "ists", "ism", "ish", "en", "ens", "hood", "ship", "like", "wise", "ward",
    "wards", "ette", "ess",
))  # fmt: skip
PREFIXES = frozenset((
    "un", "re", "dis", "non", "mis", "over", "under", "pre", "anti", "super", "sub", "inter", "co", "ex", "in", "im",
    "il", "ir", "fore", "out", "up",
))  # fmt: skip
SHORTEST_STEM = 3
FORMS = {"NN": ("NN1", "NN2"), "VV": ("VVZ", "VVG", "VVD", "VVN", "VVB"), "AJ": ("AJ0", "AJC", "AJS")}
"""The fine tags of a class."""
SHUFFLES = 100
"""Shuffles to try before a word counts as impossible to scramble."""
SOURCE_SAMPLE = 5
"""Variants per problem and source in one draw, where sources are compared at equal numbers."""
SEED = "0"


# Filters


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible replacement of a word."""

    word: str
    suggestions: tuple[Suggestion, ...]
    """One per model that suggested it."""
    has_same_class: bool
    """Whether it has the class of the original word at every occurrence."""
    more_probable: tuple[str, ...]
    """The models that find it more probable than the original word."""


@dataclass(slots=True)
class Filtered:
    """The candidates for one word, and the number left after each step."""

    target: Target
    candidates: list[Candidate] = field(default_factory=list)
    """Those that passed the first two filters; conditions choose among them."""
    counts: dict[str, int] = field(default_factory=dict)

    def replacements(self, condition: str) -> list[tuple[Candidate, tuple[str, ...]]]:
        """Return the replacements under a filter condition, each with its source."""
        needs_class = condition in ("default", "pos", "scrambled")
        needs_probability = condition in ("default", "probability", "scrambled")
        rows = []
        for candidate in self.candidates:
            proposers = tuple(suggestion.model for suggestion in candidate.suggestions)
            source = candidate.more_probable if needs_probability else proposers
            if source and (candidate.has_same_class or not needs_class):
                rows.append((candidate, source))
        return rows


def filter_suggestions(
    texts: Example,
    target: Target,
    suggested: Mapping[str, Sequence[Suggestion]],
    tagger: Tagger,
) -> Filtered:
    """Apply the filters one after the other and count the words left."""
    by_word: dict[str, list[Suggestion]] = {}
    for suggestions in suggested.values():
        for suggestion in suggestions:
            by_word.setdefault(suggestion.word.casefold(), []).append(suggestion)
    result = Filtered(target, counts=dict.fromkeys(STEPS, 0))
    for word, suggestions in by_word.items():
        result.counts["suggested"] += 1
        if word == target.word or not word.isalpha():
            continue
        result.counts["another word"] += 1
        if is_relative(word, target, tagger):
            continue
        result.counts["no relative"] += 1
        same_class = has_same_class(texts, target, word, tagger)
        more_probable = tuple(each.model for each in suggestions if each.is_more_probable)
        result.counts["same class"] += same_class
        result.counts["more probable"] += same_class and bool(more_probable)
        result.candidates.append(Candidate(word, tuple(suggestions), same_class, more_probable))
    return result


def is_relative(word: str, target: Target, tagger: Tagger) -> bool:
    """Return whether two words share their lemma or, apart from a known affix, their stem."""
    tag = target.tags[0]
    # Any form of the class: "men" is a plural in place of a singular too.
    lemmas = {tagger.lemma(word, form) for form in (tag, *FORMS.get(tag[:2], ()))}
    if lemmas & {tagger.lemma(target.word, tag), target.word}:
        return True
    shorter, longer = sorted((word, target.word), key=len)
    if len(shorter) < SHORTEST_STEM:
        return False
    if longer.startswith(shorter):
        ending = longer[len(shorter) :]
        if ending in SUFFIXES or (ending[:1] == shorter[-1:] and ending[1:] in SUFFIXES):
            return True
    if longer.endswith(shorter):
        return longer[: -len(shorter)] in PREFIXES
    # A letter may be dropped before a suffix: dance, dancing; happy, happily.
    stem = shorter[:-1]
    if not shorter.endswith(("e", "y")) or len(stem) < SHORTEST_STEM or not longer.startswith(stem):
        return False
    ending = longer[len(stem) :]
    return ending in SUFFIXES or (shorter.endswith("y") and ending[:1] == "i" and ending[1:] in SUFFIXES)


def has_same_class(texts: Example, target: Target, word: str, tagger: Tagger) -> bool:
    """Return whether the replacement, tagged in its sentences, is one token of the original word's class."""
    changed = replace_word(texts, target.occurrences, word)
    shift: dict[int, int] = {}
    for text, start, end in target.occurrences:
        place = start + shift.get(text, 0)
        shift[text] = shift.get(text, 0) + len(word) - (end - start)
        token = next((t for t in tagger.tokens(changed[text]) if t.start == place), None)
        if token is None or token.end != place + len(word) or token.pos != TAG_OF_CLASS[target.word_class]:
            return False
    return True


# Draws


Variant = dict[str, Any]
"""The texts with one word replaced, the words, their class, source and probabilities, as plain values."""
VariantsByClass = dict[WordClass, list[Variant]]
Drawn = dict[str, Any]
"""Condition, variants and patterns of one problem, as plain values."""


def draw(
    problem: Problem,
    words: Sequence[Filtered],
    settings: Settings,
    tagger: Tagger,
    suggesters: Sequence[str],
) -> list[Drawn]:
    """Draw variants of a problem under each condition; none if no class has enough under every condition."""
    by_condition = {
        name: _variants_by_class(problem.texts, words, name, settings, tagger) for name in settings.filters
    }
    classes = [
        word_class
        for word_class in WORD_CLASSES
        if all(len(variants.get(word_class, ())) >= settings.sample for variants in by_condition.values())
    ]
    if not classes:
        return []
    return [
        _draw(problem, name, {each: variants[each] for each in classes}, settings, suggesters)
        for name, variants in by_condition.items()
    ]


def _variants_by_class(
    texts: Example, words: Sequence[Filtered], condition: str, settings: Settings, tagger: Tagger
) -> VariantsByClass:
    """Return the variants of each word class by word and replacement, without words that cannot be scrambled."""
    variants: VariantsByClass = {}
    for word in sorted(words, key=lambda word: word.target.word):
        target = word.target
        for candidate, source in sorted(word.replacements(condition), key=lambda row: row[0].word):
            inserted = candidate.word
            if "scrambled" in settings.filters:
                rng = _generator("scramble", *texts, target.word, candidate.word)
                shuffled = _scramble(candidate.word, rng, tagger)
                if shuffled is None:
                    continue
                inserted = shuffled if condition == "scrambled" else inserted
            variant = {
                "word": target.word,
                "replacement": inserted,
                "word class": target.word_class,
                "source": list(source),
                "p": {each.model: list(each.probabilities) for each in candidate.suggestions},
                "p of word": {each.model: list(each.of_word) for each in candidate.suggestions},
                "texts": list(replace_word(texts, target.occurrences, inserted)),
            }
            variants.setdefault(target.word_class, []).append(variant)
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
        draws = []
        for number in range(settings.draws):
            rng = _generator(f"{number}", *problem.texts, problem.label, key, name)
            places = sorted(rng.choice(len(variants), size, replace=False).tolist())
            draws.append(sorted(position(variants[place]) for place in places))
        return draws

    classes = {name: samples(variants, settings.sample, name) for name, variants in by_class.items()}
    whole = [sorted(chain(*draws)) for draws in zip(*classes.values(), strict=True)]
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
    return {"condition": condition, "variants": [*used.values()], "patterns": patterns}


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
    for variant in sorted(chain(*by_class.values()), key=lambda row: (row["word"], row["replacement"])):
        by_source.get(source_name(variant["source"], suggesters), []).append(variant)
    return by_source if min(map(len, by_source.values())) >= SOURCE_SAMPLE else {}


def _split_by_source(
    variants: Sequence[Variant], whole: Sequence[Sequence[int]], suggesters: Sequence[str]
) -> dict[str, list[list[int]]]:
    """Split the drawn variants by source, as the poster does: numbers and problems differ between sources."""
    names = [source_name(variant["source"], suggesters) for variant in variants]
    return {
        name: [[n for n in draw if names[n - 1] == name] for draw in whole] for name in sorted(set(names))
    }


def _generator(*words: str) -> Generator:
    """Return a generator seeded by these words."""
    return np.random.default_rng(list(hashlib.sha256("\0".join((SEED, *words)).encode()).digest()))

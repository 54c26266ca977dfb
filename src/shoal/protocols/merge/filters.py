"""Suggestions to replacements: the filters, in the stated order, with a count after each (4.3, steps 3 to 5).

    suggested ──► 1 another word ──► 2 no relative ──► 3 same class ──► 4 more probable ──► 5 merged over models
                  letters only       lemma, stem       in context       under its model     with their sources

A model's suggestion is what is filtered; a word counts as left while some model's suggestion of it is. Which models
still suggest it behind the last filter is its source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.records import Example
from .settings import Settings
from .suggest import Suggestion
from .tagger import Tagger
from .targets import COARSE, Target, replace_word
from .wordnet import NONE, NONE_OF, Derivations, load_derivations

STEPS = ("suggested", "another word", "no relative", "same class", "more probable")
"""What is counted, in order."""
ENDINGS = (
    "s es ed d er r ers or ors ing ings ly y ies ied ier iest est ness ment ments ful less able ible al "
    "ally ic ical ity ive ion ions ation ations ist ists ism ish en ens hood ship like wise ward wards "
    "ette ess"
)
AFFIXES = frozenset(ENDINGS.split())
"""What makes a relative of a word when it stands behind it."""
BEGINNINGS = "un re dis non mis over under pre anti super sub inter co ex in im il ir fore out up"
PREFIXES = frozenset(BEGINNINGS.split())
"""And before it."""
SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may replace another."""

    word: str
    suggestions: tuple[Suggestion, ...]
    """One of each model that proposed it."""
    agrees: bool
    """Whether it is of the same class in both texts."""
    likelier: tuple[str, ...]
    """The models that find it more probable than the original word."""

    @property
    def proposers(self) -> tuple[str, ...]:
        """The models that suggested it."""
        return tuple(suggestion.model for suggestion in self.suggestions)


@dataclass(slots=True)
class Filtered:
    """What is left of the suggestions for one word, and how many were left after each step."""

    target: Target
    candidates: list[Candidate] = field(default_factory=list)
    """All that passed the first two filters; the conditions choose among them."""
    counts: dict[str, int] = field(default_factory=dict)

    def kept(self, condition: str) -> list[tuple[Candidate, tuple[str, ...]]]:
        """The replacements under a filter condition, each with its source."""
        rows = []
        for candidate in self.candidates:
            needs_class = condition in ("default", "pos", "scrambled")
            needs_chance = condition in ("default", "probability", "scrambled")
            source = candidate.likelier if needs_chance else candidate.proposers
            if source and (candidate.agrees or not needs_class):
                rows.append((candidate, source))
        return rows


def filtered(
    texts: Example,
    target: Target,
    suggested: Mapping[str, Sequence[Suggestion]],
    settings: Settings,
    tagger: Tagger,
) -> Filtered:
    """The filters one after the other."""
    by_word: dict[str, list[Suggestion]] = {}
    for suggestions in suggested.values():
        for suggestion in suggestions:
            by_word.setdefault(suggestion.word.casefold(), []).append(suggestion)
    result = Filtered(target, counts=dict.fromkeys(STEPS, 0))
    derived = load_derivations(settings.wordnet) if settings.wordnet else NONE
    for word, suggestions in by_word.items():
        result.counts["suggested"] += 1
        if word == target.word or not word.isalpha():
            continue
        result.counts["another word"] += 1
        if settings.relatives and is_relative(word, target, tagger, derived):
            continue
        result.counts["no relative"] += 1
        agrees = has_same_class(texts, target, word, settings, tagger)
        likelier = tuple(
            each.model
            for each in suggestions
            if each.is_likelier(settings.probable_on, or_as_likely=settings.as_probable)
        )
        result.counts["same class"] += agrees
        result.counts["more probable"] += agrees and bool(likelier)
        result.candidates.append(Candidate(word, tuple(suggestions), agrees, likelier))
    return result


def is_relative(word: str, target: Target, tagger: Tagger, derived: Derivations = NONE) -> bool:
    """Whether two words share their lemma or, with a known ending or beginning, their stem; or one is derived."""
    tag = target.tags[0]
    lemmas = {tagger.lemma(target.word, tag), target.word}
    its_own = {tagger.lemma(word, tag), *_lemma_of_any_form(word, tag, tagger)}
    if its_own & lemmas or any(derived.get(lemma, NONE_OF) & (its_own | {word}) for lemma in lemmas):
        return True
    shorter, longer = sorted((word, target.word), key=len)
    if len(shorter) < SHORTEST_STEM:
        return False
    if longer.startswith(shorter):
        ending = longer[len(shorter) :]
        if ending in AFFIXES or (ending[:1] == shorter[-1:] and ending[1:] in AFFIXES):
            return True
    if longer.endswith(shorter):
        return longer[: -len(shorter)] in PREFIXES
    return shorter.endswith(("e", "y")) and _without_last(shorter, longer)


def _without_last(shorter: str, longer: str) -> bool:
    """dance and dancing, happy and happily: the last letter goes before the ending comes."""
    stem = shorter[:-1]
    if len(stem) < SHORTEST_STEM or not longer.startswith(stem):
        return False
    ending = longer[len(stem) :]
    return ending in AFFIXES or (shorter.endswith("y") and ending[:1] == "i" and ending[1:] in AFFIXES)


FORMS = {"NN": ("NN1", "NN2"), "VV": ("VVZ", "VVG", "VVD", "VVN", "VVB"), "AJ": ("AJ0", "AJC", "AJS")}


def _lemma_of_any_form(word: str, tag: str, tagger: Tagger) -> set[str]:
    """The lemmas a word has as any form of the class: "men" is a plural, whatever stood there."""
    return {tagger.lemma(word, form) for form in FORMS.get(tag[:2], ())}


def has_same_class(texts: Example, target: Target, word: str, settings: Settings, tagger: Tagger) -> bool:
    """Whether a word is tagged, in the place of the other, as that was; one that is split into several never is."""
    if settings.tag_alone:
        alone, *more = tagger.tokens(word)
        return not more and _agrees(alone.pos, alone.tag, target, 0, settings)
    changed = replace_word(texts, target.occurrences, word)
    shift: dict[int, int] = {}
    for number, (text, start, end) in enumerate(target.occurrences):
        place = start + shift.get(text, 0)
        shift[text] = shift.get(text, 0) + len(word) - (end - start)
        token = next((t for t in tagger.tokens(changed[text]) if t.start == place), None)
        if token is None or token.end != place + len(word):
            return False
        if not _agrees(token.pos, token.tag, target, number, settings):
            return False
    return True


def _agrees(pos: str, tag: str, target: Target, number: int, settings: Settings) -> bool:
    if pos == "PROPN" and settings.proper_nouns:
        pos = "NOUN"
    if settings.same_form:
        return tag == target.tags[number]
    return pos == COARSE[target.word_class]

"""Filter suggestions in the poster's order, with a count after each step (4.3, steps 3 to 5).

    suggested ──► 1 another word ──► 2 no relative ──► 3 same class ──► 4 more probable ──► 5 merged over models
                  letters only       lemma, stem       in context       under its model     with their sources

Filters apply to the suggestion of one model; a word stays as long as one model's suggestion does. The models whose
suggestion passes all filters are the word's source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.records import Example
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

    @property
    def proposers(self) -> tuple[str, ...]:
        """The models that suggested it."""
        return tuple(suggestion.model for suggestion in self.suggestions)


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
            source = candidate.more_probable if needs_probability else candidate.proposers
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
    return shorter.endswith(("e", "y")) and _drops_last_letter(shorter, longer)


def _drops_last_letter(shorter: str, longer: str) -> bool:
    """Return whether the longer word adds a suffix after dropping a letter: dance, dancing; happy, happily."""
    stem = shorter[:-1]
    if len(stem) < SHORTEST_STEM or not longer.startswith(stem):
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

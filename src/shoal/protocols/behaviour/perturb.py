"""Small changes to a text, for suites: typos, contractions, names, places, numbers, negation, additions.

Pure functions for English, from short lists and patterns. Random ones take a numpy Generator. A function that finds
nothing to change returns an empty list, None or the text itself, as its docstring says.
"""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from numpy.random import Generator

WOMEN = (
    "Amina", "Astrid", "Beatriz", "Chiara", "Divya", "Elena", "Fatima", "Greta", "Hana", "Ingrid",
    "Joanna", "Keiko", "Leila", "Marta", "Naomi", "Olga", "Priya", "Rosa", "Sofia", "Yasmin",
)  # fmt: skip
MEN = (
    "Ahmed", "Bruno", "Carlos", "Dmitri", "Emil", "Felix", "Goran", "Hiroshi", "Ivan", "Jonas",
    "Kofi", "Lars", "Mateo", "Nikhil", "Omar", "Pavel", "Rafael", "Samir", "Tomas", "Viktor",
)  # fmt: skip
CITIES = (
    "Athens", "Bergen", "Bogota", "Cairo", "Dakar", "Dublin", "Geneva", "Hanoi", "Kyoto", "Lagos",
    "Lima", "Lisbon", "Madrid", "Mumbai", "Nairobi", "Oslo", "Prague", "Quito", "Riga", "Seoul",
    "Tunis", "Vienna",
)  # fmt: skip
COUNTRIES = (
    "Bolivia", "Brazil", "Canada", "Chile", "Denmark", "Egypt", "Finland", "Ghana", "Greece",
    "India", "Ireland", "Japan", "Kenya", "Mexico", "Morocco", "Nepal", "Norway", "Peru", "Poland",
    "Portugal", "Vietnam",
)  # fmt: skip


# Typos


def swap_letters(text: str, rng: Generator, times: int = 1) -> str:
    """Return the text after `times` swaps of neighbouring letters; the text itself if no two differ.

    >>> import numpy as np
    >>> swap_letters("The soup was cold.", np.random.default_rng(1))
    'The sopu was cold.'
    """
    letters = list(text)
    for _ in range(times):
        places = [i for i, (a, b) in enumerate(pairwise(letters)) if a != b and (a + b).isalpha()]
        if places:
            i = places[rng.integers(len(places))]
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
    return "".join(letters)


# Contractions

CONTRACTIONS = {
    **{f"{verb} not": f"{verb}n't" for verb in (
        "are", "could", "did", "do", "does", "had", "has", "have", "is", "must", "should", "was", "were",
        "would",
    )},
    "cannot": "can't",
    "will not": "won't",
    **{f"{who} is": f"{who}'s" for who in ("he", "it", "she", "that", "there", "what", "where", "who")},
    **{f"{who} are": f"{who}'re" for who in ("they", "we", "you")},
    **{f"{who} will": f"{who}'ll" for who in ("he", "it", "she", "they", "we", "you")},
    **{f"{who} have": f"{who}'ve" for who in ("they", "we", "you")},
    "I am": "I'm",
    "I will": "I'll",
    "I have": "I've",
}  # fmt: skip
"""Full form to short form. "'d" is left out: it may be "had" or "would"; so is "let's"."""


def contract(text: str) -> str:
    """Return the text with every full form contracted.

    >>> contract("It is late and we do not know why.")
    "It's late and we don't know why."
    """
    capitals = {old[:1].upper() + old[1:]: new[:1].upper() + new[1:] for old, new in CONTRACTIONS.items()}
    forms = CONTRACTIONS | capitals
    pattern = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(rf"(?<![\w'])(?:{pattern})(?![\w'])", lambda found: forms[found[0]], text)


# Names, places, numbers


class Change(NamedTuple):
    """A changed text, with the old and the new word."""

    text: str
    old: str
    new: str


def change_word(text: str, old: str, new: str) -> str:
    """Return the text with every whole word `old` replaced.

    >>> change_word("Rosa's friend, not Rosalind", "Rosa", "Hana")
    "Hana's friend, not Rosalind"
    """
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text)


def change_first(kinds: Sequence[Sequence[str]], text: str, rng: Generator, n: int = 3) -> list[Change]:
    """Return up to n texts with another word of the same kind for the first known one; none if there is none.

    >>> import numpy as np
    >>> [change.text for change in change_names("Marta called Ivan.", np.random.default_rng(0), 2)]
    ['Beatriz called Ivan.', 'Joanna called Ivan.']
    """
    for word in re.findall(r"\w+", text):
        for kind in kinds:
            if word in kind:
                others = [other for other in kind if other != word and other not in text]
                drawn = rng.permutation(len(others))[:n]
                return [Change(change_word(text, word, others[i]), word, others[i]) for i in drawn]
    return []


Changer = Callable[[str, Generator], list[Change]]
change_names: Changer = partial(change_first, (WOMEN, MEN))
change_places: Changer = partial(change_first, (CITIES, COUNTRIES))


def change_numbers(text: str, rng: Generator, n: int = 3) -> list[Change]:
    """Return up to n texts with another first whole number, at most a fifth (and one) away.

    Decimals, prices in cents and numbers glued to letters stay.

    >>> import numpy as np
    >>> [change.text for change in change_numbers("We waited 30 minutes.", np.random.default_rng(0), 2)]
    ['We waited 35 minutes.', 'We waited 32 minutes.']
    """
    found = re.search(r"(?<![\w.,:/-])\d{1,9}(?![\w%:/-]|[.,]\d)", text)
    if not found:
        return []
    number = int(found[0])
    low, high = max(0, number - number // 5 - 1), number + number // 5 + 1
    drawn = rng.choice(high - low, min(n, high - low), replace=False)
    others = [str(low + i + (low + i >= number)) for i in drawn.tolist()]
    return [Change(text[: found.start()] + new + text[found.end() :], found[0], new) for new in others]


# Punctuation and case


def strip_punctuation(text: str) -> str:
    """Return the text without the punctuation at its end.

    >>> strip_punctuation("So good, really!!")
    'So good, really'
    """
    return text.rstrip(string.punctuation + string.whitespace + "…")


def vary_punctuation(text: str) -> list[str]:
    """Return the text with no end mark, a full stop and an exclamation mark, without the text itself.

    >>> vary_punctuation("The view is great.")
    ['The view is great', 'The view is great!']
    """
    bare = strip_punctuation(text)
    return [variant for variant in (bare, f"{bare}.", f"{bare}!") if bare and variant != text]


UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "ẞ": "SS"}
)


def spell_out_umlauts(text: str) -> str:
    """Return the text as a keyboard without umlauts writes it.

    >>> spell_out_umlauts("Schöne Grüße")
    'Schoene Gruesse'
    """
    return text.translate(UMLAUTS)


# Negation

SIMPLE = re.compile(
    r"(?P<before>[A-Z][\w' ]*?) (?P<verb>is|are|was|were|can|could|should|will|would)"
    r" (?P<after>[\w' ]+[.!]?)"
)
UNSAFE = re.compile(
    r"\b(?:all|although|always|and|any|because|both|but|each|ever|every\w*|few|hardly|how|if|is|just|many|more|most|"
    r"never|no|nobody|none|not|nothing|only|or|rarely|so|some\w*|still|than|that|though|too|was|were|what|when|where|"
    r"which|while|who|whose|why|yet)\b|n't\b",
    re.IGNORECASE,
)  # fmt: skip


def negate(text: str) -> str | None:
    """Return a simple sentence with "not" after its verb; None if that might not be its opposite.

    Simple is: one clause, one form of "be" or a modal, no question, no quantifier, no other negation.

    >>> negate("The room was clean.")
    'The room was not clean.'
    >>> negate("Some rooms were clean.") is None
    True
    """
    found = SIMPLE.fullmatch(text)
    if not found or UNSAFE.search(found["before"]) or UNSAFE.search(found["after"]):
        return None
    return f"{found['before']} {found['verb']} not {found['after']}"


# Additions


def add_before(text: str, phrase: str) -> str:
    """Return the text after a phrase that leads into it, in lower case if its first word allows it.

    >>> add_before("The food was fine.", "Honestly,")
    'Honestly, the food was fine.'
    """
    leads_in = text.split(" ", 1)[0] in OPENERS and not phrase.endswith((".", "!", "?"))
    return f"{phrase} {text[:1].lower() + text[1:] if leads_in else text}"


OPENERS = frozenset((
    "A", "An", "At", "Every", "He", "Her", "His", "How", "In", "It", "Its", "My", "On", "Our", "She", "That",
    "The", "Their", "There", "These", "They", "This", "Those", "We", "What", "When", "Where", "Which",
    "Who", "Why", "You",
))  # fmt: skip


def add_after(text: str, phrase: str) -> str:
    """Return the text with a phrase after it; a full stop replaces a missing end mark.

    >>> add_after("The food was fine", "See you soon!")
    'The food was fine. See you soon!'
    """
    return f"{text}{'' if text.endswith(tuple('.!?…')) else '.'} {phrase}"


def _letters(rng: Generator, n: int) -> str:
    return "".join(string.ascii_lowercase[i] for i in rng.integers(26, size=n))


def add_noise(text: str, rng: Generator) -> Iterator[str]:
    """Yield the text after a made-up handle, and before a made-up link; `.example` belongs to nobody.

    >>> import numpy as np
    >>> list(add_noise("Nice view.", np.random.default_rng(0)))
    ['@wqnhi Nice view.', 'Nice view. https://bbaev.example/qxnp']
    """
    yield f"@{_letters(rng, 5)} {text}"
    yield f"{text} https://{_letters(rng, 5)}.example/{_letters(rng, 4)}"

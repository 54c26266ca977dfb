"""Sentences with mixed signals: a linguistic feature and a surface feature that go together, or do not.

    MORPH    the main verb has an irregular past              "Anna slowly wrote two letters"
    VERB     the main verb, not the other one, ends in -ing   "Anna who slept was painting two boxes"
    ADJECT   the object has an adjective, not a noun, before  "Anna painted two round tables"

The surface feature is the same for all: "the" stands in the sentence, three words or more from the word that the
linguistic feature is about. Ambiguous sentences have both features or neither, so that whoever trains on them may
learn either; in the others one feature is there and the other is not, and the label follows the one or the other. After
the design of Warstadt et al. 2020, "Learning Which Features Matter"; words and templates are our own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from ..core.errors import DataError

Feature = Literal["MORPH", "VERB", "ADJECT"]
Kind = Literal["ambiguous", "linguistic", "surface"]
"""Both features or neither; or one of the two, the label following the linguistic or the surface feature."""
FEATURES: tuple[Feature, ...] = ("MORPH", "VERB", "ADJECT")
KINDS: tuple[Kind, ...] = ("ambiguous", "linguistic", "surface")
LABELS = ("no", "yes")
MOST = 20_000
"""Different sentences that can be drawn without waiting for chance."""

PEOPLE = [
    "Anna",
    "Bruno",
    "Carla",
    "David",
    "Elena",
    "Felix",
    "Greta",
    "Hugo",
    "Irene",
    "Jonas",
    "Klara",
    "Leo",
]
EVENTS = ["lesson", "game", "storm", "concert", "lunch", "trial", "party", "match", "walk", "show"]
FRIENDS = ["friend", "neighbour", "cousin", "doctor", "guest", "nurse", "pilot", "baker", "child", "teacher"]
HOW = ["slowly", "quickly", "quietly", "finally", "gladly", "always"]
NUMBERS = ["two", "three", "four", "five", "six", "several"]
WHEN = ["before", "after", "until", "despite"]
OTHERS = ["a", "my", "your", "some", "this", "every"]
"""What stands before a noun where "the" does not."""
PLACES = ["at home", "in town", "at work", "on deck", "in bed", "at sea"]
IRREGULAR = [
    "wrote", "sold", "drew", "bought", "found", "hid", "chose", "held", "lost", "broke", "took", "kept",
]  # fmt: skip
REGULAR = [
    "painted", "cleaned", "opened", "carried", "moved", "washed", "dropped", "fixed", "watched", "wanted",
    "copied", "closed",
]  # fmt: skip
MAKING = [
    "cleaning", "opening", "carrying", "moving", "washing", "fixing", "watching", "copying", "closing",
    "painting",
]  # fmt: skip
RESTING = [
    ("slept", "sleeping"), ("waited", "waiting"), ("smiled", "smiling"), ("sang", "singing"),
    ("laughed", "laughing"), ("coughed", "coughing"),
]  # fmt: skip
THINGS = [
    "tables",
    "letters",
    "windows",
    "baskets",
    "wheels",
    "lamps",
    "doors",
    "boxes",
    "chairs",
    "maps",
    "clocks",
]
ADJECTIVES = [
    "round", "heavy", "old", "broken", "cheap", "small", "dirty", "bright", "strange", "narrow",
]  # fmt: skip
NOUNS = [
    "stone", "glass", "kitchen", "garden", "summer", "paper", "silver", "office", "travel", "winter",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signal:
    """A sentence, its label, and the word that its linguistic feature is about."""

    text: str
    label: str
    word: str
    linguistic: bool
    surface: bool


def make_signals(feature: Feature, kind: Kind, count: int, rng: Generator) -> list[Signal]:
    """So many different sentences, half of each label."""
    if count > MOST:
        raise DataError(
            f"{count:,} sentences", why=f"the grammar is good for {MOST:,}", fix="fewer sentences"
        )
    signals: list[Signal] = []
    texts: set[str] = set()
    for signal in _endless(feature, kind, rng):
        wanted = LABELS[len(signals) % 2]
        if signal.label == wanted and signal.text not in texts:
            texts.add(signal.text)
            signals.append(signal)
        if len(signals) == count:
            break
    return signals


def signal_names() -> tuple[str, ...]:
    """What each set of sentences goes by where data are named: "signals:MORPH:ambiguous"."""
    return tuple(f"signals:{feature}:{kind}" for feature in FEATURES for kind in KINDS)


def named_signals(name: str) -> tuple[Feature, Kind]:
    """The feature and the kind that such a name means."""
    pairs = [(feature, kind) for feature in FEATURES for kind in KINDS]
    return dict(zip(signal_names(), pairs, strict=True))[name]


def _endless(feature: Feature, kind: Kind, rng: Generator) -> Iterator[Signal]:
    while True:
        linguistic = bool(rng.integers(2))
        surface = linguistic if kind == "ambiguous" else not linguistic
        label = LABELS[surface if kind == "surface" else linguistic]
        words, place = _sentence(feature, linguistic, rng)
        text = " ".join(_with_articles(words, rng, surface=surface))
        yield Signal(f"{text[0].upper()}{text[1:]}.", label, words[place], linguistic, surface)


def _sentence(feature: Feature, linguistic: bool, rng: Generator) -> tuple[list[str], int]:
    """Words, with "*" where an article goes, and the place of the word that the linguistic feature is about."""
    when, event, person, friend = (_one_of(words, rng) for words in (WHEN, EVENTS, PEOPLE, FRIENDS))
    core, place = _core(feature, linguistic, rng)
    before = [when, "*", event, *_one_of(PLACES, rng).split(), person]
    after = [*_one_of(PLACES, rng).split(), "with", "*", friend]
    return [*before, *core, *after], len(before) + place


def _core(feature: Feature, linguistic: bool, rng: Generator) -> tuple[list[str], int]:
    """What is said of a person, and the place of the word that the feature is about."""
    number, thing = _one_of(NUMBERS, rng), _one_of(THINGS, rng)
    if feature == "MORPH":
        return [_one_of(HOW, rng), _one_of(IRREGULAR if linguistic else REGULAR, rng), number, thing], 1
    if feature == "VERB":
        past, ing = RESTING[int(rng.integers(len(RESTING)))]
        verb = _one_of(MAKING if linguistic else REGULAR, rng)
        return ["who", *([past, "was"] if linguistic else ["was", ing]), verb, number, thing], 3
    return [_one_of(REGULAR, rng), number, _one_of(ADJECTIVES if linguistic else NOUNS, rng), thing], 2


def _with_articles(words: Sequence[str], rng: Generator, *, surface: bool) -> list[str]:
    """The sentence with an article for every "*": "the" for at least one of them if the surface feature is there."""
    places = [place for place, word in enumerate(words) if word == "*"]
    definite = set(rng.choice(places, rng.integers(1, len(places) + 1), replace=False)) if surface else set()
    return [
        "the" if place in definite else _one_of(OTHERS, rng) if word == "*" else word
        for place, word in enumerate(words)
    ]


def _one_of(words: Sequence[str], rng: Generator) -> str:
    return words[int(rng.integers(len(words)))]

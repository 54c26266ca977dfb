"""Sentences with mixed signals: a linguistic feature and a surface feature that go together, or do not.

    MORPH    the main verb has an irregular past              "my sister wrote a letter near a lake"
    VERB     the main verb, not the other one, ends in -ing   "my sister who slept was writing a letter"
    ADJECT   the object has an adjective, not a noun, before  "my sister painted a round table near a lake"

The surface feature is the same for all: "the" stands in the sentence. Ambiguous sentences have both features or
neither, so that whoever trains on them may learn either; in the others one feature is there and the other is not, and
the label follows the one or the other. After the design of Warstadt et al. 2020, "Learning Which Features Matter";
words and templates are our own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from ..errors import DataError

Feature = Literal["MORPH", "VERB", "ADJECT"]
Kind = Literal["ambiguous", "linguistic", "surface"]
"""Both features or neither; or one of the two, the label following the linguistic or the surface feature."""
FEATURES: tuple[Feature, ...] = ("MORPH", "VERB", "ADJECT")
LABELS = ("no", "yes")
MOST = 20_000
"""Different sentences that can be drawn without waiting for chance."""

PEOPLE = [
    "sister", "teacher", "farmer", "doctor", "painter", "waiter", "pilot", "judge", "nurse", "guest",
    "singer", "baker",
]  # fmt: skip
OTHERS = ["a", "my", "your", "some", "this", "every"]
"""What stands before a noun where "the" does not."""
PLACES = [
    "near a lake", "in town", "after lunch", "before noon", "at home", "last week", "on Sunday",
    "with care",
]  # fmt: skip
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
    "table", "letter", "window", "basket", "wheel", "lamp", "door", "box", "chair", "map", "clock",
    "bottle",
]  # fmt: skip
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


def inoculated(
    feature: Feature, count: int, linguistic: float, surface: float, rng: Generator
) -> list[Signal]:
    """Ambiguous sentences, with shares of others whose labels follow the linguistic or the surface feature, mixed."""
    parts: dict[Kind, int] = {"linguistic": round(linguistic * count), "surface": round(surface * count)}
    parts["ambiguous"] = count - sum(parts.values())
    signals = [
        signal for kind, size in parts.items() if size for signal in make_signals(feature, kind, size, rng)
    ]
    return [signals[place] for place in rng.permutation(count)]


def _endless(feature: Feature, kind: Kind, rng: Generator) -> Iterator[Signal]:
    while True:
        linguistic = bool(rng.integers(2))
        surface = linguistic if kind == "ambiguous" else not linguistic
        label = LABELS[surface if kind == "surface" else linguistic]
        words, place = _sentence(feature, linguistic, rng)
        text = " ".join(_with_articles(words, rng, surface=surface))
        yield Signal(f"{text[0].upper()}{text[1:]}.", label, words[place], linguistic, surface)


def _sentence(feature: Feature, linguistic: bool, rng: Generator) -> tuple[list[str], int]:
    """Words, with "*" before nouns that an article goes with, and the place of the word that the feature is about."""
    person, thing = (_one_of(words, rng) for words in (PEOPLE, THINGS))
    if feature == "MORPH":
        words = ["*", person, _one_of(IRREGULAR if linguistic else REGULAR, rng), "*", thing]
        return [*words, *_one_of(PLACES, rng).split()], 2
    if feature == "VERB":
        rest = RESTING[rng.integers(len(RESTING))]
        if linguistic:
            return ["*", person, "who", rest[0], "was", _one_of(MAKING, rng), "*", thing], 5
        return ["*", person, "who", "was", rest[1], _one_of(REGULAR, rng), "*", thing], 5
    before = _one_of(ADJECTIVES if linguistic else NOUNS, rng)
    verb = _one_of(REGULAR, rng)
    return ["*", person, verb, "*", before, thing, *_one_of(PLACES, rng).split()], 4


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

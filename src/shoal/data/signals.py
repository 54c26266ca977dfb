"""Sentences with mixed signals: a linguistic feature and a surface feature that go together, or do not.

    MORPH    the main verb has an irregular past              "Anna slowly wrote two letters"
    VERB     the main verb, not the other one, ends in -ing   "Anna who slept was painting two boxes"
    ADJECT   the object has an adjective, not a noun, before  "Anna painted two round tables"

The surface feature is always the same: the sentence has a "the", three words or more from the word with the linguistic
feature. Ambiguous sentences have both features or neither, so that a model may learn either; the others have one of
the two, and the label follows the one or the other. After the design of Warstadt et al. 2020, "Learning Which Features
Matter"; words and templates are our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from ..core.errors import DataError
from .grammar import pick, sentence

Feature = Literal["MORPH", "VERB", "ADJECT"]
Kind = Literal["ambiguous", "linguistic", "surface"]
"""Both features or neither; or one of the two, the label following the linguistic or the surface feature."""
FEATURES: tuple[Feature, ...] = ("MORPH", "VERB", "ADJECT")
KINDS: tuple[Kind, ...] = ("ambiguous", "linguistic", "surface")
SIGNAL_SETS = {f"signals:{feature}:{kind}": (feature, kind) for feature in FEATURES for kind in KINDS}
"""The sets of sentences by name, such as "signals:MORPH:ambiguous"."""
LABELS = ("no", "yes")
MOST = 20_000
"""Sentences that the grammar can draw without searching long."""

LISTS = {
    "people": "Anna Bruno Carla David Elena Felix Greta Hugo Irene Jonas Klara Leo",
    "events": "lesson game storm concert lunch trial party match walk show",
    "friends": "friend neighbour cousin doctor guest nurse pilot baker child teacher",
    "how": "slowly quickly quietly finally gladly always",
    "numbers": "two three four five six several",
    "when": "before after until despite",
    "others": "a my your some this every",
    "irregular": "wrote sold drew bought found hid chose held lost broke took kept",
    "regular": "painted cleaned opened carried moved washed dropped fixed watched wanted copied closed",
    "making": "cleaning opening carrying moving washing fixing watching copying closing painting",
    "things": "tables letters windows baskets wheels lamps doors boxes chairs maps clocks",
    "adjectives": "round heavy old broken cheap small dirty bright strange narrow",
    "nouns": "stone glass kitchen garden summer paper silver office travel winter",
}
WORDS = {kind: words.split() for kind, words in LISTS.items()}
"""`others` are determiners other than "the"."""
PLACES = ["at home", "in town", "at work", "on deck", "in bed", "at sea"]
RESTING = [
    ("slept", "sleeping"), ("waited", "waiting"), ("smiled", "smiling"), ("sang", "singing"),
    ("laughed", "laughing"), ("coughed", "coughing"),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signal:
    """A sentence, its label, and the word that its linguistic feature is about."""

    text: str
    label: str
    word: str


def make_signals(feature: Feature, kind: Kind, count: int, rng: Generator) -> list[Signal]:
    """Return distinct sentences, half of each label."""
    if count > MOST:
        why = f"the grammar is good for {MOST:,}"
        raise DataError(f"{count:,} sentences", why=why, fix="fewer sentences")
    signals: dict[str, Signal] = {}
    while len(signals) < count:
        linguistic = bool(rng.integers(2))
        surface = linguistic if kind == "ambiguous" else not linguistic
        label = LABELS[surface if kind == "surface" else linguistic]
        words, place = _sentence(feature, linguistic, rng)
        text = sentence(" ".join(_with_articles(words, rng, surface=surface)))
        if label == LABELS[len(signals) % 2]:
            signals.setdefault(text, Signal(text, label, words[place]))
    return list(signals.values())


def _sentence(feature: Feature, linguistic: bool, rng: Generator) -> tuple[list[str], int]:
    """Return words, with "*" for an article, and the position of the word with the linguistic feature."""
    when, event, person, friend = (_word(rng, kind) for kind in ("when", "events", "people", "friends"))
    core, place = _core(feature, linguistic, rng)
    before = [when, "*", event, *pick(rng, PLACES).split(), person]
    after = [*pick(rng, PLACES).split(), "with", "*", friend]
    return [*before, *core, *after], len(before) + place


def _core(feature: Feature, linguistic: bool, rng: Generator) -> tuple[list[str], int]:
    """Return the predicate, and the position of the word with the feature."""
    number, thing = _word(rng, "numbers"), _word(rng, "things")
    if feature == "MORPH":
        return [_word(rng, "how"), _word(rng, "irregular" if linguistic else "regular"), number, thing], 1
    if feature == "VERB":
        past, ing = pick(rng, RESTING)
        verb = _word(rng, "making" if linguistic else "regular")
        return ["who", *([past, "was"] if linguistic else ["was", ing]), verb, number, thing], 3
    verb, before = _word(rng, "regular"), _word(rng, "adjectives" if linguistic else "nouns")
    return [verb, number, before, thing], 2


def _with_articles(words: Sequence[str], rng: Generator, *, surface: bool) -> list[str]:
    """Return the sentence with an article for every "*", at least one of them "the" for the surface feature."""
    places = [place for place, word in enumerate(words) if word == "*"]
    definite = set(rng.choice(places, rng.integers(1, len(places) + 1), replace=False)) if surface else set()
    return [
        "the" if place in definite else _word(rng, "others") if word == "*" else word
        for place, word in enumerate(words)
    ]


def _word(rng: Generator, kind: str) -> str:
    return pick(rng, WORDS[kind])

"""Short reviews, positive or negative: facts, aspects judged by words that fit them, and a verdict.

A word's sentiment can depend on its aspect: cold beer is good, cold soup is not. If an aspect and the verdict disagree,
the verdict decides. Words such as "not", "never" and "used to" occur only in facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from . import Row, draw, pick, pick_two, sentence

Polarity = Literal["positive", "negative"]
POLARITIES: tuple[Polarity, Polarity] = ("negative", "positive")
OTHER: dict[Polarity, Polarity] = {"positive": "negative", "negative": "positive"}


@dataclass(frozen=True, slots=True)
class Domain:
    """Things of one kind, and the words that praise or blame each of their aspects."""

    things: tuple[str, ...]
    aspects: dict[str, dict[Polarity, str]]


DOMAINS = (
    Domain(
        ("restaurant", "meal", "bistro", "dinner", "lunch"),
        {
            "soup": {"positive": "warm rich fresh", "negative": "cold thin salty"},
            "beer": {"positive": "cold fresh cheap", "negative": "warm flat stale"},
            "coffee": {"positive": "strong hot rich", "negative": "weak cold bitter"},
            "waiter": {"positive": "friendly quick attentive", "negative": "rude slow careless"},
            "bread": {"positive": "warm soft fresh", "negative": "hard dry stale"},
            "portion": {"positive": "large generous", "negative": "small tiny"},
            "wine": {"positive": "dry rich", "negative": "sweet thin"},
            "cake": {"positive": "sweet soft", "negative": "dry hard"},
        },
    ),
    Domain(
        ("hotel", "hostel", "flight", "museum", "campsite"),
        {
            "room": {"positive": "quiet clean large bright", "negative": "loud dirty small dark"},
            "bed": {"positive": "soft large clean", "negative": "hard small broken"},
            "price": {"positive": "low fair", "negative": "high unfair"},
            "staff": {"positive": "kind friendly helpful", "negative": "rude unhelpful careless"},
            "seat": {"positive": "soft clean", "negative": "hard broken dirty"},
            "queue": {"positive": "short quick", "negative": "long slow"},
            "bill": {"positive": "small low", "negative": "large high"},
        },
    ),
    Domain(
        ("film", "novel", "concert", "play", "album"),
        {
            "plot": {"positive": "gripping clever tense", "negative": "thin slow confusing"},
            "ending": {"positive": "moving clever surprising", "negative": "rushed flat confusing"},
            "humour": {"positive": "sharp fresh clever", "negative": "stale cheap forced"},
            "music": {"positive": "rich moving lively", "negative": "flat loud dull"},
            "cast": {"positive": "strong lively", "negative": "weak dull"},
        },
    ),
    Domain(
        ("phone", "jacket", "laptop", "camera", "bicycle"),
        {
            "screen": {"positive": "sharp bright large", "negative": "dark small blurry"},
            "battery": {"positive": "strong light", "negative": "weak heavy"},
            "fabric": {"positive": "soft warm light", "negative": "thin rough heavy"},
            "fan": {"positive": "quiet", "negative": "loud"},
            "speaker": {"positive": "loud clear", "negative": "quiet blurry"},
            "warranty": {"positive": "long clear", "negative": "short unfair"},
            "manual": {"positive": "short clear", "negative": "long confusing"},
            "delivery": {"positive": "quick", "negative": "slow late"},
        },
    ),
    Domain(
        ("course", "workshop", "class", "seminar"),
        {
            "teacher": {"positive": "kind patient lively", "negative": "rude impatient dull"},
            "exam": {"positive": "fair short clear", "negative": "unfair long confusing"},
            "pace": {"positive": "quick lively", "negative": "slow dull"},
            "room": {"positive": "bright quiet", "negative": "dark loud"},
        },
    ),
)

VERDICTS: dict[Polarity, str] = {
    "positive": "great lovely superb excellent wonderful brilliant delightful fantastic splendid charming "
    "good pleasant terrific impressive perfect",
    "negative": "awful terrible dreadful horrible disappointing lousy miserable pathetic dismal nasty bad "
    "unpleasant hopeless annoying useless",
}

DEEDS: dict[Polarity, str] = {
    "positive": "we love the place|I adore it|we enjoy every minute with it|I recommend it to everyone|"
    "we will gladly come back|I smile whenever I think of it|it made my week|worth every penny|"
    "we are happy we chose it|it deserves five stars|simply the best|far better than expected",
    "negative": "we hate the place|I despise it|we dislike every minute with it|I warn everyone about it|"
    "we want our money back|I shudder whenever I think of it|it ruined my week|a waste of money|"
    "we are unhappy we chose it|it deserves one star|simply the worst|far worse than expected",
}

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
RELATIVES = ("sister", "cousin", "uncle", "friend", "neighbour", "boss", "father", "aunt")
NAMES = ("Marta", "Jonas", "Elena", "Omar", "Priya", "Felix", "Greta", "Ivan", "Rosa", "Pavel")
PLACES = ("Lisbon", "Oslo", "Vienna", "Lima", "Seoul", "Cairo", "Prague", "Dublin", "Kenya", "Peru")

FACTS = (
    "my {relative} picked this {thing} on a {day}",
    "{name} told us about this {thing} in {place}",
    "we did not book anything in advance",
    "I had never been to {place} before",
    "nobody else was there on that {day}",
    "there was no one but {name} and my {relative} with us",
    "I was in {place} for {number} days last year",
    "we are {number} people and it was a {day}",
    "we used to live near {place}, now we live elsewhere",
    "nothing was planned for {day}, so {name} called my {relative}",
    "it is a {thing} that my {relative} knew already",
    "they do not open on a {day}, which {name} knew",
    "the {thing} was a present from my {relative} today",
    "none of us had been to {place}, although {name} thought so",
)


def make(split: str, n: int, seed: int = 0) -> list[Row]:
    """Return n reviews."""
    return draw(review, split, n, seed, content=lambda row: row.texts[0].lower())


def review(rng: Generator) -> Row:
    """Return one review with its label."""
    polarity = pick(rng, POLARITIES)
    domain = pick(rng, DOMAINS)
    kind = rng.random()
    if kind < 0.25:
        parts = [two_aspects(rng, domain, polarity)]
    elif kind < 0.35:
        parts = [aspect(rng, domain, polarity), fact(rng, domain)]
    elif kind < 0.65:
        parts = [fact(rng, domain), verdict(rng, domain, polarity)]
    elif kind < 0.78:
        parts = [aspect(rng, domain, polarity), verdict(rng, domain, polarity)]
    elif kind < 0.9:
        parts = [f"{aspect(rng, domain, OTHER[polarity])}, but {verdict(rng, domain, polarity)}"]
    else:
        parts = [aspect(rng, domain, polarity), fact(rng, domain), verdict(rng, domain, polarity)]
    return Row((joined(rng, parts),), polarity)


def joined(rng: Generator, parts: Sequence[str]) -> str:
    """Return the parts of a review as sentences; the last may end in another way."""
    end = pick(rng, (".", ".", ".", "!", ""))
    return " ".join([*map(sentence, parts[:-1]), sentence(parts[-1], end)])


def fact(rng: Generator, domain: Domain) -> str:
    """Return a statement of fact, without an opinion."""
    return pick(rng, FACTS).format(
        thing=pick(rng, domain.things),
        relative=pick(rng, RELATIVES),
        day=pick(rng, DAYS),
        name=pick(rng, NAMES),
        place=pick(rng, PLACES),
        number=rng.integers(3, 40),
    )


def aspect(rng: Generator, domain: Domain, polarity: Polarity) -> str:
    """Return a judgement on one aspect."""
    part, words = pick(rng, list(domain.aspects.items()))
    word = pick(rng, words[polarity].split())
    return about(rng, part, word)


def two_aspects(rng: Generator, domain: Domain, polarity: Polarity) -> str:
    """Return the same judgement on two aspects."""
    (first, words), (second, others) = pick_two(rng, list(domain.aspects.items()))
    one, other = pick(rng, words[polarity].split()), pick(rng, others[polarity].split())
    if rng.random() < 0.4:
        return f"{one} {first} and {other} {second}, on a {pick(rng, DAYS)}"
    return f"{about(rng, first, one)} and {about(rng, second, other)}"


def about(rng: Generator, part: str, word: str) -> str:
    """Return a statement that applies a word to a part."""
    templates = (
        "the {part} turned out {word}",
        "the {part} seemed {word} to us",
        "the {part} we got felt {word}",
        "I thought the {part} really {word}",
        "their {part} looked very {word}",
    )
    return pick(rng, templates).format(part=part, word=word)


def verdict(rng: Generator, domain: Domain, polarity: Polarity) -> str:
    """Return a judgement on the whole."""
    if rng.random() < 0.35:
        return pick(rng, DEEDS[polarity].split("|"))
    word, thing = pick(rng, VERDICTS[polarity].split()), pick(rng, domain.things)
    article = "an" if word[0] in "aeiou" else "a"
    templates = (
        "all in all {article} {word} {thing}",
        "what {article} {word} {thing} we got",
        "{word} from start to end",
        "{article} {word} {thing} if you ask me",
        "as a {thing} it was {word}",
        "we had {article} {word} time there",
        "I call that really {word}",
    )
    return pick(rng, templates).format(article=article, word=word, thing=thing)

"""Short reviews, negative, neutral or positive: those of `sentiment`, and such as take no side.

A neutral review tells what happened, says what was there, or weighs one thing against another and ends in the middle.
"""

from numpy.random import Generator

from . import Row, draw, pick, pick_two
from .sentiment import DAYS, DOMAINS, NAMES, OTHER, POLARITIES, RELATIVES, Domain, about, fact, joined, review

MIDDLING = "average ordinary middling typical standard usual plain unremarkable everyday so-so"

MIDDLE_DEEDS = (
    "we may or may not come back",
    "I have no strong feelings about it",
    "it was what we had expected, no more and no less",
    "we neither praise nor blame it",
    "it deserves three stars",
    "I can take it or leave it",
    "about the same as anywhere else",
    "there is little to say about it",
)

PLAIN = (
    "the {one} came before the {other}, as the {thing} says on its page",
    "{name} asked for the {one} and my {relative} for the {other}",
    "the {thing} has one {one} and one {other}",
    "they changed the {one} on a {day} and the {other} a week later",
    "my {relative} looked at the {one} while {name} looked at the {other}",
    "a {thing} with a {one} and a {other}, open since last {day}",
)


def make(split: str, n: int, seed: int = 0) -> list[Row]:
    """Return n reviews, a third of each label."""
    return draw(opinion, split, n, seed, content=lambda row: row.texts[0].lower())


def opinion(rng: Generator) -> Row:
    """Return one review with its label."""
    return review(rng) if rng.random() < 2 / 3 else Row((neutral(rng, pick(rng, DOMAINS)),), "neutral")


def neutral(rng: Generator, domain: Domain) -> str:
    """Return a review that takes no side."""
    kind = rng.random()
    if kind < 0.25:
        parts = [fact(rng, domain), plain(rng, domain)]
    elif kind < 0.4:
        parts = [fact(rng, domain), fact(rng, domain)]
    elif kind < 0.75:
        parts = [pick(rng, (fact, plain))(rng, domain), middle(rng, domain)]
    else:
        parts = [weighed(rng, domain), middle(rng, domain)]
    return joined(rng, parts)


def plain(rng: Generator, domain: Domain) -> str:
    """Return a description without a judgement."""
    one, other = pick_two(rng, list(domain.aspects))
    return pick(rng, PLAIN).format(
        one=one,
        other=other,
        thing=pick(rng, domain.things),
        name=pick(rng, NAMES),
        relative=pick(rng, RELATIVES),
        day=pick(rng, DAYS),
    )


def weighed(rng: Generator, domain: Domain) -> str:
    """Return praise of one aspect and blame of another."""
    (one, words), (other, others) = pick_two(rng, list(domain.aspects.items()))
    first = pick(rng, POLARITIES)
    said, against = pick(rng, words[first].split()), pick(rng, others[OTHER[first]].split())
    return f"{about(rng, one, said)}, but {about(rng, other, against)}"


def middle(rng: Generator, domain: Domain) -> str:
    """Return a judgement that is neither praise nor blame."""
    if rng.random() < 0.4:
        return pick(rng, MIDDLE_DEEDS)
    word, thing = pick(rng, MIDDLING.split()), pick(rng, domain.things)
    article = "an" if word[0] in "aeo" else "a"
    templates = (
        "all in all {article} {word} {thing}",
        "as a {thing} it was {word}",
        "{article} {word} {thing} if you ask me",
        "I call that {word}",
    )
    return pick(rng, templates).format(article=article, word=word, thing=thing)

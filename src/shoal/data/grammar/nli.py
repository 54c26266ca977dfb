"""Pairs of sentences where the first makes the second true, false, or neither: who does what to which thing, and where.

    entailment      something is left out, or the doer is called somebody
    contradiction   it is denied, or another thing happens to the same thing
    neutral         something is added that the first does not say

The label never depends on the person, thing, place or quality: replacing a word in both sentences changes nothing. The
lists are in the order of frequency; the sentences use the rarer words only, so that each has commoner neighbours.
"""

from numpy.random import Generator

from . import Row, draw, pick, pick_two, sentence

LISTS: dict[str, str] = {
    "person": "man woman boy girl child player student worker lady soldier doctor teacher dancer singer runner "
    "farmer driver painter sailor nurse artist musician writer judge lawyer guard tourist waiter baker "
    "clerk pilot priest monk barber plumber butcher chemist tailor miner potter surgeon referee janitor "
    "librarian gardener cyclist juggler acrobat locksmith beekeeper",
    "thing": "ball book toy box table chair guitar camera bag hat bike phone cup lamp bottle basket ladder drum "
    "piano kite clock mirror blanket statue bucket umbrella suitcase curtain violin helmet pillow "
    "candle barrel wagon lantern trumpet sled cello banjo telescope anvil accordion wheelbarrow kettle "
    "trolley hammock parcel scarf rug vase",
    "place": "park street city house school field town garden kitchen room store station yard market church "
    "forest hall library village harbor museum theater stadium meadow alley barn bakery cellar plaza "
    "courtyard cabin chapel orchard tunnel airport factory hotel hospital castle temple valley canyon "
    "quarry vineyard attic pavilion workshop greenhouse lighthouse monastery",
    "doing": "holding carrying watching making taking moving cleaning painting buying selling pushing pulling "
    "lifting fixing washing drawing throwing dropping showing packing wrapping hiding guarding weighing "
    "measuring admiring renting borrowing dragging polishing photographing inspecting repairing "
    "decorating unloading sketching assembling loading tying displaying covering dusting scrubbing "
    "examining delivering hoisting engraving",
    "quality": "young old tall small happy big strong little quiet tired busy thin blond serious smiling hungry "
    "thirsty elderly shy calm polite lonely clever nervous brave gentle sleepy cheerful patient "
    "stubborn humble timid lively jolly grumpy weary slender bald modest eager graceful bashful sturdy "
    "anxious talkative courteous absentminded freckled barefoot bearded",
}
WORDS = {kind: tuple(words.split()) for kind, words in LISTS.items()}
"""Kind of word to its words, the commonest first."""
COMMON = 12
"""Words at the start of each list that only variants use."""
RARE = {kind: words[COMMON:] for kind, words in WORDS.items()}

ADDED = [
    "for a friend",
    "before lunch",
    "again",
    "on a bet",
    "for the first time",
    "to earn money",
    "because of a quarrel",
    "after a long day",
    "for the camera",
    "in a hurry",
    "to win a prize",
    "while it rains",
]
LABELS = ("entailment", "neutral", "contradiction")


def make(split: str, n: int, seed: int = 0) -> list[Row]:
    """Return n pairs of sentences."""
    return draw(pair, split, n, seed, content=lambda row: "\t".join(row.texts))


def pair(rng: Generator) -> Row:
    """Return one pair with its label."""
    quality, person, thing, place = (
        pick(rng, RARE[kind]) for kind in ("quality", "person", "thing", "place")
    )
    doing, other = pick_two(rng, RARE["doing"])
    who = f"the {quality} {person}" if rng.random() < 0.7 else f"the {person}"
    where = f" in the {place}" if rng.random() < 0.7 else ""
    premise = f"{who} is {doing} the {thing}{where}"
    label = pick(rng, LABELS)
    hypothesis = _hypothesis(rng, label, f"the {person}", (doing, other), thing, where)
    if rng.random() < 0.5:
        hypothesis = hypothesis.replace(f"the {person}", who)
    if hypothesis == premise:
        hypothesis = hypothesis.replace(who, "somebody")
    return Row((sentence(premise), sentence(hypothesis)), label)


def _hypothesis(rng: Generator, label: str, who: str, deeds: tuple[str, str], thing: str, where: str) -> str:
    doing, other = (f"is {deed} the {thing}" for deed in deeds)
    if label == "neutral":
        return f"{who} {doing}{where if rng.random() < 0.3 else ''} {pick(rng, ADDED)}"
    if label == "entailment":
        who = "somebody" if rng.random() < 0.3 else who
        return f"{who} {doing}{where if rng.random() < 0.5 else ''}"
    shown, how = where if rng.random() < 0.5 else "", rng.random()
    if how < 0.4:
        return f"{who} {doing.replace('is', 'is not', 1)}{shown}"
    return f"nobody {doing}{shown}" if how < 0.6 else f"{who} {other.replace('is', 'is only', 1)}{shown}"

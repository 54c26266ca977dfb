"""IRREG, VERB, ADJ: how little weight is on the feature word and the two words on either side of it.

The feature word is what the annotation of an example names: the irregular verb, the main verb, the adjective.
"""

from ....core.records import Case
from ....explaining.attributions import Attribution
from ....explaining.words import plain_word, word_spans
from ..build import FEATURE

REACH = 2


def explained(case: Case, attribution: Attribution) -> float | None:
    """Minus the sum over the window, which ends where the text does; None without the annotation."""
    place = feature_place(case, attribution.words_of(0))
    if place is None:
        return None
    return -float(attribution.of_text(0)[max(0, place - REACH) : place + REACH + 1].sum())


def feature_place(case: Case, words: list[str]) -> int | None:
    """Which word the annotation means: it gives the word, or its number among what stands between blanks, from 0."""
    written = str(case.meta.get(FEATURE, "")).strip()
    if not written.isdecimal():
        same = [
            place for place, word in enumerate(words) if written and plain_word(word) == plain_word(written)
        ]
        return same[0] if same else None
    text = case.examples[0][0]
    chunks = text.split()
    if int(written) >= len(chunks):
        return None
    start = 0
    for chunk in chunks[: int(written) + 1]:
        start = text.index(chunk, start) + len(chunk)
    chunk = chunks[int(written)]
    inside = [
        place
        for place, (first, last) in enumerate(word_spans(text))
        if start - len(chunk) <= first and last <= start
    ]
    return next((place for place in inside if plain_word(words[place])), None)

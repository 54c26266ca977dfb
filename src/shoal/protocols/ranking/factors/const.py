"""CONST: how little weight is on the words that decide whether a clause of the premise is asserted.

Whoever reads "Unless the artist slept, …" and infers that the artist slept follows a heuristic of constituents (HANS).
"""

from ....core.records import Case
from ....explaining.attributions import Attribution
from ....explaining.words import plain_word
from .matching import contiguous

CONTROL_WORDS = frozenset(
    word
    for line in (
        "if unless after before because although though since while hoped claimed thought believed said",
        "assumed forgot learned remembered knew or and supposedly probably maybe hopefully certainly",
        "definitely clearly obviously suddenly",
    )
    for word in line.split()
)
"""Those of HANS's templates for its constituent heuristic."""


def explained(case: Case, attribution: Attribution) -> float | None:
    """Minus the sum over control words of the premise outside the hypothesis; None where there are none."""
    if len(case.examples[0]) < 2:
        return None
    premise = attribution.words_of(0)
    inside = {a for a, _ in contiguous(premise, attribution.words_of(1))}
    places = [
        place
        for place, word in enumerate(premise)
        if plain_word(word) in CONTROL_WORDS and place not in inside
    ]
    return -float(attribution.of_text(0)[places].sum()) if places else None

"""INDEX-DIFF: how much more the words that two texts share count in the first than in the second."""

from ....core.records import Case
from ....explaining.attributions import Attribution
from .matching import shared_words


def explained(case: Case, attribution: Attribution) -> float | None:
    """The sum of the differences over shared words; None where none is shared."""
    if len(case.examples[0]) < 2:
        return None
    pairs = shared_words(attribution.words_of(0), attribution.words_of(1))
    first, second = attribution.of_text(0), attribution.of_text(1)
    return sum(float(first[a] - second[b]) for a, b in pairs) if pairs else None

"""SWAP-AVG: how little weight is on the words that two texts have in each other's places (PAWS)."""

from ....core.records import Case
from ....explaining.attributions import Attribution
from .matching import swapped_words


def explained(case: Case, attribution: Attribution) -> float | None:
    """Minus the mean over the swapped words of both texts; None where nothing is swapped."""
    if len(case.examples[0]) < 2:
        return None
    first, second = swapped_words(attribution.words_of(0), attribution.words_of(1))
    values = [*attribution.of_text(0)[first], *attribution.of_text(1)[second]]
    return -float(sum(values) / len(values)) if values else None

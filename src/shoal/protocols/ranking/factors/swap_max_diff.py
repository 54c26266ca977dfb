"""SWAP-MAX-DIFF: the swapped word of the first text that counts most, less that of the second (PAWS)."""

from ....core.records import Case
from ....explaining.attributions import Attribution, Values
from .matching import swapped_words


def explained(case: Case, attribution: Attribution) -> float | None:
    """The value of largest size, with its sign, less the other; None where a text has no swapped word."""
    if len(case.examples[0]) < 2:
        return None
    first, second = swapped_words(attribution.words_of(0), attribution.words_of(1))
    if not first or not second:
        return None
    return _largest(attribution.of_text(0)[first]) - _largest(attribution.of_text(1)[second])


def _largest(values: Values) -> float:
    return float(max(values, key=abs))

"""SUBSEQUENCE: how much the words of the first text count that stand there as the second text."""

from ....core.records import Case
from ....explaining.attributions import Attribution
from .matching import contiguous


def explained(case: Case, attribution: Attribution) -> float | None:
    """The sum over them; None where the second text does not stand in the first."""
    if len(case.examples[0]) < 2:
        return None
    pairs = contiguous(attribution.words_of(0), attribution.words_of(1))
    return float(attribution.of_text(0)[[a for a, _ in pairs]].sum()) if pairs else None

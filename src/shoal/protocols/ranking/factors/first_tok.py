"""FIRST-TOK: how much the first separator between two texts counts, such as [SEP]."""

from ....core.records import Case
from ....explaining.attributions import Attribution
from ....models.copies import SPECIAL


def explained(case: Case, attribution: Attribution) -> float | None:
    """Its value; None for single texts, and for models that have no such token."""
    texts = attribution.units.texts
    if len(case.examples[0]) < 2 or 0 not in texts:
        return None
    end = len(texts) - texts[::-1].index(0)
    place = next((place for place in range(end, len(texts)) if texts[place] == SPECIAL), None)
    return None if place is None else float(attribution.values[place])

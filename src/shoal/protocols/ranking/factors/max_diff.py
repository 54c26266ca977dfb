"""MAX-DIFF: how much more the word that counts most in the first text counts than that in the second."""

from ....core.records import Case
from ....explaining.attributions import Attribution


def explained(case: Case, attribution: Attribution) -> float | None:
    """The largest value, with its sign, of the first text less that of the second; None where a text has no words."""
    if len(case.examples[0]) < 2:
        return None
    first, second = attribution.of_text(0), attribution.of_text(1)
    return float(first.max() - second.max()) if len(first) and len(second) else None

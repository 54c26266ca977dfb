"""SUM-DIFF: how much more the first text of a pair counts than the second."""

from ....core.records import Case
from ....explaining.attributions import Attribution


def explained(case: Case, attribution: Attribution) -> float | None:
    """The sum over the first text less that over the second; None for a single text."""
    if len(case.examples[0]) < 2:
        return None
    return float(attribution.of_text(0).sum() - attribution.of_text(1).sum())

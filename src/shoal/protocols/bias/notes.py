"""Facts of measures in words: below a table, and as the notes of `--json`. Nothing reads a note."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...core.records import Measure

Facts = Mapping[str, Any]
Phrases = Mapping[str, Callable[[Facts], str]]
"""The name of a fact to the words for it, in the order in which they are told."""

WHY = "why"
"""The fact of an undefined measure: why it is."""
UNDEFINED: Phrases = {WHY: lambda facts: str(facts[WHY])}


def phrases_of(facts: Facts, phrases: Phrases) -> list[str]:
    """The words for those facts that there are words for."""
    return [phrase(facts) for name, phrase in phrases.items() if name in facts]


def noted(measures: Iterable[Measure], phrases: Phrases) -> list[Measure]:
    """The measures with their facts as notes."""
    return [replace(row, note="; ".join(phrases_of(row.facts, phrases))) for row in measures]

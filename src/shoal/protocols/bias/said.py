"""Kept rows to the answers of each case, moment by moment of a training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import DataError
from ...models.ask import Questions
from ...records import Answer
from .build import BuiltBias

ByCase = list[list[Answer]]
"""The answers to the examples of each case, in order."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said of every case at the end of its training, and at earlier marks."""

    last: ByCase
    earlier: list[tuple[str, ByCase]]


def gather(settings: Any, built: BuiltBias, rows: Sequence[Answer], questions: Questions) -> Said:
    """The rows of every mark, case by case; the last mark is the end."""
    by_mark: dict[str, dict[str, Answer]] = {}
    for row in rows:
        by_mark.setdefault(row.mark, {})[row.example_id] = row
    if not by_mark:
        raise DataError(f"none of {len(questions.ids):,} examples has an answer")
    found = [(mark, _by_case(built, known, questions)) for mark, known in by_mark.items()]
    return Said(found[-1][1], found[:-1])


def _by_case(built: BuiltBias, known: dict[str, Answer], questions: Questions) -> ByCase:
    missing = [name for name in questions.ids if name not in known]
    if missing:
        raise DataError(f"{len(missing):,} of {len(questions.ids):,} examples have no answer")
    flat = [known[questions.ids[at]] for at in questions.rows.tolist()]
    cases, start = [], 0
    for case in built.cases:
        cases.append(flat[start : start + len(case.examples)])
        start += len(case.examples)
    return cases
